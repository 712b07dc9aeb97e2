//! Presses to depths and forces, many at once.
//!
//! The host searches the depth of every press by [`PressSearch`], as for a press on the CPU; each batch contains one trial
//! of all presses whose depth is not known yet.

use crate::GpuError;
use dermis_geometry::Pose;
use dermis_sensor::{Aim, Goal, PressError, PressSearch, Pressed, Sensor, Trial};
use dermis_skin::threads::parallel;
use dermis_skin::{Motion, Object, State, Target, Touch, Warning};
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

/// Computes the force (N) along −z on the untouched sensor with the object at each pose.
pub type ForcesAt<'a> = &'a mut dyn FnMut(&[Pose]) -> Result<Vec<f64>, GpuError>;

impl PressRequest {
    fn search(&self, sensor: &Sensor, object: &Object) -> Result<PressSearch, PressError> {
        match self {
            Self::Press(aim, goal) => PressSearch::new(sensor, object, aim, *goal),
            Self::Hold(pose) => Ok(PressSearch::held(*pose)),
        }
    }
}

/// Where presses end.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FinalPoses {
    /// The final pose of the object in each press, and its travel (m) past first contact, zero for a given pose.
    pub poses: Vec<(Pose, f64)>,
    /// Warnings of presses that miss their force.
    pub warnings: Vec<Warning>,
}

/// Finds the final pose of the object in each press.
///
/// `forces_at` computes the forces (N) along −z on the untouched sensor with the object at many poses, with a relative
/// error of `precision`. Every trial starts from rest: where friction depends on the path, the force is that of a press in
/// one increment. Returns `None` if `goes_on` returned false.
pub fn final_poses(
    sensor: &Sensor,
    object: &Object,
    requests: &[PressRequest],
    precision: f64,
    forces_at: ForcesAt<'_>,
    goes_on: GoesOn<'_>,
) -> Result<Option<FinalPoses>, GpuError> {
    let start = |request: &PressRequest| {
        let search = || Ok(request.search(sensor, object)?.from_rest(precision));
        goes_on(0).then(search)
    };
    let started: Option<Vec<Result<PressSearch, PressError>>> = parallel(|| requests.par_iter().map(start).collect());
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
    let warnings = searches.iter().flatten().filter_map(PressSearch::warning).collect();
    let poses = searches.into_iter().enumerate().map(end).collect::<Result<_, _>>()?;
    Ok(Some(FinalPoses { poses, warnings }))
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
    let mut all: Vec<Result<Searched, PressError>> = parallel(|| group.par_iter().map(start).collect());
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
        let (pose, depth_m, mut touch, state) = best.ok_or_else(|| search.too_strong(sensor, object))?;
        touch.warnings.extend(search.warning());
        Ok(Pressed::read(sensor, depth_m, pose, touch, state))
    };
    Some(parallel(|| all.into_par_iter().map(read).collect()))
}
