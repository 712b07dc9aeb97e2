//! Makes and checks data sets.

use crate::error::{IntoPyErr, ToPyErr};
use crate::threads::detached;
use crate::touch::warn_text;
use dermis::dataset::{Dataset as Set, DatasetError, Share};
use pyo3::prelude::*;
use serde_json::json;
use std::path::PathBuf;

impl ToPyErr for DatasetError {
    fn missing_file(&self) -> Option<&str> {
        match self {
            Self::Unreadable { file, .. } if !std::path::Path::new(file).exists() => Some(file),
            _ => None,
        }
    }
}

/// A data set to make: its description, with sensors and objects loaded. See `dermis.dataset`.
#[pyclass(frozen, module = "dermis")]
pub struct Dataset {
    set: Set,
}

#[pymethods]
impl Dataset {
    /// Reads a description. `file` is its name in error messages, `folder` the folder of the files it refers to.
    #[new]
    fn new(py: Python<'_>, text: &str, file: &str, folder: Option<PathBuf>) -> PyResult<Self> {
        let set = detached(py, || Set::parse(file, text, folder.as_deref()))?.into_py_err()?;
        Ok(Self { set })
    }

    /// Name, counts and labels of the data set as JSON.
    fn about(&self) -> String {
        let set = &self.set;
        json!({
            "name": set.spec.name, "format": set.spec.format.name(), "scenario": set.spec.scenario.name(),
            "episodes": set.count(), "frames_per_episode": set.frames(), "shards": set.shards(),
            "episodes_per_shard": set.shard_len(), "labels": set.labels, "fingerprint": set.fingerprint(),
        })
        .to_string()
    }

    /// Makes the missing shards on `threads` threads (default: all cores) and calls `progress(made, wanted)`.
    /// Issues the warnings of the episodes, each kind once.
    fn make(&self, py: Python<'_>, out: PathBuf, threads: Option<usize>, progress: Option<Py<PyAny>>) -> PyResult<()> {
        let cores = || std::thread::available_parallelism().map_or(1, usize::from);
        let mut raised = None;
        let made = detached(py, || {
            self.set.make(&out, Share::ALL, threads.unwrap_or_else(cores), &mut |state| {
                if raised.is_none() {
                    raised = Python::attach(|py| {
                        let called = progress.as_ref().map(|progress| progress.call1(py, (state.made, state.wanted)));
                        py.check_signals().and(called.transpose()).err()
                    });
                }
                raised.is_none()
            })
        })?;
        match raised {
            Some(error) => Err(error),
            None => made.into_py_err()?.warnings.iter().try_for_each(|warning| warn_text(py, &warning.to_string())),
        }
    }

    /// Makes those of the given shards that are missing, on one core.
    fn make_shards(&self, py: Python<'_>, out: PathBuf, shards: Vec<usize>) -> PyResult<()> {
        detached(py, || self.set.make_shards(&out, &shards, &|| true))?.into_py_err()
    }

    /// Indices of the shards that are missing in a folder.
    fn missing(&self, py: Python<'_>, out: PathBuf) -> PyResult<Vec<usize>> {
        detached(py, || self.set.missing(&out))?.into_py_err()
    }

    /// Completes a folder that has all shards, and issues the warnings of their episodes.
    fn complete(&self, py: Python<'_>, out: PathBuf) -> PyResult<()> {
        let warnings = detached(py, || self.set.complete(&out))?.into_py_err()?;
        warnings.iter().try_for_each(|warning| warn_text(py, &warning.to_string()))
    }
}

/// Compares every file of a finished data set with its hash; returns the number of files.
#[pyfunction]
pub fn check_dataset(py: Python<'_>, folder: PathBuf) -> PyResult<usize> {
    detached(py, || dermis::dataset::check(&folder))?.into_py_err()
}
