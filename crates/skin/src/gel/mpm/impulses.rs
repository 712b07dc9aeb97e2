//! Contact impulses on the grid between two transfers.

use super::solver::MpmSolver;
use dermis_geometry::{Mat3, Vec3};

/// Access to the grid velocities between two transfers, for contact.
pub(crate) struct GridImpulses<'a> {
    pub(super) solver: &'a mut MpmSolver,
}

impl GridImpulses<'_> {
    /// Position (m) and deformation gradient of a particle.
    pub fn particle(&self, particle: usize) -> (Vec3, Mat3) {
        self.solver.particle(particle)
    }

    /// Applies an impulse (in full-particle masses, m/s) to the gel at `arm` (m) from a particle, distributed so that
    /// its first moment is exact.
    pub fn push(&mut self, particle: usize, arm: Vec3, impulse: Vec3) {
        let (corner, local) = self.solver.local(particle);
        let edges = self.solver.setup().cell_m;
        let (mut cell, mut weights, mut moment) = ([0i32; 3], [[0f64; 3]; 3], [[0f64; 3]; 3]);
        for a in 0..3 {
            let floor = local[a].floor();
            cell[a] = corner[a] + floor as i32;
            let xi = local[a] - floor - 0.5;
            weights[a] = [0.5 * (0.5 - xi) * (0.5 - xi), 0.75 - xi * xi, 0.5 * (0.5 + xi) * (0.5 + xi)];
            for (node, moment) in moment[a].iter_mut().enumerate() {
                *moment = 4.0 * (node as f64 - 1.0 - xi) * arm[a] / edges[a];
            }
        }
        let nodes = &mut self.solver.nodes;
        for k in 0..3 {
            for j in 0..3 {
                for i in 0..3 {
                    let at = [cell[0] + i as i32 - 1, cell[1] + j as i32 - 1, cell[2] + k as i32 - 1];
                    let Some(node) = nodes.find(at) else { continue };
                    let mass = f64::from(nodes.values[node + 3]);
                    if mass > 0.0 {
                        let weight = weights[0][i] * weights[1][j] * weights[2][k];
                        let share = weight * (1.0 + moment[0][i] + moment[1][j] + moment[2][k]) / mass;
                        for c in 0..3 {
                            nodes.values[node + c] += (impulse[c] * share) as f32;
                        }
                    }
                }
            }
        }
    }
}
