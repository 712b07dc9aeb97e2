//! The buffers and the cooperative kernel of one solver.

use crate::cuda_struct::{Plain, Ptr, PtrMut, bytes_of, bytes_of_mut};
use crate::program::Program;
use crate::{DeviceBuffer, Gpu, GpuError, PinnedBuffer};
use cudarc::driver::{CudaFunction, DeviceRepr, LaunchConfig, PushKernelArg};
use std::sync::Arc;

/// Owns buffers; a solver's task holds their addresses.
#[derive(Debug)]
pub(super) struct Arena {
    gpu: Arc<Gpu>,
    buffers: Vec<DeviceBuffer<u8>>,
}

impl Arena {
    pub fn new(gpu: &Arc<Gpu>) -> Self {
        Self { gpu: Arc::clone(gpu), buffers: Vec::new() }
    }

    /// Uploads values that kernels read.
    pub fn upload<T: Plain>(&mut self, values: &[T]) -> Result<Ptr<T>, GpuError> {
        self.upload_mut(values).map(|at| Ptr::new(at.0))
    }

    /// Uploads values that kernels modify.
    pub fn upload_mut<T: Plain>(&mut self, values: &[T]) -> Result<PtrMut<T>, GpuError> {
        self.keep(self.gpu.upload(bytes_of(values))?)
    }

    /// Allocates zeroed values.
    pub fn zeros<T: Plain>(&mut self, len: usize) -> Result<PtrMut<T>, GpuError> {
        self.keep(self.gpu.zeros(len * size_of::<T>())?)
    }

    fn keep<T>(&mut self, buffer: DeviceBuffer<u8>) -> Result<PtrMut<T>, GpuError> {
        let address = buffer.address();
        self.buffers.push(buffer);
        Ok(PtrMut::new(address))
    }

    /// Replaces the first values of a buffer of this arena.
    pub fn write<T: Plain>(&mut self, at: PtrMut<T>, values: &[T]) -> Result<(), GpuError> {
        let buffer = self.buffers.iter_mut().find(|buffer| buffer.address() == at.0);
        buffer.expect("an address of this arena").write(0, bytes_of(values))
    }

    /// Queues a copy of the first values of a buffer of this arena, as many as fit.
    pub fn queue_read<T: Plain>(&self, at: PtrMut<T>, to: &mut PinnedBuffer<T>) -> Result<(), GpuError> {
        let buffer = self.buffers.iter().find(|buffer| buffer.address() == at.0);
        buffer.expect("an address of this arena").copy_to_pinned(to)
    }

    /// Copies the first `len` values of a buffer of this arena to the host.
    pub fn read<T: Plain>(&self, at: PtrMut<T>, len: usize) -> Result<Vec<T>, GpuError> {
        let buffer = self.buffers.iter().find(|buffer| buffer.address() == at.0);
        // SAFETY: zero bytes are a valid value of every plain type.
        let mut values = unsafe { Box::<[T]>::new_zeroed_slice(len).assume_init() }.into_vec();
        buffer.expect("an address of this arena").download_into(bytes_of_mut(&mut values))?;
        Ok(values)
    }
}

/// A kernel that runs in one cooperative launch.
#[derive(Debug)]
pub(super) struct CooperativeKernel {
    gpu: Arc<Gpu>,
    kernel: CudaFunction,
    threads: u32,
    /// Number of blocks that can be resident at once.
    pub blocks: u32,
}

impl CooperativeKernel {
    pub fn new(gpu: &Arc<Gpu>, program: &Program, name: &str, threads: u32) -> Result<Self, GpuError> {
        gpu.context.bind_to_thread()?;
        let kernel = gpu.kernel(program, name)?;
        let per_multiprocessor = kernel.occupancy_max_active_blocks_per_multiprocessor(threads, 0, None)?;
        let blocks = per_multiprocessor.max(1) * gpu.multiprocessors() as u32;
        Ok(Self { gpu: Arc::clone(gpu), kernel, threads, blocks })
    }

    /// Runs the kernel on `blocks` blocks, at most [`Self::blocks`], and returns its time (s).
    ///
    /// # Safety
    /// `task` is the kernel's argument, and its addresses point to buffers of the sizes that the kernel expects.
    pub unsafe fn launch<T: DeviceRepr>(&self, task: &T, blocks: u32) -> Result<f64, GpuError> {
        let (grid_dim, block_dim) = ((blocks.min(self.blocks), 1, 1), (self.threads, 1, 1));
        let timer = self.gpu.timer()?;
        // SAFETY: the caller guarantees the argument; all blocks are resident at once, as a cooperative launch
        // requires.
        unsafe {
            let config = LaunchConfig { grid_dim, block_dim, shared_mem_bytes: 0 };
            self.gpu.stream.launch_builder(&self.kernel).arg(task).launch_cooperative(config)?;
        }
        timer.stop()
    }
}
