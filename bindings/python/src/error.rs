//! From errors of Rust to exceptions of Python, in the same words.

use dermis::geometry::files::{FileError, Problem};
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
    "What dermis refuses, in one sentence that says who, which key, the rule and the value. A ValueError."
);

/// An error that becomes an exception with the same text.
pub trait Told: std::fmt::Display {
    /// The file that is not there, if that is the trouble.
    fn missing_file(&self) -> Option<&str> {
        None
    }

    /// The exception.
    fn told(&self) -> PyErr {
        match self.missing_file() {
            Some(_) => PyFileNotFoundError::new_err(self.to_string()),
            None => Error::new_err(self.to_string()),
        }
    }
}

/// The file, unless it is there and unreadable for another reason.
fn absent(file: &str) -> Option<&str> {
    (!Path::new(file).exists()).then_some(file)
}

impl Told for FileError {
    fn missing_file(&self) -> Option<&str> {
        (self.problem == Problem::NotFound).then_some(&self.file)
    }
}

impl Told for SensorError {
    fn missing_file(&self) -> Option<&str> {
        match self {
            Self::Unreadable { path, .. } => absent(path),
            Self::File(error) => error.missing_file(),
            _ => None,
        }
    }
}

impl Told for ObjectError {
    fn missing_file(&self) -> Option<&str> {
        match self {
            Self::File(error) => error.missing_file(),
            _ => None,
        }
    }
}

impl Told for SceneError {
    fn missing_file(&self) -> Option<&str> {
        match self {
            Self::Unreadable { file, .. } => absent(file),
            Self::Object { error, .. } => error.missing_file(),
            Self::Sensor { error, .. } => error.missing_file(),
            _ => None,
        }
    }
}

impl Told for dermis::gpu::GpuError {}
impl Told for dermis_research::experiments::ExperimentError {}
impl Told for dermis::geometry::MeshError {}
impl Told for dermis::record::RecordError {}
impl Told for dermis::run::RunError {}
impl Told for dermis::geometry::TopologyError {}
impl Told for dermis::geometry::shapes::ShapeError {}
impl Told for dermis::sensor::PressError {}
impl Told for dermis::sensor::ResponseError {}
impl Told for dermis::sensor::UnknownSkin {}
impl Told for dermis::sensor::calibration::FitError {}
impl Told for dermis::sensor::characterise::BenchError {}
impl Told for dermis::sensor::metrics::MetricsError {}
impl Told for dermis::sensor::optics::OpticsError {}
impl Told for dermis::skin::SkinError {}
impl Told for dermis::world::WorldError {}

/// Results whose errors can be told to Python.
pub trait IntoPyErr<T> {
    /// The value or the exception.
    fn into_py_err(self) -> PyResult<T>;
}

impl<T, E: Told> IntoPyErr<T> for Result<T, E> {
    fn into_py_err(self) -> PyResult<T> {
        self.map_err(|error| error.told())
    }
}
