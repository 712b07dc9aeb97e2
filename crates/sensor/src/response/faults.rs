//! Dead and stuck taxels.

use super::error::require;
use super::{Operation, OperationKind, ResponseError, ResponseState, Stage, Step};
use dermis_geometry::quantity::Force;
use serde::{Deserialize, Serialize};

/// Taxels that read zero, and taxels that read a constant.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Faults {
    /// Taxels that read zero.
    pub dead: Vec<usize>,
    /// Taxels that read a constant.
    pub stuck: Vec<Stuck>,
}

/// A taxel that reads a constant.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Stuck {
    /// Index of the taxel, from 0, row by row on a grid.
    pub taxel: usize,
    /// Constant reading.
    pub force: Force,
}

impl Faults {
    /// Applies the faults to the values (N).
    pub fn apply(&self, values: &mut [f64]) {
        for &taxel in &self.dead {
            values[taxel] = 0.0;
        }
        for stuck in &self.stuck {
            values[stuck.taxel] = stuck.force.si();
        }
    }
}

impl Stage for Faults {
    fn validate(&self, taxels: usize) -> Result<(), ResponseError> {
        let last = taxels.saturating_sub(1);
        let stuck = self.stuck.iter().map(|stuck| ("faults.stuck", stuck.taxel));
        let mut seen = vec![false; taxels];
        for (key, taxel) in self.dead.iter().map(|&taxel| ("faults.dead", taxel)).chain(stuck) {
            if taxel >= taxels {
                return Err(ResponseError::NoSuchTaxel { key, taxel, last });
            }
            if std::mem::replace(&mut seen[taxel], true) {
                return Err(ResponseError::TwoFaults { taxel });
            }
        }
        self.stuck.iter().try_for_each(|stuck| require(true, "faults.stuck.force", "a finite force", stuck.force.si()))
    }

    fn step(&self, values: &mut Vec<f64>, _: &mut ResponseState, _: &Step) {
        self.apply(values);
    }

    fn vjp(&self, _: &[f64], by_values: &mut Vec<f64>) -> Vec<(&'static str, Vec<f64>)> {
        self.dead
            .iter()
            .copied()
            .chain(self.stuck.iter().map(|stuck| stuck.taxel))
            .for_each(|taxel| by_values[taxel] = 0.0);
        Vec::new()
    }

    fn operation(&self, taxels: usize) -> Option<Operation> {
        let mut constants = vec![f64::NAN; taxels];
        self.dead.iter().for_each(|&taxel| constants[taxel] = 0.0);
        self.stuck.iter().for_each(|stuck| constants[stuck.taxel] = stuck.force.si());
        Some(Operation::new(OperationKind::Faults, &[]).per_taxel(vec![constants]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faulty_taxels_ignore_what_presses() {
        let faults = Faults { dead: vec![0], stuck: vec![Stuck { taxel: 2, force: Force::new(0.7) }] };
        let mut values = [1.0, 2.0, 3.0];
        faults.apply(&mut values);
        assert_eq!(values, [0.0, 2.0, 0.7]);
        assert!(faults.validate(3).is_ok());
        assert!(faults.validate(2).unwrap_err().to_string().contains("names taxel 2"));
        let both = Faults { dead: vec![2], ..faults };
        assert!(both.validate(3).unwrap_err().to_string().contains("taxel 2 has two entries"));
    }
}
