//! The derivatives of random presses beside differences of their readings.

use super::differences::{PARTS, extrapolated};
use super::images::{ImageSlope, ImageSlopes};
use super::sensors::{VALUES, sensor_of};
use super::{GradientCost, GradientErrors, Key, Setup, Shape, Trial, bad_press, cost};
use crate::validate::ValidateError;
use dermis::geometry::{Pose, Primitive, Quat, Random, TriMesh, Vec3};
use dermis::sensor::{Gradients, Sensor};
use dermis::skin::Object;
use dermis::skin::threads::parallel;
use rayon::prelude::*;
use std::collections::BTreeMap;

/// One derivative of a press or of a path.
pub(super) struct Compared {
    pub parameter: String,
    pub got: f64,
    /// By differences, with the size of its terms; `None` if the press is excluded.
    pub truth: Option<(f64, f64)>,
}

impl Compared {
    fn rel_error(&self) -> Option<f64> {
        let (truth, size) = self.truth?;
        // A sphere does not depend on its rotation: both are zero.
        let is_zero = self.got.abs().max(truth.abs()) < 1e-12;
        let error = (self.got - truth).abs() / truth.abs().max(0.1 * size).max(f64::MIN_POSITIVE);
        Some(if is_zero { 0.0 } else { error })
    }
}

impl Setup {
    /// Differences that are not certain to a fraction of the tolerance decide nothing.
    fn limits(&self) -> (f64, f64) {
        (0.25 * self.tolerance, 100.0 * self.solved_to)
    }

    /// The derivatives of an image, and the shares of pixels with a kink.
    fn compare_image(
        &self,
        view: &ImageSlopes<'_>,
        trial: &Trial,
        random: &mut Random,
    ) -> Result<(Vec<Compared>, Vec<f64>), ValidateError> {
        let slopes = view.along_heights(trial)?;
        let mut all = vec![Compared { parameter: "depth".to_owned(), got: slopes.got, truth: slopes.truth }];
        let mut kinks = Vec::new();
        let mut keep = |parameter: String, slopes: ImageSlope| {
            kinks.push(slopes.kinked);
            all.push(Compared { parameter, got: slopes.got, truth: slopes.truth });
        };
        keep("surface".to_owned(), view.along_wave(trial, random)?);
        for axis in 0..3 {
            keep(format!("position {}", ["x", "y", "z"][axis]), view.along_motion(trial, Vec3::AXES[axis])?);
        }
        Ok((all, kinks))
    }

    /// The derivatives by the pose and the sizes of the object.
    fn compare_object(
        &self,
        sensor: &Sensor,
        object: &Object,
        trial: &Trial,
        random: &mut Random,
    ) -> Result<Vec<Compared>, ValidateError> {
        let Trial { pose, weights, gradients, contact } = trial;
        let limits = self.limits();
        let is_sphere = matches!(self.shape, Shape::Of(Primitive::Sphere { .. }));
        let mut all = Vec::new();
        let mut keep = |parameter: String, got: f64, truth| all.push(Compared { parameter, got, truth });
        for axis in 0..3 {
            let at = |step: f64| {
                let moved = Pose { translation: pose.translation + Vec3::AXES[axis] * step, ..*pose };
                self.terms(sensor, object, &moved, weights)
            };
            let name = format!("position {}", ["x", "y", "z"][axis]);
            keep(name, gradients.position[axis], extrapolated(contact, self.step_m, limits, at)?);
            let at = |step: f64| {
                let rotation = Quat::from_axis_angle(Vec3::AXES[axis], step) * pose.rotation;
                self.terms(sensor, object, &Pose { rotation, ..*pose }, weights)
            };
            if !is_sphere {
                let name = format!("rotation {}", ["x", "y", "z"][axis]);
                let step = self.step_m / 4e-3 * if axis == 2 { self.z_rotation } else { 1.0 };
                keep(name, gradients.rotation[axis], extrapolated(contact, step, limits, at)?);
            }
        }
        let relative = self.step_m / 4e-3;
        let is_same_mesh = |name: &str| !self.remeshed.contains(&name);
        if is_same_mesh("scale") {
            let at = |step: f64| self.terms(sensor, &self.shape.object(1.0 + step)?, pose, weights);
            keep("scale".to_owned(), entry_of(gradients, "scale", 0), extrapolated(contact, relative, limits, at)?);
        }
        if let Some(by_vertices) = gradients.by_vertices(object) {
            let moves = random_moves(object, random);
            let at = |step: f64| self.terms(sensor, &with_moved_vertices(object, &moves, step)?, pose, weights);
            let got = by_vertices.iter().zip(&moves).map(|(by, along)| by.dot(*along)).sum();
            keep("vertices".to_owned(), got, extrapolated(contact, self.step_m, limits, at)?);
        }
        for (name, index, value, with) in self.shape.sizes().into_iter().filter(|size| is_same_mesh(size.0)) {
            let at = |step: f64| self.terms(sensor, &with(value + step).object(1.0)?, pose, weights);
            keep(
                format!("{name} {index}"),
                entry_of(gradients, name, index),
                extrapolated(contact, relative * value, limits, at)?,
            );
        }
        Ok(all)
    }

    /// The derivative by a key of the sensor.
    fn compare_key(
        &self,
        key: &ChangedKey,
        sensor: &Sensor,
        object: &Object,
        trial: &Trial,
    ) -> Result<Compared, ValidateError> {
        let Trial { pose, weights, gradients, contact } = trial;
        let (name, index, _, step) = key.key;
        let at = |moved: f64| self.terms(key.changed_by(moved).unwrap_or(sensor), object, pose, weights);
        // A list has one entry per taxel; here all of them change together.
        let got = if name == "gain" {
            gradients.get(name).map_or(f64::NAN, |all| all.iter().sum())
        } else {
            entry_of(gradients, name, index)
        };
        let truth = extrapolated(contact, key.value * step, self.limits(), at)?;
        Ok(Compared { parameter: name.to_owned(), got, truth })
    }
}

/// A motion of each vertex of an object's mesh, in its own direction.
pub(super) fn random_moves(object: &Object, random: &mut Random) -> Vec<Vec3> {
    let mut any = |_| Vec3::from_array([0; 3].map(|_| random.between(-1.0, 1.0)));
    object.surface.mesh().vertices().iter().map(&mut any).collect()
}

/// The object of a mesh whose vertices have moved by a step times their motion.
pub(super) fn with_moved_vertices(object: &Object, moves: &[Vec3], step: f64) -> Result<Object, ValidateError> {
    let mesh = object.surface.mesh();
    let vertices = mesh.vertices().iter().zip(moves).map(|(vertex, by)| *vertex + *by * step).collect();
    Ok(Object::new(TriMesh::new(mesh.name(), vertices, mesh.triangles().to_vec()).map_err(bad_press)?))
}

/// A key of a sensor, and the sensor with the values of the differences.
pub(super) struct ChangedKey {
    pub key: Key,
    pub value: f64,
    /// Each with its part of the step.
    sensors: Vec<(f64, Sensor)>,
}

impl ChangedKey {
    /// Of the sensor with this description, solved to a tolerance.
    pub fn new(text: &str, solved_to: f64, key: Key) -> Result<Self, ValidateError> {
        let (_, _, placeholder, step) = key;
        let value = VALUES.iter().find(|(name, _)| *name == placeholder).map_or(0.0, |(_, value)| *value);
        let mut sensors = Vec::new();
        for part in PARTS.into_iter().chain(PARTS.map(|part| -part)) {
            let changed = Some((placeholder, value * (1.0 + part * step)));
            sensors.push((part, sensor_of(text, changed, Some(solved_to))?));
        }
        Ok(Self { key, value, sensors })
    }

    /// The sensor whose value is changed by the one of the steps that is nearest to `moved`.
    pub fn changed_by(&self, moved: f64) -> Option<&Sensor> {
        let part = moved / (self.value * self.key.3);
        let near = self.sensors.iter().min_by(|a, b| (a.0 - part).abs().total_cmp(&(b.0 - part).abs()));
        near.map(|(_, sensor)| sensor)
    }
}

/// The largest error by each parameter.
pub(super) fn errors_of(
    case: &str,
    tolerance: f64,
    compared: impl IntoIterator<Item = Compared>,
) -> Vec<GradientErrors> {
    let mut found: BTreeMap<String, (usize, usize, f64)> = BTreeMap::new();
    for one in compared {
        let error = one.rel_error();
        let (presses, excluded, worst) = found.entry(one.parameter).or_insert((0, 0, 0.0));
        match error {
            Some(error) => {
                *presses += 1;
                *worst = if error > *worst || error.is_nan() { error } else { *worst };
            }
            None => *excluded += 1,
        }
    }
    let errors = found.into_iter().map(|(parameter, (presses, excluded, worst_rel))| GradientErrors {
        case: case.to_owned(),
        kinked: 0.0,
        tolerance,
        parameter,
        presses,
        excluded,
        worst_rel,
    });
    errors.collect()
}

/// Compares `presses` random presses.
pub(super) fn compare(
    setup: &Setup,
    presses: usize,
) -> Result<(Vec<GradientErrors>, Option<GradientCost>), ValidateError> {
    let (sensor, object) = (sensor_of(&setup.text, None, Some(setup.solved_to))?, setup.shape.object(1.0)?);
    let mut random = Random::new(setup.name.bytes().map(u64::from).sum());
    let mut trials = Vec::new();
    for _ in 0..4 * presses {
        if trials.len() == presses {
            break;
        }
        trials.extend(setup.trial(&sensor, &object, &mut random)?);
    }
    let keys = setup
        .keys
        .iter()
        .map(|key| ChangedKey::new(&setup.text, setup.solved_to, *key))
        .collect::<Result<Vec<_>, _>>()?;
    let view = sensor.optics().filter(|_| setup.image).map(|optics| ImageSlopes {
        setup,
        sensor: &sensor,
        object: &object,
        optics: optics.clone().with_sight_step(1e-7),
    });
    let of_trial = |(i, trial): (usize, &Trial)| {
        let mut random = Random::new(i as u64);
        let (mut all, kinks) = match &view {
            Some(view) => setup.compare_image(view, trial, &mut random)?,
            None if setup.image => (Vec::new(), Vec::new()),
            None => (setup.compare_object(&sensor, &object, trial, &mut random)?, Vec::new()),
        };
        for key in &keys {
            all.push(setup.compare_key(key, &sensor, &object, trial)?);
        }
        Ok((all, kinks))
    };
    let compared: Result<Vec<_>, ValidateError> = parallel(|| trials.par_iter().enumerate().map(of_trial).collect());
    let (compared, kinks): (Vec<_>, Vec<_>) = compared?.into_iter().unzip();
    let mut errors = errors_of(&setup.name, setup.tolerance, compared.into_iter().flatten());
    let kinks = kinks.concat();
    let kinked = kinks.iter().sum::<f64>() / kinks.len().max(1) as f64;
    let is_along = |parameter: &str| setup.image && (parameter == "surface" || parameter.starts_with("position"));
    errors.iter_mut().filter(|errors| is_along(&errors.parameter)).for_each(|errors| errors.kinked = kinked);
    let cost = if setup.max_ratio.is_finite() { Some(cost(setup, &trials, &object)?) } else { None };
    Ok((errors, cost))
}

pub(super) fn entry_of(gradients: &Gradients, name: &str, index: usize) -> f64 {
    gradients.get(name).and_then(|values| values.get(index)).copied().unwrap_or(f64::NAN)
}
