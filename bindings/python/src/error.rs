//! Converts Rust errors to Python exceptions with the same message.

use dermis::geometry::files::FileError;
use dermis::object::ObjectError;
use dermis::scene::SceneError;
use dermis::sensor::SensorError;
use pyo3::exceptions::{PyFileNotFoundError, PyValueError};
use pyo3::prelude::*;
use std::path::Path;

pyo3::create_exception!(
    dermis,
    Error,
    PyValueError,
    "An input that dermis refuses. The message names the key, the rule and the value. A ValueError."
);

/// An error that becomes an exception with the same text.
pub trait ToPyErr: std::fmt::Display {
    /// The file that does not exist, if that is the error.
    fn missing_file(&self) -> Option<&str> {
        None
    }

    /// The exception.
    fn to_py_err(&self) -> PyErr {
        match self.missing_file() {
            Some(_) => PyFileNotFoundError::new_err(self.to_string()),
            None => Error::new_err(self.to_string()),
        }
    }
}

/// The file, if it does not exist.
fn missing(file: &str) -> Option<&str> {
    (!Path::new(file).exists()).then_some(file)
}

impl ToPyErr for FileError {
    fn missing_file(&self) -> Option<&str> {
        match self {
            Self::NotFound { file } => Some(file),
            _ => None,
        }
    }
}

impl ToPyErr for SensorError {
    fn missing_file(&self) -> Option<&str> {
        match self {
            Self::Unreadable { path, .. } => missing(path),
            Self::File(error) => error.missing_file(),
            _ => None,
        }
    }
}

impl ToPyErr for ObjectError {
    fn missing_file(&self) -> Option<&str> {
        match self {
            Self::File(error) => error.missing_file(),
            _ => None,
        }
    }
}

impl ToPyErr for SceneError {
    fn missing_file(&self) -> Option<&str> {
        match self {
            Self::Unreadable { file, .. } => missing(file),
            Self::Object { error, .. } => error.missing_file(),
            Self::Sensor { error, .. } => error.missing_file(),
            _ => None,
        }
    }
}

impl ToPyErr for dermis::gpu::GpuError {}
impl ToPyErr for dermis_mujoco_coupling::CouplingError {}
impl ToPyErr for dermis::experiments::ExperimentError {}
impl ToPyErr for dermis::geometry::MeshError {}
impl ToPyErr for dermis::record::RecordError {}
impl ToPyErr for dermis::run::RunError {}
impl ToPyErr for dermis::geometry::TopologyError {}
impl ToPyErr for dermis::geometry::shapes::ShapeError {}
impl ToPyErr for dermis::sensor::PressError {}
impl ToPyErr for dermis::sensor::ResponseError {}
impl ToPyErr for dermis::sensor::calibration::FitError {}
impl ToPyErr for dermis::sensor::characterise::BenchError {}
impl ToPyErr for dermis::sensor::metrics::MetricsError {}
impl ToPyErr for dermis::sensor::optics::OpticsError {}
impl ToPyErr for dermis::skin::SkinError {}
impl ToPyErr for dermis::world::WorldError {}

/// Results whose errors become exceptions.
pub trait IntoPyErr<T> {
    /// The value or the exception.
    fn into_py_err(self) -> PyResult<T>;
}

impl<T, E: ToPyErr> IntoPyErr<T> for Result<T, E> {
    fn into_py_err(self) -> PyResult<T> {
        self.map_err(|error| error.to_py_err())
    }
}
