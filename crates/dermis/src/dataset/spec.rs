//! The description of a data set: one TOML file, every number with its unit.

use super::axis::{Axis, GridAxis, Measure};
use super::error::DatasetError;
use super::randomise::RandomiseSpec;
use crate::object::{ObjectSpec, RoughnessSpec};
use dermis_geometry::files::LengthUnit;
use dermis_geometry::limits::MAX_DESCRIPTION_BYTES;
use dermis_geometry::limits::MAX_EPISODES;
use dermis_geometry::quantity::{Angle, Force, Frequency, Length, Mass, Time};
use dermis_geometry::regular_file;
use dermis_sensor::{SensorSource, parse_toml};
use serde::Deserialize;
use std::path::{Path, PathBuf};

/// A data set: sensors, objects, scenario, randomisation and format.
#[cfg_attr(
    doc,
    doc = r##"
```
use dermis::dataset::{DatasetSpec, FormatSpec};
let text = r#"
name = "taps"
format = "parquet"
count = 3
sensor = [{ preset = "wts0614" }]
object = [{ shape.sphere.radius = "8 mm" }]
pose.depth = { uniform = ["0.2 mm", "0.6 mm"] }
scenario.kind = "press"
"#;

let spec = DatasetSpec::parse("taps.toml", text)?;
assert_eq!((spec.count, spec.format, spec.scenario.name()), (Some(3), FormatSpec::Parquet, "press"));
# Ok::<(), Box<dyn std::error::Error>>(())
```
"##
)]
#[derive(Clone, Debug, PartialEq, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DatasetSpec {
    /// Its name.
    pub name: String,
    /// Its purpose, in words.
    #[serde(default)]
    pub description: String,
    /// Seed of all draws.
    #[serde(default)]
    pub seed: u64,
    /// File format.
    pub format: FormatSpec,
    /// Number of episodes; by default the whole grid once.
    pub count: Option<usize>,
    /// Episodes per shard, the unit of work and of files; by default a sixteenth of all, and at most 500.
    pub shard: Option<usize>,
    /// Number of materials to draw, if `randomise` has keys of a skin or a surface.
    #[serde(default = "one")]
    pub materials: usize,
    /// The sensors; all must have the same number of taxels and pixels.
    #[serde(rename = "sensor")]
    pub sensors: Vec<SensorEntry>,
    /// The objects.
    #[serde(rename = "object")]
    pub objects: Vec<ObjectSource>,
    /// Pose and depth of the object.
    #[serde(default)]
    pub pose: PoseSpec,
    /// The motion.
    pub scenario: ScenarioSpec,
    /// Randomised sensor parameters.
    #[serde(default)]
    pub randomise: Vec<RandomiseSpec>,
}

/// The file format of a data set.
#[cfg_attr(
    doc,
    doc = r##"
```
use dermis::dataset::FormatSpec;
assert_eq!(FormatSpec::Lerobot.name(), "lerobot");
```
"##
)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FormatSpec {
    /// LeRobot v3.0: Parquet files with embedded images, and metadata.
    Lerobot,
    /// WebDataset: tar files.
    Webdataset,
    /// Parquet, with images in separate PNG files.
    Parquet,
    /// HDF5 in robomimic's layout.
    Robomimic,
}

impl FormatSpec {
    /// Its name in files.
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
#[cfg_attr(
    doc,
    doc = r##"
```
use dermis::dataset::SensorEntry;
let entry: SensorEntry = dermis::sensor::parse_toml("a.toml", "preset = 'wts0614'\nresponse.noise.sd = '2 mN'")?;
assert_eq!(entry.name, None); // that of its preset
# Ok::<(), Box<dyn std::error::Error>>(())
```
"##
)]
#[derive(Clone, Debug, Default, PartialEq, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SensorEntry {
    /// Its name; by default that of its preset or file.
    pub name: Option<String>,
    /// The sensor.
    #[serde(flatten)]
    pub source: SensorSource,
}

/// Objects: exactly one of `shape`, `indenters` and `folder`.
#[cfg_attr(
    doc,
    doc = r##"
```
use dermis::dataset::ObjectSource;
let balls: ObjectSource = dermis::sensor::parse_toml("a.toml", "shape.sphere.radius = '8 mm'\ncopies = 3")?;
assert_eq!(balls.copies, 3);
# Ok::<(), Box<dyn std::error::Error>>(())
```
"##
)]
#[derive(Clone, Debug, PartialEq, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ObjectSource {
    /// Its label; by default the name of the shape, indenter or file.
    pub name: Option<String>,
    /// A shape or a file.
    pub shape: Option<ObjectSpec>,
    /// Names of built-in indenters, or `["all"]`; each has its own label.
    pub indenters: Option<Vec<String>>,
    /// A folder of mesh files, relative to the data set's description; each file has its own label.
    pub folder: Option<PathBuf>,
    /// The length unit of the folder's files.
    pub unit: Option<LengthUnit>,
    /// Copies of each object, which differ in scale and roughness.
    #[serde(default = "one")]
    pub copies: usize,
    /// Scale factor, drawn for every copy.
    pub scale: Option<Axis<f64>>,
    /// Surface roughness, different for every copy.
    pub roughness: Option<RoughnessSpec>,
}

/// Pose and depth of the object, relative to the centre of the sensing surface; for a grasp, the position of the object between the
/// fingers.
#[cfg_attr(
    doc,
    doc = r##"
```
use dermis::dataset::PoseSpec;
let pose: PoseSpec = dermis::sensor::parse_toml("a.toml", "x = { uniform = ['-8 mm', '8 mm'] }\ndepth = '1 mm'")?;
assert_eq!(pose.x.map(|x| x.bounds()), Some([-8e-3, 8e-3]));
# Ok::<(), Box<dyn std::error::Error>>(())
```
"##
)]
#[derive(Clone, Debug, Default, PartialEq, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct PoseSpec {
    /// Position along the sensor's x axis; for a grasp, along the width of the fingers.
    pub x: Option<Axis<Length>>,
    /// Position along the sensor's y axis; for a grasp, up along the fingers.
    pub y: Option<Axis<Length>>,
    /// Rotation about the sensor's z axis; for a grasp, about the vertical.
    pub yaw: Option<Axis<Angle>>,
    /// Rotation about the sensor's x axis.
    pub tilt_x: Option<Axis<Angle>>,
    /// Rotation about the sensor's y axis.
    pub tilt_y: Option<Axis<Angle>>,
    /// Travel past first contact.
    pub depth: Option<Axis<Length>>,
    /// Normal force instead of a depth; for a grasp, the desired tactile sum.
    pub force: Option<Axis<Force>>,
    /// Coefficient of friction of the object; by default the skin's own (layer skins only).
    pub mu: Option<Axis<f64>>,
}

/// The motion of an episode. `frames` frames are recorded, at `rate`.
#[cfg_attr(
    doc,
    doc = r##"
```
use dermis::dataset::ScenarioSpec;
let slide: ScenarioSpec = dermis::sensor::parse_toml("a.toml", "kind = 'slide'\ndistance = '2 mm'\nframes = 10")?;
assert_eq!((slide.name(), slide.frames(), slide.substeps()), ("slide", 10, 4));
# Ok::<(), Box<dyn std::error::Error>>(())
```
"##
)]
#[derive(Clone, Debug, PartialEq, Deserialize, schemars::JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum ScenarioSpec {
    /// Presses straight down; frames are spaced evenly in depth, the last at the full depth.
    Press {
        /// Frames per episode.
        #[serde(default = "one")]
        frames: usize,
        /// Frames per second.
        #[serde(default = "thirty")]
        rate: Frequency,
    },
    /// Presses, then slides along the skin.
    Slide {
        /// Distance.
        distance: Axis<Length>,
        /// Direction, from x towards y.
        #[serde(default = "along_x")]
        direction: Axis<Angle>,
        /// Frames per episode, the first before the motion.
        frames: usize,
        /// Frames per second.
        #[serde(default = "thirty")]
        rate: Frequency,
        /// Skin steps between frames.
        #[serde(default = "four")]
        substeps: usize,
    },
    /// Presses, then rotates about the sensor's normal.
    Twist {
        /// Angle of rotation.
        angle: Axis<Angle>,
        /// Frames per episode, the first before the rotation.
        frames: usize,
        /// Frames per second.
        #[serde(default = "thirty")]
        rate: Frequency,
        /// Skin steps between frames.
        #[serde(default = "four")]
        substeps: usize,
    },
    /// Presses, then rolls over the skin.
    Roll {
        /// Angle of rotation.
        angle: Axis<Angle>,
        /// Rolling direction, from x towards y.
        #[serde(default = "along_x")]
        direction: Axis<Angle>,
        /// Rolling radius: distance from the rotation axis to the contact.
        radius: Axis<Length>,
        /// Frames per episode, the first before rolling.
        frames: usize,
        /// Frames per second.
        #[serde(default = "thirty")]
        rate: Frequency,
        /// Skin steps between frames.
        #[serde(default = "four")]
        substeps: usize,
    },
    /// A row of taps along a line at one height, for example across an edge.
    EdgeScan {
        /// Length of the line, centred at the pose.
        distance: Axis<Length>,
        /// Direction, from x towards y.
        #[serde(default = "along_x")]
        direction: Axis<Angle>,
        /// Number of taps.
        frames: usize,
        /// Taps per second.
        #[serde(default = "thirty")]
        rate: Frequency,
    },
    /// A parallel gripper grasps an object on the ground by tactile feedback and lifts it; the label is held or
    /// slipped.
    GraspAndLift {
        /// Mass of the object.
        mass: Axis<Mass>,
        /// Lift height.
        #[serde(default = "lift")]
        lift: Length,
        /// Displacement in the hand beyond which the object has slipped.
        #[serde(default = "slip")]
        slip: Length,
        /// Time step of the world.
        #[serde(default = "step")]
        time_step: Time,
        /// Frames per episode, from the start.
        frames: usize,
        /// Frames per second.
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

impl PoseSpec {
    /// All axes, in the order in which episodes draw them: x, y, yaw, tilt_x, tilt_y, depth, force, mu.
    pub(crate) fn axes(&self) -> [Option<&dyn GridAxis>; 8] {
        fn axis<T: Measure>(axis: &Option<Axis<T>>) -> Option<&dyn GridAxis> {
            axis.as_ref().map(|axis| axis as &dyn GridAxis)
        }
        let Self { x, y, yaw, tilt_x, tilt_y, depth, force, mu } = self;
        [axis(x), axis(y), axis(yaw), axis(tilt_x), axis(tilt_y), axis(depth), axis(force), axis(mu)]
    }
}

impl ScenarioSpec {
    /// The scenario's own axes, in the order in which episodes draw them.
    pub(super) fn axes(&self) -> Vec<&dyn GridAxis> {
        match self {
            Self::Press { .. } => vec![],
            Self::Slide { distance, direction, .. } | Self::EdgeScan { distance, direction, .. } => {
                vec![distance, direction]
            }
            Self::Twist { angle, .. } => vec![angle],
            Self::Roll { angle, direction, radius, .. } => vec![angle, direction, radius],
            Self::GraspAndLift { mass, .. } => vec![mass],
        }
    }

    /// Its name in files.
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

    /// Frames per episode.
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

    /// Frames per second.
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

    /// Skin steps between frames.
    pub fn substeps(&self) -> usize {
        match self {
            Self::Slide { substeps, .. } | Self::Twist { substeps, .. } | Self::Roll { substeps, .. } => *substeps,
            Self::Press { .. } | Self::EdgeScan { .. } | Self::GraspAndLift { .. } => 1,
        }
    }
}

/// True for positive numbers; false for zero, negative numbers and NaN.
fn is_positive(value: f64) -> bool {
    value > 0.0
}

impl DatasetSpec {
    /// Reads a description; `file` is its name in error messages.
    pub fn parse(file: &str, text: &str) -> Result<Self, DatasetError> {
        let spec: Self = parse_toml(file, text)?;
        spec.validate(file)?;
        Ok(spec)
    }

    /// Reads a description from a file; also returns the text, which is stored with the data.
    pub fn read(path: &Path) -> Result<(Self, String), DatasetError> {
        let file = path.display().to_string();
        let text = regular_file::read_text(path, MAX_DESCRIPTION_BYTES)
            .map_err(|error| DatasetError::Unreadable { file: file.clone(), reason: error.to_string() })?;
        Ok((Self::parse(&file, &text)?, text))
    }

    /// Checks all values before any mesh is built.
    fn validate(&self, file: &str) -> Result<(), DatasetError> {
        let rule = |key: &'static str, rule: String| Err(DatasetError::Rule { file: file.to_owned(), key, rule });
        let within = |key: &'static str, got: usize, max: usize| match got {
            0 => rule(key, "must be at least 1, got 0".to_owned()),
            got if got > max => rule(key, format!("must be at most {max}, got {got}")),
            _ => Ok(()),
        };
        let plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
        if self.name.is_empty() || self.name.len() > 64 || !self.name.chars().all(plain) {
            return rule("name", format!("must be 1 to 64 letters, digits, -, _ or ., got {:?}", self.name));
        }
        if self.sensors.is_empty() || self.objects.is_empty() {
            return rule("sensor", "and `object` are needed: write [[sensor]] and [[object]] at least once".to_owned());
        }
        self.count.map_or(Ok(()), |count| within("count", count, MAX_EPISODES))?;
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
        for (place, randomise) in self.randomise.iter().enumerate() {
            if self.randomise[..place].iter().any(|before| before.key == randomise.key) {
                return rule("randomise", format!("names the key `{}` twice; draw it once", randomise.key));
            }
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
