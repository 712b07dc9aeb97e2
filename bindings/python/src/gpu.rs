//! Selects a GPU, and caches objects on it.

pub mod batch;
mod binding;
mod bound;
mod dlpack;
pub mod environments;
pub mod foreign;
mod tensor;

pub use batch::DeviceBatch;
pub use environments::Environments;
pub use tensor::DeviceArray;

use crate::error::IntoPyErr;
use dermis::gpu::{Choice, Gpu, GpuError, GpuObject};
use dermis::skin;
use pyo3::exceptions::PyRuntimeWarning;
use pyo3::prelude::*;
use std::ffi::CString;
use std::sync::{Arc, Mutex, Once, PoisonError, Weak};

/// Parses the name of a device.
pub fn choice(word: &str) -> PyResult<Choice> {
    word.parse::<Choice>().into_py_err()
}

/// The GPU to use; `None` for the CPU. Warns once per process if the choice is "auto" and there is no GPU.
pub fn open(py: Python<'_>, choice: Choice) -> PyResult<Option<Arc<Gpu>>> {
    if choice == Choice::Cpu {
        return Ok(None);
    }
    // Makes nvrtc from pip packages available.
    py.import("dermis._cuda")?.call_method0("preload")?;
    let mut why = None;
    let gpu = choice.gpu(|error| why = Some(error.to_string())).into_py_err()?;
    why.map_or(Ok(()), |why| warn_once(py, &why))?;
    Ok(gpu)
}

/// Warns once per process that the work runs on the CPU.
pub fn warn_once(py: Python<'_>, why: &str) -> PyResult<()> {
    static WARNED: Once = Once::new();
    let mut outcome = Ok(());
    WARNED.call_once(|| {
        let text = CString::new(format!("dermis runs on the CPU: {why}")).unwrap_or_default();
        outcome = PyErr::warn(py, &py.get_type::<PyRuntimeWarning>(), &text, 1);
    });
    outcome
}

/// The object on the GPU. Uploads it on first use and caches it while the host uses it.
pub fn object_on(gpu: &Arc<Gpu>, object: &Arc<skin::Object>) -> Result<Arc<GpuObject>, GpuError> {
    static KNOWN: Mutex<Vec<(Weak<skin::Object>, Arc<GpuObject>)>> = Mutex::new(Vec::new());
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    known.retain(|(object, _)| object.strong_count() > 0);
    let found = known.iter().find(|(known, _)| known.as_ptr() == Arc::as_ptr(object));
    if let Some((_, uploaded)) = found {
        return Ok(Arc::clone(uploaded));
    }
    let uploaded = Arc::new(GpuObject::new(gpu, object)?);
    known.push((Arc::downgrade(object), Arc::clone(&uploaded)));
    Ok(uploaded)
}
