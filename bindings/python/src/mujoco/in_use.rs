//! Notices that the simulation of an attachment was replaced.
//!
//! `MjSpec.recompile` and the hard reset of robosuite make a new mjModel and mjData, and the old ones stay as they are.
//! An attachment keeps them alive; when nothing but attachments refers to the mjData, nobody can step it any more.

use crate::error::Error;
use crate::mujoco::progress::lock;
use pyo3::prelude::*;
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

/// Number of attachments that hold each mjData, by the address of the Python object.
static HOLDERS: Mutex<BTreeMap<usize, usize>> = Mutex::new(BTreeMap::new());

/// The Python objects of an attachment.
pub struct Holder {
    model: Py<PyAny>,
    data: Py<PyAny>,
    /// True if the program has asked the attachment for its data since the last check: it may use them without a
    /// reference of its own.
    asked: AtomicBool,
    /// True after the first check.
    checked: AtomicBool,
}

impl Holder {
    /// Holds a mujoco.MjModel and a mujoco.MjData.
    pub fn new(model: &Bound<'_, PyAny>, data: &Bound<'_, PyAny>) -> Self {
        *lock(&HOLDERS).entry(data.as_ptr() as usize).or_default() += 1;
        Self {
            model: model.clone().unbind(),
            data: data.clone().unbind(),
            asked: AtomicBool::new(false),
            checked: AtomicBool::new(false),
        }
    }

    /// The model.
    pub fn model(&self, py: Python<'_>) -> Py<PyAny> {
        self.model.clone_ref(py)
    }

    /// The data, for dermis itself.
    pub fn data(&self, py: Python<'_>) -> Py<PyAny> {
        self.data.clone_ref(py)
    }

    /// The data, for the program.
    pub fn ask_data(&self, py: Python<'_>) -> Py<PyAny> {
        self.asked.store(true, Ordering::Relaxed);
        self.data(py)
    }

    /// Refuses data that only attachments refer to. The first time, data of a model that is still in use are accepted:
    /// a program may read them once without stepping them.
    pub fn check(&self, py: Python<'_>) -> PyResult<()> {
        let asked = self.asked.swap(false, Ordering::Relaxed);
        let first = !self.checked.swap(true, Ordering::Relaxed);
        let holders = lock(&HOLDERS).get(&(self.data.as_ptr() as usize)).copied().unwrap_or(1);
        if asked || others(py, &self.data)? > holders {
            return Ok(());
        }
        // An mjData refers to its model.
        if first && others(py, &self.model)? > holders + 1 {
            return Ok(());
        }
        Err(Error::new_err(
            "the mjData that the sensor is attached to was replaced: nothing else refers to it (MjSpec.recompile and a hard reset make new \
             data); attach the sensor to the new model and data, or keep a reference to this one",
        ))
    }
}

impl Drop for Holder {
    fn drop(&mut self) {
        let mut holders = lock(&HOLDERS);
        let key = self.data.as_ptr() as usize;
        if let Some(count) = holders.get_mut(&key) {
            *count -= 1;
            if *count == 0 {
                holders.remove(&key);
            }
        }
    }
}

/// Number of references to an object, compared with those to a new object that is referred to once.
pub(super) fn others(py: Python<'_>, object: &Py<PyAny>) -> PyResult<usize> {
    let count =
        |object: &Py<PyAny>| -> PyResult<usize> { py.import("sys")?.call_method1("getrefcount", (object,))?.extract() };
    let single = pyo3::types::PyDict::new(py).into_any().unbind();
    Ok((count(object)? + 1).saturating_sub(count(&single)?))
}
