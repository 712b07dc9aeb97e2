//! Calibrated light: colour as a function of the surface's slope, its shadows and the position in the image.

mod composition;
mod depth;
mod gradient;

pub(crate) use composition::Composition;
pub use depth::DepthLightSpec;
pub(crate) use depth::relative;

use super::background::check_polynomial;
use super::position::{ImageCoordinates, MAX_DEGREE, along_row, count, monomials};
use super::wide::widest;
use super::{Area, BackgroundSpec, FloatImage, Horizon, LightResidual, OpticsError, Relief, SideLamp, SideLampSpec};
use depth::DepthLight;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// The description of a light fitted to images of known presses.
///
/// ```text
/// I = I₀(u, v) + b (F + s G),   F = Σ_k q_k(u, v) m_k(n_r, n_d),   G = Σ_k r_k(u, v) m_k(n_r, n_d)
/// ```
/// I₀ is the image without contact, b = 1 or, for a `proportional` light, I₀/128. The m_k are the monomials of total degree 1 … `degree` of the first two components
/// (right and down) of the surface's unit normal, ordered by degree, then by decreasing power of n_r. The q_k are
/// polynomials of the position. s is the part of the colour's lamp that the surface hides ([`CastShadowSpec`]). If a
/// shadow `replaces` the light, I = I₀ + b (1 − s) F + s (I₀/128) G. [`DepthLightSpec`] adds a part that grows with the
/// depth.
///
/// All of it is bounded: n_r and n_d by the steepest slope of the calibration, the position by its area, the change of a
/// colour and the colour by those of its images. Without contact the image is the background.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CalibratedSpec {
    /// Image I₀ without contact.
    pub background: BackgroundSpec,
    /// Degree of the monomials of the slope.
    pub degree: usize,
    /// Degree of the polynomials of the position. Coordinates are measured from the image centre in half widths, right
    /// and down.
    pub position_degree: usize,
    /// Makes the change of each colour proportional to the image without contact, as the light of lamps that fades with
    /// the distance: the coefficients are levels where that image has the level 128.
    #[serde(default)]
    pub proportional: bool,
    /// Coefficients (levels of an 8-bit image) for red, green and blue: for each m_k those of q_k, ordered 1, x, y, x²,
    /// xy, y², …
    pub levels: [Vec<f64>; 3],
    /// Area of the calibration presses (pixels). Outside, the polynomials of the position keep their value at its
    /// border.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub area: Option<Area>,
    /// Steepest slope of the calibration, as the sine of its angle: the largest length of (n_r, n_d), up to 1. Steeper
    /// surfaces have the light of this slope in the same direction, because a polynomial is arbitrary outside its data.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steepest: Option<f64>,
    /// Smallest and largest change I − I₀ (levels) in the calibration, for red, green and blue; larger ones are clamped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub change: Option<[[f64; 2]; 3]>,
    /// Darkest and brightest level in the calibration, for red, green and blue. A contact makes no pixel darker or
    /// brighter.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub range: Option<[[f64; 2]; 3]>,
    /// Cast shadows; defaults to none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shadow: Option<CastShadowSpec>,
    /// Part of the light that grows with the depth of the surface; defaults to none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub depth: Option<DepthLightSpec>,
    /// Error of the fit, which `dermis calibrate optics` writes and `dermis estimate` has in its intervals; defaults to none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub residual: Option<LightResidual>,
}

/// Cast shadows of a calibrated light.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CastShadowSpec {
    /// The lamps of red, green and blue.
    pub lamps: [SideLampSpec; 3],
    /// Coefficients (levels) for red, green and blue: those of r_k, polynomials of degree 1 of the position, for the
    /// monomials m_k of degree 0 to 2.
    pub levels: [Vec<f64>; 3],
    /// Takes the light of the lamp away where it is hidden, instead of adding to it: with a part s hidden, (1 − s) F
    /// remains, and the shadow s G is proportional to the image without contact. The levels of G are those where that
    /// image has the level 128.
    #[serde(default)]
    pub replaces: bool,
}

/// Degree of the monomials of the slope in G, which include 1.
pub(crate) const SHADOW_DEGREE: usize = 2;
/// Degree of the polynomials of the position in G.
pub const SHADOW_POSITION_DEGREE: usize = 1;

/// The light with checked parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct Calibrated {
    background: FloatImage,
    position_degree: usize,
    composition: Composition,
    monomials: Vec<Product>,
    /// Number of monomials of F; those of G may be more.
    lit: usize,
    levels: [Vec<f64>; 3],
    area: Option<Area>,
    steepest: f32,
    change: [[f32; 2]; 3],
    range: [[f32; 2]; 3],
    shadow: Option<CastShadow>,
    depth: Option<DepthLight>,
}

/// Cast shadows with checked parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct CastShadow {
    /// The lamps of red, green and blue.
    pub lamps: [SideLamp; 3],
    /// Coefficients (levels) of the r_k: first of the monomial 1.
    pub levels: [Vec<f64>; 3],
    /// True if the light of a hidden lamp is missing.
    pub replaces: bool,
}

/// A monomial of the surface as the product of an earlier monomial (or 1) and one of n_r and n_d.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Product {
    earlier: Option<usize>,
    factor: usize,
}

/// Highest degree of the monomials of the slope.
pub const MAX_SURFACE_DEGREE: usize = 4;

/// Powers of n_r and n_d in each monomial.
pub(crate) fn surface_monomials(degree: usize) -> Vec<[usize; 2]> {
    (1..=degree).flat_map(|total| (0..=total).rev().map(move |a| [a, total - a])).collect()
}

/// The same monomials, each as a product of an earlier one.
fn products(degree: usize) -> Vec<Product> {
    let all = surface_monomials(degree);
    let product = |powers: &[usize; 2]| {
        let factor = usize::from(powers[0] == 0);
        let mut fewer = *powers;
        fewer[factor] -= 1;
        Product { earlier: all.iter().position(|other| *other == fewer), factor }
    };
    all.iter().map(product).collect()
}

/// Number of coefficients per colour of F.
pub(crate) fn coefficients(degree: usize, position_degree: usize) -> usize {
    surface_monomials(degree).len() * count(position_degree)
}

/// Number of coefficients per colour of G.
pub(crate) fn shadow_coefficients() -> usize {
    (1 + surface_monomials(SHADOW_DEGREE).len()) * count(SHADOW_POSITION_DEGREE)
}

/// Regressors of the coefficients at a pixel: those of F, then those of G for a hidden part of the lamp.
pub(crate) fn features(
    [right, down]: [f64; 2],
    place: [f64; 2],
    degree: usize,
    position_degree: usize,
    hidden: f64,
) -> Vec<f64> {
    let power = |base: f64, exponent: usize| base.powi(exponent as i32);
    let places = |degree: usize| -> Vec<f64> {
        monomials(degree).map(|(i, j)| power(place[0], i) * power(place[1], j)).collect()
    };
    let (fine, coarse) = (places(position_degree), places(SHADOW_POSITION_DEGREE));
    let seen = |[a, b]: [usize; 2]| power(right, a) * power(down, b);
    let lit = surface_monomials(degree).into_iter().map(seen);
    let shadowed = std::iter::once([0, 0]).chain(surface_monomials(SHADOW_DEGREE)).map(seen);
    let mut row: Vec<f64> = lit.flat_map(|seen| fine.iter().map(move |place| seen * place)).collect();
    row.extend(shadowed.flat_map(|seen| coarse.iter().map(move |place| hidden * seen * place)));
    row
}

impl CalibratedSpec {
    pub(crate) fn composition(&self) -> Composition {
        let replaces = self.shadow.as_ref().is_some_and(|shadow| shadow.replaces);
        Composition { proportional: self.proportional, replaces }
    }

    /// Checks the parameters and reads the background.
    pub fn build(&self, width: usize, height: usize, folder: Option<&Path>) -> Result<Calibrated, OpticsError> {
        if self.degree == 0 || self.degree > MAX_SURFACE_DEGREE {
            let rule = format!("must be 1 to {MAX_SURFACE_DEGREE}, got {}", self.degree);
            return Err(OpticsError::Bad { table: "light", key: "degree", rule });
        }
        check_polynomial("levels", self.position_degree, &self.levels, surface_monomials(self.degree).len())?;
        if let Some(steepest) = self.steepest.filter(|steepest| !(*steepest > 0.0 && *steepest <= 1.0)) {
            let rule = format!("must be the sine of an angle, above 0 and up to 1, got {steepest}");
            return Err(OpticsError::Bad { table: "light", key: "steepest", rule });
        }
        Ok(Calibrated {
            background: self.background.build(width, height, folder)?,
            position_degree: self.position_degree,
            composition: self.composition(),
            monomials: products(self.degree.max(SHADOW_DEGREE)),
            lit: surface_monomials(self.degree).len(),
            levels: self.levels.clone(),
            area: self.area,
            steepest: self.steepest.map_or(1.0, |steepest| steepest as f32),
            change: limits("change", self.change)?,
            range: limits("range", self.range)?,
            shadow: self.shadow.as_ref().map(CastShadowSpec::build).transpose()?,
            depth: self.depth.as_ref().map(DepthLightSpec::build).transpose()?,
        })
    }
}

impl CastShadowSpec {
    fn build(&self) -> Result<CastShadow, OpticsError> {
        let terms = 1 + surface_monomials(SHADOW_DEGREE).len();
        check_polynomial("shadow.levels", SHADOW_POSITION_DEGREE, &self.levels, terms)?;
        let [red, green, blue] = self.lamps.map(|lamp| lamp.build());
        Ok(CastShadow { lamps: [red?, green?, blue?], levels: self.levels.clone(), replaces: self.replaces })
    }
}

/// Limits of each colour, without end if not given.
fn limits(key: &'static str, limits: Option<[[f64; 2]; 3]>) -> Result<[[f32; 2]; 3], OpticsError> {
    let Some(limits) = limits else { return Ok([[f32::NEG_INFINITY, f32::INFINITY]; 3]) };
    if let Some([low, high]) =
        limits.iter().find(|[low, high]| low.partial_cmp(high).is_none_or(std::cmp::Ordering::is_gt))
    {
        let rule = format!("must rise from the smallest to the largest level, got {low} to {high}");
        return Err(OpticsError::Bad { table: "light", key, rule });
    }
    Ok(limits.map(|ends| ends.map(|end| end as f32)))
}

/// Level of the image without contact where a proportional change has the levels of its coefficients.
const PROPORTIONAL_TO: f32 = 128.0;
/// Number of pixels per block.
const BLOCK: usize = 32;
type Block = [f32; BLOCK];
/// Slopes below this change the image by a few tenths of a level at most, for the lights fitted so far.
pub const MIN_SLOPE: f32 = 2e-3;
/// Hidden parts of a lamp below this change the image equally little.
pub const MIN_HIDDEN: f32 = 2e-3;
/// Indentation (mm) from which a pixel counts as pressed.
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

    /// The image without contact by b, if the change is proportional to it (levels).
    pub fn proportional_to(&self) -> Option<f32> {
        self.composition.proportional.then_some(PROPORTIONAL_TO)
    }

    /// The image without contact by the factor of G, if shadows replace the light (levels).
    pub fn shadow_proportional_to(&self) -> Option<f32> {
        self.composition.replaces.then_some(PROPORTIONAL_TO)
    }

    /// Each m_k as the product of an earlier one (`None`: 1) and one of n_r and n_d (0, 1); F may use fewer than G.
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

    /// Limits of the change of each colour (levels).
    pub fn change(&self) -> [[f32; 2]; 3] {
        self.change
    }

    /// Limits of each colour (levels).
    pub fn range(&self) -> [[f32; 2]; 3] {
        self.range
    }

    /// Cast shadows, if any.
    pub fn shadow(&self) -> Option<&CastShadow> {
        self.shadow.as_ref()
    }

    /// The same light on another image without contact.
    pub fn on_background(self, background: FloatImage) -> Self {
        Self { background, ..self }
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
        let pressed = rest.map(|rest| relief.above(rest));
        let relief = pressed.as_ref().unwrap_or(relief);
        let shadows = self.shadow.as_ref().map(|shadow| (shadow, Horizon::of(relief, &shadow.lamps)));
        let frame = ImageCoordinates::new(relief.width, relief.height, self.area);
        let across: Vec<f32> = (0..relief.width).map(|column| frame.at(column as f64, 0.0)[0] as f32).collect();
        let [mut lit, mut shadowed]: [[Vec<Line>; 3]; 2] = Default::default();
        let mut deepened: [[Vec<Line>; 3]; 2] = Default::default();
        let mut values = vec![[0.0; BLOCK]; 1 + self.monomials.len()];
        values[0] = [1.0; BLOCK];
        for row in 0..relief.height {
            let y = frame.at(0.0, row as f64)[1];
            lines_at(&self.levels, self.position_degree, y, &mut lit);
            if let Some((shadow, _)) = &shadows {
                lines_at(&shadow.levels, SHADOW_POSITION_DEGREE, y, &mut shadowed);
            }
            for (levels, lines) in self.depth.iter().flat_map(|depth| &depth.levels).zip(&mut deepened) {
                lines_at(levels, SHADOW_POSITION_DEGREE, y, lines);
            }
            for start in (0..relief.width).step_by(BLOCK) {
                let end = (start + BLOCK).min(relief.width);
                let pixels = row * relief.width + start..row * relief.width + end;
                let mut hidden = [[0.0; BLOCK]; 3];
                let mut is_shadowed = false;
                for (c, (lamp, horizon)) in
                    shadows.iter().flat_map(|(shadow, all)| shadow.lamps.iter().zip(all)).enumerate()
                {
                    if horizon.is_raised(row, start, end - start) {
                        horizon.row(row, start, &mut hidden[c][..end - start]);
                        hidden[c].iter_mut().for_each(|part| *part = lamp.hidden(*part));
                        is_shadowed = true;
                    }
                }
                let seen = self.seen(relief, pixels.clone());
                let mut depth_mm = [0.0; BLOCK];
                if let Some(depth) = &self.depth {
                    depth_mm.iter_mut().zip(pixels.clone()).for_each(|(mm, pixel)| *mm = depth.depth_mm(relief, pixel));
                }
                // Far from any contact the light does not change visibly.
                let small = |part: &Block, max: f32| part.iter().all(|value| value.abs() < max);
                let is_flat = seen.iter().all(|part| small(part, MIN_SLOPE)) && small(&depth_mm, MIN_PRESSED_MM);
                if is_flat && hidden.iter().all(|part| small(part, MIN_HIDDEN)) {
                    continue;
                }
                let mut x = [0.0; BLOCK];
                x[..end - start].copy_from_slice(&across[start..end]);
                multiply(&seen, &self.monomials, &mut values[1..]);
                let [mut sums, mut darker] = [[[0.0; BLOCK]; 3]; 2];
                add_block(&values[1..=self.lit], &lit, self.position_degree, &x, &mut sums);
                if is_shadowed {
                    add_block(&values, &shadowed, SHADOW_POSITION_DEGREE, &x, &mut darker);
                }
                let mut deeper = [[[0.0; BLOCK]; 3]; 2];
                if self.depth.is_some() {
                    for (lines, sums) in deepened.iter().zip(&mut deeper) {
                        add_block(&values, lines, SHADOW_POSITION_DEGREE, &x, sums);
                    }
                }
                for (c, channel) in image.channels.iter_mut().enumerate() {
                    let [[least, most], [darkest, brightest]] = [self.change[c], self.range[c]];
                    let terms = sums[c].iter().zip(&hidden[c]).zip(&darker[c]);
                    for (i, (level, ((sum, hidden), darker))) in
                        channel[pixels.clone()].iter_mut().zip(terms).enumerate()
                    {
                        let [lit, dark] = self.composition.factors(*level, *hidden);
                        let by_depth = deeper[0][c][i] + relative(*level) * deeper[1][c][i];
                        let deeper = self.composition.unhidden(*hidden) * depth_mm[i] * by_depth;
                        let change = (lit * sum + dark * darker + deeper).max(least).min(most);
                        // A background beyond the range stays as it is.
                        *level = (*level + change).max(darkest.min(*level)).min(brightest.max(*level));
                    }
                }
            }
        }
        image
    }

    /// n_r and n_d of a range of pixels.
    fn seen(&self, relief: &Relief, pixels: std::ops::Range<usize>) -> [Block; 2] {
        let mut seen = [[0.0; BLOCK]; 2];
        let count = pixels.len();
        seen[0][..count].copy_from_slice(&relief.slope_right[pixels.clone()]);
        seen[1][..count].copy_from_slice(&relief.slope_down[pixels]);
        to_normals(&mut seen, self.steepest);
        seen
    }
}

/// A polynomial of x, lowest power first.
type Line = [f32; MAX_DEGREE + 1];

/// Polynomials of x on one row, for each colour and monomial.
fn lines_at(levels: &[Vec<f64>; 3], degree: usize, y: f64, lines: &mut [Vec<Line>; 3]) {
    for (lines, levels) in lines.iter_mut().zip(levels) {
        lines.clear();
        lines.extend(levels.chunks_exact(count(degree)).map(|q| along_row(q, degree, y)));
    }
}

widest! {
    /// Converts slopes to n_r and n_d.
    fn to_normals(seen: &mut [Block; 2], steepest: f32) {
        let [right, down] = seen;
        for (right, down) in right.iter_mut().zip(down) {
            let squared = *right * *right + *down * *down;
            // min(1/√(1 + s²), steepest/s), without a division by zero.
            let scale = 1.0 / (1.0 + squared).max(squared / (steepest * steepest)).sqrt();
            *right *= scale;
            *down *= scale;
        }
    }
}

widest! {
    /// Monomials of a block of pixels.
    fn multiply(seen: &[Block; 2], monomials: &[Product], values: &mut [Block]) {
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
        lines: &[Vec<Line>; 3],
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
fn add_up<const DEGREE: usize>(values: &[Block], lines: &[Vec<Line>; 3], x: &Block, sums: &mut [Block; 3]) {
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
    use dermis_geometry::quantity::{Angle, Length};

    pub(super) fn spec() -> CalibratedSpec {
        let levels = [0, 1, 2].map(|c: usize| {
            (0..coefficients(2, 2)).map(|i| ((i * 7 + c * 13) % 11) as f64 - 5.0).collect::<Vec<f64>>()
        });
        let background = BackgroundSpec::Colour([100.0, 110.0, 120.0]);
        CalibratedSpec {
            background,
            degree: 2,
            position_degree: 2,
            proportional: false,
            levels,
            area: None,
            steepest: None,
            change: None,
            range: None,
            shadow: None,
            depth: None,
            residual: None,
        }
    }

    /// Shadows of lamps at three sides.
    pub(super) fn shadow() -> CastShadowSpec {
        let angle = |degrees: f64| Angle::new(degrees.to_radians());
        let lamps = [10.0, 130.0, 250.0].map(|azimuth| SideLampSpec {
            azimuth: angle(azimuth),
            distance: Some(Length::new(5e-3)),
            elevation: [angle(5.0), angle(40.0)],
        });
        let levels = [0, 1, 2].map(|c| (0..shadow_coefficients()).map(|i| ((i * 5 + c) % 7) as f64 - 4.0).collect());
        CastShadowSpec { lamps, levels, replaces: false }
    }

    /// A part that grows with the depth, up to half of that of [`relief`].
    pub(super) fn depth() -> DepthLightSpec {
        let levels = |k: usize| [0, 1, 2].map(|c| (0..18).map(|i| ((i * k + c) % 5) as f64 - 2.0).collect());
        DepthLightSpec { levels: levels(3), proportional_levels: levels(7), deepest: Length::new(5e-4) }
    }

    pub(super) fn relief(width: usize, height: usize) -> Relief {
        let wave = |k: f32| (0..width * height).map(|i| (k * i as f32).sin()).collect::<Vec<f32>>();
        let z_m = wave(0.37).iter().map(|z| 1e-3 * z).collect();
        Relief { width, height, pixel_m: 1e-4, z_m, slope_right: wave(0.11), slope_down: wave(0.23), seen: None }
    }

    /// The blocked evaluation agrees with the definition at every pixel.
    #[test]
    fn blocks_give_what_the_definition_gives() {
        let (width, height) = (67, 9);
        let area = Some(Area { left: 10.0, top: 2.0, right: 50.0, bottom: 7.0 });
        let (change, range) = (Some([[-4.0, 3.0]; 3]), Some([[97.0, 122.0]; 3]));
        let spec = CalibratedSpec { area, steepest: Some(0.6), change, range, shadow: Some(shadow()), ..spec() };
        for (proportional, replaces) in [(false, false), (true, false), (false, true), (true, true)] {
            let shadow = Some(CastShadowSpec { replaces, ..shadow() });
            let spec = CalibratedSpec { proportional, shadow, ..spec.clone() };
            agrees(&spec, width, height);
            agrees(&CalibratedSpec { depth: Some(depth()), ..spec }, width, height);
        }
    }

    fn agrees(spec: &CalibratedSpec, width: usize, height: usize) {
        let (relief, area) = (relief(width, height), spec.area);
        let light = spec.build(width, height, None).unwrap();
        let image = light.shade(&relief, None);
        let frame = ImageCoordinates::new(width, height, area);
        let shadow = light.shadow().unwrap();
        let horizons = Horizon::of(&relief, &shadow.lamps);
        let (mut clamped, mut hid) = (0, 0.0f64);
        for i in 0..width * height {
            let (right, down) = (f64::from(relief.slope_right[i]), f64::from(relief.slope_down[i]));
            let scale = (1.0 + right * right + down * down).sqrt().max(right.hypot(down) / 0.6);
            let place = frame.at((i % width) as f64, (i / width) as f64);
            for (c, background) in [100.0, 110.0, 120.0].into_iter().enumerate() {
                let mut tangent = [0.0];
                horizons[c].row(i / width, i % width, &mut tangent);
                let hidden = f64::from(shadow.lamps[c].hidden(tangent[0]));
                let row = features([right / scale, down / scale], place, 2, 2, 1.0);
                let (lit, dark) = row.split_at(spec.levels[c].len());
                let sum = |row: &[f64], levels: &[f64]| row.iter().zip(levels).map(|(a, b)| a * b).sum::<f64>();
                let (lit, dark) = (sum(lit, &spec.levels[c]), sum(dark, &shadow.levels[c]));
                let factor = if spec.proportional { background / 128.0 } else { 1.0 };
                let mut change = match shadow.replaces {
                    false => factor * (lit + hidden * dark),
                    true => factor * (1.0 - hidden) * lit + hidden * background / 128.0 * dark,
                };
                if let Some(depth) = &spec.depth {
                    let depth_mm = (-1e3 * f64::from(relief.z_m[i])).clamp(-0.5, 0.5);
                    let row = &row[spec.levels[c].len()..];
                    let by_depth =
                        sum(row, &depth.levels[c]) + background / 128.0 * sum(row, &depth.proportional_levels[c]);
                    change += if shadow.replaces { 1.0 - hidden } else { 1.0 } * depth_mm * by_depth;
                }
                let expected = (background + change.clamp(-4.0, 3.0)).clamp(97.0, 122.0);
                assert!((f64::from(image.channels[c][i]) - expected).abs() < 1e-3);
                clamped += usize::from(background + change != expected);
                hid = hid.max(hidden);
            }
        }
        assert!(clamped > 10 && hid > 0.5, "{clamped} {hid}");
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
        assert!(message.contains("30") && message.contains("29"), "{message}");
    }
}
