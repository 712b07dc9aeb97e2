//! The world: bodies, sensors, joints and the time step.

use crate::inertia::Principal;
use crate::joint::JoinedJoint;
use crate::{
    Body, BodyId, BodyKind, Coupling, Drive, Joint, JointId, JointKind, WorldError, WorldWarning, require_positive,
};
use carrier::{Base, CarriedSkin, CarrierContacts};
use dermis_geometry::{Bounds, Pose, Twist, Vec3, Wrench};
use dermis_sensor::{Reading, ResponseState, Sensor};
use dermis_skin::{MissedObjects, Motion, Object, State, Target, Touch};
use energy::EnergyAccount;
use nalgebra::Vector6;
use rapier3d_f64::prelude as rapier;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

mod carrier;
mod end_of_step;
mod energy;
mod limits;
mod mobility;
mod saved;
mod solid;
mod turn;
mod watch;

pub use energy::EnergyBalance;
pub use saved::WorldState;

/// Parameters of the world.
///
/// ```
/// use dermis_geometry::Vec3;
/// use dermis_world::{World, WorldParameters};
/// let moon = WorldParameters { gravity: Vec3::new(0.0, 0.0, -1.62), ground_z_m: Some(0.0), ..WorldParameters::default() };
/// assert_eq!(World::new(moon)?.parameters().step_s, 1e-3);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct WorldParameters {
    /// Gravity (m/s²).
    pub gravity: Vec3,
    /// Time step (s).
    pub step_s: f64,
    /// Height (m) of a level ground that supports solid bodies, if any.
    pub ground_z_m: Option<f64>,
    /// Coefficient of friction of the ground.
    pub ground_friction: f64,
    /// Coefficient of friction between solid bodies.
    pub solid_friction: f64,
    /// Stiffness of the contact between solid bodies: natural frequency (Hz) of the lighter body on it.
    pub solid_frequency_hz: f64,
    /// The instant of the contact forces. `None`: the start of the step if the step is stable so, else the end.
    pub coupling: Option<Coupling>,
}

impl Default for WorldParameters {
    /// Gravity 9.81 m/s² along −z, steps of 1 ms, no ground, friction 0.5 on the ground and between solid bodies, whose
    /// contacts have 1 kHz.
    fn default() -> Self {
        Self {
            gravity: Vec3::new(0.0, 0.0, -9.81),
            step_s: 1e-3,
            ground_z_m: None,
            ground_friction: 0.5,
            solid_friction: 0.5,
            solid_frequency_hz: 1e3,
            coupling: None,
        }
    }
}

/// Damping ratio of the contacts between solid bodies: they do not bounce.
const SOLID_DAMPING_RATIO: f64 = 10.0;
/// Passes over the contacts between solid bodies in a step.
const SOLID_PASSES: usize = 8;

/// Handle of a sensor in a world.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct SensorId(pub(crate) usize);

struct Placed {
    body: Body,
    handle: rapier::RigidBodyHandle,
    /// Bounds of the visible mesh, in the body's frame; a point without one.
    extent: Bounds,
    /// Collider of a solid body.
    collider: Option<rapier::ColliderHandle>,
    /// 1/m (1/kg) and 1/I_min (1/(kg m²)) of a free body.
    ease: Option<(f64, f64)>,
}

struct Mounted {
    sensor: Sensor,
    body: BodyId,
    body_from_sensor: Pose,
    state: State,
    touch: Touch,
    response: ResponseState,
    reading: Reading,
    base: Base,
    missed: MissedObjects,
    /// The coupling that the skin supports.
    coupling: Coupling,
    /// Centre of each body in the sensor's frame before the last step.
    centers: Vec<Vec3>,
    /// Number of steps for which each body has been touched.
    contact_steps: Vec<u64>,
}

/// A rigid-body world with tactile sensors. See the crate documentation.
///
/// ```
/// use dermis_geometry::{Pose, Vec3};
/// use dermis_skin::Object;
/// use dermis_world::{Body, World, WorldParameters};
/// let mut world = World::new(WorldParameters::default())?;
/// let table = world.add_body(Body::fixed("table", Pose::IDENTITY))?;
/// let pad = world.mount(dermis_sensor::presets::find("uji-foam-14x6")?.build(None)?, table, Pose::IDENTITY);
/// let ball = Object::new(dermis_geometry::shapes::sphere(0.010, 0.001)?);
/// let mass = ball.surface.mass_properties(0.05)?;
/// world.add_body(Body::free("ball", Pose::from_translation(Vec3::new(0.0, 0.0, 0.0099)), mass).touchable(ball.into()))?;
/// for _ in 0..50 {
///     world.step()?;
/// }
/// assert!(world.reading(pad).sum_newton > 0.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct World {
    parameters: WorldParameters,
    physics: rapier::PhysicsWorld,
    ground: Option<rapier::ColliderHandle>,
    bodies: Vec<Placed>,
    sensors: Vec<Mounted>,
    joints: Vec<JoinedJoint>,
    steps: u64,
    checked: bool,
    /// The coupling in use.
    coupling: Coupling,
    /// Accelerations of the bodies by unknown forces in the last step, with implicit coupling.
    lag: Vec<Vector6<f64>>,
    warnings: Vec<WorldWarning>,
    /// Names of the bodies that had sunk into each other at the last search, and the depth (m).
    sunk: Vec<((String, String), f64)>,
    energy: Option<Box<EnergyAccount>>,
    /// True until the first step after [`World::set_state`].
    restored: bool,
}

/// Rapier asks the rules of [`CarrierContacts`] for every pair of these colliders.
const HOOKS: rapier::ActiveHooks =
    rapier::ActiveHooks::FILTER_CONTACT_PAIRS.union(rapier::ActiveHooks::MODIFY_SOLVER_CONTACTS);

impl World {
    /// Creates an empty world.
    pub fn new(parameters: WorldParameters) -> Result<Self, WorldError> {
        require_positive("world", "time_step", "s", parameters.step_s)?;
        require_positive("world", "solid_frequency", "Hz", parameters.solid_frequency_hz)?;
        if !parameters.gravity.is_finite() {
            return Err(WorldError::NotFinite { owner: "world".into(), key: "gravity" });
        }
        let mut physics = rapier::PhysicsWorld::new();
        physics.gravity = parameters.gravity;
        let rules = &mut physics.integration_parameters;
        rules.dt = parameters.step_s;
        // More solver passes would keep a spring's force constant over all of them and add energy.
        rules.num_solver_iterations = 1;
        // Objects measure centimetres; Rapier scales its contact tolerances by this length.
        rules.length_unit = 0.01;
        // One law for all solids: a body at rest on another sinks by g/(2πf)², whatever the step.
        let stiff = rapier::SpringCoefficients::new(parameters.solid_frequency_hz, SOLID_DAMPING_RATIO);
        (rules.contact_softness, rules.static_contact_softness) = (stiff, stiff);
        rules.num_internal_pgs_iterations = SOLID_PASSES;
        rules.num_internal_stabilization_iterations = SOLID_PASSES;
        // Friction of a face as a whole and its twist: Rapier's friction of each point does not oppose its velocity, and
        // lets a box slide with 15 % less.
        rules.friction_model = rapier::FrictionModel::Simplified;
        // Rapier never reuses contacts with hooks, which all have here, and what it notes for that is infinite on the ground.
        rules.contact_recycling = false;
        // Else no body is faster than 4 m/s.
        rules.normalized_max_linear_velocity = f64::MAX;
        let ground = parameters.ground_z_m.map(|z_m| {
            let ground = physics.bodies.insert(rapier::RigidBodyBuilder::fixed().translation(Vec3::Z * z_m));
            // Rapier takes the mean of two coefficients.
            let plane = rapier::ColliderBuilder::new(rapier::SharedShape::halfspace(Vec3::Z))
                .friction(2.0 * parameters.ground_friction - parameters.solid_friction);
            physics.colliders.insert_with_parent(plane, ground, &mut physics.bodies)
        });
        Ok(Self {
            parameters,
            physics,
            ground,
            bodies: Vec::new(),
            sensors: Vec::new(),
            joints: Vec::new(),
            steps: 0,
            checked: false,
            coupling: Coupling::Explicit,
            lag: Vec::new(),
            warnings: Vec::new(),
            sunk: Vec::new(),
            energy: None,
            restored: false,
        })
    }

    /// Adds a body.
    pub fn add_body(&mut self, body: Body) -> Result<BodyId, WorldError> {
        body.check()?;
        if self.bodies.iter().any(|placed| placed.body.name == body.name) {
            return Err(WorldError::Duplicate { name: body.name });
        }
        let builder = match &body.kind {
            BodyKind::Fixed => rapier::RigidBodyBuilder::fixed(),
            BodyKind::Driven => rapier::RigidBodyBuilder::kinematic_velocity_based(),
            BodyKind::Free(mass) => {
                let Principal { moments_kg_m2, body_from_axes } = Principal::of(mass);
                rapier::RigidBodyBuilder::dynamic()
                    .additional_mass_properties(rapier::MassProperties::with_principal_inertia_frame(
                        mass.center_m,
                        mass.mass_kg,
                        moments_kg_m2,
                        body_from_axes,
                    ))
                    // See `turn`.
                    .gyroscopic_forces_enabled(false)
            }
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
        let solid = body.object.as_ref().filter(|_| body.solid).and_then(|object| solid::collider(&object.surface));
        let collider = solid.map(|solid| {
            let collider = solid::massless(solid).friction(self.parameters.solid_friction).active_hooks(HOOKS);
            self.physics.colliders.insert_with_parent(collider, handle, &mut self.physics.bodies)
        });
        // Updates the mass properties now, so that the first forces use them.
        if let Some(rigid) = self.physics.bodies.get_mut(handle) {
            rigid.recompute_mass_properties_from_colliders(&self.physics.colliders);
        }
        let ease = match &body.kind {
            BodyKind::Free(mass) => Some((1.0 / mass.mass_kg, 1.0 / Principal::of(mass).moments_kg_m2.min_element())),
            _ => None,
        };
        let extent = body.visible().map_or(Bounds::around([Vec3::ZERO]), dermis_geometry::TriMesh::bounds);
        self.bodies.push(Placed { body, handle, extent, collider, ease });
        self.checked = false;
        Ok(BodyId(self.bodies.len() - 1))
    }

    /// Mounts a sensor on a body. Behind its skin, at the largest indentation, the body is solid to touchable solid
    /// bodies.
    pub fn mount(&mut self, sensor: Sensor, body: BodyId, body_from_sensor: Pose) -> SensorId {
        let (state, response, touch) = (sensor.skin().rest(), sensor.chain().rest(), Touch::default());
        let reading = sensor.read(&touch);
        let mut base = Base::new(&sensor);
        base.collider = base.hull(&body_from_sensor).map(|hull| {
            let collider = solid::massless(hull).friction(self.parameters.solid_friction).active_hooks(HOOKS);
            let carrier = self.bodies[body.0].handle;
            self.physics.colliders.insert_with_parent(collider, carrier, &mut self.physics.bodies)
        });
        let (missed, centers) = (MissedObjects::default(), Vec::new());
        let coupling = Coupling::Implicit.supported(&sensor);
        let mounted = Mounted {
            sensor,
            body,
            body_from_sensor,
            state,
            touch,
            response,
            reading,
            base,
            missed,
            coupling,
            centers,
            contact_steps: Vec::new(),
        };
        self.sensors.push(mounted);
        self.checked = false;
        SensorId(self.sensors.len() - 1)
    }

    /// Joins two bodies at their current poses.
    pub fn join(&mut self, joint: Joint) -> JointId {
        let (parent, child) = (self.pose(joint.parent), self.pose(joint.child));
        let joined = JoinedJoint::new(joint, &parent, &child);
        let axis_in_child = child.inverse().transform_vector(joint.axis);
        let locked = match joint.kind {
            JointKind::Prismatic => rapier::JointAxesMask::LOCKED_PRISMATIC_AXES,
            JointKind::Revolute => rapier::JointAxesMask::LOCKED_REVOLUTE_AXES,
        };
        // Both frames have the axis as x; the child's frame is rotated to coincide with the parent's at present.
        let parent_x = joined.axis_in_parent;
        let turn_parent = dermis_geometry::Quat::from_rotation_arc(Vec3::X, parent_x.normalize());
        let world_turn = parent.rotation * turn_parent;
        let turn_child = child.rotation.inverse() * world_turn;
        let builder = rapier::GenericJointBuilder::new(locked)
            .local_frame1(rapier::Pose::from_parts(joined.point_in_parent, turn_parent))
            .local_frame2(rapier::Pose::from_parts(joined.point_in_child, turn_child));
        debug_assert!((turn_child * Vec3::X - axis_in_child).length() < 1e-9);
        let (a, b) = (self.bodies[joint.parent.0].handle, self.bodies[joint.child.0].handle);
        let joints = &mut self.physics.multibody_joints;
        let inserted = joints.insert(a, b, builder, true);
        // Rapier gives revolute joints a damping of 0.1 N m s/rad, more than a finger's drive.
        let link = inserted.and_then(|_| joints.rigid_body_link(b).copied());
        if let Some(multibody) = link.and_then(|link| joints.get_multibody_mut(link.multibody)) {
            multibody.damping_mut().fill(0.0);
        }
        self.joints.push(joined);
        JointId(self.joints.len() - 1)
    }

    /// Sets the drive of a joint.
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

    /// Pose of a body in the world frame.
    pub fn pose(&self, body: BodyId) -> Pose {
        let position = self.physics.bodies[self.bodies[body.0].handle].position();
        Pose::new(position.rotation, position.translation)
    }

    /// Velocity of a body's origin, in the world frame.
    pub fn velocity(&self, body: BodyId) -> Twist {
        let rigid = &self.physics.bodies[self.bodies[body.0].handle];
        let at_center = Twist::new(rigid.linvel(), rigid.angvel());
        at_center.moved(rigid.position().translation - rigid.center_of_mass())
    }

    /// Sets the velocity of a driven body's origin, in the world frame.
    pub fn set_velocity(&mut self, body: BodyId, velocity: Twist) {
        let rigid = &mut self.physics.bodies[self.bodies[body.0].handle];
        let at_center = velocity.moved(rigid.center_of_mass() - rigid.position().translation);
        rigid.set_linvel(at_center.linear, true);
        rigid.set_angvel(at_center.angular, true);
    }

    /// The description of a body.
    pub fn body(&self, body: BodyId) -> &Body {
        &self.bodies[body.0].body
    }

    /// Handles of all bodies.
    pub fn bodies(&self) -> impl Iterator<Item = BodyId> + use<> {
        (0..self.bodies.len()).map(BodyId)
    }

    /// Handles of all sensors.
    pub fn sensors(&self) -> impl Iterator<Item = SensorId> + use<> {
        (0..self.sensors.len()).map(SensorId)
    }

    /// The description of a sensor.
    pub fn sensor(&self, id: SensorId) -> &Sensor {
        &self.sensors[id.0].sensor
    }

    /// Pose of a sensor in the world frame.
    pub fn world_from_sensor(&self, id: SensorId) -> Pose {
        let mounted = &self.sensors[id.0];
        self.pose(mounted.body) * mounted.body_from_sensor
    }

    /// Contact loads of a sensor at the end of the last step.
    pub fn touch(&self, id: SensorId) -> &Touch {
        &self.sensors[id.0].touch
    }

    /// Reading of a sensor after the last step, including its response.
    pub fn reading(&self, id: SensorId) -> Reading {
        self.sensors[id.0].reading.clone()
    }

    /// Load of the sensor on the body `touched` at the end of the last step, about the sensor's origin, in the world frame.
    pub fn load_on(&self, touched: BodyId, from: SensorId) -> Wrench {
        let mounted = &self.sensors[from.0];
        let slot = self.touchable(mounted.body).iter().position(|&(id, _)| id == touched);
        let wrench = slot.and_then(|slot| mounted.touch.on_objects.get(slot).copied()).unwrap_or(Wrench::ZERO);
        wrench.rotated(&self.world_from_sensor(from))
    }

    /// Simulated time since the start (s).
    pub fn time_s(&self) -> f64 {
        self.steps as f64 * self.parameters.step_s
    }

    /// Number of steps since the start.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// Parameters of the world.
    pub fn parameters(&self) -> &WorldParameters {
        &self.parameters
    }

    /// The bodies that a sensor on `mount` can touch.
    fn touchable(&self, mount: BodyId) -> Vec<(BodyId, &Arc<Object>)> {
        self.bodies
            .iter()
            .enumerate()
            .filter(|(index, _)| *index != mount.0)
            .filter_map(|(index, placed)| placed.body.object.as_ref().map(|object| (BodyId(index), object)))
            .collect()
    }

    /// Advances the world by one time step. Fails if the step exceeds the stability limit of the world or of the
    /// current contacts, if a skin or response fails, or if a pose is not finite afterwards.
    pub fn step(&mut self) -> Result<(), WorldError> {
        if !self.checked {
            self.coupling = self.suitable_coupling();
            self.check_step()?;
            for index in self.explicit_sensors() {
                self.sensors[index].touch = self.present_contact(index)?.0;
            }
            self.checked = true;
        }
        let before = self.energy_before();
        for placed in &self.bodies {
            let rigid = &mut self.physics.bodies[placed.handle];
            rigid.reset_forces(false);
            rigid.reset_torques(false);
        }
        // The trace bounds the eigenvalues at low cost; the full matrices are built only if it exceeds the limit.
        if self.parameters.step_s > self.cheap_limit_s()
            && let Err(refused) = self.refuse_beyond(self.present_stability())
        {
            if self.parameters.coupling.is_some() || self.coupling == Coupling::Implicit {
                return Err(refused);
            }
            self.coupling = Coupling::Implicit;
        }
        for index in self.explicit_sensors() {
            self.press(index);
        }
        for index in 0..self.joints.len() {
            self.push(JointId(index));
        }
        let expected = self.feel_at_the_end()?;
        let before = before.map(|before| (before, self.loads()));
        let turning = self.turn_freely();
        let skin = |(index, mounted)| -> CarriedSkin<'_> {
            let mounted: &Mounted = mounted;
            let sensor_from_world = self.world_from_sensor(SensorId(index)).inverse();
            CarriedSkin { base: &mounted.base, body: self.bodies[mounted.body.0].handle, sensor_from_world }
        };
        let contacts = CarrierContacts {
            skins: self.sensors.iter().enumerate().map(skin).collect(),
            touchable: self.bodies.iter().filter(|p| p.body.object.is_some()).map(|p| p.handle).collect(),
        };
        self.physics.step_with_events(&contacts, &());
        self.keep_angular_momentum(turning);
        self.keep_lag(expected);
        if let Some((before, loads)) = before {
            self.balance_energy(&before, &loads);
        }
        self.steps += 1;
        if let Some(id) = self.bodies().find(|&id| !self.pose(id).is_finite()) {
            return Err(WorldError::Diverged { body: self.body(id).name.clone(), time_s: self.time_s() });
        }
        // Readings belong to the poses after the step; the same contact then acts in the next step.
        for index in self.explicit_sensors() {
            let (touch, state) = self.present_contact(index)?;
            self.sense(index, touch, state)?;
        }
        self.watch();
        Ok(())
    }

    /// The sensors whose forces are taken at the start of the step.
    fn explicit_sensors(&self) -> Vec<usize> {
        (0..self.sensors.len()).filter(|&index| !self.is_implicit(index)).collect()
    }

    /// Steps until a time (s) and calls `each` after every step; `each` may end the run by returning false.
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

    /// Pose of a sensor, and the objects that it can touch.
    fn targets(&self, index: usize, velocity: impl Fn(BodyId) -> Twist) -> (Pose, Vec<Target<'_>>) {
        let mounted = &self.sensors[index];
        let world_from_sensor = self.world_from_sensor(SensorId(index));
        let arm = world_from_sensor.translation - self.pose(mounted.body).translation;
        let sensor_velocity = velocity(mounted.body).moved(arm);
        let mut targets = Vec::new();
        for (id, object) in self.touchable(mounted.body) {
            let (pose, velocity) = (self.pose(id), velocity(id));
            targets.push(Target::from_world(object, &pose, &velocity, &world_from_sensor, &sensor_velocity));
        }
        (world_from_sensor, targets)
    }

    /// The contact of a sensor with objects, and its next state.
    fn contact(&self, index: usize, targets: &[Target<'_>]) -> Result<(Touch, State), WorldError> {
        let mounted = &self.sensors[index];
        let answer = mounted.sensor.touch(&mounted.state, &Motion { targets }, self.parameters.step_s);
        answer.map_err(|error| WorldError::Skin {
            sensor: mounted.sensor.name().to_owned(),
            time_s: self.time_s(),
            error,
        })
    }

    /// The contact of a sensor at the present poses, and its next state.
    fn present_contact(&self, index: usize) -> Result<(Touch, State), WorldError> {
        let (_, targets) = self.targets(index, |id| self.velocity(id));
        self.contact(index, &targets)
    }

    /// Applies the contact loads of a sensor to its carrier and to the objects.
    fn press(&mut self, index: usize) {
        let (mount, world_from_sensor) = (self.sensors[index].body, self.world_from_sensor(SensorId(index)));
        let touched: Vec<BodyId> = self.touchable(mount).iter().map(|(id, _)| *id).collect();
        let Touch { on_sensor, on_objects, .. } = &self.sensors[index].touch;
        let (on_sensor, on_objects) = (*on_sensor, on_objects.clone());
        self.apply(mount, &on_sensor, &world_from_sensor);
        for (id, load) in touched.iter().zip(&on_objects) {
            self.apply(*id, load, &world_from_sensor);
        }
    }

    /// Reads a sensor with its contact, and keeps its next state.
    fn sense(&mut self, index: usize, mut touch: Touch, state: State) -> Result<(), WorldError> {
        let mounted = &self.sensors[index];
        let mut missed = mounted.missed.clone();
        let (_, targets) = self.targets(index, |_| Twist::ZERO);
        missed.add_warnings(&mut touch, mounted.sensor.skin(), &Motion { targets: &targets }, self.steps);
        let world_from_sensor = self.world_from_sensor(SensorId(index));
        let (response, step_s) = (&mounted.response, self.parameters.step_s);
        let sensed = mounted.sensor.sense_at(response, &touch, step_s, &world_from_sensor);
        let (reading, response) = sensed.map_err(|error| WorldError::Response {
            sensor: mounted.sensor.name().to_owned(),
            time_s: self.time_s(),
            error,
        })?;
        touch.warnings.extend_from_slice(&reading.warnings);
        let mounted = &mut self.sensors[index];
        (mounted.touch, mounted.state, mounted.missed) = (touch, state, missed);
        (mounted.reading, mounted.response) = (reading, response);
        Ok(())
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
            let arm = point - rigid.center_of_mass();
            let load = match kind {
                JointKind::Prismatic => Wrench::from_force_at(axis * (sign * effort), arm),
                JointKind::Revolute => Wrench { force: Vec3::ZERO, torque: axis * (sign * effort) },
            };
            rigid.add_force(load.force, false);
            rigid.add_torque(load.torque, false);
            self.note_effort(body, load);
        }
    }
}
