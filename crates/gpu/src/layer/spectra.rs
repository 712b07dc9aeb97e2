//! Spectra of a layer's influences for one transform size.

use super::fft_plan::FftPlan;
use super::press::{THREADS, grid};
use crate::cuda_struct::{Ptr, cuda_struct};
use crate::memory::launch;
use crate::program::{COMMON, Program};
use crate::{DeviceBuffer, Gpu, GpuError, Precision};
use cudarc::driver::LaunchConfig;
use dermis_skin::Layer;
use dermis_skin::layer::{Pair, Parity};
use std::sync::Arc;

const SOURCE: &[&str] = &[COMMON, FftPlan::CUDA, include_str!("fft.cu"), include_str!("influence.cu")];

pub(super) fn program() -> Program {
    let mut program = Program::new("layer-influences", SOURCE, &["-DREAL=double"]);
    program.options.push(format!("-DTHREADS={THREADS}"));
    program
}

cuda_struct! {
    /// A transform, the spectra of the influences, in its precision, and the index of −k for each index of k along a line.
    pub(super) struct Transform {
        plan: FftPlan,
        spectra: Ptr<u8>,
        opposite: Ptr<i32>,
    }
}

/// Spectra for products with transforms of one size.
#[derive(Debug)]
pub(super) struct Spectra {
    pub plan: FftPlan,
    pub half: FftPlan,
    pub size: usize,
    /// Spectra of the influences, in the precision of the transforms; `inverse` has the same precision.
    pub spectra: DeviceBuffer<u8>,
    /// Preconditioner: the inverse of the compliance on a periodic grid of half the size.
    pub inverse: DeviceBuffer<u8>,
    pub opposite: DeviceBuffer<i32>,
}

/// The influences of a layer on the GPU, in the order of [`Pair::ALL`].
#[derive(Debug)]
pub(super) struct Influences {
    values: DeviceBuffer<f64>,
    odd: DeviceBuffer<i32>,
    rows: usize,
    cols: usize,
    precision: Precision,
}

/// Lower bound of the compliance in the preconditioner, as a fraction of the largest compliance.
const MIN_COMPLIANCE: f64 = 1e-3;

impl Spectra {
    /// What the kernels need of it.
    pub fn transform(&self) -> Transform {
        Transform { plan: self.plan, spectra: self.spectra.at(0), opposite: self.opposite.at(0) }
    }
}

impl Influences {
    pub fn new(gpu: &Arc<Gpu>, layer: &Layer, precision: Precision) -> Result<Self, GpuError> {
        let (grid, coupled) = (layer.grid(), layer.parameters().coupled);
        let mut values = Vec::with_capacity(Pair::ALL.len() * grid.rows * grid.cols);
        let mut odd = Vec::new();
        // Each influence is computed on first use, about 10 ms on one core.
        std::thread::scope(|scope| {
            Pair::ALL.iter().for_each(|pair| drop(scope.spawn(|| layer.influences().get(*pair))))
        });
        for pair in Pair::ALL {
            let influence = layer.influences().get(pair);
            // Without coupling, pressure causes no lateral displacement of the surface.
            let factor = if !coupled && matches!(pair, Pair::XPressure | Pair::YPressure) { 0.0 } else { 1.0 };
            values.extend(influence.values.iter().map(|value| factor * value));
            odd.push(match influence.parity {
                Parity::Even => 0,
                Parity::OddX => 1,
                Parity::OddY => 2,
                Parity::OddXy => 3,
            });
        }
        Ok(Self { values: gpu.upload(&values)?, odd: gpu.upload(&odd)?, rows: grid.rows, cols: grid.cols, precision })
    }

    /// The spectra of the first `count` influences, for regions of up to `side` cells per side.
    pub fn spectra(&self, gpu: &Arc<Gpu>, side: usize, count: usize) -> Result<Spectra, GpuError> {
        let size = 2 * side;
        let (plan, half, cells) = (FftPlan::new(size), FftPlan::new(side), size * size);
        let planes = gpu.zeros::<f64>(2 * count * cells)?;
        let spectra = gpu.zeros::<u8>(self.precision.bytes() * count * cells)?;
        let compliance = gpu.zeros::<f64>(cells)?;
        let (rows, cols, scale) = (self.rows as i32, self.cols as i32, 1.0 / cells as f64);
        let single = i32::from(self.precision == Precision::Single);
        let shared_mem_bytes = Precision::Double.complex_bytes(size) as u32;
        let config = LaunchConfig { shared_mem_bytes, ..grid(count, 1) };
        // SAFETY: the planes and the spectra hold `count` squares of the plan's size, and `compliance` holds one.
        unsafe {
            launch!(
                gpu, &gpu.kernel(&program(), "influence_spectra")?, config; &self.values, &self.odd, &rows, &cols, &plan, &planes, &spectra, &single, &compliance, &scale
            )?;
        }
        let compliance = compliance.download()?;
        let largest = compliance.iter().fold(0.0f64, |largest, value| largest.max(value.abs()));
        let (places, waves) = (plan.places(), half.waves());
        let at = |i: usize| compliance[places[2 * waves[i / side]] * size + places[2 * waves[i % side]]];
        // Each spectrum is divided by the number of points of its transform, so the inverse is divided by both numbers.
        let by = scale / (side * side) as f64;
        let inverse: Vec<f64> = (0..side * side).map(|i| by / at(i).max(MIN_COMPLIANCE * largest)).collect();
        Ok(Spectra {
            plan,
            half,
            size,
            spectra,
            inverse: self.precision.upload(gpu, &inverse)?,
            opposite: gpu.upload(&plan.opposite())?,
        })
    }
}
