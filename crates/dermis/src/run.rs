//! The run loop, and what is kept of a run.

mod recording;
mod run_recorder;

pub use recording::{BodyTrack, Recording, SensorRow, SensorTrack};
pub use run_recorder::{RunRecorder, USUAL_IMAGE_EVERY_S};

use crate::scene::Built;
use dermis_record::RecordError;
use dermis_world::{Phase, World, WorldError};

/// Why a run ended before its time.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The world could not go on.
    #[error(transparent)]
    World(#[from] WorldError),
    /// What happened could not be kept.
    #[error(transparent)]
    Record(#[from] RecordError),
}

/// Where a run is, after a step.
#[derive(Clone, Copy)]
pub struct Progress<'a> {
    /// The world as it is now.
    pub world: &'a World,
    /// Time (s).
    pub time_s: f64,
    /// When the run ends at the latest (s).
    pub duration_s: f64,
    /// What the gripper is doing.
    pub phase: Option<Phase>,
}

/// Whether to go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Continue {
    /// Go on.
    Yes,
    /// End here and keep what is done.
    No,
}

impl Built {
    /// One step: the gripper takes what its task tells it and the world moves.
    pub fn step(&mut self) -> Result<(), WorldError> {
        if let Some(hand) = &mut self.hand {
            hand.exchange(&mut self.world);
            if let Some(task) = &mut self.task {
                task.update(hand.gripper(), self.world.parameters().step_s);
            }
        }
        self.world.step()
    }
}

/// Runs a scene to its end, or until `each`, called after every step, says no. A task that is done ends it too.
pub fn run(built: &mut Built, each: &mut dyn FnMut(Progress<'_>) -> Continue) -> Result<Recording, RunError> {
    run_into(built, None, each)
}

/// The same; every row of the recording also goes to the keeper's files, while the run goes on.
pub fn run_into(
    built: &mut Built,
    mut run_recorder: Option<&mut RunRecorder>,
    each: &mut dyn FnMut(Progress<'_>) -> Continue,
) -> Result<Recording, RunError> {
    let step_s = built.world.parameters().step_s;
    let steps = (built.duration_s / step_s).round().max(1.0) as u64;
    let mut recording = Recording::new(built);
    recording.keep(built);
    run_recorder.as_deref_mut().map_or(Ok(()), |recorder| recorder.keep(built))?;
    for step in 1..=steps {
        built.step()?;
        let phase = built.task.as_ref().map(|task| task.phase());
        recording.enter(phase, built.world.time_s());
        let progress =
            Progress { world: &built.world, time_s: built.world.time_s(), duration_s: built.duration_s, phase };
        let stopped = each(progress) == Continue::No;
        let over = stopped || step == steps || phase == Some(Phase::Done);
        if over || step % built.record_every == 0 {
            recording.keep(built);
            run_recorder.as_deref_mut().map_or(Ok(()), |recorder| recorder.keep(built))?;
        }
        recording.interrupted |= stopped;
        recording.steps = step;
        if over {
            break;
        }
    }
    Ok(recording)
}
