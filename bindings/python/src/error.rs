//! Converts Rust errors to Python exceptions with the same message.

use dermis::geometry::files::{FileError, Problem};
use dermis::geometry::limits::SizeError;
use dermis::geometry::shapes::ShapeError;
use dermis::geometry::terminal_text;
use dermis::object::ObjectError;
use dermis::scene::SceneError;
use dermis::sensor::SensorError;
use dermis::sensor::optics::OpticsError;
use pyo3::exceptions::{PyAttributeError, PyFileNotFoundError, PyMemoryError, PyValueError};
use pyo3::prelude::*;
use std::path::Path;

pyo3::create_exception!(
    dermis,
    Error,
    PyValueError,
    "An input that dermis refuses. The message names the key, the rule and the value. A ValueError."
);

/// An error that becomes a Python exception with the same message.
pub trait ToPyErr: std::fmt::Display {
    /// The path of the missing file, if the error is a missing file.
    fn missing_file(&self) -> Option<&str> {
        None
    }

    /// True if the system did not give the memory.
    fn no_memory(&self) -> bool {
        false
    }

    /// The exception.
    fn to_py_err(&self) -> PyErr {
        let text = terminal_text(&self.to_string());
        match self.missing_file() {
            Some(_) => PyFileNotFoundError::new_err(text),
            None if self.no_memory() => PyMemoryError::new_err(text),
            None => Error::new_err(text),
        }
    }
}

/// The path, if no file exists there.
fn missing(file: &str) -> Option<&str> {
    (!Path::new(file).exists()).then_some(file)
}

impl ToPyErr for FileError {
    fn missing_file(&self) -> Option<&str> {
        (self.problem == Problem::NotFound).then_some(&self.file)
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

impl ToPyErr for SizeError {
    fn no_memory(&self) -> bool {
        matches!(self, Self::NoMemory(_))
    }
}

impl ToPyErr for ShapeError {
    fn no_memory(&self) -> bool {
        matches!(self, Self::NoMemory { .. })
    }
}

impl ToPyErr for ObjectError {
    fn no_memory(&self) -> bool {
        matches!(self, Self::Shape(error) if error.no_memory())
    }

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

/// Implements [`ToPyErr`] for errors that never report a missing file.
macro_rules! plain_errors {
    ($($error:ty),* $(,)?) => { $(impl ToPyErr for $error {})* };
}
plain_errors!(
    dermis::estimate::EstimateError,
    dermis::estimate::MaterialError,
    dermis::geometry::MeshError,
    dermis::geometry::TopologyError,
    dermis::gpu::GpuError,
    dermis::record::RecordError,
    dermis::run::RunError,
    dermis::sensor::GradientError,
    dermis::sensor::PressError,
    dermis::sensor::ResponseError,
    dermis::sensor::UnknownSkin,
    dermis::sensor::calibration::FitError,
    dermis::sensor::characterise::BenchError,
    dermis::sensor::metrics::MetricsError,
    dermis::sensor::optics::OpticsError,
    dermis::skin::SkinError,
    dermis::world::WorldError,
    dermis_mujoco_coupling::CouplingError,
    dermis_research::experiments::ExperimentError,
);

/// The exception for a part that a sensor does not have, as if the attribute did not exist: `hasattr` is false.
pub fn absent(why: impl std::fmt::Display) -> PyErr {
    PyAttributeError::new_err(why.to_string())
}

/// The exception for an image: [`absent`] without a camera or a surface that it sees.
pub fn image_error(error: &OpticsError) -> PyErr {
    match error {
        OpticsError::WithoutCamera { .. } | OpticsError::NoSurface { .. } => absent(error),
        _ => error.to_py_err(),
    }
}

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
