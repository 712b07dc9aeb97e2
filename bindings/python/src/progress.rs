//! Progress of long calls on stderr.

use pyo3::prelude::*;

/// A progress bar of `dermis._progress`, or none.
pub struct Bar {
    bar: Option<Py<PyAny>>,
}

impl Bar {
    /// Starts a bar of `total` parts called `what`, if it is wanted.
    pub fn start(py: Python<'_>, wanted: bool, total: usize, what: &str) -> PyResult<Self> {
        let make = || Ok::<_, PyErr>(py.import("dermis._progress")?.call_method1("start", (total, what))?.unbind());
        Ok(Self { bar: wanted.then(make).transpose()? })
    }

    /// Shows that `done` parts are finished.
    pub fn show(&self, py: Python<'_>, done: usize) -> PyResult<()> {
        self.bar.as_ref().map_or(Ok(()), |bar| bar.call_method1(py, "show", (done,)).map(drop))
    }

    /// Ends the bar.
    pub fn close(&self, py: Python<'_>) -> PyResult<()> {
        self.bar.as_ref().map_or(Ok(()), |bar| bar.call_method0(py, "close").map(drop))
    }
}
