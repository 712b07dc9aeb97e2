//! Spectra of influences for transforms of one size.

use super::plan::Plan;
use super::{Kernels, shared_bytes};
use crate::{DeviceError, Gpu};
use cudarc::driver::{CudaSlice, LaunchConfig, PushKernelArg};

/// What transforms of one size are multiplied by.
#[derive(Debug)]
pub(super) struct Tables {
    pub plan: Plan,
    pub half: Plan,
    pub size: usize,
    pub spectra: CudaSlice<f64>,
    /// An approximate inverse of the sinking by pressure: that of the grid repeated at half the period.
    pub inverse: CudaSlice<f64>,
    pub opposite: CudaSlice<i32>,
}

/// The influences of a grid, on the card.
#[derive(Debug)]
pub(super) struct InfluenceTables {
    pub values: CudaSlice<f64>,
    pub odd: CudaSlice<i32>,
    pub rows: usize,
    pub cols: usize,
}

/// Waves that sink less than this part of the one that sinks most are preconditioned as if they did.
const LEAST: f64 = 1e-3;

impl Tables {
    /// For regions of up to `side` cells a side, of the first `count` influences.
    pub fn new(
        gpu: &Gpu,
        kernels: &Kernels,
        influences: &InfluenceTables,
        side: usize,
        count: usize,
    ) -> Result<Self, DeviceError> {
        let size = 2 * side;
        let (plan, half, cells) = (Plan::new(size), Plan::new(side), size * size);
        let mut planes = gpu.stream.alloc_zeros::<f64>(2 * count * cells)?;
        let mut spectra = gpu.stream.alloc_zeros::<f64>(count * cells)?;
        let (rows, cols, scale) = (influences.rows as i32, influences.cols as i32, 1.0 / cells as f64);
        let config = LaunchConfig {
            grid_dim: (count as u32, 1, 1),
            block_dim: (256, 1, 1),
            shared_mem_bytes: shared_bytes(size),
        };
        // SAFETY: the planes and the spectra hold `count` squares of the plan's size.
        #[allow(unsafe_code)]
        unsafe {
            gpu.stream
                .launch_builder(&kernels.influence_spectra)
                .arg(&influences.values)
                .arg(&influences.odd)
                .arg(&rows)
                .arg(&cols)
                .arg(&plan)
                .arg(&mut planes)
                .arg(&mut spectra)
                .arg(&scale)
                .launch(config)?;
        }
        let sink = gpu.stream.clone_dtoh(&spectra.slice(..cells))?;
        let largest = sink.iter().fold(0.0f64, |most, value| most.max(value.abs()));
        let (places, waves) = (plan.places(), half.waves());
        let at = |i: usize| sink[places[2 * waves[i / side]] * size + places[2 * waves[i % side]]];
        // The spectra are by the number of points already, and so must this be, by its own.
        let by = scale / (side * side) as f64;
        let inverse: Vec<f64> = (0..side * side).map(|i| by / at(i).max(LEAST * largest)).collect();
        Ok(Self {
            plan,
            half,
            size,
            spectra,
            inverse: gpu.stream.clone_htod(&inverse)?,
            opposite: gpu.stream.clone_htod(&plan.opposite())?,
        })
    }
}
