//! Noise of the readings.

use super::error::require;
use super::{Operation, OperationKind, ResponseError, ResponseState, Stage, Step};
use dermis_geometry::quantity::Force;
use dermis_geometry::{Random, mixed};
use serde::{Deserialize, Serialize};

/// Gaussian noise. Seed, step number and taxel determine each draw, so a resumed run has the same noise as an
/// uninterrupted one.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Noise {
    /// Constant part of the standard deviation.
    #[serde(default = "none")]
    pub sd: Force,
    /// Standard deviation as a fraction of the value; added in quadrature.
    #[serde(default)]
    pub relative: f64,
    /// Seed of the draws.
    #[serde(default)]
    pub seed: u64,
}

fn none() -> Force {
    Force::new(0.0)
}

impl Noise {
    /// Adds the noise of a step to the values (N): a pair of draws to each two taxels.
    pub fn apply(&self, values: &mut [f64], step: u64) {
        let mut random = Random::new(mixed(self.seed ^ mixed(step)));
        let sd = self.sd.si();
        for pair in values.chunks_mut(2) {
            for (value, draw) in pair.iter_mut().zip(random.normals()) {
                *value += draw * if self.relative > 0.0 { sd.hypot(self.relative * *value) } else { sd };
            }
        }
    }
}

impl Stage for Noise {
    fn validate(&self, _: usize) -> Result<(), ResponseError> {
        require(self.sd.si() >= 0.0, "noise.sd", "zero or a positive force", self.sd.si())?;
        require(self.relative >= 0.0, "noise.relative", "zero or positive", self.relative)
    }

    fn step(&self, values: &mut Vec<f64>, _: &mut ResponseState, step: &Step) {
        let scale = step.scales.noise;
        Self { sd: Force::new(self.sd.si() * scale), relative: self.relative * scale, ..*self }
            .apply(values, step.number);
    }

    fn has_memory(&self) -> bool {
        true
    }

    fn operation(&self, _: usize) -> Option<Operation> {
        let halves = [self.seed as u32, (self.seed >> 32) as u32].map(f64::from);
        Some(Operation::new(OperationKind::Noise, &[self.sd.si(), self.relative, halves[0], halves[1]]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Variance of n draws to 4 √(2/n), mean to 4/√n, and no correlation between steps, taxels or seeds.
    #[test]
    fn variance_is_that_asked_for_and_draws_are_independent() {
        let noise = Noise { sd: Force::new(0.03), relative: 0.04, seed: 9 };
        let (steps, taxels) = (2500, 84);
        let draws: Vec<Vec<f64>> = (0..steps)
            .map(|step| {
                let mut values = vec![1.0; taxels];
                noise.apply(&mut values, step);
                values.iter().map(|v| (v - 1.0) / 0.05).collect()
            })
            .collect();
        let n = (steps * taxels as u64) as f64;
        let mean = draws.iter().flatten().sum::<f64>() / n;
        let variance = draws.iter().flatten().map(|v| v * v).sum::<f64>() / n;
        assert!(mean.abs() < 4.0 / n.sqrt(), "{mean}");
        assert!((variance - 1.0).abs() < 4.0 * (2.0 / n).sqrt(), "{variance}");
        let in_time: f64 = draws.windows(2).map(|d| d[0].iter().zip(&d[1]).map(|(a, b)| a * b).sum::<f64>()).sum();
        let in_space: f64 = draws.iter().map(|d| d.windows(2).map(|v| v[0] * v[1]).sum::<f64>()).sum();
        assert!(in_time.abs() / n < 4.0 / n.sqrt() && in_space.abs() / n < 4.0 / n.sqrt(), "{in_time} {in_space}");
    }
}
