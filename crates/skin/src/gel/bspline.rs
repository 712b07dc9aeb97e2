//! Displacement gradients at the particles of eight cells at a time, and their transpose, by tensor-product quadratic
//! B-splines.

use super::reference_grid::{LANES, ReferenceGrid};
use crate::simd::F64x8;

/// Gradients at the eight particles of a cell, by particle, component, direction.
pub(crate) type Gradients<T> = [[[T; 3]; 3]; 8];

#[inline(always)]
fn at<T: F64x8>(values: &[f64], index: usize) -> T {
    let mut here = [0.0; LANES];
    here.copy_from_slice(&values[index..index + LANES]);
    T::load(&here)
}

/// Quadratic B-splines of the three nodes at −¼ and ¼ of a cell, and their derivatives times the cell's edge.
pub(crate) const W: [[f64; 3]; 2] = [[0.28125, 0.6875, 0.03125], [0.03125, 0.6875, 0.28125]];
pub(crate) const D: [[f64; 3]; 2] = [[-0.75, 0.5, 0.25], [-0.25, -0.5, 0.75]];

/// Offsets of a row of cells to its nodes, from the first of its three y-planes.
#[derive(Clone, Copy)]
pub(crate) struct Row {
    plane: usize,
    component: usize,
    stride: usize,
    inverse: [f64; 3],
}

impl Row {
    pub fn new(grid: &ReferenceGrid) -> Self {
        Self {
            plane: grid.plane(),
            component: grid.component(),
            stride: grid.stride,
            inverse: [1.0 / grid.cell_m.x, 1.0 / grid.cell_m.y, 1.0 / grid.cell_m.z],
        }
    }

    /// ∂u/∂X at the particles of cells `x … x + 7` in layer `z`.
    #[inline(always)]
    pub fn gradients<T: F64x8>(&self, u: &[f64], z: usize, x: usize, out: &mut Gradients<T>) {
        let zero = T::splat(0.0);
        for c in 0..3 {
            let mut value = [[[zero; 2]; 3]; 3];
            let mut slope = [[[zero; 2]; 3]; 3];
            for d in 0..3 {
                for b in 0..3 {
                    let first = b * self.plane + c * self.component + (z + d) * self.stride + x;
                    for a in 0..3 {
                        let node: T = at(u, first + a);
                        for q in 0..2 {
                            value[d][b][q] = node.mul_add(T::splat(W[q][a]), value[d][b][q]);
                            slope[d][b][q] = node.mul_add(T::splat(D[q][a] * self.inverse[0]), slope[d][b][q]);
                        }
                    }
                }
            }
            for q in 0..2 {
                for r in 0..2 {
                    let (mut along_x, mut along_y, mut flat) = ([zero; 3], [zero; 3], [zero; 3]);
                    for d in 0..3 {
                        for b in 0..3 {
                            along_x[d] = slope[d][b][q].mul_add(T::splat(W[r][b]), along_x[d]);
                            along_y[d] = value[d][b][q].mul_add(T::splat(D[r][b] * self.inverse[1]), along_y[d]);
                            flat[d] = value[d][b][q].mul_add(T::splat(W[r][b]), flat[d]);
                        }
                    }
                    for s in 0..2 {
                        let gradient = &mut out[q + 2 * r + 4 * s][c];
                        *gradient = [zero; 3];
                        for d in 0..3 {
                            gradient[0] = along_x[d].mul_add(T::splat(W[s][d]), gradient[0]);
                            gradient[1] = along_y[d].mul_add(T::splat(W[s][d]), gradient[1]);
                            gradient[2] = flat[d].mul_add(T::splat(D[s][d] * self.inverse[2]), gradient[2]);
                        }
                    }
                }
            }
        }
    }

    /// Adds the nodal forces of the particles' stresses times volumes: the transpose of [`Self::gradients`].
    #[inline(always)]
    pub fn spread<T: F64x8>(&self, stress: &Gradients<T>, z: usize, x: usize, out: &mut [f64]) {
        let zero = T::splat(0.0);
        for c in 0..3 {
            let mut value = [[[zero; 2]; 3]; 3];
            let mut slope = [[[zero; 2]; 3]; 3];
            for q in 0..2 {
                for r in 0..2 {
                    let (mut along_x, mut along_y, mut flat) = ([zero; 3], [zero; 3], [zero; 3]);
                    for s in 0..2 {
                        let stress = &stress[q + 2 * r + 4 * s][c];
                        for d in 0..3 {
                            along_x[d] = stress[0].mul_add(T::splat(W[s][d]), along_x[d]);
                            along_y[d] = stress[1].mul_add(T::splat(W[s][d]), along_y[d]);
                            flat[d] = stress[2].mul_add(T::splat(D[s][d] * self.inverse[2]), flat[d]);
                        }
                    }
                    for d in 0..3 {
                        for b in 0..3 {
                            value[d][b][q] = flat[d].mul_add(T::splat(W[r][b]), value[d][b][q]);
                            value[d][b][q] = along_y[d].mul_add(T::splat(D[r][b] * self.inverse[1]), value[d][b][q]);
                            slope[d][b][q] = along_x[d].mul_add(T::splat(W[r][b]), slope[d][b][q]);
                        }
                    }
                }
            }
            for d in 0..3 {
                for b in 0..3 {
                    let first = b * self.plane + c * self.component + (z + d) * self.stride + x;
                    for a in 0..3 {
                        let mut node: T = at(out, first + a);
                        for q in 0..2 {
                            node = value[d][b][q].mul_add(T::splat(W[q][a]), node);
                            node = slope[d][b][q].mul_add(T::splat(D[q][a] * self.inverse[0]), node);
                        }
                        let mut sum = [0.0; LANES];
                        node.store(&mut sum);
                        out[first + a..first + a + LANES].copy_from_slice(&sum);
                    }
                }
            }
        }
    }
}
