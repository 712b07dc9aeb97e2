//! All stages, one after the other.

use super::{
    Ageing, Creep, Curve, Delay, Faults, Hysteresis, Lines, Noise, Response, ResponseError, ResponseSpec,
    ResponseState, Sampling, Saturation, Threshold, Use,
};
use crate::{Taxels, Weights};
use dermis_geometry::TriMesh;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// A response for a given set of taxels. With every stage off the newtons that come out are those that went in.
#[derive(Clone, Debug)]
pub struct Chain {
    counts: Response,
    quantised: bool,
    /// None for plain counts, which fit any sensor.
    taxels: Option<usize>,
    spread: Option<Weights>,
    hysteresis: Option<Hysteresis>,
    creep: Vec<Creep>,
    ageing: Option<Ageing>,
    lines: Option<Lines>,
    threshold: Option<Threshold>,
    curve: Option<Curve>,
    saturation: Option<Saturation>,
    crosstalk: Option<Weights>,
    noise: Option<Noise>,
    faults: Option<Faults>,
    sampling: Option<(Sampling, Vec<f64>)>,
    delay: Option<Delay>,
}

/// What a device says of its taxels.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// Newtons, by the nominal conversion of the counts (but not rounded to them unless the response is quantised).
    pub newton: Vec<f64>,
    /// Counts.
    pub raw: Vec<u32>,
}

impl From<Response> for Chain {
    fn from(counts: Response) -> Self {
        Self {
            counts,
            quantised: false,
            taxels: None,
            spread: None,
            hysteresis: None,
            creep: Vec::new(),
            ageing: None,
            lines: None,
            threshold: None,
            curve: None,
            saturation: None,
            crosstalk: None,
            noise: None,
            faults: None,
            sampling: None,
            delay: None,
        }
    }
}

impl Chain {
    /// Builds the stages for these taxels; `surface` is what the spread runs along where there is no grid.
    pub fn new(spec: &ResponseSpec, taxels: &Taxels, surface: Option<&TriMesh>) -> Result<Self, ResponseError> {
        let n = taxels.len();
        spec.validate(n)?;
        let sampling = |stage: Sampling| stage.phases(taxels).map(|phases| (stage, phases));
        Ok(Self {
            counts: spec.counts()?,
            quantised: spec.quantised,
            taxels: Some(n),
            spread: spec.spread.as_ref().map(|stage| stage.weights(taxels, surface)).transpose()?,
            hysteresis: spec.hysteresis,
            creep: spec.creep.clone(),
            ageing: spec.ageing,
            lines: spec.gain.as_ref().map(|stage| stage.build(n)).transpose()?,
            threshold: spec.threshold.clone(),
            curve: spec.curve.clone(),
            saturation: spec.saturation.clone(),
            crosstalk: spec.crosstalk.map(|stage| stage.weights(taxels)).transpose()?,
            noise: spec.noise,
            faults: spec.faults.clone(),
            sampling: spec.sampling.map(sampling).transpose()?,
            delay: spec.delay,
        })
    }

    /// The conversion to counts.
    pub fn counts(&self) -> &Response {
        &self.counts
    }

    /// The matrix of the spread.
    pub fn spread(&self) -> Option<&Weights> {
        self.spread.as_ref()
    }

    /// Gain and offset of every taxel.
    pub fn lines(&self) -> Option<&Lines> {
        self.lines.as_ref()
    }

    /// The state of a device that has felt nothing yet.
    pub fn rest(&self) -> ResponseState {
        let zeros = |times: usize| vec![0.0; self.taxels.unwrap_or(0) * times];
        ResponseState {
            time_s: 0.0,
            step: 0,
            held_newton: zeros(usize::from(self.hysteresis.is_some())),
            slow_newton: zeros(self.creep.len()),
            uses: self.ageing.map_or_else(Vec::new, |_| vec![Use::default(); self.taxels.unwrap_or(0)]),
            sampled_newton: zeros(usize::from(self.sampling.is_some())),
            on_their_way: VecDeque::new(),
        }
    }

    /// What the device reports while its taxels feel these forces (N) for `dt_s`, and its state after that.
    pub fn respond(
        &self,
        state: &ResponseState,
        values_newton: &[f64],
        dt_s: f64,
    ) -> Result<(Report, ResponseState), ResponseError> {
        self.check(state, values_newton, dt_s)?;
        let mut state = state.clone();
        let mut values = self.spread_out(values_newton);
        if let Some(stage) = &self.hysteresis {
            stage.apply(&mut state.held_newton, &mut values);
        }
        if !self.creep.is_empty() {
            Creep::apply(&self.creep, &mut state.slow_newton, &mut values, dt_s);
        }
        if let Some(stage) = &self.ageing {
            stage.apply(&mut state.uses, &mut values, state.time_s + dt_s);
        }
        self.transduce(&mut values);
        if let Some(stage) = &self.noise {
            stage.apply(&mut values, state.step);
        }
        if let Some(stage) = &self.faults {
            stage.apply(&mut values);
        }
        if let Some((stage, phases)) = &self.sampling {
            stage.apply(phases, &mut state.sampled_newton, &mut values, state.time_s, dt_s);
        }
        state.time_s += dt_s;
        state.step += 1;
        if let Some(stage) = &self.delay {
            stage.apply(&mut state.on_their_way, &mut values, state.time_s);
        }
        Ok((self.report(values), state))
    }

    /// What a device without memory and noise would report: everything but hysteresis, creep, ageing, noise, sampling and
    /// delay. Values of the wrong number are answered with zeros.
    pub fn respond_at_once(&self, values_newton: &[f64]) -> Report {
        if self.taxels.is_some_and(|taxels| taxels != values_newton.len()) {
            return self.report(vec![0.0; self.taxels.unwrap_or(0)]);
        }
        let mut values = self.spread_out(values_newton);
        self.transduce(&mut values);
        if let Some(stage) = &self.faults {
            stage.apply(&mut values);
        }
        self.report(values)
    }

    fn spread_out(&self, values_newton: &[f64]) -> Vec<f64> {
        self.spread.as_ref().map_or_else(|| values_newton.to_vec(), |spread| spread.apply(values_newton))
    }

    /// The stages without memory, from the load on a taxel's element to its wires.
    fn transduce(&self, values: &mut Vec<f64>) {
        if let Some(stage) = &self.lines {
            stage.apply(values);
        }
        if let Some(stage) = &self.threshold {
            stage.apply(values);
        }
        if let Some(stage) = &self.curve {
            stage.apply(values);
        }
        if let Some(stage) = &self.saturation {
            stage.apply(values);
        }
        if let Some(stage) = &self.crosstalk {
            *values = stage.apply(values);
        }
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
        let on_their_way = state.on_their_way.iter().map(|frame| ("state", frame.newton.len(), taxels));
        let parts = [
            ("list of values", values.len(), taxels),
            ("state", state.held_newton.len(), taxels * usize::from(self.hysteresis.is_some())),
            ("state", state.slow_newton.len(), taxels * self.creep.len()),
            ("state", state.uses.len(), taxels * usize::from(self.ageing.is_some())),
            ("state", state.sampled_newton.len(), taxels * usize::from(self.sampling.is_some())),
        ];
        match parts.into_iter().chain(on_their_way).find(|(_, got, expected)| got != expected) {
            Some((what, got, expected)) => Err(ResponseError::Mismatch { what, got, expected }),
            None => Ok(()),
        }
    }
}
