//! Fits the light of an optical sensor to images of a ball pressed into it.
//!
//! Inputs are the image without contact and several images of presses with a ball of known size, each with the centre
//! and radius of the contact. The sensor's own skin computes the surface of the gel in each press ([`ball_reliefs`]);
//! colour as a function of slope, shadow and position is fitted as a polynomial ([`fit_calibrated`]) or as lamps
//! ([`fit_phong`]). For inaccurate labels, [`align()`] first estimates the position and depth of the ball from the
//! images with a light fitted alternately, [`find_contact`] by geometry alone. [`background_of_presses`] is the image without contact at that time.

mod align;
mod background;
mod ball;
mod calibrated;
mod contact;
mod dent;
mod lamps;
mod normal_equations;
mod samples;
mod scale;
mod side_lamps;

pub use align::align;
pub use background::{background_of_presses, doubt_at_rest, drifted_background, quiet_background};
pub use ball::{BallRelief, Label, ball_reliefs};
pub use calibrated::{
    CalibratedFit, MAX_PLACE_DEGREE, MIN_PRESSES, fit_calibrated, fit_calibrated_by_depth, position_degree,
};
pub use contact::{contact_of_depth, depth_of_contact, find_contact};
pub use dent::Dent;
pub use lamps::fit_phong;
pub use scale::{ScaleFit, fit_scale};

use crate::optics::{FloatImage, Relief};

/// An image of a pressed ball, with its label.
#[derive(Clone, Debug)]
pub struct BallPress {
    /// The image.
    pub image: FloatImage,
    /// Relief of the surface in the image.
    pub relief: Relief,
    /// Centre and radius of the contact.
    pub label: Label,
}

/// A ring around the centre of a contact, in radii of the contact.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Region {
    /// Inner radius.
    pub from: f64,
    /// Outer radius.
    pub to: f64,
}

/// Well inside the contact, where the surface follows the ball even if the label is inaccurate.
pub const INSIDE: Region = Region { from: 0.0, to: 0.9 };
/// Around the contact, where the mechanics of the gel determine the surface.
pub const AROUND: Region = Region { from: 1.0, to: 2.0 };

impl BallPress {
    /// Indices of the pixels in a region.
    pub fn pixels(&self, region: Region) -> impl Iterator<Item = usize> + '_ {
        let Label { column, row, radius } = self.label;
        let (width, height) = (self.image.width, self.image.height);
        let reach = region.to * radius;
        let span = |middle: f64, count: usize| {
            ((middle - reach).ceil().max(0.0) as usize)
                ..((middle + reach).floor() + 1.0).clamp(0.0, count as f64) as usize
        };
        let columns = span(column, width);
        span(row, height).flat_map(move |y| columns.clone().map(move |x| (x, y))).filter_map(move |(x, y)| {
            let distance = (x as f64 - column).hypot(y as f64 - row) / radius;
            (region.from..region.to).contains(&distance).then_some(y * width + x)
        })
    }

    /// Sum of squared differences from another image, both rounded to 8 bits, over all colours, and the number of
    /// terms.
    fn squares(&self, other: &FloatImage, region: Region) -> (f64, usize) {
        let (mut sum, mut count) = (0.0, 0);
        for i in self.pixels(region) {
            for (own, other) in self.image.channels.iter().zip(&other.channels) {
                sum += f64::from(own[i] - other[i].clamp(0.0, 255.0)).powi(2);
                count += 1;
            }
        }
        (sum, count)
    }
}

/// Root mean square difference (levels, 0–255) between presses and the images of `shown`, over all pixels of a region.
pub fn rmse_255<'a>(
    presses: impl IntoIterator<Item = &'a BallPress>,
    region: Region,
    mut shown: impl FnMut(&BallPress) -> FloatImage,
) -> f64 {
    let (mut sum, mut count) = (0.0, 0);
    for press in presses {
        let (squares, pixels) = press.squares(&shown(press), region);
        sum += squares;
        count += pixels;
    }
    (sum / count.max(1) as f64).sqrt()
}
