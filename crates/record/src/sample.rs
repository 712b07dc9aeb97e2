//! What is kept of one sample.

use dermis_geometry::{Pose, Vec3};
use dermis_sensor::{Image, Reading};

/// Everything that is kept of one time.
#[derive(Clone, Debug)]
pub struct Sample {
    /// Time since the start (s).
    pub time_s: f64,
    /// What each sensor sensor.
    pub sensors: Vec<SensorSample>,
    /// world_from_body of each body.
    pub bodies: Vec<Pose>,
}

/// What one sensor sensor, and where it was.
#[derive(Clone, Debug)]
pub struct SensorSample {
    /// Where it is.
    pub world_from_sensor: Pose,
    /// What it reports.
    pub reading: Reading,
    /// Force on it, in its frame (N).
    pub force_newton: Vec3,
    /// Torque on it about its origin, in its frame (N m).
    pub torque_newton_m: Vec3,
    /// What its camera sees, where it has one and an image is due.
    pub camera: Option<Image>,
    /// Its taxels as a heat map to be looked at, where one is due.
    pub tactile: Option<Image>,
}

impl SensorSample {
    /// The images that are there, by name.
    pub fn images(&self) -> impl Iterator<Item = (&'static str, &Image)> {
        let both = [("camera", &self.camera), ("tactile", &self.tactile)];
        both.into_iter().filter_map(|(name, image)| Some((name, image.as_ref()?)))
    }
}
