//! The claims of the papers, run again: `dermis reproduce`.
//!
//! Each experiment has a folder of its name under `experiments/` in the repository with the claim in words and
//! `expected.toml`, which says what number the paper gives and between which bounds ours must lie. The code is here.

mod edge_image;
mod expected;
mod gelsight_mini_force;
mod hand_script;
mod kappassov_calibration;
mod kappassov_cartesian;
mod kappassov_device;
mod kappassov_indenters;
mod kappassov_pan_tilt;
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

pub use expected::{Expectation, Verdict};

use dermis::output::Output;
use dermis::sensor::calibration::FitError;
use dermis::sensor::{PressError, SensorError};
use dermis::skin::SkinError;
use dermis::world::{ServoError, WorldError};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Why an experiment could not be run to its end.
#[derive(Debug, thiserror::Error)]
pub enum ExperimentError {
    /// No such experiment.
    #[error("there is no experiment {name:?}; there are {known}")]
    Unknown {
        /// The name asked for.
        name: String,
        /// The names there are.
        known: String,
    },
    /// The caller asked to stop.
    #[error("interrupted")]
    Interrupted,
    /// A sensor could not be built.
    #[error(transparent)]
    Sensor(#[from] SensorError),
    /// A skin refused.
    #[error(transparent)]
    Skin(#[from] SkinError),
    /// A world refused.
    #[error(transparent)]
    World(#[from] WorldError),
    /// A tactile servo refused.
    #[error(transparent)]
    Servo(#[from] ServoError),
    /// A press refused.
    #[error(transparent)]
    Press(#[from] PressError),
    /// A fit refused.
    #[error(transparent)]
    Fit(#[from] FitError),
    /// A shape refused.
    #[error(transparent)]
    Shape(#[from] dermis::geometry::shapes::ShapeError),
    /// Labelled images cannot be read.
    #[error(transparent)]
    BallPresses(#[from] crate::ball_presses::BallPressesError),
    /// A camera refused.
    #[error("{error}")]
    Optics {
        /// What is wrong.
        error: dermis::sensor::optics::OpticsError,
    },
    /// Images cannot be kept.
    #[error("{path}: cannot be written or read back: {reason}")]
    Folder {
        /// The file or folder.
        path: String,
        /// The system's reason.
        reason: String,
    },
    /// Measurements that are not part of dermis.
    #[error(
        "experiment {name:?} needs measurements that are not part of dermis: `cargo xtask validate {name}` fetches them and runs it (see validation/{name}), or give their folder with --data"
    )]
    NoData {
        /// The experiment.
        name: &'static str,
    },
    /// A skin that the experiment does not know.
    #[error("experiment {name:?} cannot be run with skin {skin:?}; it knows {known}")]
    OtherSkin {
        /// The experiment.
        name: &'static str,
        /// The skin asked for.
        skin: String,
        /// Those there are.
        known: &'static str,
    },
    /// A mesh does not bound a solid.
    #[error(transparent)]
    Topology(#[from] dermis::geometry::TopologyError),
}

/// How an experiment is run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// As long as the paper's own, where that is longer than needed to judge.
    pub full: bool,
    /// Folder of measurements, for the experiments that need some ([`Experiment::needs_data`]).
    pub data: Option<PathBuf>,
    /// Folder for images that are kept as soon as they are made, so that an experiment can be stopped and gone on with.
    pub out: Option<PathBuf>,
    /// Another skin than the sensor's own, for the experiments that can be run with several.
    pub skin: Option<String>,
}

/// Told how far an experiment is (0…1); says whether to go on.
pub type Progress<'a> = &'a mut dyn FnMut(f64) -> bool;

/// What came out.
#[derive(Debug)]
pub struct Outcome {
    /// Name of the experiment.
    pub name: &'static str,
    /// The numbers.
    pub metrics: BTreeMap<String, f64>,
    /// Each bound of `expected.toml`, held against the numbers.
    pub verdicts: Vec<Verdict>,
    /// What a reader should know, in sentences.
    pub notes: Vec<String>,
    /// Figures and tables.
    pub files: Output,
}

impl Outcome {
    /// True when every bound holds.
    pub fn passed(&self) -> bool {
        !self.verdicts.is_empty() && self.verdicts.iter().all(|verdict| verdict.passed)
    }
}

/// What the code of an experiment hands back.
#[derive(Debug, Default)]
struct Findings {
    metrics: BTreeMap<String, f64>,
    notes: Vec<String>,
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

/// An experiment that can be run.
pub struct Experiment {
    /// Its name.
    pub name: &'static str,
    /// What it is about, in a line.
    pub title: &'static str,
    /// Whether it needs measurements that are not part of dermis ([`Options::data`]).
    pub needs_data: bool,
    expected: &'static str,
    run: fn(&Options, Progress<'_>) -> Result<Findings, ExperimentError>,
}

macro_rules! experiment {
    ($name:literal, $title:literal, $run:path) => {
        experiment!($name, $title, $run, needs_data = false)
    };
    ($name:literal, $title:literal, $run:path, needs_data = $needs_data:literal) => {
        Experiment {
            name: $name,
            title: $title,
            needs_data: $needs_data,
            expected: include_str!(concat!("../../../experiments/", $name, "/expected.toml")),
            run: $run,
        }
    };
}

/// All experiments, in the order of the papers.
pub static ALL: &[Experiment] = &[
    experiment!(
        "moisio-foam",
        "stiffness and friction of a foam from bench data (eq. 18, Figs 6, 7)",
        moisio_foam::run
    ),
    experiment!("moisio-weights", "a sensor weighs 0.1, 1 and 10 kg (Table 3)", moisio_weights::run),
    experiment!("moisio-tilt", "a cube on a sensor tilted by 10° does not creep (Fig. 9)", moisio_tilt::run),
    experiment!("moisio-torque", "area contact holds a torque about its normal (section 1)", moisio_torque::run),
    experiment!(
        "moisio-grasps",
        "a gripper holds a sphere, a box, a cylinder and a bottle (Fig. 10)",
        moisio_grasps::run
    ),
    experiment!("moisio-workcycle", "approach, grasp, lift, move down, release (Fig. 12)", moisio_workcycle::run),
    experiment!("moisio-finger", "index finger and thumb hold a cylinder (Fig. 13)", moisio_finger::run),
    experiment!(
        "kappassov-calibration",
        "a device from its bench data alone (section III)",
        kappassov_calibration::run
    ),
    experiment!("kappassov-indenters", "images of indenters, device and model (Figs 8, 9)", kappassov_indenters::run),
    experiment!("kappassov-pan-tilt", "a platform of three arrays turns to an edge (Fig. 11)", kappassov_pan_tilt::run),
    experiment!(
        "kappassov-cartesian",
        "a palm follows an object in six degrees of freedom (Fig. 12)",
        kappassov_cartesian::run
    ),
    experiment!("patzelt-edge", "a curved fingertip slides over an edge (Figs 3, 4)", patzelt_edge::run),
    experiment!("tacchi-images", "21 indenters, 9 places, 11 depths as an optical gel sees them", tacchi_images::run),
    experiment!(
        "real-balls",
        "simulated images of balls beside those of two real sensors",
        real_balls::run,
        needs_data = true
    ),
    experiment!(
        "layer-spread",
        "how far a point press spreads under a layer, and the paper's Gaussian",
        layer_spread::run
    ),
    experiment!("gelsight-mini-force", "force of a GelSight Mini: measured, layer, Hertz", gelsight_mini_force::run),
    experiment!("skins-compared", "the same press by springs, a hydroelastic pad and a layer", skins_compared::run),
    experiment!("tacchi-press", "the gel's surface under 21 indenters (Fig. 4)", tacchi_press::run),
    experiment!(
        "tacchi-errors",
        "what speed, density and gaps do to the paper's surface, and to ours",
        tacchi_errors::run
    ),
];

/// An experiment by name.
pub fn find(name: &str) -> Result<&'static Experiment, ExperimentError> {
    ALL.iter().find(|experiment| experiment.name == name).ok_or_else(|| ExperimentError::Unknown {
        name: name.to_owned(),
        known: ALL.iter().map(|experiment| experiment.name).collect::<Vec<_>>().join(", "),
    })
}

impl Experiment {
    /// What its numbers are held to.
    pub fn expectations(&self) -> Vec<Expectation> {
        expected::judge(self.name, self.expected, &BTreeMap::new()).into_iter().map(|v| v.expectation).collect()
    }

    /// Runs it.
    pub fn run(&self, options: &Options, progress: Progress<'_>) -> Result<Outcome, ExperimentError> {
        let Findings { metrics, notes, files } = (self.run)(options, progress)?;
        let verdicts = expected::judge(self.name, self.expected, &metrics);
        Ok(Outcome { name: self.name, metrics, verdicts, notes, files })
    }
}

/// Reports progress; an answer of no ends the experiment.
fn tell(progress: &mut dyn FnMut(f64) -> bool, done: f64) -> Result<(), ExperimentError> {
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
}
