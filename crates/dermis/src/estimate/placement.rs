//! Where an object presses a sensor.

use super::EstimateError;
use dermis_sensor::{Aim, Goal, PressError, Pressed, Sensor, press};
use dermis_skin::Object;
use serde::Serialize;

/// A press: where, how deep and how large.
///
/// ```
/// use dermis::estimate::{Placement, press_at};
/// # use dermis::prelude::*;
/// # let sensor = dermis::sensor::presets::find("uji-foam-14x6")?.build(None)?;
/// # let ball = Object::new(dermis::geometry::shapes::sphere(0.010, 0.001)?);
/// let placement = Placement { at_m: [3e-3, -5e-3], depth_m: 2e-3, ..Placement::default() };
/// let pressed = press_at(&sensor, &ball, &placement)?.expect("the ball is above the sensor");
/// assert!(pressed.reading.sum_newton > 0.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Placement {
    /// Position of the object's origin: x and y (m).
    pub at_m: [f64; 2],
    /// Travel past first contact (m).
    pub depth_m: f64,
    /// Rotation about the sensor's x axis, then y (rad).
    pub tilt_rad: [f64; 2],
    /// Rotation about the sensor's z axis (rad), applied before the tilt.
    pub yaw_rad: f64,
    /// Tangential displacement after the press: x and y (m).
    pub shear_m: [f64; 2],
    /// Size by that of the given object.
    pub scale: f64,
}

impl Default for Placement {
    fn default() -> Self {
        Self { at_m: [0.0; 2], depth_m: 0.0, tilt_rad: [0.0; 2], yaw_rad: 0.0, shear_m: [0.0; 2], scale: 1.0 }
    }
}

/// The press of a placement, or `None` where it is impossible.
pub fn press_at(sensor: &Sensor, object: &Object, placement: &Placement) -> Result<Option<Pressed>, EstimateError> {
    let Placement { at_m, depth_m, tilt_rad, yaw_rad, shear_m, scale } = *placement;
    if !(scale > 0.05 && scale < 20.0) {
        return Ok(None);
    }
    let object = if scale == 1.0 { object.clone() } else { object.scaled(scale)? };
    let goal = Goal::Depth(depth_m);
    let pressed = press(sensor, &object, &Aim { at_m, tilt_rad, yaw_rad }, goal)
        .and_then(|pressed| pressed.sheared(sensor, &object, shear_m, goal));
    match pressed {
        Ok(pressed) => Ok(Some(pressed)),
        Err(PressError::Skin(error)) => Err(error.into()),
        Err(_) => Ok(None),
    }
}
