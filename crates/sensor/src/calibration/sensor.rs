//! Fits the complete response of a sensor to bench data.

use super::least_squares::{search, student_975};
use super::{
    CreepFit, Estimate, FitError, SpreadFit, SpreadPoint, StiffnessFit, TaxelsFit, fit_creep, fit_noise, fit_spread,
    fit_stiffness, fit_taxels,
};
use crate::characterise::Bench;
use crate::response::{Creep, Gain, Hysteresis, Noise, PerTaxel, Response, Saturation, Threshold, ThresholdKind};
use crate::{ResponseSpec, Spread, Taxels};
use dermis_geometry::quantity::{Force, Time};

/// The fitted response of a sensor.
///
/// The order matters: hysteresis and creep change the load of a taxel, so the lines of the taxels are fitted against
/// the load after both, and both need linearised readings. Three iterations converge. The neighbours come last: a
/// reading divided by the reading of a direct press is independent of gain, threshold and curve.
#[derive(Clone, Debug, serde::Serialize)]
pub struct SensorFit {
    /// Gain, threshold, curve and saturation.
    pub taxels: TaxelsFit,
    /// η: width of the hysteresis loop as a fraction of the load.
    pub hysteresis: Estimate,
    /// Creep.
    pub creep: CreepFit,
    /// Point spread.
    pub spread: SpreadFit,
    /// Noise (counts).
    pub noise_counts: Estimate,
    /// Force of the indenter as a function of depth.
    pub stiffness: StiffnessFit,
    /// Number of rows of presses used in the fit.
    pub rows: usize,
    counts: Response,
    weights_on_itself: Vec<f64>,
    top_newton: f64,
}

const ROUNDS: usize = 3;

/// Fits all stages to bench data. `counts` is the sensor's nominal conversion, `kernel` the size of the spread's
/// kernel.
pub fn fit_sensor(bench: &Bench, taxels: &Taxels, counts: Response, kernel: usize) -> Result<SensorFit, FitError> {
    let n = taxels.len();
    check_rows(bench, taxels)?;
    let full_scale = full_scale(counts);
    let stiffness = fit_stiffness(&bench.force_against_depth())?;
    let mut eta = Estimate { value: 0.0, ci95: 0.0 };
    let mut creep = None;
    for _ in 0..ROUNDS {
        let lines = fit_taxels(&own_points(bench, n, eta.value, creep.as_ref()), full_scale, true)?;
        let relaxation = creep_of(bench, &lines)?;
        eta = loop_of(bench, n, &lines, &relaxation);
        creep = Some(relaxation);
    }
    let creep = creep.ok_or(FitError::TooFew { what: "creep", got: 0, needed: 1 })?;
    let lines = fit_taxels(&own_points(bench, n, eta.value, Some(&creep)), full_scale, true)?;
    let spread = fit_spread(taxels, kernel, &neighbours(bench, n, &lines, eta.value, Some(&creep)))?;
    let weights = Spread::gaussian(spread.sigma_taxels.value, kernel)
        .weights(taxels, None)
        .map_err(|_| FitError::NotPositive { what: "sigma", got: spread.sigma_taxels.value })?;
    let noise_counts = noise_of(bench)?;
    let top_newton = bench.presses.iter().map(|row| row.force_newton).fold(0.0, f64::max);
    Ok(SensorFit {
        taxels: lines,
        hysteresis: eta,
        creep,
        spread,
        noise_counts,
        stiffness,
        rows: bench.presses.len(),
        counts,
        weights_on_itself: (0..n).map(|i| weights.get(i, i)).collect(),
        top_newton,
    })
}

/// Fits gain, threshold and curve of every taxel to its own presses, ignoring hysteresis and creep.
pub fn fit_lines(bench: &Bench, taxels: &Taxels, counts: Response) -> Result<TaxelsFit, FitError> {
    check_rows(bench, taxels)?;
    fit_taxels(&own_points(bench, taxels.len(), 0.0, None), full_scale(counts), true)
}

/// Fits the spread to the readings of the neighbours of pressed taxels, with the lines of [`fit_lines`].
pub fn fit_neighbours(bench: &Bench, taxels: &Taxels, lines: &TaxelsFit, kernel: usize) -> Result<SpreadFit, FitError> {
    check_rows(bench, taxels)?;
    fit_spread(taxels, kernel, &neighbours(bench, taxels.len(), lines, 0.0, None))
}

/// (force, counts) of every taxel directly under the indenter.
pub fn own_readings(bench: &Bench, taxels: &Taxels) -> Result<Vec<Vec<(f64, f64)>>, FitError> {
    check_rows(bench, taxels)?;
    Ok(own_points(bench, taxels.len(), 0.0, None))
}

fn full_scale(counts: Response) -> f64 {
    ((1u64 << counts.bits.min(32)) - 1) as f64
}

/// Returns an error for rows of another sensor.
fn check_rows(bench: &Bench, taxels: &Taxels) -> Result<(), FitError> {
    let n = taxels.len();
    if bench.presses.is_empty() {
        return Err(FitError::TooFew { what: "a sensor (rows of presses)", got: 0, needed: 4 });
    }
    match bench.presses.iter().position(|row| row.raw.len() != n || row.taxel >= n) {
        Some(row) => {
            let found = bench.presses[row].raw.len().max(bench.presses[row].taxel + 1);
            Err(FitError::OtherSensor { row: row + 1, found, taxels: n })
        }
        None => Ok(()),
    }
}

/// Load of a taxel after hysteresis and creep, for each of its rows, as a direct force (N). Both stages are homogeneous
/// of first degree, so the spread's factor on the load carries over to the result.
fn loads_after_memory(loads: &[(f64, f64)], eta: f64, creep: Option<&CreepFit>) -> Vec<f64> {
    let hysteresis = Hysteresis { fraction: eta, width: Force::new(0.0) };
    let terms = creep_terms(creep);
    let (mut held, mut slow) = ([0.0], vec![0.0; terms.len()]);
    loads
        .iter()
        .map(|&(force, held_s)| {
            let mut value = [force];
            hysteresis.apply(&mut held, &mut value);
            Creep::apply(&terms, &mut slow, &mut value, held_s);
            value[0]
        })
        .collect()
}

fn creep_terms(creep: Option<&CreepFit>) -> Vec<Creep> {
    let term = |t: &super::CreepTermFit| Creep { amplitude: t.amplitude.value, time: Time::new(t.time_s.value) };
    creep.map_or_else(Vec::new, |creep| creep.terms.iter().map(term).collect())
}

/// Load after hysteresis and creep, and row, of each pressed taxel.
fn histories<'a>(
    bench: &'a Bench,
    n: usize,
    eta: f64,
    creep: Option<&CreepFit>,
) -> Vec<Vec<(f64, &'a crate::characterise::PressRow)>> {
    let mut rows = vec![Vec::new(); n];
    for row in &bench.presses {
        rows[row.taxel].push(row);
    }
    rows.into_iter()
        .map(|rows| {
            let loads: Vec<(f64, f64)> = rows.iter().map(|row| (row.force_newton, row.held_s)).collect();
            loads_after_memory(&loads, eta, creep)
                .into_iter()
                .zip(rows)
                .filter(|(_, row)| row.force_newton > 0.0)
                .collect()
        })
        .collect()
}

/// (load, counts) of every taxel directly under the indenter.
fn own_points(bench: &Bench, n: usize, eta: f64, creep: Option<&CreepFit>) -> Vec<Vec<(f64, f64)>> {
    let points = |rows: Vec<(f64, &crate::characterise::PressRow)>| {
        rows.into_iter().map(|(load, row)| (load, f64::from(row.raw[row.taxel]))).collect()
    };
    histories(bench, n, eta, creep).into_iter().map(points).collect()
}

/// Fits one relaxation term to the linearised readings of every creep record, each divided by its load.
fn creep_of(bench: &Bench, lines: &TaxelsFit) -> Result<CreepFit, FitError> {
    let mut sums: Vec<(f64, f64, u32)> = Vec::new();
    let mut place = 0;
    for (i, row) in bench.creep.iter().enumerate() {
        let new = i == 0 || bench.creep[i - 1].taxel != row.taxel || bench.creep[i - 1].time_s >= row.time_s;
        place = if new { 0 } else { place + 1 };
        if let Some(force) = lines.force_newton(row.taxel, f64::from(row.raw)) {
            if sums.len() <= place {
                sums.resize(place + 1, (row.time_s, 0.0, 0));
            }
            sums[place].0 = row.time_s;
            sums[place].1 += force / row.force_newton;
            sums[place].2 += 1;
        }
    }
    let points: Vec<(f64, f64)> =
        sums.iter().filter(|s| s.2 > 0).map(|&(time, sum, count)| (time, sum / f64::from(count))).collect();
    fit_creep(&points, 1)
}

/// η by least squares between linearised readings and loads, with its interval.
fn loop_of(bench: &Bench, n: usize, lines: &TaxelsFit, creep: &CreepFit) -> Estimate {
    let squares = |eta: f64| {
        let (mut sum, mut count) = (0.0, 0);
        for rows in histories(bench, n, eta, Some(creep)) {
            let lit = |(load, row): (f64, &crate::characterise::PressRow)| {
                lines.force_newton(row.taxel, f64::from(row.raw[row.taxel])).map(|force| (load, force))
            };
            let points: Vec<(f64, f64)> = rows.into_iter().filter_map(lit).collect();
            // Gain and threshold are free parameters: only the loop is fitted.
            let m = points.len() as f64;
            if points.len() < 3 {
                continue;
            }
            let mean = |f: fn(&(f64, f64)) -> f64| points.iter().map(f).sum::<f64>() / m;
            let (x, y) = (mean(|p| p.0), mean(|p| p.1));
            let xx = points.iter().map(|p| (p.0 - x).powi(2)).sum::<f64>();
            let xy = points.iter().map(|p| (p.0 - x) * (p.1 - y)).sum::<f64>();
            let yy = points.iter().map(|p| (p.1 - y).powi(2)).sum::<f64>();
            sum += yy - xy * xy / xx;
            count += points.len() - 2;
        }
        (sum, count)
    };
    let eta = search(|eta| squares(eta).0, 0.0, 0.6, 20, 25);
    let (minimum, freedom) = squares(eta);
    let h = 0.005;
    let curvature = (squares(eta + h).0 - 2.0 * minimum + squares((eta - h).max(0.0)).0) / (h * h);
    let ci95 = student_975(freedom) * (2.0 * minimum / freedom.max(1) as f64 / curvature).sqrt();
    Estimate { value: eta, ci95 }
}

/// Readings of neighbours divided by their readings under the indenter: the slope through the origin over all pressed
/// rows.
fn neighbours(bench: &Bench, n: usize, lines: &TaxelsFit, eta: f64, creep: Option<&CreepFit>) -> Vec<SpreadPoint> {
    let mut points = Vec::new();
    for (pressed, rows) in histories(bench, n, eta, creep).iter().enumerate() {
        for read in (0..n).filter(|&read| read != pressed) {
            let (mut up, mut down, mut count) = (0.0, 0.0, 0);
            for (load, row) in rows {
                if let Some(force) = lines.force_newton(read, f64::from(row.raw[read])) {
                    up += force * load;
                    down += load * load;
                    count += 1;
                }
            }
            if count >= 4 {
                points.push(SpreadPoint { pressed, read, ratio: up / down });
            }
        }
    }
    points
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
    let fits = records.iter().map(|record| fit_noise(record, 1.0)).collect::<Result<Vec<Estimate>, _>>()?;
    let m = fits.len() as f64;
    if fits.is_empty() {
        return Err(FitError::TooFew { what: "noise (a record under a steady load)", got: 0, needed: 1 });
    }
    let mean = fits.iter().map(|fit| fit.value).sum::<f64>() / m;
    let ci95 = fits.iter().map(|fit| fit.ci95 * fit.ci95).sum::<f64>().sqrt() / m;
    Ok(Estimate { value: mean, ci95 })
}

impl SensorFit {
    /// Gain of every taxel for the response: reported newtons per newton of load, without the spread.
    pub fn gains(&self) -> Vec<f64> {
        let newton_per_count = 1.0 / self.counts.counts_per_newton;
        let of = |(fit, own): (&super::TaxelFit, &f64)| fit.gain_counts_per_newton.value * newton_per_count / own;
        self.taxels.taxels.iter().zip(&self.weights_on_itself).map(of).collect()
    }

    /// Threshold of every taxel for the response (N, after the gain).
    pub fn thresholds_newton(&self) -> Vec<f64> {
        let of = |fit: &super::TaxelFit| {
            let newton = fit.gain_counts_per_newton.value / self.counts.counts_per_newton * fit.threshold_newton.value;
            newton.max(0.0)
        };
        self.taxels.taxels.iter().map(of).collect()
    }

    /// The fitted response for a sensor's file. Without `with_spread`, the gains include the spread.
    pub fn response(&self, with_spread: bool) -> ResponseSpec {
        let newton_per_count = 1.0 / self.counts.counts_per_newton;
        let gains: Vec<f64> = match with_spread {
            true => self.gains(),
            false => self.gains().iter().zip(&self.weights_on_itself).map(|(gain, own)| gain * own).collect(),
        };
        let newtons = |values: Vec<f64>| PerTaxel::Each(values.into_iter().map(Force::new).collect());
        let max_newton = gains.iter().copied().fold(0.0, f64::max) * self.top_newton;
        ResponseSpec {
            quantised: true,
            spread: with_spread.then(|| Spread::gaussian(self.spread.sigma_taxels.value, self.spread.kernel)),
            hysteresis: Some(Hysteresis { fraction: self.hysteresis.value, width: Force::new(0.0) }),
            creep: creep_terms(Some(&self.creep)),
            gain: Some(Gain { gain: PerTaxel::Each(gains), ..Gain::default() }),
            threshold: Some(Threshold { force: newtons(self.thresholds_newton()), kind: ThresholdKind::DeadBand }),
            curve: Some(self.taxels.rising_curve(newton_per_count, max_newton)),
            saturation: self
                .taxels
                .saturation_counts
                .map(|counts| Saturation { force: PerTaxel::All(Force::new(counts * newton_per_count)) }),
            noise: Some(Noise { sd: Force::new(self.noise_counts.value * newton_per_count), relative: 0.0, seed: 0 }),
            ..self.counts.into()
        }
    }
}
