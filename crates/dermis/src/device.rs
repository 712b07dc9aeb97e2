//! Sensors on a graphics card: what of a sensor goes there, and what comes back.

mod flight;
mod gel;

pub use dermis_device::{Choice, DeviceError, Gpu, Timer};
pub use flight::{DevicePaperGel, boarded, flown};
pub use gel::{DeviceGel, with_gel_on};
