//! The setting of Chen et al. 2023, as it is: for comparison.

use super::mpm::{Body, Engine, Flight, Settings};
use super::{Energy, GelParameters, energy};
use crate::{
    Facet, Load, Motion, Object, Simd, Skin, SkinError, State, Support, SurfaceField, Tangent, Target, Touch,
    require_not_negative, require_positive,
};
use dermis_geometry::sampling::area_uniform;
use dermis_geometry::{Pose, Surface, Vec3};

/// The numbers of the paper and of its code.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TacchiParameters {
    /// Young's modulus and Poisson's ratio, and the density (kg/m³), which in the paper's code is a thousand times that of silicone.
    pub material: GelParameters,
    /// Size of the gel (m).
    pub size_m: Vec3,
    /// Particles along x, y, z; the outermost lie on the faces.
    pub particles: [usize; 3],
    /// Edge of the grid (m) and nodes along it.
    pub grid_edge_m: f64,
    /// Nodes along the edge of the grid.
    pub grid_nodes: usize,
    /// Length of a step (s).
    pub step_s: f64,
    /// Speed (m/s) of the indenter.
    pub speed_m_per_s: f64,
    /// Particles that stand for the indenter: 10⁴, 10⁵ or 10⁶ for what the paper calls Tacchi_1, Tacchi_10, Tacchi_100.
    pub indenter_particles: usize,
    /// Where they fall on its surface: gaps between them are the paper's surface defects.
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

/// Particles that are held, and those of the indenter, in the engine.
const HELD: u8 = 1;
const INDENTER: u8 = 2;

/// The paper's way: particles for the gel and for the indenter on one grid, the indenter driven down at a speed, the surface read as soon
/// as it is there. The lowest layer of particles is held; the indenter's particles have the velocity of the indenter and no stress.
#[derive(Clone, Debug)]
pub struct TacchiGel {
    parameters: TacchiParameters,
    spacing_m: Vec3,
}

impl TacchiGel {
    /// Refuses numbers that mean nothing.
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

    /// The numbers.
    pub fn parameters(&self) -> &TacchiParameters {
        &self.parameters
    }

    fn rest_place(&self, index: [usize; 3]) -> Vec3 {
        let size = self.parameters.size_m;
        let low = Vec3::new(-0.5 * size.x, -0.5 * size.y, -size.z);
        low + Vec3::from_array(index.map(|i| i as f64)) * self.spacing_m
    }

    /// How far above its end (m) the lowest of the indenter's points starts: half a cell over the gel.
    fn start_m(&self, points: &[Vec3]) -> f64 {
        let lowest = points.iter().map(|point| point.z).fold(f64::INFINITY, f64::min);
        (0.5 * self.parameters.grid_edge_m / self.parameters.grid_nodes as f64 - lowest).max(0.0)
    }

    /// The press as particles and steps: from above, down to where the object ends.
    pub fn flight(&self, object: &Object, sensor_from_object: Pose) -> Flight {
        let p = &self.parameters;
        let points: Vec<Vec3> = area_uniform(object.surface.mesh(), p.indenter_particles, p.seed)
            .into_iter()
            .map(|sample| sensor_from_object.transform_point(sample.point))
            .collect();
        let rise = self.start_m(&points);
        let steps = (rise / (p.speed_m_per_s * p.step_s)).ceil().max(1.0) as usize;
        let speed = rise / (steps as f64 * p.step_s);
        let [nx, ny, nz] = p.particles;
        let mut at = Vec::with_capacity(nx * ny * nz + points.len());
        for z in 0..nz {
            for y in 0..ny {
                at.extend((0..nx).map(|x| self.rest_place([x, y, z])));
            }
        }
        let own = at.len();
        at.extend(points.iter().map(|point| *point + Vec3::Z * rise));
        let count = at.len();
        let mut body = Body::at_rest(at, vec![1.0; count]);
        body.kind[..nx * ny].fill(HELD);
        body.kind[own..].fill(INDENTER);
        Flight {
            parameters: p.material,
            origin: Vec3::ZERO,
            cell_m: Vec3::splat(p.grid_edge_m / p.grid_nodes as f64),
            floor: None,
            dt_s: p.step_s,
            leads: vec![[0.0; 3], [0.0, 0.0, -speed as f32]],
            steps,
            body,
        }
    }

    fn press(&self, target: &Target<'_>) -> Result<(Touch, u64), SkinError> {
        let flight = self.flight(target.object, target.sensor_from_object);
        let settings = Settings {
            parameters: flight.parameters,
            origin: flight.origin,
            cell_m: flight.cell_m,
            walls: Vec::new(),
            dt_s: flight.dt_s,
            simd: Simd::detect(),
        };
        let mut engine = Engine::new(settings, &flight.body);
        engine.leads = flight.leads;
        for _ in 1..flight.steps {
            engine.step(|_| ())?;
        }
        engine.stop(|_| ())?;
        Ok((self.landed(&engine.body(), engine.led_impulse, target.sensor_from_object), engine.steps))
    }

    /// What is felt after the steps of [`TacchiGel::flight`], and what the indenter's particles took in the last (in particle masses, m/s).
    pub fn landed(&self, body: &Body, led_impulse: Vec3, sensor_from_object: Pose) -> Touch {
        let p = &self.parameters;
        let volume = self.spacing_m.x * self.spacing_m.y * self.spacing_m.z;
        let mass = volume * f64::from((p.material.density_kg_per_m3 * p.material.mass_scaling) as f32);
        // What the indenter's particles took, the gel was given by them with the opposite sign.
        let force = led_impulse * (-mass / p.step_s);
        let mut touch = self.touch_of(force, sensor_from_object, self.field(body));
        touch.energy = Some(self.energy(body, p.particles.iter().product(), mass));
        touch
    }

    /// Of the gel's particles, which are the first.
    fn energy(&self, body: &Body, own: usize, mass_kg: f64) -> Energy {
        let volume = self.spacing_m.x * self.spacing_m.y * self.spacing_m.z;
        let mut sum = Energy::default();
        for p in 0..own {
            let squared: f64 = body.velocity[p].iter().map(|&v| f64::from(v) * f64::from(v)).sum();
            sum.kinetic_j += 0.5 * mass_kg * squared;
            sum.strain_j += volume * energy::density_j_per_m3(&self.parameters.material, &body.deformation[p]);
        }
        sum
    }

    fn field(&self, body: &Body) -> SurfaceField {
        let [nx, ny, nz] = self.parameters.particles;
        let top = (nz - 1) * nx * ny;
        let values = (0..ny)
            .rev()
            .flat_map(|y| (0..nx).map(move |x| (x, y)))
            .map(|(x, y)| body.at[top + y * nx + x] - self.rest_place([x, y, nz - 1]))
            .collect();
        SurfaceField { rows: ny, cols: nx, cell_m: self.spacing_m.x, center: Vec3::ZERO, values, rest_heights_m: None }
    }

    /// The paper reports no force; ours is the momentum that the indenter's particles have taken in the last step, at the deepest place.
    fn touch_of(&self, force: Vec3, sensor_from_object: Pose, field: SurfaceField) -> Touch {
        let (mut deepest, mut at, mut anchor) = (0.0, sensor_from_object.translation, Vec3::ZERO);
        for row in 0..field.rows {
            for col in 0..field.cols {
                let u = field.values[row * field.cols + col];
                if -u.z > deepest {
                    (deepest, anchor, at) = (-u.z, field.rest(row, col), field.rest(row, col) + u);
                }
            }
        }
        let facet = Facet {
            object: 0,
            normal: Vec3::Z,
            depth_m: deepest,
            saturated: false,
            load: Load::Point { at, anchor, area_m2: self.spacing_m.x * self.spacing_m.y, force },
            tangent: Tangent::default(),
        };
        let facets = if force == Vec3::ZERO { Vec::new() } else { vec![facet] };
        let mut touch = Touch::from_facets(facets, 1);
        touch.surface = Some(field);
        touch
    }

    /// Presses one object and says how many steps it took.
    pub fn pressed(&self, object: &Object, sensor_from_object: Pose) -> Result<(Touch, u64), SkinError> {
        self.press(&Target::at_rest(object, sensor_from_object))
    }

    /// Distance (m) from the lowest point of the object, where it ends, down to the surface under it: what leaks through gaps between
    /// its particles.
    pub fn leak_m(touch: &Touch, surface: &Surface, sensor_from_object: &Pose) -> f64 {
        let lowest = surface.mesh().vertices().iter().map(|v| sensor_from_object.transform_point(*v).z);
        let travel = -lowest.fold(f64::INFINITY, f64::min);
        let deepest = touch.surface.as_ref().map_or(0.0, |f| f.values.iter().map(|u| -u.z).fold(0.0, f64::max));
        travel - deepest
    }
}

impl Skin for TacchiGel {
    fn rest(&self) -> State {
        State::Gel(super::GelState { nodes: Vec::new().into(), holds: Vec::new(), poses: Vec::new(), moving: None })
    }

    /// Without memory: every step is a press from above.
    fn touch(&self, _: &State, motion: &Motion<'_>, _: f64) -> Result<(Touch, State), SkinError> {
        motion.check()?;
        let touch = match motion.targets {
            [target] => self.press(target)?.0,
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
        super::DEEPEST * self.parameters.size_m.z
    }

    fn precision(&self) -> f64 {
        0.05
    }
}
