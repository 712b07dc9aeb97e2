//! Which particle carries a point of the surface.

use super::lattice::{Lattice, Place};
use dermis_geometry::{Mat3, Vec3};
use std::collections::HashMap;

/// The particle that carries a point of the surface, and where the point is from it in the undeformed gel (m).
#[derive(Clone, Copy, Debug)]
pub(super) struct Carrier {
    pub particle: u32,
    pub arm: Vec3,
}

impl Carrier {
    /// The nearest particle to each point of the surface.
    pub fn all(lattice: &Lattice, places: &[Place], points: impl Iterator<Item = Vec3>) -> Vec<Self> {
        let cell = |at: Vec3| ((at - lattice.origin) / lattice.cell_m).floor().to_array().map(|x| x as i32);
        let mut cells: HashMap<[i32; 3], Vec<u32>> = HashMap::new();
        for (particle, place) in places.iter().enumerate() {
            cells.entry(cell(place.at)).or_default().push(particle as u32);
        }
        points
            .map(|point| {
                let home = cell(point);
                let mut best = (f64::INFINITY, 0);
                for offset in 0..27 {
                    let key = [home[0] + offset % 3 - 1, home[1] + offset / 3 % 3 - 1, home[2] + offset / 9 - 1];
                    for &particle in cells.get(&key).into_iter().flatten() {
                        let distance = (places[particle as usize].at - point).length_squared();
                        if distance < best.0 {
                            best = (distance, particle);
                        }
                    }
                }
                Carrier { particle: best.1, arm: point - places[best.1 as usize].at }
            })
            .collect()
    }

    /// Where the point is (m), from where its particle is and how that is deformed.
    pub fn point(&self, (center, deformation): (Vec3, Mat3)) -> Vec3 {
        center + deformation * self.arm
    }
}
