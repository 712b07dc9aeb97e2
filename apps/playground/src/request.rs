//! What the page may ask.

use crate::Knobs;
use dermis_geometry::files::LengthUnit;
use dermis_sensor::SkinKind;
use serde::Deserialize;

/// One question.
#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "do", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Request {
    /// What there is to choose from.
    Catalogue {},
    /// Take this object from now on.
    Object(Thing),
    /// Make a sensor.
    Sensor(Build),
    /// Press the object on a sensor.
    Press(Press),
}

/// An object: a shape, or a file that was dropped, whose bytes come beside the question.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Thing {
    /// A shape as on the command line, or the name of the file.
    pub name: String,
    /// The unit of the file; a shape has none.
    pub unit: Option<LengthUnit>,
}

/// A sensor.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Build {
    /// Where to keep it: two skins can be compared.
    pub slot: usize,
    /// Its preset.
    pub preset: String,
    /// Its skin.
    pub skin: SkinKind,
    /// What was changed of it.
    #[serde(default)]
    pub knobs: Knobs,
    /// Width of the camera's image in pixels, where it has one.
    pub width_px: usize,
}

/// A press.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Press {
    /// On which sensor.
    pub slot: usize,
    /// Where the object's origin is over the sensor (mm).
    pub at_mm: [f64; 2],
    /// Past first contact (mm); 0 and less is so far above it.
    pub depth_mm: f64,
    /// About the sensor's x axis and then its y axis (deg).
    pub tilt_deg: [f64; 2],
    /// About the sensor's z axis (deg).
    pub yaw_deg: f64,
    /// Sideways after the press (mm).
    pub shear_mm: [f64; 2],
}
