//! Particles and settings of an MPM run, shared by the CPU and GPU solvers.

use super::walls::Wall;
use crate::Simd;
use crate::gel::{Energy, GelParameters, energy};
use dermis_geometry::{Mat3, Vec3};

/// State of all particles, by particle number.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ParticleState {
    /// Positions (m).
    pub position: Vec<Vec3>,
    /// Velocities (m/s).
    pub velocity: Vec<[f32; 3]>,
    /// Affine velocity matrices C of APIC (1/s), row by row.
    pub affine: Vec<[f32; 9]>,
    /// Deformation gradients F, row by row.
    pub deformation: Vec<[f32; 9]>,
    /// Volume of each particle divided by that of a full one.
    pub volume_fraction: Vec<f32>,
    /// 0 for a free particle; k for one that moves with [`MpmSetup::prescribed_velocities`]`[k − 1]`.
    pub prescribed: Vec<u8>,
}

impl ParticleState {
    /// Free, undeformed particles at rest.
    pub fn at_rest(position: Vec<Vec3>, volume_fraction: Vec<f32>) -> Self {
        let n = position.len();
        Self {
            position,
            velocity: vec![[0.0; 3]; n],
            affine: vec![[0.0; 9]; n],
            deformation: vec![[1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0]; n],
            volume_fraction,
            prescribed: vec![0; n],
        }
    }

    /// Sets velocity (m/s) and deformation gradient of a particle.
    pub(crate) fn set_motion(&mut self, particle: usize, velocity: Vec3, deformation: Mat3) {
        self.velocity[particle] = velocity.to_array().map(|v| v as f32);
        self.deformation[particle] = std::array::from_fn(|i| deformation.col(i % 3)[i / 3] as f32);
    }
}

impl ParticleState {
    /// Kinetic and strain energy of the first `count` particles, for a full particle of the given volume and mass.
    /// Excludes the kinetic energy of the affine velocities.
    pub(crate) fn energy(
        &self,
        parameters: &GelParameters,
        particle_m3: f64,
        particle_kg: f64,
        count: usize,
    ) -> Energy {
        let mut sum = Energy::default();
        for p in 0..count {
            let fraction = f64::from(self.volume_fraction[p]);
            let squared: f64 = self.velocity[p].iter().map(|&v| f64::from(v) * f64::from(v)).sum();
            sum.kinetic_j += 0.5 * particle_kg * fraction * squared;
            sum.strain_j += particle_m3 * fraction * energy::density_j_per_m3(parameters, &self.deformation[p]);
        }
        sum
    }
}

/// Material, grid and time step of an MPM run.
#[derive(Clone, Debug)]
pub struct MpmSetup {
    /// Material.
    pub parameters: GelParameters,
    /// Corner of the grid (m).
    pub origin: Vec3,
    /// Edges of a cell (m).
    pub cell_m: Vec3,
    /// Planes at which the gel is fixed.
    pub walls: Vec<Wall>,
    /// Velocities (m/s) of prescribed particles; the first is that of fixed particles.
    pub prescribed_velocities: Vec<[f32; 3]>,
    /// Length of a step (s).
    pub dt_s: f64,
    /// Vector instructions that the CPU solver uses.
    pub simd: Simd,
}

/// A number of MPM steps from a given state of the particles.
#[derive(Clone, Debug)]
pub struct MpmSteps {
    /// Material, grid and time step.
    pub setup: MpmSetup,
    /// Particles before the first step.
    pub particles: ParticleState,
    /// Number of steps.
    pub count: usize,
}
