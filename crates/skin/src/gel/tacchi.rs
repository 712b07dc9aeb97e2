//! The simulation setting of Tacchi (Chen et al. 2023), reproduced for comparison.

use super::GelParameters;
use super::energy::stress_on_z_pa;
use super::indenter::Indenter;
use super::mpm::{MpmSetup, MpmSolver, MpmSteps, ParticleState};
use crate::{
    Facet, Load, Motion, Object, Simd, Skin, SkinError, State, Support, SurfaceField, Tangent, Touch,
    require_not_negative, require_positive,
};
use dermis_geometry::sampling::area_uniform;
use dermis_geometry::{Pose, Surface, Vec3};

/// Parameters of the paper and its code.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TacchiParameters {
    /// Material. The density in the paper's code is a thousand times that of silicone.
    pub material: GelParameters,
    /// Size of the gel (m).
    pub size_m: Vec3,
    /// Particles along x, y, z; the outermost lie on the faces.
    pub particles: [usize; 3],
    /// Edge of the grid (m).
    pub grid_edge_m: f64,
    /// Nodes along the edge of the grid.
    pub grid_nodes: usize,
    /// Length of a step (s).
    pub step_s: f64,
    /// Speed (m/s) of the indenter.
    pub speed_m_per_s: f64,
    /// Particles of the indenter: 10⁴, 10⁵ and 10⁶ are the paper's Tacchi_1, Tacchi_10 and Tacchi_100.
    pub indenter_particles: usize,
    /// Seed of the random positions of these particles on the indenter's surface. Gaps between them cause the paper's
    /// surface defects.
    pub seed: u64,
}

impl Default for TacchiParameters {
    fn default() -> Self {
        Self {
            material: GelParameters {
                density_kg_per_m3: 1e6,
                constitution: super::Constitution::FixedCorotated,
                cell_m: 33e-3 / 256.0,
                ..GelParameters::default()
            },
            size_m: Vec3::new(20e-3, 20e-3, 4e-3),
            particles: [101, 101, 21],
            grid_edge_m: 33e-3,
            grid_nodes: 256,
            step_s: 1e-4,
            speed_m_per_s: 0.2,
            indenter_particles: 100_000,
            seed: 1,
        }
    }
}

/// Indices of the prescribed velocities of fixed particles and of the indenter's particles, from 1.
const HELD: u8 = 1;
const INDENTER: u8 = 2;

/// Tacchi's method: particles of gel and indenter on one grid; the indenter moves down at a constant speed, and the
/// surface is read at its final pose. The lowest layer of gel particles is fixed; the indenter's particles have its
/// velocity and no stress.
#[derive(Clone, Debug)]
pub struct TacchiGel {
    parameters: TacchiParameters,
    spacing_m: Vec3,
}

impl TacchiGel {
    /// Checks the parameters.
    pub fn new(parameters: TacchiParameters) -> Result<Self, SkinError> {
        parameters.material.validate()?;
        for (key, length) in ["length", "width", "thickness"].into_iter().zip(parameters.size_m.to_array()) {
            require_positive(key, "m", length)?;
        }
        require_positive("grid_edge", "m", parameters.grid_edge_m)?;
        require_positive("step", "s", parameters.step_s)?;
        require_positive("speed", "m/s", parameters.speed_m_per_s)?;
        require_not_negative("grid_nodes", "1", parameters.grid_nodes as f64)?;
        let count: usize = parameters.particles.iter().product();
        if parameters.particles.iter().any(|&n| n < 2) || count > 20_000_000 {
            return Err(SkinError::BadGel {
                key: "particles",
                rule: format!(
                    "must be at least 2 along each axis and 20 million in all, got {:?}",
                    parameters.particles
                ),
            });
        }
        if !(2..=4096).contains(&parameters.grid_nodes) || !(1..=10_000_000).contains(&parameters.indenter_particles) {
            return Err(SkinError::BadGel {
                key: "grid_nodes",
                rule: format!(
                    "must be from 2 to 4096 and `indenter_particles` from 1 to 10 million, got {} and {}",
                    parameters.grid_nodes, parameters.indenter_particles
                ),
            });
        }
        let n = parameters.particles.map(|n| n as f64 - 1.0);
        Ok(Self { spacing_m: parameters.size_m / Vec3::from_array(n), parameters })
    }

    /// The parameters.
    pub fn parameters(&self) -> &TacchiParameters {
        &self.parameters
    }

    fn rest_position(&self, index: [usize; 3]) -> Vec3 {
        let size = self.parameters.size_m;
        let low = Vec3::new(-0.5 * size.x, -0.5 * size.y, -size.z);
        low + Vec3::from_array(index.map(|i| i as f64)) * self.spacing_m
    }

    /// Height (m) of the start of the indenter above its final pose: its lowest point is half a cell over the gel.
    fn start_m(&self, points: &[Vec3]) -> f64 {
        let lowest = points.iter().map(|point| point.z).fold(f64::INFINITY, f64::min);
        (0.5 * self.parameters.grid_edge_m / self.parameters.grid_nodes as f64 - lowest).max(0.0)
    }

    /// The press as MPM steps: from above the gel down to the final pose of the object.
    pub fn steps(&self, object: &Object, sensor_from_object: Pose) -> MpmSteps {
        let p = &self.parameters;
        let points: Vec<Vec3> = area_uniform(object.surface.mesh(), p.indenter_particles, p.seed)
            .into_iter()
            .map(|sample| sensor_from_object.transform_point(sample.point))
            .collect();
        let rise = self.start_m(&points);
        let count = (rise / (p.speed_m_per_s * p.step_s)).ceil().max(1.0) as usize;
        let speed = rise / (count as f64 * p.step_s);
        let [nx, ny, nz] = p.particles;
        let own = nx * ny * nz;
        let rest = |i: usize| self.rest_position([i % nx, i / nx % ny, i / (nx * ny)]);
        let position = (0..own).map(rest).chain(points.iter().map(|point| *point + Vec3::Z * rise)).collect();
        let mut particles = ParticleState::at_rest(position, vec![1.0; own + points.len()]);
        particles.prescribed[..nx * ny].fill(HELD);
        particles.prescribed[own..].fill(INDENTER);
        let setup = MpmSetup {
            parameters: p.material,
            origin: Vec3::ZERO,
            cell_m: Vec3::splat(p.grid_edge_m / p.grid_nodes as f64),
            walls: Vec::new(),
            prescribed_velocities: vec![[0.0; 3], [0.0, 0.0, -speed as f32]],
            dt_s: p.step_s,
            simd: Simd::detect(),
        };
        MpmSteps { setup, particles, count }
    }

    /// Presses one object down to a pose; also returns the number of steps.
    pub fn press(&self, object: &Object, sensor_from_object: Pose) -> Result<(Touch, u64), SkinError> {
        let MpmSteps { setup, particles, count } = self.steps(object, sensor_from_object);
        let mut solver = MpmSolver::new(setup, &particles);
        solver.run(count, |_, _| ())?;
        let (particles, impulse) = (solver.particles(), solver.prescribed_impulse);
        Ok((self.touch_after(object, sensor_from_object, &particles, impulse), solver.steps))
    }

    /// Contact load and surface after the steps of [`Self::steps`]. `indenter_impulse` is the impulse that the
    /// indenter's particles received in the last step (in full-particle masses, m/s).
    pub fn touch_after(
        &self,
        object: &Object,
        sensor_from_object: Pose,
        particles: &ParticleState,
        indenter_impulse: Vec3,
    ) -> Touch {
        let p = &self.parameters;
        let volume = self.spacing_m.x * self.spacing_m.y * self.spacing_m.z;
        let mass = volume * f64::from((p.material.density_kg_per_m3 * p.material.mass_scaling) as f32);
        let force_on_gel = indenter_impulse * (-mass / p.step_s);
        let mut touch = self.touch_of(force_on_gel, &Indenter::new(object, sensor_from_object), particles);
        let energy = particles.energy(&p.material, volume, mass, p.particles.iter().product());
        touch.energy = Some(energy);
        touch.warnings.extend(energy.warning());
        // The lowest layer is fixed and not strained along z; the next one carries the stress of the base.
        let stress = |particle: usize| stress_on_z_pa(&p.material, &particles.deformation[particle]);
        touch.base = Some(self.layer(1, -p.size_m.z, stress));
        touch
    }

    /// A value of each particle of a horizontal layer, at a height (m).
    fn layer(&self, z: usize, height_m: f64, value: impl Fn(usize) -> Vec3) -> SurfaceField {
        let [nx, ny, _] = self.parameters.particles;
        let particles = (0..ny).rev().flat_map(|y| (0..nx).map(move |x| (z * ny + y) * nx + x));
        SurfaceField {
            rows: ny,
            cols: nx,
            cell_m: self.spacing_m.x,
            center: Vec3::Z * height_m,
            values: particles.map(value).collect(),
            rest_heights_m: None,
        }
    }

    /// The paper reports no force. This is the momentum that the indenter's particles received in the last step,
    /// distributed over the particles of the surface under the object in proportion to their pressure.
    fn touch_of(&self, force: Vec3, indenter: &Indenter<'_>, particles: &ParticleState) -> Touch {
        let p = &self.parameters;
        let [nx, ny, nz] = p.particles;
        let rest = |particle: usize| self.rest_position([particle % nx, particle / nx % ny, particle / (nx * ny)]);
        let surface = self.layer(nz - 1, 0.0, |particle| particles.position[particle] - rest(particle));
        // Particles interact across a cell of the grid.
        let reach_m = p.grid_edge_m / p.grid_nodes as f64;
        let touches = |at: Vec3| indenter.gap(at, reach_m).is_some_and(|gap| gap.distance_m < reach_m);
        // A little more than the pressure, so that a gel that recoils everywhere carries the force too.
        let weight = |particle: usize| {
            1e-6 * p.material.young_pa - stress_on_z_pa(&p.material, &particles.deformation[particle]).z.min(0.0)
        };
        let top = (nz - 1) * nx * ny..nz * nx * ny;
        let mut pressed: Vec<(usize, f64)> =
            top.clone().filter(|&i| touches(particles.position[i])).map(|i| (i, weight(i))).collect();
        if pressed.is_empty() && force != Vec3::ZERO {
            let lowest = |a: &usize, b: &usize| particles.position[*a].z.total_cmp(&particles.position[*b].z);
            pressed.extend(top.min_by(lowest).map(|particle| (particle, 1.0)));
        }
        let sum: f64 = pressed.iter().map(|(_, pressure)| pressure).sum();
        let facet = |&(particle, pressure): &(usize, f64)| {
            let (at, anchor) = (particles.position[particle], rest(particle));
            let area_m2 = self.spacing_m.x * self.spacing_m.y;
            let load = Load::Point { at, anchor, area_m2, force: force * (pressure / sum) };
            let depth_m = (anchor.z - at.z).max(0.0);
            Facet { object: 0, normal: Vec3::Z, depth_m, saturated: false, load, tangent: Tangent::default() }
        };
        let mut touch = Touch::from_facets(pressed.iter().map(facet).collect(), 1);
        touch.surface = Some(surface);
        touch
    }

    /// Depth of the object's lowest point minus that of the surface (m): the gel that leaks through gaps between the
    /// indenter's particles.
    pub fn leak_m(touch: &Touch, surface: &Surface, sensor_from_object: &Pose) -> f64 {
        let lowest = surface.mesh().vertices().iter().map(|v| sensor_from_object.transform_point(*v).z);
        let travel = -lowest.fold(f64::INFINITY, f64::min);
        let deepest = touch.surface.as_ref().map_or(0.0, |f| f.values.iter().map(|u| -u.z).fold(0.0, f64::max));
        travel - deepest
    }
}

impl Skin for TacchiGel {
    fn rest(&self) -> State {
        State::Gel(super::GelState { nodes: Vec::new().into(), contacts: Vec::new(), poses: Vec::new(), moving: None })
    }

    /// Stateless: every call is a press from above.
    fn touch(&self, state: &State, motion: &Motion<'_>, _: f64) -> Result<(Touch, State), SkinError> {
        if !matches!(state, State::Gel(_)) {
            return Err(SkinError::OtherSkin { expected: "gel" });
        }
        motion.check()?;
        let touch = match motion.targets {
            [target] => self.press(target.object, target.sensor_from_object)?.0,
            [] => Touch::default(),
            _ => {
                return Err(SkinError::BadGel {
                    key: "paper",
                    rule: format!("presses one object at a time, got {}", motion.targets.len()),
                });
            }
        };
        Ok((touch, self.rest()))
    }

    fn fully_pressed(&self) -> Vec<Support> {
        let size = self.parameters.size_m;
        let stiffness_normal = self.parameters.material.confined_pa() * size.x * size.y / size.z;
        let tangent = Tangent { stiffness_normal, ..Tangent::default() };
        vec![Support { at: Vec3::ZERO, normal: Vec3::Z, tangent }]
    }

    fn max_depth_m(&self) -> f64 {
        super::MAX_DEPTH * self.parameters.size_m.z
    }

    fn precision(&self) -> f64 {
        0.05
    }

    fn holds_shear(&self, _object: &crate::Object) -> bool {
        true
    }
}
