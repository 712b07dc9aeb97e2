//! Stress on the fixed bottom of a block.

use super::reference_grid::ReferenceGrid;
use super::surface_grid::SurfaceGrid;
use crate::SurfaceField;
use dermis_geometry::Vec3;

/// Converts forces on the columns of nodes over the bottom to stresses on the cells of the output grid. The force on a
/// column is ∫ N t dA of the stress t with the spline N of the column. The same spline distributes it, which conserves
/// the sum and reproduces linear stresses.
#[derive(Clone, Debug)]
pub(super) struct BaseStress {
    /// Number of columns along x and y: two more than cells.
    pub columns: [usize; 2],
    depth_m: f64,
    /// For each output cell, the first of its columns along x and y, and the weights of three columns.
    cells: Vec<([usize; 2], [[f64; 3]; 2])>,
    /// Inverse of the sum of the weights of each column.
    share: Vec<f64>,
}

impl BaseStress {
    pub fn new(grid: &ReferenceGrid, surface: &SurfaceGrid) -> Self {
        let columns = [grid.cells[0] + 2, grid.cells[1] + 2];
        let cells: Vec<_> = surface
            .points()
            .map(|point| {
                let (cell, weights) = grid.cell_and_weights(point);
                ([cell[0], cell[1]], [weights[0], weights[1]])
            })
            .collect();
        let mut sums = vec![0.0; columns[0] * columns[1]];
        for cell in &cells {
            each_column(columns, cell, |column, weight| sums[column] += weight);
        }
        let share = sums.iter().map(|&sum| if sum > 0.0 { 1.0 / sum } else { 0.0 }).collect();
        Self { columns, depth_m: -grid.origin.z, cells, share }
    }

    /// Stress (Pa) from forces (N) on the columns, row by row along x.
    pub fn field(&self, surface: &SurfaceGrid, forces: &[Vec3]) -> SurfaceField {
        let forces = self.sharpened(forces);
        let area_m2 = surface.plane.cell_m * surface.plane.cell_m;
        let values = self
            .cells
            .iter()
            .map(|cell| {
                let mut sum = Vec3::ZERO;
                each_column(self.columns, cell, |column, weight| sum += forces[column] * (weight * self.share[column]));
                sum / area_m2
            })
            .collect();
        SurfaceField { center: surface.plane.center - Vec3::Z * self.depth_m, values, ..surface.plane.clone() }
    }

    /// Derivatives of a scalar by the forces on the columns, from those by the stress of each output cell: the transpose
    /// of [`Self::field`].
    pub fn by_forces(&self, surface: &SurfaceGrid, by_stress: &[Vec3]) -> Vec<Vec3> {
        let area_m2 = surface.plane.cell_m * surface.plane.cell_m;
        let mut by = vec![Vec3::ZERO; self.share.len()];
        for (cell, by_stress) in self.cells.iter().zip(by_stress) {
            let visit = |column: usize, weight: f64| by[column] += *by_stress * (weight * self.share[column] / area_m2);
            each_column(self.columns, cell, visit);
        }
        for (along, count) in self.axes().into_iter().rev() {
            let mut by_even = vec![Vec3::ZERO; by.len()];
            self.each_flux(along, count, |column, factor| {
                let by_flux = (by[column + along] - by[column]) * factor;
                by_even[column] -= by_flux;
                by_even[column + along] += by_flux;
            });
            by.iter_mut().zip(by_even).zip(&self.share).for_each(|((by, even), share)| *by += even * *share);
        }
        by
    }

    /// Removes the smoothing of the two spline averages, a quarter of the second derivative along each axis, by a flux
    /// between neighbours that conserves the sum.
    fn sharpened(&self, forces: &[Vec3]) -> Vec<Vec3> {
        let mut sharp = forces.to_vec();
        for (along, count) in self.axes() {
            let even: Vec<Vec3> = sharp.iter().zip(&self.share).map(|(force, share)| *force * *share).collect();
            self.each_flux(along, count, |column, factor| {
                let flux = (even[column + along] - even[column]) * factor;
                sharp[column] -= flux;
                sharp[column + along] += flux;
            });
        }
        sharp
    }

    /// Distance of neighbouring columns along x and y in the list, and their number.
    fn axes(&self) -> [(usize, usize); 2] {
        [(1, self.columns[0]), (self.columns[0], self.columns[1])]
    }

    /// Visits all columns that exchange a flux with the next one along an axis, with the flux by the difference of force
    /// times share.
    fn each_flux(&self, along: usize, count: usize, mut visit: impl FnMut(usize, f64)) {
        for column in 0..self.share.len() - along {
            let shares = [self.share[column], self.share[column + along]];
            if column / along % count + 1 < count && shares.iter().all(|share| *share > 0.0) {
                visit(column, 0.25 / shares[0].max(shares[1]));
            }
        }
    }
}

fn each_column(columns: [usize; 2], (first, weights): &([usize; 2], [[f64; 3]; 2]), mut visit: impl FnMut(usize, f64)) {
    for (j, wy) in weights[1].iter().enumerate() {
        for (i, wx) in weights[0].iter().enumerate() {
            visit((first[1] + j) * columns[0] + first[0] + i, wx * wy);
        }
    }
}
