//! Gain and offset of every taxel.

use super::error::require;
use super::{Operation, OperationKind, PerTaxel, ResponseError, ResponseState, Stage, Step};
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
}

impl Default for Gain {
    fn default() -> Self {
        let (gain, offset) = (PerTaxel::All(1.0), PerTaxel::All(Force::new(0.0)));
        Self { gain, offset, gain_sd: 0.0, offset_sd: Force::new(0.0), seed: 0 }
    }
}

/// Gain and offset of all taxels.
#[derive(Clone, Debug, PartialEq)]
pub struct Lines {
    gain: Vec<f64>,
    offset_newton: Vec<f64>,
}

impl Gain {
    /// Draws gain and offset of every taxel. A gain is never drawn below zero.
    pub fn lines(&self, taxels: usize) -> Result<Lines, ResponseError> {
        self.validate(taxels)?;
        let mut random = Random::new(self.seed);
        let mut lines = Lines { gain: Vec::with_capacity(taxels), offset_newton: Vec::with_capacity(taxels) };
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

    /// Applies gain and offset to the values (N).
    pub fn apply(&self, values: &mut [f64]) {
        self.apply_scaled(values, 1.0);
    }

    fn apply_scaled(&self, values: &mut [f64], scale: f64) {
        for ((value, gain), offset) in values.iter_mut().zip(&self.gain).zip(&self.offset_newton) {
            *value = *value * (gain * scale) + offset;
        }
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
        require(self.gain_sd >= 0.0, "gain.gain_sd", "zero or positive", self.gain_sd)?;
        require(self.offset_sd.si() >= 0.0, "gain.offset_sd", "zero or a positive force", self.offset_sd.si())
    }

    fn prepare(&self, taxels: &Taxels, _: Option<&TriMesh>) -> Result<Option<Arc<dyn Stage>>, ResponseError> {
        Ok(Some(Arc::new(self.lines(taxels.len())?)))
    }
}

impl Stage for Lines {
    fn step(&self, values: &mut Vec<f64>, _: &mut ResponseState, step: &Step) {
        self.apply_scaled(values, step.scales.gain);
    }

    fn vjp(&self, values: &[f64], by_values: &mut Vec<f64>) -> Vec<(&'static str, Vec<f64>)> {
        let by_gain = values.iter().zip(&*by_values).map(|(value, by)| value * by).collect();
        let by_offset = by_values.clone();
        by_values.iter_mut().zip(&self.gain).for_each(|(by, gain)| *by *= gain);
        vec![("gain", by_gain), ("offset", by_offset)]
    }

    fn operation(&self, _: usize) -> Option<Operation> {
        let lists = vec![self.gain.clone(), self.offset_newton.clone()];
        Some(Operation::new(OperationKind::Gain, &[]).per_taxel(lists))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn listed_lines_are_applied() {
        let gain =
            Gain { gain: PerTaxel::Each(vec![2.0, 0.5]), offset: PerTaxel::All(Force::new(0.1)), ..Gain::default() };
        let mut values = [1.0, 1.0];
        gain.lines(2).unwrap().apply(&mut values);
        assert_eq!(values, [2.1, 0.6]);
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
