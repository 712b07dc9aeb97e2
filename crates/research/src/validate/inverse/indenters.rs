//! Poses of the 21 indenters from simulated images with noise.
//!
//! Every fit has another pose of an indenter, another start and other noise. The image is made on a layer with finer cells than
//! those of the fit. Freedoms that no image shows, because the indenter is symmetric, are neither fitted nor compared; the
//! position is then compared on the axis or at the centre of the symmetry.

use super::bad;
use crate::validate::ValidateError;
use dermis::estimate::{Freedom, Measured, estimate_pose};
use dermis::geometry::shapes::indenters;
use dermis::geometry::{Pose, Quat, Random, Vec3};
use dermis::sensor::optics::FloatImage;
use dermis::sensor::{Aim, Goal, Sensor, presets, press, press_to_pose};
use dermis::skin::Object;
use dermis::skin::threads::parallel;
use rayon::prelude::*;
use serde::Serialize;
use serde_json::json;
use std::f64::consts::PI;

/// Largest error of the position (mm).
pub const MAX_POSITION_MM: f64 = 0.1;
/// Largest error of the orientation (degrees).
pub const MAX_ORIENTATION_DEG: f64 = 1.0;

/// Largest distance (m) and angle (rad) of a start from the truth.
const START_M: f64 = 1e-3;
const START_RAD: f64 = 10.0 * PI / 180.0;
/// Standard deviation of the noise of each level of 255, which is then rounded.
pub const NOISE: f64 = 2.0;
/// The sensor.
const SENSOR: &str = "gelsight";
/// Cells of the layer that makes the images.
const FINE_CELL: &str = "0.16 mm";

/// A pose that was fitted.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct FittedPose {
    /// Distance (mm) of the start from the truth.
    pub start_mm: f64,
    /// Angle (degrees) of the start from the truth.
    pub start_deg: f64,
    /// Distance (mm) of the fitted from the true position.
    pub position_mm: f64,
    /// Angle (degrees) between the fitted and the true orientation, without freedoms that no image shows.
    pub orientation_deg: f64,
    /// Root mean square residual (levels of 255).
    pub rms: f64,
    /// Number of simulated presses.
    pub presses: usize,
}

/// All fits of one indenter.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct IndenterFits {
    /// Name of the indenter.
    pub indenter: &'static str,
    /// The symmetry that hides freedoms.
    pub symmetry: Symmetry,
    /// Number of freedoms that are not fitted.
    pub hidden: usize,
    /// The fits.
    pub fits: Vec<FittedPose>,
    /// Share of the fits within both errors.
    pub share: f64,
}

/// A symmetry of an indenter, which hides freedoms.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Symmetry {
    /// None: all six freedoms show.
    None,
    /// Of revolution about z: the rotation about z does not show.
    Axis,
    /// A ball of this radius (m) on the origin: no rotation shows.
    Ball(f64),
    /// A round bar of this radius (m) along y on the origin: the rotation about its axis does not show.
    Bar(f64),
}

impl Symmetry {
    /// The symmetry of an indenter, where it touches.
    pub fn of(indenter: &str) -> Self {
        match indenter {
            "cone" | "cylinder" | "cylinder_shell" | "dot_in" | "torus" => Self::Axis,
            "sphere" => Self::Ball(4e-3),
            "sphere2" => Self::Ball(2e-3),
            "cylinder_side" => Self::Bar(2.5e-3),
            "curved_surface" => Self::Bar(10e-3),
            _ => Self::None,
        }
    }

    /// Freedoms that show.
    pub fn freedoms(self) -> Vec<Freedom> {
        let hidden: &[Freedom] = match self {
            Self::None => &[],
            Self::Axis => &[Freedom::AboutZ],
            Self::Ball(_) => &[Freedom::AboutX, Freedom::AboutY, Freedom::AboutZ],
            Self::Bar(_) => &[Freedom::AboutY],
        };
        Freedom::ALL.into_iter().filter(|freedom| !hidden.contains(freedom)).collect()
    }

    /// The point of the object (m) at which positions are compared.
    pub fn point_m(self) -> Vec3 {
        match self {
            Self::None | Self::Axis => Vec3::ZERO,
            Self::Ball(radius_m) | Self::Bar(radius_m) => Vec3::Z * radius_m,
        }
    }

    /// Angle (rad) between two orientations, as far as it shows.
    fn angle_rad(self, a: Quat, b: Quat) -> f64 {
        match self {
            Self::None => (a.conjugate() * b).to_scaled_axis().length(),
            Self::Axis => (a * Vec3::Z).angle_between(b * Vec3::Z),
            Self::Bar(_) => (a * Vec3::Y).angle_between(b * Vec3::Y),
            Self::Ball(_) => 0.0,
        }
    }
}

/// Fits `starts` poses of every indenter that is wanted. `done` is called after each fit.
pub fn run(
    starts: usize,
    is_wanted: impl Fn(&str) -> bool,
    done: &(dyn Fn() + Sync),
) -> Result<Vec<IndenterFits>, ValidateError> {
    let made_on = sensor_of(Some(FINE_CELL))?;
    let fitted_on = sensor_of(None)?;
    let wanted: Vec<(usize, &'static str)> =
        indenters::NAMES.into_iter().enumerate().filter(|(_, name)| is_wanted(name)).collect();
    let each: Vec<(usize, &str, u64)> =
        wanted.iter().flat_map(|&(index, name)| (0..starts as u64).map(move |start| (index, name, start))).collect();
    let fitted = each.par_iter().map(|&(index, name, start)| {
        let object = Object::new(indenters::find(name)?);
        let found = fit(&made_on, &fitted_on, &object, Symmetry::of(name), 1000 * index as u64 + start);
        done();
        found
    });
    let fitted: Vec<FittedPose> = parallel(|| fitted.collect::<Result<_, ValidateError>>())?;
    let of_indenter = |(&(_, indenter), fits): (&(usize, &'static str), &[FittedPose])| {
        let symmetry = Symmetry::of(indenter);
        let good = fits.iter().filter(|fit| fit.is_good()).count();
        let (hidden, share) = (6 - symmetry.freedoms().len(), good as f64 / fits.len() as f64);
        IndenterFits { indenter, symmetry, hidden, fits: fits.to_vec(), share }
    };
    Ok(wanted.iter().zip(fitted.chunks(starts.max(1))).map(of_indenter).collect())
}

impl FittedPose {
    /// True within both errors.
    pub fn is_good(&self) -> bool {
        self.position_mm <= MAX_POSITION_MM && self.orientation_deg <= MAX_ORIENTATION_DEG
    }
}

/// The sensor of the fits, with other cells where they are given.
pub fn sensor_of(cell: Option<&str>) -> Result<Sensor, ValidateError> {
    let spec = presets::find(SENSOR).map_err(bad)?;
    let changes = cell.map(|cell| ("skin".to_owned(), json!({ "cell": cell }))).into_iter().collect();
    spec.with_overrides(&changes).and_then(|spec| spec.build(None)).map_err(bad)
}

/// A random pose in contact.
fn truth_of(sensor: &Sensor, object: &Object, random: &mut Random) -> Result<Pose, ValidateError> {
    let mut any = |size: f64| random.between(-size, size);
    let (at_m, tilt_rad, yaw_rad) = ([any(1e-3), any(1e-3)], [any(0.07), any(0.07)], any(PI));
    let depth_m = 0.7e-3 + any(0.2e-3);
    Ok(press(sensor, object, &Aim { at_m, tilt_rad, yaw_rad }, Goal::Depth(depth_m)).map_err(bad)?.sensor_from_object)
}

fn fit(
    made_on: &Sensor,
    fitted_on: &Sensor,
    object: &Object,
    symmetry: Symmetry,
    seed: u64,
) -> Result<FittedPose, ValidateError> {
    let mut random = Random::new(seed);
    let truth = truth_of(made_on, object, &mut random)?;
    let image = image_of(made_on, object, &truth, &mut random)?;
    // Uniform in the ball of all starts.
    let mut within = |size: f64| random.direction() * (size * random.uniform().cbrt());
    let (shift_m, rotated_rad) = (within(START_M), within(START_RAD));
    let about_m = truth.transform_point(symmetry.point_m());
    let rotation = Quat::from_scaled_axis(rotated_rad);
    let origin_m = about_m + shift_m + rotation * (truth.translation - about_m);
    let start = Pose::new(rotation * truth.rotation, origin_m);
    let found = estimate_pose(fitted_on, object, Measured::Image(&image), &start, &symmetry.freedoms(), &|_| ());
    let found = found.map_err(bad)?;
    let pose = found.sensor_from_object;
    Ok(FittedPose {
        start_mm: shift_m.length() * 1e3,
        start_deg: rotated_rad.length().to_degrees(),
        position_mm: (pose.transform_point(symmetry.point_m()) - about_m).length() * 1e3,
        orientation_deg: symmetry.angle_rad(pose.rotation, truth.rotation).to_degrees(),
        rms: found.rms,
        presses: found.presses,
    })
}

fn image_of(sensor: &Sensor, object: &Object, pose: &Pose, random: &mut Random) -> Result<FloatImage, ValidateError> {
    let pressed = press_to_pose(sensor, object, pose).map_err(bad)?;
    let mut image = sensor.render(&pressed.touch, 0).map_err(bad)?.image;
    for level in image.channels.iter_mut().flatten() {
        *level = (f64::from(*level) + NOISE * random.normal()).round().clamp(0.0, 255.0) as f32;
    }
    Ok(image)
}
