//! A block of particles without contact, free or fixed at its bottom.

use super::particles::{MpmSetup, MpmSteps, ParticleState};
use super::solver::{MpmSolver, stable_step_s};
use super::walls::Wall;
use crate::gel::{Energy, GelParameters, energy};
use crate::{Simd, SkinError, require_positive};
use dermis_geometry::{Mat3, Vec3};

/// A block of particles, two per cell along each axis, with a given initial motion and no contact. For conservation
/// tests and benchmarks.
#[derive(Clone, Debug)]
pub struct ParticleBlock {
    solver: MpmSolver,
    parameters: GelParameters,
    particle_m3: f64,
    dt_s: f64,
}

/// Conserved quantities of a free block.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Totals {
    /// Mass (kg).
    pub mass_kg: f64,
    /// Momentum (kg m/s).
    pub momentum: Vec3,
    /// Angular momentum about the origin (kg m²/s), including that of the affine velocities.
    pub angular_momentum: Vec3,
    /// Kinetic and strain energy.
    pub energy: Energy,
}

impl ParticleBlock {
    /// Creates `counts` particles centred at the origin. `motion` gives the initial velocity (m/s) and deformation
    /// gradient at each undeformed position (m). `bonded` fixes the bottom. In a step a pressure wave crosses the
    /// fraction `courant` of a cell.
    pub fn new(
        counts: [usize; 3],
        parameters: GelParameters,
        bonded: bool,
        courant: f64,
        simd: Simd,
        motion: impl Fn(Vec3) -> (Vec3, Mat3),
    ) -> Result<Self, SkinError> {
        parameters.validate()?;
        require_positive("courant", "1", courant)?;
        let spacing = 0.5 * parameters.cell_m;
        let cell_m = Vec3::splat(parameters.cell_m);
        let dt_s = stable_step_s(&parameters, cell_m, courant);
        let size = Vec3::new(counts[0] as f64, counts[1] as f64, counts[2] as f64) * spacing;
        let count = counts.iter().product();
        let rest = |i: usize| {
            let index = [i % counts[0], i / counts[0] % counts[1], i / (counts[0] * counts[1])].map(|i| i as f64);
            (Vec3::from_array(index) + 0.5) * spacing - 0.5 * size
        };
        let mut particles = ParticleState::at_rest((0..count).map(rest).collect(), vec![1.0; count]);
        for p in 0..count {
            let (velocity, deformation) = motion(particles.position[p]);
            particles.position[p] = deformation * particles.position[p];
            particles.set_motion(p, velocity, deformation);
        }
        let walls = if bonded { vec![Wall { axis: 2, plane: 0, above: true, recorded: [0; 2] }] } else { Vec::new() };
        let origin = -0.5 * size;
        let setup = MpmSetup { parameters, origin, cell_m, walls, prescribed_velocities: Vec::new(), dt_s, simd };
        Ok(Self { solver: MpmSolver::new(setup, &particles), parameters, particle_m3: spacing.powi(3), dt_s })
    }

    /// Length of a step (s).
    pub fn dt_s(&self) -> f64 {
        self.dt_s
    }

    /// Number of particles.
    pub fn len(&self) -> usize {
        self.solver.len()
    }

    /// True if the block has no particles.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Allocated memory (bytes).
    pub fn bytes(&self) -> usize {
        self.solver.bytes()
    }

    /// Runs `steps` steps.
    pub fn run(&mut self, steps: usize) -> Result<(), SkinError> {
        self.solver.run(steps, |_, _| ())
    }

    /// The current state and `count` steps from it, for another solver.
    pub fn steps(&self, count: usize) -> MpmSteps {
        MpmSteps { setup: self.solver.setup().clone(), particles: self.solver.particles(), count }
    }

    /// Sets the velocity (m/s) and the deformation gradient of a particle.
    pub fn disturb(&mut self, particle: usize, velocity: Vec3, deformation: Mat3) {
        let mut particles = self.solver.particles();
        particles.set_motion(particle, velocity, deformation);
        let steps = self.solver.steps;
        self.solver = MpmSolver::new(self.solver.setup().clone(), &particles);
        self.solver.steps = steps;
    }

    /// Position (m) of each particle.
    pub fn positions(&self) -> Vec<Vec3> {
        self.solver.particles().position
    }

    /// Deformation gradient of each particle.
    pub fn deformations(&self) -> Vec<Mat3> {
        (0..self.len()).map(|particle| self.solver.particle(particle).1).collect()
    }

    /// Mass, momentum and energy of the block.
    pub fn totals(&self) -> Totals {
        let particles = self.solver.particles();
        let unit = self.solver.particle_kg(self.particle_m3);
        // For a quadratic B-spline, Σ w (xᵢ − x)² = Δx²/4.
        let inertia = 0.25 * self.parameters.cell_m * self.parameters.cell_m;
        let mut totals =
            Totals { mass_kg: 0.0, momentum: Vec3::ZERO, angular_momentum: Vec3::ZERO, energy: Energy::default() };
        for p in 0..particles.position.len() {
            let mass = unit * f64::from(particles.volume_fraction[p]);
            let velocity = Vec3::from_array(particles.velocity[p].map(f64::from));
            let c = particles.affine[p].map(f64::from);
            let spin = Vec3::new(c[7] - c[5], c[2] - c[6], c[3] - c[1]);
            totals.mass_kg += mass;
            totals.momentum += velocity * mass;
            totals.angular_momentum += particles.position[p].cross(velocity) * mass + spin * (mass * inertia);
            let squared: f64 = c.iter().map(|c| c * c).sum();
            totals.energy.kinetic_j += 0.5 * mass * (velocity.length_squared() + inertia * squared);
            totals.energy.strain_j += self.particle_m3
                * f64::from(particles.volume_fraction[p])
                * energy::density_j_per_m3(&self.parameters, &particles.deformation[p]);
        }
        totals
    }
}
