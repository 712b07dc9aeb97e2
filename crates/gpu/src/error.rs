//! Errors of work on a GPU.

use cudarc::driver::DriverError;
use cudarc::driver::sys::CUresult;
use dermis_sensor::PressError;
use dermis_skin::{BackendError, SkinError};

/// Reasons for which work cannot run on a GPU.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[allow(missing_docs, reason = "the message of each variant names its fields")]
pub enum GpuError {
    /// Unknown name of a compute device.
    #[error("there is no device {got:?}; it is auto, cpu or cuda")]
    UnknownChoice { got: String },
    /// A GPU other than the first.
    #[error(
        "the device cuda:{index} is not supported: work runs on the first GPU, cuda:0; CUDA_VISIBLE_DEVICES={index} makes another one the first"
    )]
    OtherGpu { index: usize },
    /// The driver's library was not found.
    #[error("no NVIDIA driver: libcuda was not found on this machine; install the driver, or use the device cpu")]
    NoDriver,
    /// The driver reports no GPU.
    #[error(
        "no NVIDIA GPU: the driver says {reason:?}; make one visible (CUDA_VISIBLE_DEVICES), or use the device cpu"
    )]
    NoGpu { reason: String },
    /// CUDA was in use before a fork.
    #[error(
        "the GPU was opened before this process was forked, and CUDA does not work after a fork: start processes by \"spawn\" or \
         \"forkserver\", or use the device cpu"
    )]
    Forked,
    /// A program is not in the cache and the run-time compiler was not found.
    #[error(
        "no run-time compiler: libnvrtc was not found; install the CUDA toolkit or `pip install nvidia-cuda-nvrtc` and put its \
         folder into LD_LIBRARY_PATH, or use the device cpu"
    )]
    NoCompiler,
    /// The compiler rejected a program.
    #[error("the kernels {program:?} cannot be compiled for {architecture} by the nvrtc that is installed: {log}")]
    Compile { program: String, architecture: String, log: String },
    /// The work needs more memory than the GPU has free.
    #[error(
        "{what} needs {needed_mb} MB on the GPU and {free_mb} MB are free; {remedy}",
        needed_mb = needed_bytes.div_ceil(1 << 20),
        free_mb = free_bytes >> 20
    )]
    OutOfMemory { what: String, needed_bytes: usize, free_bytes: usize, remedy: String },
    /// Invalid input.
    #[error("{reason}")]
    BadInput { reason: String },
    /// Work that is not supported on a GPU.
    #[error("{what} is not supported on a GPU: {why}; use the device cpu")]
    Unsupported { what: String, why: String },
    /// A press is deeper than the skin allows.
    #[error("press {press}: a depth of {depth_mm} mm is more than {name} can be pressed ({max_mm} mm)")]
    TooDeep { press: usize, name: String, depth_mm: f64, max_mm: f64 },
    /// A press that cannot be.
    #[error("press {press}: {error}")]
    Press { press: usize, error: PressError },
    /// A call of the driver failed.
    #[error("the NVIDIA driver failed: {reason}")]
    Failed { reason: String },
}

impl GpuError {
    /// True when a smaller problem could fit into memory.
    pub fn is_out_of_memory(&self) -> bool {
        matches!(self, Self::OutOfMemory { .. })
    }
}

impl From<GpuError> for SkinError {
    fn from(error: GpuError) -> Self {
        Self::Backend(BackendError::new(error))
    }
}

impl From<DriverError> for GpuError {
    fn from(error: DriverError) -> Self {
        if error.0 == CUresult::CUDA_ERROR_OUT_OF_MEMORY {
            let what = "the work".to_owned();
            let remedy = "ask for less at once, or free memory on the GPU".to_owned();
            return Self::OutOfMemory { what, needed_bytes: 0, free_bytes: 0, remedy };
        }
        Self::Failed { reason: message(error) }
    }
}

/// The driver's message for an error.
pub(crate) fn message(error: DriverError) -> String {
    let said = error.error_string().map(|words| words.to_string_lossy().into_owned());
    said.unwrap_or_else(|_| format!("error {}", error.0 as u32))
}
