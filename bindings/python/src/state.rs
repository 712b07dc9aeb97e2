//! The state of a sensor.

use crate::error::Error;
use dermis::sensor::ResponseState;
use dermis::skin;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyType};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// The state of a sensor: bristles, warm starts, particles, and the state of the response.
///
/// ``saved = sensor.state`` saves the state and ``sensor.state = saved`` restores it exactly. States can be pickled.
#[pyclass(frozen, module = "dermis")]
pub struct State {
    pub history: History,
}

/// The parts of a state. Cheap to clone.
#[derive(Clone, Serialize, Deserialize)]
pub struct History {
    /// State of the skin.
    pub skin: Arc<skin::State>,
    /// State of the response.
    pub response: Arc<ResponseState>,
    /// Number of steps; also the number of the camera frame.
    pub frame: u64,
}

#[pymethods]
impl State {
    fn __copy__(this: Py<Self>) -> Py<Self> {
        this
    }

    fn __deepcopy__(this: Py<Self>, _memo: &Bound<'_, PyAny>) -> Py<Self> {
        this
    }

    fn __eq__(&self, other: PyRef<'_, Self>) -> bool {
        let (a, b) = (&self.history, &other.history);
        a.skin == b.skin && a.response == b.response && a.frame == b.frame
    }

    #[classmethod]
    fn _restore(_class: &Bound<'_, PyType>, saved: &[u8]) -> PyResult<Self> {
        Ok(Self { history: serde_json::from_slice(saved).map_err(|error| Error::new_err(error.to_string()))? })
    }

    fn __reduce__<'py>(this: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        let saved = serde_json::to_vec(&this.get().history).map_err(|error| Error::new_err(error.to_string()))?;
        Ok((this.get_type().getattr("_restore")?, (PyBytes::new(this.py(), &saved),)))
    }
}
