//! Several objects in every environment on a GPU, or objects of different shapes.

use super::bindings::ObjectArrays;
use super::gpu::BODIES_NUMBERS;
use crate::cuda_struct::{Ptr, PtrMut};
use crate::{DeviceBuffer, Gpu, GpuError};
use std::sync::Arc;

/// Largest number of objects in an environment: on a GPU, one for each thread of a warp.
pub const MAX_OBJECTS: usize = 32;

/// The arrays of all objects, in GPU memory.
#[derive(Debug)]
pub(crate) struct BoundObjects {
    list: Vec<ObjectArrays>,
    arrays: DeviceBuffer<ObjectArrays>,
    /// What the step needs of the bodies, (environments, objects, [`BODIES_NUMBERS`]).
    bodies: DeviceBuffer<f64>,
}

impl BoundObjects {
    pub fn new(gpu: &Arc<Gpu>, list: &[ObjectArrays], environments: usize) -> Result<Self, GpuError> {
        let each = 8 * BODIES_NUMBERS * list.len();
        gpu.require_free(
            each * environments,
            || format!("the bodies of {environments} environments of {} objects", list.len()),
            |free_bytes| format!("at most {} fit", free_bytes / each),
        )?;
        Ok(Self {
            list: list.to_vec(),
            arrays: gpu.upload(list)?,
            bodies: gpu.uninitialised(BODIES_NUMBERS * list.len() * environments)?,
        })
    }

    /// True if these are the arrays.
    pub fn are(&self, list: &[ObjectArrays]) -> bool {
        self.list == list
    }

    /// Number of objects in an environment.
    pub fn count(&self) -> usize {
        self.list.len()
    }

    pub fn arrays(&self) -> Ptr<ObjectArrays> {
        self.arrays.at(0)
    }

    pub fn bodies(&self) -> PtrMut<f64> {
        self.bodies.at_mut(0)
    }
}
