//! Fits the material of a skin to force against depth, displacement along the surface and time.
//!
//! The sensor is pressed by the same object as the real one, and the material is changed until the forces agree. Under a
//! held or growing depth, the force of a skin that relaxes is a sum over its earlier changes (Lee and Radok 1960), so that no
//! time is stepped.

mod doubts;
mod history;
mod model;
mod search;

use super::gauss_newton::Solution;
use dermis_sensor::calibration::{Estimate, student_975};
use dermis_sensor::{Aim, PressError, SensorError, SensorSpec};
use dermis_skin::Object;
use model::{Bench, Material, Progress};
use serde::Serialize;

/// Errors of a fit of a material.
///
/// ```
/// use dermis::estimate::{MaterialError, fit_material};
/// # use dermis::prelude::*;
/// let spec = dermis::sensor::presets::find("wts0614-layer")?;
/// let ball = Object::new(dermis::geometry::shapes::sphere(0.005, 0.001)?);
/// let nothing = fit_material(&spec, &ball, &Aim::default(), &[], &[], &|_| ());
/// assert!(matches!(nothing, Err(MaterialError::NothingUnknown)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the message of each variant names its fields")]
pub enum MaterialError {
    #[error(
        "{what} needs at least {needed} measurements, there are {got}: measure more points, or fit fewer quantities"
    )]
    FewPoints { what: String, got: usize, needed: usize },
    #[error("measurement {number}: {what} is {value}, and must be {rule}")]
    BadPoint { number: usize, what: &'static str, value: f64, rule: &'static str },
    #[error("{unknown} of a skin of the kind {kind} cannot be fitted: {why}")]
    NotOfThisSkin { unknown: &'static str, kind: &'static str, why: &'static str },
    #[error("{unknown} is not determined by the measurements: {remedy}")]
    Undetermined { unknown: &'static str, remedy: &'static str },
    #[error("{unknowns} cannot be told apart by these measurements: fit one of them, or measure with another indenter")]
    Indistinguishable { unknowns: String },
    #[error(
        "a depth of {depth_mm} mm is more than the sensor can be pressed ({max_mm:.3} mm): is {meant_mm} mm meant? Depths are in the unit of their column, or in metres (Python, Rust)"
    )]
    DepthUnit { depth_mm: f64, max_mm: f64, meant_mm: f64 },
    #[error(
        "the largest depth is {depth_mm} mm, less than a thousandth of what the skin ({thickness_mm} mm) can be pressed: is {meant_mm} mm meant? Depths are in the unit of their column, or in metres (Python, Rust)"
    )]
    Shallow { depth_mm: f64, thickness_mm: f64, meant_mm: f64 },
    #[error(
        "no depth is positive, the largest is {depth_mm} mm: depths are positive into the skin, and 0 at first contact; change the sign of the depths, or their zero"
    )]
    NoDepth { depth_mm: f64 },
    #[error(
        "forces along x (shear_force_n) have no displacement along x that causes them (shear_mm): add it, or leave out the forces along x"
    )]
    ShearForceAlone,
    #[error(
        "the forces along x point against the displacements: both are those of the object on the sensor and have one sign; change the sign of one column"
    )]
    ShearSign,
    #[error("nothing is to be fitted: name at least one quantity")]
    NothingUnknown,
    #[error("{unknown} is to be fitted twice: name every quantity once")]
    Twice { unknown: &'static str },
    #[error("the sensor cannot be pressed as measured: {0}")]
    Press(#[from] PressError),
    #[error(transparent)]
    Sensor(#[from] SensorError),
}

/// One measurement of a press.
///
/// ```
/// use dermis::estimate::MaterialPoint;
///
/// let point = MaterialPoint { depth_m: 0.5e-3, force_newton: 1.65, ..MaterialPoint::default() };
/// assert_eq!(point.shear_m, 0.0);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct MaterialPoint {
    /// Travel past first contact (m).
    pub depth_m: f64,
    /// Displacement along x after the press (m).
    pub shear_m: f64,
    /// Time since the first measurement (s), if the skin relaxes. If all times are equal, the forces are those at rest.
    pub time_s: f64,
    /// Force on the sensor against its normal (N).
    pub force_newton: f64,
    /// Force on the sensor along x (N), if it was measured.
    pub shear_force_newton: Option<f64>,
}

impl MaterialPoint {
    /// Measurements from columns of equal length: depths (m), forces (N), and, if they were measured, displacements along x
    /// (m), forces along x (N) and times (s).
    pub fn of_columns(
        depth_m: &[f64],
        force_newton: &[f64],
        shear_m: Option<&[f64]>,
        shear_force_newton: Option<&[f64]>,
        time_s: Option<&[f64]>,
    ) -> Vec<Self> {
        let of = |column: Option<&[f64]>, i: usize| column.map(|values| values[i]);
        let point = |(i, (&depth_m, &force_newton)): (usize, (&f64, &f64))| Self {
            depth_m,
            shear_m: of(shear_m, i).unwrap_or(0.0),
            time_s: of(time_s, i).unwrap_or(0.0),
            force_newton,
            shear_force_newton: of(shear_force_newton, i),
        };
        depth_m.iter().zip(force_newton).enumerate().map(point).collect()
    }
}

/// A quantity of the material.
///
/// ```
/// use dermis::estimate::MaterialUnknown;
///
/// assert_eq!("young".parse(), Ok(MaterialUnknown::Young));
/// assert!("jung".parse::<MaterialUnknown>().is_err());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum MaterialUnknown {
    /// Young's modulus.
    Young,
    /// Poisson's ratio.
    Poisson,
    /// Thickness.
    Thickness,
    /// Coefficient of friction.
    Friction,
    /// Depth at which the measurements have their first contact: the zero of the bench.
    Zero,
    /// Stiffness that relaxes, by that at rest.
    RelaxationRatio,
    /// Time constant of the relaxation.
    RelaxationTime,
}

impl MaterialUnknown {
    /// All of them.
    pub const ALL: [Self; 7] = [
        Self::Young,
        Self::Poisson,
        Self::Thickness,
        Self::Friction,
        Self::Zero,
        Self::RelaxationRatio,
        Self::RelaxationTime,
    ];

    /// Its name in files and flags.
    pub fn name(self) -> &'static str {
        match self {
            Self::Young => "young",
            Self::Poisson => "poisson",
            Self::Thickness => "thickness",
            Self::Friction => "friction",
            Self::Zero => "zero",
            Self::RelaxationRatio => "relaxation_ratio",
            Self::RelaxationTime => "relaxation_time",
        }
    }

    /// Its unit in SI.
    pub fn unit(self) -> &'static str {
        match self {
            Self::Young => "Pa",
            Self::Thickness | Self::Zero => "m",
            Self::RelaxationTime => "s",
            Self::Poisson | Self::Friction | Self::RelaxationRatio => "",
        }
    }

    /// True if its logarithm is fitted, because it is positive and may be off by a factor.
    fn is_positive(self) -> bool {
        !matches!(self, Self::Poisson | Self::Zero)
    }

    /// True for the quantities of the relaxation.
    fn is_in_time(self) -> bool {
        matches!(self, Self::RelaxationRatio | Self::RelaxationTime)
    }

    /// Distance of further starts of the search, in the logarithm: cells that enter the contact, and times far from those of the
    /// measurements, make small minima.
    fn hop(self) -> f64 {
        match self {
            Self::Thickness => 0.25,
            Self::RelaxationTime => 2.3,
            _ => 0.0,
        }
    }

    /// Step of the differences for depths up to one (m), of the logarithm if that is fitted: wide enough to average over cells that enter
    /// the contact.
    fn step(self, largest_m: f64) -> f64 {
        match self {
            Self::Zero => 0.01 * largest_m,
            Self::Poisson => 0.01,
            Self::Thickness => 0.03,
            _ => 0.01,
        }
    }
}

impl std::str::FromStr for MaterialUnknown {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let known = Self::ALL.map(Self::name);
        Self::ALL.into_iter().find(|unknown| unknown.name() == text).ok_or_else(|| {
            let meant = dermis_sensor::did_you_mean(text, known.iter().copied());
            format!("{text:?} is no quantity of a material; they are {}{meant}", known.join(", "))
        })
    }
}

/// A fitted material.
///
/// ```
/// use dermis::estimate::{MaterialFit, MaterialPoint, MaterialUnknown, fit_material};
/// # use dermis::prelude::*;
/// # let spec = dermis::sensor::presets::find("wts0614-layer")?;
/// # let ball = Object::of_primitive(dermis::geometry::Primitive::Sphere { radius_m: 5e-3 }, 2e-4)?;
/// let points = [(0.2e-3, 0.1), (0.4e-3, 0.3), (0.6e-3, 0.6)]
///     .map(|(depth_m, force_newton)| MaterialPoint { depth_m, force_newton, ..MaterialPoint::default() });
/// let fit: MaterialFit = fit_material(&spec, &ball, &Aim::default(), &points, &[MaterialUnknown::Young], &|_| ())?;
/// let young = fit.value(MaterialUnknown::Young).expect("it was fitted");
/// assert!(young.value > 0.0 && young.ci95 > 0.0 && fit.explained > 0.9);
/// fit.spec.build(None)?; // the sensor with that material
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Serialize)]
pub struct MaterialFit {
    /// Every fitted quantity (SI) with the half-width of its 95 % interval.
    pub values: Vec<(MaterialUnknown, Estimate)>,
    /// The description of the sensor with the fitted material.
    #[serde(skip)]
    pub spec: SensorSpec,
    /// Forces (N) of the fitted sensor at the measurements: against the normal, and along x.
    pub predicted_newton: Vec<[f64; 2]>,
    /// Root mean square residual (N).
    pub rms_newton: f64,
    /// Part of the squared forces about their mean that the fit explains (R²): 1 for a perfect fit, 0 for one that is no
    /// better than the mean force, negative for a worse one.
    pub explained: f64,
    /// False if the search ended before it found the best values.
    pub converged: bool,
    /// Quantities that ended at a bound of their range.
    pub at_bounds: Vec<MaterialUnknown>,
    /// Warnings of the skin about the fitted presses, and about the fit.
    pub warnings: Vec<String>,
}

impl MaterialFit {
    /// The estimate of a quantity; `None` if it was given.
    pub fn value(&self, unknown: MaterialUnknown) -> Option<Estimate> {
        self.values.iter().find(|(name, _)| *name == unknown).map(|(_, estimate)| *estimate)
    }
}

/// Fits `unknowns` of the skin of `spec` to measurements in the order of time; the other quantities are those of the
/// description. `progress` is called with the number of simulated presses so far.
///
/// ```
/// use dermis::estimate::{MaterialPoint, MaterialUnknown, fit_material};
/// # use dermis::prelude::*;
/// let spec = dermis::sensor::presets::find("wts0614-layer")?;
/// let ball = Object::of_primitive(dermis::geometry::Primitive::Sphere { radius_m: 5e-3 }, 2e-4)?;
/// let sensor = spec.build(None)?; // stands for a real one
/// let measured = |depth_m: f64| {
///     let pressed = press(&sensor, &ball, &Aim::default(), Goal::Depth(depth_m))?;
///     Ok(MaterialPoint { depth_m, force_newton: -2.0 * pressed.touch.on_sensor.force.z, ..MaterialPoint::default() })
/// };
/// let points = [0.2e-3, 0.4e-3, 0.6e-3].map(measured).into_iter().collect::<Result<Vec<_>, dermis::sensor::PressError>>()?;
/// let fit = fit_material(&spec, &ball, &Aim::default(), &points, &[MaterialUnknown::Young], &|_| ())?;
/// // Twice the force is twice the modulus.
/// let (found, before) = (fit.value(MaterialUnknown::Young).expect("it was fitted").value, 2.0);
/// # let dermis::sensor::SkinSpec::Layer(layer) = &spec.skin else { panic!("a layer") };
/// # let young_pa = layer.young.si();
/// assert!((found / young_pa / before - 1.0).abs() < 1e-3);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn fit_material(
    spec: &SensorSpec,
    object: &Object,
    aim: &Aim,
    points: &[MaterialPoint],
    unknowns: &[MaterialUnknown],
    progress: &(dyn Fn(usize) + Sync),
) -> Result<MaterialFit, MaterialError> {
    check(points, unknowns)?;
    let progress = Progress::new(progress);
    let bench = Bench::new(Material { spec, unknowns }, object, aim, points, &progress)?;
    let measured = bench.measured();
    let solution = search::solve(&bench, &measured)?;
    let values = estimates(&bench.material, &solution, &measured);
    if values.iter().any(|(_, estimate)| !estimate.ci95.is_finite()) {
        return Err(doubts::undetermined(unknowns, &solution));
    }
    let missing = || doubts::undetermined(unknowns, &solution);
    let mut fitted = bench.material.spec(&solution.values)?.ok_or_else(missing)?;
    fitted.name = format!("{}-fitted", spec.name);
    fitted.description = format!("{}, with its material fitted to measured forces", spec.name);
    let (predicted_newton, mut warnings) = bench.with_warnings(&solution.values)?;
    let mean = measured.iter().sum::<f64>() / measured.len() as f64;
    let squares = measured.iter().map(|value| (value - mean).powi(2)).sum::<f64>();
    let explained = 1.0 - solution.rms().powi(2) * measured.len() as f64 / squares.max(f64::MIN_POSITIVE);
    warnings.extend(doubts::of_fit(&bench, &solution, &values, explained)?);
    let held = unknowns.iter().zip(&solution.held).filter(|(_, held)| **held);
    Ok(MaterialFit {
        values,
        spec: fitted,
        predicted_newton,
        rms_newton: solution.rms(),
        explained,
        converged: solution.converged,
        at_bounds: held.map(|(unknown, _)| *unknown).collect(),
        warnings,
    })
}

/// Refuses measurements that no press has, and fewer of them than unknowns.
fn check(points: &[MaterialPoint], unknowns: &[MaterialUnknown]) -> Result<(), MaterialError> {
    if unknowns.is_empty() {
        return Err(MaterialError::NothingUnknown);
    }
    if let Some((_, twice)) = unknowns.iter().enumerate().find(|(i, unknown)| unknowns[..*i].contains(unknown)) {
        return Err(MaterialError::Twice { unknown: twice.name() });
    }
    let names: Vec<&str> = unknowns.iter().map(|unknown| unknown.name()).collect();
    if points.len() < unknowns.len() + 1 {
        let (got, needed) = (points.len(), unknowns.len() + 1);
        return Err(MaterialError::FewPoints { what: names.join(", "), got, needed });
    }
    for (i, point) in points.iter().enumerate() {
        let bad = |what, value, rule| Err(MaterialError::BadPoint { number: i + 1, what, value, rule });
        let all = [point.depth_m, point.shear_m, point.time_s, point.force_newton];
        if let Some(value) = all.into_iter().chain(point.shear_force_newton).find(|value| !value.is_finite()) {
            return bad("a value", value, "finite");
        }
        if i > 0 && point.time_s < points[i - 1].time_s {
            return bad("time_s", point.time_s, "not before that of the measurement before");
        }
    }
    let undetermined =
        |unknown: MaterialUnknown, remedy| Err(MaterialError::Undetermined { unknown: unknown.name(), remedy });
    if points.iter().all(|point| point.force_newton <= 0.0) {
        return undetermined(unknowns[0], "no measurement has a force into the skin, which is positive");
    }
    let has = |unknown: MaterialUnknown| unknowns.contains(&unknown);
    if has(MaterialUnknown::Friction) && points.iter().all(|point| point.shear_force_newton.is_none()) {
        return undetermined(MaterialUnknown::Friction, "measure the force along the surface too");
    }
    if points.iter().all(|point| point.shear_m == 0.0)
        && points.iter().any(|point| point.shear_force_newton.is_some_and(|force| force != 0.0))
    {
        return Err(MaterialError::ShearForceAlone);
    }
    let along = |of: &dyn Fn(f64, f64) -> f64| -> f64 {
        points.iter().map(|point| of(point.shear_m, point.shear_force_newton.unwrap_or(0.0))).sum()
    };
    if along(&|shear, force| shear * force)
        < -0.5 * (along(&|shear, _| shear * shear) * along(&|_, force| force * force)).sqrt()
    {
        return Err(MaterialError::ShearSign);
    }
    for unknown in [MaterialUnknown::RelaxationRatio, MaterialUnknown::RelaxationTime] {
        if has(unknown) && points.iter().all(|point| point.time_s == points[0].time_s) {
            return undetermined(unknown, "the measurements have no times");
        }
    }
    Ok(())
}

/// Error of the simulated forces relative to their root mean square: the tolerance of the contact and its cells.
const MODEL_ERROR: f64 = 1e-4;

/// The values with intervals: from the scatter of single measurements, or of groups of neighbours or of the simulation where that is larger.
fn estimates(material: &Material<'_>, solution: &Solution, measured: &[f64]) -> Vec<(MaterialUnknown, Estimate)> {
    let count = measured.len() as f64;
    let freedom = measured.len() - material.unknowns.len();
    let mean_square = measured.iter().map(|force| force * force).sum::<f64>() / count;
    let scatter = solution.rms().powi(2) * count / freedom.max(1) as f64;
    let variance = scatter.max(MODEL_ERROR * MODEL_ERROR * mean_square);
    let groups_freedom = (search::group_count(measured.len()) - 1).min(freedom);
    let one = |(k, &unknown): (usize, &MaterialUnknown)| {
        let half_width = |variance: f64, freedom: usize| student_975(freedom) * variance.max(0.0).sqrt();
        let single = half_width(solution.homogeneous[(k, k)] * variance, freedom);
        let groups = Some(solution.covariance[(k, k)]).filter(|variance| variance.is_finite());
        let groups = groups.map_or(0.0, |variance| half_width(variance, groups_freedom));
        let value = material.value(&solution.values, unknown).unwrap_or(0.0);
        let slope = if unknown.is_positive() { value } else { 1.0 };
        (unknown, Estimate { value, ci95: single.max(groups) * slope })
    };
    material.unknowns.iter().enumerate().map(one).collect()
}
