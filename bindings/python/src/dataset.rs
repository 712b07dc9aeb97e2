//! Makes and checks data sets.

use crate::error::{IntoPyErr, ToPyErr};
use crate::threads::{Job, interruptible, interruptible_job};
use crate::touch::warn_text;
use dermis::dataset::{Dataset as Set, DatasetError, Share};
use pyo3::prelude::*;
use serde_json::json;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

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
    set: Arc<Set>,
}

#[pymethods]
impl Dataset {
    /// Reads a description. `file` is its name in error messages, `folder` the folder of the files it refers to.
    #[new]
    fn new(py: Python<'_>, text: &str, file: &str, folder: Option<PathBuf>) -> PyResult<Self> {
        let (text, file) = (text.to_owned(), file.to_owned());
        let set = interruptible(py, move || Set::parse(&file, &text, folder.as_deref()))?.into_py_err()?;
        Ok(Self { set: Arc::new(set) })
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
        let (set, wanted) = (self.set.clone(), Arc::new(AtomicUsize::new(0)));
        let told = wanted.clone();
        let work = move |job: &Job| {
            set.make(&out, Share::ALL, threads.unwrap_or_else(cores), &mut |state| {
                told.store(state.wanted, Ordering::Relaxed);
                job.set_done(state.made);
                job.goes_on()
            })
        };
        let mut last = None;
        let tick = |job: &Job| {
            let state = (job.done(), wanted.load(Ordering::Relaxed));
            match &progress {
                Some(progress) if state.1 > 0 && last.replace(state) != Some(state) => {
                    progress.call1(py, state).map(drop)
                }
                _ => Ok(()),
            }
        };
        let made = interruptible_job(py, work, tick)?.into_py_err()?;
        made.warnings.iter().try_for_each(|warning| warn_text(py, &warning.to_string()))
    }

    /// Makes those of the given shards that are missing, on one core.
    fn make_shards(&self, py: Python<'_>, out: PathBuf, shards: Vec<usize>) -> PyResult<()> {
        let set = self.set.clone();
        let work = move |job: &Job| set.make_shards(&out, &shards, &|| job.goes_on());
        interruptible_job(py, work, |_| Ok(()))?.into_py_err()
    }

    /// Indices of the shards that are missing in a folder.
    fn missing(&self, py: Python<'_>, out: PathBuf) -> PyResult<Vec<usize>> {
        let set = self.set.clone();
        interruptible(py, move || set.missing(&out))?.into_py_err()
    }

    /// Completes a folder that has all shards, and issues the warnings of their episodes.
    fn complete(&self, py: Python<'_>, out: PathBuf) -> PyResult<()> {
        let set = self.set.clone();
        let warnings = interruptible(py, move || set.complete(&out))?.into_py_err()?;
        warnings.iter().try_for_each(|warning| warn_text(py, &warning.to_string()))
    }
}

/// Compares every file of a finished data set with its hash; returns the number of files.
#[pyfunction]
pub fn check_dataset(py: Python<'_>, folder: PathBuf) -> PyResult<usize> {
    interruptible(py, move || dermis::dataset::check(&folder))?.into_py_err()
}
