//! Reads the arguments of a batch of presses and computes the presses.

use super::Press;
use crate::array::Numbers;
use crate::error::Error;
use crate::motion::ObjectMotions;
use crate::pose::poses as read_poses;
use crate::reading::{ReadingData, ReadingValues};
use crate::shared_sensor::SharedSensor;
use crate::threads::Job;
use dermis::geometry::Pose;
use dermis::sensor::{Aim, Goal, Pressed, Sensor, depth_pose as pose_at, press};
use dermis::skin;
use pyo3::prelude::*;
use rayon::prelude::*;
use std::sync::Arc;

/// One press of a batch.
pub enum PressRequest {
    /// Along -z to a depth or a force.
    Press(Aim, Goal),
    /// At a given pose.
    Hold(Pose),
}

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
        let numbers = Numbers::read(value, what)?.finite(what)?;
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

/// True if no press is force-controlled, so that the final poses are known in advance.
pub fn have_poses(requests: &[PressRequest]) -> bool {
    requests.iter().all(|request| !matches!(request, PressRequest::Press(_, Goal::Force(_))))
}

/// Final pose of the object of a press to a depth, and its travel (m) past first contact.
pub fn depth_pose(sensor: &Sensor, object: &skin::Object, request: &PressRequest) -> Result<(Pose, f64), String> {
    match request {
        PressRequest::Press(aim, Goal::Depth(depth_m)) => {
            let pose = pose_at(sensor, object, aim, *depth_m).map_err(|error| error.to_string())?;
            Ok((pose, *depth_m))
        }
        PressRequest::Press(_, Goal::Force(_)) => {
            Err("force-controlled presses run on the CPU only: give `depth` or `poses`, or use the device cpu".into())
        }
        PressRequest::Hold(pose) => Ok((*pose, f64::NAN)),
    }
}

/// Computes the presses on all cores; the presses are in the order of the requests.
pub fn make(
    shared: &Arc<SharedSensor>,
    object: &Arc<skin::Object>,
    requests: &[PressRequest],
    job: &Job,
) -> Result<Vec<Press>, String> {
    let one = |(number, request): (usize, &PressRequest)| {
        if !job.goes_on() {
            return Err("interrupted".to_owned());
        }
        let outcome = match request {
            PressRequest::Press(aim, goal) => by_aim(shared, object, aim, *goal),
            PressRequest::Hold(pose) => by_pose(shared, object, *pose),
        };
        job.count();
        outcome.map(|data| Press::of(&data)).map_err(|error| format!("press {number}: {error}"))
    };
    // Reports the error of the first failed press, whichever thread fails first.
    let all: Vec<Result<Press, String>> = requests.par_iter().enumerate().map(one).collect();
    all.into_iter().collect()
}

fn by_aim(shared: &Arc<SharedSensor>, object: &skin::Object, aim: &Aim, goal: Goal) -> Result<ReadingData, String> {
    let sensor = shared.sensor().map_err(|error| error.to_string())?;
    Ok(data_of(shared, press(sensor, object, aim, goal).map_err(|error| error.to_string())?))
}

fn by_pose(shared: &Arc<SharedSensor>, object: &Arc<skin::Object>, pose: Pose) -> Result<ReadingData, String> {
    let sensor = shared.sensor().map_err(|error| error.to_string())?;
    let settled = ObjectMotions::held(object, pose).with(|motion| sensor.skin().settle(&sensor.skin().rest(), motion));
    let (touch, _) = settled.map_err(|error| error.to_string())?;
    Ok(read_touch(shared, sensor, touch, pose, None))
}

/// The reading of a touch at a pose of the object, after a travel (m) past first contact where it is known.
fn read_touch(
    shared: &Arc<SharedSensor>,
    sensor: &Sensor,
    mut touch: skin::Touch,
    pose: Pose,
    travel_m: Option<f64>,
) -> ReadingData {
    let reading = sensor.read(&touch);
    touch.warnings.extend_from_slice(&reading.warnings);
    let numbers = ReadingValues { reading, frame: 0, travel_m, sensor_from_object: Some(pose) };
    ReadingData::new(shared.clone(), numbers, touch)
}

/// Presses between two checks for Ctrl-C.
const TOGETHER: usize = 64;

/// Computes presses at poses or to depths on a copy of the sensor whose gel is on a GPU, several at once; the presses are in
/// the order of the requests.
pub fn make_on_gpu(
    shared: &Arc<SharedSensor>,
    on_gpu: &Sensor,
    object: &skin::Object,
    requests: &[PressRequest],
    job: &Job,
) -> Result<Vec<Press>, String> {
    let mut presses = Vec::with_capacity(requests.len());
    for group in requests.chunks(TOGETHER) {
        if !job.goes_on() {
            return Err("interrupted".to_owned());
        }
        let failed = |place: usize, error: String| format!("press {}: {error}", presses.len() + place);
        let pose = |(place, request)| depth_pose(on_gpu, object, request).map_err(|error| failed(place, error));
        let poses: Vec<_> = group.par_iter().enumerate().map(pose).collect();
        let poses = poses.into_iter().collect::<Result<Vec<_>, _>>()?;
        let targets: Vec<_> = poses.iter().map(|(pose, _)| [skin::Target::at_rest(object, *pose)]).collect();
        let motions: Vec<_> = targets.iter().map(|targets| skin::Motion { targets }).collect();
        let rest = on_gpu.skin().rest();
        let settled = on_gpu.skin().settle_all(&motions.iter().map(|motion| (&rest, motion)).collect::<Vec<_>>());
        let made = settled.into_iter().zip(poses).enumerate().map(|(place, (settled, (pose, travel_m)))| {
            let (touch, _) = settled.map_err(|error| failed(place, error.to_string()))?;
            let travel_m = Some(travel_m).filter(|travel_m| !travel_m.is_nan());
            Ok(Press::of(&read_touch(shared, on_gpu, touch, pose, travel_m)))
        });
        let made = made.collect::<Result<Vec<_>, String>>()?;
        made.iter().for_each(|_| job.count());
        presses.extend(made);
    }
    Ok(presses)
}

/// The reading of a press.
pub fn data_of(shared: &Arc<SharedSensor>, pressed: Pressed) -> ReadingData {
    let Pressed { depth_m, sensor_from_object, touch, reading, .. } = pressed;
    let numbers =
        ReadingValues { reading, frame: 0, travel_m: Some(depth_m), sensor_from_object: Some(sensor_from_object) };
    ReadingData::new(shared.clone(), numbers, touch)
}
