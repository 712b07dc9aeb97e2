//! Fits creep to the response to a constant load.

use super::least_squares::{search, solve, student_975};
use super::{Estimate, FitError, check_points};
use crate::characterise::CreepRow;

/// Relaxation y = y₀ (1 + Σ a (1 − e^(−t/τ))) after a load is applied at t = 0.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct CreepFit {
    /// y₀: instantaneous reading, in the unit of the data.
    pub at_once: Estimate,
    /// a and τ (s), from the fastest to the slowest.
    pub terms: Vec<CreepTermFit>,
    /// Root mean square of the residuals, in the unit of the data.
    pub rms: f64,
    /// Number of points.
    pub points: usize,
}

/// One relaxation term.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct CreepTermFit {
    /// Amplitude a.
    pub amplitude: Estimate,
    /// Time constant τ (s).
    pub time_s: Estimate,
}

impl CreepFit {
    /// The fitted reading at a time (s).
    pub fn at(&self, time_s: f64) -> f64 {
        let grown = |term: &CreepTermFit| -term.amplitude.value * (-time_s / term.time_s.value).exp_m1();
        self.at_once.value * (1.0 + self.terms.iter().map(grown).sum::<f64>())
    }
}

const REMEDY: &str = "hold the load several times as long as it creeps, and read more often at the start";
/// Maximum number of points in the fit; neighbours are averaged beyond it.
const ENOUGH: usize = 240;

/// Readings are steady if a creep ten times slower than the record would have at most this amplitude.
const STEADY: f64 = 0.02;

/// Least-squares fit of one or two relaxation terms to points (s, reading); `None` for steady readings. For given time
/// constants the model is linear, so only the time constants are searched.
pub fn fit_creep(points: &[(f64, f64)], terms: usize) -> Result<Option<CreepFit>, FitError> {
    let terms = terms.clamp(1, 2);
    check_points("a relaxation", points, 4 + 3 * terms)?;
    let span = points.iter().map(|p| p.0).fold(0.0, f64::max);
    let first = points.iter().map(|p| p.0).filter(|t| *t > 0.0).fold(f64::INFINITY, f64::min);
    if first >= span {
        return Err(FitError::NoSpread { what: "time" });
    }
    let (low, high) = points.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), p| (a.min(p.1), b.max(p.1)));
    if high - low <= 1e-9 * high.abs() {
        return Ok(None);
    }
    let merged = merge(points);
    match search_creep(&merged, terms, first, span) {
        Err(FitError::Undetermined { .. }) if is_steady(&merged, span) => Ok(None),
        found => found.map(|fit| Some(CreepFit { points: points.len(), ..fit })),
    }
}

/// The regressors of y₀ and y₀a … for given time constants (s).
fn regressors(points: &[(f64, f64)], times: &[f64]) -> Vec<Vec<f64>> {
    let row = |t: f64| std::iter::once(1.0).chain(times.iter().map(move |tau| -(-t / tau).exp_m1())).collect();
    points.iter().map(|p| row(p.0)).collect()
}

/// True if a creep ten times slower than the record would have a small amplitude.
fn is_steady(merged: &[(f64, f64)], span: f64) -> bool {
    let targets: Vec<f64> = merged.iter().map(|p| p.1).collect();
    solve(&regressors(merged, &[10.0 * span]), &targets).is_some_and(|slow| {
        let freedom = merged.len() - 2;
        let ci95 = student_975(freedom) * (slow.squares / freedom as f64 * slow.inverse[(1, 1)]).sqrt();
        slow.coefficients[1].abs() + ci95 < STEADY * slow.coefficients[0].abs()
    })
}

fn search_creep(merged: &[(f64, f64)], terms: usize, first: f64, span: f64) -> Result<CreepFit, FitError> {
    let targets: Vec<f64> = merged.iter().map(|p| p.1).collect();
    let rows = |times: &[f64]| regressors(merged, times);
    let cost = |times: &[f64]| solve(&rows(times), &targets).map_or(f64::INFINITY, |s| s.squares);
    let (low, high) = ((0.5 * first).ln(), (3.0 * span).ln());
    let times = if terms == 1 {
        vec![search(|log| cost(&[log.exp()]), low, high, 60, 45).exp()]
    } else {
        let slow_of = |quick: f64| {
            search(|log| cost(&[quick, log.exp()]), quick.ln() + 0.5, high.max(quick.ln() + 1.0), 24, 25).exp()
        };
        let quick = search(|log| cost(&[log.exp(), slow_of(log.exp())]), low, high - 0.5, 24, 25).exp();
        vec![quick, slow_of(quick)]
    };
    let undetermined = |parameter, value, ci95| FitError::Undetermined { parameter, value, ci95, remedy: REMEDY };
    let linear = solve(&rows(&times), &targets).ok_or_else(|| undetermined("time", times[0], f64::INFINITY))?;
    let at_once = linear.coefficients[0];
    // Jacobian in (y₀, y₀a …, τ …).
    let jacobian: Vec<Vec<f64>> = merged
        .iter()
        .zip(rows(&times))
        .map(|((t, _), mut row)| {
            let by_time = |k: usize| -linear.coefficients[1 + k] * t / times[k].powi(2) * (-t / times[k]).exp();
            row.extend((0..terms).map(by_time));
            row
        })
        .collect();
    let full = solve(&jacobian, &targets).ok_or_else(|| undetermined("amplitude", 0.0, f64::INFINITY))?;
    let freedom = merged.len() - 1 - 2 * terms;
    let half = |i: usize| student_975(freedom) * (linear.squares / freedom as f64 * full.inverse[(i, i)]).sqrt();
    let fit = CreepFit {
        at_once: Estimate { value: at_once, ci95: half(0) },
        terms: (0..terms)
            .map(|k| CreepTermFit {
                amplitude: Estimate { value: linear.coefficients[1 + k] / at_once, ci95: half(1 + k) / at_once.abs() },
                time_s: Estimate { value: times[k], ci95: half(1 + terms + k) },
            })
            .collect(),
        rms: (linear.squares / merged.len() as f64).sqrt(),
        points: merged.len(),
    };
    for term in &fit.terms {
        for (name, estimate) in [("amplitude", term.amplitude), ("time", term.time_s)] {
            if !(estimate.value.is_finite() && estimate.ci95 < 0.5 * estimate.value.abs()) {
                return Err(undetermined(name, estimate.value, estimate.ci95));
            }
        }
    }
    Ok(fit)
}

/// Fits creep to recordings of a sensor: counts are converted to loads by the inverse of its gain, threshold and curve,
/// divided by the force of the indenter, and averaged over the recordings. `None` for steady readings.
pub fn fit_creep_record(
    rows: &[CreepRow],
    terms: usize,
    load_newton: impl Fn(usize, f64) -> Option<f64>,
) -> Result<Option<CreepFit>, FitError> {
    let mut sums: Vec<(f64, f64, u32)> = Vec::new();
    let mut place = 0;
    for (i, row) in rows.iter().enumerate() {
        let new = i == 0 || rows[i - 1].taxel != row.taxel || rows[i - 1].time_s >= row.time_s;
        place = if new { 0 } else { place + 1 };
        if let Some(load) = load_newton(row.taxel, f64::from(row.raw)) {
            if sums.len() <= place {
                sums.resize(place + 1, (row.time_s, 0.0, 0));
            }
            sums[place].0 = row.time_s;
            sums[place].1 += load / row.force_newton;
            sums[place].2 += 1;
        }
    }
    let points: Vec<(f64, f64)> =
        sums.iter().filter(|s| s.2 > 0).map(|&(time, sum, count)| (time, sum / f64::from(count))).collect();
    fit_creep(&points, terms)
}

/// Averages neighbours so that at most [`ENOUGH`] points remain.
fn merge(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let mean = |part: &[(f64, f64)]| {
        let n = part.len() as f64;
        (part.iter().map(|p| p.0).sum::<f64>() / n, part.iter().map(|p| p.1).sum::<f64>() / n)
    };
    points.chunks(points.len().div_ceil(ENOUGH)).map(mean).collect()
}
