//! What can be wrong with a model that asks for a tactile sensor.

use dermis::geometry::MeshError;
use dermis::geometry::shapes::ShapeError;
use dermis::sensor::{ResponseError, SensorError, TomlError};
use dermis::skin::SkinError;

/// Why the plugin refuses. Every sentence is preceded by the name of the sensor it is about.
#[derive(Debug, thiserror::Error)]
pub enum PluginError {
    /// The library in this process is of a version without a table.
    #[error(
        "MuJoCo {version:?} is not one of the versions {first} to {last} whose data this build of dermis can read; install one of those, or a newer dermis"
    )]
    UnknownVersion {
        /// What `mj_versionString` says.
        version: String,
        /// Oldest known version.
        first: &'static str,
        /// Newest known version.
        last: &'static str,
    },
    /// Neither preset nor description.
    #[error("give `preset` (a name or the path of a .toml file) or `parameters` with all of a sensor; found neither")]
    NoSensor,
    /// Not the TOML that a key takes.
    #[error(
        "`{key}`: {error}; write TOML with `;` between lines, as in \"stiffness = '58.5 N/m'; damping = '0.6 N s/m'\""
    )]
    BadToml {
        /// The key.
        key: &'static str,
        /// What the parser says.
        error: String,
    },
    /// The description is not a sensor.
    #[error(transparent)]
    Sensor(#[from] SensorError),
    /// A word that a key does not know.
    #[error("`{key}` knows {known}, got {got:?}")]
    UnknownWord {
        /// The key.
        key: &'static str,
        /// The words it knows.
        known: &'static str,
        /// The word.
        got: String,
    },
    /// No place, or several.
    #[error(
        "say once where the sensor is: objtype and objname of its <plugin> element, or one of the keys `site`, `body`, `geom`; found {found}"
    )]
    WhereOnce {
        /// How many places were given.
        found: usize,
    },
    /// A place that cannot carry a sensor.
    #[error("objtype must be \"site\", \"body\", \"xbody\" or \"geom\"")]
    BadPlace,
    /// A name that the model has not.
    #[error("`{key}`: the model has no {what} {name:?}")]
    NoSuch {
        /// The key.
        key: &'static str,
        /// What was looked for.
        what: &'static str,
        /// The name.
        name: String,
    },
    /// A body without geoms.
    #[error("`objects`: body {name:?} has no geoms to touch")]
    NothingToTouch {
        /// The body.
        name: String,
    },
    /// No geom that the sensor could feel.
    #[error("there is nothing to touch: no geom of another body takes part in contacts; name some in `objects`")]
    NoObjects,
    /// An object that moves with the sensor.
    #[error("`objects`: {geom} moves with the sensor's own body and can never press on it")]
    OwnGeom {
        /// The geom.
        geom: String,
    },
    /// A geom without a surface.
    #[error("{geom} cannot be touched: {reason}")]
    BadGeom {
        /// The geom.
        geom: String,
        /// Why.
        reason: String,
    },
    /// MuJoCo would press too.
    #[error(
        "{own} and {object} would touch twice, once by dermis and once by MuJoCo: give {own} contype=\"0\" conaffinity=\"0\", or add <exclude> for their bodies, or set mode to \"sense\""
    )]
    TouchesTwice {
        /// The geom of the sensor's own body.
        own: String,
        /// The geom that is felt.
        object: String,
    },
    /// The springs are too stiff for the step.
    #[error(
        "a time step of {step_s:.3e} s is too long for its springs against {object}: at most {limit_s:.3e} s is stable; set <option timestep=\"{advised_s:.1e}\"/>, or soften the skin, or set mode to \"sense\""
    )]
    StepTooLong {
        /// The time step (s).
        step_s: f64,
        /// What presses.
        object: String,
        /// The longest stable step (s).
        limit_s: f64,
        /// What to set (s).
        advised_s: f64,
    },
    /// The skin refused the motion.
    #[error("at {time_s} s: {error}")]
    Skin {
        /// Time of the simulation (s).
        time_s: f64,
        /// What is wrong.
        error: SkinError,
    },
    /// The response refused.
    #[error("at {time_s} s: {error}")]
    Response {
        /// Time of the simulation (s).
        time_s: f64,
        /// What is wrong.
        error: ResponseError,
    },
    /// A panic that must not cross into MuJoCo.
    #[error("internal error: {0}; please report it with the model")]
    Panic(String),
}

impl From<TomlError> for PluginError {
    fn from(error: TomlError) -> Self {
        Self::Sensor(SensorError::Toml(error))
    }
}

impl PluginError {
    /// A geom whose mesh is refused.
    pub fn bad_mesh(geom: &str, error: &MeshError) -> Self {
        Self::BadGeom { geom: geom.to_owned(), reason: error.to_string() }
    }

    /// A geom whose sizes are refused.
    pub fn bad_shape(geom: &str, error: &ShapeError) -> Self {
        Self::BadGeom { geom: geom.to_owned(), reason: error.to_string() }
    }
}
