//! Buffers of one solver, allocated one by one and freed together.

use crate::cuda_struct::{Plain, Ptr, PtrMut, bytes_of, values_of};
use crate::{DeviceBuffer, Gpu, GpuError};
use std::sync::Arc;

/// Buffers by their addresses, which a solver's task holds.
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

    /// Uploads values that kernels change.
    pub fn upload_mut<T: Plain>(&mut self, values: &[T]) -> Result<PtrMut<T>, GpuError> {
        self.keep(self.gpu.upload(bytes_of(values))?)
    }

    /// Allocates values of zero bytes.
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

    /// Copies the first `len` values of a buffer of this arena to the host.
    pub fn read<T: Plain>(&self, at: PtrMut<T>, len: usize) -> Result<Vec<T>, GpuError> {
        let buffer = self.buffers.iter().find(|buffer| buffer.address() == at.0);
        let mut bytes = vec![0; len * size_of::<T>()];
        buffer.expect("an address of this arena").download_into(&mut bytes)?;
        Ok(values_of(&bytes))
    }
}
