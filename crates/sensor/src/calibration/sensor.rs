//! Fits the complete response of a sensor to bench data.

use super::curve_shape::CurveShape;
use super::least_squares::{search, student_975};
use super::{
    CreepFit, Estimate, FitError, Residual, SpreadFit, SpreadPoint, StiffnessFit, TaxelLoads, TaxelsFit,
    fit_creep_record, fit_drifting_taxels, fit_noise, fit_spread, fit_stiffness,
};
use crate::characterise::{Bench, PressRow};
use crate::response::{Creep, Hysteresis, Noise};
use crate::{ResponseSpec, Spread};
use dermis_geometry::quantity::{Force, Time};

/// The fitted response of a sensor.
///
/// The order matters: hysteresis and creep change the load of a taxel, so the lines of the taxels are fitted against
/// the load after both, and both need linearised readings. Three iterations converge. The neighbours come next: a
/// reading divided by the reading of a direct press is independent of gain, threshold and curve. The lines are then
/// fitted again to the loads after the spread.
#[derive(Clone, Debug, serde::Serialize)]
pub struct SensorFit {
    /// Gain, threshold, curve and saturation.
    pub taxels: TaxelsFit,
    /// η: width of the hysteresis loop as a fraction of the load; its interval is infinite if no row unloads.
    pub hysteresis: Estimate,
    /// Creep, unless the readings are steady or do not determine it.
    pub creep: Option<CreepFit>,
    /// Point spread, unless the neighbours read only what the skin passes on to them.
    pub spread: Option<SpreadFit>,
    /// Noise (counts).
    pub noise_counts: Estimate,
    /// Force of the indenter as a function of depth.
    pub stiffness: StiffnessFit,
    /// Residual of the fitted response.
    pub residual: Residual,
    /// Number of rows of presses used in the fit.
    pub rows: usize,
    /// Doubts about the measurements and the fit.
    pub warnings: Vec<String>,
    #[serde(skip)]
    kept: ResponseSpec,
    /// Gain, threshold, curve and saturation with respect to the load before the spread.
    #[serde(skip)]
    pub direct: TaxelsFit,
}

const ROUNDS: usize = 3;

/// Fits all stages to bench data. Stages of `known` that cannot be fitted are kept: ageing, faults, sampling, delay.
/// `kernel` is the size of the spread's kernel.
pub fn fit_sensor(loads: &TaxelLoads<'_>, known: &ResponseSpec, kernel: usize) -> Result<SensorFit, FitError> {
    let bench = loads.bench;
    let stiffness = fit_stiffness(&bench.force_against_depth())?;
    if bench.creep.is_empty() {
        return Err(FitError::TooFew { what: "creep and noise (readings under a constant load)", got: 0, needed: 20 });
    }
    let mut eta = Estimate { value: 0.0, ci95: 0.0 };
    let mut kept = ResponseSpec { spread: None, hysteresis: None, creep: Vec::new(), noise: None, ..known.clone() };
    let mut direct = fit_lines(loads, &kept, None)?;
    let mut creep = None;
    for _ in 0..ROUNDS {
        creep = match fit_creep_record(&bench.creep, 1, |taxel, counts| direct.force_newton(taxel, counts)) {
            Err(FitError::Undetermined { .. }) => None,
            found => found?,
        };
        kept.creep = creep_terms(creep.as_ref());
        eta = loop_of(loads, &direct, &kept)?;
        kept.hysteresis = hysteresis(eta.value).filter(|_| eta.value > eta.ci95.max(MIN_LOOP));
        direct = fit_lines(loads, &kept, Some(direct.shape))?;
    }
    let spread = match fit_neighbours(loads, &direct, &kept, kernel) {
        Err(FitError::TooFew { .. } | FitError::Undetermined { .. }) => None,
        other => Some(other?),
    };
    // Neighbours below their threshold say nothing of the spread: the sensor keeps its own.
    let silent =
        || loads.bench.presses.iter().all(|row| row.raw.iter().enumerate().all(|(i, raw)| i == row.taxel || *raw == 0));
    kept.spread = match &spread {
        Some(fit) => Some(Spread::gaussian(fit.sigma_taxels.value, kernel)),
        None => known.spread.clone().filter(|_| silent()),
    };
    let taxels = fit_lines(loads, &kept, Some(direct.shape))?;
    let noise_counts = noise_of(bench)?;
    let residual = loads.residual(&taxels.response(&kept))?;
    let sd = noise_counts.value / loads.sensor.response().counts_per_newton;
    kept.noise = (sd > 0.0).then_some(Noise { sd: Force::new(sd), relative: 0.0, seed: 0 });
    let rows = bench.presses.len();
    let rests = loads.doubt_of_rests().filter(|_| creep.is_some());
    let warnings = rests.into_iter().chain(doubt_of_residual(bench, &residual, noise_counts)).collect();
    Ok(SensorFit {
        taxels,
        hysteresis: eta,
        creep,
        spread,
        noise_counts,
        stiffness,
        residual,
        rows,
        warnings,
        kept,
        direct,
    })
}

/// Residual by the noise, and by the largest reading, above which a fit is doubtful: a curve of a few numbers is never exact.
const MAX_BY_NOISE: f64 = 3.0;
const MAX_BY_READING: f64 = 0.005;
/// Standard deviation (counts) of the difference of two rounded readings.
const ROUNDING: f64 = 0.41;

/// A doubt about a fit whose residual is well above the noise.
fn doubt_of_residual(bench: &Bench, residual: &Residual, noise_counts: Estimate) -> Option<String> {
    let largest =
        bench.presses.iter().filter_map(|row| row.raw.get(row.taxel)).max().map_or(0.0, |raw| f64::from(*raw));
    let noise = (noise_counts.value + noise_counts.ci95).hypot(ROUNDING);
    let got = residual.pressed_counts;
    (got > (MAX_BY_NOISE * noise).max(MAX_BY_READING * largest)).then(|| {
        format!(
            "the residual at pressed taxels, {got:.1} counts, is {:.1} times the noise of the readings ({:.1} counts), so that intervals may be too narrow: check the times `held_s` and `rest_s`, the indenter, and that the readings are of one sensor",
            got / noise, noise
        )
    })
}

/// Smallest width of a loop, as a fraction of the load.
const MIN_LOOP: f64 = 1e-3;

/// Fits gain, threshold and curve of every taxel to its own presses. The stages of `kept` before the gain are applied to
/// the loads, so that the gains do not include them.
pub fn fit_lines(
    loads: &TaxelLoads<'_>,
    kept: &ResponseSpec,
    shape: Option<CurveShape>,
) -> Result<TaxelsFit, FitError> {
    if kept.crosstalk.is_some() {
        let reason = "the sensor has a `[response.crosstalk]`, which mixes the taxels after their gains; remove it from the sensor and calibrate its spread instead".into();
        return Err(FitError::Unusable { reason });
    }
    let mut points = vec![Vec::new(); loads.newton[0].len()];
    for (row, load) in loads.bench.presses.iter().zip(loads.before_gain(kept, 0.0)?) {
        if row.force_newton > 0.0 {
            let rise_kelvin = row.rise_kelvin.filter(|_| loads.has_rises()).unwrap_or_default();
            points[row.taxel].push((load[row.taxel], f64::from(row.raw[row.taxel]), rise_kelvin));
        }
    }
    fit_drifting_taxels(&points, *loads.sensor.response(), shape)
}

/// Fits the spread to the readings of the neighbours of pressed taxels. `lines` and `kept` are without a spread.
pub fn fit_neighbours(
    loads: &TaxelLoads<'_>,
    lines: &TaxelsFit,
    kept: &ResponseSpec,
    kernel: usize,
) -> Result<SpreadFit, FitError> {
    let n = loads.newton[0].len();
    let after = loads.before_gain(kept, lines.per_kelvin())?;
    let mut points = Vec::new();
    let mut shares = vec![vec![0.0; n]; n];
    for pressed in 0..n {
        let rows: Vec<_> = loads.bench.presses.iter().zip(&after).zip(&loads.newton).collect();
        let rows: Vec<_> = rows.into_iter().filter(|((row, _), _)| row.taxel == pressed).collect();
        let total: f64 = rows.iter().map(|((row, _), _)| row.force_newton.max(0.0)).sum();
        for (read, share) in shares[pressed].iter_mut().enumerate() {
            *share = rows.iter().map(|(_, load)| load[read]).sum::<f64>() / total;
            let (mut up, mut down, mut count) = (0.0, 0.0, 0);
            for ((row, after), _) in rows.iter().filter(|_| read != pressed) {
                if let Some(force) = lines.force_newton(read, f64::from(row.raw[read])) {
                    up += force * after[pressed];
                    down += after[pressed] * after[pressed];
                    count += 1;
                }
            }
            if count >= 4 {
                points.push(SpreadPoint { pressed, read, ratio: up / down });
            }
        }
    }
    fit_spread(loads.sensor.taxels(), Some(loads.sensor.surface()), Some(&shares), kernel, &points)
}

fn hysteresis(fraction: f64) -> Option<Hysteresis> {
    Some(Hysteresis { fraction, width: Force::new(0.0) })
}

fn creep_terms(creep: Option<&CreepFit>) -> Vec<Creep> {
    creep.map_or_else(Vec::new, CreepFit::stages)
}

impl CreepFit {
    /// The terms as stages of a response.
    pub fn stages(&self) -> Vec<Creep> {
        let term = |t: &super::CreepTermFit| Creep { amplitude: t.amplitude.value, time: Time::new(t.time_s.value) };
        self.terms.iter().map(term).collect()
    }
}

/// True if the indenter was at the same taxel with a larger force in the row before, and the load did not rest between.
fn unloads(rows: &[PressRow], i: usize) -> bool {
    let Some(before) = i.checked_sub(1).map(|i| &rows[i]) else { return false };
    let rests = rows[i].rest_s.is_some_and(|rest_s| rest_s > 0.0);
    before.taxel == rows[i].taxel && !rests && rows[i].force_newton < before.force_newton
}

/// η by least squares between linearised readings and loads, with its interval: infinite if no row unloads.
fn loop_of(loads: &TaxelLoads<'_>, lines: &TaxelsFit, kept: &ResponseSpec) -> Result<Estimate, FitError> {
    let n = loads.newton[0].len();
    let rows = &loads.bench.presses;
    if !(1..rows.len()).any(|i| rows[i].force_newton > 0.0 && unloads(rows, i)) {
        return Ok(Estimate { value: 0.0, ci95: f64::INFINITY });
    }
    let squares = |eta: f64| -> Result<(f64, usize), FitError> {
        let mut points = vec![Vec::new(); n];
        let stages = ResponseSpec { hysteresis: hysteresis(eta), ..kept.clone() };
        let after = loads.before_gain(&stages, lines.per_kelvin())?;
        for (row, load) in loads.bench.presses.iter().zip(&after).filter(|(row, _)| row.force_newton > 0.0) {
            if let Some(force) = lines.force_newton(row.taxel, f64::from(row.raw[row.taxel])) {
                points[row.taxel].push((load[row.taxel], force));
            }
        }
        let (mut sum, mut count) = (0.0, 0);
        for points in points.iter().filter(|points| points.len() >= 3) {
            // Gain and threshold are free parameters: only the loop is fitted.
            let m = points.len() as f64;
            let mean = |f: fn(&(f64, f64)) -> f64| points.iter().map(f).sum::<f64>() / m;
            let (x, y) = (mean(|p| p.0), mean(|p| p.1));
            let xx = points.iter().map(|p| (p.0 - x).powi(2)).sum::<f64>();
            let xy = points.iter().map(|p| (p.0 - x) * (p.1 - y)).sum::<f64>();
            let yy = points.iter().map(|p| (p.1 - y).powi(2)).sum::<f64>();
            sum += yy - xy * xy / xx;
            count += points.len() - 2;
        }
        Ok((sum, count))
    };
    squares(0.0)?;
    let eta = search(|eta| squares(eta).map_or(f64::INFINITY, |(sum, _)| sum), 0.0, 0.6, 20, 25);
    let (minimum, freedom) = squares(eta)?;
    let h = 0.005;
    let curvature = (squares(eta + h)?.0 - 2.0 * minimum + squares((eta - h).max(0.0))?.0) / (h * h);
    let ci95 = student_975(freedom) * (2.0 * minimum / freedom.max(1) as f64 / curvature).sqrt();
    Ok(Estimate { value: eta, ci95: if ci95.is_finite() { ci95 } else { 0.0 } })
}

/// Noise (counts) from all creep records.
fn noise_of(bench: &Bench) -> Result<Estimate, FitError> {
    let mut records: Vec<Vec<f64>> = Vec::new();
    for (i, row) in bench.creep.iter().enumerate() {
        if i == 0 || bench.creep[i - 1].taxel != row.taxel {
            records.push(Vec::new());
        }
        if let Some(record) = records.last_mut() {
            record.push(f64::from(row.raw));
        }
    }
    let fit = |record: &Vec<f64>| match fit_noise(record, 1.0) {
        // Less than a step of the converter.
        Err(FitError::Undetermined { .. }) => Ok(Estimate { value: 0.0, ci95: 0.5 }),
        other => other,
    };
    let fits = records.iter().map(fit).collect::<Result<Vec<Estimate>, _>>()?;
    let m = fits.len() as f64;
    if fits.is_empty() {
        return Err(FitError::TooFew { what: "noise (a record under a steady load)", got: 0, needed: 1 });
    }
    let mean = fits.iter().map(|fit| fit.value).sum::<f64>() / m;
    let ci95 = fits.iter().map(|fit| fit.ci95 * fit.ci95).sum::<f64>().sqrt() / m;
    Ok(Estimate { value: mean, ci95 })
}

/// A reading of a pressed taxel, as a load, beside the load without hysteresis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LoopPoint {
    /// The taxel.
    pub taxel: usize,
    /// Reading (counts).
    pub counts: f64,
    /// Load without hysteresis (N).
    pub load_newton: f64,
    /// Difference of the reading from it (N).
    pub measured_newton: f64,
    /// Difference of the fitted hysteresis from it (N).
    pub fitted_newton: f64,
    /// True if the force falls.
    pub unloads: bool,
}

impl SensorFit {
    /// All readings of pressed taxels of the fitted measurements, with their hysteresis.
    pub fn loop_points(&self, loads: &TaxelLoads<'_>) -> Result<Vec<LoopPoint>, FitError> {
        let with = |hysteresis: Option<Hysteresis>| {
            let stages = ResponseSpec { spread: None, hysteresis, ..self.kept.clone() };
            loads.before_gain(&stages, self.direct.per_kelvin())
        };
        let (without, fitted) = (with(None)?, with(hysteresis(self.hysteresis.value))?);
        let rows = &loads.bench.presses;
        let point = |i: usize| {
            let row = &rows[i];
            let counts = f64::from(row.raw[row.taxel]);
            let read = self.direct.force_newton(row.taxel, counts)?;
            let load_newton = without[i][row.taxel];
            Some(LoopPoint {
                taxel: row.taxel,
                counts,
                load_newton,
                measured_newton: read - load_newton,
                fitted_newton: fitted[i][row.taxel] - load_newton,
                unloads: unloads(rows, i),
            })
        };
        Ok((0..rows.len()).filter(|&i| rows[i].force_newton > 0.0).filter_map(point).collect())
    }

    /// The fitted response for a sensor's file. Without `with_spread`, the gains include the spread.
    pub fn response(&self, with_spread: bool) -> ResponseSpec {
        if with_spread {
            return self.taxels.response(&self.kept);
        }
        self.direct.response(&ResponseSpec { spread: None, ..self.kept.clone() })
    }
}
