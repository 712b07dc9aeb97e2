//! The stress on the bottom of a block, where it is bonded.

use super::lattice::Lattice;
use super::view::View;
use crate::SurfaceField;
use dermis_geometry::Vec3;

/// From the forces on the columns of nodes over the bottom to a stress on the cells of a view. A force on a column is ∫ N t dA of the
/// stress t with the column's spline N. It is given back by that spline, so that the sum is kept, and even and linear stresses as well.
#[derive(Clone, Debug)]
pub(super) struct Base {
    /// Columns along x and y: one before and one behind the cells.
    pub columns: [usize; 2],
    depth_m: f64,
    /// For each cell of the view, the first of its columns along x and y, and the weights of three.
    cells: Vec<([usize; 2], [[f64; 3]; 2])>,
    /// One by the sum of a column's weights.
    share: Vec<f64>,
}

impl Base {
    pub fn new(lattice: &Lattice, view: &View) -> Self {
        let columns = [lattice.cells[0] + 2, lattice.cells[1] + 2];
        let cells: Vec<_> = view
            .places()
            .map(|place| {
                let (cell, weights) = lattice.cell_and_weights(place);
                ([cell[0], cell[1]], [weights[0], weights[1]])
            })
            .collect();
        let mut sums = vec![0.0; columns[0] * columns[1]];
        for cell in &cells {
            each(columns, cell, |column, weight| sums[column] += weight);
        }
        let share = sums.iter().map(|&sum| if sum > 0.0 { 1.0 / sum } else { 0.0 }).collect();
        Self { columns, depth_m: -lattice.origin.z, cells, share }
    }

    /// The stress (Pa) from forces (N) on the columns, row by row along x.
    pub fn field(&self, view: &View, forces: &[Vec3]) -> SurfaceField {
        let forces = self.sharpened(forces);
        let area_m2 = view.cell_m * view.cell_m;
        let values = self
            .cells
            .iter()
            .map(|cell| {
                let mut sum = Vec3::ZERO;
                each(self.columns, cell, |column, weight| sum += forces[column] * (weight * self.share[column]));
                sum / area_m2
            })
            .collect();
        SurfaceField {
            rows: view.rows,
            cols: view.cols,
            cell_m: view.cell_m,
            center: view.center - Vec3::Z * self.depth_m,
            values,
            rest_heights_m: None,
        }
    }

    /// A spline has a variance of a quarter of a cell along each axis. Taking the stress by splines and giving it back by them, half a cell,
    /// widens it by a quarter of its second derivative: that is taken back, as a flux between neighbours so that nothing is lost.
    fn sharpened(&self, forces: &[Vec3]) -> Vec<Vec3> {
        let mut sharp = forces.to_vec();
        for (along, count) in [(1, self.columns[0]), (self.columns[0], self.columns[1])] {
            let even: Vec<Vec3> = sharp.iter().zip(&self.share).map(|(force, share)| *force * *share).collect();
            for column in 0..sharp.len() - along {
                if column / along % count + 1 < count && self.share[column] > 0.0 && self.share[column + along] > 0.0 {
                    let area = 1.0 / self.share[column].max(self.share[column + along]);
                    let flux = (even[column + along] - even[column]) * (0.25 * area);
                    sharp[column] -= flux;
                    sharp[column + along] += flux;
                }
            }
        }
        sharp
    }
}

fn each(columns: [usize; 2], (first, weights): &([usize; 2], [[f64; 3]; 2]), mut visit: impl FnMut(usize, f64)) {
    for (j, wy) in weights[1].iter().enumerate() {
        for (i, wx) in weights[0].iter().enumerate() {
            visit((first[1] + j) * columns[0] + first[0] + i, wx * wy);
        }
    }
}
