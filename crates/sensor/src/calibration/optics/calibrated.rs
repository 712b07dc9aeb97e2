//! Fits the polynomial light to presses.

use super::BallPress;
use super::normal_equations::NormalEquations;
use super::samples::samples;
use crate::calibration::FitError;
use crate::optics::{Area, BackgroundSpec, CalibratedSpec, FloatImage};
use crate::optics::{coefficients, features, place_in, surface_monomials};

/// A fitted light and its cross-validated error.
#[derive(Clone, Debug)]
pub struct CalibratedFit {
    /// The fitted light. The caller sets the background of the fit.
    pub spec: CalibratedSpec,
    /// Cross-validated root mean square residual (levels), which selects the degrees.
    pub cross_validated: f64,
}

/// Trial degrees: of slope and height, of the position.
const TRIED: [(usize, usize); 9] = [(1, 0), (1, 1), (1, 2), (2, 0), (2, 1), (2, 2), (3, 0), (3, 1), (3, 2)];
const MOST: (usize, usize) = (3, MAX_PLACE_DEGREE);
/// Maximum trial degree of the position.
pub const MAX_PLACE_DEGREE: usize = 2;
/// Regularisation of coefficients that the presses do not determine.
const RIDGE: f64 = 1e-4;
/// Number of parts of the cross-validation.
const PARTS: usize = 5;

/// Fits colour as a function of slope, height and position. The degrees minimise the cross-validated residual. The
/// degree of the position is at most `max_position_degree`; use 0 if all presses are at one position.
pub fn fit_calibrated(
    background: &FloatImage,
    presses: &[&BallPress],
    kept_as: BackgroundSpec,
    max_position_degree: usize,
) -> Result<CalibratedFit, FitError> {
    const NEEDED: usize = 3;
    if presses.len() < NEEDED {
        return Err(FitError::TooFew { what: "the light of a sensor", got: presses.len(), needed: NEEDED });
    }
    let size = coefficients(MOST.0, MOST.1);
    let (mut deepest_mm, mut steepest) = (0.0f64, 0.0f64);
    let mut parts = vec![NormalEquations::new(size); PARTS.min(presses.len())];
    for (i, press) in presses.iter().enumerate() {
        let count = parts.len();
        for sample in samples(press, background) {
            let place = place_in(background.width, background.height, sample.pixel);
            parts[i % count].add(&features(sample.seen, place, MOST.0, MOST.1), sample.added, sample.weight);
            deepest_mm = deepest_mm.max(sample.seen[2]);
            steepest = steepest.max(sample.seen[0].hypot(sample.seen[1]));
        }
    }
    let mut all = NormalEquations::new(size);
    parts.iter().for_each(|part| all.join(part));
    let score = |&(degree, position_degree): &(usize, usize)| {
        let kept = subset(degree, position_degree);
        let left: f64 = (0..parts.len())
            .map(|out| {
                let mut others = NormalEquations::new(size);
                parts.iter().enumerate().filter(|(i, _)| *i != out).for_each(|(_, part)| others.join(part));
                parts[out].only(&kept).left_over(&others.only(&kept).solve(RIDGE)).powi(2)
            })
            .sum();
        (left / parts.len() as f64).sqrt()
    };
    let allowed = TRIED.iter().filter(|tried| tried.1 <= max_position_degree);
    let scores = allowed.map(|tried| (score(tried), *tried));
    let (cross_validated, (degree, position_degree)) =
        scores.min_by(|a, b| a.0.total_cmp(&b.0)).unwrap_or((f64::INFINITY, TRIED[0]));
    let levels = all.only(&subset(degree, position_degree)).solve(RIDGE);
    let spec = CalibratedSpec {
        background: kept_as,
        degree,
        position_degree,
        levels,
        area: Some(pressed_area(presses, background)),
        deepest_mm: Some(deepest_mm.max(1e-3)),
        steepest: Some(steepest.clamp(1e-3, 1.0)),
    };
    Ok(CalibratedFit { spec, cross_validated })
}

/// Indices of the coefficients of a smaller model in the largest model.
fn subset(degree: usize, position_degree: usize) -> Vec<usize> {
    let places = |degree: usize| coefficients(1, degree) / surface_monomials(1).len();
    let (few, many) = (places(position_degree), places(MOST.1));
    (0..surface_monomials(degree).len()).flat_map(|k| (0..few).map(move |j| k * many + j)).collect()
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
