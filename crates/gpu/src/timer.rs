//! A clock on the GPU.

use crate::{Gpu, GpuError};
use cudarc::driver::CudaEvent;
use cudarc::driver::sys::CUevent_flags;
use std::sync::Arc;

/// Measures what the GPU does between two moments of its queue.
#[derive(Debug)]
pub struct Timer {
    gpu: Arc<Gpu>,
    start: CudaEvent,
}

impl Timer {
    /// Starts when all that was asked for before is done.
    pub fn start(gpu: &Arc<Gpu>) -> Result<Self, GpuError> {
        let start = gpu.stream.record_event(Some(CUevent_flags::CU_EVENT_DEFAULT))?;
        Ok(Self { gpu: Arc::clone(gpu), start })
    }

    /// Waits for what was asked for since, and says how long (s) it took.
    pub fn stop(&self) -> Result<f64, GpuError> {
        let end = self.gpu.stream.record_event(Some(CUevent_flags::CU_EVENT_DEFAULT))?;
        Ok(f64::from(self.start.elapsed_ms(&end)?) * 1e-3)
    }
}
