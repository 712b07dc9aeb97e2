//! The experiments of the papers: `dermis reproduce`.
//!
//! Each experiment has a folder under `experiments/` in the repository with the claim in words and `expected.toml`,
//! which lists the paper's numbers and the bounds for ours. The code is in this module.

mod edge_image;
mod expected;
mod gelsight_mini_force;
mod hand_script;
mod kappassov_calibration;
mod kappassov_cartesian;
mod kappassov_indenters;
mod kappassov_pan_tilt;
mod kappassov_reference;
mod layer_spread;
mod moisio_finger;
mod moisio_foam;
mod moisio_grasps;
mod moisio_tilt;
mod moisio_torque;
mod moisio_weights;
mod moisio_workcycle;
mod patzelt_edge;
mod real_balls;
mod setting;
mod skins_compared;
mod tacchi_errors;
mod tacchi_images;
mod tacchi_press;

pub use expected::{Expectation, Verdict, schema};

use dermis::output::Output;
use dermis::sensor::calibration::FitError;
use dermis::sensor::{PressError, SensorError};
use dermis::skin::SkinError;
use dermis::world::{ServoError, WorldError};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// An error in running an experiment.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the message of each variant names its fields")]
pub enum ExperimentError {
    /// Unknown experiment.
    #[error("there is no experiment {name:?}; there are {known}{meant}")]
    Unknown { name: String, meant: String, known: String },
    /// The caller stopped the experiment.
    #[error("interrupted")]
    Interrupted,
    /// A sensor could not be built.
    #[error(transparent)]
    Sensor(#[from] SensorError),
    /// An error of a skin.
    #[error(transparent)]
    Skin(#[from] SkinError),
    /// An error of a world.
    #[error(transparent)]
    World(#[from] WorldError),
    /// An error of a tactile servo.
    #[error(transparent)]
    Servo(#[from] ServoError),
    /// An error of a press.
    #[error(transparent)]
    Press(#[from] PressError),
    /// An error of a fit.
    #[error(transparent)]
    Fit(#[from] FitError),
    /// An invalid shape.
    #[error(transparent)]
    Shape(#[from] dermis::geometry::shapes::ShapeError),
    /// Labelled images cannot be read.
    #[error(transparent)]
    BallPresses(#[from] crate::ball_presses::BallPressesError),
    /// An error of a camera.
    #[error(transparent)]
    Optics(#[from] dermis::sensor::optics::OpticsError),
    /// Images cannot be written or read back.
    #[error("{path}: cannot be written or read back: {reason}")]
    Folder { path: String, reason: String },
    /// The experiment needs measurements that are not part of dermis.
    #[error(
        "experiment {name:?} needs measurements that are not part of dermis: `cargo xtask validate {name}` fetches them and runs it (see validation/{name}), or give their folder with --data"
    )]
    NoData { name: &'static str },
    /// The experiment does not support a skin.
    #[error("experiment {name:?} does not support skin {skin:?}; it supports {known}")]
    OtherSkin { name: &'static str, skin: String, known: &'static str },
    /// A mesh does not bound a solid.
    #[error(transparent)]
    Topology(#[from] dermis::geometry::TopologyError),
}

impl ExperimentError {
    fn folder(path: &std::path::Path, error: &dyn std::fmt::Display) -> Self {
        Self::Folder { path: path.display().to_string(), reason: error.to_string() }
    }
}

/// Options of an experiment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Run at the full length of the paper.
    pub full: bool,
    /// Folder of measurements, for the experiments that need some ([`Experiment::needs_data`]).
    pub data: Option<PathBuf>,
    /// Folder for images that are saved as they are made, so that an interrupted experiment can continue.
    pub out: Option<PathBuf>,
    /// A skin that replaces the sensor's own, for experiments that support several.
    pub skin: Option<String>,
}

/// Called with the progress of an experiment (0…1); returns whether to continue.
pub type Progress<'a> = &'a mut dyn FnMut(f64) -> bool;

/// The result of an experiment.
#[derive(Debug)]
pub struct Outcome {
    /// Name of the experiment.
    pub name: &'static str,
    /// The measured numbers.
    pub metrics: BTreeMap<String, f64>,
    /// The check of each bound of `expected.toml`.
    pub verdicts: Vec<Verdict>,
    /// Remarks, in sentences.
    pub notes: Vec<String>,
    /// The part of the paper's experiment that was run, if not all of it; [`Options::full`] runs all.
    pub partial: Option<String>,
    /// Figures and tables.
    pub files: Output,
}

impl Outcome {
    /// True when every bound holds.
    pub fn passed(&self) -> bool {
        !self.verdicts.is_empty() && self.verdicts.iter().all(|verdict| verdict.passed)
    }
}

/// The raw result of an experiment's code.
#[derive(Debug, Default)]
struct Findings {
    metrics: BTreeMap<String, f64>,
    notes: Vec<String>,
    partial: Option<String>,
    files: Output,
}

impl Findings {
    fn metric(&mut self, name: impl Into<String>, value: f64) {
        self.metrics.insert(name.into(), value);
    }

    fn note(&mut self, note: impl Into<String>) {
        self.notes.push(note.into());
    }
}

/// A runnable experiment.
pub struct Experiment {
    /// Its name.
    pub name: &'static str,
    /// Its subject, in one line.
    pub title: &'static str,
    /// Whether it needs measurements that are not part of dermis ([`Options::data`]).
    pub needs_data: bool,
    expected: &'static str,
    run: fn(&Options, Progress<'_>) -> Result<Findings, ExperimentError>,
}

macro_rules! experiment {
    ($module:ident, $name:literal, $title:literal) => {
        experiment!($module, $name, $title, needs_data = false)
    };
    ($module:ident, $name:literal, $title:literal, needs_data = $needs_data:literal) => {
        Experiment {
            name: $name,
            title: $title,
            needs_data: $needs_data,
            expected: include_str!(concat!("../experiments/", $name, "/expected.toml")),
            run: $module::run,
        }
    };
}

/// All experiments, in the order of the papers.
pub static ALL: &[Experiment] = &[
    experiment!(moisio_foam, "moisio-foam", "stiffness and friction of a foam from bench data (eq. 18, Figs 6, 7)"),
    experiment!(moisio_weights, "moisio-weights", "a sensor weighs 0.1, 1 and 10 kg (Table 3)"),
    experiment!(moisio_tilt, "moisio-tilt", "a cube on a sensor tilted by 10° does not creep (Fig. 9)"),
    experiment!(moisio_torque, "moisio-torque", "area contact holds a torque about its normal (section 1)"),
    experiment!(moisio_grasps, "moisio-grasps", "a gripper holds a sphere, a box, a cylinder and a bottle (Fig. 10)"),
    experiment!(moisio_workcycle, "moisio-workcycle", "approach, grasp, lift, move down, release (Fig. 12)"),
    experiment!(moisio_finger, "moisio-finger", "index finger and thumb hold a cylinder (Fig. 13)"),
    experiment!(kappassov_calibration, "kappassov-calibration", "a sensor model from bench data alone (section III)"),
    experiment!(kappassov_indenters, "kappassov-indenters", "images of indenters on sensor and model (Figs 8, 9)"),
    experiment!(kappassov_pan_tilt, "kappassov-pan-tilt", "a platform of three arrays rotates to an edge (Fig. 11)"),
    experiment!(kappassov_cartesian, "kappassov-cartesian", "a palm follows an object in 6 DoF (Fig. 12)"),
    experiment!(patzelt_edge, "patzelt-edge", "a curved fingertip slides over an edge (Figs 3, 4)"),
    experiment!(tacchi_images, "tacchi-images", "images of 21 indenters at 9 positions and 11 depths"),
    experiment!(real_balls, "real-balls", "simulated and real images of balls on two sensors", needs_data = true),
    experiment!(layer_spread, "layer-spread", "point spread of a layer against the paper's Gaussian"),
    experiment!(gelsight_mini_force, "gelsight-mini-force", "force of a GelSight Mini: measured, layer, Hertz"),
    experiment!(skins_compared, "skins-compared", "the same press by springs, a hydroelastic pad and a layer"),
    experiment!(tacchi_press, "tacchi-press", "the gel's surface under 21 indenters (Fig. 4)"),
    experiment!(tacchi_errors, "tacchi-errors", "effect of speed, density and gaps on the surface"),
];

/// An experiment by name.
pub fn find(name: &str) -> Result<&'static Experiment, ExperimentError> {
    ALL.iter().find(|experiment| experiment.name == name).ok_or_else(|| ExperimentError::Unknown {
        name: name.to_owned(),
        meant: dermis::sensor::did_you_mean(name, ALL.iter().map(|experiment| experiment.name)),
        known: ALL.iter().map(|experiment| experiment.name).collect::<Vec<_>>().join(", "),
    })
}

impl Experiment {
    /// The bounds on its numbers.
    pub fn expectations(&self) -> Vec<Expectation> {
        expected::judge(self.name, self.expected, &BTreeMap::new()).into_iter().map(|v| v.expectation).collect()
    }

    /// Runs the experiment and checks its numbers.
    pub fn run(&self, options: &Options, progress: Progress<'_>) -> Result<Outcome, ExperimentError> {
        let Findings { metrics, notes, partial, files } = (self.run)(options, progress)?;
        let verdicts = expected::judge(self.name, self.expected, &metrics);
        Ok(Outcome { name: self.name, metrics, verdicts, notes, partial, files })
    }
}

/// Reports progress; fails with [`ExperimentError::Interrupted`] if the caller stops the experiment.
fn report_progress(progress: &mut dyn FnMut(f64) -> bool, done: f64) -> Result<(), ExperimentError> {
    if progress(done.clamp(0.0, 1.0)) { Ok(()) } else { Err(ExperimentError::Interrupted) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_expectation_reads_and_names_what_it_bounds() {
        for experiment in ALL {
            let verdicts = expected::judge(experiment.name, experiment.expected, &BTreeMap::new());
            assert!(!verdicts.is_empty(), "{}", experiment.name);
            assert!(verdicts.iter().all(|verdict| !verdict.passed), "a metric that is missing never passes");
        }
    }

    #[test]
    fn every_bound_is_two_sided_or_says_why_not() {
        let folders = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/experiments")).unwrap();
        let with_bounds = folders.map(|entry| entry.unwrap().path()).filter(|path| path.join("expected.toml").exists());
        let mut named: Vec<_> = with_bounds.map(|path| path.file_name().unwrap().to_owned()).collect();
        let mut all: Vec<_> = ALL.iter().map(|experiment| std::ffi::OsString::from(experiment.name)).collect();
        named.sort();
        all.sort();
        assert_eq!(named, all, "every file of bounds belongs to an experiment");
        for experiment in ALL {
            for bound in experiment.expectations() {
                let (name, metric) = (experiment.name, &bound.metric);
                let two_sided = bound.min.is_some() && bound.max.is_some();
                assert_ne!(two_sided, bound.one_sided.is_some(), "{name}, {metric}");
                assert!(bound.one_sided.is_none_or(|reason| reason.len() > 5), "{name}, {metric}");
            }
        }
    }
}
