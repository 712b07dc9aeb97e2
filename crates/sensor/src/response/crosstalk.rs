//! Electrical crosstalk between taxels.

use super::error::require;
use super::{ResponseError, Stage};
use crate::{Taxels, Weights};
use dermis_geometry::TriMesh;
use dermis_geometry::quantity::Length;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Electrical leakage: every taxel also reads a fraction of the values of others. Unlike the spread, it increases the
/// sum.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Crosstalk {
    /// Fraction of the value of a neighbour: adjacent in the row or column or, without a grid, within `reach`.
    pub adjacent: f64,
    /// Fraction of the value of a diagonal neighbour.
    pub diagonal: f64,
    /// Fraction of the values of all others on the same row or column wire (shared wires of a resistive matrix).
    pub line: f64,
    /// Radius of the neighbourhood for taxels without a grid.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reach: Option<Length>,
}

impl Crosstalk {
    /// The matrix for these taxels: one on the diagonal, leakage off the diagonal.
    pub fn weights(&self, taxels: &Taxels) -> Result<Weights, ResponseError> {
        let n = taxels.len();
        self.validate(n)?;
        let heard = |i: usize, j: usize| -> Result<f64, ResponseError> {
            if i == j {
                return Ok(1.0);
            }
            if let Some((_, cols)) = taxels.size() {
                let (rows_apart, cols_apart) = ((i / cols).abs_diff(j / cols), (i % cols).abs_diff(j % cols));
                let near = match (rows_apart, cols_apart) {
                    (0, 1) | (1, 0) => self.adjacent,
                    (1, 1) => self.diagonal,
                    _ => 0.0,
                };
                return Ok(near + if rows_apart == 0 || cols_apart == 0 { self.line } else { 0.0 });
            }
            if self.diagonal != 0.0 || self.line != 0.0 {
                return Err(ResponseError::NeedsGrid { key: "crosstalk", remedy: "give `adjacent` and `reach` only" });
            }
            let reach = self.reach.ok_or(ResponseError::NeedsGrid { key: "crosstalk", remedy: "give `reach`" })?.si();
            let near = taxels.centers()[i].distance_squared(taxels.centers()[j]) <= reach * reach;
            Ok(if near { self.adjacent } else { 0.0 })
        };
        let mut entries = Vec::new();
        for i in 0..n {
            for j in 0..n {
                let weight = heard(i, j)?;
                if weight != 0.0 {
                    entries.push((i, j, weight));
                }
            }
        }
        Ok(Weights::new(n, entries))
    }
}

impl Stage for Crosstalk {
    fn validate(&self, _: usize) -> Result<(), ResponseError> {
        for (key, got) in [
            ("crosstalk.adjacent", self.adjacent),
            ("crosstalk.diagonal", self.diagonal),
            ("crosstalk.line", self.line),
        ] {
            require((-1.0..=1.0).contains(&got), key, "from -1 to 1", got)?;
        }
        let reach = self.reach.map_or(1.0, Length::si);
        require(reach > 0.0, "crosstalk.reach", "a positive length", reach)
    }

    fn prepare(&self, taxels: &Taxels, _: Option<&TriMesh>) -> Result<Option<Arc<dyn Stage>>, ResponseError> {
        Ok(Some(Arc::new(self.weights(taxels)?)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dermis_geometry::Vec3;

    #[test]
    fn neighbours_are_heard() {
        let crosstalk = Crosstalk { adjacent: 0.1, diagonal: 0.01, line: 0.001, reach: None };
        let weights = crosstalk.weights(&Taxels::grid(3, 4, 1e-3)).unwrap();
        let mut values = [0.0; 12];
        values[5] = 1.0;
        let truth = [0.01, 0.101, 0.01, 0.0, 0.101, 1.0, 0.101, 0.001, 0.01, 0.101, 0.01, 0.0];
        for (got, truth) in weights.apply(&values).iter().zip(truth) {
            assert!((got - truth).abs() < 1e-15);
        }
        let scattered = Taxels::points(vec![Vec3::ZERO, Vec3::X * 1e-3], vec![Vec3::Z; 2], vec![1e-6; 2], 1e-3);
        assert!(crosstalk.weights(&scattered).is_err());
        let near = Crosstalk { adjacent: 0.1, reach: Some(Length::new(2e-3)), ..Crosstalk::default() };
        assert_eq!(near.weights(&scattered).unwrap().apply(&[1.0, 0.0]), [1.0, 0.1]);
    }
}
