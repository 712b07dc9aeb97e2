//! Estimates the pose and size of an object from one reading of a sensor, by fitting the simulated reading.
//!
//! The fit starts where the reading shows a contact. The intervals follow from the residuals, whose correlation between
//! neighbours is taken into account, or, of magnetometers, from their noise where that is larger; they do not include
//! errors of the sensor's description, such as those of its light.

mod gauss_newton;

use dermis_geometry::Vec3;
use dermis_geometry::shapes::ShapeError;
use dermis_sensor::calibration::optics::find_contact;
use dermis_sensor::optics::{FloatImage, OpticsError};
use dermis_sensor::{Aim, Goal, PressError, Pressed, Sensor, press};
use dermis_skin::{Motion, Object, SkinError};
use gauss_newton::{LeastSquares, Solution};
use nalgebra::DVector;
use serde::Serialize;
use std::cell::Cell;

/// Errors of an estimate.
///
/// ```
/// use dermis::estimate::{EstimateError, Measured, Placement, Unknown, estimate};
/// # use dermis::prelude::*;
/// # let sensor = dermis::sensor::presets::find("uji-foam-14x6")?.build(None)?;
/// # let ball = Object::new(dermis::geometry::shapes::sphere(0.010, 0.001)?);
/// let known = Placement { depth_m: 1e-3, ..Placement::default() };
/// let nothing = vec![0.0; 84];
/// let found = estimate(&sensor, &ball, Measured::Taxels(&nothing), known, &[Unknown::Depth], &|_| ());
/// assert!(matches!(found, Err(EstimateError::NoContact { .. })));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the message of each variant names its fields")]
pub enum EstimateError {
    #[error("the reading has {got} taxels and sensor {sensor:?} has {expected}: give the sensor that was read")]
    OtherSensor { sensor: String, got: usize, expected: usize },
    #[error("the reading shows no contact that differs clearly from sensor {sensor:?} at rest")]
    NoContact { sensor: String },
    #[error("{object} cannot be pressed on sensor {sensor:?} near the contact of the reading")]
    NoPress { sensor: String, object: String },
    #[error("the reading has {got} magnetometers and sensor {sensor:?} has {expected}: give the sensor that was read")]
    OtherChips { sensor: String, got: usize, expected: usize },
    #[error(
        "{unknowns} unknowns are not determined by {channels} channels of sensor {sensor:?} within their range: estimate fewer, or give the sensor more magnetometers"
    )]
    FewChannels { sensor: String, channels: usize, unknowns: usize },
    #[error("sensor {sensor:?} has no camera or no deformed surface: estimate from its taxels")]
    NoCamera { sensor: String },
    #[error("nothing is to be estimated: name at least one unknown")]
    NothingUnknown,
    #[error(transparent)]
    Skin(#[from] SkinError),
    #[error(transparent)]
    Optics(#[from] OpticsError),
    #[error(transparent)]
    Shape(#[from] ShapeError),
}

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

/// A quantity to estimate.
///
/// ```
/// use dermis::estimate::{Measured, Placement, Unknown, estimate};
/// # use dermis::prelude::*;
/// # let sensor = dermis::sensor::presets::find("uji-foam-14x6")?.build(None)?;
/// # let ball = Object::new(dermis::geometry::shapes::sphere(0.010, 0.001)?);
/// let known = Placement { depth_m: 1e-3, ..Placement::default() };
/// let reading = press(&sensor, &ball, &Aim::default(), Goal::Depth(2e-3))?.reading;
/// let found = estimate(&sensor, &ball, Measured::Taxels(&reading.values_newton), known, &[Unknown::Depth], &|_| ())?;
/// assert!((found.placement.depth_m - 2e-3).abs() < 1e-6);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Unknown {
    /// Position along x.
    X,
    /// Position along y.
    Y,
    /// Travel past first contact.
    Depth,
    /// Tilt about x.
    TiltX,
    /// Tilt about y.
    TiltY,
    /// Rotation about the normal.
    Yaw,
    /// Tangential displacement along x.
    ShearX,
    /// Tangential displacement along y.
    ShearY,
    /// Size.
    Scale,
}

impl Unknown {
    fn entry(self, placement: &mut Placement) -> &mut f64 {
        match self {
            Self::X => &mut placement.at_m[0],
            Self::Y => &mut placement.at_m[1],
            Self::Depth => &mut placement.depth_m,
            Self::TiltX => &mut placement.tilt_rad[0],
            Self::TiltY => &mut placement.tilt_rad[1],
            Self::Yaw => &mut placement.yaw_rad,
            Self::ShearX => &mut placement.shear_m[0],
            Self::ShearY => &mut placement.shear_m[1],
            Self::Scale => &mut placement.scale,
        }
    }

    /// Step of the differences: larger than the effect of single cells and taxels, smaller than a contact.
    fn step(self) -> f64 {
        match self {
            Self::X | Self::Y | Self::ShearX | Self::ShearY => 20e-6,
            Self::Depth => 10e-6,
            Self::TiltX | Self::TiltY | Self::Yaw => 0.01,
            Self::Scale => 0.02,
        }
    }
}

/// A measured reading.
///
/// ```
/// use dermis::estimate::Measured;
/// # use dermis::prelude::*;
/// # let sensor = dermis::sensor::presets::find("uji-foam-14x6")?.build(None)?;
/// # let ball = Object::new(dermis::geometry::shapes::sphere(0.010, 0.001)?);
/// let reading = press(&sensor, &ball, &Aim::default(), Goal::Depth(2e-3))?.reading;
/// let measured = Measured::Taxels(&reading.values_newton); // or `Measured::Image`, of a camera
/// assert!(matches!(measured, Measured::Taxels(forces) if forces.len() == 84));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub enum Measured<'a> {
    /// An image of the sensor's camera.
    Image(&'a FloatImage),
    /// Forces (N) on all taxels.
    Taxels(&'a [f64]),
    /// Change (T) of the flux densities at all magnetometers from rest, in the frames of the chips.
    Magnetic(&'a [Vec3]),
}

/// An estimate.
///
/// ```
/// use dermis::estimate::{Measured, Placement, Unknown, estimate};
/// # use dermis::prelude::*;
/// # let sensor = dermis::sensor::presets::find("uji-foam-14x6")?.build(None)?;
/// # let ball = Object::new(dermis::geometry::shapes::sphere(0.010, 0.001)?);
/// let reading = press(&sensor, &ball, &Aim { at_m: [3e-3, -5e-3], ..Aim::default() }, Goal::Depth(2e-3))?.reading;
/// let known = Placement { depth_m: 1e-3, ..Placement::default() };
/// let unknowns = [Unknown::X, Unknown::Y, Unknown::Depth];
/// let found = estimate(&sensor, &ball, Measured::Taxels(&reading.values_newton), known, &unknowns, &|_| ())?;
/// let [low, high] = found.interval(Unknown::X).expect("it was unknown");
/// assert!(low <= found.placement.at_m[0] && found.placement.at_m[0] <= high && (found.placement.at_m[0] - 3e-3).abs() < 1e-5);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Serialize)]
pub struct Estimate {
    /// The values of all quantities.
    pub placement: Placement,
    /// Standard error of each unknown, in the unit of its value.
    pub standard_errors: Vec<(Unknown, f64)>,
    /// Force on the sensor (N) of the fitted press, in the sensor frame.
    pub force_newton: [f64; 3],
    /// Standard errors of `force_newton` (N), by those of the unknowns.
    pub force_errors_newton: [f64; 3],
    /// Standard errors in half a 95 % interval: 1.96, more if few channels determine them.
    pub quantile: f64,
    /// Root mean square residual (levels of 255, N or µT).
    pub rms: f64,
    /// Part of the squared change of the reading by the contact that the fit explains; 1 for a perfect fit.
    pub explained: f64,
    /// False if the fit stopped before it converged.
    pub converged: bool,
    /// Warnings of the skin about the fitted press, and about the fit.
    pub warnings: Vec<String>,
}

impl Estimate {
    /// The 95 % interval of an unknown; `None` if it was given.
    pub fn interval(&self, unknown: Unknown) -> Option<[f64; 2]> {
        let (_, error) = self.standard_errors.iter().find(|(name, _)| *name == unknown)?;
        let mut placement = self.placement;
        let value = *unknown.entry(&mut placement);
        Some([value - self.quantile * error, value + self.quantile * error])
    }

    /// The 95 % interval of a component of `force_newton`.
    pub fn force_interval(&self, axis: usize) -> [f64; 2] {
        let (value, half) = (self.force_newton[axis], self.quantile * self.force_errors_newton[axis]);
        [value - half, value + half]
    }
}

/// The quantile of 97.5 % of the normal distribution.
const NORMAL_975: f64 = 1.96;

/// Parts of the greatest depth, and sizes, at which fits start.
const START_DEPTHS: [f64; 3] = [0.15, 0.3, 0.55];
const START_SCALES: [f64; 3] = [0.7, 1.0, 1.4];
/// Number of yaw angles, over half a turn, at which fits start.
const START_YAWS: u32 = 6;
/// Number of places along x and y at which fits of channels start.
const START_PLACES: usize = 5;
/// Number of starts that are followed.
const FOLLOWED: usize = 3;

/// Estimates `unknowns`; the other quantities are those of `known`, and a position that is unknown starts where the
/// reading shows a contact. `progress` is called with the number of simulated presses so far.
pub fn estimate(
    sensor: &Sensor,
    object: &Object,
    measured: Measured<'_>,
    known: Placement,
    unknowns: &[Unknown],
    progress: &dyn Fn(usize),
) -> Result<Estimate, EstimateError> {
    if unknowns.is_empty() {
        return Err(EstimateError::NothingUnknown);
    }
    let view = View::of(sensor, measured)?;
    view.check_count(sensor, unknowns.len())?;
    let fit = Fit { sensor, object, view: &view, known, presses: Cell::new(0), progress };
    // A shear is small beside the press that it follows, and takes several times as long: the press is fitted first.
    let is_shear = |unknown: &Unknown| matches!(unknown, Unknown::ShearX | Unknown::ShearY);
    let mut pressed: Vec<Unknown> = unknowns.iter().copied().filter(|unknown| !is_shear(unknown)).collect();
    if pressed.is_empty() {
        pressed = unknowns.to_vec();
    }
    let mut best: Option<(Placement, Solution)> = None;
    for start in fit.starts(&pressed)?.into_iter().take(FOLLOWED) {
        let solved = fit.solve(&pressed, start)?;
        if let Some(solution) = solved.filter(|(_, new)| best.as_ref().is_none_or(|(_, best)| new.rms < best.rms)) {
            best = Some(solution);
        }
    }
    if pressed.len() < unknowns.len()
        && let Some((start, _)) = best
    {
        best = fit.solve(unknowns, start)?;
    }
    let no_press =
        || EstimateError::NoPress { sensor: sensor.name().to_owned(), object: object.surface.mesh().name().to_owned() };
    let (mut placement, Solution { covariance, homogeneous, rms, converged, .. }) = best.ok_or_else(no_press)?;
    let (covariance, quantile) = match view.known_variance {
        None => (covariance, NORMAL_975),
        Some(variance) => {
            let degrees = view.measured.len() - unknowns.len();
            let found = rms * rms * view.measured.len() as f64 / degrees.max(1) as f64;
            let quantile = if variance > 0.0 { NORMAL_975 } else { student_975(degrees) };
            (homogeneous * variance.max(if degrees > 0 { found } else { 0.0 }), quantile)
        }
    };
    let errors = unknowns.iter().enumerate().map(|(k, unknown)| (*unknown, covariance[(k, k)].max(0.0).sqrt()));
    placement.yaw_rad = wrapped(placement.yaw_rad);
    let changes = view.measured.iter().zip(&view.rest).map(|(value, rest)| (value - rest).powi(2)).sum::<f64>();
    let explained = 1.0 - rms * rms * view.measured.len() as f64 / changes;
    let fitted = press_at(sensor, object, &placement)?.ok_or_else(no_press)?;
    let mut warnings = fitted.touch.warning_texts();
    if explained < WELL_EXPLAINED {
        warnings.push(format!(
            "the fit explains only {:.0} % of the change of the reading: object, sensor or unknowns may be wrong, or the reading has no contact",
            100.0 * explained.max(0.0)
        ));
    }
    if !converged {
        warnings.push("the fit stopped before it converged".to_owned());
    }
    let slopes = fit.force_slopes(unknowns, &placement, fitted.touch.on_sensor.force)?;
    let variance = |axis: usize| {
        let slope = DVector::from_iterator(unknowns.len(), slopes.iter().map(|slope| slope[axis]));
        (slope.transpose() * &covariance * &slope)[(0, 0)]
    };
    Ok(Estimate {
        placement,
        standard_errors: errors.collect(),
        force_newton: fitted.touch.on_sensor.force.to_array(),
        force_errors_newton: std::array::from_fn(|axis| match variance(axis) {
            // An unknown without error in its value but infinite covariance: nothing is determined.
            variance if variance.is_nan() => f64::INFINITY,
            variance => variance.max(0.0).sqrt(),
        }),
        quantile,
        rms,
        explained,
        converged,
        warnings,
    })
}

/// The quantile of 97.5 % of Student's distribution (Cornish and Fisher 1938), to 2 % from two degrees of freedom.
fn student_975(degrees: usize) -> f64 {
    let (z, by) = (NORMAL_975, 1.0 / degrees.max(1) as f64);
    let [first, second, third] = [
        (z.powi(3) + z) / 4.0,
        (5.0 * z.powi(5) + 16.0 * z.powi(3) + 3.0 * z) / 96.0,
        (3.0 * z.powi(7) + 19.0 * z.powi(5) + 17.0 * z.powi(3) - 15.0 * z) / 384.0,
    ];
    z + by * (first + by * (second + by * third))
}

/// A fit of presses to a reading.
struct Fit<'a> {
    sensor: &'a Sensor,
    object: &'a Object,
    view: &'a View,
    known: Placement,
    presses: Cell<usize>,
    progress: &'a dyn Fn(usize),
}

impl Fit<'_> {
    fn predict(&self, placement: &Placement) -> Result<Option<Vec<f64>>, EstimateError> {
        self.presses.set(self.presses.get() + 1);
        (self.progress)(self.presses.get());
        self.view.predict(self.sensor, self.object, placement)
    }

    /// Fits `unknowns` from a start.
    fn solve(&self, unknowns: &[Unknown], start: Placement) -> Result<Option<(Placement, Solution)>, EstimateError> {
        let placed = |values: &[f64]| {
            let mut placement = start;
            unknowns.iter().zip(values).for_each(|(unknown, value)| *unknown.entry(&mut placement) = *value);
            placement
        };
        let steps: Vec<f64> = unknowns.iter().map(|unknown| unknown.step()).collect();
        let predict = |values: &[f64]| self.predict(&placed(values));
        let View { measured, groups, .. } = self.view;
        let solved =
            LeastSquares { predict: &predict, measured, groups, steps: &steps }.solve(&values(start, unknowns))?;
        Ok(solved.map(|solution| (placed(&solution.values), solution)))
    }

    /// Places to start from, best first.
    fn starts(&self, unknowns: &[Unknown]) -> Result<Vec<Placement>, EstimateError> {
        let view = self.view;
        let mut starts = Vec::new();
        let here = view.center_of(&view.measured);
        for mut start in starts_near(self.sensor, view.center_m, self.known, unknowns) {
            let Some(predicted) = self.predict(&start)? else { continue };
            if let Compared::Channels(_) = view.compared {
                starts.push(self.scaled_to_channels(start, &predicted, unknowns));
                continue;
            }
            // The contact of an object is not at its origin: moves it to the contact of the reading.
            let there = view.center_of(&predicted);
            for (axis, unknown) in [Unknown::X, Unknown::Y].into_iter().enumerate() {
                if let (Some(here), Some(there), true) = (here, there, unknowns.contains(&unknown)) {
                    start.at_m[axis] += here[axis] - there[axis];
                }
            }
            if let Some(predicted) = self.predict(&start)? {
                starts.push((squares(&predicted, &view.measured), start));
            }
        }
        starts.sort_by(|a, b| a.0.total_cmp(&b.0));
        Ok(starts.into_iter().map(|(_, start)| start).collect())
    }

    /// A start whose depth is scaled to the size of the change, and the squares that remain when it is: the change of the
    /// channels grows with the force, and that of a ball with the depth to the power 3/2.
    fn scaled_to_channels(&self, mut start: Placement, predicted: &[f64], unknowns: &[Unknown]) -> (f64, Placement) {
        let measured = &self.view.measured;
        let product = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let factor = product(predicted, measured) / product(predicted, predicted).max(f64::MIN_POSITIVE);
        if !unknowns.contains(&Unknown::Depth) {
            return (squares(predicted, measured), start);
        }
        let factor = factor.max(0.0);
        let max_m = self.sensor.skin().max_depth_m();
        start.depth_m = (start.depth_m * factor.powf(2.0 / 3.0)).clamp(0.02 * max_m, 0.8 * max_m);
        let scaled: Vec<f64> = predicted.iter().map(|value| value * factor).collect();
        (squares(&scaled, measured), start)
    }

    /// Change of the force (N) with each unknown.
    fn force_slopes(
        &self,
        unknowns: &[Unknown],
        placement: &Placement,
        force: Vec3,
    ) -> Result<Vec<Vec3>, EstimateError> {
        let slope = |unknown: &Unknown| {
            let mut moved = *placement;
            *unknown.entry(&mut moved) += unknown.step();
            let pressed = press_at(self.sensor, self.object, &moved)?;
            Ok(pressed.map_or(Vec3::NAN, |pressed| (pressed.touch.on_sensor.force - force) / unknown.step()))
        };
        unknowns.iter().map(slope).collect()
    }
}

fn values(mut placement: Placement, unknowns: &[Unknown]) -> Vec<f64> {
    unknowns.iter().map(|unknown| *unknown.entry(&mut placement)).collect()
}

fn squares(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum()
}

/// Part of the change of a reading below which a fit is doubtful.
const WELL_EXPLAINED: f64 = 0.9;

/// The angle (rad) between −π and π.
fn wrapped(angle_rad: f64) -> f64 {
    use std::f64::consts::{PI, TAU};
    (angle_rad + PI).rem_euclid(TAU) - PI
}

/// Placements around the contact of a reading; all over the sensor, at one depth, where a reading does not show it.
fn starts_near(sensor: &Sensor, center_m: Option<[f64; 2]>, known: Placement, unknowns: &[Unknown]) -> Vec<Placement> {
    let has = |unknown: Unknown| unknowns.contains(&unknown);
    let Some(center_m) = center_m else {
        let bounds = sensor.surface().bounds();
        let along = |axis: usize, unknown: Unknown| -> Vec<f64> {
            let (low, high) = (bounds.min[axis], bounds.max[axis]);
            let place = |i: usize| low + (high - low) * (i as f64 + 0.5) / START_PLACES as f64;
            if has(unknown) { (0..START_PLACES).map(place).collect() } else { vec![known.at_m[axis]] }
        };
        let depth_m = if has(Unknown::Depth) { START_DEPTHS[1] * sensor.skin().max_depth_m() } else { known.depth_m };
        let (columns, rows) = (along(0, Unknown::X), along(1, Unknown::Y));
        let row = |y: f64| columns.iter().map(move |&x| Placement { at_m: [x, y], depth_m, ..known });
        return rows.into_iter().flat_map(row).collect();
    };
    let mut at_m = known.at_m;
    for (axis, unknown) in [Unknown::X, Unknown::Y].into_iter().enumerate() {
        if has(unknown) {
            at_m[axis] = center_m[axis];
        }
    }
    let max_m = sensor.skin().max_depth_m();
    let depths = if has(Unknown::Depth) { START_DEPTHS.map(|part| part * max_m).to_vec() } else { vec![known.depth_m] };
    let scales = if has(Unknown::Scale) { START_SCALES.to_vec() } else { vec![known.scale] };
    let yaw = |i: u32| known.yaw_rad + std::f64::consts::PI * f64::from(i) / f64::from(START_YAWS);
    let yaws: Vec<f64> = if has(Unknown::Yaw) { (0..START_YAWS).map(yaw).collect() } else { vec![known.yaw_rad] };
    let mut starts = Vec::new();
    for &depth_m in &depths {
        for &scale in &scales {
            starts.extend(yaws.iter().map(|&yaw_rad| Placement { at_m, depth_m, yaw_rad, scale, ..known }));
        }
    }
    starts
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

/// The part of a reading that is compared.
struct View {
    measured: Vec<f64>,
    /// The reading without contact.
    rest: Vec<f64>,
    /// Position of each value on the sensor (m).
    places_m: Vec<[f64; 2]>,
    groups: Vec<usize>,
    /// Middle of the contact (m), where the reading shows it.
    center_m: Option<[f64; 2]>,
    compared: Compared,
    /// Variance of all values by the description of the sensor, if they are independent and of one variance; zero if that
    /// is unknown. `None`: the scatter of the residuals between groups.
    known_variance: Option<f64>,
}

/// The values of a reading that are compared.
enum Compared {
    Pixels(Vec<usize>),
    Taxels,
    /// Changes (µT) of these channels: three of each chip.
    Channels(Vec<usize>),
}

/// Half side of the compared window by the radius of the contact.
const WINDOW: f64 = 2.5;
/// Compared pixels at most.
const MAX_PIXELS: f64 = 20_000.0;
/// Side of a group of pixels by the radius of the contact.
const GROUP: f64 = 0.4;
/// Part of the largest force that a loaded taxel has.
const LOADED: f64 = 0.05;

impl View {
    fn of(sensor: &Sensor, measured: Measured<'_>) -> Result<Self, EstimateError> {
        match measured {
            Measured::Image(image) => Self::of_image(sensor, image),
            Measured::Taxels(forces) => Self::of_taxels(sensor, forces),
            Measured::Magnetic(changes) => Self::of_channels(sensor, changes),
        }
    }

    /// Refuses more unknowns than the channels of magnetometers can determine.
    fn check_count(&self, sensor: &Sensor, unknowns: usize) -> Result<(), EstimateError> {
        let (Compared::Channels(channels), variance) = (&self.compared, self.known_variance) else { return Ok(()) };
        // Without a known noise, its size is one more unknown.
        let needed = unknowns + usize::from(variance == Some(0.0));
        if channels.len() >= needed {
            return Ok(());
        }
        Err(EstimateError::FewChannels { sensor: sensor.name().to_owned(), channels: channels.len(), unknowns })
    }

    fn of_channels(sensor: &Sensor, changes: &[Vec3]) -> Result<Self, EstimateError> {
        let name = || sensor.name().to_owned();
        let chips = sensor.magnetics().map_or(0, |magnetics| magnetics.chips().len());
        let other = || EstimateError::OtherChips { sensor: name(), got: changes.len(), expected: chips };
        let magnetics = sensor.magnetics().filter(|_| chips == changes.len()).ok_or_else(other)?;
        let flat: Vec<f64> = changes.iter().flat_map(|change| (*change * 1e6).to_array()).collect();
        let clipped = magnetics.clipped(changes);
        let channels: Vec<usize> = (0..flat.len()).filter(|&i| !clipped[i] && flat[i].is_finite()).collect();
        let sd = magnetics.channel_sd_tesla() * 1e6;
        let measured: Vec<f64> = channels.iter().map(|&i| flat[i]).collect();
        if measured.iter().all(|change| change.abs() <= 3.0 * sd) {
            return Err(EstimateError::NoContact { sensor: name() });
        }
        let count = measured.len();
        Ok(Self {
            measured,
            rest: vec![0.0; count],
            places_m: Vec::new(),
            groups: (0..count).collect(),
            center_m: None,
            compared: Compared::Channels(channels),
            known_variance: Some(sd * sd),
        })
    }

    fn of_image(sensor: &Sensor, image: &FloatImage) -> Result<Self, EstimateError> {
        let no_camera = || EstimateError::NoCamera { sensor: sensor.name().to_owned() };
        let camera = sensor.optics().ok_or_else(no_camera)?.camera();
        image.check_size("the reading", camera.width, camera.height)?;
        let (untouched, _) = sensor.skin().settle(&sensor.skin().rest(), &Motion { targets: &[] })?;
        let rest = sensor.render(&untouched, 0)?.image;
        let contact = find_contact(&rest, image, None)
            .ok_or_else(|| EstimateError::NoContact { sensor: sensor.name().to_owned() })?;
        let half = (WINDOW * contact.radius).max(12.0);
        let stride = (2.0 * half / MAX_PIXELS.sqrt()).ceil().max(1.0) as usize;
        let side = (GROUP * contact.radius).max(4.0);
        let range = |middle: f64, count: usize| {
            let first = (middle - half).max(0.0) as usize;
            (first..((middle + half) as usize + 1).min(count)).step_by(stride)
        };
        let per_row = (2.0 * half / side) as usize + 2;
        let (mut pixels, mut places) = (Vec::new(), Vec::new());
        for row in range(contact.row, image.height) {
            for column in range(contact.column, image.width) {
                pixels.push(row * image.width + column);
                let group = |at: usize, middle: f64| ((at as f64 - middle + half).max(0.0) / side) as usize;
                places.push(group(row, contact.row) * per_row + group(column, contact.column));
            }
        }
        let on_plane = |&i: &usize| camera.on_plane([(i % image.width) as f64, (i / image.width) as f64]);
        let places_m = [0; 3].iter().flat_map(|_| pixels.iter().map(on_plane)).collect();
        let (measured, rest) = (values_of(image, &pixels), values_of(&rest, &pixels));
        let groups = [0; 3].iter().flat_map(|_| places.iter().copied()).collect();
        let center_m = Some(camera.on_plane([contact.column, contact.row]));
        Ok(Self {
            measured,
            rest,
            places_m,
            groups,
            center_m,
            compared: Compared::Pixels(pixels),
            known_variance: None,
        })
    }

    fn of_taxels(sensor: &Sensor, forces: &[f64]) -> Result<Self, EstimateError> {
        let (name, centers) = (sensor.name().to_owned(), sensor.taxels().centers());
        if forces.len() != centers.len() {
            return Err(EstimateError::OtherSensor { sensor: name, got: forces.len(), expected: centers.len() });
        }
        let peak = forces.iter().copied().fold(0.0, f64::max);
        let loaded = || centers.iter().zip(forces).filter(|(_, force)| **force > LOADED * peak);
        let sum: f64 = loaded().map(|(_, force)| force).sum();
        if sum.partial_cmp(&0.0) != Some(std::cmp::Ordering::Greater) || !sum.is_finite() {
            return Err(EstimateError::NoContact { sensor: name });
        }
        let mean = |axis: usize| loaded().map(|(at, force)| at[axis] * force).sum::<f64>() / sum;
        Ok(Self {
            measured: forces.to_vec(),
            rest: vec![0.0; forces.len()],
            places_m: centers.iter().map(|at| [at.x, at.y]).collect(),
            groups: (0..forces.len()).collect(),
            center_m: Some([mean(0), mean(1)]),
            compared: Compared::Taxels,
            known_variance: None,
        })
    }

    /// Centre of the squared changes from the reading without contact; `None` without a change.
    fn center_of(&self, values: &[f64]) -> Option<[f64; 2]> {
        let (mut sum, mut moments) = (0.0, [0.0; 2]);
        for ((value, rest), place) in values.iter().zip(&self.rest).zip(&self.places_m) {
            let weight = (value - rest).powi(2);
            sum += weight;
            moments[0] += weight * place[0];
            moments[1] += weight * place[1];
        }
        (sum > 0.0).then(|| moments.map(|moment| moment / sum))
    }

    fn predict(
        &self,
        sensor: &Sensor,
        object: &Object,
        placement: &Placement,
    ) -> Result<Option<Vec<f64>>, EstimateError> {
        let Some(pressed) = press_at(sensor, object, placement)? else { return Ok(None) };
        Ok(Some(match &self.compared {
            Compared::Pixels(pixels) => values_of(&sensor.render(&pressed.touch, 0)?.image, pixels),
            Compared::Taxels => pressed.reading.values_newton,
            Compared::Channels(channels) => {
                let changes = sensor.magnetics().map_or_else(Vec::new, |magnetics| magnetics.changes(&pressed.touch));
                channels.iter().map(|&i| changes[i / 3][i % 3] * 1e6).collect()
            }
        }))
    }
}

fn values_of(image: &FloatImage, pixels: &[usize]) -> Vec<f64> {
    image.channels.iter().flat_map(|channel| pixels.iter().map(|&i| f64::from(channel[i].clamp(0.0, 255.0)))).collect()
}
