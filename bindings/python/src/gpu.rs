//! GPUs: whether there is one, and the objects that were uploaded to it.

pub mod batch;
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

/// Reads a word that names a device.
pub fn choice(word: &str) -> PyResult<Choice> {
    word.parse::<Choice>().into_py_err()
}

/// The GPU to use; none is the CPU, and then a warning has said why, once in a process.
pub fn open(py: Python<'_>, choice: Choice) -> PyResult<Option<Arc<Gpu>>> {
    if choice == Choice::Cpu {
        return Ok(None);
    }
    // pip's packages carry the compiler in a folder that the loader does not know.
    py.import("dermis._cuda")?.call_method0("preload")?;
    let mut why = None;
    let gpu = choice.gpu(|error| why = Some(error.to_string())).into_py_err()?;
    why.map_or(Ok(()), |why| warn_once(py, &why))?;
    Ok(gpu)
}

/// Says once in a process that the CPU does the work.
pub fn warn_once(py: Python<'_>, why: &str) -> PyResult<()> {
    static SAID: Once = Once::new();
    let mut outcome = Ok(());
    SAID.call_once(|| {
        let text = CString::new(format!("dermis works on the CPU: {why}")).unwrap_or_default();
        outcome = PyErr::warn(py, &py.get_type::<PyRuntimeWarning>(), &text, 1);
    });
    outcome
}

/// An object on the GPU: uploaded when it is first asked for, kept as long as it lives on the host.
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
