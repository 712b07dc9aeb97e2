//! Contact loads of many presses in GPU memory.

use super::grid;
use super::poses::{self, Poses, THREADS};
use crate::memory::launch;
use crate::object::flat;
use crate::{DeviceBuffer, Gpu, GpuError};
use dermis_geometry::{Pose, Vec3};
use dermis_sensor::Sensor;
use dermis_skin::threads::parallel;
use dermis_skin::{Object, Springs, Target, Warning};
use rayon::prelude::*;
use std::sync::Arc;

/// The contact loads of many presses in GPU memory. Forces act on the sensor and are in its frame.
#[derive(Clone, Debug)]
pub struct Presses {
    /// The GPU.
    pub gpu: Arc<Gpu>,
    /// Number of presses.
    pub count: usize,
    /// Number of taxels.
    pub taxels: usize,
    /// Force vectors of the taxels (N), (presses, taxels, 3).
    pub forces_newton: Arc<DeviceBuffer<f64>>,
    /// Force along each taxel's normal (N), positive in compression, (presses, taxels).
    pub values_newton: Arc<DeviceBuffer<f64>>,
    /// Force (N) and torque about the sensor's origin (N m) on the sensor, (presses, 6).
    pub wrench: Arc<DeviceBuffer<f64>>,
    /// Force (N) on the skin outside all taxels, (presses, 3).
    pub outside_newton: Arc<DeviceBuffer<f64>>,
    /// Number of contact points with contact, (presses); zero for skins without contact points.
    pub points: Arc<DeviceBuffer<u32>>,
    /// Number of contacts beyond the range of the skin, (presses).
    pub saturated: Arc<DeviceBuffer<u32>>,
}

/// The force (N) along −z of each wrench.
pub(crate) fn along_minus_z(wrenches: &[f64]) -> Vec<f64> {
    wrenches.as_chunks::<6>().0.iter().map(|wrench| -wrench[2]).collect()
}

/// Smaller batches (bytes) are allocated without a query for free memory, because the query synchronises with the GPU.
const SMALL_BYTES: usize = 1 << 30;

impl Presses {
    /// Size of one press in GPU memory (bytes).
    pub fn bytes_of_one(taxels: usize) -> usize {
        8 * (4 * taxels + 9) + 8
    }

    /// Wraps loads that another kernel computed: `forces` (N, presses × taxels × 3), `outside` (N, presses × 3) and
    /// `wrench` (N and N m, presses × 6). Computes the values from the taxels' outward `normals`; no contact is
    /// saturated.
    pub fn of_forces(
        gpu: &Arc<Gpu>,
        count: usize,
        normals: &[Vec3],
        forces: DeviceBuffer<f64>,
        outside: DeviceBuffer<f64>,
        wrench: DeviceBuffer<f64>,
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
        let values = Arc::new(gpu.uninitialised(count * taxels)?);
        let normals = gpu.upload(&flat(normals.iter().copied()))?;
        let kernel = gpu.kernel(&poses::program(), "along_normals")?;
        let config = grid(count * taxels, THREADS as usize, THREADS);
        // SAFETY: the lengths were checked above.
        unsafe {
            launch!(gpu, &kernel, config, &forces, &normals, &(taxels as u32), &(count as u32), &*values)?;
        }
        Ok(Self {
            gpu: Arc::clone(gpu),
            count,
            taxels,
            forces_newton: Arc::new(forces),
            values_newton: values,
            wrench: Arc::new(wrench),
            outside_newton: Arc::new(outside),
            points: Arc::new(gpu.zeros(count)?),
            saturated: Arc::new(gpu.zeros(count)?),
        })
    }

    /// Copies the force (N) along −z on the sensor of each press to the host.
    pub fn normal_forces(&self) -> Result<Vec<f64>, GpuError> {
        Ok(along_minus_z(&self.wrench.download()?))
    }

    /// The warnings of each press of `object` at `poses`, by the rules of the CPU: contacts beyond the range of the skin,
    /// and of springs few contact points or an object between them.
    pub fn warnings(&self, sensor: &Sensor, object: &Object, poses: &Poses) -> Result<Vec<Vec<Warning>>, GpuError> {
        let springs = sensor.skin_as::<Springs>();
        let of = |((points, saturated), pose): ((u32, u32), Pose)| {
            let target = Target::at_rest(object, pose);
            let few = springs.and_then(|springs| springs.unresolved_points(points as usize, target));
            few.into_iter().chain(Warning::saturated(saturated as usize)).collect()
        };
        let (points, saturated) = (self.points.download()?, self.saturated.download()?);
        let poses = poses.download()?;
        Ok(parallel(|| points.into_par_iter().zip(saturated).zip(poses).map(of).collect()))
    }

    /// Allocates buffers for kernels to write; only `outside_newton` and `points` are zeroed. `other_bytes` are required in addition.
    pub(crate) fn allocate(gpu: &Arc<Gpu>, count: usize, taxels: usize, other_bytes: usize) -> Result<Self, GpuError> {
        let one = Self::bytes_of_one(taxels);
        let needed_bytes = count * one + other_bytes;
        if needed_bytes > SMALL_BYTES {
            let fit = |free_bytes: usize| free_bytes.saturating_sub(other_bytes) / one;
            gpu.require_free(
                needed_bytes,
                || format!("a batch of {count} presses of {taxels} taxels"),
                |free_bytes| format!("ask for at most {} at once", fit(free_bytes)),
            )?;
        }
        Ok(Self {
            gpu: Arc::clone(gpu),
            count,
            taxels,
            forces_newton: Arc::new(gpu.uninitialised(3 * count * taxels)?),
            values_newton: Arc::new(gpu.uninitialised(count * taxels)?),
            wrench: Arc::new(gpu.uninitialised(6 * count)?),
            outside_newton: Arc::new(gpu.zeros(3 * count)?),
            points: Arc::new(gpu.zeros(count)?),
            saturated: Arc::new(gpu.uninitialised(count)?),
        })
    }
}
