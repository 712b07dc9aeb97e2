//! Polynomials of the position in the image.

use serde::{Deserialize, Serialize};

/// Monomials of the position in the image. Coordinates are measured from the centre in half widths, right and down. The
/// monomials are ordered by degree, and within a degree by decreasing power of the first coordinate: 1, x, y, x², xy,
/// y², …
pub(super) fn monomials(degree: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..=degree).flat_map(|total| (0..=total).map(move |second| (total - second, second)))
}

/// Number of coefficients of a polynomial of a degree.
pub(super) fn count(degree: usize) -> usize {
    (degree + 1) * (degree + 2) / 2
}

/// A rectangle of an image (pixels).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Area {
    /// First column.
    pub left: f64,
    /// First row.
    pub top: f64,
    /// Last column.
    pub right: f64,
    /// Last row.
    pub bottom: f64,
}

/// Maps pixels to the coordinates of polynomials of the position.
#[derive(Clone, Copy, Debug)]
pub struct ImageCoordinates {
    half: f64,
    middle: [f64; 2],
    area: Option<Area>,
}

impl ImageCoordinates {
    /// Coordinates for an image, clamped to `area`.
    pub fn new(width: usize, height: usize, area: Option<Area>) -> Self {
        Self { half: 0.5 * width as f64, middle: [0.5 * (width as f64 - 1.0), 0.5 * (height as f64 - 1.0)], area }
    }

    /// Coordinates of a pixel, clamped to the area.
    pub fn at(&self, column: f64, row: f64) -> [f64; 2] {
        let (column, row) = match self.area {
            None => (column, row),
            Some(Area { left, top, right, bottom }) => (column.max(left).min(right), row.max(top).min(bottom)),
        };
        [(column - self.middle[0]) / self.half, (row - self.middle[1]) / self.half]
    }
}

/// Coordinates of a pixel.
pub(crate) fn place_in(width: usize, height: usize, [column, row]: [f64; 2]) -> [f64; 2] {
    ImageCoordinates::new(width, height, None).at(column, row)
}

/// Polynomial of x on one row, lowest power first, with the powers of y multiplied in.
pub fn along_row(coefficients: &[f64], degree: usize, y: f64) -> [f32; MAX_DEGREE + 1] {
    let mut line = [0.0; MAX_DEGREE + 1];
    for ((i, j), coefficient) in monomials(degree).zip(coefficients) {
        line[i] += coefficient * y.powi(j as i32);
    }
    line.map(|value| value as f32)
}

/// Highest degree of a polynomial of the position.
pub const MAX_DEGREE: usize = 5;

/// Value of a polynomial of x, lowest power first.
#[inline(always)]
pub(super) fn horner<const N: usize>(line: &[f32; N], top: usize, x: f32) -> f32 {
    let mut sum = line[top];
    for i in (0..top).rev() {
        sum = sum * x + line[i];
    }
    sum
}
