//! Warnings of a run: those of the skins, of the world and of the task.

use crate::scene::Built;
use dermis_skin::Warning;
use dermis_world::{Phase, WorldWarning};
use std::mem::discriminant;

/// Warnings of a run, each kind once per sensor.
#[derive(Clone, Debug, Default)]
pub struct RunWarnings {
    of_skins: Vec<SkinWarning>,
    of_cameras: Vec<String>,
    of_world: Vec<WorldWarning>,
    unfinished: Option<(Phase, f64)>,
    /// Largest force (N) on each sensor.
    peaks_newton: Vec<f64>,
}

/// Every contact begins and ends with few contact points: that is reported if it comes with this part of the largest
/// force on the sensor.
const MIN_UNRESOLVED: f64 = 0.1;

/// A kind of warning of a sensor's skin: its text at the largest force, the time of its first step, and its steps.
#[derive(Clone, Debug)]
struct SkinWarning {
    index: usize,
    sensor: String,
    warning: Warning,
    force_newton: f64,
    first_s: f64,
    steps: u64,
}

impl RunWarnings {
    /// Adds the warnings of the last step.
    pub(super) fn add(&mut self, built: &Built) {
        self.peaks_newton.resize(built.sensors.len(), 0.0);
        for (index, (name, id)) in built.sensors.iter().enumerate() {
            let touch = built.world.touch(*id);
            let force_newton = touch.on_sensor.force.length();
            self.peaks_newton[index] = self.peaks_newton[index].max(force_newton);
            for warning in touch.all_warnings() {
                let known = self
                    .of_skins
                    .iter_mut()
                    .find(|known| known.sensor == *name && discriminant(&known.warning) == discriminant(&warning));
                match known {
                    Some(known) => {
                        known.steps += 1;
                        if force_newton > known.force_newton {
                            (known.warning, known.force_newton) = (warning, force_newton);
                        }
                    }
                    None => self.of_skins.push(SkinWarning {
                        index,
                        sensor: name.clone(),
                        warning,
                        force_newton,
                        first_s: built.world.time_s(),
                        steps: 1,
                    }),
                }
            }
        }
    }

    /// Adds the warning of a sensor's camera.
    pub fn add_camera(&mut self, sensor: &str, warning: &str) {
        self.of_cameras.push(format!("{sensor:?}: {warning}"));
    }

    /// Adds the warnings of the world, and that of a task that the end of the run cut short.
    pub(super) fn finish(&mut self, built: &Built) {
        self.of_world = built.world.warnings().to_vec();
        let phase = built.task.as_ref().map(|task| task.phase()).filter(|phase| *phase != Phase::Done);
        self.unfinished = phase.map(|phase| (phase, built.world.time_s()));
    }

    /// All warnings, one sentence each.
    pub fn texts(&self) -> Vec<String> {
        let matters = |known: &&SkinWarning| {
            !matches!(known.warning, Warning::Unresolved { .. })
                || known.force_newton >= MIN_UNRESOLVED * self.peaks_newton[known.index]
        };
        let skins =
            self.of_skins.iter().filter(matters).map(|SkinWarning { sensor, warning, first_s, steps, .. }| {
                format!("{sensor:?}: {warning} (from t = {first_s:.4} s, in {steps} steps)")
            });
        let world = self.of_world.iter().map(ToString::to_string);
        let task = self.unfinished.map(|(phase, time_s)| {
            format!("the task is not finished at the end of the run, t = {time_s:.4} s: its phase is {phase:?}")
        });
        skins.chain(self.of_cameras.iter().cloned()).chain(world).chain(task).collect()
    }

    /// True if a body passed a sensor or left the scene.
    pub fn lost_body(&self) -> bool {
        self.of_world.iter().any(WorldWarning::is_loss)
    }

    /// True if the run ended before the task did.
    pub fn unfinished_task(&self) -> bool {
        self.unfinished.is_some()
    }
}
