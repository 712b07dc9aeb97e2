//! Numbers of steps that tell a caller without side effects, such as a function of JAX, that the history of an environment is its own.

use super::status::OTHER_HISTORY;
use super::view::{Element, View};
use crate::cuda_struct::PtrMut;
use crate::memory::launch_on;
use crate::program::{COMMON, Program};
use crate::{DeviceBuffer, Gpu, GpuError};
use cudarc::driver::CudaFunction;
use std::sync::Arc;

const THREADS: usize = 256;

const SOURCE: &[&str] = &[COMMON, View::CUDA, include_str!("../cuda/view.cuh"), include_str!("history.cu")];

pub(super) fn program() -> Program {
    Program::new("environment-history", SOURCE, &[&format!("-DOTHER_HISTORY={OTHER_HISTORY}u")])
}

/// The numbers of steps of all environments on the GPU.
#[derive(Debug)]
pub(super) struct GpuHistory {
    gpu: Arc<Gpu>,
    follow: CudaFunction,
    own: DeviceBuffer<u32>,
    fresh: DeviceBuffer<u8>,
}

impl GpuHistory {
    pub fn new(gpu: &Arc<Gpu>, count: usize) -> Result<Self, GpuError> {
        let follow = gpu.kernel(&program(), "follow")?;
        let made = Self { gpu: Arc::clone(gpu), follow, own: gpu.zeros(count)?, fresh: gpu.zeros(count)? };
        // Other streams may use the memory now.
        gpu.finish()?;
        Ok(made)
    }

    /// Enqueues the comparison, and returns the mask of environments that have to be reset.
    ///
    /// # Safety
    /// The numbers are alive until the work is done, in the memory of this GPU, one per environment, as is the status.
    pub unsafe fn follow(&self, steps: &View, status: PtrMut<u32>, stream: usize) -> Result<View, GpuError> {
        let count = self.own.len();
        // SAFETY: the caller guarantees the arrays.
        unsafe {
            launch_on!(
                self.gpu, stream, self.follow, (count.div_ceil(THREADS).max(1), THREADS);
                steps, &self.own.at_mut(0), &self.fresh.at_mut(0), &status, &(count as u32)
            )?;
        }
        Ok(View::new(self.fresh.address(), &[1], Element::U8))
    }
}
