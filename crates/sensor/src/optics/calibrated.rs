//! Calibrated light: colour as a function of the surface's slope, its height and the position in the image.

use super::background::check_polynomial;
use super::position::{ImageCoordinates, MAX_DEGREE, along_row, count, monomials};
use super::wide::widest;
use super::{Area, BackgroundSpec, FloatImage, OpticsError, Relief};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// The description of a light fitted to images of known presses.
///
/// ```text
/// I = I₀(u, v) + Σ_k q_k(u, v) m_k(n_r, n_d, h)
/// ```
/// I₀ is the image without contact. The m_k are the monomials of total degree 1 … `degree` of the surface at a pixel:
/// the first two components (right and down) of the surface's unit normal, which remain bounded for steep slopes, and
/// the indentation h of the gel (mm). They are ordered by degree, then by decreasing power of n_r, then of n_d. The q_k
/// are polynomials of the position. All m_k vanish without indentation, so the image joins the background continuously.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CalibratedSpec {
    /// Image I₀ without contact.
    pub background: BackgroundSpec,
    /// Degree of the monomials of slope and height.
    pub degree: usize,
    /// Degree of the polynomials of the position. Coordinates are measured from the image centre in half widths, right
    /// and down.
    pub position_degree: usize,
    /// Coefficients (levels of an 8-bit image) for red, green and blue: for each m_k those of q_k, ordered 1, x, y, x²,
    /// xy, y², …
    pub levels: [Vec<f64>; 3],
    /// Area of the calibration presses (pixels). Outside, the polynomials of the position keep their value at its
    /// border.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub area: Option<Area>,
    /// Largest indentation h of the calibration (mm); larger values are clamped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deepest_mm: Option<f64>,
    /// Steepest slope of the calibration, as the sine of its angle: the largest length of (n_r, n_d), up to 1. Steeper
    /// surfaces have the light of this slope in the same direction, because a polynomial is arbitrary outside its data.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steepest: Option<f64>,
}

/// The light with checked parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct Calibrated {
    background: FloatImage,
    position_degree: usize,
    monomials: Vec<Product>,
    levels: [Vec<f64>; 3],
    area: Option<Area>,
    deepest_mm: f32,
    steepest: f32,
}

/// A monomial of the surface as the product of an earlier monomial (or 1) and one of n_r, n_d and h.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Product {
    earlier: Option<usize>,
    factor: usize,
}

/// Highest degree of the monomials of slope and height.
pub const MAX_SURFACE_DEGREE: usize = 4;

/// Powers of n_r, n_d and h in each monomial.
pub(crate) fn surface_monomials(degree: usize) -> Vec<[usize; 3]> {
    let of_degree =
        |total: usize| (0..=total).rev().flat_map(move |a| (0..=total - a).rev().map(move |b| [a, b, total - a - b]));
    (1..=degree).flat_map(of_degree).collect()
}

/// The same monomials, each as a product of an earlier one.
fn products(degree: usize) -> Vec<Product> {
    let all = surface_monomials(degree);
    let product = |powers: &[usize; 3]| {
        let factor = powers.iter().position(|&power| power > 0).unwrap_or_default();
        let mut fewer = *powers;
        fewer[factor] -= 1;
        Product { earlier: all.iter().position(|other| *other == fewer), factor }
    };
    all.iter().map(product).collect()
}

/// Number of coefficients per colour.
pub(crate) fn coefficients(degree: usize, position_degree: usize) -> usize {
    surface_monomials(degree).len() * count(position_degree)
}

/// Regressors of the coefficients at a pixel: for each monomial of the surface, the monomials of the position.
pub(crate) fn features(
    [normal_right, normal_down, pressed_mm]: [f64; 3],
    place: [f64; 2],
    degree: usize,
    position_degree: usize,
) -> Vec<f64> {
    let power = |base: f64, exponent: usize| base.powi(exponent as i32);
    let places: Vec<f64> = monomials(position_degree).map(|(i, j)| power(place[0], i) * power(place[1], j)).collect();
    surface_monomials(degree)
        .into_iter()
        .flat_map(|[a, b, c]| {
            let seen = power(normal_right, a) * power(normal_down, b) * power(pressed_mm, c);
            places.iter().map(move |place| seen * place).collect::<Vec<_>>()
        })
        .collect()
}

impl CalibratedSpec {
    /// Checks the parameters and reads the background.
    pub fn build(&self, width: usize, height: usize, folder: Option<&Path>) -> Result<Calibrated, OpticsError> {
        if self.degree == 0 || self.degree > MAX_SURFACE_DEGREE {
            let rule = format!("must be 1 to {MAX_SURFACE_DEGREE}, got {}", self.degree);
            return Err(OpticsError::Bad { table: "light", key: "degree", rule });
        }
        check_polynomial("levels", self.position_degree, &self.levels, surface_monomials(self.degree).len())?;
        if let Some(deepest) = self.deepest_mm.filter(|deepest| deepest.is_nan() || *deepest <= 0.0) {
            let rule = format!("must be a positive depth, got {deepest}");
            return Err(OpticsError::Bad { table: "light", key: "deepest_mm", rule });
        }
        if let Some(steepest) = self.steepest.filter(|steepest| !(*steepest > 0.0 && *steepest <= 1.0)) {
            let rule = format!("must be the sine of an angle, above 0 and up to 1, got {steepest}");
            return Err(OpticsError::Bad { table: "light", key: "steepest", rule });
        }
        Ok(Calibrated {
            background: self.background.build(width, height, folder)?,
            position_degree: self.position_degree,
            monomials: products(self.degree),
            levels: self.levels.clone(),
            area: self.area,
            deepest_mm: self.deepest_mm.map_or(f32::INFINITY, |deepest| deepest as f32),
            steepest: self.steepest.map_or(1.0, |steepest| steepest as f32),
        })
    }
}

/// Number of pixels per block.
const BLOCK: usize = 32;
type Block = [f32; BLOCK];
/// Slopes below this change the image by a few tenths of a level at most, for the lights fitted so far.
pub const MIN_SLOPE: f32 = 2e-3;
/// Indentations (mm) below this change the image equally little.
pub const MIN_PRESSED_MM: f32 = 3e-3;

impl Calibrated {
    /// Image I₀ without contact.
    pub fn background(&self) -> &FloatImage {
        &self.background
    }

    /// Degree of the q_k.
    pub fn position_degree(&self) -> usize {
        self.position_degree
    }

    /// Each m_k as the product of an earlier one (`None`: 1) and one of n_r, n_d and h (0, 1, 2).
    pub fn monomials(&self) -> impl ExactSizeIterator<Item = (Option<usize>, usize)> {
        self.monomials.iter().map(|product| (product.earlier, product.factor))
    }

    /// Coefficients (levels) for red, green and blue: for each m_k those of q_k.
    pub fn levels(&self) -> &[Vec<f64>; 3] {
        &self.levels
    }

    /// The area of the calibration.
    pub fn area(&self) -> Option<Area> {
        self.area
    }

    /// Largest indentation h (mm).
    pub fn deepest_mm(&self) -> f32 {
        self.deepest_mm
    }

    /// Largest length of (n_r, n_d).
    pub fn steepest(&self) -> f32 {
        self.steepest
    }

    /// Square of the slope above which a pixel is steeper than the calibration.
    pub fn steep_squared(&self) -> f32 {
        let squared = self.steepest * self.steepest;
        1.001 * squared / (1.0 - squared).max(f32::MIN_POSITIVE)
    }

    /// Fraction of the pressed pixels that are steeper than the calibration.
    pub fn beyond(&self, relief: &Relief) -> f64 {
        let max = self.steep_squared();
        let slopes = relief.slope_right.iter().zip(&relief.slope_down).zip(&relief.z_m);
        let pressed = slopes.filter(|(_, z_m)| -1e3 * **z_m > MIN_PRESSED_MM);
        let (mut steep, mut count) = (0u32, 0u32);
        for ((right, down), _) in pressed {
            count += 1;
            steep += u32::from(right * right + down * down > max);
        }
        f64::from(steep) / f64::from(count.max(1))
    }

    /// Renders a relief. `rest` is the relief of the undeformed gel if it is not flat.
    pub fn shade(&self, relief: &Relief, rest: Option<&Relief>) -> FloatImage {
        let mut image = self.background.clone();
        let frame = ImageCoordinates::new(relief.width, relief.height, self.area);
        let across: Vec<f32> = (0..relief.width).map(|column| frame.at(column as f64, 0.0)[0] as f32).collect();
        let per_monomial = count(self.position_degree);
        let mut lines: [Vec<[f32; MAX_DEGREE + 1]>; 3] = Default::default();
        let mut values = vec![[0.0; BLOCK]; self.monomials.len()];
        for row in 0..relief.height {
            let y = frame.at(0.0, row as f64)[1];
            for (lines, levels) in lines.iter_mut().zip(&self.levels) {
                lines.clear();
                lines.extend(levels.chunks_exact(per_monomial).map(|q| along_row(q, self.position_degree, y)));
            }
            for start in (0..relief.width).step_by(BLOCK) {
                let end = (start + BLOCK).min(relief.width);
                let pixels = row * relief.width + start..row * relief.width + end;
                let seen = self.seen(relief, rest, pixels.clone());
                // Far from any contact the light does not change visibly.
                let small = |part: &Block, max: f32| part.iter().all(|value| value.abs() < max);
                if small(&seen[0], MIN_SLOPE) && small(&seen[1], MIN_SLOPE) && small(&seen[2], MIN_PRESSED_MM) {
                    continue;
                }
                let mut x = [0.0; BLOCK];
                x[..end - start].copy_from_slice(&across[start..end]);
                let mut sums = [[0.0; BLOCK]; 3];
                multiply(&seen, &self.monomials, &mut values);
                add_block(&values, &lines, self.position_degree, &x, &mut sums);
                for (channel, sum) in image.channels.iter_mut().zip(&sums) {
                    channel[pixels.clone()].iter_mut().zip(sum).for_each(|(level, sum)| *level += sum);
                }
            }
        }
        image
    }

    /// n_r, n_d and h of a range of pixels.
    fn seen(&self, relief: &Relief, rest: Option<&Relief>, pixels: std::ops::Range<usize>) -> [Block; 3] {
        let [mut right, mut down, mut pressed] = [[0.0; BLOCK]; 3];
        let count = pixels.len();
        right[..count].copy_from_slice(&relief.slope_right[pixels.clone()]);
        down[..count].copy_from_slice(&relief.slope_down[pixels.clone()]);
        pressed[..count].copy_from_slice(&relief.z_m[pixels.clone()]);
        if let Some(rest) = rest {
            right.iter_mut().zip(&rest.slope_right[pixels.clone()]).for_each(|(slope, rest)| *slope -= rest);
            down.iter_mut().zip(&rest.slope_down[pixels.clone()]).for_each(|(slope, rest)| *slope -= rest);
            pressed.iter_mut().zip(&rest.z_m[pixels]).for_each(|(z, rest)| *z -= rest);
        }
        let mut seen = [right, down, pressed];
        to_normals(&mut seen, self.deepest_mm, self.steepest);
        seen
    }
}

widest! {
    /// Converts slopes and heights (m) to n_r, n_d and h.
    fn to_normals(seen: &mut [Block; 3], deepest_mm: f32, steepest: f32) {
        let [right, down, pressed] = seen;
        for ((right, down), pressed) in right.iter_mut().zip(down).zip(pressed) {
            let squared = *right * *right + *down * *down;
            // min(1/√(1 + s²), steepest/s), without a division by zero.
            let scale = 1.0 / (1.0 + squared).max(squared / (steepest * steepest)).sqrt();
            *right *= scale;
            *down *= scale;
            *pressed = (-1e3 * *pressed).min(deepest_mm);
        }
    }
}

widest! {
    /// Monomials of a block of pixels.
    fn multiply(seen: &[Block; 3], monomials: &[Product], values: &mut [Block]) {
        for (k, &Product { earlier, factor }) in monomials.iter().enumerate() {
            values[k] = seen[factor];
            if let Some(earlier) = earlier.map(|earlier| values[earlier]) {
                values[k].iter_mut().zip(earlier).for_each(|(value, earlier)| *value *= earlier);
            }
        }
    }
}

widest! {
    /// Σ_k q_k(x) m_k for three colours.
    fn add_block(
        values: &[Block],
        lines: &[Vec<[f32; MAX_DEGREE + 1]>; 3],
        degree: usize,
        x: &Block,
        sums: &mut [Block; 3],
    ) {
        // A constant degree lets the compiler unroll the inner loop.
        match degree {
            0 => add_up::<0>(values, lines, x, sums),
            1 => add_up::<1>(values, lines, x, sums),
            2 => add_up::<2>(values, lines, x, sums),
            3 => add_up::<3>(values, lines, x, sums),
            4 => add_up::<4>(values, lines, x, sums),
            _ => add_up::<MAX_DEGREE>(values, lines, x, sums),
        }
    }
}

/// Number of pixels whose sums fit into registers.
const LANES: usize = 16;

#[inline(always)]
fn add_up<const DEGREE: usize>(
    values: &[Block],
    lines: &[Vec<[f32; MAX_DEGREE + 1]>; 3],
    x: &Block,
    sums: &mut [Block; 3],
) {
    for (sum, lines) in sums.iter_mut().zip(lines) {
        for start in (0..BLOCK).step_by(LANES) {
            // A polynomial of x for each pixel: first its coefficients, then its value.
            let mut coefficients = [[0.0f32; LANES]; MAX_DEGREE + 1];
            for (line, values) in lines.iter().zip(values) {
                for (power, coefficient) in coefficients[..=DEGREE].iter_mut().enumerate() {
                    for i in 0..LANES {
                        coefficient[i] += line[power] * values[start + i];
                    }
                }
            }
            for i in 0..LANES {
                let at = x[start + i];
                sum[start + i] =
                    coefficients[..DEGREE].iter().rev().fold(coefficients[DEGREE][i], |sum, more| sum * at + more[i]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec() -> CalibratedSpec {
        let levels = [0, 1, 2].map(|c: usize| {
            (0..coefficients(2, 2)).map(|i| ((i * 7 + c * 13) % 11) as f64 - 5.0).collect::<Vec<f64>>()
        });
        let background = BackgroundSpec::Colour([100.0, 110.0, 120.0]);
        CalibratedSpec {
            background,
            degree: 2,
            position_degree: 2,
            levels,
            area: None,
            deepest_mm: None,
            steepest: None,
        }
    }

    fn relief(width: usize, height: usize) -> Relief {
        let wave = |k: f32| (0..width * height).map(|i| (k * i as f32).sin()).collect::<Vec<f32>>();
        let z_m = wave(0.37).iter().map(|z| 1e-3 * z).collect();
        Relief { width, height, z_m, slope_right: wave(0.11), slope_down: wave(0.23), seen: None }
    }

    /// The blocked evaluation agrees with the definition at every pixel.
    #[test]
    fn blocks_give_what_the_definition_gives() {
        let (width, height) = (67, 9);
        let area = Some(Area { left: 10.0, top: 2.0, right: 50.0, bottom: 7.0 });
        let spec = CalibratedSpec { area, deepest_mm: Some(0.5), steepest: Some(0.6), ..spec() };
        let relief = relief(width, height);
        let image = spec.build(width, height, None).unwrap().shade(&relief, None);
        let frame = ImageCoordinates::new(width, height, area);
        for i in 0..width * height {
            let (right, down) = (f64::from(relief.slope_right[i]), f64::from(relief.slope_down[i]));
            let scale = (1.0 + right * right + down * down).sqrt().max(right.hypot(down) / 0.6);
            let seen = [right / scale, down / scale, (-1e3 * f64::from(relief.z_m[i])).min(0.5)];
            let row = features(seen, frame.at((i % width) as f64, (i / width) as f64), 2, 2);
            for (c, background) in [100.0, 110.0, 120.0].into_iter().enumerate() {
                let expected: f64 = background + row.iter().zip(&spec.levels[c]).map(|(a, b)| a * b).sum::<f64>();
                assert!((f64::from(image.channels[c][i]) - expected).abs() < 1e-3);
            }
        }
    }

    /// Beyond the steepest measured slope the colour depends on the direction alone.
    #[test]
    fn steeper_slopes_than_measured_have_the_light_of_the_steepest() {
        let spec = CalibratedSpec { steepest: Some(0.6), ..spec() };
        let light = spec.build(8, 8, None).unwrap();
        let tilted = |slope: f32| {
            let (slope_right, slope_down) = (vec![0.6 * slope; 64], vec![-0.8 * slope; 64]);
            Relief { z_m: vec![-1e-4; 64], slope_right, slope_down, ..relief(8, 8) }
        };
        // A sine of 0.6 is a slope of 0.75.
        let limit = light.shade(&tilted(0.75), None);
        for slope in [1.0, 5.0, 100.0] {
            let image = light.shade(&tilted(slope), None);
            let differ = |(a, b): (&f32, &f32)| (a - b).abs() < 1e-3;
            assert!(image.channels.iter().flatten().zip(limit.channels.iter().flatten()).all(differ), "{slope}");
            assert_eq!(light.beyond(&tilted(slope)), 1.0);
        }
        assert_eq!(light.beyond(&tilted(0.7)), 0.0);
        assert!(CalibratedSpec { steepest: Some(1.5), ..spec }.build(8, 8, None).is_err());
    }

    #[test]
    fn an_untouched_gel_shows_the_background() {
        let flat = Relief { z_m: vec![0.0; 64], slope_right: vec![0.0; 64], slope_down: vec![0.0; 64], ..relief(8, 8) };
        assert_eq!(spec().build(8, 8, None).unwrap().shade(&flat, None), FloatImage::new(8, 8, [100.0, 110.0, 120.0]));
        // Also for a curved gel, relative to its relief at rest.
        let curved = relief(8, 8);
        assert_eq!(spec().build(8, 8, None).unwrap().shade(&curved, Some(&curved)).channels[1], vec![110.0; 64]);
    }

    #[test]
    fn a_missing_coefficient_is_refused_with_the_count() {
        let mut short = spec();
        short.levels[2].pop();
        let message = short.build(8, 8, None).unwrap_err().to_string();
        assert!(message.contains("54") && message.contains("53"), "{message}");
    }
}
