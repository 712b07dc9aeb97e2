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

/// Errors of a sensor description.
#[derive(Clone, Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the message of each variant names its fields")]
pub enum SensorError {
    /// The text is not valid TOML for a sensor.
    #[error(transparent)]
    Toml(#[from] TomlError),
    /// The file cannot be read.
    #[error("{path}: cannot be read: {reason}")]
    Unreadable { path: String, reason: String },
    /// A name that is not a preset.
    #[error("there is no sensor {name:?}; the presets are {known}, or give the path of a .toml file{meant}")]
    Unknown { name: String, meant: String, known: String },
    /// More than one of a group of alternative keys, or none.
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
    /// A key that violates a rule.
    #[error("sensor {sensor:?}: `{key}` {rule}")]
    BadKey { sensor: String, key: &'static str, rule: String },
    /// An invalid entry of an override, or of a description in parts.
    #[error("sensor {sensor:?}: `{key}`: {reason}")]
    Override { sensor: String, key: String, reason: String },
    /// The body of the skin cannot be meshed with tetrahedra.
    #[error("sensor {sensor:?}: body of the hydroelastic skin: {error}")]
    Body { sensor: String, error: TetsError },
    /// An error of the shape generator.
    #[error(transparent)]
    Shape(ShapeError),
    /// An error of the mesh file.
    #[error(transparent)]
    File(FileError),
    /// An invalid surface mesh.
    #[error(transparent)]
    Mesh(MeshError),
    /// An error in the taxels of a robot description.
    #[error(transparent)]
    Urdf(UrdfError),
}

impl SensorError {
    /// An error for a key that violates a rule.
    pub(crate) fn bad_key(sensor: &str, key: &'static str, rule: impl Into<String>) -> Self {
        Self::BadKey { sensor: sensor.to_owned(), key, rule: rule.into() }
    }

    /// Returns a length in metres, or an error if it is not positive.
    pub(crate) fn check_positive(sensor: &str, key: &'static str, length: Length) -> Result<f64, Self> {
        match length.si() {
            length_m if length_m > 0.0 && length_m.is_finite() => Ok(length_m),
            length_m => {
                Err(Self::bad_key(sensor, key, format!("must be a positive length, got {} mm", length_m * 1e3)))
            }
        }
    }

    /// Converts an error of the skin, for `map_err`.
    pub(crate) fn skin(sensor: &str) -> impl Fn(SkinError) -> Self {
        move |error| Self::Skin { sensor: sensor.to_owned(), error }
    }
}
