//! Scene files: bodies, sensors, a gripper and its task in one TOML, every number with its unit.
//!
//! ```toml
//! [world]
//! duration = "1 s"
//! time_step = "0.5 ms"
//! ground = "0 mm"
//!
//! [[body]]
//! name = "ball"
//! motion = "free"
//! mass = "50 g"
//! shape.sphere.radius = "15 mm"
//! at = ["0 mm", "0 mm", "40 mm"]
//!
//! [[sensor]]
//! name = "pad"
//! preset = "uji-foam-14x6"
//! at = ["0 mm", "0 mm", "20 mm"]
//! skin.friction.sigma0 = "1000 N/m"     # the rest of the preset stays
//! ```

mod body;
mod build;
mod error;
mod gravity;
mod hand;
mod overrides;
mod place;

pub use body::{BodyMotion, BodySpec};
pub use build::{Built, slug};
pub use error::SceneError;
pub use gravity::GravitySpec;
pub use hand::{GripperKind, GripperSpec, Hand, TaskKind, TaskSpec};
pub use place::{PlaceSpec, RotateSpec};

use dermis_geometry::limits::MAX_DESCRIPTION_BYTES;
use dermis_geometry::quantity::{Frequency, Length, Time};
use dermis_geometry::regular_file;
use dermis_sensor::{SensorSource, parse_toml};
use dermis_world::Coupling;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// A whole scene.
#[cfg_attr(
    doc,
    doc = r##"
```
use dermis::run::{Continue, run};
use dermis::scene::SceneSpec;
let text = r#"
world.duration = "20 ms"
sensor = [{ name = "pad", preset = "uji-foam-14x6" }]
[[body]]
name = "ball"
motion = "driven"
shape.sphere.radius = "10 mm"
at = ["0 mm", "0 mm", "9 mm"]
"#;

let mut built = SceneSpec::parse("press.toml", text)?.build("press.toml", None)?;
let recording = run(&mut built, &mut |_| Continue::Yes)?;
assert!(recording.sensors[0].peak.0 > 0.0);
# Ok::<(), Box<dyn std::error::Error>>(())
```
"##
)]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SceneSpec {
    /// A description in words.
    #[serde(default)]
    pub description: String,
    /// Global settings.
    pub world: WorldSpec,
    /// The bodies.
    #[serde(default, rename = "body")]
    pub bodies: Vec<BodySpec>,
    /// Sensors, except those of the gripper.
    #[serde(default, rename = "sensor")]
    pub sensors: Vec<SensorEntry>,
    /// A gripper with sensors on its fingers.
    pub gripper: Option<GripperSpec>,
    /// The task of the gripper.
    pub task: Option<TaskSpec>,
    /// Recording settings.
    #[serde(default)]
    pub record: RecordSpec,
}

/// Global settings of a world.
#[cfg_attr(
    doc,
    doc = r##"
```
use dermis::scene::WorldSpec;
let world: WorldSpec = dermis::sensor::parse_toml("world.toml", "duration = '2 s'\nground = '0 mm'")?;
assert_eq!(world.time_step.si(), 1e-3); // the default
# Ok::<(), Box<dyn std::error::Error>>(())
```
"##
)]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WorldSpec {
    /// Duration, to the nearest whole number of time steps; a finished task ends the run earlier.
    pub duration: Time,
    /// Time step.
    #[serde(default = "millisecond")]
    pub time_step: Time,
    /// One value points downwards; three values are a vector.
    #[serde(default)]
    pub gravity: GravitySpec,
    /// Height of a horizontal ground plane.
    pub ground: Option<Length>,
    /// Coefficient of friction on the ground.
    pub ground_friction: Option<f64>,
    /// Coefficient of friction between solid bodies; default: 0.5.
    pub solid_friction: Option<f64>,
    /// Stiffness of the contacts of solid bodies: a body at rest on another one, or on the ground, sinks by g/(2πf)²,
    /// times the number of times that its load is heavier than itself; default: 1 kHz (0.25 µm).
    pub solid_frequency: Option<Frequency>,
    /// The instant of the contact forces; by default the start of the step if the time step is stable so, else the end.
    pub coupling: Option<CouplingSpec>,
}

/// The instant of the contact forces.
#[cfg_attr(
    doc,
    doc = r##"
```
use dermis::scene::{CouplingSpec, WorldSpec};
let world: WorldSpec = dermis::sensor::parse_toml("world.toml", "duration = '2 s'\ncoupling = 'implicit'")?;
assert_eq!(world.coupling, Some(CouplingSpec::Implicit));
# Ok::<(), Box<dyn std::error::Error>>(())
```
"##
)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CouplingSpec {
    /// The end of the step: any time step is stable. Springs and hydroelastic skins support it.
    Implicit,
    /// The start of the step: a time step that is unstable with the stiffness of the skin is refused.
    Explicit,
}

impl CouplingSpec {
    fn coupling(self) -> Coupling {
        match self {
            Self::Implicit => Coupling::Implicit,
            Self::Explicit => Coupling::Explicit,
        }
    }
}

fn millisecond() -> Time {
    Time::new(1e-3)
}

/// Recording settings of a run.
#[cfg_attr(
    doc,
    doc = r##"
```
use dermis::scene::RecordSpec;
let record: RecordSpec = dermis::sensor::parse_toml("a.toml", "every = '5 ms'")?;
assert_eq!(record.every.map(|every| every.si()), Some(5e-3));
# Ok::<(), Box<dyn std::error::Error>>(())
```
"##
)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RecordSpec {
    /// Time between two rows; by default 10 ms, or one time step if that is longer.
    pub every: Option<Time>,
}

/// A sensor of a scene, with a name and a pose.
#[cfg_attr(
    doc,
    doc = r##"
```
use dermis::scene::SensorEntry;
let text = r#"
name = "pad"
preset = "uji-foam-14x6"
at = ["0 mm", "0 mm", "20 mm"]
skin.stiffness = "80 N/m"       # the rest of the preset stays
"#;
let pad: SensorEntry = dermis::sensor::parse_toml("pad.toml", text)?;
assert_eq!((pad.name.as_str(), pad.at.vector().z), ("pad", 0.02));
# Ok::<(), Box<dyn std::error::Error>>(())
```
"##
)]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SensorEntry {
    /// Name of the sensor in messages and records.
    pub name: String,
    /// The body that carries the sensor; default: fixed in the world.
    pub body: Option<String>,
    /// Position of its origin, on the body or in the world.
    #[serde(default)]
    pub at: PlaceSpec,
    /// Its orientation.
    pub rotate: Option<RotateSpec>,
    /// The sensor.
    #[serde(flatten)]
    pub sensor: SensorSource,
}

impl SceneSpec {
    /// Reads a scene; `file` is its name in error messages.
    pub fn parse(file: &str, text: &str) -> Result<Self, SceneError> {
        Ok(parse_toml(file, text)?)
    }

    /// Reads a scene file.
    pub fn read(path: &Path) -> Result<Self, SceneError> {
        Self::parse(&path.display().to_string(), &Self::text(path)?)
    }

    /// Reads the text of a scene file.
    pub fn text(path: &Path) -> Result<String, SceneError> {
        let unreadable = |error: std::io::Error| SceneError::Unreadable {
            file: path.display().to_string(),
            reason: error.to_string(),
        };
        regular_file::read_text(path, MAX_DESCRIPTION_BYTES).map_err(unreadable)
    }

    /// Checks numbers, names and references before any mesh is built.
    pub fn validate(&self, file: &str) -> Result<(), SceneError> {
        build::validate(self, file)
    }

    /// Builds the world. `file` is the name of the scene in error messages; its relative paths start at `folder`.
    pub fn build(&self, file: &str, folder: Option<&Path>) -> Result<Built, SceneError> {
        build::build(self, file, folder)
    }
}

#[cfg(test)]
mod tests;
