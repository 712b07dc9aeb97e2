//! Reads the arguments of a batch of presses and computes the presses.

use super::Press;
use crate::array::Unread;
use crate::error::Error;
use crate::motion::ObjectMotions;
use crate::pose::poses as read_poses;
use crate::reading::{ReadingData, ReadingValues};
use crate::shared_sensor::SharedSensor;
use crate::threads::Job;
use dermis::geometry::Pose;
use dermis::gpu::goals::{PressRequest, press_all};
use dermis::sensor::{Aim, Goal, PressError, Pressed, Sensor, press};
use dermis::skin;
use dermis::skin::threads::parallel;
use pyo3::prelude::*;
use rayon::prelude::*;
use std::sync::Arc;

/// One value for all presses, or one value per press.
struct Each {
    what: &'static str,
    width: usize,
    count: Option<usize>,
    values: Vec<f64>,
}

impl Each {
    fn read(value: Option<&Bound<'_, PyAny>>, what: &'static str, width: usize) -> PyResult<Option<Self>> {
        let Some(value) = value else { return Ok(None) };
        let numbers = Unread::of(value, what)?.read_rows(what)?.finite(what)?;
        let count = match (numbers.shape.as_slice(), width) {
            ([], 1) => None,
            ([n], 1) => Some(*n),
            ([w], _) if *w == width => None,
            ([n, w], _) if *w == width && width > 1 => Some(*n),
            (_, 1) => return Err(numbers.wrong_shape(what, "() or (n,)")),
            _ => return Err(numbers.wrong_shape(what, "(2,) or (n, 2)")),
        };
        Ok(Some(Self { what, width, count, values: numbers.values }))
    }

    fn at(&self, press: usize) -> &[f64] {
        let first = if self.count.is_some() { press * self.width } else { 0 };
        &self.values[first..first + self.width]
    }
}

/// Reads the arguments of `press_batch`.
pub fn read(
    poses: Option<&Bound<'_, PyAny>>,
    depth: Option<&Bound<'_, PyAny>>,
    force: Option<&Bound<'_, PyAny>>,
    at: Option<&Bound<'_, PyAny>>,
    tilt: Option<&Bound<'_, PyAny>>,
    yaw: Option<&Bound<'_, PyAny>>,
) -> PyResult<Vec<PressRequest>> {
    if let Some(poses) = poses {
        if [depth, force, at, tilt, yaw].iter().any(Option::is_some) {
            return Err(Error::new_err("give `poses`, or `depth` or `force` with `at`, `tilt`, `yaw`, and not both"));
        }
        return Ok(read_poses(poses, "poses")?.into_iter().map(PressRequest::Hold).collect());
    }
    let (depth, force) = (Each::read(depth, "depth", 1)?, Each::read(force, "force", 1)?);
    let (at, tilt, yaw) = (Each::read(at, "at", 2)?, Each::read(tilt, "tilt", 2)?, Each::read(yaw, "yaw", 1)?);
    let (goals, by_depth) = match (&depth, &force) {
        (Some(depth), None) => (depth, true),
        (None, Some(force)) => (force, false),
        _ => return Err(Error::new_err("give `poses`, or one of `depth` (m) and `force` (N)")),
    };
    let mut count: Option<(usize, &str)> = None;
    for each in [Some(goals), at.as_ref(), tilt.as_ref(), yaw.as_ref()].into_iter().flatten() {
        let Some(n) = each.count else { continue };
        match count {
            Some((known, what)) if known != n => {
                return Err(Error::new_err(format!("`{what}` is for {known} presses and `{}` for {n}", each.what)));
            }
            _ => count = Some((n, each.what)),
        }
    }
    let two = |each: &Option<Each>, i: usize| each.as_ref().map_or([0.0; 2], |each| [each.at(i)[0], each.at(i)[1]]);
    let request = |i: usize| {
        let aim =
            Aim { at_m: two(&at, i), tilt_rad: two(&tilt, i), yaw_rad: yaw.as_ref().map_or(0.0, |yaw| yaw.at(i)[0]) };
        let value = goals.at(i)[0];
        PressRequest::Press(aim, if by_depth { Goal::Depth(value) } else { Goal::Force(value) })
    };
    Ok((0..count.map_or(1, |(n, _)| n)).map(request).collect())
}

/// Computes the presses on all cores; the presses are in the order of the requests.
pub fn make(
    shared: &Arc<SharedSensor>,
    object: &Arc<skin::Object>,
    requests: &[PressRequest],
    job: &Job,
) -> Result<Vec<Press>, String> {
    let sensor = shared.sensor().map_err(|error| error.to_string())?;
    let one = |(number, request): (usize, &PressRequest)| {
        if !job.goes_on() {
            return Err("interrupted".to_owned());
        }
        let outcome = match request {
            PressRequest::Press(aim, goal) => press(sensor, object, aim, *goal),
            PressRequest::Hold(pose) => hold(sensor, object, *pose),
        };
        job.count();
        outcome.map(|pressed| of_request(shared, request, pressed)).map_err(|error| format!("press {number}: {error}"))
    };
    // Reports the error of the first failed press, whichever thread fails first.
    let all: Vec<Result<Press, String>> = parallel(|| requests.par_iter().enumerate().map(one).collect());
    all.into_iter().collect()
}

fn hold(sensor: &Sensor, object: &Arc<skin::Object>, pose: Pose) -> Result<Pressed, PressError> {
    let settled = ObjectMotions::held(object, pose).with(|motion| sensor.skin().settle(&sensor.skin().rest(), motion));
    let (touch, state) = settled?;
    Ok(Pressed::read(sensor, 0.0, pose, touch, state))
}

/// Computes presses on a copy of the sensor whose gel is on a GPU, several at once; the presses are in the order of the
/// requests.
pub fn make_on_gpu(
    shared: &Arc<SharedSensor>,
    on_gpu: &Sensor,
    object: &skin::Object,
    requests: &[PressRequest],
    job: &Job,
) -> Result<Vec<Press>, String> {
    let finish = |number: usize, pressed| of_request(shared, &requests[number], pressed);
    let made = press_all(on_gpu, object, requests, finish, &|known| job.reached(known));
    made.map_err(|error| error.to_string())?.ok_or_else(|| "interrupted".to_owned())
}

/// A press of a batch; its travel past first contact is unknown at a given pose.
fn of_request(shared: &Arc<SharedSensor>, request: &PressRequest, pressed: Pressed) -> Press {
    let travel_m = matches!(request, PressRequest::Press(..)).then_some(pressed.depth_m);
    Press::of(&with_travel(shared, pressed, travel_m))
}

/// The reading of a press.
pub fn data_of(shared: &Arc<SharedSensor>, pressed: Pressed) -> ReadingData {
    let travel_m = Some(pressed.depth_m);
    with_travel(shared, pressed, travel_m)
}

fn with_travel(shared: &Arc<SharedSensor>, pressed: Pressed, travel_m: Option<f64>) -> ReadingData {
    let Pressed { sensor_from_object, touch, reading, .. } = pressed;
    let numbers = ReadingValues { reading, frame: 0, travel_m, sensor_from_object: Some(sensor_from_object) };
    ReadingData::new(shared.clone(), numbers, touch)
}
