//! Taxels that no longer work.

use super::error::require;
use super::{ResponseError, ResponseState, Stage, StageSpec, Step};
use crate::Taxels;
use dermis_geometry::TriMesh;
use dermis_geometry::quantity::Force;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Taxels that read nothing, and taxels that always read the same.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Faults {
    /// Read zero whatever presses.
    pub dead: Vec<usize>,
    /// Read one value whatever presses.
    pub stuck: Vec<Stuck>,
}

/// A taxel that always reads the same.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stuck {
    /// Which, from 0, row by row on a grid.
    pub taxel: usize,
    /// What it reads.
    pub force: Force,
}

impl Faults {
    /// Puts the faults into the values (N).
    pub fn apply(&self, values: &mut [f64]) {
        for &taxel in &self.dead {
            values[taxel] = 0.0;
        }
        for stuck in &self.stuck {
            values[stuck.taxel] = stuck.force.si();
        }
    }
}

impl StageSpec for Faults {
    fn validate(&self, taxels: usize) -> Result<(), ResponseError> {
        let last = taxels.saturating_sub(1);
        let stuck = self.stuck.iter().map(|stuck| ("faults.stuck", stuck.taxel));
        for (key, taxel) in self.dead.iter().map(|&taxel| ("faults.dead", taxel)).chain(stuck) {
            if taxel >= taxels {
                return Err(ResponseError::NoSuchTaxel { key, taxel, last });
            }
        }
        self.stuck.iter().try_for_each(|stuck| require(true, "faults.stuck.force", "a finite force", stuck.force.si()))
    }

    fn build(&self, _: &Taxels, _: Option<&TriMesh>) -> Result<Arc<dyn Stage>, ResponseError> {
        Ok(Arc::new(self.clone()))
    }
}

impl Stage for Faults {
    fn step(&self, values: &mut Vec<f64>, _: &mut ResponseState, _: &Step) {
        self.apply(values);
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
    }
}
