//! What a world reports besides its readings: loads that no sensor reads, and bodies that have sunk or are lost.

use super::{BodyId, BodyKind, Placed, SensorId, World};
use crate::WorldWarning;
use dermis_geometry::{Bounds, Vec3, Wrench};
use rapier3d_f64::prelude as rapier;

/// Smallest load (N) that is reported.
const MIN_NEWTON: f64 = 1e-6;
/// Number of steps between two searches for bodies that left.
const STEPS_BETWEEN_SEARCHES: u64 = 16;
/// A bounce of fewer steps is reported if the body leaves at this speed (m/s) or faster.
const FEW_STEPS: u64 = 20;
const BOUNCE_M_PER_S: f64 = 0.02;
/// A bounce of n steps on undamped springs loses this part of the speed (%), over n².
const BOUNCE_LOSS_PERCENT: f64 = 500.0;
/// Depth (m) of a solid body in another one that is reported, and speed (m/s) of a body at rest.
const SUNK_M: f64 = 10e-6;
const RESTING_M_PER_S: f64 = 1e-3;
/// The depth of a body that moves, beside its way in a step.
const SUNK_IN_MOTION_M: f64 = 1e-3;
/// Part of its depth that a body in an impact loses until the next search.
const STAYS: f64 = 0.5;
/// A body that moves away more slowly (m/s) has not left.
const LEAVING_M_PER_S: f64 = 1e-3;
/// A body farther than this (m) from all others may have left.
const MIN_DISTANCE_M: f64 = 0.1;

impl World {
    /// Loads that no sensor reads, and bodies that are lost, in the order of their first occurrence.
    pub fn warnings(&self) -> &[WorldWarning] {
        &self.warnings
    }

    /// Updates the warnings after a step.
    pub(super) fn watch(&mut self) {
        for index in 0..self.sensors.len() {
            self.watch_base(index);
            self.watch_passing(index);
            self.watch_bounces(index);
        }
        if self.steps.is_multiple_of(STEPS_BETWEEN_SEARCHES) {
            self.watch_sinking();
            self.watch_leaving();
        }
    }

    /// The bodies in contact with a collider, and the force (N) on each.
    fn pressed(&self, collider: Option<rapier::ColliderHandle>) -> Vec<(BodyId, f64)> {
        let Some(collider) = collider else { return Vec::new() };
        let mut found = Vec::new();
        for pair in self.physics.narrow_phase.contact_pairs_with(collider) {
            let force = pair.total_impulse_magnitude() / self.parameters.step_s;
            let other = if pair.collider1 == collider { pair.collider2 } else { pair.collider1 };
            let body = self.bodies.iter().position(|placed| placed.collider == Some(other));
            found.extend(body.filter(|_| force > MIN_NEWTON).map(|index| (BodyId(index), force)));
        }
        found
    }

    /// Loads on the base of a sensor, and on its carrier beside the skin.
    fn watch_base(&mut self, index: usize) {
        let mounted = &self.sensors[index];
        let on_base = self.pressed(mounted.base.collider);
        let mut beside = self.pressed(self.bodies[mounted.body.0].collider);
        if on_base.is_empty() && beside.is_empty() {
            return;
        }
        beside.retain(|(id, _)| self.load_on(*id, SensorId(index)) != Wrench::ZERO);
        let (sensor, carrier) = (mounted.sensor.name().to_owned(), self.body(mounted.body).name.clone());
        let (depth_mm, time_s) = (mounted.sensor.skin().max_depth_m() * 1e3, self.time_s());
        for (id, peak_newton) in on_base {
            let body = self.body(id).name.clone();
            self.warn(WorldWarning::BottomedOut { sensor: sensor.clone(), body, depth_mm, time_s, peak_newton });
        }
        for (id, peak_newton) in beside {
            let (sensor, carrier, body) = (sensor.clone(), carrier.clone(), self.body(id).name.clone());
            self.warn(WorldWarning::Beside { sensor, body, carrier, time_s, peak_newton });
        }
    }

    /// Bounces with implicit coupling that ended in the last step after a few.
    fn watch_bounces(&mut self, index: usize) {
        if !self.is_implicit(index) {
            return;
        }
        let touched: Vec<BodyId> = self.touchable(self.sensors[index].body).into_iter().map(|(id, _)| id).collect();
        let mounted = &mut self.sensors[index];
        mounted.contact_steps.resize(touched.len(), 0);
        let mut ended = Vec::new();
        for (slot, steps) in mounted.contact_steps.iter_mut().enumerate() {
            let touches = mounted.touch.on_objects.get(slot).is_some_and(|load| *load != Wrench::ZERO);
            match (touches, *steps) {
                (true, _) => *steps += 1,
                (false, 0) => {}
                (false, lasted) => {
                    *steps = 0;
                    if lasted < FEW_STEPS {
                        ended.push((touched[slot], lasted));
                    }
                }
            }
        }
        let (sensor, carrier) = (mounted.sensor.name().to_owned(), mounted.body);
        for (id, steps) in ended {
            if (self.velocity(id).linear - self.velocity(carrier).linear).length() < BOUNCE_M_PER_S {
                continue;
            }
            let lost_percent = (BOUNCE_LOSS_PERCENT / (steps * steps) as f64).min(90.0);
            let step_s = self.parameters.step_s * steps as f64 / FEW_STEPS as f64;
            let (body, sensor, time_s) = (self.body(id).name.clone(), sensor.clone(), self.time_s());
            self.warn(WorldWarning::FewSteps { body, sensor, steps, lost_percent, time_s, step_s });
        }
    }

    /// Bodies whose centre crossed the base of a sensor in the last step.
    fn watch_passing(&mut self, index: usize) {
        let sensor_from_world = self.world_from_sensor(SensorId(index)).inverse();
        let centers: Vec<Vec3> = self
            .bodies()
            .map(|id| sensor_from_world.transform_point(self.pose(id).transform_point(self.bodies[id.0].center())))
            .collect();
        let mounted = &mut self.sensors[index];
        let before = std::mem::replace(&mut mounted.centers, centers);
        let mounted = &self.sensors[index];
        let passed: Vec<WorldWarning> = before
            .iter()
            .zip(&mounted.centers)
            .enumerate()
            .filter(|(body, _)| *body != mounted.body.0 && self.bodies[*body].body.object.is_some())
            .filter(|(_, (from, to))| mounted.base.crossed(**from, **to))
            .map(|(body, _)| WorldWarning::PassedThrough {
                body: self.bodies[body].body.name.clone(),
                sensor: mounted.sensor.name().to_owned(),
                time_s: self.time_s(),
            })
            .collect();
        passed.into_iter().for_each(|warning| self.warn(warning));
    }

    /// Solid bodies that have sunk into each other or into the ground, in two searches: an impact is shorter.
    fn watch_sinking(&mut self) {
        let body_of = |collider| self.bodies.iter().position(|placed| placed.collider == Some(collider));
        let speed = |body: &usize| {
            let rigid = &self.physics.bodies[self.bodies[*body].handle];
            rigid.linvel().length() + rigid.angvel().length() * self.bodies[*body].size_m()
        };
        let (mut sunk, mut found) = (Vec::new(), Vec::new());
        for pair in self.physics.narrow_phase.contact_pairs() {
            // Of the contacts that act; where a skin is between them, none does.
            let acting = pair.solver_manifolds().iter().flat_map(|manifold| manifold.data.solver_contacts.iter());
            let depth_m = acting.map(|contact| -contact.dist).fold(0.0, f64::max);
            let mut bodies: Vec<usize> = [pair.collider1, pair.collider2].into_iter().filter_map(body_of).collect();
            let on_ground = [pair.collider1, pair.collider2].into_iter().any(|one| self.ground == Some(one));
            let fastest = bodies.iter().map(speed).fold(0.0, f64::max);
            let rests = fastest < RESTING_M_PER_S;
            if depth_m < if rests { SUNK_M } else { SUNK_IN_MOTION_M + fastest * self.parameters.step_s } {
                continue;
            }
            let name = |body: usize| self.bodies[body].body.name.clone();
            let (body, other) = match (bodies.pop(), bodies.pop()) {
                (Some(body), None) if on_ground => (name(body), "the ground".to_owned()),
                (Some(body), Some(other)) => (name(body), format!("{:?}", name(other))),
                _ => continue,
            };
            let pair = (body, other);
            // A body in an impact is soon pushed out.
            let stays = |before_m: f64| !rests || depth_m > STAYS * before_m;
            if self.sunk.iter().any(|(known, before_m)| *known == pair && stays(*before_m)) {
                let (body, other) = pair.clone();
                sunk.push(WorldWarning::Sunk { body, other, depth_mm: 1e3 * depth_m, time_s: self.time_s() });
            }
            found.push((pair, depth_m));
        }
        self.sunk = found;
        sunk.into_iter().for_each(|warning| self.warn(warning));
    }

    /// Free bodies below the ground, or without a ground far from all others.
    fn watch_leaving(&mut self) {
        let lost = |world: &Self, id: BodyId| {
            let name = &world.body(id).name;
            world.warnings.iter().any(|w| matches!(w, WorldWarning::Left { body, .. } if body == name))
        };
        let mut left = Vec::new();
        for id in self.bodies().filter(|id| matches!(self.body(*id).kind, BodyKind::Free(_)) && !lost(self, *id)) {
            let (center, size) =
                (self.pose(id).transform_point(self.bodies[id.0].center()), self.bodies[id.0].size_m());
            let is_out = match self.parameters.ground_z_m {
                Some(z_m) => self.bodies[id.0].collider.is_some() && center.z < z_m - size,
                None => {
                    let others = self.bodies().filter(|other| *other != id && !lost(self, *other));
                    let points = others
                        .map(|other| self.pose(other).transform_point(self.bodies[other.0].center()))
                        .chain(self.sensors().map(|sensor| self.world_from_sensor(sensor).translation));
                    let sizes = self.bodies.iter().map(Placed::size_m).sum::<f64>();
                    let around = Bounds::around(points);
                    let away = center - center.clamp(around.min, around.max);
                    // A body that rests, or falls towards the others, or will, has not left.
                    let speed = self.velocity(id).linear.dot(away.normalize_or_zero());
                    let returns = speed < LEAVING_M_PER_S || self.parameters.gravity.dot(away) < 0.0;
                    away.length() > (around.size().length() + sizes).max(MIN_DISTANCE_M) && !returns
                }
            };
            if is_out {
                left.push(WorldWarning::Left { body: self.body(id).name.clone(), time_s: self.time_s() });
            }
        }
        left.into_iter().for_each(|warning| self.warn(warning));
    }

    /// Adds a warning, or raises the peak of the same one.
    fn warn(&mut self, new: WorldWarning) {
        use WorldWarning::{Beside, BottomedOut, FewSteps, PassedThrough, Sunk};
        for known in &mut self.warnings {
            match (known, &new) {
                (
                    BottomedOut { sensor, body, peak_newton, .. },
                    BottomedOut { sensor: s, body: b, peak_newton: p, .. },
                )
                | (Beside { sensor, body, peak_newton, .. }, Beside { sensor: s, body: b, peak_newton: p, .. })
                    if sensor == s && body == b =>
                {
                    *peak_newton = peak_newton.max(*p);
                    return;
                }
                (Sunk { body, other, depth_mm, .. }, Sunk { body: b, other: o, depth_mm: d, .. })
                    if body == b && other == o =>
                {
                    *depth_mm = depth_mm.max(*d);
                    return;
                }
                (
                    FewSteps { body, sensor, steps, lost_percent, step_s, .. },
                    FewSteps { body: b, sensor: o, steps: n, lost_percent: l, step_s: d, .. },
                ) if body == b && sensor == o => {
                    (*steps, *lost_percent, *step_s) = ((*steps).min(*n), lost_percent.max(*l), step_s.min(*d));
                    return;
                }
                (PassedThrough { body, sensor, .. }, PassedThrough { body: b, sensor: s, .. })
                    if body == b && sensor == s =>
                {
                    return;
                }
                _ => {}
            }
        }
        self.warnings.push(new);
    }
}

impl Placed {
    /// Centre of the visible mesh, in the body's frame.
    fn center(&self) -> Vec3 {
        self.extent.center()
    }

    /// Diagonal (m) of the visible mesh.
    fn size_m(&self) -> f64 {
        self.extent.size().length()
    }
}
