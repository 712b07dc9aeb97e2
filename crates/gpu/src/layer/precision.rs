//! The numbers that transforms are made with.

use super::SOURCE;
use crate::program::Program;
use crate::{Gpu, GpuError};
use cudarc::driver::CudaSlice;

/// As on the CPU: single where the tolerance does not notice, double elsewhere. Fields are double in any case.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Precision {
    Single,
    Double,
}

/// Products in single precision err by some 1e-7 of the depth, which a tolerance from here on does not notice.
const SINGLE: f64 = 5e-6;

impl Precision {
    /// For a violation that is left, by the greatest depth.
    pub fn for_tolerance(tolerance: f64) -> Self {
        if tolerance >= SINGLE { Self::Single } else { Self::Double }
    }

    /// Bytes of a real number.
    pub fn bytes(self) -> usize {
        match self {
            Self::Single => 4,
            Self::Double => 8,
        }
    }

    /// Bytes of so many complex numbers.
    pub fn complex_bytes(self, numbers: usize) -> usize {
        2 * self.bytes() * numbers
    }

    /// Kernels that are made with such numbers.
    pub fn program(self) -> Program {
        // More blocks side by side leave fewer registers for each.
        match self {
            Self::Single => Program::new("sheet-single", SOURCE, &["-DREAL=float", "-DBLOCKS=4"]),
            Self::Double => Program::new("sheet-double", SOURCE, &["-DREAL=double", "-DBLOCKS=2"]),
        }
    }

    /// Brings numbers to the GPU.
    pub fn upload(self, gpu: &Gpu, values: &[f64]) -> Result<CudaSlice<u8>, GpuError> {
        let bytes: Vec<u8> = match self {
            Self::Single => values.iter().flat_map(|&value| (value as f32).to_ne_bytes()).collect(),
            Self::Double => values.iter().flat_map(|value| value.to_ne_bytes()).collect(),
        };
        Ok(gpu.stream.clone_htod(&bytes)?)
    }
}
