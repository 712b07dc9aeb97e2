//! A hand with three fingers around a palm, like the Schunk three-finger hand.

use crate::gripper::{HandState, gripper_by_state};
use crate::lift_axis::LiftAxis;
use crate::parallel_gripper::{box_mass, with_box};
use crate::{Body, BodyId, Drive, FingerCommand, Joint, JointId, JointKind, SensorId, World, WorldError};
use dermis_geometry::{MassProperties, Mat3, Pose, Quat, Vec3};
use dermis_sensor::Sensor;
use serde::{Deserialize, Serialize};
use std::f64::consts::TAU;

/// Masses, sizes and drives.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ThreeFingerParameters {
    /// Mass of the upper link of a finger (kg).
    pub upper_mass_kg: f64,
    /// Mass of the lower link, which carries the sensor (kg).
    pub lower_mass_kg: f64,
    /// Mass of the palm (kg).
    pub palm_mass_kg: f64,
    /// Length of the upper link (m).
    pub upper_length_m: f64,
    /// Initial distance of each sensing surface from the hand's axis (m).
    pub opening_radius_m: f64,
    /// Initial centre between the sensors (m), in the world frame.
    pub center: Vec3,
    /// Limit on the closing force of a finger (N).
    pub force_limit_newton: f64,
    /// Gain of the velocity drive at the fingertip (N s/m).
    pub velocity_gain: f64,
    /// Stiffness of the drive that keeps the lower links upright (N m/rad).
    pub upright_stiffness: f64,
    /// Damping of that drive (N m s/rad).
    pub upright_damping: f64,
    /// Stiffness of the lifting axis (N/m).
    pub lift_stiffness: f64,
    /// Damping of the lifting axis (N s/m).
    pub lift_damping: f64,
}

impl Default for ThreeFingerParameters {
    fn default() -> Self {
        Self {
            upper_mass_kg: 0.15,
            lower_mass_kg: 0.15,
            palm_mass_kg: 1.5,
            upper_length_m: 0.08,
            opening_radius_m: 0.05,
            center: Vec3::ZERO,
            force_limit_newton: 50.0,
            velocity_gain: 40.0,
            upright_stiffness: 20.0,
            upright_damping: 0.1,
            lift_stiffness: 4e4,
            lift_damping: 500.0,
        }
    }
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Finger {
    /// Joint between palm and upper link; positive closes the finger.
    shoulder: JointId,
    /// Joint between upper and lower link; keeps the sensor upright.
    knuckle: JointId,
    sensor: SensorId,
}

/// A palm on a vertical axis with three fingers of two links each; every lower link carries a sensor. Call
/// [`ThreeFingerHand::exchange`] before every step of the world.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ThreeFingerHand {
    parameters: ThreeFingerParameters,
    palm: BodyId,
    fingers: Vec<Finger>,
    state: HandState,
}

impl ThreeFingerHand {
    /// Builds the hand with a copy of `sensor` on each finger, at 0°, 120° and 240° about the vertical.
    pub fn build(world: &mut World, parameters: ThreeFingerParameters, sensor: &Sensor) -> Result<Self, WorldError> {
        let p = parameters;
        let size = sensor.surface().bounds().size();
        let (length, width) = (size.y.max(0.02), size.x.max(0.01));
        let knuckle_height = 0.5 * length + 0.005;
        let palm_height = knuckle_height + p.upper_length_m;
        let above = p.center + Vec3::Z * palm_height;
        let mount = world.add_body(Body::fixed("hand mount", Pose::from_translation(above)))?;
        let palm_size = Vec3::new(2.0 * p.opening_radius_m, 2.0 * p.opening_radius_m, 0.03);
        let palm_body = Body::free("palm", Pose::from_translation(above), box_mass(p.palm_mass_kg, palm_size));
        let palm = world.add_body(with_box(palm_body, palm_size, Vec3::Z * 0.015))?;
        let lift =
            world.join(Joint { kind: JointKind::Prismatic, parent: mount, child: palm, axis: Vec3::Z, point: above });
        let mut fingers = Vec::new();
        for index in 0..3 {
            let angle = TAU * f64::from(index) / 3.0;
            let outward = Vec3::new(angle.cos(), angle.sin(), 0.0);
            let rotation = Quat::from_mat3(&Mat3::from_cols(Vec3::Z.cross(-outward), Vec3::Z, -outward));
            // A positive rotation about this axis moves the lower end inwards.
            let axis = Vec3::Z.cross(outward);
            let face = p.center + outward * p.opening_radius_m;
            let thickness = 0.012;
            let shoulder_at = face + outward * (0.5 * thickness) + Vec3::Z * palm_height;
            let knuckle_at = face + outward * (0.5 * thickness) + Vec3::Z * knuckle_height;

            // Links are boxes in a frame with z inwards and y up.
            let upper_size = Vec3::new(width, p.upper_length_m, thickness);
            let upper_pose = Pose::new(rotation, 0.5 * (shoulder_at + knuckle_at));
            let upper = Body::free(format!("upper link {index}"), upper_pose, box_mass(p.upper_mass_kg, upper_size));
            let upper = world.add_body(with_box(upper, upper_size, Vec3::ZERO))?;
            let shoulder =
                world.join(Joint { kind: JointKind::Revolute, parent: palm, child: upper, axis, point: shoulder_at });
            let lower_size = Vec3::new(width + 0.004, length + 0.01, thickness);
            let middle = Vec3::Z * (-0.5 * thickness);
            let mass = MassProperties { center_m: middle, ..box_mass(p.lower_mass_kg, lower_size) };
            let lower = Body::free(format!("lower link {index}"), Pose::new(rotation, face), mass);
            let lower = world.add_body(with_box(lower, lower_size, middle))?;
            let knuckle =
                world.join(Joint { kind: JointKind::Revolute, parent: upper, child: lower, axis, point: knuckle_at });
            let sensor = world.mount(sensor.clone(), lower, Pose::IDENTITY);
            fingers.push(Finger { shoulder, knuckle, sensor });
        }
        let gravity = -world.parameters().gravity.z;
        let mass = p.palm_mass_kg + 3.0 * (p.upper_mass_kg + p.lower_mass_kg);
        Ok(Self {
            parameters,
            palm,
            fingers,
            state: HandState::new(LiftAxis::new(lift, p.lift_stiffness, p.lift_damping, gravity * mass), 3),
        })
    }

    /// The sensors of the three fingers.
    pub fn sensors(&self) -> Vec<SensorId> {
        self.fingers.iter().map(|finger| finger.sensor).collect()
    }

    /// The body of the palm.
    pub fn palm(&self) -> BodyId {
        self.palm
    }

    /// Reads the sensors and joints, and sets the efforts of the drives for the next step.
    pub fn exchange(&mut self, world: &mut World) {
        let p = self.parameters;
        self.state.tactile_sums_newton =
            self.fingers.iter().map(|finger| world.reading(finger.sensor).sum_newton).collect();
        let mut closed = 0.0;
        for finger in &self.fingers {
            let (angle, rate) = world.joint(finger.shoulder);
            closed += p.upper_length_m * angle.sin() / 3.0;
            let force = match self.state.command {
                FingerCommand::Velocity(speed) => p.velocity_gain * (speed - p.upper_length_m * rate),
                FingerCommand::Force(force) => force,
            };
            let force = force.clamp(-p.force_limit_newton, p.force_limit_newton);
            // The lower link stays upright, so a force on it acts at the knuckle: arm = upper length · cos(angle).
            world.drive(finger.shoulder, Drive::Effort(force * p.upper_length_m * angle.cos()));
            world.drive(
                finger.knuckle,
                Drive::Position {
                    target: -angle,
                    velocity: -rate,
                    stiffness: p.upright_stiffness,
                    damping: p.upright_damping,
                    feed_forward: 0.0,
                },
            );
        }
        self.state.closed_m = closed;
        self.state.height_m = self.state.lift.exchange(world);
    }
}

gripper_by_state!(ThreeFingerHand);
