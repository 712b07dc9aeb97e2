//! The history of an attachment in each mjData of its model.

use crate::reading::ReadingData;
use crate::state::History;
use dermis::skin::{MissedObjects, WarningLog};
use dermis_mujoco_coupling::{Chatter, Data, HeldContacts, Lag, Model};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Tolerance of time comparisons, as a fraction of a time step.
const TIME_SLACK: f64 = 1e-6;
/// Number of stages of Runge–Kutta in the middle of a step.
const RUNGE_KUTTA_MIDDLE: usize = 2;
/// Number of states of the attached mjData whose history is kept.
const MAX_VISITED: usize = 64;
/// Number of mjData with a history.
const MAX_DATA: usize = 1024;

/// Locks a mutex, also after a panic.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The history in one mjData.
pub struct Progress {
    /// State at the start of the current step.
    pub before: History,
    /// State at the end of the current step.
    pub after: History,
    /// Start time of the current step (s); −∞ before the first step.
    pub time_s: f64,
    /// Length of the current step (s).
    pub dt_s: f64,
    /// Evaluations of the current step after its start, the stages of Runge–Kutta. The last of them has the time of the next step.
    stages: usize,
    pub reading: Option<Arc<ReadingData>>,
    /// Generalized forces of the last step.
    pub lag: Lag,
    /// Generalized contact forces of the current step.
    pub forces: Vec<f64>,
    /// Warnings of the skin since the start.
    pub log: WarningLog,
    /// Objects between the contact points, in mode "couple".
    pub missed: MissedObjects,
    /// The last steps with contact, in mode "couple".
    pub chatter: Chatter,
    /// MuJoCo's contacts at the last evaluation, in mode "contacts".
    pub held: HeldContacts,
    /// The time (s) of a start in a state whose history is not known.
    pub unknown_start_s: Option<f64>,
}

impl Progress {
    /// An untouched sensor.
    pub fn new(rest: History) -> Self {
        Self {
            before: rest.clone(),
            after: rest,
            time_s: f64::NEG_INFINITY,
            dt_s: 0.0,
            stages: 0,
            reading: None,
            lag: Lag::default(),
            forces: Vec::new(),
            log: WarningLog::default(),
            missed: MissedObjects::default(),
            chatter: Chatter::default(),
            held: HeldContacts::default(),
            unknown_start_s: None,
        }
    }

    /// The parts that a pickle has.
    pub fn saved(&self) -> SavedProgress {
        SavedProgress {
            before: self.before.clone(),
            after: self.after.clone(),
            time_s: Some(self.time_s).filter(|time_s| time_s.is_finite()),
            dt_s: self.dt_s,
            constraint: self.lag.constraint.clone(),
            skin: self.lag.skin.clone(),
            forces: self.forces.clone(),
        }
    }

    /// The inverse of [`Self::saved`].
    pub fn restored(saved: SavedProgress, reading: Option<Arc<ReadingData>>) -> Self {
        Self {
            after: saved.after,
            time_s: saved.time_s.unwrap_or(f64::NEG_INFINITY),
            dt_s: saved.dt_s,
            reading,
            lag: Lag { constraint: saved.constraint, skin: saved.skin },
            forces: saved.forces,
            ..Self::new(saved.before)
        }
    }

    /// The forces of the step that has just ended.
    fn ended(&self, model: &Model<'_>, data: &Data<'_>) -> Lag {
        if self.forces.len() == model.dofs() {
            Lag { constraint: data.constraint_forces(), skin: self.forces.clone() }
        } else {
            Lag::none(model)
        }
    }
}

/// A progress in a pickle.
#[derive(Serialize, Deserialize)]
pub struct SavedProgress {
    before: History,
    after: History,
    time_s: Option<f64>,
    dt_s: f64,
    constraint: Vec<f64>,
    skin: Vec<f64>,
    forces: Vec<f64>,
}

/// The start of a step.
#[derive(Clone)]
struct Start {
    before: History,
    lag: Lag,
}

/// A counter of uses, and the history by the address of the mjData, with the time of its last use.
type ByData = (u64, BTreeMap<usize, (u64, Arc<Mutex<Progress>>)>);

/// The histories of all mjData.
pub struct Histories {
    rest: History,
    /// Address of the attached mjData; `None` when the attachment has ended and it may no longer exist.
    attached: Mutex<Option<usize>>,
    all: Mutex<ByData>,
    /// Recent states of the attached mjData: time (s), digest and history.
    visited: Mutex<VecDeque<(f64, u64, Start)>>,
}

impl Histories {
    /// Untouched in every mjData. `attached` is the address of the attached one.
    pub fn new(rest: History, attached: usize) -> Self {
        Self { rest, attached: Mutex::new(Some(attached)), all: Mutex::default(), visited: Mutex::default() }
    }

    /// Replaces the history in an mjData.
    pub fn restore(&self, data: usize, progress: Progress) {
        *lock(&self.of(data)) = progress;
    }

    /// True if an mjData has a history.
    pub fn has(&self, data: usize) -> bool {
        lock(&self.all).1.contains_key(&data)
    }

    /// Forgets all histories.
    pub fn reset(&self) {
        lock(&self.all).1.clear();
        lock(&self.visited).clear();
    }

    /// Ends the use of the attached mjData.
    pub fn detach(&self) {
        lock(&self.attached).take();
    }

    /// The history in an mjData.
    pub fn of(&self, data: usize) -> Arc<Mutex<Progress>> {
        let mut all = lock(&self.all);
        let (clock, histories) = &mut *all;
        *clock += 1;
        if histories.len() >= MAX_DATA && !histories.contains_key(&data) {
            let oldest = histories.iter().min_by_key(|(_, (used, _))| *used).map(|(&address, _)| address);
            oldest.map(|address| histories.remove(&address));
        }
        let fresh = || (0, Arc::new(Mutex::new(Progress::new(self.rest.clone()))));
        let entry = histories.entry(data).or_insert_with(fresh);
        entry.0 = *clock;
        entry.1.clone()
    }

    /// The state at the start of the step that MuJoCo evaluates, in mode "couple".
    ///
    /// Only whole steps change the history: evaluations within a step, such as Runge–Kutta stages, start from the same
    /// state. An mjData that is in a recent state of the attached one (a copy, a restored state, a rollout) continues
    /// its history. Any other that does not continue in time starts untouched.
    pub fn begin(&self, model: &Model<'_>, data: &Data<'_>) -> History {
        let (time_s, step_s) = (data.time_s(), model.step_s());
        let is_attached = *lock(&self.attached) == Some(data.address());
        let progress = self.of(data.address());
        let mut progress = lock(&progress);
        let within = time_s >= progress.time_s && time_s < progress.time_s + progress.dt_s * (1.0 - TIME_SLACK);
        let follows = (time_s - progress.time_s - progress.dt_s).abs() <= TIME_SLACK * progress.dt_s;
        progress.stages += usize::from(within && time_s > progress.time_s);
        let is_last_stage = follows && progress.stages == RUNGE_KUTTA_MIDDLE;
        if is_last_stage {
            progress.stages += 1;
        }
        if !within && !is_last_stage {
            progress.stages = 0;
            let first = progress.time_s == f64::NEG_INFINITY;
            let started = time_s > 0.5 * step_s;
            let looks_up = started && !(is_attached && (follows || first));
            let start = match looks_up.then(|| self.known(model, data)).flatten() {
                Some(start) => start,
                None if follows || (is_attached && !first && time_s > progress.time_s) => {
                    Start { before: progress.after.clone(), lag: progress.ended(model, data) }
                }
                None => {
                    *progress = Progress::new(self.rest.clone());
                    progress.unknown_start_s = looks_up.then_some(time_s);
                    Start { before: self.rest.clone(), lag: Lag::none(model) }
                }
            };
            (progress.before, progress.lag) = (start.before, start.lag);
            (progress.time_s, progress.dt_s) = (time_s, step_s);
        }
        if is_attached && time_s == progress.time_s {
            self.visit(time_s, data.digest(), Start { before: progress.before.clone(), lag: progress.lag.clone() });
        }
        progress.before.clone()
    }

    /// Keeps a state of the attached mjData.
    fn visit(&self, time_s: f64, digest: u64, start: Start) {
        let mut visited = lock(&self.visited);
        if visited.back().is_some_and(|(known_s, ..)| *known_s == time_s) {
            visited.pop_back();
        } else if visited.len() >= MAX_VISITED {
            visited.pop_front();
        }
        visited.push_back((time_s, digest, start));
    }

    /// The history of the state in which an mjData is, if the attached one is or was recently in it.
    fn known(&self, model: &Model<'_>, data: &Data<'_>) -> Option<Start> {
        let digest = data.digest();
        let address = *lock(&self.attached);
        if let Some(address) = address.filter(|&address| address != data.address()) {
            let progress = self.of(address);
            let progress = lock(&progress);
            let attached = lock(&self.attached);
            let ended_s = progress.time_s + progress.dt_s;
            if attached.is_some() && (data.time_s() - ended_s).abs() <= TIME_SLACK * progress.dt_s {
                // SAFETY: the attachment keeps the mjData alive while `attached` has its address. Another thread may be
                // stepping it: then it is in the state at the start of its step, or its digest differs and the list has
                // that state, because the list is read later.
                let original = unsafe { Data::new(address as *mut _, *model) };
                if original.digest() == digest {
                    return Some(Start { before: progress.after.clone(), lag: progress.ended(model, &original) });
                }
            }
        }
        lock(&self.visited).iter().rev().find(|(_, known, _)| *known == digest).map(|(.., start)| start.clone())
    }
}
