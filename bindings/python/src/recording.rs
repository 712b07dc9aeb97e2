//! Recorded runs.

use crate::array::array;
use crate::error::Error;
use dermis::run;
use numpy::PyArrayDyn;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyType};

/// Readings and body positions of a run, one row per recorded time. Recordings can be pickled.
#[pyclass(frozen, module = "dermis")]
pub struct Recording {
    recording: run::Recording,
}

impl Recording {
    /// Wraps a recording.
    pub fn new(recording: run::Recording) -> Self {
        Self { recording }
    }

    fn track(&self, sensor: &str) -> PyResult<&run::SensorTrack> {
        self.recording.sensors.iter().find(|track| track.name == sensor).ok_or_else(|| {
            let known: Vec<&str> = self.recording.sensors.iter().map(|track| track.name.as_str()).collect();
            Error::new_err(format!("there is no sensor {sensor:?}; the sensors are {}", known.join(", ")))
        })
    }
}

#[pymethods]
impl Recording {
    /// Time of each row (s), shape (rows,).
    #[getter]
    fn times<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        array(py, &[self.recording.times_s.len()], &self.recording.times_s)
    }

    /// Names of the sensors.
    #[getter]
    fn sensors(&self) -> Vec<String> {
        self.recording.sensors.iter().map(|track| track.name.clone()).collect()
    }

    /// Names of the bodies that can move.
    #[getter]
    fn bodies(&self) -> Vec<String> {
        self.recording.bodies.iter().map(|track| track.name.clone()).collect()
    }

    /// Normal force on each taxel of a sensor (N), shape (rows, taxels).
    fn taxels<'py>(&self, py: Python<'py>, sensor: &str) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        let track = self.track(sensor)?;
        let values: Vec<f64> = track.rows.iter().flat_map(|row| row.values_newton.iter().copied()).collect();
        array(py, &[track.rows.len(), track.taxels], &values)
    }

    /// Force on a sensor, in its frame (N), shape (rows, 3).
    fn force<'py>(&self, py: Python<'py>, sensor: &str) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        let track = self.track(sensor)?;
        let values: Vec<f64> = track.rows.iter().flat_map(|row| row.force_newton.to_array()).collect();
        array(py, &[track.rows.len(), 3], &values)
    }

    /// Position of a body in the world frame (m), shape (rows, 3).
    fn positions<'py>(&self, py: Python<'py>, body: &str) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        let track = self.recording.bodies.iter().find(|track| track.name == body).ok_or_else(|| {
            let known: Vec<&str> = self.recording.bodies.iter().map(|track| track.name.as_str()).collect();
            Error::new_err(format!("there is no moving body {body:?}; the moving bodies are {}", known.join(", ")))
        })?;
        let values: Vec<f64> = track.poses.iter().flat_map(|pose| pose.translation.to_array()).collect();
        array(py, &[track.poses.len(), 3], &values)
    }

    /// Start time (s) and name of each phase of the task.
    #[getter]
    fn phases(&self) -> Vec<(f64, String)> {
        self.recording.phases.iter().map(|(time_s, phase)| (*time_s, format!("{phase:?}"))).collect()
    }

    /// Warnings of skins, world and task: results outside the range of a skin, loads that no sensor reads, bodies that
    /// passed a sensor or left the scene, a task that is not finished.
    #[getter]
    fn warnings(&self) -> Vec<String> {
        self.recording.warnings.texts()
    }

    fn __len__(&self) -> usize {
        self.recording.times_s.len()
    }

    fn __repr__(&self) -> String {
        format!("<dermis.Recording of {:?}: {} rows>", self.recording.scene, self.recording.times_s.len())
    }

    fn __copy__(this: Py<Self>) -> Py<Self> {
        this
    }

    fn __deepcopy__(this: Py<Self>, _memo: &Bound<'_, PyAny>) -> Py<Self> {
        this
    }

    #[classmethod]
    fn _restore(_class: &Bound<'_, PyType>, saved: &[u8]) -> PyResult<Self> {
        Ok(Self { recording: serde_json::from_slice(saved).map_err(|error| Error::new_err(error.to_string()))? })
    }

    fn __reduce__<'py>(this: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        let saved = serde_json::to_vec(&this.get().recording).map_err(|error| Error::new_err(error.to_string()))?;
        Ok((this.get_type().getattr("_restore")?, (PyBytes::new(this.py(), &saved),)))
    }
}
