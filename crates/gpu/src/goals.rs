//! Presses to depths and forces, many at once.
//!
//! The host searches the depth of every press by [`PressSearch`], as for a press on the CPU; each batch contains one trial
//! of all presses whose depth is not known yet.

use crate::GpuError;
use dermis_geometry::Pose;
use dermis_sensor::{Aim, Goal, PressError, PressSearch, Pressed, Sensor, Trial};
use dermis_skin::{Motion, Object, State, Target, Touch};
use rayon::prelude::*;

/// One press of a batch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PressRequest {
    /// Along −z to a depth or a force.
    Press(Aim, Goal),
    /// At a given pose.
    Hold(Pose),
}

/// Asks whether a batch goes on, with the number of presses whose depth is known.
pub type GoesOn<'a> = &'a (dyn Fn(usize) -> bool + Sync);

impl PressRequest {
    fn search(&self, sensor: &Sensor, object: &Object) -> Result<PressSearch, PressError> {
        match self {
            Self::Press(aim, goal) => PressSearch::new(sensor, object, aim, *goal),
            Self::Hold(pose) => Ok(PressSearch::held(*pose)),
        }
    }
}

/// Finds the final pose of the object in each press, and its travel (m) past first contact, zero for a given pose.
///
/// `forces_at` computes the forces (N) along −z on the untouched sensor with the object at many poses, with a relative
/// error of `precision`. Every trial starts from rest: where friction depends on the path, the force is that of a press in
/// one increment. Returns `None` if `goes_on` returned false.
pub fn final_poses(
    sensor: &Sensor,
    object: &Object,
    requests: &[PressRequest],
    precision: f64,
    forces_at: &mut dyn FnMut(&[Pose]) -> Result<Vec<f64>, GpuError>,
    goes_on: GoesOn<'_>,
) -> Result<Option<Vec<(Pose, f64)>>, GpuError> {
    let start = |request: &PressRequest| {
        let search = || Ok(request.search(sensor, object)?.from_rest(precision));
        goes_on(0).then(search)
    };
    let started: Option<Vec<Result<PressSearch, PressError>>> = requests.par_iter().map(start).collect();
    let Some(mut searches) = started else { return Ok(None) };
    // The error of a batch is that of its first press that fails: later presses do not matter.
    let failed = searches.iter().position(Result::is_err);
    searches.truncate(failed.map_or(searches.len(), |first| first + 1));
    loop {
        let open = searches.iter_mut().enumerate().filter_map(|(i, search)| Some((i, search.as_mut().ok()?)));
        let (numbers, mut open): (Vec<usize>, Vec<_>) = open.filter(|(_, search)| !search.is_known()).unzip();
        if !goes_on(requests.len() - open.len()) {
            return Ok(None);
        }
        if open.is_empty() {
            break;
        }
        let poses: Vec<Pose> = open.iter().filter_map(|search| Some(search.trial()?.0)).collect();
        let forces_n = forces_at(&poses).map_err(|error| match error {
            GpuError::TooDeep { press, name, depth_mm, max_mm } => {
                GpuError::TooDeep { press: numbers[press], name, depth_mm, max_mm }
            }
            error => error,
        })?;
        open.iter_mut().zip(forces_n).for_each(|(search, force_n)| {
            search.found(force_n);
        });
    }
    let end = |(press, search): (usize, Result<PressSearch, PressError>)| {
        search.and_then(|search| search.end(sensor, object)).map_err(|error| GpuError::Press { press, error })
    };
    searches.into_iter().enumerate().map(end).collect::<Result<_, _>>().map(Some)
}

/// Number of presses that are searched together, each with a state of the skin.
const TOGETHER: usize = 64;

/// A press that is being searched.
struct Searched {
    search: PressSearch,
    /// The state from which the next trial starts.
    state: State,
    best: Option<(Pose, f64, Touch, State)>,
}

/// Presses an object many times on the untouched sensor, as [`dermis_sensor::press`] does, with the trials of several
/// presses in one [`dermis_skin::Skin::settle_all`]. `finish` converts each press, given its number; the travel of a press
/// at a given pose is zero. Returns `None` if `goes_on` returned false.
pub fn press_all<T>(
    sensor: &Sensor,
    object: &Object,
    requests: &[PressRequest],
    finish: impl Fn(usize, Pressed) -> T,
    goes_on: GoesOn<'_>,
) -> Result<Option<Vec<T>>, GpuError> {
    let mut all = Vec::with_capacity(requests.len());
    for group in requests.chunks(TOGETHER) {
        let first = all.len();
        let goes_on = |known: usize| goes_on(first + known);
        let Some(pressed) = press_group(sensor, object, group, &goes_on) else { return Ok(None) };
        for (press, pressed) in (first..).zip(pressed) {
            all.push(finish(press, pressed.map_err(|error| GpuError::Press { press, error })?));
        }
    }
    Ok(Some(all))
}

fn press_group(
    sensor: &Sensor,
    object: &Object,
    group: &[PressRequest],
    goes_on: GoesOn<'_>,
) -> Option<Vec<Result<Pressed, PressError>>> {
    let start = |request: &PressRequest| {
        let search = request.search(sensor, object)?;
        Ok(Searched { search, state: sensor.skin().rest(), best: None })
    };
    let mut all: Vec<Result<Searched, PressError>> = group.par_iter().map(start).collect();
    loop {
        let trial = |(i, one): (usize, &Result<Searched, PressError>)| Some((i, one.as_ref().ok()?.search.trial()?));
        let trials: Vec<(usize, (Pose, f64))> = all.iter().enumerate().filter_map(trial).collect();
        if !goes_on(group.len() - trials.len()) {
            return None;
        }
        if trials.is_empty() {
            break;
        }
        let targets: Vec<_> = trials.iter().map(|(_, (pose, _))| [Target::at_rest(object, *pose)]).collect();
        let motions: Vec<_> = targets.iter().map(|targets| Motion { targets }).collect();
        let states = trials.iter().filter_map(|(i, _)| Some(&all[*i].as_ref().ok()?.state));
        let settled = sensor.skin().settle_all(&states.zip(&motions).collect::<Vec<_>>());
        for ((i, (pose, depth_m)), settled) in trials.into_iter().zip(settled) {
            match (settled, &mut all[i]) {
                (Err(error), one) => *one = Err(error.into()),
                (Ok((touch, state)), Ok(one)) => match one.search.found(-touch.on_sensor.force.z) {
                    Trial::Weaker => one.state = state,
                    Trial::Best => one.best = Some((pose, depth_m, touch, state)),
                },
                (Ok(_), Err(_)) => {}
            }
        }
    }
    let read = |one: Result<Searched, PressError>| {
        let Searched { search, best, .. } = one?;
        let (pose, depth_m, touch, state) = best.ok_or_else(|| search.too_strong(sensor, object))?;
        Ok(Pressed::read(sensor, depth_m, pose, touch, state))
    };
    Some(all.into_par_iter().map(read).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use dermis_geometry::{Primitive, shapes};
    use dermis_sensor::{SensorSpec, press, press_to_pose};
    use dermis_skin::Layer;
    use std::sync::atomic::{AtomicUsize, Ordering};

    fn requests() -> Vec<PressRequest> {
        let aim = |i: f64| Aim { at_m: [0.5e-3 * i, -0.3e-3 * i], tilt_rad: [0.02 * i, 0.01], yaw_rad: 0.2 * i };
        let press = |(i, goal)| PressRequest::Press(aim(f64::from(i)), goal);
        let goals = [0.02, 0.6, 1.5].map(Goal::Force).into_iter().chain([Goal::Depth(0.4e-3)]);
        (0..).zip(goals).map(press).collect()
    }

    fn one(sensor: &Sensor, object: &Object, request: &PressRequest) -> Pressed {
        match request {
            PressRequest::Press(aim, goal) => press(sensor, object, aim, *goal).unwrap(),
            PressRequest::Hold(pose) => press_to_pose(sensor, object, pose).unwrap(),
        }
    }

    /// A batch on the skin of the CPU has the same bytes as single presses: springs, and a layer whose friction depends on
    /// the trials.
    #[test]
    fn presses_of_a_batch_are_single_presses() {
        let ball = Object::of_primitive(Primitive::Sphere { radius_m: 5e-3 }, 1e-3).unwrap();
        for name in ["uji-foam-14x6", "wts0614-layer"] {
            let sensor = SensorSpec::find(name).unwrap().0.build(None).unwrap();
            let mut requests = requests();
            let known = AtomicUsize::new(0);
            let goes_on = |count: usize| {
                assert!(known.swap(count, Ordering::Relaxed) <= count);
                true
            };
            let all = press_all(&sensor, &ball, &requests, |number, pressed| (number, pressed), &goes_on);
            for ((request, (number, pressed)), place) in requests.iter().zip(all.unwrap().unwrap()).zip(0..) {
                let alone = one(&sensor, &ball, request);
                assert_eq!((number, pressed.depth_m, &pressed.touch), (place, alone.depth_m, &alone.touch), "{name}");
                assert_eq!((&pressed.reading, &pressed.state), (&alone.reading, &alone.state), "{name}");
            }
            assert_eq!(known.into_inner(), requests.len());
            requests.insert(1, PressRequest::Press(Aim::default(), Goal::Force(1e5)));
            let refused = press_all(&sensor, &ball, &requests, |_, _| (), &|_| true).unwrap_err().to_string();
            assert!(refused.starts_with("press 1: sensor") && refused.contains("cannot carry 100000 N"), "{refused}");
            assert_eq!(press_all(&sensor, &ball, &requests, |_, _| (), &|_| false), Ok(None));
        }
    }

    /// Trials from rest end at the depths of single presses: to the last digits on springs, on a layer to the tolerance of
    /// its solver, with friction to a thousandth.
    #[test]
    fn final_poses_are_those_of_single_presses() {
        let block = Object::new(shapes::cuboid(dermis_geometry::Vec3::new(5e-3, 4e-3, 6e-3)).unwrap());
        for (name, mu, precision, off) in
            [("uji-foam-14x6", 0.5, 0.0, 1e-9), ("wts0614-layer", 0.0, 1e-6, 1e-4), ("wts0614-layer", 1.0, 1e-6, 5e-3)]
        {
            let (sensor, object) = (SensorSpec::find(name).unwrap().0.build(None).unwrap(), block.clone());
            let object = Object { mu: Some(mu), ..object };
            let force_at = |pose: &Pose| -press_to_pose(&sensor, &object, pose).unwrap().touch.on_sensor.force.z;
            let mut batches = Vec::new();
            let mut forces_at = |poses: &[Pose]| {
                batches.push(poses.len());
                Ok(poses.iter().map(force_at).collect())
            };
            let mut requests = requests();
            let hold = Pose::from_translation(dermis_geometry::Vec3::new(0.0, 0.0, 2e-3));
            requests.push(PressRequest::Hold(hold));
            let found = final_poses(&sensor, &object, &requests, precision, &mut forces_at, &|_| true);
            let found = found.unwrap().unwrap();
            assert_eq!((found.len(), found[4]), (5, (hold, 0.0)));
            for (request, (pose, depth_m)) in requests.iter().zip(&found).take(4) {
                let alone = one(&sensor, &object, request);
                assert!((depth_m / alone.depth_m - 1.0).abs() < off, "{name}: {depth_m} and {}", alone.depth_m);
                assert!((pose.translation - alone.sensor_from_object.translation).length() < off * 1e-3, "{name}");
                if let PressRequest::Press(_, Goal::Force(goal_n)) = request {
                    let force_n = force_at(pose);
                    assert!((force_n / goal_n - 1.0).abs() < precision.max(1e-9), "{name}: {force_n} of {goal_n} N");
                }
            }
            // Only the presses to forces take part, and only until they are known.
            assert!(batches[0] == 3 && batches.iter().rev().is_sorted() && batches.len() < 20, "{name}: {batches:?}");
            assert_eq!(sensor.skin_as::<Layer>().is_some(), name.contains("layer"));
        }
    }

    /// The error is that of the first press that fails, whichever search ends first.
    #[test]
    fn the_first_press_that_fails_is_named() {
        let sensor = SensorSpec::find("uji-foam-14x6").unwrap().0.build(None).unwrap();
        let ball = Object::of_primitive(Primitive::Sphere { radius_m: 5e-3 }, 1e-3).unwrap();
        let mut forces_at = |poses: &[Pose]| -> Result<Vec<f64>, GpuError> {
            Ok(poses.iter().map(|pose| 1e3 * (5e-3 - pose.translation.z)).collect())
        };
        let aside = Aim { at_m: [1.0, 0.0], ..Aim::default() };
        let mut requests =
            [(Aim::default(), 0.5), (Aim::default(), 1e5), (Aim::default(), 1.0), (aside, 1.0), (aside, -1.0)]
                .map(|(aim, force_n)| PressRequest::Press(aim, Goal::Force(force_n)));
        let mut message = |requests: &[PressRequest]| {
            final_poses(&sensor, &ball, requests, 0.0, &mut forces_at, &|_| true).unwrap_err().to_string()
        };
        let refused = message(&requests);
        assert!(refused.starts_with("press 1: ") && refused.contains("cannot carry 100000 N"), "{refused}");
        requests[1] = requests[0];
        let refused = message(&requests);
        assert!(refused.starts_with("press 3: ") && refused.contains("is not above sensor"), "{refused}");
        let mut too_deep =
            |_: &[Pose]| Err(GpuError::TooDeep { press: 1, name: "it".to_owned(), depth_mm: 2.0, max_mm: 1.0 });
        let requests = [requests[0], PressRequest::Press(Aim::default(), Goal::Depth(1e-3)), requests[2]];
        let refused = final_poses(&sensor, &ball, &requests, 0.0, &mut too_deep, &|_| true).unwrap_err().to_string();
        assert!(refused.starts_with("press 2: a depth of 2 mm"), "{refused}");
    }
}
