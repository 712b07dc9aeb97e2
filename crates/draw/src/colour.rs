//! Colours and colour maps.
//!
//! The maps are defined by a few control points in Oklab (Ottosson 2020), a perceptually uniform space. Lightness is
//! linear in the value, so that the maps are also legible in greyscale print.

use crate::Rgb;
use dermis_geometry::Vec3;

/// Eight colours for series, also for colour-blind readers: neighbours differ in lightness and not only in red against
/// green.
pub const PALETTE: [Rgb; 8] = [
    [31, 98, 171],
    [219, 109, 23],
    [15, 145, 116],
    [176, 48, 105],
    [96, 176, 226],
    [110, 86, 168],
    [226, 171, 38],
    [92, 96, 104],
];

/// Colour of text and axes.
pub const INK: Rgb = [38, 42, 48];
/// Colour of grid lines.
pub const FAINT: Rgb = [224, 227, 231];
/// Colour of secondary text and tick marks.
pub const SOFT: Rgb = [110, 116, 124];
/// Background colour.
pub const PAPER: Rgb = [255, 255, 255];

/// Maps values between 0 and 1 to colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum ColourMap {
    /// White for 0 to black for 1, as in printed pressure images of the literature.
    Grey,
    /// Dark blue through violet and coral to light yellow, with uniformly increasing lightness.
    #[default]
    Ember,
    /// Blue for 0, near white for ½, red for 1: for signed values.
    Diverging,
}

/// Lightness, green–red and blue–yellow of evenly spaced points of [`ColourMap::Ember`].
const EMBER: [[f64; 3]; 6] = [
    [0.170, 0.000, -0.052],
    [0.328, 0.046, -0.122],
    [0.486, 0.132, -0.078],
    [0.644, 0.162, 0.050],
    [0.802, 0.074, 0.136],
    [0.960, -0.022, 0.098],
];

/// The same for [`ColourMap::Diverging`], symmetric in lightness.
const DIVERGING: [[f64; 3]; 7] = [
    [0.380, -0.020, -0.130],
    [0.575, -0.040, -0.120],
    [0.790, -0.026, -0.066],
    [0.965, 0.000, 0.004],
    [0.790, 0.074, 0.050],
    [0.575, 0.165, 0.080],
    [0.380, 0.140, 0.060],
];

impl ColourMap {
    /// The colour of `value`, clamped to 0…1. NaN gives mid grey.
    pub fn colour(self, value: f64) -> Rgb {
        if value.is_nan() {
            return [160, 160, 160];
        }
        let value = value.clamp(0.0, 1.0);
        match self {
            Self::Grey => [(255.0 * (1.0 - value)).round() as u8; 3],
            Self::Ember => along(&EMBER, value),
            Self::Diverging => along(&DIVERGING, value),
        }
    }
}

/// A smooth curve (Catmull–Rom) through evenly spaced Oklab points.
fn along(points: &[[f64; 3]], value: f64) -> Rgb {
    let place = value * (points.len() - 1) as f64;
    let left = (place as usize).min(points.len() - 2);
    let t = place - left as f64;
    let point = |i: isize| points[(left as isize + i).clamp(0, points.len() as isize - 1) as usize];
    let lab = std::array::from_fn(|k| {
        let [a, b, c, d] = [point(-1)[k], point(0)[k], point(1)[k], point(2)[k]];
        // Beyond the ends the curve continues straight, so that a uniform ramp stays uniform.
        let a = if left == 0 { 2.0 * b - c } else { a };
        let d = if left + 2 == points.len() { 2.0 * c - b } else { d };
        b + 0.5 * t * ((c - a) + t * ((2.0 * a - 5.0 * b + 4.0 * c - d) + t * (3.0 * (b - c) + d - a)))
    });
    rgb_from_oklab(lab)
}

/// Converts Oklab to sRGB, clamped to the gamut.
pub fn rgb_from_oklab([lightness, a, b]: [f64; 3]) -> Rgb {
    let l = (lightness + 0.396_337_777_4 * a + 0.215_803_757_3 * b).powi(3);
    let m = (lightness - 0.105_561_345_8 * a - 0.063_854_172_8 * b).powi(3);
    let s = (lightness - 0.089_484_177_5 * a - 1.291_485_548_0 * b).powi(3);
    let linear = [
        4.076_741_662_1 * l - 3.307_711_591_3 * m + 0.230_969_929_2 * s,
        -1.268_438_004_6 * l + 2.609_757_401_1 * m - 0.341_319_396_5 * s,
        -0.004_196_086_3 * l - 0.703_418_614_7 * m + 1.707_614_701_0 * s,
    ];
    linear.map(|x| (255.0 * encoded_from_linear(x)).round() as u8)
}

/// The sRGB transfer function, from 0…1 to 0…1.
pub(crate) fn encoded_from_linear(x: f64) -> f64 {
    let x = x.clamp(0.0, 1.0);
    if x <= 0.003_130_8 { 12.92 * x } else { 1.055 * x.powf(1.0 / 2.4) - 0.055 }
}

/// Inverse of the sRGB transfer function.
fn linear_from_encoded(x: f64) -> f64 {
    if x <= 0.040_45 { x / 12.92 } else { ((x + 0.055) / 1.055).powf(2.4) }
}

/// Converts a colour to linear light, 0 to 1 per channel.
pub(crate) fn linear_from_rgb(colour: Rgb) -> Vec3 {
    Vec3::from_array(colour.map(|c| linear_from_encoded(f64::from(c) / 255.0)))
}

/// Luma of a colour, 0 to 1, for choosing black or white text on it.
pub fn lightness(colour: Rgb) -> f64 {
    (0.299 * f64::from(colour[0]) + 0.587 * f64::from(colour[1]) + 0.114 * f64::from(colour[2])) / 255.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grey_is_white_at_zero_and_black_at_one() {
        assert_eq!(ColourMap::Grey.colour(0.0), [255; 3]);
        assert_eq!(ColourMap::Grey.colour(1.0), [0; 3]);
        assert_eq!(ColourMap::Grey.colour(7.0), [0; 3]);
        assert_eq!(ColourMap::Grey.colour(f64::NAN), [160; 3]);
    }

    #[test]
    fn ember_only_gets_lighter_and_diverging_is_lightest_in_the_middle() {
        let light = |map: ColourMap, i: usize| lightness(map.colour(i as f64 / 100.0));
        assert!((0..100).all(|i| light(ColourMap::Ember, i + 1) > light(ColourMap::Ember, i) - 0.004));
        assert!((0..50).all(|i| light(ColourMap::Diverging, i + 1) > light(ColourMap::Diverging, i) - 0.004));
        assert!((50..100).all(|i| light(ColourMap::Diverging, i + 1) < light(ColourMap::Diverging, i) + 0.004));
    }

    #[test]
    fn oklab_white_and_black() {
        assert_eq!(rgb_from_oklab([1.0, 0.0, 0.0]), [255; 3]);
        assert_eq!(rgb_from_oklab([0.0, 0.0, 0.0]), [0; 3]);
    }
}
