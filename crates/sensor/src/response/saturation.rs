//! Clips the values of taxels.

use super::error::require;
use super::{Operation, OperationKind, PerTaxel, ResponseError, ResponseState, Stage, Step};
use dermis_geometry::quantity::Force;
use serde::{Deserialize, Serialize};

/// Clips values at a maximum force, before crosstalk, noise and faults.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Saturation {
    /// Maximum value.
    pub force: PerTaxel<Force>,
}

impl Saturation {
    /// Applies the clipping to the values (N).
    pub fn apply(&self, values: &mut [f64]) {
        for (taxel, value) in values.iter_mut().enumerate() {
            *value = value.min(self.force.at(taxel).si());
        }
    }
}

impl Stage for Saturation {
    fn validate(&self, taxels: usize) -> Result<(), ResponseError> {
        self.force.check("saturation.force", taxels)?;
        let values = self.force.values().iter();
        values.map(|t| t.si()).try_for_each(|t| require(t > 0.0, "saturation.force", "a positive force", t))
    }

    fn step(&self, values: &mut Vec<f64>, _: &mut ResponseState, _: &Step) {
        self.apply(values);
    }

    fn vjp(&self, values: &[f64], by_values: &mut Vec<f64>) -> Vec<(&'static str, Vec<f64>)> {
        for (taxel, (by, value)) in by_values.iter_mut().zip(values).enumerate() {
            *by = if *value > self.force.at(taxel).si() { 0.0 } else { *by };
        }
        Vec::new()
    }

    fn operation(&self, taxels: usize) -> Option<Operation> {
        let limits = (0..taxels).map(|taxel| self.force.at(taxel).si()).collect();
        Some(Operation::new(OperationKind::Saturation, &[]).per_taxel(vec![limits]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_stop_there() {
        let mut values = [1.0, 1.8, 7.0];
        Saturation { force: PerTaxel::All(Force::new(1.8)) }.apply(&mut values);
        assert_eq!(values, [1.0, 1.8, 1.8]);
    }
}
