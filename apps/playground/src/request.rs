//! Requests of the page.

use crate::ControlValues;
use dermis_geometry::files::LengthUnit;
use dermis_sensor::SkinKind;
use serde::Deserialize;

/// A request.
#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "do", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Request {
    /// List sensors and objects.
    Catalogue {},
    /// Set the object.
    Object(ObjectRequest),
    /// Build a sensor.
    Sensor(SensorRequest),
    /// Press the object on a sensor.
    Press(PressRequest),
}

/// An object: a shape, or a dropped file, whose bytes accompany the request.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ObjectRequest {
    /// A shape as on the command line, or the name of the file.
    pub name: String,
    /// The unit of the file; a shape has none.
    pub unit: Option<LengthUnit>,
}

/// A sensor with a skin and control values.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SensorRequest {
    /// Its slot, 0 or 1.
    pub slot: usize,
    /// Its preset.
    pub preset: String,
    /// Its skin.
    pub skin: SkinKind,
    /// Values of its controls.
    #[serde(default)]
    pub controls: ControlValues,
    /// Width of the camera image in pixels, if it has a camera.
    pub width_px: usize,
}

/// A press.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PressRequest {
    /// Slot of the sensor.
    pub slot: usize,
    /// Position of the object's origin on the sensor (mm).
    pub at_mm: [f64; 2],
    /// Depth past first contact (mm); negative values are a distance above it.
    pub depth_mm: f64,
    /// Normal force (N); if set, it replaces the depth.
    #[serde(default)]
    pub force_n: Option<f64>,
    /// Tilt about the sensor's x axis and then its y axis (deg).
    pub tilt_deg: [f64; 2],
    /// Rotation about the sensor's z axis (deg).
    pub yaw_deg: f64,
    /// Tangential displacement after the press (mm).
    pub shear_mm: [f64; 2],
}
