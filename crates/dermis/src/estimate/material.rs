//! Fits the material of a skin to force against depth, displacement along the surface and time.
//!
//! The sensor is pressed by the same object as the real one, and the material is changed until the forces agree. Under a
//! held or growing depth, the force of a skin that relaxes is a sum over its earlier changes (Lee and Radok 1960), so that no
//! time is stepped.

use super::gauss_newton::{LeastSquares, Solution};
use dermis_sensor::calibration::{Estimate, student_975};
use dermis_sensor::{Aim, Goal, PressError, Pressed, Sensor, SensorError, SensorSpec, SkinSpec, press};
use dermis_skin::Object;
use rayon::prelude::*;
use serde::Serialize;
use serde_json::{Map, Value, json};
use std::cell::RefCell;

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
    /// Time since the first measurement (s), if the skin relaxes.
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

    /// Step of the differences, of the logarithm if that is fitted.
    fn step(self) -> f64 {
        match self {
            Self::Zero => 2e-6,
            Self::Poisson => 0.005,
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
    /// Warnings of the skin about the fitted presses, and about the fit.
    pub warnings: Vec<String>,
}

impl MaterialFit {
    /// The estimate of a quantity; `None` if it was given.
    pub fn value(&self, unknown: MaterialUnknown) -> Option<Estimate> {
        self.values.iter().find(|(name, _)| *name == unknown).map(|(_, estimate)| *estimate)
    }
}

/// Two quantities with a correlation beyond this are not told apart.
const SAME: f64 = 0.98;
/// Part of the forces below which a fit is doubtful.
const WELL_EXPLAINED: f64 = 0.95;
/// Groups of neighbouring measurements whose errors are alike.
const GROUPS: usize = 8;

/// Values of the unknowns, as the solver sees them.
#[derive(Clone, Copy)]
struct Material<'a> {
    spec: &'a SensorSpec,
    unknowns: &'a [MaterialUnknown],
}

impl Material<'_> {
    /// The value of an unknown in the description.
    fn start(&self, unknown: MaterialUnknown) -> Result<f64, MaterialError> {
        let refuse = |why: &'static str| {
            Err(MaterialError::NotOfThisSkin { unknown: unknown.name(), kind: self.spec.skin.kind().name(), why })
        };
        let value = match (&self.spec.skin, unknown) {
            (_, MaterialUnknown::Zero) => 0.0,
            (SkinSpec::Layer(layer), MaterialUnknown::Young) => layer.young.si(),
            (SkinSpec::Layer(layer), MaterialUnknown::Poisson) => layer.poisson.unwrap_or(0.49),
            (SkinSpec::Layer(layer), MaterialUnknown::Thickness) => layer.thickness.si(),
            (SkinSpec::Layer(layer), MaterialUnknown::Friction) => layer.mu,
            (SkinSpec::Layer(layer), MaterialUnknown::RelaxationRatio) => {
                layer.relaxation.first().map_or(0.2, |branch| branch.ratio)
            }
            (SkinSpec::Layer(layer), MaterialUnknown::RelaxationTime) => {
                layer.relaxation.first().map_or(1.0, |branch| branch.time.si())
            }
            (SkinSpec::Gel(gel), MaterialUnknown::Young) => gel.young.si(),
            (SkinSpec::Gel(gel), MaterialUnknown::Poisson) => gel.poisson,
            (SkinSpec::Gel(_), _) => return refuse("only young, poisson and zero are; take a layer for the others"),
            _ => return refuse("its force is given by its stiffness; use `dermis calibrate stiffness`"),
        };
        if unknown.is_positive() && value <= 0.0 {
            return refuse("it is zero in the description; give a value to start from");
        }
        Ok(value)
    }

    /// The value of an unknown at a point of the solver.
    fn value(&self, point: &[f64], wanted: MaterialUnknown) -> Option<f64> {
        let place = self.unknowns.iter().position(|unknown| *unknown == wanted)?;
        Some(if wanted.is_positive() { point[place].exp() } else { point[place] })
    }

    /// The description at a point of the solver; `None` if there is no such material.
    fn spec(&self, point: &[f64]) -> Result<Option<SensorSpec>, MaterialError> {
        let mut skin = Map::new();
        let quantity = |value: f64, unit: &str| json!(format!("{value:e} {unit}"));
        for &unknown in self.unknowns {
            let value = self.value(point, unknown).unwrap_or(0.0);
            match unknown {
                MaterialUnknown::Young => drop(skin.insert("young".into(), quantity(value, "Pa"))),
                MaterialUnknown::Thickness => drop(skin.insert("thickness".into(), quantity(value, "m"))),
                MaterialUnknown::Friction => drop(skin.insert("mu".into(), json!(value))),
                MaterialUnknown::Poisson if !(0.0..0.4999).contains(&value) => return Ok(None),
                MaterialUnknown::Poisson => drop(skin.insert("poisson".into(), json!(value))),
                MaterialUnknown::Zero | MaterialUnknown::RelaxationRatio | MaterialUnknown::RelaxationTime => {}
            }
        }
        if let Some([ratio, time_s]) = self.relaxation(point)? {
            skin.insert("relaxation".into(), json!([{ "ratio": ratio, "time": format!("{time_s:e} s") }]));
        }
        let changes: Map<String, Value> = [("skin".to_owned(), Value::Object(skin))].into_iter().collect();
        Ok(Some(self.spec.with_overrides(&changes)?))
    }

    /// The point whose sensor is pressed for the forces at rest of another point, and the ratio of the forces: those of a
    /// layer of one material are proportional to its modulus, and its relaxation does not change them.
    fn base(&self, at: &[f64], start: &[f64]) -> (Vec<f64>, f64) {
        let is_uniform = matches!(&self.spec.skin, SkinSpec::Layer(layer) if layer.coating.is_none());
        let (mut base, mut factor) = (at.to_vec(), 1.0);
        for (k, unknown) in self.unknowns.iter().enumerate() {
            match unknown {
                MaterialUnknown::Young if is_uniform => {
                    factor = (at[k] - start[k]).exp();
                    base[k] = start[k];
                }
                MaterialUnknown::RelaxationRatio | MaterialUnknown::RelaxationTime => base[k] = start[k],
                _ => {}
            }
        }
        (base, factor)
    }

    /// Ratio and time constant (s) of the relaxation, if one of them is fitted.
    fn relaxation(&self, point: &[f64]) -> Result<Option<[f64; 2]>, MaterialError> {
        let both = [MaterialUnknown::RelaxationRatio, MaterialUnknown::RelaxationTime];
        if !both.iter().any(|unknown| self.unknowns.contains(unknown)) {
            return Ok(None);
        }
        let of = |unknown| self.value(point, unknown).map_or_else(|| self.start(unknown), Ok);
        Ok(Some([of(both[0])?, of(both[1])?]))
    }

    /// Relaxation spectrum at a point of the solver: ratios and time constants (s).
    fn spectrum(&self, point: &[f64]) -> Result<Vec<[f64; 2]>, MaterialError> {
        match (self.relaxation(point)?, &self.spec.skin) {
            (Some(branch), _) => Ok(vec![branch]),
            (None, SkinSpec::Layer(layer)) => {
                Ok(layer.relaxation.iter().map(|branch| [branch.ratio, branch.time.si()]).collect())
            }
            _ => Ok(Vec::new()),
        }
    }
}

/// Fits `unknowns` of the skin of `spec` to measurements in the order of time; the other quantities are those of the
/// description. `progress` is called with the number of simulated sensors so far.
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
    progress: &dyn Fn(usize),
) -> Result<MaterialFit, MaterialError> {
    check(points, unknowns)?;
    let material = Material { spec, unknowns };
    let start = unknowns.iter().map(|&unknown| {
        let value = material.start(unknown)?;
        Ok(if unknown.is_positive() { value.ln() } else { value })
    });
    let start = start.collect::<Result<Vec<f64>, MaterialError>>()?;
    let pressed = RefCell::new(Vec::new());
    let forces = |at: &[f64]| -> Result<Option<Vec<[f64; 2]>>, MaterialError> {
        let (base, factor) = material.base(at, &start);
        let known =
            pressed.borrow().iter().find(|(key, _)| *key == base).map(|(_, forces): &(_, Vec<_>)| forces.clone());
        let at_rest = match known {
            Some(forces) => forces,
            None => {
                let Some(spec) = material.spec(&base)? else { return Ok(None) };
                let forces = forces_at_rest(&spec.build(None)?, object, aim, points, zero(&material, &base))?.0;
                pressed.borrow_mut().push((base, forces.clone()));
                progress(pressed.borrow().len());
                forces
            }
        };
        let at_rest: Vec<[f64; 2]> = at_rest.iter().map(|force| force.map(|part| part * factor)).collect();
        Ok(Some(relaxed(&at_rest, points, &material.spectrum(at)?)))
    };
    let flat = |forces: Vec<[f64; 2]>| -> Vec<f64> {
        let shear = forces.iter().zip(points).filter(|(_, point)| point.shear_force_newton.is_some());
        forces.iter().map(|force| force[0]).chain(shear.map(|(force, _)| force[1])).collect()
    };
    let predict = |at: &[f64]| Ok::<_, MaterialError>(forces(at)?.map(flat));
    let measured: Vec<f64> = points
        .iter()
        .map(|point| point.force_newton)
        .chain(points.iter().filter_map(|point| point.shear_force_newton))
        .collect();
    let per_group = measured.len().div_ceil(GROUPS).max(1);
    let groups: Vec<usize> = (0..measured.len()).map(|i| i / per_group).collect();
    let steps: Vec<f64> = unknowns.iter().map(|unknown| unknown.step()).collect();
    let problem = LeastSquares::new(&predict, &measured, &groups, &steps);
    let undetermined = |unknown: MaterialUnknown| MaterialError::Undetermined {
        unknown: unknown.name(),
        remedy: "measure more depths, or displacements along the surface for friction and times for relaxation",
    };
    let solution = problem.solve(&start)?.ok_or_else(|| undetermined(unknowns[0]))?;
    let values = estimates(&material, &solution, measured.len());
    if let Some((unknown, _)) = values.iter().find(|(_, estimate)| !estimate.ci95.is_finite()) {
        return Err(undetermined(*unknown));
    }
    let mut fitted = material.spec(&solution.values)?.ok_or_else(|| undetermined(unknowns[0]))?;
    fitted.name = format!("{}-fitted", spec.name);
    fitted.description = format!("{}, with its material fitted to measured forces", spec.name);
    let (at_rest, mut warnings) =
        forces_at_rest(&fitted.build(None)?, object, aim, points, zero(&material, &solution.values))?;
    let predicted_newton = relaxed(&at_rest, points, &material.spectrum(&solution.values)?);
    let mean = measured.iter().sum::<f64>() / measured.len() as f64;
    let squares = measured.iter().map(|value| (value - mean).powi(2)).sum::<f64>();
    let explained = 1.0 - solution.rms().powi(2) * measured.len() as f64 / squares.max(f64::MIN_POSITIVE);
    warnings.extend(doubts(unknowns, &solution, explained));
    warnings.extend(unknown_beginning(points, unknowns));
    warnings.extend(unloading(points));
    Ok(MaterialFit { values, spec: fitted, predicted_newton, rms_newton: solution.rms(), explained, warnings })
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
    for unknown in [MaterialUnknown::RelaxationRatio, MaterialUnknown::RelaxationTime] {
        if has(unknown) && points.iter().all(|point| point.time_s == points[0].time_s) {
            return undetermined(unknown, "the measurements have no times");
        }
    }
    Ok(())
}

fn zero(material: &Material<'_>, at: &[f64]) -> f64 {
    material.value(at, MaterialUnknown::Zero).unwrap_or(0.0)
}

/// Forces (N) of a sensor at rest at the measurements, against the normal and along x, and warnings of its skin about the
/// largest of them.
fn forces_at_rest(
    sensor: &Sensor,
    object: &Object,
    aim: &Aim,
    points: &[MaterialPoint],
    zero_m: f64,
) -> Result<(Vec<[f64; 2]>, Vec<String>), MaterialError> {
    let one = |point: &MaterialPoint| -> Result<([f64; 2], Vec<String>), MaterialError> {
        let depth_m = point.depth_m - zero_m;
        if depth_m <= 0.0 {
            return Ok(([0.0; 2], Vec::new()));
        }
        let goal = Goal::Depth(depth_m);
        let pressed: Pressed = press(sensor, object, aim, goal)?.sheared(sensor, object, [point.shear_m, 0.0], goal)?;
        let force = pressed.touch.on_sensor.force;
        Ok(([-force.z, force.x], pressed.touch.warning_texts()))
    };
    // Many measurements of a relaxation have one depth.
    let mut distinct: Vec<MaterialPoint> = Vec::new();
    let place: Vec<usize> = points
        .iter()
        .map(|point| {
            let same = |other: &MaterialPoint| other.depth_m == point.depth_m && other.shear_m == point.shear_m;
            distinct.iter().position(same).unwrap_or_else(|| {
                distinct.push(*point);
                distinct.len() - 1
            })
        })
        .collect();
    let solved = distinct.par_iter().map(one).collect::<Result<Vec<_>, _>>()?;
    let forces = place.into_iter().map(|i| solved[i].0).collect();
    let largest = solved.into_iter().max_by(|(a, _), (b, _)| a[0].total_cmp(&b[0]));
    Ok((forces, largest.map_or_else(Vec::new, |(_, warnings)| warnings)))
}

/// Forces of a skin that relaxes, from those at rest: every change of the force at rest is larger by the ratio of each branch
/// at first, and decays with its time constant. Between measurements the force at rest changes evenly.
fn relaxed(at_rest: &[[f64; 2]], points: &[MaterialPoint], spectrum: &[[f64; 2]]) -> Vec<[f64; 2]> {
    let mut branches = vec![[0.0; 2]; spectrum.len()];
    let mut last: Option<([f64; 2], f64)> = None;
    let mut all = Vec::with_capacity(at_rest.len());
    for (force, point) in at_rest.iter().zip(points) {
        let mut total = *force;
        for (branch, [ratio, time_s]) in branches.iter_mut().zip(spectrum) {
            let (before, dt_s) = last.map_or(([0.0; 2], 0.0), |(before, at_s)| (before, point.time_s - at_s));
            let (kept, gained) = if dt_s > 0.0 {
                ((-dt_s / time_s).exp(), time_s / dt_s * -(-dt_s / time_s).exp_m1())
            } else {
                (1.0, 1.0)
            };
            for axis in 0..2 {
                branch[axis] = kept * branch[axis] + gained * ratio * (force[axis] - before[axis]);
                total[axis] += branch[axis];
            }
        }
        last = Some((*force, point.time_s));
        all.push(total);
    }
    all
}

/// The values with intervals: from the scatter of single measurements, or of groups of neighbours where that is larger.
fn estimates(material: &Material<'_>, solution: &Solution, measured: usize) -> Vec<(MaterialUnknown, Estimate)> {
    let freedom = measured - material.unknowns.len();
    let variance = solution.rms().powi(2) * measured as f64 / freedom.max(1) as f64;
    let one = |(k, &unknown): (usize, &MaterialUnknown)| {
        let groups = solution.covariance[(k, k)];
        let groups = if groups.is_finite() { groups } else { 0.0 };
        let own = (solution.homogeneous[(k, k)] * variance).max(groups).max(0.0).sqrt();
        let value = material.value(&solution.values, unknown).unwrap_or(0.0);
        let slope = if unknown.is_positive() { value } else { 1.0 };
        (unknown, Estimate { value, ci95: student_975(freedom) * own * slope })
    };
    material.unknowns.iter().enumerate().map(one).collect()
}

/// Part of the largest force from which a first measurement is in the middle of a press.
const BEGUN: f64 = 0.1;

/// A doubt about relaxation if the measurements may begin after the press did.
fn unknown_beginning(points: &[MaterialPoint], unknowns: &[MaterialUnknown]) -> Option<String> {
    let relaxes = unknowns
        .iter()
        .any(|unknown| matches!(unknown, MaterialUnknown::RelaxationRatio | MaterialUnknown::RelaxationTime));
    let largest = points.iter().map(|point| point.force_newton).fold(f64::MIN_POSITIVE, f64::max);
    let part = points.first().map_or(0.0, |point| point.force_newton / largest);
    (relaxes && part > BEGUN).then(|| {
        format!(
            "the press is taken to begin at the time of the first measurement, which has {:.0} % of the largest force already: if it began before, add its beginning",
            100.0 * part
        )
    })
}

/// Part of the largest depth by which a depth that is held may vary.
const HELD: f64 = 0.01;

/// A doubt about measurements of unloading, whose forces are lower in a real skin. Without times, one smaller depth begins
/// another press, and two in succession unload.
fn unloading(points: &[MaterialPoint]) -> Option<String> {
    let in_time = points.iter().any(|point| point.time_s != points[0].time_s);
    let falls = |i: usize| i > 0 && points[i].depth_m < points[i - 1].depth_m;
    let mut largest_m = 0.0_f64;
    let first = (0..points.len()).find(|&i| {
        largest_m = largest_m.max(points[i].depth_m);
        points[i].depth_m < (1.0 - HELD) * largest_m && (in_time || (falls(i) && i + 1 < points.len() && falls(i + 1)))
    })?;
    Some(format!(
        "the depth decreases at measurement {}, and the fit is that of presses whose depth is held or grows: leave out the measurements of unloading",
        first + 1
    ))
}

/// What is doubtful about a fit.
fn doubts(unknowns: &[MaterialUnknown], solution: &Solution, explained: f64) -> Vec<String> {
    let mut doubts = Vec::new();
    for i in 0..unknowns.len() {
        for j in 0..i {
            let both = solution.homogeneous[(i, i)] * solution.homogeneous[(j, j)];
            let correlation = solution.homogeneous[(i, j)] / both.sqrt();
            if correlation.abs() > SAME {
                let (a, b) = (unknowns[j].name(), unknowns[i].name());
                doubts.push(format!(
                    "{a} and {b} are hardly told apart by these measurements (correlation {correlation:.3}): fit one of them, or measure with another indenter"
                ));
            }
        }
    }
    if explained < WELL_EXPLAINED {
        let part = 100.0 * explained.max(0.0);
        doubts
            .push(format!("the fit explains only {part:.0} % of the forces: object, sensor or unknowns may be wrong"));
    }
    if !solution.converged {
        doubts.push("the fit stopped before it converged".to_owned());
    }
    doubts
}
