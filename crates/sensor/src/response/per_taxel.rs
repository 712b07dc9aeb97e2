//! One value for all taxels, or one for each.

use super::ResponseError;
use serde::{Deserialize, Serialize};

/// One value for all taxels, or one for each.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(untagged, expecting = "one value (with its unit, if it has one) or a list with a value for every taxel")]
pub enum PerTaxel<T> {
    /// The same value for all taxels.
    All(T),
    /// One value per taxel, in the order of the taxels.
    Each(Vec<T>),
}

impl<T: Copy> PerTaxel<T> {
    /// The value of a taxel.
    pub fn at(&self, taxel: usize) -> T {
        match self {
            Self::All(value) => *value,
            Self::Each(values) => values[taxel],
        }
    }

    /// All listed values.
    pub fn values(&self) -> &[T] {
        match self {
            Self::All(value) => std::slice::from_ref(value),
            Self::Each(values) => values,
        }
    }

    /// Returns an error for a list whose length is not the number of taxels.
    pub fn check(&self, key: &'static str, taxels: usize) -> Result<(), ResponseError> {
        match self {
            Self::Each(values) if values.len() != taxels => {
                Err(ResponseError::Length { key, got: values.len(), expected: taxels })
            }
            _ => Ok(()),
        }
    }
}
