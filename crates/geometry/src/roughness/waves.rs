//! A random field in space with waves of about one wavelength.

use crate::{Random, Vec3};
use std::f64::consts::TAU;

const COUNT: usize = 128;

/// Plane waves of equal amplitude in all directions of space, so that the field has no seam on any surface. Where a
/// wavefront is nearly parallel to the surface its apparent wavelength is larger: an eighth of the power appears at
/// more than twice the wavelength, none at less than 0.8 of it.
pub(super) struct Waves {
    /// Wave vector (rad/m) and phase (rad).
    waves: Vec<(Vec3, f64)>,
}

impl Waves {
    pub fn new(wavelength_m: f64, seed: u64) -> Self {
        let mut random = Random::new(seed);
        let mut wave = || {
            let wavenumber = TAU / wavelength_m * random.between(0.8, 1.25);
            (random.direction() * wavenumber, random.between(0.0, TAU))
        };
        Self { waves: (0..COUNT).map(|_| wave()).collect() }
    }

    /// The field at a point, with mean 0 and variance 1 in space.
    pub fn at(&self, point: Vec3) -> f64 {
        let sum: f64 = self.waves.iter().map(|(vector, phase)| (vector.dot(point) + phase).cos()).sum();
        sum * (2.0 / COUNT as f64).sqrt()
    }
}
