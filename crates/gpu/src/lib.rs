//! CUDA versions of skins: arrays of taxels, layers and gels.
//!
//! CUDA is loaded at run time: a program with this crate starts on any machine, and [`Gpu::open`] reports which library
//! is missing. All other items need a [`Gpu`]. Sensors, skins and objects are those of `dermis-sensor` and
//! `dermis-skin`.
//!
//! NVIDIA's run-time compiler (nvrtc) compiles kernels on first use. Their machine code is cached in a folder:
//! `$DERMIS_CACHE_DIR`, else `$XDG_CACHE_HOME/dermis`, else `~/.cache/dermis`. With a complete cache, nvrtc is not
//! needed.

#![allow(unsafe_code, reason = "calls of the CUDA driver and of nvrtc are unsafe; each block has a SAFETY comment")]

pub mod array;
mod cache;
mod capture;
mod choice;
mod cuda_struct;
pub mod environments;
mod error;
pub mod gel;
pub mod goals;
mod gpu;
pub mod layer;
mod library;
mod memory;
mod object;
mod precision;
mod program;
mod timer;

pub use cache::user_folder as cache_folder;
pub use choice::Choice;
pub use cuda_struct::Plain;
pub use environments::Environments;
pub use error::GpuError;
pub use gel::{GelSkin, GpuGel, GpuMpm, GpuTacchiGel, MpmRun};
pub use gpu::Gpu;
pub use layer::LayerBatch;
pub use library::{compiler_version, driver_version, has_driver};
pub use memory::{DeviceBuffer, PinnedBuffer};
pub use object::GpuObject;
pub use precision::Precision;
pub use timer::Timer;
