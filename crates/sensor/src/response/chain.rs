//! All stages of a response in sequence.

use super::{
    Drift, Operation, OperationKind, Response, ResponseError, ResponseSpec, ResponseState, Scales, Stage, Step,
    ThresholdKind, rise_kelvin,
};
use crate::Taxels;
use dermis_geometry::TriMesh;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// A response for a given set of taxels. Without stages it reports the forces on the taxels (N).
#[derive(Clone, Debug)]
pub struct Chain {
    counts: Response,
    quantised: bool,
    /// `None` for plain counts, which are valid for any sensor.
    taxels: Option<usize>,
    stages: Vec<Arc<dyn Stage>>,
    rest: ResponseState,
    drift: Option<Drift>,
}

/// A step without time, of a sensor that has warmed up.
const AT_ONCE: Step = Step { number: 0, start_s: f64::INFINITY, dt_s: 0.0, scales: Scales::ONE };

/// The reported values of all taxels.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// Newtons, by the nominal conversion of the counts (rounded to counts only if the response is quantised).
    pub newton: Vec<f64>,
    /// Counts.
    pub raw: Vec<u32>,
}

impl From<Response> for Chain {
    fn from(counts: Response) -> Self {
        Self { counts, quantised: false, taxels: None, stages: Vec::new(), rest: ResponseState::default(), drift: None }
    }
}

impl Default for ResponseSpec {
    fn default() -> Self {
        Response::default().into()
    }
}

impl ResponseSpec {
    /// The conversion to counts.
    pub fn counts(&self) -> Result<Response, ResponseError> {
        let force = self.force_per_count.si();
        let bad = |key, rule, got| ResponseError::Bad { key, rule, got };
        if !(force > 0.0 && force.is_finite()) {
            return Err(bad("force_per_count", "a positive force", force));
        }
        if !(1..=32).contains(&self.bits) {
            return Err(bad("bits", "from 1 to 32", f64::from(self.bits)));
        }
        Ok(Response { counts_per_newton: 1.0 / force, bits: self.bits })
    }

    /// Returns an error for stages that are invalid or do not match `taxels` taxels.
    pub fn validate(&self, taxels: usize) -> Result<(), ResponseError> {
        self.counts()?;
        self.stages().try_for_each(|stage| stage.validate(taxels))
    }

    /// Returns a function that gives the load (N) on a taxel for its counts, by the inverse of curve, threshold and gain
    /// after warming up; `None` at zero counts and in saturation.
    pub fn inverse(&self, taxels: usize) -> Result<impl Fn(usize, f64) -> Option<f64> + use<>, ResponseError> {
        self.validate(taxels)?;
        let lines = self.gain.clone().unwrap_or_default().lines(taxels)?.warm();
        let (newton_per_count, max) = (self.force_per_count.si(), self.counts()?.max() as f64);
        let (curve, threshold, saturation) = (self.curve.clone(), self.threshold.clone(), self.saturation.clone());
        Ok(move |taxel: usize, counts: f64| {
            let reading = counts * newton_per_count;
            let saturated = saturation.as_ref().is_some_and(|s| reading >= 0.97 * s.force.at(taxel).si());
            if taxel >= taxels || counts <= 0.0 || counts >= max || saturated {
                return None;
            }
            let straight = curve.as_ref().map_or(reading, |curve| curve.load_of(reading));
            let dead_band = threshold.as_ref().filter(|threshold| threshold.kind == ThresholdKind::DeadBand);
            let above = straight + dead_band.map_or(0.0, |threshold| threshold.force.at(taxel).si());
            Some((above - lines.offset_newton()[taxel]) / lines.gain()[taxel])
        })
    }

    /// Builds the stages for these taxels. Without a grid, the spread runs along `surface`.
    pub fn build(&self, taxels: &Taxels, surface: Option<&TriMesh>) -> Result<Chain, ResponseError> {
        self.validate(taxels.len())?;
        let prepared = |stage: Arc<dyn Stage>| Ok(stage.prepare(taxels, surface)?.unwrap_or(stage));
        let stages = self.stages().map(prepared).collect::<Result<Vec<_>, _>>()?;
        let mut rest = ResponseState::default();
        stages.iter().for_each(|stage| stage.rest(&mut rest, taxels.len()));
        let drift = self.gain.as_ref().and_then(|gain| gain.drift);
        Ok(Chain { counts: self.counts()?, quantised: self.quantised, taxels: Some(taxels.len()), stages, rest, drift })
    }
}

impl Chain {
    /// The conversion to counts.
    pub fn counts(&self) -> &Response {
        &self.counts
    }

    /// Temperature (K) above that of the gains at a time since rest (s); `None` without a drift.
    pub fn rise_kelvin(&self, time_s: f64) -> Option<f64> {
        self.drift.map(|drift| rise_kelvin(drift.rise, drift.time, time_s))
    }

    /// State of a sensor at rest.
    pub fn rest(&self) -> ResponseState {
        self.rest.clone()
    }

    /// Returns the report while these forces (N) act on the taxels for `dt_s`, and the state afterwards.
    pub fn respond(
        &self,
        state: &ResponseState,
        values_newton: &[f64],
        dt_s: f64,
    ) -> Result<(Report, ResponseState), ResponseError> {
        self.respond_scaled(state, values_newton, dt_s, Scales::ONE)
    }

    /// Like [`Chain::respond`], for a sensor with scaled parameters.
    pub fn respond_scaled(
        &self,
        state: &ResponseState,
        values_newton: &[f64],
        dt_s: f64,
        scales: Scales,
    ) -> Result<(Report, ResponseState), ResponseError> {
        self.check(state, values_newton, dt_s)?;
        let mut state = state.clone();
        let mut values = values_newton.to_vec();
        let step = Step { number: state.step, start_s: state.time_s, dt_s, scales };
        self.stages.iter().for_each(|stage| stage.step(&mut values, &mut state, &step));
        state.advance(dt_s);
        Ok((self.report(values), state))
    }

    /// All stages in plain numbers, for a GPU; `None` if one of them has no such form.
    pub fn operations(&self) -> Option<Vec<Operation>> {
        let taxels = self.taxels.unwrap_or(0);
        let mut operations = self.stages.iter().map(|stage| stage.operation(taxels)).collect::<Option<Vec<_>>>()?;
        if self.quantised {
            let max = self.counts.max() as f64;
            operations.push(Operation::new(OperationKind::Counts, &[self.counts.counts_per_newton, max]));
        }
        Some(operations)
    }

    /// Returns the report without the stages that have memory or noise. Reports zeros for a wrong number of values.
    pub fn respond_at_once(&self, values_newton: &[f64]) -> Report {
        if let Some(taxels) = self.taxels.filter(|taxels| *taxels != values_newton.len()) {
            return self.report(vec![0.0; taxels]);
        }
        let mut values = values_newton.to_vec();
        let (mut memory, step) = (ResponseState::default(), AT_ONCE);
        for stage in self.stages.iter().filter(|stage| !stage.has_memory()) {
            stage.step(&mut values, &mut memory, &step);
        }
        self.report(values)
    }

    /// Derivatives of a scalar by the forces on the taxels and by the parameters of the stages, from those by the report of
    /// [`Chain::respond_at_once`] (1/N). Rounding to counts is left out; at the ends of their range the derivative is zero.
    pub(crate) fn vjp(&self, values_newton: &[f64], by_report: &[f64]) -> (Vec<f64>, Vec<(&'static str, Vec<f64>)>) {
        let (mut memory, step) = (ResponseState::default(), AT_ONCE);
        let stages: Vec<&Arc<dyn Stage>> = self.stages.iter().filter(|stage| !stage.has_memory()).collect();
        let mut before = vec![values_newton.to_vec()];
        for stage in &stages {
            let mut values = before[before.len() - 1].clone();
            stage.step(&mut values, &mut memory, &step);
            before.push(values);
        }
        let (mut by_values, mut parameters) = (by_report.to_vec(), Vec::new());
        if self.quantised {
            let within = 0.0..self.counts.max() as f64 / self.counts.counts_per_newton;
            let reported = by_values.iter_mut().zip(&before[before.len() - 1]);
            reported.filter(|(_, value)| !within.contains(*value)).for_each(|(by, _)| *by = 0.0);
        }
        for (stage, values) in stages.iter().zip(&before).rev() {
            parameters.extend(stage.vjp(values, &mut by_values));
        }
        (by_values, parameters)
    }

    fn report(&self, mut newton: Vec<f64>) -> Report {
        let raw: Vec<u32> = newton.iter().map(|&value| self.counts.counts(value)).collect();
        if self.quantised {
            newton
                .iter_mut()
                .zip(&raw)
                .for_each(|(value, &raw)| *value = f64::from(raw) / self.counts.counts_per_newton);
        }
        Report { newton, raw }
    }

    fn check(&self, state: &ResponseState, values: &[f64], dt_s: f64) -> Result<(), ResponseError> {
        if !(dt_s >= 0.0 && dt_s.is_finite()) {
            return Err(ResponseError::Bad { key: "dt_s", rule: "zero or a positive time", got: dt_s });
        }
        let Some(taxels) = self.taxels else { return Ok(()) };
        if values.len() != taxels {
            return Err(ResponseError::Mismatch { what: "list of values", got: values.len(), expected: taxels });
        }
        match state.misfit(&self.rest, taxels) {
            Some((got, expected)) => Err(ResponseError::Mismatch { what: "state", got, expected }),
            None if !state.is_sound() => Err(ResponseError::DamagedState),
            None => Ok(()),
        }
    }
}
