//! The point spread of a soft cover, which distributes the load on one taxel over its neighbours.

mod geodesic;

pub use geodesic::Geodesic;

use crate::response::{Operation, OperationKind, ResponseError, ResponseState, Stage, Step};
use crate::{Taxels, Weights};
use dermis_geometry::TriMesh;
use dermis_geometry::quantity::Length;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// The description of a point spread. Exactly one of `sigma`, `sigma_taxels` and `weights`.
///
/// Kappassov et al. 2020, eq. (1): a convolution of the taxels' forces with g ∝ exp(−d²/2σ²) on a kernel of a × a
/// taxels. Differs from the paper: its kernel (σ = 0.5, 3 × 3) sums to 1.028 and loses load at the border; here the
/// shares of every taxel are scaled to sum to one. For taxels without a grid, d is the distance along the surface and
/// the share of a neighbour is proportional to its area.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Spread {
    /// σ as a length.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sigma: Option<Length>,
    /// σ in taxels: the pitch of a grid, or the root of the mean area of a taxel.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sigma_taxels: Option<f64>,
    /// Size of the kernel: odd. A layout without a grid is cut off at the distance of the kernel's corner.
    #[serde(default = "three")]
    pub kernel: usize,
    /// A custom kernel for grids: rows of weights, odd in both directions, scaled to sum to one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weights: Option<Vec<Vec<f64>>>,
}

fn three() -> usize {
    3
}

/// Maximum size of a kernel.
const LARGEST_KERNEL: usize = 101;

impl Spread {
    /// A Gaussian with σ in taxels.
    pub fn gaussian(sigma_taxels: f64, kernel: usize) -> Self {
        Self { sigma: None, sigma_taxels: Some(sigma_taxels), kernel, weights: None }
    }

    /// The matrix for these taxels. Without a grid, distances are measured along `surface`.
    pub fn weights(&self, taxels: &Taxels, surface: Option<&TriMesh>) -> Result<Weights, ResponseError> {
        Ok(Weights::new(taxels.len(), keep_load(taxels.len(), self.entries(taxels, surface)?)))
    }

    /// Unscaled entries (to, from, weight) of the matrix.
    fn entries(&self, taxels: &Taxels, surface: Option<&TriMesh>) -> Result<Vec<(usize, usize, f64)>, ResponseError> {
        self.validate(taxels.len())?;
        match (taxels.size(), taxels.pitch_m()) {
            (Some((rows, cols)), Some(pitch_m)) => Ok(self.on_grid(rows, cols, pitch_m)),
            _ => self.on_surface(taxels, surface),
        }
    }

    /// Key of σ and the derivative of the matrix by it, from the unscaled entries; `None` for a custom kernel.
    ///
    /// The derivative of ln g = −d²/2σ² is l = −2 ln g/σ, and that of a share w is w (l − Σ w l).
    fn slope(&self, taxels: &Taxels, mut entries: Vec<(usize, usize, f64)>) -> Option<(&'static str, Weights)> {
        let (key, sigma) = match (self.sigma, self.sigma_taxels) {
            (Some(sigma), _) => ("sigma", sigma.si()),
            (None, Some(sigma)) => ("sigma_taxels", sigma),
            (None, None) => return None,
        };
        entries.retain(|(_, _, weight)| *weight > 0.0);
        let area_m2 = |to: usize| if taxels.size().is_some() { 1.0 } else { taxels.areas_m2()[to] };
        let logs: Vec<f64> =
            entries.iter().map(|(to, _, weight)| -2.0 * (weight / area_m2(*to)).ln() / sigma).collect();
        let mut entries = keep_load(taxels.len(), entries);
        let mut means = vec![0.0; taxels.len()];
        entries.iter().zip(&logs).for_each(|((_, from, weight), log)| means[*from] += weight * log);
        entries.iter_mut().zip(&logs).for_each(|((_, from, weight), log)| *weight *= log - means[*from]);
        Some((key, Weights::new(taxels.len(), entries)))
    }

    fn on_grid(&self, rows: usize, cols: usize, pitch_m: f64) -> Vec<(usize, usize, f64)> {
        let kernel = self.kernel_weights(pitch_m);
        let (middle_row, middle_col) = (kernel.len() / 2, kernel[0].len() / 2);
        let mut entries = Vec::new();
        for from in 0..rows * cols {
            for (a, weights) in kernel.iter().enumerate() {
                for (b, &weight) in weights.iter().enumerate() {
                    let row = (from / cols + a).checked_sub(middle_row).filter(|&row| row < rows);
                    let col = (from % cols + b).checked_sub(middle_col).filter(|&col| col < cols);
                    if let (Some(row), Some(col)) = (row, col) {
                        entries.push((row * cols + col, from, weight));
                    }
                }
            }
        }
        entries
    }

    /// Unscaled weights of the kernel on a grid.
    fn kernel_weights(&self, pitch_m: f64) -> Vec<Vec<f64>> {
        if let Some(weights) = &self.weights {
            return weights.clone();
        }
        let sigma = self.sigma.map(|sigma| sigma.si() / pitch_m).or(self.sigma_taxels).unwrap_or(1.0);
        let half = (self.kernel / 2) as f64;
        let g = |a: usize| (-0.5 * ((a as f64 - half) / sigma).powi(2)).exp();
        (0..self.kernel).map(|a| (0..self.kernel).map(|b| g(a) * g(b)).collect()).collect()
    }

    fn on_surface(
        &self,
        taxels: &Taxels,
        surface: Option<&TriMesh>,
    ) -> Result<Vec<(usize, usize, f64)>, ResponseError> {
        if self.weights.is_some() {
            return Err(ResponseError::NeedsGrid { key: "spread.weights", remedy: "give `sigma` instead" });
        }
        let areas = taxels.areas_m2();
        let spacing_m = (areas.iter().sum::<f64>() / areas.len().max(1) as f64).sqrt();
        let sigma_m = self.sigma.map(Length::si).or(self.sigma_taxels.map(|sigma| sigma * spacing_m)).unwrap_or(1.0);
        // Extends slightly beyond the corner of the kernel, because distances in a mesh are uneven.
        let reach_m = 1.05 * std::f64::consts::SQRT_2 * (self.kernel / 2) as f64 * spacing_m;
        let distances = Geodesic::between(taxels.centers(), surface, reach_m);
        let weight = |to: usize, d: f64| areas[to] * (-0.5 * (d / sigma_m).powi(2)).exp();
        Ok(distances
            .iter()
            .enumerate()
            .flat_map(|(from, near)| near.iter().map(move |&(to, d)| (to, from, weight(to, d))))
            .collect())
    }
}

/// Scales the shares of each taxel to sum to one.
fn keep_load(taxels: usize, mut entries: Vec<(usize, usize, f64)>) -> Vec<(usize, usize, f64)> {
    let mut given = vec![0.0; taxels];
    for &(_, from, weight) in &entries {
        given[from] += weight;
    }
    for (_, from, weight) in &mut entries {
        *weight /= given[*from];
    }
    entries
}

impl Stage for Spread {
    fn validate(&self, _: usize) -> Result<(), ResponseError> {
        let bad = |key, rule, got| Err(ResponseError::Bad { key, rule, got });
        let given = [self.sigma.is_some(), self.sigma_taxels.is_some(), self.weights.is_some()];
        let count = given.iter().filter(|&&given| given).count();
        if count != 1 {
            return bad("spread", "given by exactly one of `sigma`, `sigma_taxels` and `weights`", count as f64);
        }
        let sigma = self.sigma.map(Length::si).or(self.sigma_taxels).unwrap_or(1.0);
        if !(sigma > 0.0 && sigma.is_finite()) {
            return bad("spread.sigma", "positive", sigma);
        }
        if self.kernel.is_multiple_of(2) || self.kernel > LARGEST_KERNEL {
            return bad("spread.kernel", "an odd number of taxels, at most 101", self.kernel as f64);
        }
        if let Some(rows) = &self.weights {
            let width = rows.first().map_or(0, Vec::len);
            if rows.len().is_multiple_of(2) || width.is_multiple_of(2) || rows.len().max(width) > LARGEST_KERNEL {
                return bad("spread.weights", "odd in rows and columns", rows.len() as f64);
            }
            if let Some(row) = rows.iter().find(|row| row.len() != width) {
                return bad("spread.weights", "as wide in every row as in the first", row.len() as f64);
            }
            if let Some(&weight) = rows.iter().flatten().find(|weight| !(weight.is_finite() && **weight >= 0.0)) {
                return bad("spread.weights", "zero or positive throughout", weight);
            }
            if rows[rows.len() / 2][width / 2] <= 0.0 {
                return bad("spread.weights", "positive in the middle", rows[rows.len() / 2][width / 2]);
            }
        }
        Ok(())
    }

    fn prepare(&self, taxels: &Taxels, surface: Option<&TriMesh>) -> Result<Option<Arc<dyn Stage>>, ResponseError> {
        let entries = self.entries(taxels, surface)?;
        let slope = self.slope(taxels, entries.clone());
        let weights = Weights::new(taxels.len(), keep_load(taxels.len(), entries));
        Ok(Some(Arc::new(SpreadMatrix { weights, slope })))
    }
}

/// The matrix of a spread, and its derivative by σ with the key of σ.
#[derive(Debug)]
struct SpreadMatrix {
    weights: Weights,
    slope: Option<(&'static str, Weights)>,
}

impl Stage for SpreadMatrix {
    fn step(&self, values: &mut Vec<f64>, _: &mut ResponseState, step: &Step) {
        let (spread, scale) = (self.weights.apply(values), step.scales.spread);
        if scale == 1.0 {
            *values = spread;
            return;
        }
        values.iter_mut().zip(&spread).for_each(|(own, spread)| *own += scale * (spread - *own));
    }

    fn operation(&self, _: usize) -> Option<Operation> {
        Some(Operation::sum(OperationKind::Spread, &self.weights))
    }

    fn vjp(&self, values: &[f64], by_values: &mut Vec<f64>) -> Vec<(&'static str, Vec<f64>)> {
        let by_sigma = self.slope.iter().map(|(key, slope)| {
            (*key, vec![slope.apply(values).iter().zip(&*by_values).map(|(value, by)| value * by).sum()])
        });
        let by_sigma = by_sigma.collect();
        self.weights.vjp(values, by_values);
        by_sigma
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dermis_geometry::{Random, shapes};

    fn random_values(n: usize) -> Vec<f64> {
        let mut random = Random::new(17);
        (0..n).map(|_| random.between(0.0, 2.0)).collect()
    }

    /// Away from the border, eq. (1) with σ = 0.5 on 3 × 3: weights exp(−d²/2σ²) divided by their sum.
    #[test]
    fn the_papers_kernel_is_there_scaled() {
        let weights = Spread::gaussian(0.5, 3).weights(&Taxels::grid(14, 6, 3.4e-3), None).unwrap();
        let (side, corner) = ((-2f64).exp(), (-4f64).exp());
        let sum = 1.0 + 4.0 * side + 4.0 * corner;
        // With the printed factor 1/(2πσ²) the kernel sums to 1.028.
        let printed = sum / (std::f64::consts::TAU * 0.25);
        assert!((printed - 1.028).abs() < 1e-3, "{printed}");
        let middle = 7 * 6 + 3;
        for (to, truth) in [(middle, 1.0), (middle + 1, side), (middle - 6, side), (middle + 7, corner)] {
            assert!((weights.get(to, middle) - truth / sum).abs() < 1e-15);
        }
        assert_eq!(weights.get(middle + 2, middle), 0.0);
    }

    /// Load is conserved, including at borders and corners and on curved layouts.
    #[test]
    fn load_is_conserved_to_1e_12() {
        let cap = shapes::spherical_patch(20e-3, 0.9, 2e-3).unwrap();
        let curved = Taxels::points(cap.vertices().to_vec(), cap.vertex_normals(), cap.vertex_areas_m2(), 2e-3);
        let grids = [(14, 6), (1, 1), (2, 7), (40, 40)].map(|(rows, cols)| Taxels::grid(rows, cols, 3.4e-3));
        for taxels in grids.iter().chain([&curved]) {
            for (sigma, kernel) in [(0.3, 3), (0.5, 3), (1.5, 5), (3.0, 7), (1.0, 1)] {
                let values = random_values(taxels.len());
                let weights = Spread::gaussian(sigma, kernel).weights(taxels, Some(&cap)).unwrap();
                let (before, after): (f64, f64) = (values.iter().sum(), weights.apply(&values).iter().sum());
                assert!((after / before - 1.0).abs() < 1e-12, "σ = {sigma}: {before} N became {after} N");
            }
        }
    }

    /// On a flat mesh with the same positions, the curved spread equals that of the grid up to the error of graph
    /// distances.
    #[test]
    fn a_flat_mesh_spreads_like_a_grid() {
        let mesh = shapes::grid(9, 9, 2e-3).unwrap();
        let n = mesh.vertices().len();
        let scattered = Taxels::points(mesh.vertices().to_vec(), mesh.vertex_normals(), vec![4e-6; n], 2e-3);
        let grid = Spread::gaussian(0.7, 3).weights(&Taxels::grid(9, 9, 2e-3), None).unwrap();
        let curved = Spread::gaussian(0.7, 3).weights(&scattered, Some(&mesh)).unwrap();
        let middle = 4 * 9 + 4;
        for to in 0..n {
            let (a, b) = (grid.get(to, middle), curved.get(to, middle));
            assert!((a - b).abs() < 1e-3, "{to}: {a} {b}");
        }
    }

    #[test]
    fn nonsense_is_refused() {
        let both = Spread { sigma: Some(Length::new(1e-3)), ..Spread::gaussian(0.5, 3) };
        assert!(both.validate(9).unwrap_err().to_string().contains("exactly one"));
        assert!(Spread::gaussian(0.5, 4).validate(9).unwrap_err().to_string().contains("odd"));
        assert!(Spread::gaussian(-0.5, 3).validate(9).is_err());
        assert!(Spread::gaussian(f64::NAN, 3).validate(9).is_err());
    }
}
