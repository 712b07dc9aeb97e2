//! All six freedoms of an object from one reading, from a pose nearby.

use super::gauss_newton::LeastSquares;
use super::view::{View, Window};
use super::{EstimateError, Measured, doubts, squares};
use dermis_geometry::{Pose, Primitive, Quat, Vec3};
use dermis_sensor::{PressError, Pressed, Sensor, press_to_pose};
use dermis_skin::{Object, SkinError, Springs};
use nalgebra::DVector;
use serde::Serialize;
use std::cell::Cell;

/// A freedom of a rigid object: a displacement along an axis of its own frame, or a rotation about an axis through its origin.
///
/// ```
/// use dermis::estimate::Freedom;
/// assert!(Freedom::ALL.contains(&Freedom::AboutY));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Freedom {
    /// Displacement (m) along the object's x axis.
    AlongX,
    /// Displacement (m) along the object's y axis.
    AlongY,
    /// Displacement (m) along the object's z axis.
    AlongZ,
    /// Rotation (rad) about the object's x axis.
    AboutX,
    /// Rotation (rad) about the object's y axis.
    AboutY,
    /// Rotation (rad) about the object's z axis.
    AboutZ,
}

impl Freedom {
    /// All six.
    pub const ALL: [Self; 6] = [Self::AlongX, Self::AlongY, Self::AlongZ, Self::AboutX, Self::AboutY, Self::AboutZ];

    /// Its name, such as `about-z`.
    pub fn name(self) -> &'static str {
        match self {
            Self::AlongX => "along-x",
            Self::AlongY => "along-y",
            Self::AlongZ => "along-z",
            Self::AboutX => "about-x",
            Self::AboutY => "about-y",
            Self::AboutZ => "about-z",
        }
    }

    /// The freedom of a name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|freedom| freedom.name() == name)
    }

    /// Those that a fit determines: all but `fixed`, and but the rotations of a sphere, which no reading shows.
    pub fn of(object: &Object, fixed: &[Self]) -> Vec<Self> {
        let is_ball = matches!(object.surface.primitive(), Some(Primitive::Sphere { .. }));
        let is_fixed = |freedom: &Self| is_ball && freedom.is_rotation() || fixed.contains(freedom);
        Self::ALL.into_iter().filter(|freedom| !is_fixed(freedom)).collect()
    }

    /// True if it is a rotation.
    pub fn is_rotation(self) -> bool {
        matches!(self, Self::AboutX | Self::AboutY | Self::AboutZ)
    }

    fn axis(self) -> Vec3 {
        match self {
            Self::AlongX | Self::AboutX => Vec3::X,
            Self::AlongY | Self::AboutY => Vec3::Y,
            Self::AlongZ | Self::AboutZ => Vec3::Z,
        }
    }

    /// Step of the differences, like those of [`super::Unknown`].
    fn step(self) -> f64 {
        match self {
            Self::AlongX | Self::AlongY => 20e-6,
            Self::AlongZ => 10e-6,
            Self::AboutX | Self::AboutY | Self::AboutZ => 0.01,
        }
    }
}

/// A pose that was estimated.
///
/// ```
/// use dermis::estimate::{Freedom, Measured, estimate_pose};
/// use dermis::geometry::{Pose, Primitive};
/// # use dermis::prelude::*;
/// # let sensor = dermis::sensor::presets::find("uji-foam-14x6")?.build(None)?;
/// let ellipsoid = Object::of_primitive(Primitive::Ellipsoid { semi_axes_m: Vec3::new(0.02, 0.012, 0.01) }, 0.001)?;
/// let aim = Aim { at_m: [3e-3, -5e-3], yaw_rad: 0.4, ..Aim::default() };
/// let pressed = press(&sensor, &ellipsoid, &aim, Goal::Depth(2e-3))?;
/// let truth = pressed.sensor_from_object;
/// let near = Pose::new(truth.rotation * Quat::from_rotation_z(0.1), truth.translation + Vec3::new(5e-4, 5e-4, -2e-4));
/// let measured = Measured::Taxels(&pressed.reading.values_newton);
/// let found = estimate_pose(&sensor, &ellipsoid, measured, &near, &Freedom::ALL, &|_| ())?;
/// assert!((found.sensor_from_object.translation - truth.translation).length() < 20e-6);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Serialize)]
pub struct PoseEstimate {
    /// The pose.
    pub sensor_from_object: Pose,
    /// Standard errors (m) of the position of the object's origin, in the sensor frame; infinite if the reading does not
    /// determine all freedoms.
    pub position_errors_m: [f64; 3],
    /// Standard errors (rad) of rotations about the axes of the sensor.
    pub rotation_errors_rad: [f64; 3],
    /// Standard errors in half a 95 % interval.
    pub quantile: f64,
    /// Force on the sensor (N) of the fitted press, in the sensor frame.
    pub force_newton: [f64; 3],
    /// Root mean square residual (levels of 255, N or µT).
    pub rms: f64,
    /// Part of the squared change of the reading by the contact that the fit explains: 1 for a perfect fit, 0 for one that is
    /// no better than a sensor without contact, negative for a worse one.
    pub explained: f64,
    /// False if the fit stopped before it converged.
    pub converged: bool,
    /// Number of simulated presses.
    pub presses: usize,
    /// Warnings of the skin about the fitted press, and about the fit.
    pub warnings: Vec<String>,
}

/// Distance (m) of contact points up to which edges are found to 0.1 mm and 1°.
const MAX_SPACING_M: f64 = 0.2e-3;
/// Side of the squares, by the height of an image, whose means are compared: first of large ones, because the edges of a contact
/// are narrow and may be off by more than their width, then of small ones.
const COARSE: f64 = 1.0 / 15.0;
const FINE: f64 = 1.0 / 120.0;
/// Relative decrease of the cost at which the fit of large squares ends.
const COARSE_DECREASE: f64 = 0.2;
/// Heights (m) by which the start is lowered; the best of them starts the fit.
const LOWERED_M: [f64; 9] = [-1.0e-3, -0.75e-3, -0.5e-3, -0.25e-3, 0.0, 0.25e-3, 0.5e-3, 0.75e-3, 1.0e-3];

/// Estimates `freedoms` of an object that is held on the untouched sensor, near the pose `start`; the others stay. An image is
/// compared as a whole. `progress` is called with the number of simulated presses so far.
///
/// The slopes are differences of simulated readings: six freedoms need twelve presses, while vector–Jacobian products would need
/// one for each value of the reading. Those of an image are differences of presses without friction.
///
/// An object with a symmetry has freedoms that no reading determines, such as the rotation of a ball: leave them out, else all
/// standard errors are infinite.
pub fn estimate_pose(
    sensor: &Sensor,
    object: &Object,
    measured: Measured<'_>,
    start: &Pose,
    freedoms: &[Freedom],
    progress: &dyn Fn(usize),
) -> Result<PoseEstimate, EstimateError> {
    if freedoms.is_empty() {
        return Err(EstimateError::NothingUnknown);
    }
    let presses = Cell::new(0);
    let predict = |view: &View, object: &Object, pose: &Pose| {
        presses.set(presses.get() + 1);
        progress(presses.get());
        hold(sensor, object, pose)?.map(|pressed| view.read(sensor, pressed)).transpose()
    };
    let no_press = || EstimateError::no_press(sensor, object);
    // Friction changes an image little and makes a press several times as long.
    let is_image = matches!(measured, Measured::Image(_));
    let frictionless = Object { mu: if is_image { Some(0.0) } else { object.mu }, ..object.clone() };
    let fine = View::of(sensor, measured, Window::Whole(FINE))?;
    fine.check_count(sensor, freedoms.len())?;
    let change = |values: &[f64]| squares(values, &fine.rest).sqrt();
    let mut start = touching(start, &|pose| {
        Ok(predict(&fine, &frictionless, pose)?.map(|predicted| (change(&predicted) - change(&fine.measured)).abs()))
    })?
    .ok_or_else(no_press)?;
    let steps: Vec<f64> = freedoms.iter().map(|freedom| freedom.step()).collect();
    let zero = vec![0.0; freedoms.len()];
    if is_image {
        let view = View::of(sensor, measured, Window::Whole(COARSE))?;
        let at = |values: &[f64]| predict(&view, &frictionless, &moved(&start, freedoms, values));
        let View { measured, groups, .. } = &view;
        let fit = LeastSquares { min_decrease: COARSE_DECREASE, ..LeastSquares::new(&at, measured, groups, &steps) };
        if let Some((values, _)) = fit.values(&zero)? {
            start = moved(&start, freedoms, &values);
        }
    }
    let at = |values: &[f64]| predict(&fine, object, &moved(&start, freedoms, values));
    let beside = |values: &[f64]| predict(&fine, &frictionless, &moved(&start, freedoms, values));
    let View { measured, groups, .. } = &fine;
    let fit = LeastSquares { slopes_of: &beside, ..LeastSquares::new(&at, measured, groups, &steps) };
    let solved = fit.solve(&zero)?.ok_or_else(no_press)?;
    let sensor_from_object = moved(&start, freedoms, &solved.values);
    let fitted = hold(sensor, object, &sensor_from_object)?.ok_or_else(no_press)?;
    let (covariance, quantile) = fine.covariance(&solved);
    let (rms, converged) = (solved.rms(), solved.converged);
    let explained = fine.explained(rms);
    let mut warnings = fitted.touch.warning_texts();
    warnings.extend(doubts(explained, converged).chain(steps_at_edges(sensor, object)));
    let axes = Vec3::AXES.map(|axis| sensor_from_object.rotation.conjugate() * axis);
    let error = |is_rotation: bool, axis: Vec3| {
        let part =
            |freedom: &Freedom| if freedom.is_rotation() == is_rotation { axis.dot(freedom.axis()) } else { 0.0 };
        let direction = DVector::from_iterator(freedoms.len(), freedoms.iter().map(part));
        match (direction.transpose() * &covariance * &direction)[(0, 0)] {
            variance if variance.is_nan() => f64::INFINITY,
            variance => variance.max(0.0).sqrt(),
        }
    };
    Ok(PoseEstimate {
        sensor_from_object,
        position_errors_m: axes.map(|axis| error(false, axis)),
        rotation_errors_rad: axes.map(|axis| error(true, axis)),
        quantile,
        force_newton: fitted.touch.on_sensor.force.to_array(),
        rms,
        explained,
        converged,
        presses: presses.get(),
        warnings,
    })
}

/// A reason to doubt the pose of an object with edges on discrete contact points: where an edge passes one, the reading changes in
/// a step, so that the fit ends near its start, however well it explains the reading.
pub(crate) fn steps_at_edges(sensor: &Sensor, object: &Object) -> Option<String> {
    let spacing_m = sensor.skin_as::<Springs>()?.spacing_m();
    let is_round = matches!(
        object.surface.primitive(),
        Some(Primitive::Sphere { .. } | Primitive::Ellipsoid { .. } | Primitive::Capsule { .. })
    );
    (!is_round && spacing_m > MAX_SPACING_M).then(|| {
        format!(
            "contact points of the skin are {:.2} mm apart, and the reading of an object with edges changes in steps where an edge passes one: the pose may be off by as much, and by several degrees; increase `contact_points`",
            1e3 * spacing_m
        )
    })
}

/// The start at the height with the smallest misfit of the size of the change from rest. Above the sensor no reading depends on the
/// pose; and no contact may be nearer to a reading than one at a wrong place is.
fn touching(
    start: &Pose,
    misfit: &dyn Fn(&Pose) -> Result<Option<f64>, EstimateError>,
) -> Result<Option<Pose>, EstimateError> {
    let mut best: Option<(f64, Pose)> = None;
    for lowered_m in LOWERED_M {
        let pose = Pose { translation: start.translation - Vec3::Z * lowered_m, ..*start };
        if let Some(misfit) = misfit(&pose)?.filter(|misfit| best.is_none_or(|(least, _)| *misfit < least)) {
            best = Some((misfit, pose));
        }
    }
    Ok(best.map(|(_, pose)| pose))
}

/// The pose after displacements and a rotation vector in the frame of the object.
fn moved(start: &Pose, freedoms: &[Freedom], values: &[f64]) -> Pose {
    let sum = |is_rotation: bool| -> Vec3 {
        let moved = freedoms.iter().zip(values).filter(|(freedom, _)| freedom.is_rotation() == is_rotation);
        moved.map(|(freedom, value)| freedom.axis() * *value).sum()
    };
    *start * Pose::new(Quat::from_scaled_axis(sum(true)), sum(false))
}

/// The press at a pose, or `None` where it is too deep.
fn hold(sensor: &Sensor, object: &Object, pose: &Pose) -> Result<Option<Pressed>, EstimateError> {
    match press_to_pose(sensor, object, pose) {
        Ok(pressed) => Ok(Some(pressed)),
        Err(PressError::Skin(SkinError::TooDeep { .. })) => Ok(None),
        Err(PressError::Skin(error)) => Err(error.into()),
        Err(_) => Ok(None),
    }
}
