//! Particles on their own: a free or bonded block that moves without anything touching it.

use super::body::{Body, Flight};
use super::engine::{Engine, Settings, stable_step_s};
use super::walls::Wall;
use crate::gel::{Energy, GelParameters, energy};
use crate::{Simd, SkinError, require_positive};
use dermis_geometry::{Mat3, Vec3};

/// A block of particles, two a cell along each axis, in whatever motion it is given. What conservation and speed are measured on.
#[derive(Clone, Debug)]
pub struct Cloud {
    engine: Engine,
    parameters: GelParameters,
    particle_m3: f64,
    dt_s: f64,
}

/// What a free gel keeps.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Totals {
    /// Mass (kg).
    pub mass_kg: f64,
    /// Momentum (kg m/s).
    pub momentum: Vec3,
    /// Angular momentum about the origin (kg m²/s), with that of the affine velocities.
    pub angular_momentum: Vec3,
    /// Energies.
    pub energy: Energy,
}

impl Cloud {
    /// A block of `counts` particles about the origin, with a velocity (m/s) at each place (m) and a deformation that has already
    /// happened. `bonded` holds its bottom. Steps are `courant` of the time in which a wave crosses a cell.
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
        let mut at = Vec::with_capacity(counts.iter().product());
        let mut motions = Vec::with_capacity(at.capacity());
        for z in 0..counts[2] {
            for y in 0..counts[1] {
                for x in 0..counts[0] {
                    let rest = (Vec3::new(x as f64, y as f64, z as f64) + 0.5) * spacing - 0.5 * size;
                    let (velocity, deformation) = motion(rest);
                    at.push(deformation * rest);
                    motions.push((velocity, deformation));
                }
            }
        }
        let count = at.len();
        let mut body = Body::at_rest(at, vec![1.0; count]);
        for (p, (velocity, deformation)) in motions.iter().enumerate() {
            body.velocity[p] = velocity.to_array().map(|v| v as f32);
            body.deformation[p] = std::array::from_fn(|i| deformation.col(i % 3)[i / 3] as f32);
        }
        let walls = if bonded { vec![Wall { axis: 2, plane: 0, above: true, told: [0; 2] }] } else { Vec::new() };
        let settings = Settings { parameters, origin: -0.5 * size, cell_m, walls, dt_s, simd };
        Ok(Self { engine: Engine::new(settings, &body), parameters, particle_m3: spacing.powi(3), dt_s })
    }

    /// Length of a step (s).
    pub fn dt_s(&self) -> f64 {
        self.dt_s
    }

    /// How many particles.
    pub fn len(&self) -> usize {
        self.engine.len()
    }

    /// True when there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes of memory held.
    pub fn bytes(&self) -> usize {
        self.engine.bytes()
    }

    /// Some steps.
    pub fn run(&mut self, steps: usize) -> Result<(), SkinError> {
        for _ in 1..steps {
            self.engine.step(|_| ())?;
        }
        if steps > 0 {
            self.engine.stop(|_| ())?;
        }
        Ok(())
    }

    /// The particles and some steps, for an engine elsewhere.
    pub fn flight(&self, steps: usize) -> Flight {
        let settings = self.engine.settings();
        Flight {
            parameters: self.parameters,
            origin: settings.origin,
            cell_m: settings.cell_m,
            floor: settings.walls.first().map(|wall| wall.plane),
            dt_s: self.dt_s,
            leads: Vec::new(),
            steps,
            body: self.engine.body(),
        }
    }

    /// Gives a particle another velocity (m/s) and deformation.
    pub fn disturb(&mut self, particle: usize, velocity: Vec3, deformation: Mat3) {
        let mut body = self.engine.body();
        body.velocity[particle] = velocity.to_array().map(|v| v as f32);
        body.deformation[particle] = std::array::from_fn(|i| deformation.col(i % 3)[i / 3] as f32);
        let steps = self.engine.steps;
        self.engine = Engine::new(self.engine.settings().clone(), &body);
        self.engine.steps = steps;
    }

    /// Where each particle is (m).
    pub fn places(&self) -> Vec<Vec3> {
        self.engine.body().at
    }

    /// How each particle is deformed.
    pub fn deformations(&self) -> Vec<Mat3> {
        (0..self.len()).map(|particle| self.engine.particle(particle).1).collect()
    }

    /// What is kept, or not.
    pub fn totals(&self) -> Totals {
        let body = self.engine.body();
        let unit = self.engine.particle_kg(self.particle_m3);
        // Of a quadratic B-spline: Σ w (xᵢ − x)² = Δx²/4.
        let inertia = 0.25 * self.parameters.cell_m * self.parameters.cell_m;
        let mut totals =
            Totals { mass_kg: 0.0, momentum: Vec3::ZERO, angular_momentum: Vec3::ZERO, energy: Energy::default() };
        for p in 0..body.at.len() {
            let mass = unit * f64::from(body.part[p]);
            let velocity = Vec3::from_array(body.velocity[p].map(f64::from));
            let c = body.affine[p].map(f64::from);
            let spin = Vec3::new(c[7] - c[5], c[2] - c[6], c[3] - c[1]);
            totals.mass_kg += mass;
            totals.momentum += velocity * mass;
            totals.angular_momentum += body.at[p].cross(velocity) * mass + spin * (mass * inertia);
            let squared: f64 = c.iter().map(|c| c * c).sum();
            totals.energy.kinetic_j += 0.5 * mass * (velocity.length_squared() + inertia * squared);
            totals.energy.strain_j += self.particle_m3
                * f64::from(body.part[p])
                * energy::density_j_per_m3(&self.parameters, &body.deformation[p]);
        }
        totals
    }
}
