//! The bodies, the sensors, and the step.

use crate::ground::{Standing, outermost_points};
use crate::joint::JoinedJoint;
use crate::stability::{Loaded, Stability, largest_stable_step_s};
use crate::{Body, BodyId, BodyKind, Drive, Joint, JointId, JointKind, WorldError, require_positive};
use dermis_geometry::{MassProperties, Pose, Twist, Vec3, Wrench};
use dermis_sensor::{Reading, ResponseState, Sensor};
use dermis_skin::{Motion, Object, State, Target, Touch};
use rapier3d_f64::prelude as rapier;
use std::sync::Arc;

/// What holds for the whole world.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WorldParameters {
    /// Gravity (m/s²).
    pub gravity: Vec3,
    /// Time step (s).
    pub step_s: f64,
    /// Height (m) of a level ground that solid bodies stand on, if there is one.
    pub ground_z_m: Option<f64>,
    /// Coefficient of friction on it.
    pub ground_friction: f64,
}

impl Default for WorldParameters {
    /// 9.81 m/s² along −z, steps of 1 ms, no ground (and 0.5 for friction on one).
    fn default() -> Self {
        Self { gravity: Vec3::new(0.0, 0.0, -9.81), step_s: 1e-3, ground_z_m: None, ground_friction: 0.5 }
    }
}

/// A sensor of a world.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SensorId(pub(crate) usize);

struct Placed {
    body: Body,
    handle: rapier::RigidBodyHandle,
    /// 1/m and 1/I_min of a free body: how easily it is moved and turned.
    ease: Option<(f64, f64)>,
    standing: Option<Standing>,
}

struct Mounted {
    sensor: Sensor,
    body: BodyId,
    body_from_sensor: Pose,
    state: State,
    touch: Touch,
    response: ResponseState,
    reading: Reading,
}

/// Rigid bodies with tactile sensors. See the crate's page.
pub struct World {
    parameters: WorldParameters,
    physics: rapier::PhysicsWorld,
    bodies: Vec<Placed>,
    sensors: Vec<Mounted>,
    joints: Vec<JoinedJoint>,
    steps: u64,
    checked: bool,
}

/// No contact of the engine between a sensor's body and anything that sensors can feel.
struct NoContactWithSensors {
    sensor_bodies: Vec<rapier::RigidBodyHandle>,
    touchable: Vec<rapier::RigidBodyHandle>,
}

impl rapier::PhysicsHooks for NoContactWithSensors {
    fn filter_contact_pair(&self, context: &rapier::PairFilterContext) -> Option<rapier::SolverFlags> {
        let (Some(a), Some(b)) = (context.rigid_body1, context.rigid_body2) else {
            return Some(rapier::SolverFlags::COMPUTE_RIGID_IMPULSES);
        };
        let pair = |sensor, other| self.sensor_bodies.contains(&sensor) && self.touchable.contains(&other);
        if pair(a, b) || pair(b, a) { None } else { Some(rapier::SolverFlags::COMPUTE_RIGID_IMPULSES) }
    }
}

impl World {
    /// An empty world.
    pub fn new(parameters: WorldParameters) -> Result<Self, WorldError> {
        require_positive("world", "time_step", "s", parameters.step_s)?;
        if !parameters.gravity.is_finite() {
            return Err(WorldError::NotFinite { whose: "world".into(), key: "gravity" });
        }
        let mut physics = rapier::PhysicsWorld::new();
        physics.gravity = parameters.gravity;
        let rules = &mut physics.integration_parameters;
        rules.dt = parameters.step_s;
        // More passes would hold a spring's force over all of them and pump energy into it.
        rules.num_solver_iterations = 1;
        // Things here are centimetres large: tolerances of the engine's own contacts scale with this.
        rules.length_unit = 0.01;
        Ok(Self {
            parameters,
            physics,
            bodies: Vec::new(),
            sensors: Vec::new(),
            joints: Vec::new(),
            steps: 0,
            checked: false,
        })
    }

    /// Puts a body in.
    pub fn add_body(&mut self, body: Body) -> Result<BodyId, WorldError> {
        body.check()?;
        if self.bodies.iter().any(|placed| placed.body.name == body.name) {
            return Err(WorldError::Duplicate { name: body.name });
        }
        let builder = match &body.kind {
            BodyKind::Fixed => rapier::RigidBodyBuilder::fixed(),
            BodyKind::Driven => rapier::RigidBodyBuilder::kinematic_velocity_based(),
            BodyKind::Free(mass) => rapier::RigidBodyBuilder::dynamic().additional_mass_properties(
                rapier::MassProperties::with_inertia_matrix(mass.center_m, mass.mass_kg, mass.inertia_kg_m2),
            ),
        };
        let center = match &body.kind {
            BodyKind::Free(mass) => body.world_from_body.transform_vector(mass.center_m),
            _ => Vec3::ZERO,
        };
        let handle = self.physics.bodies.insert(
            builder
                .pose(rapier::Pose::from_parts(body.world_from_body.translation, body.world_from_body.rotation))
                .linvel(body.velocity.at(center))
                .angvel(body.velocity.angular)
                .can_sleep(false),
        );
        if body.solid
            && let Some(hull) = body.object.as_ref().and_then(|object| hull(object))
        {
            let collider = hull.density(0.0).friction(0.5).active_hooks(rapier::ActiveHooks::FILTER_CONTACT_PAIRS);
            self.physics.colliders.insert_with_parent(collider, handle, &mut self.physics.bodies);
        }
        // Masses are settled now, so that the first forces already act on them.
        if let Some(rigid) = self.physics.bodies.get_mut(handle) {
            rigid.recompute_mass_properties_from_colliders(&self.physics.colliders);
        }
        let ease = match &body.kind {
            BodyKind::Free(mass) => Some((1.0 / mass.mass_kg, 1.0 / least_inertia(mass))),
            _ => None,
        };
        let standing = match (&body.kind, &body.object, self.parameters.ground_z_m) {
            (BodyKind::Free(mass), Some(object), Some(_)) if body.solid => {
                let p = &self.parameters;
                Some(Standing::new(object.surface.mesh(), mass, p.ground_friction, p.step_s))
            }
            _ => None,
        };
        self.bodies.push(Placed { body, handle, ease, standing });
        self.checked = false;
        Ok(BodyId(self.bodies.len() - 1))
    }

    /// Mounts a sensor on a body.
    pub fn mount(&mut self, sensor: Sensor, body: BodyId, body_from_sensor: Pose) -> SensorId {
        let (state, response, touch) = (sensor.skin().rest(), sensor.chain().rest(), Touch::default());
        let reading = sensor.read(&touch);
        self.sensors.push(Mounted { sensor, body, body_from_sensor, state, touch, response, reading });
        self.checked = false;
        SensorId(self.sensors.len() - 1)
    }

    /// Joins two bodies where they are.
    pub fn join(&mut self, joint: Joint) -> JointId {
        let (parent, child) = (self.pose(joint.parent), self.pose(joint.child));
        let joined = JoinedJoint::new(joint, &parent, &child);
        let axis_in_child = child.inverse().transform_vector(joint.axis);
        let locked = match joint.kind {
            JointKind::Prismatic => rapier::JointAxesMask::LOCKED_PRISMATIC_AXES,
            JointKind::Revolute => rapier::JointAxesMask::LOCKED_REVOLUTE_AXES,
        };
        // Both frames get the axis as x; the child's is turned so that the two agree now.
        let parent_x = joined.axis_in_parent;
        let turn_parent = dermis_geometry::Quat::from_rotation_arc(Vec3::X, parent_x.normalize());
        let world_turn = parent.rotation * turn_parent;
        let turn_child = child.rotation.inverse() * world_turn;
        let builder = rapier::GenericJointBuilder::new(locked)
            .local_frame1(rapier::Pose::from_parts(joined.point_in_parent, turn_parent))
            .local_frame2(rapier::Pose::from_parts(joined.point_in_child, turn_child));
        debug_assert!((turn_child * Vec3::X - axis_in_child).length() < 1e-9);
        let (a, b) = (self.bodies[joint.parent.0].handle, self.bodies[joint.child.0].handle);
        self.physics.multibody_joints.insert(a, b, builder, true);
        self.joints.push(joined);
        JointId(self.joints.len() - 1)
    }

    /// Sets what drives a joint.
    pub fn drive(&mut self, joint: JointId, drive: Drive) {
        self.joints[joint.0].drive = drive;
    }

    /// Position (m, rad) and velocity (m/s, rad/s) of a joint.
    pub fn joint(&self, id: JointId) -> (f64, f64) {
        let joined = &self.joints[id.0];
        let (parent, child) = (self.pose(joined.joint.parent), self.pose(joined.joint.child));
        let position = joined.position(&parent, &child);
        let axis = parent.transform_vector(joined.axis_in_parent);
        let point = child.transform_point(joined.point_in_child);
        let relative = |body: BodyId| self.velocity(body).moved(point - self.pose(body).translation);
        let motion = relative(joined.joint.child) - relative(joined.joint.parent);
        let velocity = match joined.joint.kind {
            JointKind::Prismatic => motion.linear.dot(axis),
            JointKind::Revolute => motion.angular.dot(axis),
        };
        (position, velocity)
    }

    /// Where a body is.
    pub fn pose(&self, body: BodyId) -> Pose {
        let position = self.physics.bodies[self.bodies[body.0].handle].position();
        Pose::new(position.rotation, position.translation)
    }

    /// How a body moves, at its origin, in the world's frame.
    pub fn velocity(&self, body: BodyId) -> Twist {
        let rigid = &self.physics.bodies[self.bodies[body.0].handle];
        let at_center = Twist::new(rigid.linvel(), rigid.angvel());
        at_center.moved(rigid.position().translation - rigid.center_of_mass())
    }

    /// Sets how a driven body moves, at its origin, in the world's frame.
    pub fn set_velocity(&mut self, body: BodyId, velocity: Twist) {
        let rigid = &mut self.physics.bodies[self.bodies[body.0].handle];
        let at_center = velocity.moved(rigid.center_of_mass() - rigid.position().translation);
        rigid.set_linvel(at_center.linear, true);
        rigid.set_angvel(at_center.angular, true);
    }

    /// The body as it was put in.
    pub fn body(&self, body: BodyId) -> &Body {
        &self.bodies[body.0].body
    }

    /// All bodies.
    pub fn bodies(&self) -> impl Iterator<Item = BodyId> + use<> {
        (0..self.bodies.len()).map(BodyId)
    }

    /// All sensors.
    pub fn sensors(&self) -> impl Iterator<Item = SensorId> + use<> {
        (0..self.sensors.len()).map(SensorId)
    }

    /// A sensor.
    pub fn sensor(&self, id: SensorId) -> &Sensor {
        &self.sensors[id.0].sensor
    }

    /// Where a sensor is.
    pub fn world_from_sensor(&self, id: SensorId) -> Pose {
        let mounted = &self.sensors[id.0];
        self.pose(mounted.body) * mounted.body_from_sensor
    }

    /// What a sensor's skin felt in the last step.
    pub fn touch(&self, id: SensorId) -> &Touch {
        &self.sensors[id.0].touch
    }

    /// What a sensor reports after the last step, with all of its response.
    pub fn reading(&self, id: SensorId) -> Reading {
        self.sensors[id.0].reading.clone()
    }

    /// Load of the last step on the body `touched` from the sensor, in the world's frame about the sensor's origin.
    pub fn load_on(&self, touched: BodyId, from: SensorId) -> Wrench {
        let mounted = &self.sensors[from.0];
        let slot = self.touchable(mounted.body).iter().position(|&(id, _)| id == touched);
        let wrench = slot.and_then(|slot| mounted.touch.on_objects.get(slot).copied()).unwrap_or(Wrench::ZERO);
        wrench.turned(&self.world_from_sensor(from))
    }

    /// Time since the start (s).
    pub fn time_s(&self) -> f64 {
        self.steps as f64 * self.parameters.step_s
    }

    /// Steps since the start.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// What holds for the whole world.
    pub fn parameters(&self) -> &WorldParameters {
        &self.parameters
    }

    /// Everything a sensor on `mount` can feel.
    fn touchable(&self, mount: BodyId) -> Vec<(BodyId, &Arc<Object>)> {
        self.bodies
            .iter()
            .enumerate()
            .filter(|(index, _)| *index != mount.0)
            .filter_map(|(index, placed)| placed.body.object.as_ref().map(|object| (BodyId(index), object)))
            .collect()
    }

    /// One step.
    pub fn step(&mut self) -> Result<(), WorldError> {
        if !self.checked {
            self.refuse_beyond(self.stability())?;
            self.checked = true;
        }
        for placed in &self.bodies {
            let rigid = &mut self.physics.bodies[placed.handle];
            rigid.reset_forces(false);
            rigid.reset_torques(false);
        }
        self.stand();
        for index in 0..self.sensors.len() {
            self.feel(index)?;
        }
        // A trace bounds the eigenvalues at little cost; the full matrices are built only when it says too much.
        if self.parameters.step_s > self.cheap_limit_s() {
            self.refuse_beyond(self.present_stability())?;
        }
        for index in 0..self.joints.len() {
            self.push(JointId(index));
        }
        let hooks = NoContactWithSensors {
            sensor_bodies: self.sensors.iter().map(|mounted| self.bodies[mounted.body.0].handle).collect(),
            touchable: self.bodies.iter().filter(|p| p.body.object.is_some()).map(|p| p.handle).collect(),
        };
        self.physics.step_with_events(&hooks, &());
        self.steps += 1;
        match self.bodies().find(|&id| !self.pose(id).is_finite()) {
            Some(id) => Err(WorldError::Diverged { body: self.body(id).name.clone(), time_s: self.time_s() }),
            None => Ok(()),
        }
    }

    /// Steps until a time (s), calling `each` after every step; it may stop the run by returning false.
    pub fn run_until(
        &mut self,
        time_s: f64,
        mut each: impl FnMut(&mut Self) -> Result<bool, WorldError>,
    ) -> Result<(), WorldError> {
        let last = (time_s / self.parameters.step_s).round() as u64;
        while self.steps < last {
            self.step()?;
            if !each(self)? {
                break;
            }
        }
        Ok(())
    }

    /// Asks a sensor's skin and gives the forces to both bodies.
    fn feel(&mut self, index: usize) -> Result<(), WorldError> {
        let mounted = &self.sensors[index];
        let world_from_sensor = self.world_from_sensor(SensorId(index));
        let arm = world_from_sensor.translation - self.pose(mounted.body).translation;
        let sensor_velocity = self.velocity(mounted.body).moved(arm);
        let touchable = self.touchable(mounted.body);
        let targets: Vec<Target<'_>> = touchable
            .iter()
            .map(|(id, object)| {
                Target::from_world(object, &self.pose(*id), &self.velocity(*id), &world_from_sensor, &sensor_velocity)
            })
            .collect();
        let answer = mounted.sensor.touch(&mounted.state, &Motion { targets: &targets }, self.parameters.step_s);
        let (touch, state) = answer.map_err(|error| WorldError::Skin {
            sensor: mounted.sensor.name().to_owned(),
            time_s: self.time_s(),
            error,
        })?;
        let sensed = mounted.sensor.sense(&mounted.response, &touch, self.parameters.step_s);
        let (reading, response) = sensed.map_err(|error| WorldError::Response {
            sensor: mounted.sensor.name().to_owned(),
            time_s: self.time_s(),
            error,
        })?;
        let touched: Vec<BodyId> = touchable.iter().map(|(id, _)| *id).collect();
        let mount = mounted.body;
        let give = |world: &mut Self, body: BodyId, wrench: &Wrench| {
            if *wrench == Wrench::ZERO {
                return;
            }
            let rigid = &mut world.physics.bodies[world.bodies[body.0].handle];
            let in_world = wrench.turned(&world_from_sensor);
            let about_center = in_world.moved(rigid.center_of_mass() - world_from_sensor.translation);
            rigid.add_force(about_center.force, false);
            rigid.add_torque(about_center.torque, false);
        };
        give(self, mount, &touch.on_sensor);
        for (id, wrench) in touched.iter().zip(&touch.on_objects) {
            give(self, *id, wrench);
        }
        let mounted = &mut self.sensors[index];
        (mounted.touch, mounted.state) = (touch, state);
        (mounted.reading, mounted.response) = (reading, response);
        Ok(())
    }

    /// Gives solid bodies the load of the ground.
    fn stand(&mut self) {
        let Some(z_m) = self.parameters.ground_z_m else { return };
        for index in 0..self.bodies.len() {
            let (pose, velocity) = (self.pose(BodyId(index)), self.velocity(BodyId(index)));
            let placed = &mut self.bodies[index];
            let Some(standing) = &mut placed.standing else { continue };
            let load = standing.push(z_m, &pose, &velocity, self.parameters.step_s);
            let rigid = &mut self.physics.bodies[placed.handle];
            let about_center = load.moved(rigid.center_of_mass() - pose.translation);
            rigid.add_force(about_center.force, false);
            rigid.add_torque(about_center.torque, false);
        }
    }

    /// Applies a joint's drive to both bodies.
    fn push(&mut self, id: JointId) {
        let (position, velocity) = self.joint(id);
        let joined = &self.joints[id.0];
        let effort = joined.drive.effort(position, velocity);
        if effort == 0.0 {
            return;
        }
        let axis = self.pose(joined.joint.parent).transform_vector(joined.axis_in_parent);
        let point = self.pose(joined.joint.child).transform_point(joined.point_in_child);
        let (kind, parent, child) = (joined.joint.kind, joined.joint.parent, joined.joint.child);
        for (body, sign) in [(child, 1.0), (parent, -1.0)] {
            let rigid = &mut self.physics.bodies[self.bodies[body.0].handle];
            match kind {
                JointKind::Prismatic => rigid.add_force_at_point(axis * (sign * effort), point, false),
                JointKind::Revolute => rigid.add_torque(axis * (sign * effort), false),
            }
        }
    }

    fn mass(&self, body: BodyId) -> Option<&MassProperties> {
        match &self.bodies[body.0].body.kind {
            BodyKind::Free(mass) => Some(mass),
            _ => None,
        }
    }

    fn refuse_beyond(&self, stability: Option<Stability>) -> Result<(), WorldError> {
        match stability {
            Some(Stability { limit_s, body, sensor }) if self.parameters.step_s > limit_s => {
                Err(WorldError::Unstable { body, sensor, step_s: self.parameters.step_s, limit_s })
            }
            _ => Ok(()),
        }
    }

    /// The largest step that is stable when any one object lies centred on any one sensor with all of the skin under
    /// it pressed. `None` when nothing free can be touched.
    pub fn stability(&self) -> Option<Stability> {
        let mut least: Option<Stability> = None;
        for mounted in &self.sensors {
            let pressed = mounted.sensor.skin().fully_pressed();
            let middle = pressed.iter().map(|t| t.at).sum::<Vec3>() / pressed.len().max(1) as f64;
            let upward = pressed.iter().map(|t| t.normal).sum::<Vec3>().normalize_or(Vec3::Z);
            for (id, object) in self.touchable(mounted.body) {
                let size = object.surface.bounds().size();
                let (reach, height) = (0.5 * size.length(), 0.5 * size.min_element());
                let (mut omega_squared, mut gamma) = (0.0, 0.0);
                for (body, lift) in [(id, height), (mounted.body, 0.0)] {
                    let Some(mass) = self.mass(body) else { continue };
                    let centred = MassProperties { center_m: Vec3::ZERO, ..*mass };
                    let mut loaded = Loaded::new(&centred, &Pose::from_translation(middle + upward * lift));
                    for tangent in pressed.iter().filter(|t| (t.at - middle).length() <= reach) {
                        loaded.add(tangent, &Pose::IDENTITY);
                    }
                    let (w, g) = loaded.greatest();
                    omega_squared += w;
                    gamma += g;
                }
                let limit_s = largest_stable_step_s(omega_squared, gamma);
                if limit_s.is_finite() && least.as_ref().is_none_or(|best| limit_s < best.limit_s) {
                    least = Some(Stability {
                        limit_s,
                        body: self.bodies[id.0].body.name.clone(),
                        sensor: mounted.sensor.name().to_owned(),
                    });
                }
            }
        }
        least
    }

    /// A lower bound of the stable step (s) from sums alone: λ_max(M⁻¹K) ≤ Σ k (1/m + r²/I_min) over all contacts.
    fn cheap_limit_s(&self) -> f64 {
        let (mut omega_squared, mut gamma) = (0.0, 0.0);
        for index in 0..self.sensors.len() {
            let mounted = &self.sensors[index];
            let sensor_from_world = self.world_from_sensor(SensorId(index)).inverse();
            let touchable = self.touchable(mounted.body);
            let ease: Vec<Option<(f64, f64, Vec3)>> = touchable
                .iter()
                .map(|(id, _)| *id)
                .chain([mounted.body])
                .map(|id| {
                    let (per_mass, per_inertia) = self.bodies[id.0].ease?;
                    let center = self.physics.bodies[self.bodies[id.0].handle].center_of_mass();
                    Some((per_mass, per_inertia, sensor_from_world.transform_point(center)))
                })
                .collect();
            for facet in &mounted.touch.facets {
                let t = &facet.tangent;
                for (per_mass, per_inertia, center) in
                    [facet.object as usize, ease.len() - 1].into_iter().filter_map(|slot| ease[slot])
                {
                    let weight = per_mass + (t.at - center).length_squared() * per_inertia;
                    omega_squared += weight * t.stiffness_normal.max(t.stiffness_tangential);
                    gamma += weight * t.damping_normal.max(t.damping_tangential);
                }
            }
        }
        largest_stable_step_s(omega_squared, gamma)
    }

    /// The largest step that is stable with the contacts of this moment.
    pub fn present_stability(&self) -> Option<Stability> {
        let mut loads: Vec<Option<Loaded>> =
            self.bodies().map(|id| self.mass(id).map(|mass| Loaded::new(mass, &self.pose(id)))).collect();
        let mut met: Vec<(usize, usize, usize)> = Vec::new();
        for (index, mounted) in self.sensors.iter().enumerate() {
            let world_from_sensor = self.world_from_sensor(SensorId(index));
            let touchable = self.touchable(mounted.body);
            for facet in &mounted.touch.facets {
                let touched = touchable[facet.object as usize].0;
                for body in [touched, mounted.body] {
                    if let Some(load) = &mut loads[body.0] {
                        load.add(&facet.tangent, &world_from_sensor);
                    }
                }
                if !met.contains(&(touched.0, mounted.body.0, index)) {
                    met.push((touched.0, mounted.body.0, index));
                }
            }
        }
        // For each pair the eigenvalues of the coupled system are at most the sum of the two bodies' own.
        let greatest: Vec<(f64, f64)> =
            loads.iter().map(|load| load.as_ref().map_or((0.0, 0.0), Loaded::greatest)).collect();
        met.iter()
            .map(|&(touched, mount, sensor)| Stability {
                limit_s: largest_stable_step_s(
                    greatest[touched].0 + greatest[mount].0,
                    greatest[touched].1 + greatest[mount].1,
                ),
                body: self.bodies[touched].body.name.clone(),
                sensor: self.sensors[sensor].sensor.name().to_owned(),
            })
            .min_by(|a, b| a.limit_s.total_cmp(&b.limit_s))
    }
}

/// The least principal inertia (kg m²).
fn least_inertia(mass: &MassProperties) -> f64 {
    let [a, b, c] = [mass.inertia_kg_m2.x_axis, mass.inertia_kg_m2.y_axis, mass.inertia_kg_m2.z_axis];
    let matrix = nalgebra::Matrix3::new(a.x, b.x, c.x, a.y, b.y, c.y, a.z, b.z, c.z);
    matrix.symmetric_eigenvalues().iter().copied().fold(f64::INFINITY, f64::min)
}

/// The convex hull of an object, for the engine's own contacts.
fn hull(object: &Object) -> Option<rapier::ColliderBuilder> {
    rapier::ColliderBuilder::convex_hull(&outermost_points(object.surface.mesh()))
}
