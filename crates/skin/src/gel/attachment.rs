//! Attachment of surface points to particles.

use super::reference_grid::{ReferenceGrid, RestParticle};
use dermis_geometry::{Mat3, Vec3};
use std::collections::HashMap;

/// The particle that a surface point moves with, and the point's undeformed position relative to it (m).
#[derive(Clone, Copy, Debug)]
pub(super) struct Attachment {
    pub particle: u32,
    pub arm: Vec3,
}

impl Attachment {
    /// Attaches each point to the nearest particle.
    pub fn all(grid: &ReferenceGrid, particles: &[RestParticle], points: impl Iterator<Item = Vec3>) -> Vec<Self> {
        let cell = |at: Vec3| ((at - grid.origin) / grid.cell_m).floor().to_array().map(|x| x as i32);
        let mut cells: HashMap<[i32; 3], Vec<u32>> = HashMap::new();
        for (index, particle) in particles.iter().enumerate() {
            cells.entry(cell(particle.at)).or_default().push(index as u32);
        }
        points
            .map(|point| {
                let home = cell(point);
                let mut best = (f64::INFINITY, 0);
                for offset in 0..27 {
                    let key = [home[0] + offset % 3 - 1, home[1] + offset / 3 % 3 - 1, home[2] + offset / 9 - 1];
                    for &particle in cells.get(&key).into_iter().flatten() {
                        let distance = (particles[particle as usize].at - point).length_squared();
                        if distance < best.0 {
                            best = (distance, particle);
                        }
                    }
                }
                Attachment { particle: best.1, arm: point - particles[best.1 as usize].at }
            })
            .collect()
    }

    /// Position (m) of the point, from its particle's position and deformation gradient.
    pub fn point(&self, (center, deformation): (Vec3, Mat3)) -> Vec3 {
        center + deformation * self.arm
    }
}
