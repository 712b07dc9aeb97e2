//! Sensors on a GPU: what of a sensor goes there, and what comes back.

pub mod arrays;
mod flight;
mod gel;
mod layer;

pub use dermis_gpu::{Choice, Gpu, GpuError, Timer, array, driver, sheet};
pub use flight::{GpuTacchiGel, boarded, flown};
pub use gel::{GpuGel, has_gel, with_gel_on};
pub use layer::{LayerBatch, describe_layer};
