//! One time sample of a recording.

use dermis_geometry::{Pose, Vec3};
use dermis_sensor::{Image, Reading};

/// One time sample: readings of all sensors and poses of all bodies.
#[derive(Clone, Debug)]
pub struct Sample {
    /// Time since the start (s).
    pub time_s: f64,
    /// Sample of each sensor.
    pub sensors: Vec<SensorSample>,
    /// world_from_body of each body.
    pub bodies: Vec<Pose>,
}

/// Reading, load and pose of one sensor.
#[derive(Clone, Debug)]
pub struct SensorSample {
    /// Pose of the sensor.
    pub world_from_sensor: Pose,
    /// Reading of the sensor.
    pub reading: Reading,
    /// Force on the sensor, in its frame (N).
    pub force_newton: Vec3,
    /// Torque on the sensor about its origin, in its frame (N m).
    pub torque_newton_m: Vec3,
    /// Camera image, if the sensor has a camera and an image is due.
    pub camera: Option<Image>,
    /// Heat map of the taxels, if one is due.
    pub tactile: Option<Image>,
    /// Warnings of the skin, one sentence each.
    pub warnings: Vec<String>,
}

impl SensorSample {
    /// The images of this sample, by name.
    pub fn images(&self) -> impl Iterator<Item = (&'static str, &Image)> {
        let both = [("camera", &self.camera), ("tactile", &self.tactile)];
        both.into_iter().filter_map(|(name, image)| Some((name, image.as_ref()?)))
    }
}
