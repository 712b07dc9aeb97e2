//! Sampling at the sensor's own rate.

use super::error::require;
use super::{Operation, OperationKind, ResponseError, ResponseState, Stage, Step};
use crate::Taxels;
use dermis_geometry::TriMesh;
use dermis_geometry::quantity::Frequency;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Samples frames at the sensor's rate, each taxel at its time in the scan, and holds the last sample in between.
///
/// Taxel i is sampled at t = (k + φᵢ)/rate, k = 0, 1, …, with φᵢ in [0, 1) its phase in the scan.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Sampling {
    /// Frames per second.
    pub rate: Frequency,
    /// Order in which the taxels are sampled.
    #[serde(default)]
    pub scan: Scan,
}

/// Order of a scan.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Scan {
    /// All taxels at once.
    #[default]
    Global,
    /// Row by row.
    Rows,
    /// Column by column.
    Columns,
    /// Taxel by taxel.
    Taxels,
}

/// Tolerance of times as a fraction of a frame: allows for rounding, as times are sums of steps.
const SAME_MOMENT: f64 = 1e-7;

impl Sampling {
    /// Phase φ of every taxel.
    pub fn phases(&self, taxels: &Taxels) -> Result<Vec<f64>, ResponseError> {
        let n = taxels.len();
        self.validate(n)?;
        let size = || taxels.size().ok_or(ResponseError::NeedsGrid { key: "sampling.scan", remedy: "use \"taxels\"" });
        Ok(match self.scan {
            Scan::Global => vec![0.0; n],
            Scan::Taxels => (0..n).map(|i| i as f64 / n as f64).collect(),
            Scan::Rows => {
                let (rows, cols) = size()?;
                (0..n).map(|i| (i / cols) as f64 / rows as f64).collect()
            }
            Scan::Columns => {
                let (_, cols) = size()?;
                (0..n).map(|i| (i % cols) as f64 / cols as f64).collect()
            }
        })
    }

    /// Samples during the step that starts at `time_s` and replaces the values by the last samples. `phases` are those
    /// of [`Sampling::phases`]; `standing` holds the samples.
    pub fn apply(&self, phases: &[f64], standing: &mut [f64], values: &mut [f64], time_s: f64, dt_s: f64) {
        let rate = self.rate.si();
        let (from, to) = (time_s * rate, (time_s + dt_s) * rate);
        // Number of sampling times before t: a taxel is sampled if one lies in [from, to).
        let before = |t: f64, phase: f64| (t - phase - SAME_MOMENT).ceil().max(0.0);
        for ((phase, sample), value) in phases.iter().zip(standing).zip(values) {
            if before(to, *phase) > before(from, *phase) {
                *sample = *value;
            }
            *value = *sample;
        }
    }
}

impl Stage for Sampling {
    fn validate(&self, _: usize) -> Result<(), ResponseError> {
        require(self.rate.si() > 0.0, "sampling.rate", "a positive frequency", self.rate.si())
    }

    fn prepare(&self, taxels: &Taxels, _: Option<&TriMesh>) -> Result<Option<Arc<dyn Stage>>, ResponseError> {
        Ok(Some(Arc::new(Scanner { sampling: *self, phases: self.phases(taxels)? })))
    }
}

/// The scan of a set of taxels.
#[derive(Debug)]
struct Scanner {
    sampling: Sampling,
    phases: Vec<f64>,
}

impl Stage for Scanner {
    fn step(&self, values: &mut Vec<f64>, memory: &mut ResponseState, step: &Step) {
        self.sampling.apply(&self.phases, &mut memory.sampled_newton, values, step.start_s, step.dt_s);
    }

    fn has_memory(&self) -> bool {
        true
    }

    fn rest(&self, memory: &mut ResponseState, taxels: usize) {
        memory.sampled_newton = vec![0.0; taxels];
    }

    fn operation(&self, _: usize) -> Option<Operation> {
        let operation = Operation::new(OperationKind::Sampling, &[self.sampling.rate.si()]);
        Some(operation.per_taxel(vec![self.phases.clone()]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 100 Hz fed at 1 kHz with the step number: frame k holds for ten steps and shows the value at its sampling time,
    /// which for row r of four is r · 2.5 ms later, rounded up to the step that contains it.
    #[test]
    fn frames_stand_for_a_period_and_rows_are_late() {
        let taxels = Taxels::grid(4, 2, 1e-3);
        let sampling = Sampling { rate: Frequency::new(100.0), scan: Scan::Rows };
        let phases = sampling.phases(&taxels).unwrap();
        let mut standing = vec![-1.0; 8];
        let mut time_s = 0.0;
        for step in 0..200 {
            let mut values = vec![f64::from(step); 8];
            sampling.apply(&phases, &mut standing, &mut values, time_s, 1e-3);
            for (taxel, value) in values.iter().enumerate() {
                let late = [0, 2, 5, 7][taxel / 2];
                let truth = if step < late { -1 } else { (step - late) / 10 * 10 + late };
                assert_eq!(*value, f64::from(truth), "step {step}, taxel {taxel}");
            }
            time_s += 1e-3;
        }
    }

    #[test]
    fn a_device_faster_than_the_steps_changes_nothing() {
        let sampling = Sampling { rate: Frequency::new(5000.0), scan: Scan::Taxels };
        let phases = sampling.phases(&Taxels::grid(2, 2, 1e-3)).unwrap();
        let mut standing = vec![0.0; 4];
        let mut values = [1.0, 2.0, 3.0, 4.0];
        sampling.apply(&phases, &mut standing, &mut values, 0.0, 1e-3);
        assert_eq!(values, [1.0, 2.0, 3.0, 4.0]);
    }
}
