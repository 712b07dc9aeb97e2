//! Bench data with the loads that reach the taxels.

use super::{FitError, Residual};
use crate::characterise::{Bench, BenchError, Indenter, PressRow};
use crate::response::{Gain, PerTaxel, Scales};
use crate::{Report, ResponseError, ResponseSpec, Sensor, Spread};

/// Bench data of a sensor, with the load on every taxel in every row of presses. The skin of the sensor distributes the
/// measured force of the indenter over the taxels; the response receives these loads.
pub struct TaxelLoads<'a> {
    pub(super) sensor: &'a Sensor,
    pub(super) bench: &'a Bench,
    /// Loads of all taxels (N), row by row.
    pub(super) newton: Vec<Vec<f64>>,
}

/// Maximum number of depths per taxel at which the skin is pressed; between them the shares are interpolated.
const MAX_DEPTHS: usize = 8;

/// The share of the force that each taxel carries, by depth of the indenter (m), increasing.
struct Shares(Vec<(f64, Vec<f64>)>);

impl<'a> TaxelLoads<'a> {
    /// Presses the skin of `sensor` with a flat, round indenter of this diameter (m) at the taxels and depths of the
    /// bench.
    pub fn new(sensor: &'a Sensor, bench: &'a Bench, indenter_m: f64) -> Result<Self, FitError> {
        check_rows(bench, sensor.taxels().len())?;
        let indenter = Indenter::new(sensor, indenter_m)?;
        let mut depths_m = vec![Vec::new(); sensor.taxels().len()];
        for row in bench.presses.iter().filter(|row| row.force_newton > 0.0) {
            depths_m[row.taxel].push(row.depth_m);
        }
        let shares = depths_m
            .into_iter()
            .enumerate()
            .map(|(taxel, depths_m)| Shares::new(&indenter, taxel, depths_m, sensor.skin().max_depth_m()))
            .collect::<Result<Vec<Shares>, BenchError>>()?;
        let load = |row: &PressRow| {
            let force = row.force_newton.max(0.0);
            let mut load = if force > 0.0 { shares[row.taxel].at(row.depth_m) } else { vec![0.0; row.raw.len()] };
            load.iter_mut().for_each(|share| *share *= force);
            load
        };
        let newton = bench.presses.iter().map(load).collect();
        Ok(Self { sensor, bench, newton })
    }

    /// True if the rows have different temperatures.
    pub(super) fn has_rises(&self) -> bool {
        self.bench.presses.iter().any(|row| row.rise_kelvin != self.bench.presses[0].rise_kelvin)
    }

    /// A doubt about presses that follow each other without rest, which a creep carries from one to the next.
    pub fn doubt_of_rests(&self) -> Option<String> {
        let rows = &self.bench.presses;
        let follows = |pair: &&[PressRow]| {
            let is_new = (pair[0].taxel, pair[0].press) != (pair[1].taxel, pair[1].press);
            is_new && pair[1].rest_s.is_none() && pair.iter().all(|row| row.force_newton > 0.0)
        };
        let count = rows.windows(2).filter(follows).count();
        (count > 0).then(|| {
            format!(
                "{count} presses begin where the one before ends, so that its creep goes on in them: if the sensor rested between, add a column `rest_s` with the seconds without load before each row, or rows with a force of 0"
            )
        })
    }

    /// Factor of the gains in every row for their relative change per kelvin; 1 if all rows have the same temperature.
    fn factors(&self, gain_per_kelvin: f64) -> Vec<f64> {
        let per_kelvin = if self.has_rises() { gain_per_kelvin } else { 0.0 };
        self.bench.presses.iter().map(|row| 1.0 + per_kelvin * row.rise_kelvin.unwrap_or_default()).collect()
    }

    /// The reports of a response, row by row, each at its temperature.
    fn reports(&self, response: &ResponseSpec) -> Result<Vec<Report>, ResponseError> {
        let mut response = response.clone();
        let drift = response.gain.as_mut().filter(|_| self.has_rises()).and_then(|gain| gain.drift.take());
        let factors = self.factors(drift.map_or(0.0, |drift| drift.gain_per_kelvin));
        let chain = response.build(self.sensor.taxels(), Some(self.sensor.surface()))?;
        let (mut state, unloaded) = (chain.rest(), vec![0.0; self.sensor.taxels().len()]);
        let rows = self.bench.presses.iter().zip(&self.newton).zip(factors);
        rows.map(|((row, load), gain)| {
            let scales = Scales { gain, ..Scales::ONE };
            // A rest of 0 s is none: no load, however short, would end the hysteresis.
            if let Some(rest_s) = row.rest_s.filter(|rest_s| *rest_s > 0.0) {
                state = chain.respond_scaled(&state, &unloaded, rest_s, scales)?.1;
            }
            let (report, next) = chain.respond_scaled(&state, load, row.held_s, scales)?;
            state = next;
            Ok(report)
        })
        .collect()
    }

    /// Loads of all taxels (N) after the stages of a response that come before the gain, times the change of the gain with
    /// temperature.
    pub(super) fn before_gain(
        &self,
        response: &ResponseSpec,
        gain_per_kelvin: f64,
    ) -> Result<Vec<Vec<f64>>, ResponseError> {
        let ResponseSpec { spread, hysteresis, creep, ageing, .. } = response.clone();
        let stages = ResponseSpec { spread, hysteresis, creep, ageing, ..ResponseSpec::default() };
        let warmed = |(report, factor): (Report, f64)| report.newton.into_iter().map(|load| load * factor).collect();
        Ok(self.reports(&stages)?.into_iter().zip(self.factors(gain_per_kelvin)).map(warmed).collect())
    }

    /// Mean load of every taxel under the indenter (N), after a spread.
    fn own_newton(&self, spread: Option<&Spread>) -> Result<Vec<f64>, ResponseError> {
        let mut sums = vec![0.0; self.sensor.taxels().len()];
        let stage = ResponseSpec { spread: spread.cloned(), ..ResponseSpec::default() };
        for (row, load) in self.bench.presses.iter().zip(self.before_gain(&stage, 0.0)?) {
            sums[row.taxel] += load[row.taxel];
        }
        Ok(sums)
    }

    /// A response with another spread, its gains scaled so that a directly pressed taxel reads the same as before.
    pub fn with_spread(&self, response: &ResponseSpec, spread: Spread) -> Result<ResponseSpec, ResponseError> {
        let (before, after) = (self.own_newton(response.spread.as_ref())?, self.own_newton(Some(&spread))?);
        let gain = response.gain.clone().unwrap_or_default();
        let scaled = |(taxel, (before, after)): (usize, (&f64, &f64))| gain.gain.at(taxel) * before / after;
        let gains = before.iter().zip(&after).enumerate().map(scaled).collect();
        let gain = Gain { gain: PerTaxel::Each(gains), ..gain };
        Ok(ResponseSpec { spread: Some(spread), gain: Some(gain), ..response.clone() })
    }

    /// Differences between the counts of the bench and those of a response to the same loads, without its noise.
    pub fn residual(&self, response: &ResponseSpec) -> Result<Residual, ResponseError> {
        let (mut own, mut others) = ((0.0, 0), (0.0, 0));
        let mut readings = vec![Vec::new(); self.sensor.taxels().len()];
        let reports = self.reports(&ResponseSpec { noise: None, ..response.clone() })?;
        for (row, report) in self.bench.presses.iter().zip(&reports).filter(|(row, _)| row.force_newton > 0.0) {
            readings[row.taxel].push(f64::from(row.raw[row.taxel]));
            for (taxel, (&measured, &modelled)) in row.raw.iter().zip(&report.raw).enumerate() {
                let sum = if taxel == row.taxel { &mut own } else { &mut others };
                sum.0 += (f64::from(measured) - f64::from(modelled)).powi(2);
                sum.1 += 1;
            }
        }
        let about_mean = |values: &Vec<f64>| {
            let mean = values.iter().sum::<f64>() / values.len().max(1) as f64;
            values.iter().map(|value| (value - mean).powi(2)).sum::<f64>()
        };
        let variation: f64 = readings.iter().map(about_mean).sum();
        let rms = |(sum, count): (f64, u32)| (sum / f64::from(count.max(1))).sqrt();
        Ok(Residual {
            pressed_counts: rms(own),
            neighbours_counts: rms(others),
            explained: if variation > 0.0 { 1.0 - own.0 / variation } else { 1.0 },
        })
    }
}

impl Shares {
    fn new(
        indenter: &Indenter<'_>,
        taxel: usize,
        mut depths_m: Vec<f64>,
        max_depth_m: f64,
    ) -> Result<Self, BenchError> {
        depths_m.iter_mut().for_each(|depth| *depth = depth.clamp(1e-3 * max_depth_m, 0.999 * max_depth_m));
        depths_m.sort_by(f64::total_cmp);
        depths_m.dedup();
        if let (Some(&low), Some(&high), true) = (depths_m.first(), depths_m.last(), depths_m.len() > MAX_DEPTHS) {
            let step = (high - low) / (MAX_DEPTHS - 1) as f64;
            depths_m = (0..MAX_DEPTHS).map(|i| low + step * i as f64).collect();
        }
        let share = |depth_m: f64| {
            let load = indenter.load(taxel, depth_m)?;
            Ok((depth_m, load.values_newton.iter().map(|value| value / load.force_newton).collect()))
        };
        depths_m.into_iter().map(share).collect::<Result<Vec<_>, BenchError>>().map(Self)
    }

    /// The shares at a depth (m); beyond the pressed depths, those of the nearest.
    fn at(&self, depth_m: f64) -> Vec<f64> {
        let above = self.0.partition_point(|(depth, _)| *depth < depth_m);
        match (above.checked_sub(1).map(|below| &self.0[below]), self.0.get(above)) {
            (Some((low_m, low)), Some((high_m, high))) => {
                let part = (depth_m - low_m) / (high_m - low_m);
                low.iter().zip(high).map(|(low, high)| low + part * (high - low)).collect()
            }
            (Some((_, only)), None) | (None, Some((_, only))) => only.clone(),
            (None, None) => Vec::new(),
        }
    }
}

/// Returns an error for rows of another sensor, or rows that are not finite.
fn check_rows(bench: &Bench, taxels: usize) -> Result<(), FitError> {
    if bench.presses.is_empty() {
        return Err(FitError::TooFew { what: "a sensor (rows of presses)", got: 0, needed: 4 });
    }
    for (index, row) in bench.presses.iter().enumerate() {
        if row.raw.len() != taxels || row.taxel >= taxels {
            let found = row.raw.len().max(row.taxel + 1);
            return Err(FitError::OtherSensor { row: index + 1, found, taxels });
        }
        let optional = [row.rise_kelvin, row.rest_s].map(Option::unwrap_or_default);
        let numbers = [row.force_newton, row.depth_m, row.held_s, optional[0], optional[1]];
        if !numbers.into_iter().all(f64::is_finite) {
            return Err(FitError::NotFinite { row: index + 1, x: row.depth_m, y: row.force_newton });
        }
    }
    Ok(())
}
