//! Pixels of presses as samples of the light.

use super::{BallPress, Region};
use crate::optics::{FloatImage, Horizon, SideLamp};

/// One pixel.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sample {
    /// Components of the unit normal to the right and down.
    pub seen: [f64; 2],
    /// Depth below the surface at rest (mm).
    pub depth_mm: f64,
    /// Column and row.
    pub pixel: [usize; 2],
    /// Difference from the background (levels): red, green, blue.
    pub added: [f64; 3],
    /// Weight in the fit.
    pub weight: f64,
}

/// Approximate number of pixels of a press.
const TAKEN: usize = 2400;
/// Weight of a pixel around the contact, relative to one inside, where the surface is known better.
const WEIGHT_AROUND: f64 = 0.35;
/// The same far from the contact, where the image hardly changes.
const WEIGHT_FAR: f64 = 0.1;
/// The contact and its surroundings.
pub(super) const NEAR: Region = Region { from: 0.0, to: 2.0 };
/// The gel beyond, which a shadow would otherwise cross to the border of the image without anything against it.
const FAR: Region = Region { from: NEAR.to, to: 5.0 };
/// Distance of the pixels there, relative to that near the contact.
const SPARSE: usize = 2;

/// Weight of a pixel at a distance (radii of the contact) from the centre.
pub(super) fn weight(distance: f64) -> f64 {
    match distance {
        ..1.0 => 1.0,
        ..2.0 => WEIGHT_AROUND,
        _ => WEIGHT_FAR,
    }
}

/// Pixels of a press, distributed evenly over the contact and its surroundings, and more sparsely beyond.
pub(super) fn samples(press: &BallPress, background: &FloatImage) -> Vec<Sample> {
    let (width, relief, label) = (press.image.width, &press.relief, press.label);
    let stride = (NEAR.to * label.radius * (std::f64::consts::PI / TAKEN as f64).sqrt()).ceil().max(1.0) as usize;
    let per_pixel = (stride * stride) as f64 / label.radius.powi(2);
    let sample = |i: usize, step: usize| {
        let (right, down) = (f64::from(relief.slope_right[i]), f64::from(relief.slope_down[i]));
        let scale = 1.0 / (1.0 + right * right + down * down).sqrt();
        let pixel = [i % width, i / width];
        let distance = (pixel[0] as f64 - label.column).hypot(pixel[1] as f64 - label.row) / label.radius;
        Sample {
            seen: [right * scale, down * scale],
            depth_mm: -1e3 * f64::from(relief.z_m[i]),
            pixel,
            added: [0, 1, 2].map(|c| f64::from(press.image.channels[c][i] - background.channels[c][i])),
            weight: per_pixel * (step * step) as f64 * weight(distance),
        }
    };
    let on_grid = |i: usize, step: usize| (i % width).is_multiple_of(step) && (i / width).is_multiple_of(step);
    let of = |region: Region, step: usize| {
        press.pixels(region).filter(move |&i| on_grid(i, step * stride)).map(move |i| sample(i, step))
    };
    of(NEAR, 1).chain(of(FAR, SPARSE)).collect()
}

/// Horizon (tangent) of each sample towards several lamps.
pub(super) fn horizons<const N: usize>(press: &BallPress, samples: &[Sample], lamps: &[SideLamp; N]) -> Vec<[f32; N]> {
    let horizons = Horizon::of(&press.relief, lamps);
    let at = |sample: &Sample, c: usize| {
        let mut tangent = [0.0];
        horizons[c].row(sample.pixel[1], sample.pixel[0], &mut tangent);
        tangent[0]
    };
    samples.iter().map(|sample| std::array::from_fn(|i| at(sample, i))).collect()
}
