//! Fits the change of the gains with temperature.

use super::curve_shape::{CurveShape, Line};
use super::least_squares::{search, student_975};
use super::taxels::{limits, usable};
use super::{Estimate, FitError, TaxelsFit, fit_taxels};
use crate::response::{Curve, Drift, Response};
use dermis_geometry::quantity::{Force, TemperatureDifference};
use nalgebra::{DMatrix, DVector};

/// A reading of a taxel: load (N), counts, temperature above the reference (K).
type Reading = (f64, f64, f64);

const REMEDY: &str = "measure at temperatures that are farther apart";

/// Like [`fit_taxels`], for readings (load in N, counts, temperature above the reference in K): if the temperatures differ,
/// the relative change a of all gains per kelvin is fitted too, counts = curve(gain (1 + a ΔT) F − threshold).
pub fn fit_drifting_taxels(
    data: &[Vec<Reading>],
    counts: Response,
    shape: Option<CurveShape>,
) -> Result<TaxelsFit, FitError> {
    let rises = || data.iter().flatten().map(|reading| reading.2);
    if let Some(row) = rises().position(|rise| !rise.is_finite()) {
        let (load, counts, _) = data.iter().flatten().nth(row).copied().unwrap_or_default();
        return Err(FitError::NotFinite { row: row + 1, x: load, y: counts });
    }
    let cold = at(data, 0.0);
    if rises().all(|rise| Some(rise) == rises().next()) {
        return fit_taxels(&cold, counts, shape);
    }
    let (saturation, dark) = limits(&cold, counts);
    let usable = usable(saturation, dark);
    let lit = |readings: &Vec<Reading>| -> Vec<Reading> {
        let newton = |r: &Reading| (r.0, r.1 / counts.counts_per_newton, r.2);
        readings.iter().filter(|reading| usable(reading.1)).map(newton).collect()
    };
    let lit: Vec<Vec<Reading>> = data.iter().map(lit).collect();
    let farthest = rises().fold(0.0f64, |far, rise| if rise.abs() > far.abs() { rise } else { far });
    let squares = |factor_ln: f64| {
        let points = at(&lit, factor_ln.exp_m1() / farthest);
        let points: Vec<&[(f64, f64)]> = points.iter().map(Vec::as_slice).collect();
        let curve = CurveShape::Power.fit(&points).unwrap_or(Curve::Linear { slope: 1.0 });
        let line = |points: &&[(f64, f64)]| Line::fit(&curve, false, points).map_or(f64::INFINITY, |line| line.squares);
        points.iter().map(line).sum()
    };
    let start = search(squares, 0.1f64.ln(), 10f64.ln(), 16, 16).exp_m1() / farthest;
    let first = fit_taxels(&at(data, start), counts, shape)?;
    let unknown = Estimate { value: start, ci95: f64::INFINITY };
    let found @ Estimate { value, ci95 } = refined(&lit, &first, start).unwrap_or(unknown);
    if !(ci95.is_finite() && rises().all(|rise| 1.0 + value * rise > 0.0)) {
        return Err(FitError::Undetermined { parameter: "gain_per_kelvin", value, ci95, remedy: REMEDY });
    }
    let mut fit = fit_taxels(&at(data, value), counts, Some(first.shape))?;
    fit.gain_per_kelvin = Some(found);
    Ok(fit)
}

/// The points of every taxel with loads times the change of the gain with temperature.
fn at(data: &[Vec<Reading>], per_kelvin: f64) -> Vec<Vec<(f64, f64)>> {
    let warmed = |&(load, reading, rise): &Reading| (load * (1.0 + per_kelvin * rise).max(0.01), reading);
    data.iter().map(|readings| readings.iter().map(warmed).collect()).collect()
}

/// Gauss–Newton in the change per kelvin and the parameters of the curve; gain and threshold of each taxel are eliminated.
fn refined(lit: &[Vec<Reading>], fit: &TaxelsFit, start: f64) -> Option<Estimate> {
    let (mut per_kelvin, mut curve, mut ci95) = (start, fit.curve.clone(), f64::INFINITY);
    for _ in 0..8 {
        let parameters = parameters(&curve);
        let common = parameters.len() + 1;
        let (mut matrix, mut right) = (DMatrix::zeros(common, common), DVector::zeros(common));
        let (mut squares, mut freedom) = (0.0, -(common as f64));
        for (readings, points) in lit.iter().zip(at(lit, per_kelvin)) {
            let line = Line::fit(&curve, fit.shape.has_threshold(), &points)?;
            let own_count = line.covariance.nrows();
            let (mut own, mut by) = (DMatrix::zeros(points.len(), own_count), DMatrix::zeros(points.len(), common));
            let mut off = DVector::zeros(points.len());
            for (i, (&(load, reading), raw)) in points.iter().zip(readings).enumerate() {
                let u = line.gain * load + line.at_zero;
                let slope = curve.slope_at(u);
                own[(i, 0)] = slope * load;
                if own_count > 1 {
                    own[(i, 1)] = slope;
                }
                by[(i, 0)] = slope * line.gain * raw.0 * raw.2;
                off[i] = reading - curve.at(u);
            }
            for k in 1..common {
                const STEP: f64 = 1e-5;
                let moved = |step: f64| {
                    let mut parameters = parameters.clone();
                    parameters[k - 1] += step;
                    with_parameters(&curve, &parameters)
                };
                let (up, down) = (moved(STEP), moved(-STEP));
                for (i, &(load, _)) in points.iter().enumerate() {
                    by[(i, k)] = (line.at(&up, load) - line.at(&down, load)) / (2.0 * STEP);
                }
            }
            let share = own.tr_mul(&own).cholesky()?.solve(&own.tr_mul(&by));
            by -= own * share;
            matrix += by.tr_mul(&by);
            right += by.tr_mul(&off);
            squares += off.norm_squared();
            freedom += (points.len() - own_count) as f64;
        }
        let inverse = matrix.cholesky()?.inverse();
        let step = &inverse * right;
        per_kelvin += step[0];
        let parameters: Vec<f64> = parameters.iter().zip(step.iter().skip(1)).map(|(p, step)| p + step).collect();
        curve = with_parameters(&curve, &parameters);
        ci95 = student_975(freedom.max(0.0) as usize) * (squares / freedom.max(1.0) * inverse[(0, 0)]).sqrt();
        if step[0].abs() < 1e-3 * ci95 {
            break;
        }
    }
    per_kelvin.is_finite().then_some(Estimate { value: per_kelvin, ci95 })
}

/// The parameters of a curve that a gain does not replace, without units.
fn parameters(curve: &Curve) -> Vec<f64> {
    match curve {
        Curve::Polynomial { coefficients, until } => {
            coefficients.iter().skip(1).zip(1..).map(|(c, k)| c * until.si().powi(k)).collect()
        }
        Curve::Power { exponent, .. } => vec![exponent.ln()],
        Curve::Sigmoid { exponent, limit } if *exponent == 1.0 => vec![limit.si().ln()],
        Curve::Sigmoid { exponent, limit } => vec![limit.si().ln(), exponent.ln()],
        Curve::Linear { .. } | Curve::Table { .. } => Vec::new(),
    }
}

/// The curve with other [`parameters`].
fn with_parameters(curve: &Curve, parameters: &[f64]) -> Curve {
    let mut curve = curve.clone();
    match &mut curve {
        Curve::Polynomial { coefficients, until } => {
            let own = coefficients.iter_mut().skip(1).zip(parameters).zip(1..);
            own.for_each(|((c, p), k)| *c = p / until.si().powi(k));
        }
        Curve::Power { exponent, .. } => *exponent = parameters[0].exp(),
        Curve::Sigmoid { exponent, limit } => {
            *limit = Force::new(parameters[0].exp());
            *exponent = parameters.get(1).map_or(1.0, |p| p.exp());
        }
        Curve::Linear { .. } | Curve::Table { .. } => {}
    }
    curve
}

impl Drift {
    /// A fitted change of the gains, at the reference; `None` if its interval holds zero.
    pub(super) fn fitted(gain_per_kelvin: Estimate) -> Option<Self> {
        let Estimate { value, ci95 } = gain_per_kelvin;
        (value.abs() > ci95).then_some(Self {
            rise: TemperatureDifference::new(0.0),
            time: None,
            gain_per_kelvin: value,
            offset_per_kelvin: Force::new(0.0),
        })
    }
}
