//! Sensors on a graphics card: what of a sensor goes there, and what comes back.

pub mod arrays;
mod flight;
mod gel;
mod layer;

pub use dermis_device::{Choice, DeviceError, Gpu, Timer, array, driver, sheet};
pub use flight::{DevicePaperGel, boarded, flown};
pub use gel::{DeviceGel, has_gel, with_gel_on};
pub use layer::{LayerBatch, describe_layer};
