//! Errors of scene files.

use crate::object::ObjectError;
use dermis_geometry::TopologyError;
use dermis_sensor::{SensorError, TomlError};
use dermis_world::WorldError;

/// An error in a scene. Messages name the file, the body or sensor, and the key.
///
/// ```
/// use dermis::scene::SceneSpec;
/// let scene = SceneSpec::parse("empty.toml", "world.duration = '1 s'")?;
/// let error = scene.validate("empty.toml").unwrap_err();
/// assert!(error.to_string().starts_with("empty.toml"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the message of each variant names its fields")]
pub enum SceneError {
    /// Invalid TOML.
    #[error(transparent)]
    Toml(#[from] TomlError),
    /// The file cannot be read.
    #[error("{file}: cannot be read: {reason}")]
    Unreadable { file: String, reason: String },
    /// A change of an entry that is none of a scene.
    #[error("{file}: change of `{key}`: {reason}")]
    Override { file: String, key: String, reason: String },
    /// A value outside its range.
    #[error("{file}: {owner}: `{key}` must be {rule}, got {got}")]
    BadValue { file: String, owner: String, key: &'static str, rule: &'static str, got: String },
    /// Missing or contradictory entries.
    #[error("{file}: {owner}: {rule}")]
    Rule { file: String, owner: String, rule: &'static str },
    /// A reference to an unknown body.
    #[error("{file}: sensor {sensor:?}: `body` is {name:?}, and there is no such body; there are {known}")]
    NoBody { file: String, sensor: String, name: String, known: String },
    /// A duplicate name.
    #[error("{file}: `name`: two {what} are called {name:?}; names must differ")]
    Duplicate { file: String, what: &'static str, name: String },
    /// An invalid shape of a body.
    #[error("{file}: body {body:?}: `shape`: {error}")]
    Object { file: String, body: String, error: Box<ObjectError> },
    /// A free body's shape is not closed.
    #[error("{file}: body {body:?}: `motion` is \"free\" and its mass needs a closed shape: {error}")]
    Open { file: String, body: String, error: TopologyError },
    /// An invalid sensor.
    #[error("{file}: {error}")]
    Sensor { file: String, error: Box<SensorError> },
    /// An error of the world.
    #[error("{file}: {error}")]
    World { file: String, error: Box<WorldError> },
}

impl SceneError {
    pub(super) fn bad_value(file: &str, owner: &str, key: &'static str, rule: &'static str, got: String) -> Self {
        Self::BadValue { file: file.to_owned(), owner: owner.to_owned(), key, rule, got }
    }

    pub(super) fn rule(file: &str, owner: &str, rule: &'static str) -> Self {
        Self::Rule { file: file.to_owned(), owner: owner.to_owned(), rule }
    }

    /// For `map_err`: an invalid sensor in a scene file.
    pub fn sensor(file: &str) -> impl Fn(SensorError) -> Self {
        move |error| Self::Sensor { file: file.to_owned(), error: Box::new(error) }
    }
}
