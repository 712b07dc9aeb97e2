//! Explicit dynamics of a gel in contact with moving objects.

use super::contact::{ContactPoint, ContactState, nearest};
use super::indenter::{Gap, Indenter};
use super::mpm::{GridImpulses, MpmSetup, MpmSolver, ParticleState, Wall, stable_step_s};
use super::state::Moving;
use super::{Energy, Face, Gel, GelState};
use crate::{Constitution, Motion, Simd, SkinError, Target, Touch};
use dermis_geometry::{Pose, Quat, Vec3};
use std::sync::Arc;

/// Fraction of a cell that a pressure wave crosses in a step.
const COURANT: f64 = 0.3;
/// Contact stiffness divided by that of a confined cell: the maximum that is stable with these steps.
const CONTACT: f64 = 10.0;
/// Maximum number of steps in one call.
const MAX_STEPS: f64 = 1e6;
/// Steps between searches for the points that can come into contact.
const SEARCH_INTERVAL: usize = 32;

/// Contact impulse on a surface point, summed over the steps so far.
#[derive(Clone, Copy, Debug)]
struct PointImpulse {
    object: u32,
    impulse: Vec3,
    /// ∫ f_n n dt, for the mean contact normal.
    normal: Vec3,
    at: Vec3,
    gap: Gap,
}

/// Contact state during one call of [`Gel::advance`].
struct DynamicContact<'a> {
    gel: &'a Gel,
    targets: &'a [Target<'a>],
    dt_s: f64,
    states: Vec<Option<ContactState>>,
    impulses: Vec<Option<PointImpulse>>,
    candidates: Vec<u32>,
    /// Lower bound of the distance (m) of each point to all objects.
    clear_m: Vec<f64>,
    /// Upper bound of the decrease (m) of that distance in a step.
    approach_m: f64,
    particle_kg: f64,
}

impl Gel {
    /// Advances the gel by `dt_s` (s) while objects move to the poses of `motion`, with as many explicit steps as
    /// stability requires. Contact forces are impulses divided by `dt_s`.
    pub fn advance(&self, state: &GelState, motion: &Motion<'_>, dt_s: f64) -> Result<(Touch, GelState), SkinError> {
        if self.parameters.constitution == Constitution::Linear {
            return Err(SkinError::BadGel {
                key: "constitution",
                rule: "\"linear\" holds for a gel at rest only: take \"neo-hookean\" for one that moves".to_owned(),
            });
        }
        let grid = &self.elastic.grid;
        let stable_s = stable_step_s(&self.parameters, grid.cell_m, COURANT);
        let steps = (dt_s / stable_s).ceil().max(1.0);
        if steps > MAX_STEPS || steps.is_nan() {
            let rule = format!("of {dt_s} s takes {steps:.0} steps of {:.3} µs, more than {MAX_STEPS}", stable_s * 1e6);
            return Err(SkinError::BadGel { key: "dt", rule });
        }
        let steps = steps as usize;
        let step_s = dt_s / steps as f64;
        let setup = MpmSetup {
            parameters: self.parameters,
            origin: grid.origin,
            cell_m: grid.cell_m,
            walls: self.walls(),
            prescribed_velocities: Vec::new(),
            dt_s: step_s,
            simd: Simd::detect(),
        };
        let mut solver = MpmSolver::new(setup, &self.particles_of(state));
        let mut states = vec![None; self.points.len()];
        for contact in &state.contacts {
            states[contact.point as usize] = Some(*contact);
        }
        let mut contact = DynamicContact {
            gel: self,
            targets: motion.targets,
            dt_s: step_s,
            states,
            impulses: vec![None; self.points.len()],
            candidates: Vec::new(),
            clear_m: vec![0.0; self.points.len()],
            approach_m: 0.0,
            particle_kg: solver.particle_kg(grid.particle_m3()),
        };
        solver.run(steps, |step, nodes| {
            // Poses of the objects at the end of this step.
            let left_s = dt_s - (step as f64 + 1.0) * step_s;
            let indenters: Vec<Indenter<'_>> =
                motion.targets.iter().map(|t| Indenter::new(t.object, pose_before(t, left_s))).collect();
            if step % SEARCH_INTERVAL == 0 {
                contact.find_candidates(nodes, &indenters);
            }
            contact.apply(nodes, &indenters);
        })?;
        Ok(self.touch_after(&solver, contact, motion, dt_s))
    }

    fn touch_after(
        &self,
        solver: &MpmSolver,
        contact: DynamicContact<'_>,
        motion: &Motion<'_>,
        dt_s: f64,
    ) -> (Touch, GelState) {
        let points: Vec<ContactPoint> = contact
            .impulses
            .iter()
            .enumerate()
            .filter_map(|(point, sum)| {
                let sum = sum.as_ref()?;
                let force = sum.impulse / dt_s;
                let normal = sum.normal.normalize_or(sum.gap.normal);
                let normal_newton = force.dot(normal);
                Some(ContactPoint {
                    point: point as u32,
                    object: sum.object,
                    gap: Gap { normal, ..sum.gap },
                    at: sum.at,
                    normal_newton,
                    friction_newton: force - normal * normal_newton,
                    friction_stiffness: [0.0; 2],
                    slip: Vec3::ZERO,
                })
            })
            .collect();
        let particles = solver.particles();
        let nodes: Arc<[f64]> = self.fit_nodes(&particles).into();
        let mut touch = self.touch_of(&nodes, &points, motion);
        let energy = self.particle_energy(&particles);
        touch.energy = Some(energy);
        touch.warnings.extend(energy.warning());
        touch.base = self.base.as_ref().map(|base| {
            let forces: Vec<Vec3> =
                solver.wall_impulses().iter().map(|impulse| *impulse * (-contact.particle_kg / dt_s)).collect();
            base.field(&self.surface_grid, &forces)
        });
        let displacement = particles.position.iter().zip(&self.rest_particles);
        let moving = Moving {
            displacement: displacement.map(|(at, rest)| (*at - rest.at).to_array()).collect(),
            velocity: particles.velocity,
            affine: particles.affine,
            deformation: particles.deformation,
        };
        let state = GelState {
            nodes,
            contacts: contact.states.into_iter().flatten().collect(),
            poses: motion.targets.iter().map(|target| target.sensor_from_object).collect(),
            moving: Some(Arc::new(moving)),
        };
        (touch, state)
    }

    fn walls(&self) -> Vec<Wall> {
        let grid = &self.elastic.grid;
        let side = |(axis, high): (usize, bool)| {
            let plane = if high { grid.cells[axis] as i32 } else { 0 };
            grid.fixed_faces.has_side(axis, high).then_some(Wall { axis, plane, above: !high, recorded: [0; 2] })
        };
        let sides = [(0, false), (0, true), (1, false), (1, true)].into_iter().filter_map(side);
        let recorded = self.base.as_ref().map_or([0; 2], |base| base.columns);
        let bottom = Wall { axis: 2, plane: 0, above: true, recorded };
        sides.chain(grid.fixed_faces.has(Face::Bottom).then_some(bottom)).collect()
    }

    /// Particles of a state: in motion, or interpolated from the nodes.
    fn particles_of(&self, state: &GelState) -> ParticleState {
        let rest = &self.rest_particles;
        let at_rest = |displacement: &dyn Fn(usize) -> Vec3| {
            let position = rest.iter().enumerate().map(|(p, particle)| particle.at + displacement(p)).collect();
            ParticleState::at_rest(position, rest.iter().map(|particle| particle.volume_fraction).collect())
        };
        let Some(moving) = &state.moving else {
            let grid = &self.elastic.grid;
            let mut particles = at_rest(&|p| grid.at(&state.nodes, &grid.stencil(rest[p].at)));
            for (f, rest) in particles.deformation.iter_mut().zip(rest) {
                let gradient = grid.gradient(&state.nodes, rest.at);
                for (i, f) in f.iter_mut().enumerate() {
                    *f += gradient.col(i % 3)[i / 3] as f32;
                }
            }
            return particles;
        };
        let mut particles = at_rest(&|p| Vec3::from_array(moving.displacement[p]));
        particles.velocity.clone_from(&moving.velocity);
        particles.affine.clone_from(&moving.affine);
        particles.deformation.clone_from(&moving.deformation);
        particles
    }

    /// Nodal displacements from those of the particles: their weighted mean, each extrapolated with its own gradient,
    /// so that uniform strains are reproduced exactly.
    fn fit_nodes(&self, particles: &ParticleState) -> Vec<f64> {
        let grid = &self.elastic.grid;
        let mut nodes = vec![0.0; grid.len()];
        let mut weights = vec![0.0; grid.len()];
        for (p, rest) in self.rest_particles.iter().enumerate() {
            let u = particles.position[p] - rest.at;
            let f = particles.deformation[p].map(f64::from);
            grid.each_node(&grid.stencil(rest.at), rest.at, |node, weight, arm| {
                for c in 0..3 {
                    let h = Vec3::new(f[3 * c], f[3 * c + 1], f[3 * c + 2]);
                    let displacement = u[c] + h.dot(arm) - arm[c];
                    nodes[node + c * grid.component()] += weight * f64::from(rest.volume_fraction) * displacement;
                }
                weights[node] += weight * f64::from(rest.volume_fraction);
            });
        }
        for node in 0..grid.len() {
            if weights[node] > 0.0 {
                for c in 0..3 {
                    nodes[node + c * grid.component()] /= weights[node];
                }
            }
        }
        grid.set_ghosts(&mut nodes);
        nodes
    }

    /// Kinetic and strain energy of a state.
    pub fn energy(&self, state: &GelState) -> Energy {
        self.particle_energy(&self.particles_of(state))
    }

    fn particle_energy(&self, particles: &ParticleState) -> Energy {
        let volume = self.elastic.grid.particle_m3();
        let mass = volume * self.parameters.density_kg_per_m3 * self.parameters.mass_scaling;
        particles.energy(&self.parameters, volume, mass, particles.position.len())
    }
}

/// Pose of an object `left_s` (s) before the end of the motion.
fn pose_before(target: &Target<'_>, left_s: f64) -> Pose {
    let rotation = Quat::from_scaled_axis(-target.velocity.angular * left_s);
    Pose::new(rotation, -target.velocity.linear * left_s) * target.sensor_from_object
}

impl DynamicContact<'_> {
    /// Finds the points that can come into contact before the next search.
    fn find_candidates(&mut self, nodes: &GridImpulses<'_>, indenters: &[Indenter<'_>]) {
        let edge = self.gel.elastic.grid.cell_m.max_element();
        let speed = |t: &Target<'_>| {
            t.velocity.linear.length() + t.velocity.angular.length() * t.object.surface.bounds().size().length()
        };
        let fastest = self.targets.iter().map(speed).fold(0.0, f64::max);
        // The gel follows the objects and may spring back faster: allows twice their speed, and a hundredth of a cell.
        self.approach_m = 2.0 * fastest * self.dt_s + 0.01 * edge;
        let reach = self.approach_m * SEARCH_INTERVAL as f64;
        self.candidates.clear();
        self.clear_m.fill(0.0);
        for (point, attachment) in self.gel.attachments.iter().enumerate() {
            let at = attachment.point(nodes.particle(attachment.particle as usize));
            if self.states[point].is_some() || indenters.iter().any(|indenter| indenter.is_near(at, reach)) {
                self.candidates.push(point as u32);
            }
        }
    }

    /// Applies penalty contact with Coulomb friction at all candidates, and the springs of fixed interfaces.
    fn apply(&mut self, nodes: &mut GridImpulses<'_>, indenters: &[Indenter<'_>]) {
        let gel = self.gel;
        let edge = gel.elastic.grid.cell_m.min_element();
        let stiffness = CONTACT * gel.parameters.confined_pa() / edge;
        let mu = gel.parameters.friction.mu();
        for (interface, attachment) in gel.interfaces.iter().zip(&gel.interface_attachments) {
            let (center, deformation) = nodes.particle(attachment.particle as usize);
            let arm = deformation * attachment.arm;
            let force = (interface.rest - center - arm) * (stiffness * interface.area_m2);
            nodes.push(attachment.particle as usize, arm, force * (self.dt_s / self.particle_kg));
        }
        let reach = self.approach_m * SEARCH_INTERVAL as f64;
        for &point in &self.candidates {
            let index = point as usize;
            self.clear_m[index] -= self.approach_m;
            if self.clear_m[index] > 0.0 {
                continue;
            }
            let attachment = &gel.attachments[index];
            let (center, deformation) = nodes.particle(attachment.particle as usize);
            let arm = deformation * attachment.arm;
            let at = center + arm;
            let nearest = nearest(at, indenters, reach);
            let Some((object, gap)) = nearest.filter(|(_, gap)| gap.distance_m < 0.0) else {
                self.states[index] = None;
                self.clear_m[index] = nearest.map_or(reach, |(_, gap)| gap.distance_m);
                continue;
            };
            let area = gel.points[index].area_m2;
            let normal_newton = -stiffness * gap.distance_m * area;
            let mut force = gap.normal * normal_newton;
            let indenter = &indenters[object as usize];
            let before = self.states[index].filter(|state| state.object == object);
            let mut anchor = before.map_or_else(|| indenter.in_object(at), |state| state.anchor);
            if mu > 0.0 {
                let stretch = at - indenter.in_sensor(anchor);
                let slip = stretch - gap.normal * stretch.dot(gap.normal);
                let friction = slip * (-stiffness * area);
                let limit = mu * normal_newton;
                if friction.length() > limit {
                    let bounded = friction * (limit / friction.length());
                    force += bounded;
                    // Leaves the friction spring at its limit.
                    anchor = indenter.in_object(at + bounded / (stiffness * area));
                } else {
                    force += friction;
                }
            }
            self.states[index] = Some(ContactState { point, object, pressure_pa: normal_newton / area, anchor });
            let impulse = force * self.dt_s;
            nodes.push(attachment.particle as usize, arm, impulse / self.particle_kg);
            let before = self.impulses[index].filter(|sum| sum.object == object);
            let (sum, normal) = before.map_or((Vec3::ZERO, Vec3::ZERO), |sum| (sum.impulse, sum.normal));
            self.impulses[index] = Some(PointImpulse {
                object,
                impulse: sum + impulse,
                normal: normal + gap.normal * (normal_newton * self.dt_s),
                at,
                gap,
            });
        }
    }
}
