//! Threshold below which a taxel reads zero.

use super::error::require;
use super::{Operation, OperationKind, PerTaxel, ResponseError, ResponseState, Stage, Step};
use dermis_geometry::quantity::Force;
use serde::{Deserialize, Serialize};

/// A force T below which a taxel reads zero.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Threshold {
    /// Threshold T.
    pub force: PerTaxel<Force>,
    /// Reading above the threshold.
    #[serde(default)]
    pub kind: ThresholdKind,
}

/// Reading of a force above the threshold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ThresholdKind {
    /// Subtracts the threshold: x − T, without a jump (Kappassov 2020, Fig. 5: raw 0 at 0.2 N).
    #[default]
    DeadBand,
    /// Reports the force x; the reading jumps from 0 to T.
    Gate,
}

impl Threshold {
    /// Applies the threshold to the values (N). Tensile forces also read zero.
    pub fn apply(&self, values: &mut [f64]) {
        self.apply_scaled(values, 1.0);
    }

    fn apply_scaled(&self, values: &mut [f64], scale: f64) {
        for (taxel, value) in values.iter_mut().enumerate() {
            let threshold = self.force.at(taxel).si() * scale;
            *value = match self.kind {
                _ if *value <= threshold => 0.0,
                ThresholdKind::DeadBand => *value - threshold,
                ThresholdKind::Gate => *value,
            };
        }
    }
}

impl Stage for Threshold {
    fn validate(&self, taxels: usize) -> Result<(), ResponseError> {
        self.force.check("threshold.force", taxels)?;
        let values = self.force.values().iter();
        values.map(|t| t.si()).try_for_each(|t| require(t >= 0.0, "threshold.force", "zero or a positive force", t))
    }

    fn step(&self, values: &mut Vec<f64>, _: &mut ResponseState, step: &Step) {
        self.apply_scaled(values, step.scales.threshold);
    }

    fn vjp(&self, values: &[f64], by_values: &mut Vec<f64>) -> Vec<(&'static str, Vec<f64>)> {
        for (taxel, (by, value)) in by_values.iter_mut().zip(values).enumerate() {
            *by = if *value <= self.force.at(taxel).si() { 0.0 } else { *by };
        }
        Vec::new()
    }

    fn operation(&self, taxels: usize) -> Option<Operation> {
        let subtracts = if self.kind == ThresholdKind::DeadBand { 1.0 } else { 0.0 };
        let thresholds = (0..taxels).map(|taxel| self.force.at(taxel).si()).collect();
        Some(Operation::new(OperationKind::Threshold, &[subtracts]).per_taxel(vec![thresholds]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn below_it_nothing_above_it_less_or_all() {
        let dead = Threshold { force: PerTaxel::All(Force::new(0.25)), kind: ThresholdKind::DeadBand };
        let mut values = [0.2, 0.25, 0.75, -1.0];
        dead.apply(&mut values);
        assert_eq!(values, [0.0, 0.0, 0.5, 0.0]);
        let gate = Threshold { force: PerTaxel::Each([0.1, 0.8].map(Force::new).to_vec()), kind: ThresholdKind::Gate };
        let mut values = [0.5, 0.5];
        gate.apply(&mut values);
        assert_eq!(values, [0.5, 0.0]);
    }
}
