//! The compiled module `dermis._native` of the Python package.
//!
//! One file per class, each a thin layer over the facade; users import `python/dermis`. Computations run with the GIL
//! released. The caller owns the returned arrays.

mod array;
mod batch;
mod bench;
mod contacts;
mod dataset;
mod error;
mod estimate;
mod experiments;
mod features;
mod gpu;
mod gradient;
mod metrics;
mod motion;
mod mujoco;
mod object;
mod path_gradient;
mod pose;
mod progress;
mod reading;
mod recording;
mod sensor;
mod shared_sensor;
mod state;
mod text_file;
mod threads;
mod touch;
mod world;
mod world_state;

use dermis::skin::hydroelastic::Material;
use error::IntoPyErr;
use pyo3::prelude::*;
use std::ffi::OsString;

/// Names of the built-in sensors, for ``Sensor.preset``.
#[pyfunction]
fn presets() -> Vec<&'static str> {
    dermis::sensor::presets::names().collect()
}

/// Hydroelastic modulus (Pa) of a body with Young's modulus young (Pa) and Poisson's ratio poisson.
///
/// With depth (m, the depth of the body: thickness of a pad, about half that of a solid), radius and indentation (m): a
/// rigid ball of that radius has the force of Hertz at that indentation. Without them: a pad thinner than its contacts
/// are wide.
///
/// >>> import dermis
/// >>> round(dermis.hydroelastic_modulus(young=100e3, poisson=0.0))
/// 100000
#[pyfunction]
#[pyo3(signature = (*, young, poisson, depth=None, radius=None, indentation=None))]
fn hydroelastic_modulus(
    young: f64,
    poisson: f64,
    depth: Option<f64>,
    radius: Option<f64>,
    indentation: Option<f64>,
) -> PyResult<f64> {
    match (depth, radius, indentation) {
        (Some(depth), Some(radius), Some(indentation)) => {
            Material::modulus_like_hertz_pa(young, poisson, depth, radius, indentation).into_py_err()
        }
        (None, None, None) => Material::modulus_like_pad_pa(young, poisson).into_py_err(),
        _ => Err(error::Error::new_err("give all of `depth`, `radius` and `indentation` (m), or none of them")),
    }
}

/// Runs the command line ``arguments``, which start with the name of the program, and returns the exit code. Ctrl-C ends the
/// process.
#[pyfunction]
fn run_command(py: Python<'_>, arguments: Vec<OsString>) -> PyResult<u8> {
    threads::detached(py, || dermis_cli::run_command(arguments))
}

#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("Error", module.py().get_type::<error::Error>())?;
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<batch::Batch>()?;
    module.add_class::<bench::Bench>()?;
    module.add_class::<gpu::DeviceArray>()?;
    module.add_class::<gpu::DeviceBatch>()?;
    module.add_class::<gpu::Environments>()?;
    module.add_class::<dataset::Dataset>()?;
    module.add_class::<features::Features>()?;
    module.add_class::<mujoco::Attachment>()?;
    module.add_function(wrap_pyfunction!(mujoco::has_coupled_skins, module)?)?;
    module.add_function(wrap_pyfunction!(mujoco::mujoco_layouts, module)?)?;
    module.add_function(wrap_pyfunction!(mujoco::mujoco_layout, module)?)?;
    module.add_function(wrap_pyfunction!(mujoco::set_mujoco_layout, module)?)?;
    module.add_class::<object::Object>()?;
    module.add_class::<reading::Reading>()?;
    module.add_class::<recording::Recording>()?;
    module.add_class::<sensor::Sensor>()?;
    module.add_class::<state::State>()?;
    module.add_class::<touch::Touch>()?;
    module.add_class::<world::World>()?;
    module.add_function(wrap_pyfunction!(presets, module)?)?;
    module.add_function(wrap_pyfunction!(hydroelastic_modulus, module)?)?;
    module.add_function(wrap_pyfunction!(bench::characterise_sensor, module)?)?;
    module.add_function(wrap_pyfunction!(dataset::check_dataset, module)?)?;
    module.add_function(wrap_pyfunction!(bench::fit_sensor, module)?)?;
    module.add_function(wrap_pyfunction!(metrics::compare_images, module)?)?;
    module.add_function(wrap_pyfunction!(bench::fit_material, module)?)?;
    module.add_function(wrap_pyfunction!(estimate::estimate_contact, module)?)?;
    module.add_function(wrap_pyfunction!(estimate::estimate_placement, module)?)?;
    module.add_function(wrap_pyfunction!(estimate::estimate_pose, module)?)?;
    module.add_function(wrap_pyfunction!(experiments::experiment_list, module)?)?;
    module.add_function(wrap_pyfunction!(run_command, module)?)?;
    module.add_function(wrap_pyfunction!(text_file::read_description, module)?)?;
    module.add_function(wrap_pyfunction!(text_file::read_table, module)?)?;
    module.add_function(wrap_pyfunction!(threads::panic_in, module)?)?;
    module.add_function(wrap_pyfunction!(threads::forbid_global_threads, module)?)?;
    module.add_function(wrap_pyfunction!(experiments::run_experiment, module)?)
}
