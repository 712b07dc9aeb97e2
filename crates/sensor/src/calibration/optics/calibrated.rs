//! Fits the polynomial light to presses.

use super::normal_equations::NormalEquations;
use super::samples::{Sample, horizons, samples};
use super::side_lamps::side_lamps;
use super::{BallPress, Label};
use crate::calibration::FitError;
use crate::optics::{
    Area, BackgroundSpec, CalibratedSpec, CastShadowSpec, DepthLightSpec, FloatImage, MAX_SURFACE_DEGREE, OpticsError,
    SideLamp, SideLampSpec,
};
use crate::optics::{Composition, coefficients, features, place_in, relative, shadow_coefficients, surface_monomials};
use dermis_geometry::quantity::Length;

/// A fitted light and its cross-validated error.
#[derive(Clone, Debug)]
pub struct CalibratedFit {
    /// The fitted light. The caller sets the background of the fit.
    pub spec: CalibratedSpec,
    /// Cross-validated root mean square residual (levels), which selects the degrees.
    pub cross_validated: f64,
}

/// Degrees: of the slope, of the position.
type Degrees = (usize, usize);
/// Trial degrees.
const TRIED: [Degrees; 12] =
    [(1, 0), (1, 1), (1, 2), (2, 0), (2, 1), (2, 2), (3, 0), (3, 1), (3, 2), (4, 0), (4, 1), (4, 2)];
const MOST: Degrees = (MAX_SURFACE_DEGREE, MAX_PLACE_DEGREE);
/// Maximum trial degree of the position.
pub const MAX_PLACE_DEGREE: usize = 2;
/// Minimum number of presses to which a light can be fitted.
pub const MIN_PRESSES: usize = 3;
/// Number of presses from which a degree of the position is tried: fewer leave its corners undetermined.
const NEEDED_FOR: [usize; MAX_PLACE_DEGREE + 1] = [0, 4, 20];
/// Regularisation of coefficients that the presses do not determine.
const RIDGE: f64 = 1e-4;
/// Trial regularisations of those of the position, which decide beyond the presses.
const POSITION_RIDGES: [f64; 3] = [RIDGE, 10.0 * RIDGE, 100.0 * RIDGE];
/// Number of parts of the cross-validation.
const PARTS: usize = 5;
/// Fraction of the samples whose change lies beyond the limits of the light, at each end: noise.
const BEYOND: f64 = 1e-3;

/// Fits colour as a function of slope, position and shadow. The degrees, whether the change is proportional to the image
/// without contact, and whether a shadow replaces the light, minimise the cross-validated residual. The degree of the
/// position is at most `max_position_degree`; use 0 if all presses are at one position.
pub fn fit_calibrated(
    background: &FloatImage,
    presses: &[&BallPress],
    kept_as: BackgroundSpec,
    max_position_degree: usize,
) -> Result<CalibratedFit, FitError> {
    fit(background, presses, kept_as, max_position_degree, &[false])
}

/// The same, which may also depend on the depth of the surface ([`DepthLightSpec`]) if this leaves a smaller
/// cross-validated residual. Such a light is not supported on GPU.
pub fn fit_calibrated_by_depth(
    background: &FloatImage,
    presses: &[&BallPress],
    kept_as: BackgroundSpec,
    max_position_degree: usize,
) -> Result<CalibratedFit, FitError> {
    fit(background, presses, kept_as, max_position_degree, &[false, true])
}

/// `by_depth`: whether lights that depend on the depth, or not, are tried.
fn fit(
    background: &FloatImage,
    presses: &[&BallPress],
    kept_as: BackgroundSpec,
    max_position_degree: usize,
    by_depth: &[bool],
) -> Result<CalibratedFit, FitError> {
    if presses.len() < MIN_PRESSES {
        return Err(FitError::TooFew { what: "the light of a sensor", got: presses.len(), needed: MIN_PRESSES });
    }
    let taken: Vec<Vec<Sample>> = presses.iter().map(|press| samples(press, background)).collect();
    let blocks = if by_depth.contains(&true) { 3 } else { 1 };
    let size = coefficients(MOST.0, MOST.1) + blocks * shadow_coefficients();
    let mut candidates = Vec::new();
    for replaces in [false, true] {
        let lamps = side_lamps(background, presses, &taken, max_position_degree, replaces);
        let built: Result<Vec<SideLamp>, OpticsError> = lamps.iter().map(|lamp| lamp.build()).collect();
        let Some(built) = built.ok().and_then(|lamps| <[SideLamp; 3]>::try_from(lamps).ok()) else {
            return Err(FitError::NoSpread { what: "brightness" });
        };
        for proportional in [false, true] {
            let composition = Composition { proportional, replaces };
            let parts = equations(background, presses, &taken, &built, size, composition);
            candidates.push(Candidate { composition, lamps, parts });
        }
    }
    let score = |parts: &[Vec<NormalEquations>; 3], degrees: Degrees, by_depth: bool, position_ridge: f64| {
        let kept = subset(degrees, by_depth);
        let left = |channel: &Vec<NormalEquations>| -> f64 {
            let one = |out: usize| {
                let others = joined(size, channel.iter().enumerate().filter(|(i, _)| *i != out).map(|(_, part)| part));
                channel[out].only(&kept).left_over(&others.only(&kept).solve(ridges(&kept, position_ridge)))
            };
            (0..channel.len()).map(one).sum::<f64>() / channel.len() as f64
        };
        (parts.iter().map(left).sum::<f64>() / 3.0).sqrt()
    };
    let enough = |tried: &&Degrees| presses.len() >= NEEDED_FOR[tried.1];
    let allowed = || TRIED.iter().filter(|tried| tried.1 <= max_position_degree).filter(enough);
    let forms = || allowed().flat_map(|degrees| by_depth.iter().map(|by_depth| (*degrees, *by_depth)));
    let scores = candidates.iter().flat_map(|candidate| {
        let of = move |(degrees, by_depth)| score(&candidate.parts, degrees, by_depth, RIDGE);
        forms().map(move |form| (of(form), candidate, form))
    });
    let Some((_, candidate, (degrees, by_depth))) = scores.min_by(|a, b| a.0.total_cmp(&b.0)) else {
        return Err(FitError::NoSpread { what: "brightness" });
    };
    let by_ridge = POSITION_RIDGES.map(|ridge| (score(&candidate.parts, degrees, by_depth, ridge), ridge));
    let (cross_validated, position_ridge) =
        by_ridge.into_iter().fold(by_ridge[0], |best, tried| if tried.0 < best.0 { tried } else { best });
    let Candidate { composition: Composition { proportional, replaces }, lamps, parts } = candidate;
    let (degree, position_degree) = degrees;
    let kept = subset(degrees, by_depth);
    let solve =
        |channel: &Vec<NormalEquations>| joined(size, channel.iter()).only(&kept).solve(ridges(&kept, position_ridge));
    let solved = parts.each_ref().map(solve);
    let lit = coefficients(degree, position_degree);
    let all = || taken.iter().flatten();
    let steepest = all().map(|sample| sample.seen[0].hypot(sample.seen[1])).fold(0.0, f64::max);
    let block = |i: usize| {
        solved.each_ref().map(|levels| {
            let count = (levels.len() - lit) / if by_depth { 3 } else { 1 };
            whole_shadow(&levels[lit + i * count..lit + (i + 1) * count], position_degree)
        })
    };
    let shadow_levels = block(0);
    let deepest_mm = all().map(|sample| sample.depth_mm).fold(1e-3, f64::max);
    let deepest = Length::new(1e-3 * deepest_mm);
    let depth = by_depth.then(|| DepthLightSpec { levels: block(1), proportional_levels: block(2), deepest });
    let spec = CalibratedSpec {
        background: kept_as,
        degree,
        position_degree,
        proportional: *proportional,
        levels: solved.map(|mut levels| {
            levels.truncate(lit);
            levels
        }),
        area: Some(pressed_area(presses, background)),
        steepest: Some(steepest.clamp(1e-3, 1.0)),
        change: Some([0, 1, 2].map(|c| ends(all().map(|sample| sample.added[c]).collect()))),
        range: Some([0, 1, 2].map(|c| levels_of(background, presses, c))),
        shadow: Some(CastShadowSpec { lamps: *lamps, levels: shadow_levels, replaces: *replaces }),
        depth,
        residual: None,
    };
    Ok(CalibratedFit { spec, cross_validated })
}

/// The largest degree of the position that presses determine: zero if all lie within one contact radius.
pub fn position_degree(presses: &[&BallPress]) -> usize {
    let span = |of: fn(&Label) -> f64| {
        let at = || presses.iter().map(|press| of(&press.label));
        at().fold(f64::NEG_INFINITY, f64::max) - at().fold(f64::INFINITY, f64::min)
    };
    let widest = presses.iter().map(|press| press.label.radius).fold(0.0, f64::max);
    if span(|label| label.column).max(span(|label| label.row)) > widest { MAX_PLACE_DEGREE } else { 0 }
}

/// A composition of the light, the lamps found for it, and its equations.
struct Candidate {
    composition: Composition,
    lamps: [SideLampSpec; 3],
    parts: [Vec<NormalEquations>; 3],
}

/// The equations of each colour, in parts for the cross-validation.
fn equations(
    background: &FloatImage,
    presses: &[&BallPress],
    taken: &[Vec<Sample>],
    lamps: &[SideLamp; 3],
    size: usize,
    composition: Composition,
) -> [Vec<NormalEquations>; 3] {
    let mut parts = [0; 3].map(|_| vec![NormalEquations::new(size); PARTS.min(presses.len())]);
    for (i, (press, samples)) in presses.iter().zip(taken).enumerate() {
        for (sample, tangents) in samples.iter().zip(horizons(press, samples, lamps)) {
            let place = place_in(background.width, background.height, sample.pixel.map(|at| at as f64));
            let all = features(sample.seen, place, MOST.0, MOST.1, 1.0);
            for (c, channel) in parts.iter_mut().enumerate() {
                let level = background.channels[c][sample.pixel[1] * background.width + sample.pixel[0]];
                let hidden = lamps[c].hidden(tangents[c]);
                let [lit, dark] = composition.factors(level, hidden).map(f64::from);
                let (of_lit, of_dark) = all.split_at(coefficients(MOST.0, MOST.1));
                let depth = f64::from(composition.unhidden(hidden)) * sample.depth_mm;
                let scaled = [dark, depth, depth * f64::from(relative(level))];
                let blocks = scaled.iter().flat_map(|factor| of_dark.iter().map(move |entry| factor * entry));
                let row: Vec<f64> = of_lit.iter().map(|entry| lit * entry).chain(blocks).take(size).collect();
                let count = channel.len();
                channel[i % count].add(&row, sample.added[c], sample.weight);
            }
        }
    }
    parts
}

fn joined<'a>(size: usize, parts: impl Iterator<Item = &'a NormalEquations>) -> NormalEquations {
    let mut all = NormalEquations::new(size);
    parts.for_each(|part| all.join(part));
    all
}

/// Number of monomials of the position up to a degree.
fn places(degree: usize) -> usize {
    coefficients(1, degree) / surface_monomials(1).len()
}

/// Indices of the coefficients of a smaller model in the largest model. The shadow and the part that grows with the depth
/// do not depend on the position if the light does not.
fn subset((degree, position_degree): Degrees, by_depth: bool) -> Vec<usize> {
    let (few, many) = (places(position_degree), places(MOST.1));
    let lit = (0..surface_monomials(degree).len()).flat_map(|k| (0..few).map(move |j| k * many + j));
    let all = coefficients(MOST.0, MOST.1);
    let blocks = if by_depth { 3 } else { 1 };
    let shadow = (0..blocks * shadow_coefficients()).filter(|i| position_degree > 0 || i.is_multiple_of(places(1)));
    lit.chain(shadow.map(|i| all + i)).collect()
}

/// Regularisation of the coefficients of a [`subset`]: terms that depend on the position have their own.
fn ridges(kept: &[usize], position_ridge: f64) -> impl Fn(usize) -> f64 + '_ {
    let lit = coefficients(MOST.0, MOST.1);
    move |i| {
        let is_constant = match kept[i].checked_sub(lit) {
            None => kept[i].is_multiple_of(places(MOST.1)),
            Some(of_shadow) => of_shadow.is_multiple_of(places(1)),
        };
        if is_constant { RIDGE } else { position_ridge }
    }
}

/// The coefficients of a shadow, D or E with those of the position that [`subset`] leaves out.
fn whole_shadow(levels: &[f64], position_degree: usize) -> Vec<f64> {
    if position_degree > 0 { levels.to_vec() } else { levels.iter().flat_map(|level| [*level, 0.0, 0.0]).collect() }
}

/// The smallest and largest value, without the few that noise moves beyond.
fn ends(mut values: Vec<f64>) -> [f64; 2] {
    values.sort_unstable_by(f64::total_cmp);
    let beyond = (values.len() as f64 * BEYOND) as usize;
    let at = |i: usize| values.get(i).copied().unwrap_or(0.0);
    [at(beyond).min(0.0), at(values.len().saturating_sub(1 + beyond)).max(0.0)]
}

/// The darkest and brightest level of a colour in the images.
fn levels_of(background: &FloatImage, presses: &[&BallPress], c: usize) -> [f64; 2] {
    let images = presses.iter().map(|press| &press.image).chain([background]);
    let levels = images.flat_map(|image| &image.channels[c]);
    levels.fold([255.0, 0.0], |[low, high]: [f64; 2], &level| [low.min(level.into()), high.max(level.into())])
}

/// Bounding rectangle of all contacts.
fn pressed_area(presses: &[&BallPress], background: &FloatImage) -> Area {
    let ends = |of: &dyn Fn(&BallPress) -> f64, max: f64| {
        let low = presses.iter().map(|p| of(p) - p.label.radius).fold(f64::INFINITY, f64::min);
        let high = presses.iter().map(|p| of(p) + p.label.radius).fold(f64::NEG_INFINITY, f64::max);
        (low.max(0.0), high.min(max))
    };
    let (left, right) = ends(&|press| press.label.column, background.width as f64 - 1.0);
    let (top, bottom) = ends(&|press| press.label.row, background.height as f64 - 1.0);
    Area { left, top, right, bottom }
}
