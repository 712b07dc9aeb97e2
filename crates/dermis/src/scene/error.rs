//! Why a scene was refused.

use crate::object::ObjectError;
use dermis_geometry::TopologyError;
use dermis_sensor::{SensorError, TomlError};
use dermis_world::WorldError;

/// Why a scene was refused: one sentence that names the file, the thing and the key.
#[derive(Clone, Debug, thiserror::Error)]
pub enum SceneError {
    /// The text is not the TOML that is expected.
    #[error(transparent)]
    Toml(#[from] TomlError),
    /// The file cannot be read.
    #[error("{file}: cannot be read: {reason}")]
    Unreadable {
        /// The file.
        file: String,
        /// The system's reason.
        reason: String,
    },
    /// A value outside its range.
    #[error("{file}: {whose}: `{key}` must be {rule}, got {got}")]
    BadValue {
        /// The file.
        file: String,
        /// Body, sensor or world.
        whose: String,
        /// The key.
        key: &'static str,
        /// The rule.
        rule: &'static str,
        /// The value.
        got: String,
    },
    /// Too much or too little said.
    #[error("{file}: {whose}: {rule}")]
    Rule {
        /// The file.
        file: String,
        /// Body, sensor or gripper.
        whose: String,
        /// What is asked for.
        rule: &'static str,
    },
    /// A body that is not there.
    #[error("{file}: sensor {sensor:?}: `body` is {name:?}, and there is no such body; there are {known}")]
    NoBody {
        /// The file.
        file: String,
        /// The sensor.
        sensor: String,
        /// The name asked for.
        name: String,
        /// The names there are.
        known: String,
    },
    /// Two of one name.
    #[error("{file}: `name`: two {what} are called {name:?}; names must differ")]
    Duplicate {
        /// The file.
        file: String,
        /// Bodies or sensors.
        what: &'static str,
        /// The name.
        name: String,
    },
    /// A body's shape was refused.
    #[error("{file}: body {body:?}: `shape`: {error}")]
    Object {
        /// The file.
        file: String,
        /// The body.
        body: String,
        /// Why.
        error: Box<ObjectError>,
    },
    /// A free body's shape has no inside.
    #[error("{file}: body {body:?}: `motion` is \"free\" and its mass needs a closed shape: {error}")]
    Open {
        /// The file.
        file: String,
        /// The body.
        body: String,
        /// Why.
        error: TopologyError,
    },
    /// A sensor was refused.
    #[error("{file}: {error}")]
    Sensor {
        /// The file.
        file: String,
        /// Why.
        error: Box<SensorError>,
    },
    /// The world refused.
    #[error("{file}: {error}")]
    World {
        /// The file.
        file: String,
        /// Why.
        error: Box<WorldError>,
    },
}

impl SceneError {
    /// A sensor that was refused, in a scene file.
    pub fn sensor(file: &str) -> impl Fn(SensorError) -> Self {
        move |error| Self::Sensor { file: file.to_owned(), error: Box::new(error) }
    }
}
