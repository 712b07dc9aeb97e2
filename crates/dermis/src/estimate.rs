//! Estimates the pose and size of an object from one reading of a sensor, by fitting the simulated reading.
//!
//! The fit starts where the reading shows a contact. The intervals follow from the residuals, whose correlation between
//! neighbours is taken into account, or, of magnetometers, from their noise where that is larger. Those of images include
//! the error of a light that was fitted to images ([`dermis_sensor::optics::LightResidual`]).

mod gauss_newton;
mod material;
mod model_error;
mod placement;
mod pose;
mod unknown;
mod view;

pub use material::{MaterialError, MaterialFit, MaterialPoint, MaterialUnknown, fit_material};
pub use placement::{Placement, press_at};
pub(crate) use pose::steps_at_edges;
pub use pose::{Freedom, PoseEstimate, estimate_pose};
pub use unknown::Unknown;

use dermis_geometry::Vec3;
use dermis_geometry::shapes::ShapeError;
use dermis_sensor::Sensor;
use dermis_sensor::optics::{FloatImage, OpticsError};
use dermis_skin::{Object, SkinError};
use gauss_newton::{LeastSquares, Solution};
use nalgebra::DVector;
use serde::Serialize;
use std::cell::Cell;
use view::{Compared, View, Window};

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

impl EstimateError {
    fn no_press(sensor: &Sensor, object: &Object) -> Self {
        Self::NoPress { sensor: sensor.name().to_owned(), object: object.surface.mesh().name().to_owned() }
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
    /// Part of the squared change of the reading by the contact that the fit explains: 1 for a perfect fit, 0 for one that is
    /// no better than a sensor without contact, negative for a worse one.
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
    let view = View::of(sensor, measured, Window::Contact)?;
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
        if let Some(solution) = solved.filter(|(_, new)| best.as_ref().is_none_or(|(_, best)| new.rms() < best.rms())) {
            best = Some(solution);
        }
    }
    if pressed.len() < unknowns.len()
        && let Some((start, _)) = best
    {
        best = fit.solve(unknowns, start)?;
    }
    let no_press = || EstimateError::no_press(sensor, object);
    let (mut placement, solution) = best.ok_or_else(no_press)?;
    let (covariance, quantile) = view.covariance(&solution);
    let (rms, converged) = (solution.rms(), solution.converged);
    let errors = unknowns.iter().enumerate().map(|(k, unknown)| (*unknown, covariance[(k, k)].max(0.0).sqrt()));
    placement.yaw_rad = wrapped(placement.yaw_rad);
    let explained = view.explained(rms);
    let fitted = press_at(sensor, object, &placement)?.ok_or_else(no_press)?;
    let mut warnings = fitted.touch.warning_texts();
    warnings.extend(doubts(explained, converged));
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
        let pressed = press_at(self.sensor, self.object, placement)?;
        pressed.map(|pressed| self.view.read(self.sensor, pressed)).transpose()
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
        let solved = LeastSquares::new(&predict, measured, groups, &steps).solve(&values(start, unknowns))?;
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

/// Reasons to doubt a fit.
fn doubts(explained: f64, converged: bool) -> impl Iterator<Item = String> {
    let little = (explained < WELL_EXPLAINED).then(|| {
        format!(
            "the fit explains only {:.0} % of the change of the reading: object, sensor, unknowns or start may be wrong, or the reading has no contact",
            100.0 * explained.max(0.0)
        )
    });
    little.into_iter().chain((!converged).then(|| "the fit stopped before it converged".to_owned()))
}

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
