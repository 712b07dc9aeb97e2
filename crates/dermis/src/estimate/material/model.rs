//! The forces of a material under an object, for values of its unknowns as the solver sees them.

use super::history::{Forces, History, STEPS, is_in_time, largest_m};
use super::{MaterialError, MaterialPoint, MaterialUnknown};
use dermis_sensor::{Aim, Goal, PressError, Sensor, SensorSpec, SkinSpec, press};
use dermis_skin::layer::MAX_INDENTATION;
use dermis_skin::threads::parallel;
use dermis_skin::{Object, gel};
use rayon::prelude::*;
use serde_json::{Map, Value, json};
use std::cell::RefCell;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Largest Poisson's ratio of a fit: nearly incompressible. Gels end earlier.
const MAX_POISSON: f64 = 0.4999;
/// Largest factor between a quantity and a scale of the measurements.
const MAX_FACTOR: f64 = 100.0;

/// Values of the unknowns, as the solver sees them.
#[derive(Clone, Copy)]
pub struct Material<'a> {
    /// The description.
    pub spec: &'a SensorSpec,
    /// The fitted quantities.
    pub unknowns: &'a [MaterialUnknown],
}

impl Material<'_> {
    /// The value of an unknown in the description.
    pub fn start(&self, unknown: MaterialUnknown) -> Result<f64, MaterialError> {
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
    pub fn value(&self, point: &[f64], wanted: MaterialUnknown) -> Option<f64> {
        let place = self.unknowns.iter().position(|unknown| *unknown == wanted)?;
        Some(if wanted.is_positive() { point[place].exp() } else { point[place] })
    }

    /// The description at a point of the solver; `None` if there is no such material.
    pub fn spec(&self, point: &[f64]) -> Result<Option<SensorSpec>, MaterialError> {
        let mut skin = Map::new();
        let quantity = |value: f64, unit: &str| json!(format!("{value:e} {unit}"));
        for &unknown in self.unknowns {
            let value = self.value(point, unknown).unwrap_or(0.0);
            match unknown {
                MaterialUnknown::Young => drop(skin.insert("young".into(), quantity(value, "Pa"))),
                MaterialUnknown::Thickness => drop(skin.insert("thickness".into(), quantity(value, "m"))),
                MaterialUnknown::Friction => drop(skin.insert("mu".into(), json!(value))),
                MaterialUnknown::Poisson => {
                    let [least, largest] = self.poisson_range(self.start(unknown)?);
                    if !(least..=largest).contains(&value) {
                        return Ok(None);
                    }
                    skin.insert("poisson".into(), json!(value));
                }
                MaterialUnknown::Zero | MaterialUnknown::RelaxationRatio | MaterialUnknown::RelaxationTime => {}
            }
        }
        if self.fits_relaxation() {
            let branch = |[ratio, time_s]: [f64; 2]| json!({ "ratio": ratio, "time": format!("{time_s:e} s") });
            skin.insert("relaxation".into(), self.spectrum(point)?.into_iter().map(branch).collect());
        }
        let changes: Map<String, Value> = [("skin".to_owned(), Value::Object(skin))].into_iter().collect();
        Ok(Some(self.spec.with_overrides(&changes)?))
    }

    /// Poisson's ratios of a fit from a start. One outside, such as that of an auxetic foam, widens them.
    fn poisson_range(&self, start: f64) -> [f64; 2] {
        let largest = if matches!(self.spec.skin, SkinSpec::Gel(_)) { gel::MAX_POISSON } else { MAX_POISSON };
        [start.min(0.0), start.max(largest)]
    }

    /// Bounds of an unknown for the solver: those that the measurements can tell from infinity, and from none.
    fn bounds(&self, unknown: MaterialUnknown, start: f64, points: &[MaterialPoint]) -> [f64; 2] {
        let largest_m = largest_m(points);
        let whole_s = points.iter().map(|point| point.time_s - points[0].time_s).fold(f64::MIN_POSITIVE, f64::max);
        let [least, largest] = match unknown {
            MaterialUnknown::Young => [1e-6_f64, 1e14].map(f64::ln),
            MaterialUnknown::Poisson => self.poisson_range(start),
            // A layer is pressed to a part of its thickness.
            MaterialUnknown::Thickness => {
                [(largest_m / MAX_INDENTATION).ln().max(start - MAX_FACTOR.ln()), start + MAX_FACTOR.ln()]
            }
            MaterialUnknown::Friction => [1e-3_f64, 10.0].map(f64::ln),
            MaterialUnknown::Zero => [-largest_m, largest_m],
            MaterialUnknown::RelaxationRatio => [1.0 / MAX_FACTOR, MAX_FACTOR].map(f64::ln),
            MaterialUnknown::RelaxationTime => {
                [whole_s / (MAX_FACTOR * points.len() as f64), whole_s * MAX_FACTOR].map(f64::ln)
            }
        };
        [least.min(start), largest.max(start)]
    }

    /// True for a layer of one material, whose forces are proportional to its modulus.
    pub fn is_uniform(&self) -> bool {
        matches!(&self.spec.skin, SkinSpec::Layer(layer) if layer.coating.is_none())
    }

    /// The point whose sensor is pressed for the forces at rest of another point, and the ratio of the forces: those of a
    /// layer of one material are proportional to its modulus, and its relaxation does not change them.
    fn base(&self, at: &[f64], start: &[f64]) -> (Vec<f64>, f64) {
        let (mut base, mut factor) = (at.to_vec(), 1.0);
        for (k, unknown) in self.unknowns.iter().enumerate() {
            match unknown {
                MaterialUnknown::Young if self.is_uniform() => {
                    factor = (at[k] - start[k]).exp();
                    base[k] = start[k];
                }
                MaterialUnknown::RelaxationRatio | MaterialUnknown::RelaxationTime => base[k] = start[k],
                _ => {}
            }
        }
        (base, factor)
    }

    /// True if a quantity of the relaxation is fitted.
    pub fn fits_relaxation(&self) -> bool {
        self.unknowns.iter().any(|unknown| unknown.is_in_time())
    }

    /// Relaxation spectrum at a point of the solver: ratios and time constants (s). A fit changes the first branch of the
    /// description, and adds one if there is none.
    pub fn spectrum(&self, point: &[f64]) -> Result<Vec<[f64; 2]>, MaterialError> {
        let mut spectrum: Vec<[f64; 2]> = match &self.spec.skin {
            SkinSpec::Layer(layer) => layer.relaxation.iter().map(|branch| [branch.ratio, branch.time.si()]).collect(),
            _ => Vec::new(),
        };
        if self.fits_relaxation() {
            let of = |unknown| self.value(point, unknown).map_or_else(|| self.start(unknown), Ok);
            let first = [of(MaterialUnknown::RelaxationRatio)?, of(MaterialUnknown::RelaxationTime)?];
            match spectrum.first_mut() {
                Some(branch) => *branch = first,
                None => spectrum.push(first),
            }
        }
        Ok(spectrum)
    }

    /// Thickness (m) of the skin of the description, if it has one.
    fn thickness_m(&self) -> Option<f64> {
        match &self.spec.skin {
            SkinSpec::Layer(layer) => Some(layer.thickness.si()),
            SkinSpec::Gel(gel) => gel.thickness.map(|thickness| thickness.si()),
            _ => None,
        }
    }
}

/// Presses of a material by an object, at the measurements.
pub struct Bench<'a> {
    /// The material.
    pub material: Material<'a>,
    object: &'a Object,
    aim: &'a Aim,
    /// The measurements.
    pub points: &'a [MaterialPoint],
    history: History,
    /// The unknowns of the description, for the solver.
    pub start: Vec<f64>,
    /// Forces at rest of the sensors that were pressed, at the history.
    pressed: RefCell<Vec<(Vec<f64>, Forces)>>,
    progress: &'a Progress<'a>,
}

/// Counts presses, and tells their number.
pub(super) struct Progress<'a> {
    presses: AtomicUsize,
    tell: &'a (dyn Fn(usize) + Sync),
}

impl<'a> Progress<'a> {
    /// No press so far.
    pub fn new(tell: &'a (dyn Fn(usize) + Sync)) -> Self {
        Self { presses: AtomicUsize::new(0), tell }
    }

    fn press(&self) {
        (self.tell)(self.presses.fetch_add(1, Ordering::Relaxed) + 1);
    }
}

impl<'a> Bench<'a> {
    /// The presses of a description, which must be possible.
    pub fn new(
        material: Material<'a>,
        object: &'a Object,
        aim: &'a Aim,
        points: &'a [MaterialPoint],
        progress: &'a Progress<'a>,
    ) -> Result<Self, MaterialError> {
        check_depths(points, material.thickness_m())?;
        let start = material.unknowns.iter().map(|&unknown| {
            let value = material.start(unknown)?;
            Ok(if unknown.is_positive() { value.ln() } else { value })
        });
        let start = start.collect::<Result<Vec<f64>, MaterialError>>()?;
        let relaxes = !material.spectrum(&start)?.is_empty();
        let history = History::new(points, if relaxes { STEPS } else { 0 });
        let bench = Self { material, object, aim, points, history, start, pressed: RefCell::default(), progress };
        let at_rest = bench.at_rest(&bench.start).map_err(in_another_unit)?;
        bench.pressed.borrow_mut().extend(at_rest.map(|(forces, _)| (bench.start.clone(), forces)));
        Ok(bench)
    }

    /// The same presses with other unknowns.
    pub fn with_unknowns(&self, unknowns: &'a [MaterialUnknown]) -> Result<Self, MaterialError> {
        let material = Material { unknowns, ..self.material };
        Self::new(material, self.object, self.aim, self.points, self.progress)
    }

    /// Largest depth (m) of the measurements.
    pub fn largest_m(&self) -> f64 {
        largest_m(self.points)
    }

    /// Bounds of the unknowns for the solver.
    pub fn bounds(&self) -> Vec<[f64; 2]> {
        let unknowns = self.material.unknowns.iter().zip(&self.start);
        unknowns.map(|(&unknown, &start)| self.material.bounds(unknown, start, self.points)).collect()
    }

    /// Forces at rest at the history and warnings of the skin; `None` if there is no such material.
    fn at_rest(&self, at: &[f64]) -> Result<Option<(Forces, Vec<String>)>, MaterialError> {
        let zero_m = self.material.value(at, MaterialUnknown::Zero).unwrap_or(0.0);
        self.at_rest_from(at, zero_m)
    }

    /// [`Bench::at_rest`] with a first contact (m).
    fn at_rest_from(&self, at: &[f64], zero_m: f64) -> Result<Option<(Forces, Vec<String>)>, MaterialError> {
        let Some(spec) = self.material.spec(at)? else { return Ok(None) };
        self.forces_at_rest(&spec.build(None)?, zero_m).map(Some)
    }

    /// Forces at the measurements, from those at rest at the history. Without times they are those at rest, as of a press.
    fn relaxed(&self, at: &[f64], at_rest: &[[f64; 2]]) -> Result<Forces, MaterialError> {
        let spectrum = if is_in_time(self.points) { self.material.spectrum(at)? } else { Vec::new() };
        Ok(self.history.relaxed(at_rest, &spectrum))
    }

    /// Forces (N) against the normal and along x at the measurements, with warnings of the skin.
    pub fn with_warnings(&self, at: &[f64]) -> Result<(Forces, Vec<String>), MaterialError> {
        let Some((at_rest, warnings)) = self.at_rest(at)? else { return Ok((Forces::new(), Vec::new())) };
        Ok((self.relaxed(at, &at_rest)?, warnings))
    }

    /// [`Bench::predict`] with the first contact deeper by a length, if it is not fitted.
    pub fn shifted(&self, at: &[f64], zero_m: f64) -> Result<Option<Vec<f64>>, MaterialError> {
        let Ok(Some((at_rest, _))) = self.at_rest_from(at, zero_m) else { return Ok(None) };
        Ok(Some(self.flat(&self.relaxed(at, &at_rest)?)))
    }

    fn flat(&self, forces: &[[f64; 2]]) -> Vec<f64> {
        let shear = forces.iter().zip(self.points).filter(|(_, point)| point.shear_force_newton.is_some());
        forces.iter().map(|force| force[0]).chain(shear.map(|(force, _)| force[1])).collect()
    }

    /// Predictions of the measured forces: those against the normal, then those along x that were measured. `None` if there is no such
    /// material, or it cannot be pressed so deep.
    pub fn predict(&self, at: &[f64]) -> Result<Option<Vec<f64>>, MaterialError> {
        let (base, factor) = self.material.base(at, &self.start);
        let known = self.pressed.borrow().iter().find(|(key, _)| *key == base).map(|(_, forces)| forces.clone());
        let at_rest = match known {
            Some(forces) => forces,
            None => {
                let Ok(Some((forces, _))) = self.at_rest(&base) else { return Ok(None) };
                self.pressed.borrow_mut().push((base, forces.clone()));
                forces
            }
        };
        let at_rest: Vec<[f64; 2]> = at_rest.iter().map(|force| force.map(|part| part * factor)).collect();
        Ok(Some(self.flat(&self.relaxed(at, &at_rest)?)))
    }

    /// The measured forces (N), in the order of [`Bench::predict`].
    pub fn measured(&self) -> Vec<f64> {
        let along = self.points.iter().filter_map(|point| point.shear_force_newton);
        self.points.iter().map(|point| point.force_newton).chain(along).collect()
    }

    /// Forces (N) of a sensor at rest at the history, against the normal and along x, and warnings of its skin about the
    /// largest of them.
    fn forces_at_rest(&self, sensor: &Sensor, zero_m: f64) -> Result<(Forces, Vec<String>), MaterialError> {
        let Self { object, aim, progress, .. } = *self;
        let one = |point: &MaterialPoint| -> Result<([f64; 2], Vec<String>), MaterialError> {
            let depth_m = point.depth_m - zero_m;
            if depth_m <= 0.0 {
                return Ok(([0.0; 2], Vec::new()));
            }
            progress.press();
            let goal = Goal::Depth(depth_m);
            let pressed = press(sensor, object, aim, goal)?.sheared(sensor, object, [point.shear_m, 0.0], goal)?;
            let force = pressed.touch.on_sensor.force;
            Ok(([-force.z, force.x], pressed.touch.warning_texts()))
        };
        // Many measurements of a relaxation have one depth.
        let mut distinct: Vec<MaterialPoint> = Vec::new();
        let place: Vec<usize> = self
            .history
            .points
            .iter()
            .map(|point| {
                let same = |other: &MaterialPoint| other.depth_m == point.depth_m && other.shear_m == point.shear_m;
                distinct.iter().position(same).unwrap_or_else(|| {
                    distinct.push(*point);
                    distinct.len() - 1
                })
            })
            .collect();
        // Of several presses that fail, the first is named, whatever the order of the threads.
        let solved: Vec<_> = parallel(|| distinct.par_iter().map(one).collect());
        let solved = solved.into_iter().collect::<Result<Vec<_>, _>>()?;
        let forces = place.into_iter().map(|i| solved[i].0).collect();
        let largest = solved.into_iter().max_by(|(a, _), (b, _)| a[0].total_cmp(&b[0]));
        Ok((forces, largest.map_or_else(Vec::new, |(_, warnings)| warnings)))
    }
}

/// A number to six significant digits, for messages.
fn rounded(value: f64) -> f64 {
    format!("{value:.5e}").parse().unwrap_or(value)
}

/// Refuses depths that do not press the skin, or so little that a thousand times as much would fit: another unit.
fn check_depths(points: &[MaterialPoint], thickness_m: Option<f64>) -> Result<(), MaterialError> {
    let depth_mm = rounded(1e3 * points.iter().map(|point| point.depth_m).fold(f64::NEG_INFINITY, f64::max));
    if depth_mm <= 0.0 {
        return Err(MaterialError::NoDepth { depth_mm });
    }
    match thickness_m.map(|thickness_m| rounded(1e3 * thickness_m)) {
        Some(thickness_mm) if 1e3 * depth_mm <= MAX_INDENTATION * thickness_mm => {
            Err(MaterialError::Shallow { depth_mm, thickness_mm, meant_mm: rounded(1e3 * depth_mm) })
        }
        _ => Ok(()),
    }
}

/// Names the unit of the depths, if a depth is too large by a factor of 1000.
fn in_another_unit(error: MaterialError) -> MaterialError {
    match error {
        MaterialError::Press(PressError::TooDeep { depth_mm, max_mm, .. })
            if (0.01 * max_mm..=max_mm).contains(&(1e-3 * depth_mm)) =>
        {
            MaterialError::DepthUnit { depth_mm, max_mm, meant_mm: rounded(1e-3 * depth_mm) }
        }
        error => error,
    }
}
