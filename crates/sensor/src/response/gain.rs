//! Gain and offset of every taxel.

use super::error::require;
use super::{Drift, Operation, OperationKind, PerTaxel, ResponseError, ResponseState, Stage, Step};
use crate::Taxels;
use dermis_geometry::quantity::Force;
use dermis_geometry::{Random, TriMesh};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// y = g x + o for every taxel. Values are listed, drawn from a seed, or both: draws multiply g and add to o.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Gain {
    /// Gain g.
    pub gain: PerTaxel<f64>,
    /// Offset o.
    pub offset: PerTaxel<Force>,
    /// Standard deviation of a factor on g, drawn once for every taxel.
    pub gain_sd: f64,
    /// Standard deviation of a term added to o, drawn once for every taxel.
    pub offset_sd: Force,
    /// Seed of the draws.
    pub seed: u64,
    /// Drift of g and o with temperature. Default: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub drift: Option<Drift>,
}

impl Default for Gain {
    fn default() -> Self {
        let (gain, offset) = (PerTaxel::All(1.0), PerTaxel::All(Force::new(0.0)));
        Self { gain, offset, gain_sd: 0.0, offset_sd: Force::new(0.0), seed: 0, drift: None }
    }
}

/// Gain and offset of all taxels, at the temperature of the description, and their drift.
#[derive(Clone, Debug, PartialEq)]
pub struct Lines {
    gain: Vec<f64>,
    offset_newton: Vec<f64>,
    drift: Option<Drift>,
}

/// Time since rest (s) after which a sensor has warmed up.
const WARM: f64 = f64::INFINITY;

impl Gain {
    /// Draws gain and offset of every taxel. A gain is never drawn below zero.
    pub fn lines(&self, taxels: usize) -> Result<Lines, ResponseError> {
        self.validate(taxels)?;
        let mut random = Random::new(self.seed);
        let (gain, offset_newton) = (Vec::with_capacity(taxels), Vec::with_capacity(taxels));
        let mut lines = Lines { gain, offset_newton, drift: self.drift };
        for taxel in 0..taxels {
            lines.gain.push(self.gain.at(taxel) * (1.0 + self.gain_sd * random.normal()).max(0.0));
            lines.offset_newton.push(self.offset.at(taxel).si() + self.offset_sd.si() * random.normal());
        }
        Ok(lines)
    }
}

impl Lines {
    /// The gains.
    pub fn gain(&self) -> &[f64] {
        &self.gain
    }

    /// The offsets (N).
    pub fn offset_newton(&self) -> &[f64] {
        &self.offset_newton
    }

    /// Gain and offset after warming up.
    pub fn warm(&self) -> Self {
        let (factor, shift) = self.drift_at(WARM);
        let gain = self.gain.iter().map(|gain| gain * factor).collect();
        let offset_newton = self.offset_newton.iter().map(|offset| offset + shift).collect();
        Self { gain, offset_newton, drift: None }
    }

    /// Factor on the gains and term of the offsets (N) by temperature, at a time since rest (s).
    fn drift_at(&self, time_s: f64) -> (f64, f64) {
        self.drift.map_or((1.0, 0.0), |drift| drift.at(time_s))
    }
}

impl Stage for Gain {
    fn validate(&self, taxels: usize) -> Result<(), ResponseError> {
        self.gain.check("gain.gain", taxels)?;
        self.offset.check("gain.offset", taxels)?;
        for &gain in self.gain.values() {
            require(gain >= 0.0, "gain.gain", "zero or positive", gain)?;
        }
        for offset in self.offset.values() {
            require(true, "gain.offset", "a finite force", offset.si())?;
        }
        if let Some(drift) = &self.drift {
            drift.validate()?;
        }
        require(self.gain_sd >= 0.0, "gain.gain_sd", "zero or positive", self.gain_sd)?;
        require(self.offset_sd.si() >= 0.0, "gain.offset_sd", "zero or a positive force", self.offset_sd.si())
    }

    fn prepare(&self, taxels: &Taxels, _: Option<&TriMesh>) -> Result<Option<Arc<dyn Stage>>, ResponseError> {
        Ok(Some(Arc::new(self.lines(taxels.len())?)))
    }
}

impl Stage for Lines {
    fn step(&self, values: &mut Vec<f64>, _: &mut ResponseState, step: &Step) {
        let (factor, shift) = self.drift_at(step.end_s());
        for ((value, gain), offset) in values.iter_mut().zip(&self.gain).zip(&self.offset_newton) {
            *value = *value * (gain * step.scales.gain * factor) + (offset + shift);
        }
    }

    fn vjp(&self, values: &[f64], by_values: &mut Vec<f64>) -> Vec<(&'static str, Vec<f64>)> {
        let (factor, _) = self.drift_at(WARM);
        let by_gain = values.iter().zip(&*by_values).map(|(value, by)| value * factor * by).collect();
        let by_offset = by_values.clone();
        by_values.iter_mut().zip(&self.gain).for_each(|(by, gain)| *by *= gain * factor);
        vec![("gain", by_gain), ("offset", by_offset)]
    }

    fn operation(&self, _: usize) -> Option<Operation> {
        let Self { gain, offset_newton, .. } = self.warm();
        let operation = Operation::new(OperationKind::Gain, &[]).per_taxel(vec![gain, offset_newton]);
        let changes = self.drift.is_some_and(|drift| drift.time.is_some());
        let cpu_only = changes.then_some("`response.gain.drift.time` changes its gains during a run");
        Some(Operation { cpu_only, ..operation })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn listed_gains_and_offsets_are_those_of_the_taxels() {
        let gain =
            Gain { gain: PerTaxel::Each(vec![2.0, 0.5]), offset: PerTaxel::All(Force::new(0.1)), ..Gain::default() };
        let lines = gain.lines(2).unwrap();
        assert_eq!((lines.gain(), lines.offset_newton()), (&[2.0, 0.5][..], &[0.1, 0.1][..]));
        assert!(gain.lines(3).unwrap_err().to_string().contains("lists 2 taxels"));
    }

    /// The standard deviation of n draws has the standard error sd/√(2n); the test allows four.
    #[test]
    fn drawn_lines_have_the_deviation_asked_for() {
        let n = 20_000;
        let gain = Gain { gain_sd: 0.1, offset_sd: Force::new(0.02), seed: 5, ..Gain::default() };
        let lines = gain.lines(n).unwrap();
        let sd = |values: &[f64], mean: f64| (values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / n as f64).sqrt();
        let allowed = 4.0 / (2.0 * n as f64).sqrt();
        assert!((sd(lines.gain(), 1.0) / 0.1 - 1.0).abs() < allowed);
        assert!((sd(lines.offset_newton(), 0.0) / 0.02 - 1.0).abs() < allowed);
        assert_eq!(lines, gain.lines(n).unwrap());
        assert_ne!(lines, Gain { seed: 6, ..gain }.lines(n).unwrap());
    }
}
