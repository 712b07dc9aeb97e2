//! A tool with six degrees of freedom: the hand of Kappassov et al. 2020, Fig. 12, without its arm.

use super::pan_tilt::towards;
use crate::parallel_gripper::with_box;
use crate::{Body, BodyId, EndEffector, SensorId, TactileImage, World, WorldError};
use dermis_geometry::{Pose, Quat, Vec3};
use dermis_sensor::Sensor;

/// Lag and speed limits of the arm.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CartesianParameters {
    /// Time constant (s) of the arm's own position control.
    pub lag_s: f64,
    /// Maximum speed of the tool (m/s).
    pub speed_m_per_s: f64,
    /// Maximum angular speed of the tool (rad/s).
    pub speed_rad_per_s: f64,
}

impl Default for CartesianParameters {
    /// A light arm: 15 ms, 0.25 m/s, 90°/s.
    fn default() -> Self {
        Self { lag_s: 0.015, speed_m_per_s: 0.25, speed_rad_per_s: 90f64.to_radians() }
    }
}

/// A palm with a tactile array, moved in six degrees of freedom by an arm that is not modelled. Call
/// [`CartesianHand::exchange`] before every step of the world.
///
/// The palm is a driven body with a first-order lag and limited speeds: under the few newtons of a tactile array, the
/// deflection of a position-controlled arm is smaller than its lag.
#[derive(Clone, Debug)]
pub struct CartesianHand {
    parameters: CartesianParameters,
    palm: BodyId,
    sensor: SensorId,
    world_from_tool: Pose,
    goal: Pose,
    image: TactileImage,
}

impl CartesianHand {
    /// Adds the palm to a world, with its array at `world_from_tool`.
    pub fn build(
        world: &mut World,
        parameters: CartesianParameters,
        array: Sensor,
        world_from_tool: Pose,
    ) -> Result<Self, WorldError> {
        let size = array.surface().bounds().size();
        let palm_size = Vec3::new(size.x + 0.012, size.y + 0.012, 0.014);
        let palm = Body::driven("palm", world_from_tool);
        let palm = world.add_body(with_box(palm, palm_size, Vec3::Z * (-0.5 * palm_size.z - 4e-4)))?;
        let sensor = world.mount(array, palm, Pose::IDENTITY);
        let (goal, image) = (world_from_tool, TactileImage::default());
        Ok(Self { parameters, palm, sensor, world_from_tool, goal, image })
    }

    /// The array.
    pub fn sensor(&self) -> SensorId {
        self.sensor
    }

    /// The body that carries the array. Its frame is the tool frame.
    pub fn palm(&self) -> BodyId {
        self.palm
    }

    /// Reads the array and moves the palm by one step.
    pub fn exchange(&mut self, world: &mut World) {
        let (p, dt_s) = (self.parameters, world.parameters().step_s);
        self.image = TactileImage::of_sensors(world, &[self.sensor], &world.pose(self.palm));
        let share = if p.lag_s > 0.0 { 1.0 - (-dt_s / p.lag_s).exp() } else { 1.0 };
        let to_go = towards(&self.world_from_tool, &self.goal, 1.0);
        let shift = (to_go.linear * share).clamp_length_max(p.speed_m_per_s * dt_s);
        let rotation = (to_go.angular * share).clamp_length_max(p.speed_rad_per_s * dt_s);
        self.world_from_tool = Pose::new(
            (Quat::from_scaled_axis(rotation) * self.world_from_tool.rotation).normalize(),
            self.world_from_tool.translation + shift,
        );
        world.set_velocity(self.palm, towards(&world.pose(self.palm), &self.world_from_tool, dt_s));
    }
}

impl EndEffector for CartesianHand {
    fn image(&self) -> &TactileImage {
        &self.image
    }

    fn world_from_tool(&self) -> Pose {
        self.world_from_tool
    }

    fn move_to(&mut self, world_from_tool: Pose) -> Pose {
        self.goal = world_from_tool;
        world_from_tool
    }
}
