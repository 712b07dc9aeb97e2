//! Comparisons with reference solutions and with published measurements: `dermis validate`.

pub mod eflesh;
pub mod feats;
pub mod gradients;
pub mod hydroelastic;
pub mod inverse;
pub mod layer;
pub mod magnetic;
pub mod real;

use dermis::geometry::limits::MAX_TABLE_BYTES;
use dermis::geometry::regular_file;
use dermis::skin::SkinError;
use std::path::Path;

/// An error in a comparison.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the message of each variant names its fields")]
pub enum ValidateError {
    /// A file cannot be read.
    #[error("{path}: cannot be read: {reason}")]
    Unreadable { path: String, reason: String },
    /// Invalid JSON.
    #[error("{path}: not a golden file of this kind: {reason}")]
    BadJson { path: String, reason: String },
    /// An invalid case.
    #[error("{place}: {reason}")]
    BadCase { place: String, reason: String },
    /// An invalid row of a table.
    #[error("{path}: row {row} must be {columns} numbers with commas between them, got {text:?}")]
    BadRow { path: String, row: usize, columns: usize, text: String },
    /// An invalid grid size.
    #[error("`cells` must be 16 to 2048, got {got}")]
    BadCells { got: usize },
    /// An error of the skin.
    #[error(transparent)]
    Skin(#[from] SkinError),
    /// An invalid indenter.
    #[error(transparent)]
    Shape(#[from] dermis::geometry::shapes::ShapeError),
    /// An invalid mesh.
    #[error(transparent)]
    Mesh(#[from] dermis::geometry::MeshError),
}

fn read_text(path: &Path) -> Result<String, ValidateError> {
    regular_file::read_text(path, MAX_TABLE_BYTES)
        .map_err(|error| ValidateError::Unreadable { path: path.display().to_string(), reason: error.to_string() })
}

fn read_json<T: serde::de::DeserializeOwned>(path: &Path) -> Result<T, ValidateError> {
    serde_json::from_str(&read_text(path)?)
        .map_err(|error| ValidateError::BadJson { path: path.display().to_string(), reason: error.to_string() })
}
