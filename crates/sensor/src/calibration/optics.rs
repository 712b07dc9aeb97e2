//! The light of an optical sensor from images of a ball pressed into it.
//!
//! Needed are the image without contact and some images of presses with a ball of known size, each with the middle and the
//! radius of the contact. The gel's surface in each press is computed by the sensor's own skin ([`ball_reliefs`]); the colour
//! that belongs to each slope, height and place is fitted, as a polynomial ([`fit_calibrated`]) or as lamps ([`fit_phong`]). Where labels
//! are loose, [`align()`] first finds from the images where the ball was, and how deep.

mod align;
mod ball;
mod calibrated;
mod dent;
mod lamps;
mod normal_equations;
mod samples;
mod scale;

pub use align::align;
pub use ball::{Label, ball_reliefs};
pub use calibrated::{CalibratedFit, MAX_PLACE_DEGREE, fit_calibrated};
pub use dent::Dent;
pub use lamps::fit_phong;
pub use scale::{ScaleFit, fit_scale};

use crate::optics::{FloatImage, Relief};

/// An image of a pressed ball, with its label.
#[derive(Clone, Debug)]
pub struct BallPress {
    /// The image.
    pub image: FloatImage,
    /// The surface that it shows.
    pub relief: Relief,
    /// Middle and radius of the contact.
    pub label: Label,
}

/// A ring about the middle of a contact, in radii of the contact.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Region {
    /// From here …
    pub from: f64,
    /// … to here.
    pub to: f64,
}

/// Well inside the contact, where the surface is the ball's whatever the label's error.
pub const INSIDE: Region = Region { from: 0.0, to: 0.9 };
/// Around the contact, where the surface follows from the gel's mechanics.
pub const AROUND: Region = Region { from: 1.0, to: 2.0 };

impl BallPress {
    /// Pixels of a region, by index.
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

    /// Sum of squared differences to another image, as 8-bit cameras would deliver both, over all colours, and its count.
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

/// Root mean square difference (levels, 0–255) of presses and the images of `shown`, over all pixels of a region.
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
