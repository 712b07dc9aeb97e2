//! The presses of a batch.

use super::Batch;
use crate::array::Numbers;
use crate::device::Device;
use crate::error::Error;
use crate::motion::Moving;
use crate::pose::poses as read_poses;
use crate::reading::{Kept, Values};
use dermis::geometry::Pose;
use dermis::sensor::{Aim, Goal, Pressed, Sensor, depth_pose as pose_at, press};
use dermis::skin;
use pyo3::prelude::*;
use rayon::prelude::*;
use std::sync::Arc;

/// What is wanted of one.
pub enum Wanted {
    /// Along the normal.
    Press(Aim, Goal),
    /// Held somewhere.
    Hold(Pose),
}

/// A value for all presses, or one for each.
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
) -> PyResult<Vec<Wanted>> {
    if let Some(poses) = poses {
        if [depth, force, at, tilt, yaw].iter().any(Option::is_some) {
            return Err(Error::new_err("give `poses`, or `depth` or `force` with `at`, `tilt`, `yaw`, and not both"));
        }
        return Ok(read_poses(poses, "poses")?.into_iter().map(Wanted::Hold).collect());
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
    let wanted = |i: usize| {
        let aim =
            Aim { at_m: two(&at, i), tilt_rad: two(&tilt, i), yaw_rad: yaw.as_ref().map_or(0.0, |yaw| yaw.at(i)[0]) };
        let value = goals.at(i)[0];
        Wanted::Press(aim, if by_depth { Goal::Depth(value) } else { Goal::Force(value) })
    };
    Ok((0..count.map_or(1, |(n, _)| n)).map(wanted).collect())
}

/// True where all are of a depth or held somewhere: where the object ends is known before anything is pressed.
pub fn are_places(wanted: &[Wanted]) -> bool {
    wanted.iter().all(|wanted| !matches!(wanted, Wanted::Press(_, Goal::Force(_))))
}

/// Where the object of a press to a depth ends, and how far (m) that is past first contact.
pub fn depth_pose(sensor: &Sensor, object: &skin::Object, wanted: &Wanted) -> Result<(Pose, f64), String> {
    match wanted {
        Wanted::Press(aim, Goal::Depth(depth_m)) => {
            let pose = pose_at(sensor, object, aim, *depth_m).map_err(|error| error.to_string())?;
            Ok((pose, *depth_m))
        }
        Wanted::Press(_, Goal::Force(_)) => {
            Err("presses to a force cannot be made on a GPU: give `depth` or `poses`, or use the device cpu".into())
        }
        Wanted::Hold(pose) => Ok((*pose, f64::NAN)),
    }
}

/// Makes them, on all cores; the readings stand in the order of what was wanted.
pub fn make(device: &Arc<Device>, object: &Arc<skin::Object>, wanted: &[Wanted]) -> PyResult<Batch> {
    let one = |(number, wanted): (usize, &Wanted)| {
        let outcome = match wanted {
            Wanted::Press(aim, goal) => by_aim(device, object, aim, *goal),
            Wanted::Hold(place) => by_pose(device, object, *place),
        };
        outcome.map_err(|error| Error::new_err(format!("press {number}: {error}"))).map(Arc::new)
    };
    // The first that fails is told, whichever thread meets one first.
    let all: Vec<PyResult<Arc<Kept>>> = wanted.par_iter().enumerate().map(one).collect();
    Ok(Batch { all: all.into_iter().collect::<PyResult<_>>()?, device: device.clone() })
}

type Made = Result<Kept, String>;

fn by_aim(device: &Arc<Device>, object: &skin::Object, aim: &Aim, goal: Goal) -> Made {
    let sensor = device.sensor().map_err(|error| error.to_string())?;
    Ok(kept(device, press(sensor, object, aim, goal).map_err(|error| error.to_string())?))
}

fn by_pose(device: &Arc<Device>, object: &Arc<skin::Object>, place: Pose) -> Made {
    let sensor = device.sensor().map_err(|error| error.to_string())?;
    let settled = Moving::held(object, place).with(|motion| sensor.skin().settle(&sensor.skin().rest(), motion));
    let (touch, _) = settled.map_err(|error| error.to_string())?;
    let reading = sensor.read(&touch);
    let numbers = Values { reading, frame: 0, travel_m: None, sensor_from_object: Some(place) };
    Ok(Kept::new(device.clone(), numbers, touch))
}

/// What is kept of a press.
pub fn kept(device: &Arc<Device>, pressed: Pressed) -> Kept {
    let Pressed { depth_m, sensor_from_object, touch, reading, .. } = pressed;
    let numbers = Values { reading, frame: 0, travel_m: Some(depth_m), sensor_from_object: Some(sensor_from_object) };
    Kept::new(device.clone(), numbers, touch)
}
