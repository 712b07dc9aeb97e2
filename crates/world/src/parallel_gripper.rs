//! A parallel gripper with two fingers on slides, like the Schunk PG70.

use crate::gripper::{HandState, gripper_by_state};
use crate::lift_axis::LiftAxis;
use crate::{Body, BodyId, Drive, FingerCommand, Joint, JointId, JointKind, SensorId, World, WorldError};
use dermis_geometry::shapes::cuboid;
use dermis_geometry::{MassProperties, Mat3, Pose, Quat, Vec3};
use dermis_sensor::Sensor;
use serde::{Deserialize, Serialize};

/// Masses, sizes and drives. The default approximates a PG70: 1.4 kg, 30–200 N, 68 mm of stroke.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ParallelGripperParameters {
    /// Mass of each finger (kg).
    pub finger_mass_kg: f64,
    /// Mass of the body that carries the fingers (kg).
    pub hand_mass_kg: f64,
    /// Initial distance between the two sensing surfaces (m).
    pub opening_m: f64,
    /// Initial midpoint between the sensors (m), in the world frame.
    pub center: Vec3,
    /// Limit on the motor force on each finger (N).
    pub force_limit_newton: f64,
    /// Gain of the velocity drive (N s/m).
    pub velocity_gain: f64,
    /// Stiffness of the gear that keeps the fingers symmetric (N/m).
    pub gear_stiffness: f64,
    /// Damping of the gear (N s/m).
    pub gear_damping: f64,
    /// Stiffness of the lifting axis (N/m).
    pub lift_stiffness: f64,
    /// Damping of the lifting axis (N s/m).
    pub lift_damping: f64,
}

impl Default for ParallelGripperParameters {
    fn default() -> Self {
        Self {
            finger_mass_kg: 0.3,
            hand_mass_kg: 1.4,
            opening_m: 0.068,
            center: Vec3::ZERO,
            force_limit_newton: 200.0,
            velocity_gain: 100.0,
            gear_stiffness: 2e4,
            gear_damping: 60.0,
            lift_stiffness: 4e4,
            lift_damping: 500.0,
        }
    }
}

/// A parallel gripper in a world: a vertical axis, and two fingers on slides along x that one motor closes
/// symmetrically. Call [`ParallelGripper::exchange`] before every step of the world.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ParallelGripper {
    parameters: ParallelGripperParameters,
    hand: BodyId,
    slides: [JointId; 2],
    sensors: [SensorId; 2],
    state: HandState,
}

impl ParallelGripper {
    /// Builds the gripper. The `left` sensor faces +x, the `right` one −x; the rows of both run downwards.
    pub fn build(
        world: &mut World,
        parameters: ParallelGripperParameters,
        left: Sensor,
        right: Sensor,
    ) -> Result<Self, WorldError> {
        let p = parameters;
        let size = left.surface().bounds().size();
        let (length, width) = (size.y.max(0.02), size.x.max(0.01));
        let above = p.center + Vec3::Z * (0.5 * length + 0.03);
        let mount = world.add_body(Body::fixed("gripper mount", Pose::from_translation(above)))?;
        let hand_size = Vec3::new(p.opening_m + 0.06, width + 0.02, 0.04);
        let hand_body = Body::free(
            "gripper hand",
            Pose::from_translation(above + Vec3::Z * 0.02),
            box_mass(p.hand_mass_kg, hand_size),
        );
        let hand = world.add_body(with_box(hand_body, hand_size, Vec3::ZERO))?;
        let lift = world.join(Joint {
            kind: JointKind::Prismatic,
            parent: mount,
            child: hand,
            axis: Vec3::Z,
            point: above + Vec3::Z * 0.02,
        });
        let (mut slides, mut sensors) = (Vec::new(), Vec::new());
        for (name, side, sensor) in [("left finger", -1.0, left), ("right finger", 1.0, right)] {
            let finger_size = Vec3::new(0.012, width + 0.004, length + 0.03);
            let face = p.center + Vec3::X * (side * 0.5 * p.opening_m);
            // The finger's origin is on its sensing face; its box extends behind it and up to the hand.
            let middle = Vec3::new(side * 0.5 * finger_size.x, 0.0, 0.015);
            let mass = MassProperties { center_m: middle, ..box_mass(p.finger_mass_kg, finger_size) };
            let body = with_box(Body::free(name, Pose::from_translation(face), mass), finger_size, middle);
            let finger = world.add_body(body)?;
            slides.push(world.join(Joint {
                kind: JointKind::Prismatic,
                parent: hand,
                child: finger,
                axis: Vec3::X * -side,
                point: face,
            }));
            // The sensor's z axis points towards the other finger; its rows run downwards.
            let out = Vec3::X * -side;
            let rotation = Quat::from_mat3(&Mat3::from_cols(Vec3::Z.cross(out), Vec3::Z, out));
            sensors.push(world.mount(sensor, finger, Pose::from_rotation(rotation)));
        }
        let gravity = -world.parameters().gravity.z;
        let mass_kg = p.hand_mass_kg + 2.0 * p.finger_mass_kg;
        Ok(Self {
            parameters,
            hand,
            slides: [slides[0], slides[1]],
            sensors: [sensors[0], sensors[1]],
            state: HandState::new(LiftAxis::new(lift, p.lift_stiffness, p.lift_damping, gravity * mass_kg), 2),
        })
    }

    /// The left and right sensors.
    pub fn sensors(&self) -> [SensorId; 2] {
        self.sensors
    }

    /// The body that carries the fingers.
    pub fn hand(&self) -> BodyId {
        self.hand
    }

    /// Reads the sensors and joints, and sets the efforts of the drives for the next step.
    pub fn exchange(&mut self, world: &mut World) {
        let p = self.parameters;
        let [(left, left_rate), (right, right_rate)] = self.slides.map(|slide| world.joint(slide));
        self.state.tactile_sums_newton = self.sensors.map(|id| world.reading(id).sum_newton).to_vec();
        self.state.closed_m = left + right;
        let gear = p.gear_stiffness * (right - left) + p.gear_damping * (right_rate - left_rate);
        let motor = |rate: f64| {
            let wanted = match self.state.command {
                FingerCommand::Velocity(speed) => p.velocity_gain * (speed - rate),
                FingerCommand::Force(force) => force,
            };
            wanted.clamp(-p.force_limit_newton, p.force_limit_newton)
        };
        // One motor drives both fingers: they get the same effort.
        let effort = motor(0.5 * (left_rate + right_rate));
        world.drive(self.slides[0], Drive::Effort(effort + gear));
        world.drive(self.slides[1], Drive::Effort(effort - gear));

        self.state.height_m = self.state.lift.exchange(world);
    }
}

gripper_by_state!(ParallelGripper);

/// Mass properties of a uniform box about its origin.
pub(crate) fn box_mass(mass_kg: f64, size: Vec3) -> MassProperties {
    let s = size * size;
    let inertia = Vec3::new(s.y + s.z, s.x + s.z, s.x + s.y) * (mass_kg / 12.0);
    MassProperties { mass_kg, center_m: Vec3::ZERO, inertia_kg_m2: Mat3::from_diagonal(inertia) }
}

/// Sets a box centred at `middle` as the visual mesh of a body.
pub(crate) fn with_box(body: Body, size: Vec3, middle: Vec3) -> Body {
    match cuboid(size) {
        Ok(mesh) => body.with_visual_mesh(mesh.transformed(&Pose::from_translation(middle))),
        Err(_) => body,
    }
}
