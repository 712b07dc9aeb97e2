//! The gel while things move: explicit steps of its particles.

use super::contact::{Hold, Near};
use super::indenter::{Gap, Indenter};
use super::mpm::{Body, Engine, Grid, Settings, Wall, stable_step_s};
use super::state::Moving;
use super::{Energy, Face, Gel, GelState, energy};
use crate::{Constitution, Motion, Simd, SkinError, Target, Touch, Warning};
use dermis_geometry::{Pose, Quat, Vec3};
use std::sync::Arc;

/// Steps are this part of the time in which a wave crosses a cell.
const COURANT: f64 = 0.3;
/// Contact stiffness by that of a confined cell, as much as such steps bear.
const CONTACT: f64 = 10.0;
/// Kinetic by strain energy above which a warning is given.
const QUASI_STATIC: f64 = 0.01;
/// Steps after which the points that may be touched are looked for again.
const LOOK_AGAIN: usize = 32;

/// What a point of the surface has been given so far.
#[derive(Clone, Copy, Debug)]
struct Given {
    object: u32,
    impulse: Vec3,
    /// ∫ f dt along the normal, for the mean contact normal.
    normal: Vec3,
    at: Vec3,
    gap: Gap,
}

/// One call of [`Gel::moved`].
struct Run<'a> {
    gel: &'a Gel,
    targets: &'a [Target<'a>],
    dt_s: f64,
    holds: Vec<Option<Hold>>,
    given: Vec<Option<Given>>,
    candidates: Vec<u32>,
    /// For each point how far (m) it is at least from every object.
    clear_m: Vec<f64>,
    /// How much nearer (m) it can come in a step.
    nearer_m: f64,
    particle_kg: f64,
}

impl Gel {
    /// What is felt while things move for `dt_s`, ending where `motion` has them: explicit steps, as many as are stable. Forces are
    /// the impulses given, over the time.
    pub fn moved(&self, state: &GelState, motion: &Motion<'_>, dt_s: f64) -> Result<(Touch, GelState), SkinError> {
        if self.parameters.constitution == Constitution::Linear {
            return Err(SkinError::BadGel {
                key: "constitution",
                rule: "\"linear\" holds for a gel at rest only: take \"neo-hookean\" for one that moves".to_owned(),
            });
        }
        let lattice = &self.elastic.lattice;
        let steps = (dt_s / stable_step_s(&self.parameters, lattice.cell_m, COURANT)).ceil().max(1.0) as usize;
        let step_s = dt_s / steps as f64;
        let body = self.body(state);
        let settings = Settings {
            parameters: self.parameters,
            origin: lattice.origin,
            cell_m: lattice.cell_m,
            walls: self.walls(),
            dt_s: step_s,
            simd: Simd::detect(),
        };
        let mut engine = Engine::new(settings, &body);
        let mut holds = vec![None; self.points.len()];
        for hold in &state.holds {
            holds[hold.point as usize] = Some(*hold);
        }
        let mut run = Run {
            gel: self,
            targets: motion.targets,
            dt_s: step_s,
            holds,
            given: vec![None; self.points.len()],
            candidates: Vec::new(),
            clear_m: vec![0.0; self.points.len()],
            nearer_m: 0.0,
            particle_kg: engine.particle_kg(lattice.particle_m3()),
        };
        for step in 0..steps {
            // Where the objects are in the middle of what is left to go.
            let left_s = dt_s - (step as f64 + 1.0) * step_s;
            let indenters: Vec<Indenter<'_>> =
                motion.targets.iter().map(|t| Indenter::new(t.object, before(t, left_s))).collect();
            if step % LOOK_AGAIN == 0 {
                run.look(&engine, &indenters);
            }
            if step + 1 < steps {
                engine.step(|grid| run.push(grid, &indenters))?;
            } else {
                engine.stop(|grid| run.push(grid, &indenters))?;
            }
        }
        Ok(self.after(&engine, run, motion, dt_s))
    }

    fn after(&self, engine: &Engine, run: Run<'_>, motion: &Motion<'_>, dt_s: f64) -> (Touch, GelState) {
        let near: Vec<Near> = run
            .given
            .iter()
            .enumerate()
            .filter_map(|(point, given)| {
                let given = given.as_ref()?;
                let force = given.impulse / dt_s;
                let normal = given.normal.normalize_or(given.gap.normal);
                let press = force.dot(normal);
                Some(Near {
                    point: point as u32,
                    object: given.object,
                    gap: Gap { normal, ..given.gap },
                    at: given.at,
                    press_newton: press,
                    rub_newton: force - normal * press,
                    rub_stiffness: (0.0, 0.0),
                    slip: Vec3::ZERO,
                })
            })
            .collect();
        let body = engine.body();
        let moving = self.moving(&body);
        let nodes: Arc<[f64]> = self.fitted(&body).into();
        let mut touch = self.touch_of(&nodes, &near, motion.targets.len());
        let state = GelState {
            nodes,
            holds: run.holds.into_iter().flatten().collect(),
            poses: motion.targets.iter().map(|target| target.sensor_from_object).collect(),
            moving: Some(Arc::new(moving)),
        };
        let energy = self.energy_of(&body);
        touch.energy = Some(energy);
        if energy.ratio() > QUASI_STATIC {
            touch.warnings.push(Warning::NotQuasiStatic { ratio: energy.ratio() });
        }
        touch.base = self.base.as_ref().map(|base| {
            let on_base: Vec<Vec3> =
                engine.wall_impulses().iter().map(|impulse| *impulse * (-run.particle_kg / dt_s)).collect();
            base.field(&self.view, &on_base)
        });
        (touch, state)
    }

    fn walls(&self) -> Vec<Wall> {
        let lattice = &self.elastic.lattice;
        let mut walls = Vec::new();
        for axis in 0..2 {
            if lattice.bonds.holds_side(axis, false) {
                walls.push(Wall { axis, plane: 0, above: true, told: [0; 2] });
            }
            if lattice.bonds.holds_side(axis, true) {
                walls.push(Wall { axis, plane: lattice.cells[axis] as i32, above: false, told: [0; 2] });
            }
        }
        if lattice.bonds.holds(Face::Bottom) {
            let told = self.base.as_ref().map_or([0; 2], |base| base.columns);
            walls.push(Wall { axis: 2, plane: 0, above: true, told });
        }
        walls
    }

    /// The particles of a state: as they move, or as the nodes have them.
    fn body(&self, state: &GelState) -> Body {
        let part: Vec<f32> = self.rest_places.iter().map(|place| place.part).collect();
        let rest = || self.rest_places.iter().map(|place| place.at);
        match &state.moving {
            Some(moving) => {
                let at = rest().zip(&moving.displacement).map(|(rest, u)| rest + Vec3::from_array(*u)).collect();
                let mut body = Body::at_rest(at, part);
                body.velocity.clone_from(&moving.velocity);
                body.affine.clone_from(&moving.affine);
                body.deformation.clone_from(&moving.deformation);
                body
            }
            None => {
                let lattice = &self.elastic.lattice;
                let at = rest().map(|rest| rest + lattice.at(&state.nodes, &lattice.spot(rest))).collect();
                let mut body = Body::at_rest(at, part);
                for (f, rest) in body.deformation.iter_mut().zip(rest()) {
                    let gradient = lattice.gradient(&state.nodes, rest);
                    for (i, f) in f.iter_mut().enumerate() {
                        *f += gradient.col(i % 3)[i / 3] as f32;
                    }
                }
                body
            }
        }
    }

    fn moving(&self, body: &Body) -> Moving {
        Moving {
            displacement: body.at.iter().zip(&self.rest_places).map(|(at, rest)| (*at - rest.at).to_array()).collect(),
            velocity: body.velocity.clone(),
            affine: body.affine.clone(),
            deformation: body.deformation.clone(),
        }
    }

    /// Displacements of the nodes from those of the particles: their weighted mean, each continued by its own gradient, so that
    /// uniform strains are met exactly.
    fn fitted(&self, body: &Body) -> Vec<f64> {
        let lattice = &self.elastic.lattice;
        let mut nodes = vec![0.0; lattice.len()];
        let mut weights = vec![0.0; lattice.len()];
        for (p, rest) in self.rest_places.iter().enumerate() {
            let u = body.at[p] - rest.at;
            let f = body.deformation[p].map(f64::from);
            let spot = lattice.spot(rest.at);
            lattice.continue_from(&spot, rest.at, |node, weight, arm| {
                for c in 0..3 {
                    let h = Vec3::new(f[3 * c], f[3 * c + 1], f[3 * c + 2]);
                    let moved = u[c] + h.dot(arm) - arm[c];
                    nodes[node + c * lattice.component()] += weight * f64::from(rest.part) * moved;
                }
                weights[node] += weight * f64::from(rest.part);
            });
        }
        for node in 0..lattice.len() {
            if weights[node] > 0.0 {
                for c in 0..3 {
                    nodes[node + c * lattice.component()] /= weights[node];
                }
            }
        }
        for &(ghost, inner) in &self.pairs {
            for c in 0..3 {
                nodes[ghost + c * lattice.component()] = -nodes[inner + c * lattice.component()];
            }
        }
        nodes
    }

    /// Kinetic and strain energy of a state.
    pub fn energy(&self, state: &GelState) -> Energy {
        self.energy_of(&self.body(state))
    }

    fn energy_of(&self, body: &Body) -> Energy {
        let volume = self.elastic.lattice.particle_m3();
        let mass = volume * self.parameters.density_kg_per_m3 * self.parameters.mass_scaling;
        let mut sum = Energy::default();
        for p in 0..body.at.len() {
            let part = f64::from(body.part[p]);
            let squared: f64 = body.velocity[p].iter().map(|&v| f64::from(v) * f64::from(v)).sum();
            sum.kinetic_j += 0.5 * mass * part * squared;
            sum.strain_j += volume * part * energy::density_j_per_m3(&self.parameters, &body.deformation[p]);
        }
        sum
    }
}

/// Where an object was `left_s` before the end.
fn before(target: &Target<'_>, left_s: f64) -> Pose {
    let turn = Quat::from_scaled_axis(-target.velocity.angular * left_s);
    Pose::new(turn, -target.velocity.linear * left_s) * target.sensor_from_object
}

impl Run<'_> {
    /// Which points may be touched before the next look: those near enough to come to an object, or an object to them.
    fn look(&mut self, engine: &Engine, indenters: &[Indenter<'_>]) {
        let edge = self.gel.elastic.lattice.cell_m.max_element();
        let speed = |t: &Target<'_>| {
            t.velocity.linear.length() + t.velocity.angular.length() * t.object.surface.bounds().size().length()
        };
        let fastest = self.targets.iter().map(speed).fold(0.0, f64::max);
        // The gel follows what pushes it, and may spring back faster: twice that, and a hundredth of a cell.
        self.nearer_m = 2.0 * fastest * self.dt_s + 0.01 * edge;
        let reach = self.nearer_m * LOOK_AGAIN as f64;
        self.candidates.clear();
        self.clear_m.fill(0.0);
        for (point, carrier) in self.gel.carriers.iter().enumerate() {
            let at = carrier.point(engine.particle(carrier.particle as usize));
            if self.holds[point].is_some() || indenters.iter().any(|indenter| indenter.is_near(at, reach)) {
                self.candidates.push(point as u32);
            }
        }
    }

    fn push(&mut self, grid: &mut Grid<'_>, indenters: &[Indenter<'_>]) {
        let gel = self.gel;
        let edge = gel.elastic.lattice.cell_m.min_element();
        let stiffness = CONTACT * gel.parameters.confined_pa() / edge;
        let mu = gel.parameters.friction.mu();
        for (held, carrier) in gel.held.iter().zip(&gel.held_carriers) {
            let (center, deformation) = grid.particle(carrier.particle as usize);
            let arm = deformation * carrier.arm;
            let force = (held.rest - center - arm) * (stiffness * held.area_m2);
            grid.push(carrier.particle as usize, arm, force * (self.dt_s / self.particle_kg));
        }
        for &point in &self.candidates {
            let index = point as usize;
            self.clear_m[index] -= self.nearer_m;
            if self.clear_m[index] > 0.0 {
                continue;
            }
            let carrier = &gel.carriers[index];
            let (center, deformation) = grid.particle(carrier.particle as usize);
            let arm = deformation * carrier.arm;
            let at = center + arm;
            let reach = self.nearer_m * LOOK_AGAIN as f64;
            let mut nearest: Option<(u32, Gap)> = None;
            for (object, indenter) in indenters.iter().enumerate() {
                if let Some(gap) = indenter.gap(at, reach)
                    && nearest.is_none_or(|(_, best)| gap.distance_m < best.distance_m)
                {
                    nearest = Some((object as u32, gap));
                }
            }
            let Some((object, gap)) = nearest.filter(|(_, gap)| gap.distance_m < 0.0) else {
                self.holds[index] = None;
                self.clear_m[index] = nearest.map_or(reach, |(_, gap)| gap.distance_m);
                continue;
            };
            let area = gel.points[index].area_m2;
            let press = -stiffness * gap.distance_m * area;
            let mut force = gap.normal * press;
            let indenter = &indenters[object as usize];
            let before = self.holds[index].filter(|hold| hold.object == object);
            let mut anchor = before.map_or_else(|| indenter.in_object(at), |hold| hold.anchor);
            if mu > 0.0 {
                let stretch = at - indenter.in_sensor(anchor);
                let slip = stretch - gap.normal * stretch.dot(gap.normal);
                let rub = slip * (-stiffness * area);
                let limit = mu * press;
                if rub.length() > limit {
                    let bounded = rub * (limit / rub.length());
                    force += bounded;
                    // The bristle that is left is just at the limit.
                    anchor = indenter.in_object(at + bounded / (stiffness * area));
                } else {
                    force += rub;
                }
            }
            self.holds[index] = Some(Hold { point, object, pressure_pa: press / area, anchor });
            let impulse = force * self.dt_s;
            grid.push(carrier.particle as usize, arm, impulse / self.particle_kg);
            let given = self.given[index].filter(|given| given.object == object);
            let (sum, normal) = given.map_or((Vec3::ZERO, Vec3::ZERO), |given| (given.impulse, given.normal));
            self.given[index] = Some(Given {
                object,
                impulse: sum + impulse,
                normal: normal + gap.normal * (press * self.dt_s),
                at,
                gap,
            });
        }
    }
}
