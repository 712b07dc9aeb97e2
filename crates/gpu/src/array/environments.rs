//! Steps springs in many environments at once.

use super::Arrays;
use super::poses::{Poses, THREADS, Twists, same_count};
use super::presses::Presses;
use super::{grid, poses};
use crate::memory::launch;
use crate::{DeviceBuffer, GpuError, GpuObject};
use dermis_geometry::Twist;
use std::sync::Arc;

/// Many simulations of one sensor, each with one object. Their bristles stay on the GPU between steps.
#[derive(Debug)]
pub struct Environments {
    arrays: Arc<Arrays>,
    count: usize,
    /// Deflection (m) and normal of the contact plane, (environments, 6, springs).
    bristles: DeviceBuffer<f64>,
    /// Index of the triangle that each spring touched last, (environments, springs).
    held: DeviceBuffer<u32>,
}

/// Marks a spring without contact.
const FREE: u32 = u32::MAX;
/// Size of a spring's history (bytes).
const HISTORY_BYTES: usize = 52;

impl Environments {
    pub(super) fn new(arrays: &Arc<Arrays>, count: usize) -> Result<Self, GpuError> {
        let (gpu, sites) = (&arrays.gpu, arrays.springs()?.sites);
        gpu.require_free(
            HISTORY_BYTES * count * sites,
            || format!("the history of {count} environments"),
            |free_bytes| format!("at most {} fit", free_bytes / (HISTORY_BYTES * sites.max(1))),
        )?;
        let bristles = gpu.zeros(6 * count * sites)?;
        let held = gpu.upload(&vec![FREE; count * sites])?;
        Ok(Self { arrays: Arc::clone(arrays), count, bristles, held })
    }

    /// Number of environments.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Advances every environment by `dt_s` and computes its contact loads (N, N m): [`dermis_skin::Skin::touch`] in
    /// each.
    pub fn step(&mut self, object: &GpuObject, poses: &Poses, twists: &Twists, dt_s: f64) -> Result<Presses, GpuError> {
        same_count(self.count, poses.count, "poses")?;
        same_count(self.count, twists.count, "twists")?;
        if !(dt_s > 0.0 && dt_s.is_finite()) {
            return Err(GpuError::BadInput { reason: format!("`dt` must be a positive number of s, got {dt_s}") });
        }
        let step = Step { twists, dt_s, bristles: &self.bristles, held: &self.held };
        self.arrays.springs()?.press(object, poses, Some(&step))
    }

    /// Uploads velocities (m/s, rad/s) relative to the sensor, at its origin. Refuses velocities that are not finite.
    pub fn twists(&self, twists: &[Twist]) -> Result<Twists, GpuError> {
        Twists::of_host(&self.arrays.gpu, twists)
    }

    /// Ends all contact in the environments where `which` is true.
    pub fn reset(&mut self, which: &[bool]) -> Result<(), GpuError> {
        same_count(self.count, which.len(), "flags")?;
        let (gpu, sites) = (&self.arrays.gpu, self.arrays.springs()?.sites);
        let flags = gpu.upload(&which.iter().map(|&reset| u8::from(reset)).collect::<Vec<_>>())?;
        let kernel = gpu.kernel(&poses::program(), "reset")?;
        let config = grid(self.count * sites, THREADS as usize, THREADS);
        // SAFETY: `which` has a flag per environment, and `held` an index per spring of each environment.
        unsafe {
            launch!(gpu, &kernel, config, &flags, &(sites as u32), &(self.count as u32), &self.held)?;
        }
        Ok(())
    }
}

/// One time step of all environments.
pub(super) struct Step<'a> {
    pub twists: &'a Twists,
    pub dt_s: f64,
    pub bristles: &'a DeviceBuffer<f64>,
    pub held: &'a DeviceBuffer<u32>,
}
