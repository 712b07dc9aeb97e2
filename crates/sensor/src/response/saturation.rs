//! The most a taxel can show.

use super::error::require;
use super::{PerTaxel, ResponseError};
use dermis_geometry::quantity::Force;
use serde::{Deserialize, Serialize};

/// A value that no taxel exceeds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Saturation {
    /// The greatest value.
    pub force: PerTaxel<Force>,
}

impl Saturation {
    /// Refuses what means nothing.
    pub fn validate(&self, taxels: usize) -> Result<(), ResponseError> {
        self.force.check("saturation.force", taxels)?;
        let values = self.force.values().iter();
        values.map(|t| t.si()).try_for_each(|t| require(t > 0.0, "saturation.force", "a positive force", t))
    }

    /// Applies it to the values (N).
    pub fn apply(&self, values: &mut [f64]) {
        for (taxel, value) in values.iter_mut().enumerate() {
            *value = value.min(self.force.at(taxel).si());
        }
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
