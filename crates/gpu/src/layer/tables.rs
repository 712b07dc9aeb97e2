//! Spectra of influences for transforms of one size.

use super::description::ODD;
use super::plan::Plan;
use super::precision::Precision;
use crate::program::Program;
use crate::{Gpu, GpuError};
use cudarc::driver::{CudaFunction, CudaSlice, LaunchConfig, PushKernelArg};

pub(super) fn program() -> Program {
    let source = &[include_str!("fourier.cu"), include_str!("influence.cu")];
    Program::new("sheet-influences", source, &["-DREAL=double"])
}

/// What transforms of one size are multiplied by.
#[derive(Debug)]
pub(super) struct Tables {
    pub plan: Plan,
    pub half: Plan,
    pub size: usize,
    /// In the precision of the transforms, as `inverse` is.
    pub spectra: CudaSlice<u8>,
    /// An approximate inverse of the sinking by pressure: that of the grid repeated at half the period.
    pub inverse: CudaSlice<u8>,
    pub opposite: CudaSlice<i32>,
}

/// The influences of a grid, on the GPU.
#[derive(Debug)]
pub(super) struct InfluenceTables {
    values: CudaSlice<f64>,
    odd: CudaSlice<i32>,
    rows: usize,
    cols: usize,
    precision: Precision,
    kernel: CudaFunction,
}

/// Waves that sink less than this part of the one that sinks most are preconditioned as if they did.
const LEAST: f64 = 1e-3;

impl InfluenceTables {
    pub fn new(
        gpu: &Gpu,
        [rows, cols]: [usize; 2],
        influences: &[Vec<f64>; 14],
        precision: Precision,
    ) -> Result<Self, GpuError> {
        Ok(Self {
            values: gpu.stream.clone_htod(&influences.concat())?,
            odd: gpu.stream.clone_htod(&ODD)?,
            rows,
            cols,
            precision,
            kernel: gpu.kernel(&program(), "influence_spectra")?,
        })
    }

    /// For regions of up to `side` cells a side, of the first `count` influences.
    pub fn tables(&self, gpu: &Gpu, side: usize, count: usize) -> Result<Tables, GpuError> {
        let (size, stream) = (2 * side, &gpu.stream);
        let (plan, half, cells) = (Plan::new(size), Plan::new(side), size * size);
        let mut planes = stream.alloc_zeros::<f64>(2 * count * cells)?;
        let mut spectra = stream.alloc_zeros::<u8>(self.precision.bytes() * count * cells)?;
        let mut sink = stream.alloc_zeros::<f64>(cells)?;
        let (rows, cols, scale) = (self.rows as i32, self.cols as i32, 1.0 / cells as f64);
        let single = i32::from(self.precision == Precision::Single);
        let shared_mem_bytes = Precision::Double.complex_bytes(size) as u32;
        let config = LaunchConfig { grid_dim: (count as u32, 1, 1), block_dim: (256, 1, 1), shared_mem_bytes };
        // SAFETY: the planes and the spectra hold `count` squares of the plan's size, and `sink` one.
        #[allow(unsafe_code)]
        unsafe {
            stream
                .launch_builder(&self.kernel)
                .arg(&self.values)
                .arg(&self.odd)
                .arg(&rows)
                .arg(&cols)
                .arg(&plan)
                .arg(&mut planes)
                .arg(&mut spectra)
                .arg(&single)
                .arg(&mut sink)
                .arg(&scale)
                .launch(config)?;
        }
        let sink = stream.clone_dtoh(&sink)?;
        let largest = sink.iter().fold(0.0f64, |most, value| most.max(value.abs()));
        let (places, waves) = (plan.places(), half.waves());
        let at = |i: usize| sink[places[2 * waves[i / side]] * size + places[2 * waves[i % side]]];
        // The spectra are by the number of points already, and so must this be, by its own.
        let by = scale / (side * side) as f64;
        let inverse: Vec<f64> = (0..side * side).map(|i| by / at(i).max(LEAST * largest)).collect();
        Ok(Tables {
            plan,
            half,
            size,
            spectra,
            inverse: self.precision.upload(gpu, &inverse)?,
            opposite: stream.clone_htod(&plan.opposite())?,
        })
    }
}
