//! Gradients at the particles of eight cells at once, and their transpose, factor by factor.

use super::lattice::{LANES, Lattice};

/// A number for each of eight cells side by side.
pub(crate) type V = [f64; LANES];
/// A gradient for each of the eight particles of a cell: particle, component, direction.
pub(crate) type Gradients = [[[V; 3]; 3]; 8];

pub(crate) const ZERO: V = [0.0; LANES];

/// Quadratic B-splines of the three nodes at −¼ and ¼ of a cell, and their slopes times the cell's edge.
const W: [[f64; 3]; 2] = [[0.28125, 0.6875, 0.03125], [0.03125, 0.6875, 0.28125]];
const D: [[f64; 3]; 2] = [[-0.75, 0.5, 0.25], [-0.25, -0.5, 0.75]];

/// a + b c.
#[inline(always)]
pub(crate) fn add_mul<const FMA: bool>(a: &mut V, b: f64, c: &V) {
    for l in 0..LANES {
        a[l] = if FMA { b.mul_add(c[l], a[l]) } else { a[l] + b * c[l] };
    }
}

/// Where a row of cells finds its nodes, from the first of its three planes.
#[derive(Clone, Copy)]
pub(crate) struct Row {
    pub plane: usize,
    pub component: usize,
    pub stride: usize,
    pub inverse: [f64; 3],
}

impl Row {
    pub fn new(lattice: &Lattice) -> Self {
        Self {
            plane: lattice.plane(),
            component: lattice.component(),
            stride: lattice.stride,
            inverse: [1.0 / lattice.cell_m.x, 1.0 / lattice.cell_m.y, 1.0 / lattice.cell_m.z],
        }
    }

    /// ∂u/∂X at the particles of cells `x … x + 7` at height `z`.
    #[inline(always)]
    pub fn gradients<const FMA: bool>(&self, u: &[f64], z: usize, x: usize, out: &mut Gradients) {
        for c in 0..3 {
            let mut value = [[[ZERO; 2]; 3]; 3];
            let mut slope = [[[ZERO; 2]; 3]; 3];
            for d in 0..3 {
                for b in 0..3 {
                    let at = b * self.plane + c * self.component + (z + d) * self.stride + x;
                    for a in 0..3 {
                        let mut node = ZERO;
                        node.copy_from_slice(&u[at + a..at + a + LANES]);
                        for q in 0..2 {
                            add_mul::<FMA>(&mut value[d][b][q], W[q][a], &node);
                            add_mul::<FMA>(&mut slope[d][b][q], D[q][a] * self.inverse[0], &node);
                        }
                    }
                }
            }
            for q in 0..2 {
                for r in 0..2 {
                    let (mut along_x, mut along_y, mut flat) = ([ZERO; 3], [ZERO; 3], [ZERO; 3]);
                    for d in 0..3 {
                        for b in 0..3 {
                            add_mul::<FMA>(&mut along_x[d], W[r][b], &slope[d][b][q]);
                            add_mul::<FMA>(&mut along_y[d], D[r][b] * self.inverse[1], &value[d][b][q]);
                            add_mul::<FMA>(&mut flat[d], W[r][b], &value[d][b][q]);
                        }
                    }
                    for s in 0..2 {
                        let gradient = &mut out[q + 2 * r + 4 * s][c];
                        *gradient = [ZERO; 3];
                        for d in 0..3 {
                            add_mul::<FMA>(&mut gradient[0], W[s][d], &along_x[d]);
                            add_mul::<FMA>(&mut gradient[1], W[s][d], &along_y[d]);
                            add_mul::<FMA>(&mut gradient[2], D[s][d] * self.inverse[2], &flat[d]);
                        }
                    }
                }
            }
        }
    }

    /// Adds to the nodes what the particles' stresses (times their volumes) do: the transpose of [`Self::gradients`].
    #[inline(always)]
    pub fn spread<const FMA: bool>(&self, stress: &Gradients, z: usize, x: usize, out: &mut [f64]) {
        for c in 0..3 {
            let mut value = [[[ZERO; 2]; 3]; 3];
            let mut slope = [[[ZERO; 2]; 3]; 3];
            for q in 0..2 {
                for r in 0..2 {
                    let (mut along_x, mut along_y, mut flat) = ([ZERO; 3], [ZERO; 3], [ZERO; 3]);
                    for s in 0..2 {
                        let stress = &stress[q + 2 * r + 4 * s][c];
                        for d in 0..3 {
                            add_mul::<FMA>(&mut along_x[d], W[s][d], &stress[0]);
                            add_mul::<FMA>(&mut along_y[d], W[s][d], &stress[1]);
                            add_mul::<FMA>(&mut flat[d], D[s][d] * self.inverse[2], &stress[2]);
                        }
                    }
                    for d in 0..3 {
                        for b in 0..3 {
                            add_mul::<FMA>(&mut value[d][b][q], W[r][b], &flat[d]);
                            add_mul::<FMA>(&mut value[d][b][q], D[r][b] * self.inverse[1], &along_y[d]);
                            add_mul::<FMA>(&mut slope[d][b][q], W[r][b], &along_x[d]);
                        }
                    }
                }
            }
            for d in 0..3 {
                for b in 0..3 {
                    let at = b * self.plane + c * self.component + (z + d) * self.stride + x;
                    for a in 0..3 {
                        let mut node = ZERO;
                        node.copy_from_slice(&out[at + a..at + a + LANES]);
                        for q in 0..2 {
                            add_mul::<FMA>(&mut node, W[q][a], &value[d][b][q]);
                            add_mul::<FMA>(&mut node, D[q][a] * self.inverse[0], &slope[d][b][q]);
                        }
                        out[at + a..at + a + LANES].copy_from_slice(&node);
                    }
                }
            }
        }
    }
}
