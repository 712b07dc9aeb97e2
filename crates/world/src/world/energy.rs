//! The energy balance of a world.
//!
//! In a step, a load F that is held changes the kinetic energy of a body by h F·u, with the mean u of the velocities
//! before and after it. The same rule gives the work of every load: friction and damping of the skins from their own
//! forces, contacts of solids from their impulses, drives, and loads on bodies with a prescribed motion. Potential and
//! elastic energy are those of the poses. Nothing is found by subtraction but the residual, which none of these explains:
//! the error of the time steps.
//!
//! The symplectic Euler method has its velocities half a step before and after its poses. The balance belongs to the
//! poses at the start of the last step: its kinetic energy is the mean of those before and after the step, and half of
//! the work of the step counts. So a free fall has no residual, whatever the step, and springs one of second order.

use super::{BodyId, BodyKind, World};
use crate::WorldWarning;
use dermis_geometry::{Mat3, Pose, Twist, Vec3, Wrench};
use dermis_skin::ImplicitContact;
use nalgebra::Vector6;
use rapier3d_f64::prelude as rapier;
use serde::{Deserialize, Serialize};

/// Part of the largest energy that a residual may have. Undamped springs that a bounce loads and unloads in 12 steps
/// with the force at their end lose it.
const MAX_RESIDUAL: f64 = 0.05;
/// A residual below the energy of the lightest free body at this speed (m/s) does not matter: that of a body at rest that
/// settles on its contacts.
const SLOW_M_PER_S: f64 = 0.05;
/// Contact points of a manifold that Rapier solves together.
const POINTS_SOLVED_TOGETHER: usize = 4;
/// Bits of the index of a contact in its manifold.
const CONTACT_INDEX: u64 = 0x7fff_ffff;

/// Energy (J) of a world since its first step: changes of what is stored, what was dissipated, and the work put in.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct EnergyBalance {
    /// Change of the kinetic energy of the free bodies.
    pub kinetic_joule: f64,
    /// Change of their potential energy.
    pub potential_joule: f64,
    /// Change of the energy in skins, with their bristles.
    pub elastic_joule: f64,
    /// Work done on the skins that do not compute their energy, without friction: what they store and what their damping
    /// dissipates, together.
    pub on_skins_joule: f64,
    /// Dissipated by friction on skins; with what is held in the shear of skins that do not compute their energy.
    pub friction_joule: f64,
    /// Dissipated by the damping of skins.
    pub damping_joule: f64,
    /// Dissipated by the contacts of solid bodies, with the ground too.
    pub solids_joule: f64,
    /// Work of the drives of joints.
    pub drives_joule: f64,
    /// Work of what prescribes motions: of driven bodies, and of velocities set by the caller.
    pub prescribed_joule: f64,
    /// The largest of the above over time: what the residual is compared with.
    pub largest_joule: f64,
    /// Kinetic energy of the lightest free body at 50 mm/s: a residual below it does not matter.
    pub small_joule: f64,
    /// True if a skin that does not compute its energy was touched in the first step.
    pub pressed_at_start: bool,
    /// Sensors that were touched and whose skins do not compute their energy.
    pub unknown: Vec<String>,
}

impl EnergyBalance {
    /// What none of the other numbers explains: the error of the time steps (J), positive if energy came from nowhere.
    pub fn residual_joule(&self) -> f64 {
        // What was not pressed at the start cannot give more than was done on it.
        let on_skins = if self.pressed_at_start { self.on_skins_joule } else { self.on_skins_joule.max(0.0) };
        let stored = self.kinetic_joule + self.potential_joule + self.elastic_joule + on_skins;
        let dissipated = self.friction_joule + self.damping_joule + self.solids_joule;
        stored + dissipated - self.drives_joule - self.prescribed_joule
    }

    /// The residual as a part of the largest energy; zero if it is too small to matter.
    pub fn relative_residual(&self) -> f64 {
        let residual = self.residual_joule();
        if residual.abs() <= self.small_joule { 0.0 } else { residual / self.largest_joule }
    }

    /// The warning of a residual that is too large to trust the run.
    pub fn warning(&self, time_s: f64) -> Option<WorldWarning> {
        let part = self.relative_residual();
        (part.abs() > MAX_RESIDUAL).then(|| WorldWarning::EnergyResidual {
            residual_mj: 1e3 * self.residual_joule(),
            percent: 100.0 * part,
            largest_mj: 1e3 * self.largest_joule,
            time_s,
        })
    }

    fn largest(&self) -> f64 {
        let terms = [
            self.kinetic_joule,
            self.potential_joule,
            self.elastic_joule,
            self.on_skins_joule,
            self.friction_joule,
            self.damping_joule,
            self.solids_joule,
            self.drives_joule,
            self.prescribed_joule,
        ];
        terms.into_iter().fold(0.0, |largest, term| largest.max(term.abs()))
    }
}

/// Energy that is stored at an instant (J).
#[derive(Clone, Copy, Debug, Default)]
struct Stored {
    kinetic: f64,
    potential: f64,
    elastic: f64,
    bristles: f64,
}

/// Work in a step (J).
#[derive(Clone, Copy, Debug, Default)]
struct Work {
    on_skins: f64,
    friction: f64,
    damping: f64,
    solids: f64,
    drives: f64,
    prescribed: f64,
}

/// The sums of a balance.
#[derive(Debug, Default)]
pub(super) struct EnergyAccount {
    balance: EnergyBalance,
    /// Energies at the first instant, and those at the start of the last step with the work in it.
    start: Option<Stored>,
    last: Option<(Stored, Work)>,
    /// Velocities, and kinetic and potential energy, at the end of the last step.
    velocities: Vec<Vector6<f64>>,
    mechanical: f64,
    /// Efforts of the drives in this step on each body, about its centre of mass.
    efforts: Vec<(BodyId, Wrench)>,
    /// Contacts of implicit sensors whose skins do not compute their energy.
    held: Vec<(usize, ImplicitContact)>,
}

/// The motion at the start of a step.
pub(super) struct Before {
    velocities: Vec<Vector6<f64>>,
    kinetic: f64,
    potential: f64,
    centers: Vec<Vec3>,
    world_from_sensors: Vec<Pose>,
}

/// Impulse and angular impulse about the centre of mass (N s, N m s).
type Impulse = (Vec3, Vec3);

fn parts(six: &Vector6<f64>) -> (Vec3, Vec3) {
    (Vec3::new(six[0], six[1], six[2]), Vec3::new(six[3], six[4], six[5]))
}

fn power(load: &Wrench, velocity: &Vector6<f64>) -> f64 {
    let (linear, angular) = parts(velocity);
    load.power(&Twist::new(linear, angular))
}

impl World {
    /// Starts the energy balance at the next step.
    pub fn track_energy(&mut self) {
        self.energy = Some(Box::default());
    }

    /// The energy balance at the poses at the start of the last step; `None` without [`World::track_energy`].
    pub fn energy(&self) -> Option<&EnergyBalance> {
        self.energy.as_deref().map(|account| &account.balance)
    }

    /// Keeps the effort of a drive on a body, about its centre of mass.
    pub(super) fn note_effort(&mut self, body: BodyId, load: Wrench) {
        if let Some(account) = &mut self.energy {
            account.efforts.push((body, load));
        }
    }

    /// Keeps the contacts whose normal loads the balance needs.
    pub(super) fn note_held(&mut self, held: Vec<(usize, ImplicitContact)>) {
        if let Some(account) = &mut self.energy {
            account.held = held;
        }
    }

    fn inertia(&self, body: BodyId) -> Option<(f64, Mat3)> {
        let BodyKind::Free(mass) = &self.body(body).kind else { return None };
        let turn = Mat3::from_quat(self.pose(body).rotation);
        Some((mass.mass_kg, turn * mass.inertia_kg_m2 * turn.transpose()))
    }

    fn center(&self, body: BodyId) -> Vec3 {
        self.physics.bodies[self.bodies[body.0].handle].center_of_mass()
    }

    /// Kinetic and potential energy (J).
    fn mechanical(&self, velocities: &[Vector6<f64>]) -> (f64, f64) {
        let (mut kinetic, mut potential) = (0.0, 0.0);
        for (id, velocity) in self.bodies().zip(velocities) {
            let Some((mass_kg, inertia)) = self.inertia(id) else { continue };
            let (linear, angular) = parts(velocity);
            kinetic += 0.5 * (mass_kg * linear.length_squared() + angular.dot(inertia * angular));
            potential -= mass_kg * self.parameters.gravity.dot(self.center(id));
        }
        (kinetic, potential)
    }

    /// The motion before a step, if the balance is tracked.
    pub(super) fn energy_before(&mut self) -> Option<Before> {
        self.energy.as_ref().filter(|_| !std::mem::take(&mut self.restored))?;
        let velocities = self.velocities();
        let (kinetic, potential) = self.mechanical(&velocities);
        let lightest = self.bodies().filter_map(|id| self.inertia(id)).map(|(mass_kg, _)| mass_kg).reduce(f64::min);
        let account = self.energy.as_mut()?;
        account.balance.small_joule = 0.5 * lightest.unwrap_or_default() * SLOW_M_PER_S.powi(2);
        account.efforts.clear();
        account.held.clear();
        if account.last.is_some() {
            // Bodies and velocities that the caller has added since the last step.
            account.balance.prescribed_joule += kinetic + potential - account.mechanical;
        }
        Some(Before {
            velocities,
            kinetic,
            potential,
            centers: self.bodies().map(|id| self.center(id)).collect(),
            world_from_sensors: self.sensors().map(|id| self.world_from_sensor(id)).collect(),
        })
    }

    /// Advances the balance by a step, with the forces on the bodies in it.
    pub(super) fn balance_energy(&mut self, before: &Before, loads: &[Vector6<f64>]) {
        let Some(mut account) = self.energy.take() else { return };
        let after = self.velocities();
        let (kinetic, potential) = self.mechanical(&after);
        let mut stored =
            Stored { kinetic: 0.5 * (before.kinetic + kinetic), potential: before.potential, ..Stored::default() };
        let mut work = Work::default();
        let mean = |id: BodyId| {
            // A prescribed velocity jumps at the start of the step, that of a free body within it.
            let first = match self.body(id).kind {
                BodyKind::Free(_) => before.velocities[id.0],
                _ => account.velocities.get(id.0).copied().unwrap_or(after[id.0]),
            };
            (first + after[id.0]) * 0.5
        };
        let velocities: Vec<Vector6<f64>> = self.bodies().map(mean).collect();
        for index in 0..self.sensors.len() {
            self.add_sensor(index, before, [&velocities, &after], &mut account, &mut stored, &mut work);
        }
        let on_solids = self.add_solids(&velocities, &mut work);
        let step_s = self.parameters.step_s;
        for index in (0..on_solids.len()).filter(|&index| on_solids[index]) {
            // Rapier's contacts of solids also move bodies that have sunk, without a velocity.
            let (velocity, load) = (parts(&after[index]).0, parts(&loads[index]).0);
            let shift = self.center(BodyId(index)) - before.centers[index] - velocity * step_s;
            work.solids += load.dot(shift);
        }
        for (body, load) in &account.efforts {
            let joule = step_s * power(load, &velocities[body.0]);
            work.drives += joule;
            if self.body(*body).kind == BodyKind::Driven {
                work.prescribed -= joule;
            }
        }
        account.velocities = after;
        account.mechanical = kinetic + potential;
        account.advance(stored, work);
        self.energy = Some(account);
    }

    /// Adds the energy of a skin, and the work of its loads.
    fn add_sensor(
        &self,
        index: usize,
        before: &Before,
        [velocities, after]: [&[Vector6<f64>]; 2],
        account: &mut EnergyAccount,
        stored: &mut Stored,
        work: &mut Work,
    ) {
        let mounted = &self.sensors[index];
        if mounted.touch.on_objects.iter().all(|load| *load == Wrench::ZERO) && mounted.touch.facets.is_empty() {
            return;
        }
        let (world_from_sensor, step_s) = (&before.world_from_sensors[index], self.parameters.step_s);
        let sensor_from_world = world_from_sensor.inverse();
        let in_sensor = |id: BodyId, velocities: &[Vector6<f64>]| {
            let (linear, angular) = parts(&velocities[id.0]);
            let at_center = Twist::new(linear, angular);
            at_center.moved(world_from_sensor.translation - before.centers[id.0]).rotated(&sensor_from_world)
        };
        let objects: Vec<BodyId> = self.touchable(mounted.body).into_iter().map(|(id, _)| id).collect();
        let relative = |velocities: &[Vector6<f64>]| -> Vec<Twist> {
            let carrier = in_sensor(mounted.body, velocities);
            objects.iter().map(|id| in_sensor(*id, velocities) - carrier).collect()
        };
        // The velocities of the contact law.
        let law = relative(if self.is_implicit(index) { after } else { &before.velocities });
        let slip = relative(velocities);
        let energy = mounted.sensor.skin().contact_energy(&mounted.touch, &law);
        let [friction_watt, damping_watt] = energy.dissipated_watt(&slip);
        work.friction += step_s * friction_watt;
        stored.bristles += energy.bristles_joule;
        if let Some(elastic) = energy.elastic_joule {
            stored.elastic += elastic;
            work.damping += step_s * damping_watt;
        } else {
            let held = account.held.iter().find(|(sensor, _)| *sensor == index);
            let total = match held {
                Some((_, contact)) => {
                    let normal = contact.normal_loads(&law);
                    normal.iter().zip(&slip).map(|(load, velocity)| load.power(velocity)).sum()
                }
                None => {
                    let loads = mounted.touch.on_objects.iter().zip(&slip);
                    loads.map(|(load, velocity)| -load.power(velocity)).sum::<f64>() - friction_watt
                }
            };
            work.on_skins += step_s * total;
            account.balance.pressed_at_start |= account.start.is_none();
            let name = mounted.sensor.name();
            if !account.balance.unknown.iter().any(|known| known == name) {
                account.balance.unknown.push(name.to_owned());
            }
        }
        let loads = objects.iter().zip(&mounted.touch.on_objects).chain([(&mounted.body, &mounted.touch.on_sensor)]);
        for (id, load) in loads.filter(|(id, _)| self.body(**id).kind == BodyKind::Driven) {
            work.prescribed -= step_s * load.power(&in_sensor(*id, velocities));
        }
    }

    /// Adds the work of the contacts of solids. Returns whether each body has one.
    fn add_solids(&self, velocities: &[Vector6<f64>], work: &mut Work) -> Vec<bool> {
        let mut touched = vec![false; self.bodies.len()];
        for pair in self.physics.narrow_phase.contact_pairs() {
            for manifold in pair.solver_manifolds() {
                let handles = [manifold.data.rigid_body1, manifold.data.rigid_body2];
                let bodies = handles.map(|handle| self.bodies.iter().position(|placed| Some(placed.handle) == handle));
                let joints = &self.physics.multibody_joints;
                let joined = handles.into_iter().flatten().any(|handle| joints.rigid_body_link(handle).is_some());
                for (body, impulse) in bodies.into_iter().zip(manifold_impulses(manifold, joined)) {
                    let Some(body) = body else { continue };
                    let joule = power(&Wrench { force: impulse.0, torque: impulse.1 }, &velocities[body]);
                    work.solids -= joule;
                    if self.bodies[body].body.kind == BodyKind::Driven {
                        work.prescribed -= joule;
                    }
                    touched[body] |= impulse.0 != Vec3::ZERO;
                }
            }
        }
        touched
    }
}

/// The impulses of a manifold on its two bodies, about their centres of mass. Between bodies without joints, friction is
/// that of the points together, at their mean, with a twist about the normal.
fn manifold_impulses(manifold: &rapier::ContactManifold, joined: bool) -> [Impulse; 2] {
    let mut sum = [(Vec3::ZERO, Vec3::ZERO); 2];
    let mut add = |impulse: Vec3, arms: [Vec3; 2]| {
        for ((side, arm), sign) in sum.iter_mut().zip(arms).zip([1.0, -1.0]) {
            side.0 += impulse * sign;
            side.1 += arm.cross(impulse) * sign;
        }
    };
    let mut twist = Vec3::ZERO;
    for solved in manifold.data.solver_contacts.chunks(POINTS_SOLVED_TOGETHER) {
        let index = |contact: &rapier::SolverContact| (contact.contact_id[0] & CONTACT_INDEX) as usize;
        let points: Vec<_> = solved.iter().filter_map(|contact| manifold.points.get(index(contact))).collect();
        let Some(first) = points.first() else { continue };
        for point in &points {
            let arms = [point.data.solver_dp1, point.data.solver_dp2];
            let friction = if joined { point.data.warmstart_tangent_world } else { Vec3::ZERO };
            add(friction - manifold.data.normal * point.data.impulse, arms);
        }
        if !joined {
            let mean = |arm: fn(&rapier::ContactData) -> Vec3| {
                points.iter().map(|point| arm(&point.data)).sum::<Vec3>() / points.len() as f64
            };
            add(first.data.warmstart_tangent_world, [mean(|data| data.solver_dp1), mean(|data| data.solver_dp2)]);
            if points.len() > 1 {
                twist -= manifold.data.normal * first.data.warmstart_twist_impulse;
            }
        }
    }
    sum[0].1 += twist;
    sum[1].1 -= twist;
    sum
}

impl EnergyAccount {
    /// Advances the balance to an instant; half of the work of the steps before and after it counts.
    fn advance(&mut self, stored: Stored, work: Work) {
        let Some((start, last)) = self.start.zip(self.last) else {
            (self.start, self.last) = (Some(stored), Some((stored, work)));
            return;
        };
        let between = |last: f64, now: f64| 0.5 * (last + now);
        let balance = &mut self.balance;
        balance.kinetic_joule = stored.kinetic - start.kinetic;
        balance.potential_joule = stored.potential - start.potential;
        balance.elastic_joule = stored.elastic + stored.bristles - start.elastic - start.bristles;
        balance.on_skins_joule += between(last.1.on_skins, work.on_skins);
        // What the bristles hold is not dissipated.
        balance.friction_joule += between(last.1.friction, work.friction) - (stored.bristles - last.0.bristles);
        balance.damping_joule += between(last.1.damping, work.damping);
        balance.solids_joule += between(last.1.solids, work.solids);
        balance.drives_joule += between(last.1.drives, work.drives);
        balance.prescribed_joule += between(last.1.prescribed, work.prescribed);
        balance.largest_joule = balance.largest_joule.max(balance.largest());
        self.last = Some((stored, work));
    }
}
