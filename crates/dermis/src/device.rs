//! Sensors on a graphics card: what of a sensor goes there, and what comes back.

pub mod arrays;
mod layer;

pub use dermis_device::{Choice, DeviceError, Gpu, Timer, array, driver, sheet};
pub use layer::{LayerBatch, describe_layer};
