//! Quasi-static press of one object on one sensor.

mod clearance;
mod search;

pub use search::{PressSearch, Trial};

use crate::{Reading, Sensor};
use clearance::clearance;
use dermis_geometry::{Pose, Quat, Vec3};
use dermis_skin::hydroelastic::DEEPEST;
use dermis_skin::{Hydroelastic, Motion, Object, SkinError, State, Target, Touch, Warning};

/// Position and orientation of the object.
///
/// ```
/// use dermis_sensor::{Aim, Goal, press};
/// # use dermis_skin::Object;
/// # let sensor = dermis_sensor::presets::find("wts0614")?.build(None)?;
/// # let ball = Object::new(dermis_geometry::shapes::sphere(0.010, 0.001)?);
/// let aim = Aim { at_m: [0.0, 10e-3], yaw_rad: 0.3, ..Aim::default() };
/// let pressed = press(&sensor, &ball, &aim, Goal::Depth(0.5e-3))?;
/// assert!(pressed.touch.on_sensor.torque.x < 0.0); // pressed at +y
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Aim {
    /// Position of the object's origin over the sensor: x and y (m).
    pub at_m: [f64; 2],
    /// Tilt of the object: rotation about the sensor's x axis, then y (rad).
    pub tilt_rad: [f64; 2],
    /// Rotation about the sensor's z axis (rad), applied before the tilt.
    pub yaw_rad: f64,
}

/// Target of a press.
///
/// ```
/// use dermis_sensor::{Aim, Goal, press};
/// # use dermis_skin::Object;
/// # let sensor = dermis_sensor::presets::find("wts0614")?.build(None)?;
/// # let ball = Object::new(dermis_geometry::shapes::sphere(0.010, 0.001)?);
/// let pressed = press(&sensor, &ball, &Aim::default(), Goal::Force(2.0))?;
/// assert!((pressed.touch.on_sensor.force.z + 2.0).abs() < 1e-6);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Goal {
    /// Travel (m) past first contact.
    Depth(f64),
    /// Force (N) along −z on the sensor. A press that misses it by more than 1 % has a warning.
    Force(f64),
}

/// Result of a press.
#[derive(Clone, Debug)]
pub struct Pressed {
    /// Travel past first contact (m).
    pub depth_m: f64,
    /// Pose of the object at the end.
    pub sensor_from_object: Pose,
    /// The contact loads on the skin.
    pub touch: Touch,
    /// The skin's state at the end.
    pub state: State,
    /// The sensor's reading.
    pub reading: Reading,
}

/// A number to four significant digits, for messages.
fn rounded(value: f64) -> f64 {
    let digits = 10f64.powi(3 - value.abs().max(f64::MIN_POSITIVE).log10().floor().clamp(-300.0, 300.0) as i32);
    (value * digits).round() / digits
}

/// Errors of a press.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[allow(missing_docs, reason = "the message of each variant names its fields")]
pub enum PressError {
    /// The object is not above the sensor.
    #[error(
        "{object} is not above sensor {sensor:?} at x = {x_mm} mm, y = {y_mm} mm, so a press along its normal misses it"
    )]
    Misses { object: String, sensor: String, x_mm: f64, y_mm: f64 },
    /// An invalid goal.
    #[error("the {what} of a press must be a positive, finite number, got {got} {unit}")]
    BadGoal { what: &'static str, got: f64, unit: &'static str },
    /// A depth beyond the range of the skin.
    #[error("a depth of {depth_mm} mm is more than sensor {sensor:?} can be pressed ({} mm)", rounded(*max_mm))]
    TooDeep { sensor: String, depth_mm: f64, max_mm: f64 },
    /// A force beyond the range of the skin.
    #[error(
        "sensor {sensor:?} cannot carry {force_n} N from {object} there: pressed as deep as it goes ({} mm) it gives {} N",
        rounded(*max_mm), rounded(*max_n)
    )]
    TooStrong { sensor: String, object: String, force_n: f64, max_mm: f64, max_n: f64 },
    /// A force that is lost during a shear.
    #[error(
        "sensor {sensor:?} cannot hold the force over a shear of {shear_mm} mm: shear less, or press to a depth instead"
    )]
    NotHeld { sensor: String, shear_mm: f64 },
    /// An object that is no longer on the skin after a shear.
    #[error("the object left sensor {sensor:?} during the shear of {shear_mm} mm, so nothing touches it: shear less")]
    SlidOff { sensor: String, shear_mm: f64 },
    /// An error of the skin.
    #[error(transparent)]
    Skin(#[from] SkinError),
}

/// Presses an object along −z into a sensor, without sliding and quasi-statically.
pub fn press(sensor: &Sensor, object: &Object, aim: &Aim, goal: Goal) -> Result<Pressed, PressError> {
    let mut search = PressSearch::new(sensor, object, aim, goal)?;
    let (mut state, mut best) = (sensor.skin().rest(), None);
    while let Some((pose, depth_m)) = search.trial() {
        let target = Target::at_rest(object, pose);
        let (touch, next) = sensor.skin().settle(&state, &Motion { targets: &[target] })?;
        match search.found(-touch.on_sensor.force.z) {
            Trial::Weaker => state = next,
            Trial::Best => best = Some((depth_m, pose, touch, next)),
        }
    }
    let (depth_m, pose, mut touch, state) = best.ok_or_else(|| search.too_strong(sensor, object))?;
    touch.warnings.extend(search.warning().into_iter().chain(far_too_large(sensor, object)));
    Ok(Pressed::read(sensor, depth_m, pose, touch, state))
}

impl Pressed {
    /// Reads a sensor after a press to a depth (m).
    pub fn read(sensor: &Sensor, depth_m: f64, sensor_from_object: Pose, mut touch: Touch, state: State) -> Self {
        let reading = sensor.read(&touch);
        touch.warnings.extend_from_slice(&reading.warnings);
        Self { depth_m, sensor_from_object, touch, state, reading }
    }
}

/// Holds an object at a pose on the untouched sensor, quasi-statically. The depth of the result is the travel along −z past
/// first contact; zero if the object is not above the sensor.
pub fn press_to_pose(sensor: &Sensor, object: &Object, sensor_from_object: &Pose) -> Result<Pressed, PressError> {
    let target = Target::at_rest(object, *sensor_from_object);
    let (touch, state) = sensor.skin().settle(&sensor.skin().rest(), &Motion { targets: &[target] })?;
    let depth_m = clearance(sensor, object, sensor_from_object).map_or(0.0, |gap| (-gap).max(0.0));
    let reading = sensor.read(&touch);
    Ok(Pressed { depth_m, sensor_from_object: *sensor_from_object, touch, state, reading })
}

/// Largest extent of a mesh that is not doubted: by that of the sensor, and in metres. A table or a wall may be larger than the
/// first, a tool read as metres instead of millimetres is larger than both.
const MAX_RATIO: f64 = 100.0;
const MAX_SIZE_M: f64 = 2.0;

/// The warning of a mesh that is so large that its file is in another unit. Primitives carry their units.
fn far_too_large(sensor: &Sensor, object: &Object) -> Option<Warning> {
    let size_m = object.surface.bounds().size().max_element();
    let ratio = size_m / sensor.surface().bounds().size().max_element();
    let is_doubted = object.surface.primitive().is_none() && size_m > MAX_SIZE_M && ratio > MAX_RATIO;
    is_doubted.then(|| Warning::FarTooLarge { size_m: rounded(size_m), ratio: ratio.round() })
}

/// Final pose of the object in a press to a depth (m). Returns an error in the same cases as [`press`].
pub fn depth_pose(sensor: &Sensor, object: &Object, aim: &Aim, depth_m: f64) -> Result<Pose, PressError> {
    Ok(PressSearch::new(sensor, object, aim, Goal::Depth(depth_m))?.end(sensor, object)?.0)
}

/// The depth to press to, or an error beyond the largest one. At the whole depth of a pressure field a flat face has left
/// the field: it is pressed to [`DEEPEST`] of it.
fn allowed(sensor: &Sensor, depth_m: f64) -> Result<f64, PressError> {
    let max_m = sensor.skin().max_depth_m();
    if depth_m <= max_m {
        let in_field = sensor.skin_as::<Hydroelastic>().is_some();
        return Ok(if in_field { depth_m.min(DEEPEST * max_m) } else { depth_m });
    }
    let (depth_mm, max_mm) = (millimetres(depth_m), millimetres(max_m));
    Err(PressError::TooDeep { sensor: sensor.name().to_owned(), depth_mm, max_mm })
}

/// Rounds for messages: 9 mm instead of 9.000000000000002 mm.
pub(crate) fn millimetres(length_m: f64) -> f64 {
    (length_m * 1e9).round() / 1e6
}

/// The pose in which the object, moving down from above, first touches the sensor's surface.
pub fn first_contact(sensor: &Sensor, object: &Object, aim: &Aim) -> Result<Pose, PressError> {
    let rotation = Quat::from_rotation_y(aim.tilt_rad[1])
        * Quat::from_rotation_x(aim.tilt_rad[0])
        * Quat::from_rotation_z(aim.yaw_rad);
    let [x, y] = aim.at_m;
    let above = Pose::new(rotation, Vec3::new(x, y, 0.0));
    let gap = clearance(sensor, object, &above).ok_or_else(|| PressError::Misses {
        object: object.surface.mesh().name().to_owned(),
        sensor: sensor.name().to_owned(),
        x_mm: millimetres(x),
        y_mm: millimetres(y),
    })?;
    Ok(Pose { translation: above.translation - Vec3::Z * gap, ..above })
}
