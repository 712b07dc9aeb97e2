//! Errors of sensor descriptions.

use crate::optics::OpticsError;
use crate::urdf::UrdfError;
use crate::{ResponseError, TomlError};
use dermis_geometry::MeshError;
use dermis_geometry::files::FileError;
use dermis_geometry::quantity::Length;
use dermis_geometry::shapes::ShapeError;
use dermis_geometry::tets::TetsError;
use dermis_skin::SkinError;

/// Why a description is not a sensor.
#[derive(Clone, Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the message of each variant names its fields")]
pub enum SensorError {
    /// The text is not the TOML that is expected.
    #[error(transparent)]
    Toml(#[from] TomlError),
    /// The file cannot be read.
    #[error("{path}: cannot be read: {reason}")]
    Unreadable { path: String, reason: String },
    /// A name that no preset has.
    #[error("there is no sensor {name:?}; the presets are {known}, or give the path of a .toml file")]
    Unknown { name: String, known: String },
    /// Two of a group of alternative keys, or none of them.
    #[error("sensor {sensor:?}: give exactly one of {keys}, found {found}")]
    OneOf { sensor: String, keys: &'static str, found: usize },
    /// An invalid response.
    #[error("sensor {sensor:?}: response: {error}")]
    BadResponse { sensor: String, error: ResponseError },
    /// Invalid parameters of the skin.
    #[error("sensor {sensor:?}: {error}")]
    Skin { sensor: String, error: SkinError },
    /// An invalid camera, light or set of markers.
    #[error("sensor {sensor:?}: {error}")]
    Optics { sensor: String, error: OpticsError },
    /// A key that breaks a rule.
    #[error("sensor {sensor:?}: `{key}` {rule}")]
    BadKey { sensor: String, key: &'static str, rule: String },
    /// An entry of an override, or of a description in parts, that does not fit.
    #[error("sensor {sensor:?}: `{key}`: {reason}")]
    Override { sensor: String, key: String, reason: String },
    /// The body of the skin cannot be cut into tetrahedra.
    #[error("sensor {sensor:?}: body of the hydroelastic skin: {error}")]
    Body { sensor: String, error: TetsError },
    /// The generator refused the shape.
    #[error(transparent)]
    Shape(ShapeError),
    /// The mesh file was refused.
    #[error(transparent)]
    File(FileError),
    /// The surface is no mesh.
    #[error(transparent)]
    Mesh(MeshError),
    /// The taxels of a robot description were refused.
    #[error(transparent)]
    Urdf(UrdfError),
}

impl SensorError {
    /// A key that breaks a rule.
    pub(crate) fn bad_key(sensor: &str, key: &'static str, rule: impl Into<String>) -> Self {
        Self::BadKey { sensor: sensor.to_owned(), key, rule: rule.into() }
    }

    /// Refuses a length that is not positive; returns it in metres.
    pub(crate) fn check_positive(sensor: &str, key: &'static str, length: Length) -> Result<f64, Self> {
        match length.si() {
            length_m if length_m > 0.0 && length_m.is_finite() => Ok(length_m),
            length_m => {
                Err(Self::bad_key(sensor, key, format!("must be a positive length, got {} mm", length_m * 1e3)))
            }
        }
    }

    /// For `map_err`: an error of the skin.
    pub(crate) fn skin(sensor: &str) -> impl Fn(SkinError) -> Self {
        move |error| Self::Skin { sensor: sensor.to_owned(), error }
    }
}
