//! Floating-point precision of kernels.

use crate::cuda_struct::Plain;
use crate::{DeviceBuffer, GpuError};
use std::fmt;

/// Floating-point precision of a computation on a GPU.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Precision {
    /// Numbers of 32 bits. GPUs for consumers compute these up to 64 times as fast as numbers of 64 bits.
    Single,
    /// Numbers of 64 bits, as on the CPU.
    #[default]
    Double,
}

impl Precision {
    /// The compiler option that selects the type `Scalar` of the kernels.
    pub(crate) fn option(self) -> String {
        format!("-DSCALAR={}", self.in_cuda())
    }

    /// The type of numbers in CUDA.
    pub(crate) fn in_cuda(self) -> &'static str {
        match self {
            Self::Single => "float",
            Self::Double => "double",
        }
    }
}

/// Numbers of one precision: `Scalar` of the kernels.
pub(crate) trait Scalar: Plain + Default + fmt::Debug {
    const PRECISION: Precision;

    /// The nearest number.
    fn rounded(number: f64) -> Self;

    /// The nearest numbers.
    fn all_rounded(numbers: &[f64]) -> Vec<Self> {
        numbers.iter().map(|&number| Self::rounded(number)).collect()
    }
}

impl Scalar for f64 {
    const PRECISION: Precision = Precision::Double;

    fn rounded(number: f64) -> Self {
        number
    }
}

impl Scalar for f32 {
    const PRECISION: Precision = Precision::Single;

    fn rounded(number: f64) -> Self {
        number as f32
    }
}

impl DeviceBuffer<f64> {
    /// A copy in single precision.
    pub(crate) fn in_single(&self) -> Result<DeviceBuffer<f32>, GpuError> {
        self.gpu().upload(&f32::all_rounded(&self.download()?))
    }
}
