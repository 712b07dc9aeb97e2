//! Warnings of a run: those of the skins, of the world and of the task.

use crate::scene::Built;
use dermis_skin::{LoggedWarning, WarningLog};
use dermis_world::{Phase, SensorId, WorldWarning};
use serde::{Deserialize, Serialize};

/// Warnings of a run, each kind once per sensor.
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
/// let recording = run(&mut built, &mut |_| Continue::Yes)?;
/// assert!(recording.warnings.texts().is_empty() && !recording.warnings.lost_body());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct RunWarnings {
    of_skins: SkinWarnings,
    of_cameras: Vec<String>,
    of_world: Vec<WorldWarning>,
    unfinished: Option<(Phase, f64)>,
    touched_while_open: bool,
}

/// Warnings of the skins of a world, each kind once per sensor.
///
/// ```
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
///
/// use dermis::run::SkinWarnings;
/// let mut built = SceneSpec::parse("press.toml", text)?.build("press.toml", None)?;
/// let mut warnings = SkinWarnings::default();
/// built.step()?;
/// warnings.add(&built);
/// assert!(warnings.take_new().is_empty());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct SkinWarnings(Vec<(SensorId, String, WarningLog)>);

impl SkinWarnings {
    /// Adds the warnings of the last step.
    pub fn add(&mut self, built: &Built) {
        for (name, id) in &built.sensors {
            let known = self.0.iter().position(|(known, ..)| known == id).unwrap_or_else(|| {
                self.0.push((*id, name.clone(), WarningLog::default()));
                self.0.len() - 1
            });
            self.0[known].2.add(built.world.touch(*id), built.world.time_s());
        }
    }

    /// The warnings that this method did not return before: see [`WarningLog::take_new`].
    pub fn take_new(&mut self) -> Vec<String> {
        let of = |(_, name, log): &mut (SensorId, String, WarningLog)| {
            log.take_new().into_iter().map(|warning| format!("{name:?}: {warning}")).collect::<Vec<_>>()
        };
        self.0.iter_mut().flat_map(of).collect()
    }

    /// All warnings, with the time of their first step and the number of their steps.
    fn texts(&self) -> impl Iterator<Item = String> {
        self.0.iter().flat_map(|(_, name, log)| {
            log.warnings().map(move |LoggedWarning { warning, first_s, steps, .. }| {
                format!("{name:?}: {warning} (from t = {first_s:.4} s, in {steps} steps)")
            })
        })
    }
}

impl RunWarnings {
    /// Adds the warnings of the last step.
    pub(super) fn add(&mut self, built: &Built) {
        self.of_skins.add(built);
    }

    /// Adds the warning of a sensor's camera.
    pub fn add_camera(&mut self, sensor: &str, warning: &str) {
        self.of_cameras.push(format!("{sensor:?}: {warning}"));
    }

    /// Adds the warnings of the world, and that of a task that the end of the run cut short.
    pub(super) fn finish(&mut self, built: &Built) {
        self.of_world = built.world.warnings().to_vec();
        self.of_world.extend(built.world.energy().and_then(|balance| balance.warning(built.world.time_s())));
        let phase = built.task.as_ref().map(|task| task.phase()).filter(|phase| *phase != Phase::Done);
        self.touched_while_open = built.task.as_ref().is_some_and(|task| task.touched_while_open());
        self.unfinished = phase.map(|phase| (phase, built.world.time_s()));
    }

    /// All warnings, one sentence each.
    pub fn texts(&self) -> Vec<String> {
        let world = self.of_world.iter().map(ToString::to_string);
        let task = self.unfinished.map(|(phase, time_s)| {
            format!("the task is not finished at the end of the run, t = {time_s:.4} s: its phase is {phase:?}")
        });
        let open = self.touched_while_open.then(|| {
            "the fingers touched something before they closed: the object may be wider than the gripper's `opening`, or not between the fingers"
                .to_owned()
        });
        self.of_skins.texts().chain(self.of_cameras.iter().cloned()).chain(world).chain(task).chain(open).collect()
    }

    /// True if a body passed a sensor or left the scene.
    pub fn lost_body(&self) -> bool {
        self.of_world.iter().any(WorldWarning::is_loss)
    }

    /// True if the run ended before the task did.
    pub fn unfinished_task(&self) -> bool {
        self.unfinished.is_some()
    }

    /// True if a finger of the gripper touched something before the fingers closed.
    pub fn touched_while_open(&self) -> bool {
        self.touched_while_open
    }
}
