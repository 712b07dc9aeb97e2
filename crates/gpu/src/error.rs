//! Why a GPU cannot be used.

use cudarc::driver::DriverError;
use cudarc::driver::sys::CUresult;
use dermis_skin::{BackendError, SkinError};

/// Why something cannot be done on a GPU.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum GpuError {
    /// A word that names no device.
    #[error("there is no device {got:?}; it is auto, cpu or cuda")]
    UnknownChoice {
        /// The word.
        got: String,
    },
    /// The driver's library is not there.
    #[error("no NVIDIA driver: libcuda was not found on this machine; install the driver, or use the device cpu")]
    NoDriver,
    /// The driver sees no GPU.
    #[error(
        "no NVIDIA GPU: the driver says {reason:?}; make one visible (CUDA_VISIBLE_DEVICES), or use the device cpu"
    )]
    NoGpu {
        /// The driver's words.
        reason: String,
    },
    /// The run-time compiler is not there.
    #[error(
        "no run-time compiler: libnvrtc was not found; install the CUDA toolkit or `pip install nvidia-cuda-nvrtc` and put its \
         folder into LD_LIBRARY_PATH, or use the device cpu"
    )]
    NoCompiler,
    /// The compiler refused a kernel of ours.
    #[error("the kernels {program:?} cannot be compiled for {architecture} by the nvrtc that is installed: {log}")]
    Compile {
        /// Which kernels.
        program: String,
        /// For what.
        architecture: String,
        /// What the compiler says.
        log: String,
    },
    /// More memory is needed than the GPU has left.
    #[error(
        "{what} needs {needed_mb} MB on the GPU and {free_mb} MB are free; {remedy}",
        needed_mb = needed_bytes.div_ceil(1 << 20),
        free_mb = free_bytes >> 20
    )]
    OutOfMemory {
        /// What was to be done.
        what: String,
        /// What it takes.
        needed_bytes: usize,
        /// What there is.
        free_bytes: usize,
        /// What would fit.
        remedy: String,
    },
    /// Numbers that mean nothing.
    #[error("{reason}")]
    BadInput {
        /// What is wrong, and with which.
        reason: String,
    },
    /// Something that a GPU cannot do yet.
    #[error("{what} cannot be done on a GPU: {why}; use the device cpu")]
    Unsupported {
        /// What was asked for.
        what: String,
        /// What stands against it.
        why: String,
    },
    /// Deeper than a skin goes.
    #[error("press {press}: a depth of {depth_mm} mm is more than {name} can be pressed ({most_mm} mm)")]
    TooDeep {
        /// Which of the batch, from zero on.
        press: usize,
        /// What was pressed.
        name: String,
        /// How deep (mm).
        depth_mm: f64,
        /// The most (mm).
        most_mm: f64,
    },
    /// NaN or infinity in a pose.
    #[error("press {press}: the pose is not finite; the simulation has diverged or the input is wrong")]
    NotFinite {
        /// Which of the batch, from zero on.
        press: usize,
    },
    /// The driver refused a call.
    #[error("the NVIDIA driver failed: {reason}")]
    Failed {
        /// The driver's words.
        reason: String,
    },
}

impl GpuError {
    /// True where a smaller problem could fit.
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
            let what = "this".to_owned();
            let remedy = "ask for less at once, or free memory on the GPU".to_owned();
            return Self::OutOfMemory { what, needed_bytes: 0, free_bytes: 0, remedy };
        }
        Self::Failed { reason: message(error) }
    }
}

/// What the driver says of an error.
pub(crate) fn message(error: DriverError) -> String {
    let said = error.error_string().map(|words| words.to_string_lossy().into_owned());
    said.unwrap_or_else(|_| format!("error {}", error.0 as u32))
}
