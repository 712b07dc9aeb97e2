//! A data set as a file describes it: one TOML, every number with its unit.

use super::axis::Axis;
use super::error::DatasetError;
use super::randomise::RandomiseSpec;
use crate::object::{ObjectSpec, RoughnessSpec};
use dermis_geometry::files::LengthUnit;
use dermis_geometry::quantity::{Angle, Force, Frequency, Length, Mass, Time};
use dermis_sensor::{SensorSource, parse_toml};
use serde::Deserialize;
use std::path::{Path, PathBuf};

/// A data set: who is touched by what, how often, and what is kept.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DatasetSpec {
    /// What it is called.
    pub name: String,
    /// What it is for.
    #[serde(default)]
    pub description: String,
    /// What all draws depend on.
    #[serde(default)]
    pub seed: u64,
    /// How it is kept.
    pub format: FormatSpec,
    /// How many episodes; the whole grid once without it.
    #[serde(default)]
    pub count: Option<usize>,
    /// Episodes in a shard, which is made at once and kept whole; a sixteenth of all, and at most 500, without it.
    #[serde(default)]
    pub shard: Option<usize>,
    /// How many materials are drawn, where `randomise` names keys of a skin or a surface.
    #[serde(default = "one")]
    pub materials: usize,
    /// The sensors; all with as many taxels and pixels.
    #[serde(rename = "sensor")]
    pub sensors: Vec<SensorEntry>,
    /// What touches them.
    #[serde(rename = "object")]
    pub objects: Vec<ObjectSource>,
    /// Where and how deep.
    #[serde(default)]
    pub pose: PoseSpec,
    /// What happens.
    pub scenario: ScenarioSpec,
    /// What differs from device to device.
    #[serde(default)]
    pub randomise: Vec<RandomiseSpec>,
}

/// How a data set is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FormatSpec {
    /// LeRobot v3.0: Parquet with images in it, and what its reader wants to know.
    Lerobot,
    /// WebDataset: tar files.
    Webdataset,
    /// Parquet, and PNG files beside it.
    Parquet,
    /// HDF5 as robomimic has it.
    Robomimic,
}

impl FormatSpec {
    /// As files write it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Lerobot => "lerobot",
            Self::Webdataset => "webdataset",
            Self::Parquet => "parquet",
            Self::Robomimic => "robomimic",
        }
    }
}

fn one() -> usize {
    1
}

/// A sensor of a data set.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SensorEntry {
    /// Its name; by default that of its preset or file.
    #[serde(default)]
    pub name: Option<String>,
    /// The sensor.
    #[serde(flatten)]
    pub source: SensorSource,
}

/// What touches: exactly one of `shape`, `indenters` and `folder`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ObjectSource {
    /// Its label; the shape's, indenter's or file's name without it.
    #[serde(default)]
    pub name: Option<String>,
    /// A shape or a file.
    #[serde(default)]
    pub shape: Option<ObjectSpec>,
    /// Some of the twenty-one indenters, or `["all"]`: one label each.
    #[serde(default)]
    pub indenters: Option<Vec<String>>,
    /// A folder of mesh files, one label each; relative to the description of the data set.
    #[serde(default)]
    pub folder: Option<PathBuf>,
    /// The unit of the folder's files.
    #[serde(default)]
    pub unit: Option<LengthUnit>,
    /// How many of each there are, different in scale and roughness.
    #[serde(default = "one")]
    pub copies: usize,
    /// A factor on the size, drawn for every copy.
    #[serde(default)]
    pub scale: Option<Axis<f64>>,
    /// Defects of the surface; every copy has its own.
    #[serde(default)]
    pub roughness: Option<RoughnessSpec>,
}

/// Where an object comes and how far: see [`dermis_sensor::Aim`]. Of a grasp, where the object is between the fingers.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct PoseSpec {
    /// Along the sensor's x axis; of a grasp, along the width of the fingers.
    pub x: Option<Axis<Length>>,
    /// Along the sensor's y axis; of a grasp, up along the fingers.
    pub y: Option<Axis<Length>>,
    /// Turn about the sensor's z axis; of a grasp, about the vertical.
    pub yaw: Option<Axis<Angle>>,
    /// Turn about the sensor's x axis.
    pub tilt_x: Option<Axis<Angle>>,
    /// Turn about the sensor's y axis.
    pub tilt_y: Option<Axis<Angle>>,
    /// Travel past first contact.
    pub depth: Option<Axis<Length>>,
    /// Force instead of depth; of a grasp, the tactile sum to hold with.
    pub force: Option<Axis<Force>>,
    /// Coefficient of friction of the object, where it is not the skin's own (layers only).
    pub mu: Option<Axis<f64>>,
}

/// What happens in an episode. `frames` of it are kept, at `rate`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum ScenarioSpec {
    /// Straight down: frames at equal parts of the depth, the last at all of it.
    Press {
        /// Frames of an episode.
        #[serde(default = "one")]
        frames: usize,
        /// Frames a second.
        #[serde(default = "thirty")]
        rate: Frequency,
    },
    /// Pressed, then moved along the skin.
    Slide {
        /// How far.
        distance: Axis<Length>,
        /// Which way, from x towards y.
        #[serde(default = "along_x")]
        direction: Axis<Angle>,
        /// Frames of an episode, the first before it moves.
        frames: usize,
        /// Frames a second.
        #[serde(default = "thirty")]
        rate: Frequency,
        /// Steps of the skin between frames.
        #[serde(default = "four")]
        substeps: usize,
    },
    /// Pressed, then turned about the sensor's normal.
    Twist {
        /// By how much.
        angle: Axis<Angle>,
        /// Frames of an episode, the first before it turns.
        frames: usize,
        /// Frames a second.
        #[serde(default = "thirty")]
        rate: Frequency,
        /// Steps of the skin between frames.
        #[serde(default = "four")]
        substeps: usize,
    },
    /// Pressed, then rolled over the skin.
    Roll {
        /// By how much it turns.
        angle: Axis<Angle>,
        /// Which way it goes, from x towards y.
        #[serde(default = "along_x")]
        direction: Axis<Angle>,
        /// From the axis it turns about to what touches.
        radius: Axis<Length>,
        /// Frames of an episode, the first before it rolls.
        frames: usize,
        /// Frames a second.
        #[serde(default = "thirty")]
        rate: Frequency,
        /// Steps of the skin between frames.
        #[serde(default = "four")]
        substeps: usize,
    },
    /// Taps in a row along a line, all at one height: across an edge, off a rim.
    EdgeScan {
        /// Length of the line, half of it on either side of the pose.
        distance: Axis<Length>,
        /// Which way, from x towards y.
        #[serde(default = "along_x")]
        direction: Axis<Angle>,
        /// Taps.
        frames: usize,
        /// Taps a second.
        #[serde(default = "thirty")]
        rate: Frequency,
    },
    /// Two fingers take an object from the ground by touch and lift it: held or slipped.
    GraspAndLift {
        /// Of the object.
        mass: Axis<Mass>,
        /// How high.
        #[serde(default = "lift")]
        lift: Length,
        /// An object that moves farther than this in the hand has slipped.
        #[serde(default = "slip")]
        slip: Length,
        /// Step of the world.
        #[serde(default = "step")]
        time_step: Time,
        /// Frames of an episode, from the first moment on.
        frames: usize,
        /// Frames a second.
        #[serde(default = "thirty")]
        rate: Frequency,
    },
}

fn thirty() -> Frequency {
    Frequency::new(30.0)
}

fn four() -> usize {
    4
}

fn along_x() -> Axis<Angle> {
    Axis::Fixed(Angle::new(0.0))
}

fn lift() -> Length {
    Length::new(10e-3)
}

fn slip() -> Length {
    Length::new(2e-3)
}

fn step() -> Time {
    Time::new(0.2e-3)
}

impl ScenarioSpec {
    /// As files write it.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Press { .. } => "press",
            Self::Slide { .. } => "slide",
            Self::Twist { .. } => "twist",
            Self::Roll { .. } => "roll",
            Self::EdgeScan { .. } => "edge-scan",
            Self::GraspAndLift { .. } => "grasp-and-lift",
        }
    }

    /// Frames of an episode.
    pub fn frames(&self) -> usize {
        match self {
            Self::Press { frames, .. }
            | Self::Slide { frames, .. }
            | Self::Twist { frames, .. }
            | Self::Roll { frames, .. }
            | Self::EdgeScan { frames, .. }
            | Self::GraspAndLift { frames, .. } => *frames,
        }
    }

    /// Frames a second.
    pub fn rate_hz(&self) -> f64 {
        match self {
            Self::Press { rate, .. }
            | Self::Slide { rate, .. }
            | Self::Twist { rate, .. }
            | Self::Roll { rate, .. }
            | Self::EdgeScan { rate, .. }
            | Self::GraspAndLift { rate, .. } => rate.si(),
        }
    }

    /// Steps of the skin between frames.
    pub fn substeps(&self) -> usize {
        match self {
            Self::Slide { substeps, .. } | Self::Twist { substeps, .. } | Self::Roll { substeps, .. } => *substeps,
            Self::Press { .. } | Self::EdgeScan { .. } | Self::GraspAndLift { .. } => 1,
        }
    }
}

/// Neither zero, nor negative, nor no number at all.
fn is_positive(value: f64) -> bool {
    value > 0.0
}

impl DatasetSpec {
    /// Reads a description; `file` is what messages call it.
    pub fn parse(file: &str, text: &str) -> Result<Self, DatasetError> {
        let spec: Self = parse_toml(file, text)?;
        spec.validate(file)?;
        Ok(spec)
    }

    /// Reads a description from its file: the text as well, which is kept with the data.
    pub fn read(path: &Path) -> Result<(Self, String), DatasetError> {
        let file = path.display().to_string();
        let text = std::fs::read_to_string(path)
            .map_err(|error| DatasetError::Unreadable { file: file.clone(), reason: error.to_string() })?;
        Ok((Self::parse(&file, &text)?, text))
    }

    /// Refuses what cannot be, before any mesh is made.
    fn validate(&self, file: &str) -> Result<(), DatasetError> {
        let rule = |key: &'static str, rule: String| Err(DatasetError::Rule { file: file.to_owned(), key, rule });
        let within = |key: &'static str, got: usize, most: usize| match got {
            0 => rule(key, "must be at least 1, got 0".to_owned()),
            got if got > most => rule(key, format!("must be at most {most}, got {got}")),
            _ => Ok(()),
        };
        let plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
        if self.name.is_empty() || self.name.len() > 64 || !self.name.chars().all(plain) {
            return rule("name", format!("must be 1 to 64 letters, digits, -, _ or ., got {:?}", self.name));
        }
        if self.sensors.is_empty() || self.objects.is_empty() {
            return rule("sensor", "and `object` are needed: write [[sensor]] and [[object]] at least once".to_owned());
        }
        self.count.map_or(Ok(()), |count| within("count", count, 1_000_000_000))?;
        self.shard.map_or(Ok(()), |shard| within("shard", shard, 100_000))?;
        within("materials", self.materials, 4096)?;
        within("scenario.frames", self.scenario.frames(), 10_000)?;
        within("scenario.substeps", self.scenario.substeps(), 10_000)?;
        if !is_positive(self.scenario.rate_hz()) {
            return rule("scenario.rate", format!("must be a positive frequency, got {} Hz", self.scenario.rate_hz()));
        }
        let grasp = matches!(self.scenario, ScenarioSpec::GraspAndLift { .. });
        match (&self.pose.depth, &self.pose.force) {
            (Some(_), Some(_)) | (None, None) => {
                return rule("pose", "needs exactly one of `depth` and `force`".to_owned());
            }
            (Some(_), None) if grasp => {
                return rule("pose.depth", "is not for a grasp: give `force`, the tactile sum to hold with".to_owned());
            }
            (Some(depth), None) if depth.bounds()[0] < 0.0 => {
                return rule("pose.depth", "must not become negative: give `normal` a `within`".to_owned());
            }
            (None, Some(force)) if force.bounds()[0] <= 0.0 => {
                return rule("pose.force", "must stay positive: give `normal` a `within`".to_owned());
            }
            _ => {}
        }
        if self.pose.mu.as_ref().is_some_and(|mu| mu.bounds()[0] < 0.0) {
            return rule("pose.mu", "must not become negative: give `normal` a `within`".to_owned());
        }
        if let ScenarioSpec::GraspAndLift { mass, lift, slip, time_step, .. } = &self.scenario {
            let lengths = [("scenario.lift", lift.si()), ("scenario.slip", slip.si())];
            let numbers = lengths.into_iter().chain([("scenario.time_step", time_step.si())]);
            let mut numbers = numbers.chain([("scenario.mass", mass.bounds()[0])]);
            if let Some((key, got)) = numbers.find(|(_, value)| !is_positive(*value)) {
                return rule(key, format!("must stay positive, got {got} (SI); give `normal` a `within`"));
            }
        }
        for object in &self.objects {
            let given = [object.shape.is_some(), object.indenters.is_some(), object.folder.is_some()];
            if given.iter().filter(|given| **given).count() != 1 {
                return rule("object", "needs exactly one of `shape`, `indenters` and `folder`".to_owned());
            }
            within("object.copies", object.copies, 10_000)?;
            if object.scale.as_ref().is_some_and(|scale| !is_positive(scale.bounds()[0])) {
                return rule("object.scale", "must stay positive: give `normal` a `within`".to_owned());
            }
        }
        Ok(())
    }
}
