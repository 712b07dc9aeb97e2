//! The search for the material that fits best.

use super::model::Bench;
use super::{MaterialError, MaterialUnknown};
use crate::estimate::gauss_newton::{LeastSquares, Solution};

/// What to do about a quantity that is not determined.
pub const MEASURE_MORE: &str =
    "measure more depths, or displacements along the surface for friction and times for relaxation";
/// Groups of neighbouring measurements whose errors are alike.
const GROUPS: usize = 8;
/// Order in which unknowns are added to a fit: those that need no further presses first.
const ORDER: [MaterialUnknown; 7] = [
    MaterialUnknown::Young,
    MaterialUnknown::RelaxationRatio,
    MaterialUnknown::RelaxationTime,
    MaterialUnknown::Zero,
    MaterialUnknown::Poisson,
    MaterialUnknown::Friction,
    MaterialUnknown::Thickness,
];
/// Relative decrease of the squares at which the search for a start ends.
const COARSE_DECREASE: f64 = 0.01;
/// Maximum number of scalings of the modulus before the fit, and the logarithm of the factor at which they end.
const MAX_SCALINGS: usize = 4;
const SCALED: f64 = 0.05;

/// Number of neighbours in a group of one of some measurements.
fn per_group(measurements: usize) -> usize {
    measurements.div_ceil(GROUPS).max(1)
}

/// Number of groups of some measurements.
pub fn group_count(measurements: usize) -> usize {
    measurements.div_ceil(per_group(measurements))
}

/// The best fit to the measured forces.
pub fn solve(bench: &Bench<'_>, measured: &[f64]) -> Result<Solution, MaterialError> {
    let unknowns = bench.material.unknowns;
    let per_group = per_group(measured.len());
    let groups: Vec<usize> = (0..measured.len()).map(|i| i / per_group).collect();
    let steps: Vec<f64> = unknowns.iter().map(|unknown| unknown.step(bench.largest_m())).collect();
    let predict = |at: &[f64]| bench.predict(at);
    let young = unknowns.iter().position(|unknown| *unknown == MaterialUnknown::Young);
    let bounds = bench.bounds();
    let problem = LeastSquares {
        is_thorough: true,
        bounds: &bounds,
        factor: young.filter(|_| bench.material.is_uniform()),
        ..LeastSquares::new(&predict, measured, &groups, &steps)
    };
    let undetermined = || MaterialError::Undetermined { unknown: unknowns[0].name(), remedy: MEASURE_MORE };
    let start = scaled(bench, measured, young.filter(|_| !bench.material.is_uniform()))?;
    // Without weights first: measurements that the start does not explain are no outliers.
    let plain = LeastSquares { robust: false, min_decrease: COARSE_DECREASE, ..problem };
    let mut best = staged(&plain, unknowns, start.clone())?.ok_or_else(undetermined)?;
    let mut others = if unknowns.len() > 1 { vec![start] } else { Vec::new() };
    for (k, unknown) in unknowns.iter().enumerate() {
        for sign in [-1.0, 1.0] {
            let mut beside = best.0.clone();
            beside[k] = (beside[k] + sign * unknown.hop()).clamp(bounds[k][0], bounds[k][1]);
            others.extend((unknown.hop() > 0.0).then_some(beside));
        }
    }
    for other in others {
        if plain.is_exact(best.1) {
            break;
        }
        best = plain.values(&other)?.filter(|(_, cost)| *cost < best.1).unwrap_or(best);
    }
    problem.solve(&best.0)?.ok_or_else(undetermined)
}

/// The best values when one unknown after the other is freed: more unknowns then fit no worse than fewer.
fn staged(
    plain: &LeastSquares<'_, MaterialError>,
    unknowns: &[MaterialUnknown],
    start: Vec<f64>,
) -> Result<Option<(Vec<f64>, f64)>, MaterialError> {
    let mut order: Vec<usize> = (0..unknowns.len()).collect();
    order.sort_by_key(|&k| ORDER.iter().position(|unknown| *unknown == unknowns[k]));
    let mut bounds: Vec<[f64; 2]> = start.iter().map(|&value| [value; 2]).collect();
    let mut best = (start, f64::INFINITY);
    for (stage, &k) in order.iter().enumerate() {
        bounds[k] = plain.bounds[k];
        // Ratio and time of a relaxation only together.
        if order.get(stage + 1).is_some_and(|&next| unknowns[next].is_in_time()) {
            continue;
        }
        let Some(found) = LeastSquares { bounds: &bounds, ..*plain }.values(&best.0)? else { return Ok(None) };
        best = found;
    }
    Ok(Some(best))
}

/// The description as a start, with a modulus whose forces are those measured on average. The forces of a gel, or of a layer with a coating,
/// are nearly proportional to it.
fn scaled(bench: &Bench<'_>, measured: &[f64], young: Option<usize>) -> Result<Vec<f64>, MaterialError> {
    let mut start = bench.start.clone();
    let Some(k) = young else { return Ok(start) };
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    for _ in 0..MAX_SCALINGS {
        let predicted = bench.predict(&start)?.unwrap_or_default();
        let factor = (dot(&predicted, measured) / dot(&predicted, &predicted)).ln();
        if !factor.is_finite() {
            break;
        }
        start[k] += factor;
        if factor.abs() < SCALED {
            break;
        }
    }
    Ok(start)
}
