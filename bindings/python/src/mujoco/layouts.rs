//! The layout of MuJoCo's structs, for `dermis._mujoco_layout`.

use crate::error::{Error, IntoPyErr};
use dermis_mujoco_coupling::layout::{self, Layout};
use dermis_mujoco_coupling::{CouplingError, Library};
use pyo3::prelude::*;

/// The versions of MuJoCo whose structs dermis knows, and the fields of a layout in order.
#[pyfunction]
pub fn mujoco_layouts() -> (&'static [&'static str], &'static [&'static str]) {
    (layout::VERSIONS, layout::FIELDS)
}

/// The layout of the loaded MuJoCo: the numbers of the fields in order.
#[pyfunction]
pub fn mujoco_layout() -> PyResult<Vec<usize>> {
    let library = Library::here().ok_or(CouplingError::NotLoaded).into_py_err()?;
    Ok(library.layout().into_py_err()?.numbers())
}

/// Sets the layout of MuJoCo's structs: the numbers of the fields in order.
#[pyfunction]
pub fn set_mujoco_layout(numbers: Vec<usize>) -> PyResult<()> {
    let layout = Layout::from_numbers(&numbers).ok_or_else(|| {
        Error::new_err(format!("a layout has {} numbers, got {}", layout::FIELDS.len(), numbers.len()))
    })?;
    // SAFETY: `dermis._mujoco_layout` computes the numbers from the declarations of the loaded MuJoCo.
    unsafe { Library::set_layout(layout) };
    Ok(())
}
