//! Arrays of taxels under one object: many presses at once.
//!
//! Everything is in `f64`, in the sensor's frame and in the order of the CPU's own sums where that is cheap, and products are not fused
//! with sums: what comes out differs from the CPU by rounding alone. Two runs give the same bytes.

mod description;
mod fetch;
mod pads;
mod poses;
mod presses;
mod sensor;
mod shape;
mod springs;
mod steps;

pub use description::{Cells, PadDescription, Rubbing, SpringDescription, SpringSite, Stiffness, Stretch, Tetrahedron};
pub use fetch::fetch_into;
pub use pads::Pads;
pub use poses::{Foreign, Layout, Poses, Twists};
pub use presses::Presses;
pub use sensor::{Arrays, Environments, Thing, pad_of, springs_of};
pub use shape::Shape;
pub use springs::Springs;
pub use steps::Steps;

use crate::{Gpu, GpuError};
use cudarc::driver::{CudaSlice, DevicePtr, DeviceRepr, LaunchConfig, ValidAsZeroBits};

/// Compiled so, products and sums round as they do on the CPU.
const UNFUSED: &str = "--fmad=false";

/// A grid of blocks over `count` things, `per_block` of them in each.
fn grid(count: usize, per_block: usize, threads: u32) -> LaunchConfig {
    let blocks = count.div_ceil(per_block).max(1) as u32;
    LaunchConfig { grid_dim: (blocks, 1, 1), block_dim: (threads, 1, 1), shared_mem_bytes: 0 }
}

/// Numbers on the GPU. Of none, room for one: a buffer without an address is no argument.
fn upload<T: DeviceRepr + Clone + Default>(gpu: &Gpu, values: &[T]) -> Result<CudaSlice<T>, GpuError> {
    match values {
        [] => Ok(gpu.stream.clone_htod(&[T::default()])?),
        _ => Ok(gpu.stream.clone_htod(values)?),
    }
}

/// Room for numbers, all zero.
fn zeros<T: DeviceRepr + ValidAsZeroBits>(gpu: &Gpu, len: usize) -> Result<CudaSlice<T>, GpuError> {
    Ok(gpu.stream.alloc_zeros(len.max(1))?)
}

/// Room for numbers that a kernel writes, all of them.
fn room<T: DeviceRepr>(gpu: &Gpu, len: usize) -> Result<CudaSlice<T>, GpuError> {
    // SAFETY: every caller hands it to a kernel that writes each element before anything reads it.
    #[allow(unsafe_code)]
    let made = unsafe { gpu.stream.alloc(len.max(1)) };
    Ok(made?)
}

/// Where a buffer lies, for structs of pointers that kernels take.
fn address<T>(gpu: &Gpu, buffer: &CudaSlice<T>) -> u64 {
    buffer.device_ptr(&gpu.stream).0
}
