//! Touch on a GPU.
//!
//! CUDA is found at run time: a program with this crate in it starts on any machine, [`Gpu::open`] says what is missing, and
//! nothing else here can be had without a [`Gpu`]. Kernels are compiled for the GPU by NVIDIA's run-time compiler when they are
//! first needed.
//!
//! The crate takes plain numbers and knows no skin or sensor: what becomes of those on a GPU is in the facade.

pub mod array;
mod choice;
mod error;
pub mod gel;
mod gpu;
mod kind;
mod library;
mod program;
pub mod sheet;
mod timer;

pub use choice::Choice;
pub use error::GpuError;
pub use gpu::Gpu;
pub use timer::Timer;

/// What buffers and launches are made with.
pub use cudarc::driver;
