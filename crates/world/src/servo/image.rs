//! The tactile image of one or several arrays in the tool frame.

use crate::{SensorId, World};
use dermis_geometry::{Pose, Vec2};
use dermis_sensor::{Reading, Sensor};
use dermis_skin::{Motion, Object, SkinError, Target};

/// Normal forces at points of a tool's surface, from all of its arrays.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TactileImage {
    /// Positions of the taxels along x and y of the tool (m).
    pub at_m: Vec<Vec2>,
    /// Normal force on each taxel as the sensor reports it (N), positive in compression.
    pub newton: Vec<f64>,
}

impl TactileImage {
    /// Combines the last readings of several sensors of a world in the frame of a tool.
    pub fn of_sensors(world: &World, sensors: &[SensorId], world_from_tool: &Pose) -> Self {
        let tool_from_world = world_from_tool.inverse();
        let mut image = Self::default();
        for &id in sensors {
            image.add(world.sensor(id), &(tool_from_world * world.world_from_sensor(id)), world.reading(id));
        }
        image
    }

    /// Computes the image of arrays on a tool that touch an object at rest: for setting targets and measuring a
    /// [`crate::TactileJacobian`].
    pub fn of_press(arrays: &[(Sensor, Pose)], object: &Object, tool_from_object: &Pose) -> Result<Self, SkinError> {
        let mut image = Self::default();
        for (sensor, tool_from_sensor) in arrays {
            let target = Target::at_rest(object, tool_from_sensor.inverse() * *tool_from_object);
            // At rest the result does not depend on the time step.
            let (touch, _) = sensor.touch(&sensor.skin().rest(), &Motion { targets: &[target] }, 1.0)?;
            image.add(sensor, tool_from_sensor, sensor.read(&touch));
        }
        Ok(image)
    }

    fn add(&mut self, sensor: &Sensor, tool_from_sensor: &Pose, reading: Reading) {
        let centers = sensor.taxels().centers().iter();
        self.at_m.extend(centers.map(|&center| tool_from_sensor.transform_point(center).truncate()));
        self.newton.extend(reading.reported_newton);
    }

    /// Sum of the compressive forces (N).
    pub fn total_newton(&self) -> f64 {
        self.newton.iter().map(|&force| force.max(0.0)).sum()
    }
}
