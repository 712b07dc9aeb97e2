//! Measures time on the GPU.

use crate::{Gpu, GpuError};
use cudarc::driver::CudaEvent;
use cudarc::driver::sys::CUevent_flags;
use std::sync::Arc;

/// Measures the time between two points of the GPU's stream.
#[derive(Debug)]
pub struct Timer {
    gpu: Arc<Gpu>,
    start: CudaEvent,
}

impl Timer {
    /// Starts the timer after all work queued before.
    pub fn start(gpu: &Arc<Gpu>) -> Result<Self, GpuError> {
        let start = gpu.stream.record_event(Some(CUevent_flags::CU_EVENT_DEFAULT))?;
        Ok(Self { gpu: Arc::clone(gpu), start })
    }

    /// Waits for the work queued since the start and returns its duration (s).
    pub fn stop(&self) -> Result<f64, GpuError> {
        let end = self.gpu.stream.record_event(Some(CUevent_flags::CU_EVENT_DEFAULT))?;
        Ok(f64::from(self.start.elapsed_ms(&end)?) * 1e-3)
    }
}
