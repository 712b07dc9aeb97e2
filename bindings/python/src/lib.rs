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
mod experiments;
mod features;
mod gpu;
mod metrics;
mod motion;
mod mujoco;
mod object;
mod pose;
mod reading;
mod recording;
mod sensor;
mod shared_sensor;
mod state;
mod threads;
mod touch;
mod world;

use pyo3::prelude::*;

/// Names of the built-in sensors, for ``Sensor.preset``.
#[pyfunction]
fn presets() -> Vec<&'static str> {
    dermis::sensor::presets::names().collect()
}

#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    threads::remember_process();
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
    module.add_class::<object::Object>()?;
    module.add_class::<reading::Reading>()?;
    module.add_class::<recording::Recording>()?;
    module.add_class::<sensor::Sensor>()?;
    module.add_class::<state::State>()?;
    module.add_class::<touch::Touch>()?;
    module.add_class::<world::World>()?;
    module.add_function(wrap_pyfunction!(presets, module)?)?;
    module.add_function(wrap_pyfunction!(bench::characterise_sensor, module)?)?;
    module.add_function(wrap_pyfunction!(dataset::check_dataset, module)?)?;
    module.add_function(wrap_pyfunction!(bench::fit_sensor, module)?)?;
    module.add_function(wrap_pyfunction!(metrics::compare_images, module)?)?;
    module.add_function(wrap_pyfunction!(experiments::experiment_list, module)?)?;
    module.add_function(wrap_pyfunction!(experiments::run_experiment, module)?)
}
