//! The run loop, and the recording of a run.

mod carried;
mod contact_count;
mod recording;
mod run_recorder;
mod run_warnings;

pub use carried::Carried;
pub use contact_count::ContactCount;
pub use recording::{BodyTrack, Recording, SensorRow, SensorTrack};
pub use run_recorder::{DEFAULT_IMAGE_INTERVAL_S, RunRecorder};
pub use run_warnings::{RunWarnings, SkinWarnings};

use crate::scene::Built;
use dermis_record::RecordError;
use dermis_world::{Phase, World, WorldError};

/// An error that ended a run early.
///
/// ```
/// use dermis::run::RunError;
/// use dermis::world::WorldError;
/// let error: RunError = WorldError::NotFinite { owner: "body \"ball\"".into(), key: "pose" }.into();
/// assert!(error.to_string().contains("ball"));
/// ```
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The world failed to step.
    #[error(transparent)]
    World(#[from] WorldError),
    /// The recording failed.
    #[error(transparent)]
    Record(#[from] RecordError),
}

/// Progress of a run, after a step.
///
/// ```
/// # use dermis::run::{Continue, run};
/// # use dermis::scene::SceneSpec;
/// # let text = r#"
/// # world.duration = "20 ms"
/// # sensor = [{ name = "pad", preset = "uji-foam-14x6" }]
/// # [[body]]
/// # name = "ball"
/// # motion = "driven"
/// # shape.sphere.radius = "10 mm"
/// # at = ["0 mm", "0 mm", "9 mm"]
/// # "#;
/// let mut built = SceneSpec::parse("press.toml", text)?.build("press.toml", None)?;
/// run(&mut built, &mut |progress| {
///     let _percent = 100.0 * progress.time_s / progress.duration_s;
///     Continue::Yes
/// })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy)]
pub struct Progress<'a> {
    /// The current world.
    pub world: &'a World,
    /// Time (s).
    pub time_s: f64,
    /// Latest end time of the run (s).
    pub duration_s: f64,
    /// Phase of the gripper's task.
    pub phase: Option<Phase>,
}

/// Whether to continue a run.
///
/// ```
/// # use dermis::run::{Continue, run};
/// # use dermis::scene::SceneSpec;
/// # let text = r#"
/// # world.duration = "20 ms"
/// # sensor = [{ name = "pad", preset = "uji-foam-14x6" }]
/// # [[body]]
/// # name = "ball"
/// # motion = "driven"
/// # shape.sphere.radius = "10 mm"
/// # at = ["0 mm", "0 mm", "9 mm"]
/// # "#;
/// let mut built = SceneSpec::parse("press.toml", text)?.build("press.toml", None)?;
/// let recording = run(&mut built, &mut |progress| if progress.time_s < 0.005 { Continue::Yes } else { Continue::No })?;
/// assert!(recording.interrupted && recording.steps == 5);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Continue {
    /// Continue.
    Yes,
    /// Stop and keep the recording so far.
    No,
}

impl Built {
    /// Makes one time step: updates the gripper's controller, then the world.
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

/// Runs a scene to its end, until its task is done, or until `each`, called after every step, returns [`Continue::No`].
pub fn run(built: &mut Built, each: &mut dyn FnMut(Progress<'_>) -> Continue) -> Result<Recording, RunError> {
    run_into(built, None, each)
}

/// Like [`run`]; also writes every row to the recorder's files while the run proceeds.
pub fn run_into(
    built: &mut Built,
    mut run_recorder: Option<&mut RunRecorder>,
    each: &mut dyn FnMut(Progress<'_>) -> Continue,
) -> Result<Recording, RunError> {
    let step_s = built.world.parameters().step_s;
    let steps = (built.duration_s / step_s).round().max(1.0) as u64;
    built.world.track_energy();
    let mut recording = Recording::new(built);
    recording.add_row(built);
    run_recorder.as_deref_mut().map_or(Ok(()), |recorder| recorder.record(built))?;
    for step in 1..=steps {
        built.step()?;
        recording.warnings.add(built);
        recording.add_step(built);
        let phase = built.task.as_ref().map(|task| task.phase());
        recording.enter(phase, built.world.time_s());
        let progress =
            Progress { world: &built.world, time_s: built.world.time_s(), duration_s: built.duration_s, phase };
        let stopped = each(progress) == Continue::No;
        let over = stopped || step == steps || phase == Some(Phase::Done);
        if over || step % built.record_every == 0 {
            recording.add_row(built);
            run_recorder.as_deref_mut().map_or(Ok(()), |recorder| recorder.record(built))?;
        }
        recording.interrupted |= stopped;
        recording.steps = step;
        if over {
            break;
        }
    }
    recording.energy = built.world.energy().cloned().unwrap_or_default();
    recording.warnings.finish(built);
    Ok(recording)
}
