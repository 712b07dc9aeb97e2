//! Errors of the plugin.

use dermis::sensor::{ResponseError, SensorError, TomlError};
use dermis::skin::SkinError;
use dermis_mujoco_coupling::CouplingError;

/// Why the plugin refuses a model or a step. Messages start with the name of the sensor.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the message of each variant names its fields")]
pub enum PluginError {
    /// The sensor cannot be coupled to the model.
    #[error(transparent)]
    Coupling(#[from] CouplingError),
    /// Neither preset nor description.
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
    /// A word that a key does not know.
    #[error("`{key}` knows {known}, got {got:?}")]
    UnknownWord { key: &'static str, known: &'static str, got: String },
    /// No frame, or several.
    #[error(
        "say once where the sensor is: objtype and objname of its <plugin> element, or one of the keys `site`, `body`, `geom`; found {found}"
    )]
    FrameCount { found: usize },
    /// An element that cannot carry a sensor.
    #[error("objtype must be \"site\", \"body\", \"xbody\" or \"geom\"")]
    BadFrame,
    /// MuJoCo would compute the contact too.
    #[error(
        "{own} and {object} would touch twice, once by dermis and once by MuJoCo: give {own} contype=\"0\" conaffinity=\"0\", or add <exclude> for their bodies, or set mode to \"sense\""
    )]
    TouchesTwice { own: String, object: String },
    /// The skin refused the motion.
    #[error("at {time_s} s: {error}")]
    Skin { time_s: f64, error: SkinError },
    /// The response refused.
    #[error("at {time_s} s: {error}")]
    Response { time_s: f64, error: ResponseError },
    /// A panic that must not cross into MuJoCo.
    #[error("internal error: {0}; please report it with the model")]
    Panic(String),
}

impl From<TomlError> for PluginError {
    fn from(error: TomlError) -> Self {
        Self::Sensor(SensorError::Toml(error))
    }
}
