//! The most a taxel can show.

use super::error::require;
use super::{PerTaxel, ResponseError, ResponseState, Stage, StageSpec, Step};
use crate::Taxels;
use dermis_geometry::TriMesh;
use dermis_geometry::quantity::Force;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// A value that no taxel exceeds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Saturation {
    /// The greatest value.
    pub force: PerTaxel<Force>,
}

impl Saturation {
    /// Applies it to the values (N).
    pub fn apply(&self, values: &mut [f64]) {
        for (taxel, value) in values.iter_mut().enumerate() {
            *value = value.min(self.force.at(taxel).si());
        }
    }
}

impl StageSpec for Saturation {
    fn validate(&self, taxels: usize) -> Result<(), ResponseError> {
        self.force.check("saturation.force", taxels)?;
        let values = self.force.values().iter();
        values.map(|t| t.si()).try_for_each(|t| require(t > 0.0, "saturation.force", "a positive force", t))
    }

    fn build(&self, _: &Taxels, _: Option<&TriMesh>) -> Result<Arc<dyn Stage>, ResponseError> {
        Ok(Arc::new(self.clone()))
    }
}

impl Stage for Saturation {
    fn step(&self, values: &mut Vec<f64>, _: &mut ResponseState, _: &Step) {
        self.apply(values);
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
