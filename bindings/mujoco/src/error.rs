//! Errors of the plugin.

use dermis::sensor::optics::OpticsError;
use dermis::sensor::{ResponseError, SensorError, TomlError};
use dermis::skin::SkinError;
use dermis_mujoco_coupling::CouplingError;

/// Reasons for which the plugin refuses a model or a step. Messages start with the name of the sensor.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the message of each variant names its fields")]
pub enum PluginError {
    /// The sensor cannot be coupled to the model.
    #[error(transparent)]
    Coupling(#[from] CouplingError),
    /// Neither a preset nor a description is given.
    #[error("give `preset` (a name or the path of a .toml file) or `parameters` with all of a sensor; found neither")]
    NoSensor,
    /// Invalid TOML.
    #[error(
        "`{key}`: {error}; write TOML with `;` between lines, as in \"stiffness = '58.5 N/m'; damping = '0.6 N s/m'\""
    )]
    BadToml { key: &'static str, error: String },
    /// The description is not a valid sensor.
    #[error(transparent)]
    Sensor(#[from] SensorError),
    /// The value of a key is not one of the allowed words.
    #[error("`{key}` knows {known}, got {got:?}")]
    UnknownWord { key: &'static str, known: &'static str, got: String },
    /// The frame is missing or given more than once.
    #[error(
        "say once where the sensor is: objtype and objname of its <plugin> element, or one of the keys `site`, `body`, `geom`; found {found}"
    )]
    FrameCount { found: usize },
    /// The element cannot carry a sensor.
    #[error("objtype must be \"site\", \"body\", \"xbody\" or \"geom\"")]
    BadFrame,
    /// MuJoCo would also compute the contact.
    #[error(
        "{own} and {object} would touch twice, once by dermis and once by MuJoCo: give {own} contype=\"0\" conaffinity=\"0\", or add <exclude> for their bodies, or set mode to \"contacts\""
    )]
    TouchesTwice { own: String, object: String },
    /// The skin rejected the motion.
    #[error("at {time_s} s: {error}")]
    Skin { time_s: f64, error: SkinError },
    /// The contact forces of a step cannot be computed.
    #[error("at {time_s} s: {message}")]
    Step { time_s: f64, message: String },
    /// The response model returned an error.
    #[error("at {time_s} s: {error}")]
    Response { time_s: f64, error: ResponseError },
    /// The instance belongs to another plugin.
    #[error("the sensor is not a dermis.sensor")]
    NotOurs,
    /// There is no image.
    #[error(transparent)]
    Optics(#[from] OpticsError),
    /// The last step could not be made.
    #[error("the reading is invalid, so there is no image")]
    Invalid,
    /// A panic was caught; it must not unwind into MuJoCo.
    #[error("internal error: {0}; please report it with the model")]
    Panic(String),
}

impl From<TomlError> for PluginError {
    fn from(error: TomlError) -> Self {
        Self::Sensor(SensorError::Toml(error))
    }
}
