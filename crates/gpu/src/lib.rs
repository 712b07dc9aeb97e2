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
pub mod layer;
mod library;
mod program;
mod timer;

pub use choice::Choice;
pub use error::GpuError;
pub use gel::{GpuGel, GpuTacchiGel, boarded, flown, has_gel, with_gel_on};
pub use gpu::Gpu;
pub use layer::{LayerBatch, describe_layer};
pub use timer::Timer;

pub use cudarc::driver;
