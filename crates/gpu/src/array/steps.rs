//! Springs in time, many environments at once.

use super::poses::{Poses, SOURCE as POSES, THREADS, Twists, same_count};
use super::presses::Presses;
use super::shape::Shape;
use super::springs::{Launch, Springs};
use super::{UNFUSED, grid, upload, zeros};
use crate::GpuError;
use cudarc::driver::{CudaSlice, PushKernelArg};

/// The bristles of many environments, kept on the GPU between steps. Each has a sensor and an object of its own, all of one kind.
#[derive(Debug)]
pub struct Steps {
    environments: usize,
    /// Deflection and normal of the contact plane, (environments, 6, springs).
    bristles: CudaSlice<f64>,
    /// The triangle met last, (environments, springs).
    held: CudaSlice<u32>,
}

/// A spring that nothing holds.
const FREE: u32 = u32::MAX;

impl Steps {
    /// Environments in which nothing has been touched yet.
    pub fn at_rest(springs: &Springs, environments: usize) -> Result<Self, GpuError> {
        let (gpu, all) = (&springs.gpu, environments * springs.sites);
        gpu.require_free(
            52 * all,
            || format!("the history of {environments} environments"),
            |free_bytes| format!("at most {} fit", free_bytes / (52 * springs.sites.max(1))),
        )?;
        Ok(Self { environments, bristles: zeros(gpu, 6 * all)?, held: upload(gpu, &vec![FREE; all])? })
    }

    /// How many there are.
    pub fn environments(&self) -> usize {
        self.environments
    }

    /// Lets go in those environments for which `which` says so.
    pub fn reset(&mut self, springs: &Springs, which: &[bool]) -> Result<(), GpuError> {
        same_count(self.environments, which.len(), "flags")?;
        let gpu = &springs.gpu;
        let flags = upload(gpu, &which.iter().map(|&reset| u8::from(reset)).collect::<Vec<_>>())?;
        let kernel = gpu.program("array-poses", POSES, &[UNFUSED])?.load_function("let_go")?;
        let (sites, count) = (springs.sites as u32, self.environments as u32);
        // SAFETY: there is a flag for every environment and a number for each of its springs.
        #[allow(unsafe_code)]
        unsafe {
            gpu.stream.launch_builder(&kernel).arg(&flags).arg(&sites).arg(&count).arg(&mut self.held).launch(grid(
                self.environments * springs.sites,
                THREADS as usize,
                THREADS,
            ))?;
        }
        Ok(())
    }

    /// Lets the object of each environment move for `dt_s` and feels it: what the CPU's skin does in a step.
    pub fn step(
        &mut self,
        springs: &Springs,
        shape: &Shape,
        poses: &Poses,
        twists: &Twists,
        dt_s: f64,
    ) -> Result<Presses, GpuError> {
        same_count(self.environments, poses.count, "poses")?;
        same_count(self.environments, twists.count, "twists")?;
        if !(dt_s > 0.0 && dt_s.is_finite()) {
            return Err(GpuError::BadInput { reason: format!("`dt` must be a positive number of s, got {dt_s}") });
        }
        let (bristles, held) = (&self.bristles, &self.held);
        springs.press(shape, poses, true, |kernel, launch| {
            let Launch { raw, shape, poses: part, count, forces, values, wrench, saturated, config } = launch;
            let first = poses.values.len() / 7 - part.len() / 7;
            let twists = twists.values.slice(6 * first..);
            let (bristles, held) = (bristles.slice(6 * first * springs.sites..), held.slice(first * springs.sites..));
            // SAFETY: as for a press, and twists, bristles and triangles are there for all environments.
            #[allow(unsafe_code)]
            unsafe {
                springs
                    .gpu
                    .stream
                    .launch_builder(kernel)
                    .arg(raw)
                    .arg(shape)
                    .arg(&part)
                    .arg(&count)
                    .arg(&forces)
                    .arg(&values)
                    .arg(&wrench)
                    .arg(&saturated)
                    .arg(&twists)
                    .arg(&dt_s)
                    .arg(&bristles)
                    .arg(&held)
                    .launch(config)?;
            }
            Ok(())
        })
    }
}
