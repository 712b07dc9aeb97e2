//! How well readings determine a quantity.

use super::DesignError;
use crate::dataset::DatasetSpec;
use crate::estimate::{Placement, Unknown, press_at, steps_at_edges};
use dermis_geometry::quantity::Force;
use dermis_sensor::{Goal, Pressed, Sensor, SensorSpec, press};
use dermis_skin::Object;
use nalgebra::{DMatrix, DVector};
use std::sync::Arc;

/// The quantity that readings shall determine.
///
/// ```
/// use dermis::design::Objective;
/// assert_eq!(Objective::Position.unit(), ("mm", 1e-3));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Objective {
    /// The place of the object: x and y together.
    Position,
    /// The depth of the press.
    Depth,
    /// The rotation of the object about the normal of the sensor.
    Yaw,
    /// The normal force.
    Force,
    /// The size of the object, by its own.
    Size,
}

impl Objective {
    /// All objectives.
    pub const ALL: [Self; 5] = [Self::Position, Self::Depth, Self::Yaw, Self::Force, Self::Size];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Position => "position",
            Self::Depth => "depth",
            Self::Yaw => "yaw",
            Self::Force => "force",
            Self::Size => "size",
        }
    }

    /// The unit of its standard deviation, and the size of that unit in SI.
    pub fn unit(self) -> (&'static str, f64) {
        match self {
            Self::Position | Self::Depth => ("mm", 1e-3),
            Self::Yaw => ("deg", 1f64.to_radians()),
            Self::Force => ("N", 1.0),
            Self::Size => ("", 1.0),
        }
    }
}

/// The part of a sensor that is read.
///
/// ```
/// use dermis::design::Channels;
/// let gelsight = dermis::sensor::presets::find("gelsight")?;
/// assert_eq!(Channels::of(&gelsight), Channels::Image); // it has a camera
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Channels {
    /// The reported newtons of all taxels.
    Taxels,
    /// All pixels of the camera.
    Image,
    /// All magnetometers.
    Magnetometers,
}

impl Channels {
    /// Those that a sensor is made for: its magnetometers, its camera, or else its taxels.
    pub fn of(sensor: &SensorSpec) -> Self {
        match (&sensor.magnetometers, &sensor.camera) {
            (Some(_), _) => Self::Magnetometers,
            (None, Some(_)) => Self::Image,
            (None, None) => Self::Taxels,
        }
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Taxels => "taxels",
            Self::Image => "image",
            Self::Magnetometers => "magnetometers",
        }
    }
}

/// Variance of the rounding to a whole level or count.
const ROUNDING: f64 = 1.0 / 12.0;

/// The noise of the channels: a constant standard deviation, and one that grows with the value.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct ChannelNoise {
    variance: f64,
    /// Part of the value that is added to the standard deviation, in quadrature.
    relative: f64,
    /// Variance by value, of shot noise.
    by_value: f64,
    /// Largest count of taxels that are rounded to counts (N).
    full_scale: Option<f64>,
}

impl ChannelNoise {
    /// That of the description, with `sd` (N or levels) in the place of its constant part if it is given.
    pub fn of(spec: &SensorSpec, channels: Channels, sd: Option<f64>) -> Result<Self, DesignError> {
        let none = |remedy: &'static str| DesignError::NoNoise { sensor: spec.name.clone(), remedy };
        match channels {
            Channels::Taxels => {
                let response = &spec.response;
                let noise = response.noise.as_ref();
                let sd = sd.or_else(|| noise.map(|noise| noise.sd.si())).unwrap_or_default();
                let count = if response.quantised { response.force_per_count.si() } else { 0.0 };
                let relative = noise.map_or(0.0, |noise| noise.relative);
                let variance = sd * sd + count * count * ROUNDING;
                if variance <= 0.0 {
                    return Err(none("give `response.noise.sd` in its file, or `--noise 2mN`"));
                }
                let largest = ((1u64 << response.bits.min(32)) - 1) as f64 * response.force_per_count.si();
                Ok(Self { variance, relative, by_value: 0.0, full_scale: response.quantised.then_some(largest) })
            }
            Channels::Image => {
                let noise = spec.camera.as_ref().and_then(|camera| camera.noise);
                let read = sd.or_else(|| noise.map(|noise| noise.read_levels));
                let read =
                    read.ok_or_else(|| none("give `camera.noise` in its file, or `--noise 2` (levels of 255)"))?;
                let shot = noise.map_or(0.0, |noise| noise.shot_levels);
                Ok(Self { variance: read * read + ROUNDING, by_value: shot * shot / 255.0, ..Self::default() })
            }
            Channels::Magnetometers => Ok(Self::default()),
        }
    }

    /// The values, cut off at zero and at the full scale of counts.
    fn within_scale(&self, mut values: Vec<f64>) -> Vec<f64> {
        if let Some(largest) = self.full_scale {
            values.iter_mut().for_each(|value| *value = value.clamp(0.0, largest));
        }
        values
    }

    fn variance_of(&self, value: f64) -> f64 {
        self.variance + (self.relative * value).powi(2) + self.by_value * value.max(0.0)
    }
}

/// The description as it is read here: without rounding and noise, which count as variances.
pub(super) fn without_noise(spec: &SensorSpec) -> SensorSpec {
    let mut spec = spec.clone();
    spec.response.quantised = false;
    spec.response.noise = None;
    if let Some(camera) = &mut spec.camera {
        camera.noise = None;
    }
    spec
}

/// What is unknown in the presses of a data set: what it varies, with the variance that it has there.
pub(super) fn unknowns(set: &DatasetSpec) -> Vec<(Unknown, f64)> {
    let [x, y, yaw, tilt_x, tilt_y, depth, force, _] = set.pose.axes();
    let scale: f64 =
        set.objects.iter().filter_map(|object| Some(object.scale.as_ref()?.variance())).fold(0.0, f64::max);
    let all = [
        (Unknown::X, x),
        (Unknown::Y, y),
        (Unknown::Yaw, yaw),
        (Unknown::TiltX, tilt_x),
        (Unknown::TiltY, tilt_y),
        // A varied force is an unknown depth whose variance follows from the stiffness of each press.
        (Unknown::Depth, depth.or(force)),
    ];
    let varied = all.into_iter().filter_map(|(unknown, axis)| Some((unknown, axis?.variance())));
    varied.chain([(Unknown::Scale, scale)]).filter(|(_, variance)| *variance > 0.0).collect()
}

/// A press of a data set.
pub(super) struct TaskPress {
    pub object: Arc<Object>,
    pub placement: Placement,
    /// The normal force instead of a depth (N).
    pub force_newton: Option<f64>,
}

/// The variance (SI) with which one reading determines the objective, given what the data set already tells, and the warnings of the
/// press. `None` if the press cannot be made.
pub(super) fn variance(
    sensor: &Sensor,
    planned: &TaskPress,
    unknowns: &[(Unknown, f64)],
    (channels, noise): (Channels, &ChannelNoise),
    objective: Objective,
) -> Result<Option<(f64, Vec<String>)>, DesignError> {
    let mut placement = planned.placement;
    if let Some(force) = planned.force_newton {
        let aim = dermis_sensor::Aim { at_m: placement.at_m, tilt_rad: placement.tilt_rad, yaw_rad: placement.yaw_rad };
        match press(sensor, &planned.object, &aim, Goal::Force(force)) {
            Ok(pressed) => placement.depth_m = pressed.depth_m,
            Err(_) => return Ok(None),
        }
    }
    let Some(here) = press_at(sensor, &planned.object, &placement)? else { return Ok(None) };
    let force = |pressed: &Pressed| -pressed.touch.on_sensor.force.z;
    let force_here = force(&here);
    let mut warnings = here.touch.warning_texts();
    warnings.extend(steps_at_edges(sensor, &planned.object));
    // A magnetometer beyond its range reads the same whatever is pressed.
    let clipped = sensor.magnetics().map(|magnetics| magnetics.clipped(&magnetics.changes(&here.touch)));
    let read = |pressed: Pressed| Ok::<_, DesignError>(noise.within_scale(channels.read(sensor, pressed)?));
    let values = read(here)?;
    let (mut slopes, mut force_slopes) = (Vec::new(), Vec::new());
    for (unknown, _) in unknowns {
        let beside = |sign: f64| {
            let mut moved = placement;
            *unknown.entry(&mut moved) += sign * unknown.step();
            let Some(pressed) = press_at(sensor, &planned.object, &moved)? else { return Ok(None) };
            let force = force(&pressed);
            Ok::<_, DesignError>(Some((sign * unknown.step(), force, read(pressed)?)))
        };
        // One-sided at the end of the range of the skin.
        let at_rest = (0.0, force_here, values.clone());
        let (above, below) = (beside(1.0)?, beside(-1.0)?);
        if above.is_none() && below.is_none() {
            return Ok(None);
        }
        let ((a, force_a, above), (b, force_b, below)) = (above.unwrap_or(at_rest.clone()), below.unwrap_or(at_rest));
        slopes.push(above.iter().zip(&below).map(|(above, below)| (above - below) / (a - b)).collect::<Vec<f64>>());
        force_slopes.push((force_a - force_b) / (a - b));
    }
    let weights: Vec<f64> = match channels {
        Channels::Magnetometers => {
            let sd = sensor.magnetics().map_or(f64::INFINITY, |magnetics| magnetics.channel_sd_tesla() * 1e6);
            let weight = |is_clipped: bool| if is_clipped { 0.0 } else { 1.0 / (sd * sd) };
            clipped.unwrap_or_default().into_iter().map(weight).collect()
        }
        _ => values.iter().map(|value| 1.0 / noise.variance_of(*value)).collect(),
    };
    let count = unknowns.len();
    let information = DMatrix::from_fn(count, count, |i, j| {
        let products = slopes[i].iter().zip(&slopes[j]).zip(&weights).map(|((a, b), weight)| a * b * weight);
        let prior = match (i == j, unknowns[i]) {
            (false, _) => 0.0,
            (true, (Unknown::Depth, variance)) if planned.force_newton.is_some() => force_slopes[i].powi(2) / variance,
            (true, (_, variance)) => 1.0 / variance,
        };
        products.sum::<f64>() + prior
    });
    let Some(covariance) = information.try_inverse() else { return Ok(None) };
    let of = |unknown: Unknown| {
        let at = unknowns.iter().position(|(known, _)| *known == unknown);
        at.map_or(0.0, |at| covariance[(at, at)])
    };
    let variance = match objective {
        Objective::Position => of(Unknown::X) + of(Unknown::Y),
        Objective::Depth => of(Unknown::Depth),
        Objective::Yaw => of(Unknown::Yaw),
        Objective::Size => of(Unknown::Scale),
        Objective::Force => {
            let slope = DVector::from_vec(force_slopes);
            (slope.transpose() * &covariance * &slope)[(0, 0)]
        }
    };
    Ok(Some((variance, warnings)))
}

impl Objective {
    /// The variance (SI) of the objective in a data set, before anything is read; an error if it does not vary there.
    pub(super) fn prior(self, set: &DatasetSpec, unknowns: &[(Unknown, f64)]) -> Result<f64, DesignError> {
        let of =
            |unknown: Unknown| unknowns.iter().find(|(known, _)| *known == unknown).map_or(0.0, |(_, prior)| *prior);
        let (prior, key) = match self {
            Self::Position => (of(Unknown::X) + of(Unknown::Y), "pose.x` and `pose.y"),
            Self::Depth => (set.pose.depth.as_ref().map_or(0.0, |_| of(Unknown::Depth)), "pose.depth"),
            Self::Force => (set.pose.force.as_ref().map_or(0.0, |_| of(Unknown::Depth)), "pose.force"),
            Self::Yaw => (of(Unknown::Yaw), "pose.yaw"),
            Self::Size => (of(Unknown::Scale), "object.scale"),
        };
        if prior > 0.0 { Ok(prior) } else { Err(DesignError::NotVaried { objective: self.name(), key }) }
    }
}

impl Channels {
    /// The values that are read: newtons, levels or µT.
    fn read(self, sensor: &Sensor, pressed: Pressed) -> Result<Vec<f64>, DesignError> {
        Ok(match self {
            Self::Taxels => pressed.reading.reported_newton,
            Self::Image => {
                let image = sensor.render(&pressed.touch, 0)?.image;
                image.channels.iter().flatten().map(|level| f64::from(level.clamp(0.0, 255.0))).collect()
            }
            Self::Magnetometers => {
                let changes = sensor.magnetics().map_or_else(Vec::new, |magnetics| magnetics.changes(&pressed.touch));
                changes.iter().flat_map(|change| (*change * 1e6).to_array()).collect()
            }
        })
    }

    /// Reads the standard deviation of the noise, in the unit of the channels.
    pub fn noise_from(self, text: &str) -> Result<f64, String> {
        let sd = match self {
            Self::Taxels => text.parse::<Force>().map(Force::si).map_err(|error| error.to_string()),
            Self::Image => text.parse::<f64>().map_err(|_| format!("{text:?} must be a number of levels of 255")),
            Self::Magnetometers => Err("that of magnetometers is in the sensor file".to_owned()),
        }?;
        if sd > 0.0 && sd.is_finite() { Ok(sd) } else { Err(format!("{text:?} must be positive")) }
    }
}
