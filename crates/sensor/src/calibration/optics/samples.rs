//! Pixels of presses as samples of the light.

use super::{AROUND, BallPress, INSIDE, Region};
use crate::optics::FloatImage;

/// One pixel.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sample {
    /// Components of the unit normal to the right and down, and the indentation of the gel (mm).
    pub seen: [f64; 3],
    /// Column and row.
    pub pixel: [f64; 2],
    /// Difference from the background (levels): red, green, blue.
    pub added: [f64; 3],
    /// Weight in the fit.
    pub weight: f64,
}

/// Approximate maximum number of pixels per region of a press.
const TAKEN: usize = 3000;
/// Weight of a pixel around the contact, relative to one inside, where the surface is known better.
const WEIGHT_AROUND: f64 = 0.2;

/// Pixels of a press, distributed evenly over the contact and its surroundings. The ring between them is excluded:
/// there, an error of the label mixes steep and flat slopes.
pub(super) fn samples(press: &BallPress, background: &FloatImage) -> Vec<Sample> {
    let mut samples = taken(press, background, INSIDE, 1.0);
    samples.extend(taken(press, background, AROUND, WEIGHT_AROUND));
    samples
}

fn taken(press: &BallPress, background: &FloatImage, region: Region, weight: f64) -> Vec<Sample> {
    let width = press.image.width;
    let area = std::f64::consts::PI * press.label.radius.powi(2) * (region.to.powi(2) - region.from.powi(2));
    let stride = (area / TAKEN as f64).sqrt().ceil().max(1.0) as usize;
    let weight = weight * (stride * stride) as f64 / press.label.radius.powi(2);
    let relief = &press.relief;
    let sample = |i: usize| {
        let (right, down) = (f64::from(relief.slope_right[i]), f64::from(relief.slope_down[i]));
        let scale = 1.0 / (1.0 + right * right + down * down).sqrt();
        Sample {
            seen: [right * scale, down * scale, -1e3 * f64::from(relief.z_m[i])],
            pixel: [(i % width) as f64, (i / width) as f64],
            added: [0, 1, 2].map(|c| f64::from(press.image.channels[c][i] - background.channels[c][i])),
            weight,
        }
    };
    let kept = |i: &usize| (i % width).is_multiple_of(stride) && (i / width).is_multiple_of(stride);
    press.pixels(region).filter(kept).map(sample).collect()
}
