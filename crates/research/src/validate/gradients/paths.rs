//! Gradients of paths on springs against differences.

use super::comparison::{ChangedKey, Compared, entry_of, errors_of, random_moves, with_moved_vertices};
use super::differences::extrapolated;
use super::sensors::{TIGHT, sensor_of, springs_with_coulomb, springs_with_lugre};
use super::{GradientCost, GradientErrors, Key, Shape, Terms, Touched};
use super::{add_load_terms, bad_press, times_us, touched, weights_of};
use crate::validate::ValidateError;
use dermis::geometry::{Pose, Primitive, Quat, Random, Twist, Vec3};
use dermis::sensor::{Aim, Cotangents, PathGradients, Sensor, TouchPath, depth_pose};
use dermis::skin::Object;
use dermis::skin::threads::parallel;
use rayon::prelude::*;

/// Number of steps of a path, and the time (s) of one.
const STEPS: usize = 12;
const DT_S: f64 = 2e-3;
/// First steps of the differences: of positions (m), and of angles and relative sizes.
const STEP_M: f64 = 2e-8;
const STEP: f64 = 5e-6;
/// First steps of the differences of velocities (m/s) and angular velocities (rad/s).
const STEP_M_PER_S: f64 = 1e-6;
const STEP_RAD_PER_S: f64 = 2e-4;
const TOLERANCE: f64 = 1e-6;

/// A sensor with an object that moves on it.
pub(super) struct PathSetup {
    pub name: String,
    text: String,
    shape: Shape,
    keys: Vec<Key>,
}

/// How the object moves: its bristles hold, it slides, or it rolls.
#[derive(Clone, Copy)]
enum Motion {
    Sticks,
    Slides,
    Rolls,
}

/// One random path with random weights of the readings of all steps.
struct PathTrial {
    motion: Vec<(Pose, Twist)>,
    weights: Vec<Cotangents>,
    gradients: PathGradients,
    contact: Vec<Touched>,
}

pub(super) fn setups() -> Vec<PathSetup> {
    let shapes = [
        ("sphere", Shape::Of(Primitive::Sphere { radius_m: 5e-3 })),
        ("ellipsoid", Shape::Of(Primitive::Ellipsoid { semi_axes_m: Vec3::new(7e-3, 5e-3, 4e-3) })),
        ("cuboid", Shape::Of(Primitive::Cuboid { half_m: Vec3::new(4e-3, 3e-3, 5e-3) })),
        ("mesh", Shape::Mesh(5e-3, 2e-3)),
    ];
    let common = [("stiffness", 0, "STIFFNESS", 1e-4), ("damping", 0, "DAMPING", 1e-3), ("gain", 0, "GAIN", 1e-3)];
    let lugre = [
        ("sigma0", 0, "BRISTLES", 1e-4),
        ("sigma1", 0, "BRUSHING", 1e-3),
        ("viscous", 0, "VISCOUS", 1e-3),
        ("mu_static", 0, "STATIC", 1e-4),
        ("mu_dynamic", 0, "DYNAMIC", 1e-3),
        ("stribeck_speed", 0, "STRIBECK", 1e-3),
    ];
    let coulomb = [("mu", 0, "FRICTION", 1e-3), ("regularisation_speed", 0, "CREEP", 1e-4)];
    let of = |friction: &str, text: String, keys: &[Key]| {
        let keys: Vec<Key> = common.iter().chain(keys).copied().collect();
        let one = |(shape_name, shape): (&str, Shape)| {
            let name = format!("springs in time, {friction}, {shape_name}");
            PathSetup { name, text: text.clone(), shape, keys: keys.clone() }
        };
        shapes.map(one)
    };
    let with_lugre = of("lugre", springs_with_lugre(), &lugre);
    let with_coulomb = of("coulomb", springs_with_coulomb(), &coulomb);
    with_lugre.into_iter().chain(with_coulomb).collect()
}

impl PathSetup {
    /// Compares `paths` random paths.
    pub fn compare(&self, paths: usize) -> Result<(Vec<GradientErrors>, GradientCost), ValidateError> {
        let (sensor, object) = (sensor_of(&self.text, None, None)?, self.shape.object(1.0)?);
        let mut random = Random::new(self.name.bytes().map(u64::from).sum());
        let motions = [Motion::Sticks, Motion::Slides, Motion::Rolls];
        let trials = (0..paths).map(|i| self.trial(&sensor, &object, motions[i % 3], &mut random));
        let trials = trials.collect::<Result<Vec<_>, _>>()?;
        let keys = self.keys.iter().map(|key| ChangedKey::new(&self.text, TIGHT, *key));
        let keys = keys.collect::<Result<Vec<_>, _>>()?;
        let of_trial = |(i, trial): (usize, &PathTrial)| {
            let mut random = Random::new(i as u64);
            let mut all = compare_motion(&sensor, &object, trial, &mut random)?;
            all.extend(self.compare_sizes(&sensor, &object, trial, &mut random)?);
            for key in &keys {
                all.push(compare_key(key, &sensor, &object, trial)?);
            }
            Ok(all)
        };
        let compared: Result<Vec<_>, ValidateError> =
            parallel(|| trials.par_iter().enumerate().map(of_trial).collect());
        let errors = errors_of(&self.name, TOLERANCE, compared?.into_iter().flatten());
        let forward = |trial: &PathTrial| path_of(&sensor, &object, &trial.motion);
        let walked = trials.iter().map(forward).collect::<Result<Vec<_>, _>>()?;
        let backward =
            |trial: &PathTrial, path: &TouchPath| sensor.vjp_path(&object, path, &trial.weights).map_err(bad_press);
        let [press_us, vjp_us] = times_us(&trials, &walked, forward, backward)?;
        let cost = GradientCost { case: self.name.clone(), press_us, vjp_us, ratio: vjp_us / press_us, max_ratio: 3.0 };
        Ok((errors, cost))
    }

    fn trial(
        &self,
        sensor: &Sensor,
        object: &Object,
        motion: Motion,
        random: &mut Random,
    ) -> Result<PathTrial, ValidateError> {
        let mut any = |size: f64| random.between(-size, size);
        let aim = Aim { at_m: [any(2e-3), any(2e-3)], tilt_rad: [any(0.3), any(0.3)], yaw_rad: any(3.0) };
        let depth_m = 0.12 * sensor.skin().max_depth_m() * (2.0 + any(1.0));
        let mut pose = depth_pose(sensor, object, &aim, depth_m).map_err(bad_press)?;
        let heading = Vec3::new(any(1.0), any(1.0), 0.0).normalize_or(Vec3::X);
        let mut motions = Vec::new();
        for _ in 0..STEPS {
            // Slow sliding beside all motions, and presses and lifts of some millimetres a second.
            let mut linear = Vec3::new(any(5e-4), any(5e-4), any(4e-3));
            let mut angular = Vec3::new(any(0.1), any(0.1), any(0.3));
            match motion {
                Motion::Sticks => linear += heading * (1.5e-3 + any(1e-3)),
                Motion::Slides => linear += heading * (0.05 + any(0.03)),
                Motion::Rolls => {
                    let spin = heading * (5.0 + any(3.0));
                    // The lowest point is at rest.
                    linear += spin.cross(Vec3::Z * pose.translation.z);
                    angular += spin;
                }
            }
            // From the object's origin to that of the sensor.
            motions.push((pose, Twist::new(linear, angular).moved(-pose.translation)));
            pose.translation += linear * DT_S;
            pose.rotation = Quat::from_scaled_axis(angular * DT_S) * pose.rotation;
        }
        let weights: Vec<Cotangents> = (0..STEPS).map(|_| weights_of(sensor, random)).collect();
        let path = path_of(sensor, object, &motions)?;
        let gradients = sensor.vjp_path(object, &path, &weights).map_err(bad_press)?;
        let contact = terms(sensor, object, &motions, &weights)?.contact;
        Ok(PathTrial { motion: motions, weights, gradients, contact })
    }

    /// The derivatives by the sizes of the object, and along random motions of the vertices of a mesh.
    fn compare_sizes(
        &self,
        sensor: &Sensor,
        object: &Object,
        trial: &PathTrial,
        random: &mut Random,
    ) -> Result<Vec<Compared>, ValidateError> {
        let PathTrial { motion, weights, gradients, contact } = trial;
        let at = |step: f64| terms(sensor, &self.shape.object(1.0 + step)?, motion, weights);
        let got = entry_of(&gradients.whole, "scale", 0);
        let truth = extrapolated(contact, STEP, LIMITS, at)?;
        let mut all = vec![Compared { parameter: "scale".to_owned(), got, truth }];
        if let Some(by_vertices) = gradients.whole.by_vertices(object) {
            let moves = random_moves(object, random);
            let at = |step: f64| terms(sensor, &with_moved_vertices(object, &moves, step)?, motion, weights);
            let got = by_vertices.iter().zip(&moves).map(|(by, along)| by.dot(*along)).sum();
            let truth = extrapolated(contact, STEP_M, LIMITS, at)?;
            all.push(Compared { parameter: "vertices".to_owned(), got, truth });
        }
        for (name, index, value, with) in self.shape.sizes() {
            let at = |step: f64| terms(sensor, &with(value + step).object(1.0)?, motion, weights);
            let got = entry_of(&gradients.whole, name, index);
            let truth = extrapolated(contact, STEP * value, LIMITS, at)?;
            all.push(Compared { parameter: format!("{name} {index}"), got, truth });
        }
        Ok(all)
    }
}

/// Differences that are not certain to a fraction of the tolerance decide nothing; those below rounding are of a constant.
const LIMITS: (f64, f64) = (0.25 * TOLERANCE, 100.0 * TIGHT);

/// The derivatives along random changes of the poses and velocities of all steps.
fn compare_motion(
    sensor: &Sensor,
    object: &Object,
    trial: &PathTrial,
    random: &mut Random,
) -> Result<Vec<Compared>, ValidateError> {
    let PathTrial { motion, weights, gradients, contact } = trial;
    let along: Vec<Vec3> = motion.iter().map(|_| random.direction()).collect();
    let names = ["position", "rotation", "velocity", "angular velocity"];
    let steps = [STEP_M, STEP, STEP_M_PER_S, STEP_RAD_PER_S];
    let mut all = Vec::new();
    for (kind, (name, step)) in names.into_iter().zip(steps).enumerate() {
        let at = |step: f64| {
            let moved: Vec<_> = motion.iter().zip(&along).map(|(one, by)| moved(*one, kind, *by * step)).collect();
            terms(sensor, object, &moved, weights)
        };
        let by = gradients.steps.iter().map(|by| [by.position, by.rotation, by.linear, by.angular][kind]);
        let got = by.zip(&along).map(|(by, along)| by.dot(*along)).sum();
        let truth = extrapolated(contact, step, LIMITS, at)?;
        all.push(Compared { parameter: name.to_owned(), got, truth });
    }
    Ok(all)
}

/// Pose and velocity with a change of one of: position, rotation, velocity, angular velocity.
fn moved((mut pose, mut velocity): (Pose, Twist), kind: usize, by: Vec3) -> (Pose, Twist) {
    match kind {
        0 => pose.translation += by,
        1 => pose.rotation = Quat::from_scaled_axis(by) * pose.rotation,
        2 => velocity.linear += by,
        _ => velocity.angular += by,
    }
    (pose, velocity)
}

/// The derivative by a key of the sensor.
fn compare_key(
    key: &ChangedKey,
    sensor: &Sensor,
    object: &Object,
    trial: &PathTrial,
) -> Result<Compared, ValidateError> {
    let PathTrial { motion, weights, gradients, contact } = trial;
    let (name, _, _, step) = key.key;
    let at = |moved: f64| terms(key.changed_by(moved).unwrap_or(sensor), object, motion, weights);
    // The gain of all taxels changes together.
    let got = gradients.whole.get(name).map_or(f64::NAN, |all| all.iter().sum());
    let truth = extrapolated(contact, key.value * step, LIMITS, at)?;
    Ok(Compared { parameter: name.to_owned(), got, truth })
}

fn path_of(sensor: &Sensor, object: &Object, motion: &[(Pose, Twist)]) -> Result<TouchPath, ValidateError> {
    sensor.touch_path(&sensor.skin().rest(), object, motion, DT_S).map_err(bad_press)
}

/// Everything that the sensor reads in all steps, each with its weight.
fn terms(
    sensor: &Sensor,
    object: &Object,
    motion: &[(Pose, Twist)],
    weights: &[Cotangents],
) -> Result<Terms, ValidateError> {
    let path = path_of(sensor, object, motion)?;
    let mut all = Terms { values: Vec::new(), contact: Vec::new() };
    for ((step, reading), by) in path.steps.iter().zip(&path.readings).zip(weights) {
        add_load_terms(&mut all.values, &step.touch, reading, by);
        all.contact.extend(touched(sensor, object, &step.sensor_from_object, &step.touch));
    }
    Ok(all)
}
