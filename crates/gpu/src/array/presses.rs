//! What an array feels, kept on the GPU.

use super::poses::{SOURCE as POSES, THREADS};
use super::{UNFUSED, fetch_into, grid, room, upload, zeros};
use crate::{Gpu, GpuError};
use cudarc::driver::{CudaSlice, DeviceRepr, PushKernelArg};
use dermis_geometry::Vec3;
use std::sync::Arc;

/// The outcome of many presses, in the memory of the GPU. Forces act on the sensor, in its frame.
#[derive(Clone, Debug)]
pub struct Presses {
    /// The GPU.
    pub gpu: Arc<Gpu>,
    /// How many presses.
    pub count: usize,
    /// How many taxels each has.
    pub taxels: usize,
    /// Force vectors of the taxels (N), (presses, taxels, 3).
    pub forces_newton: Arc<CudaSlice<f64>>,
    /// Force along each taxel's normal (N), positive in compression, (presses, taxels).
    pub values_newton: Arc<CudaSlice<f64>>,
    /// Force (N) and torque about the sensor's origin (N m) on the sensor, (presses, 6).
    pub wrench: Arc<CudaSlice<f64>>,
    /// Force (N) beside all taxels, (presses, 3).
    pub outside_newton: Arc<CudaSlice<f64>>,
    /// How many contacts were pressed beyond what the skin can show, (presses).
    pub saturated: Arc<CudaSlice<u32>>,
}

/// Buffers that kernels write into.
pub(super) struct Rooms {
    pub forces: CudaSlice<f64>,
    pub values: CudaSlice<f64>,
    pub wrench: CudaSlice<f64>,
    pub outside: CudaSlice<f64>,
    pub saturated: CudaSlice<u32>,
}

impl Presses {
    /// What a press takes on the GPU (bytes).
    pub fn bytes_of_one(taxels: usize) -> usize {
        8 * (4 * taxels + 9) + 4
    }

    /// What another kernel has felt: `forces` (N, presses × taxels × 3), `outside` (N, presses × 3) and `wrench` (presses × 6). Values follow
    /// from the taxels' outward `normals`; nothing is saturated.
    pub fn of_forces(
        gpu: &Arc<Gpu>,
        count: usize,
        normals: &[Vec3],
        forces: CudaSlice<f64>,
        outside: CudaSlice<f64>,
        wrench: CudaSlice<f64>,
    ) -> Result<Self, GpuError> {
        let taxels = normals.len();
        for (what, got, each) in
            [("forces", forces.len(), 3 * taxels), ("outside", outside.len(), 3), ("wrench", wrench.len(), 6)]
        {
            if got < count * each {
                let reason = format!("`{what}` of {count} presses must hold {} numbers, got {got}", count * each);
                return Err(GpuError::BadInput { reason });
            }
        }
        let mut values = room(gpu, count * taxels)?;
        let normals = upload(gpu, &normals.iter().flat_map(Vec3::to_array).collect::<Vec<_>>())?;
        let kernel = gpu.program("array-poses", POSES, &[UNFUSED])?.load_function("along_normals")?;
        let (rows, n) = (taxels as u32, count as u32);
        // SAFETY: the lengths were just looked at.
        #[allow(unsafe_code)]
        unsafe {
            gpu.stream
                .launch_builder(&kernel)
                .arg(&forces)
                .arg(&normals)
                .arg(&rows)
                .arg(&n)
                .arg(&mut values)
                .launch(grid(count * taxels, THREADS as usize, THREADS))?;
        }
        let saturated = zeros(gpu, count)?;
        Ok(Rooms { forces, values, wrench, outside, saturated }.done(gpu, count, taxels))
    }

    /// Copies some of it to the host.
    pub fn fetch<T: DeviceRepr + Copy + Default + Send + Sync>(&self, part: &CudaSlice<T>) -> Result<Vec<T>, GpuError> {
        // A buffer of nothing has room for one.
        let mut values = vec![T::default(); if self.count == 0 { 0 } else { part.len() }];
        fetch_into(&self.gpu, part, &mut values)?;
        Ok(values)
    }
}

impl Rooms {
    /// Room for `count` presses; `other_bytes` are needed besides.
    pub fn new(gpu: &Arc<Gpu>, count: usize, taxels: usize, other_bytes: usize) -> Result<Self, GpuError> {
        let one = Presses::bytes_of_one(taxels);
        let needed_bytes = count * one + other_bytes;
        // Asking what is free makes the GPU wait: only where it could be too much.
        if needed_bytes > SMALL_BYTES {
            let fit = |free_bytes: usize| free_bytes.saturating_sub(other_bytes) / one;
            gpu.require_free(
                needed_bytes,
                || format!("a batch of {count} presses of {taxels} taxels"),
                |free_bytes| format!("ask for at most {} at once", fit(free_bytes)),
            )?;
        }
        Ok(Self {
            forces: room(gpu, 3 * count * taxels)?,
            values: room(gpu, count * taxels)?,
            wrench: room(gpu, 6 * count)?,
            outside: room(gpu, 3 * count)?,
            saturated: room(gpu, count)?,
        })
    }

    pub fn done(self, gpu: &Arc<Gpu>, count: usize, taxels: usize) -> Presses {
        Presses {
            gpu: Arc::clone(gpu),
            count,
            taxels,
            forces_newton: Arc::new(self.forces),
            values_newton: Arc::new(self.values),
            wrench: Arc::new(self.wrench),
            outside_newton: Arc::new(self.outside),
            saturated: Arc::new(self.saturated),
        }
    }
}

/// Batches below this (bytes) are not weighed beforehand.
const SMALL_BYTES: usize = 1 << 30;
