//! What environments on a GPU need of a skin.

use super::bindings::Bindings;
use super::objects::BoundObjects;
use super::view::View;
use crate::GpuError;
use crate::array::{Poses, Presses, Twists};
use crate::cuda_struct::Ptr;
use dermis_skin::Warning;
use std::fmt;

/// What a step needs of the bound bodies and where it is, from a function that enqueues it on a stream.
pub(crate) type ReadBodies<'a> = &'a dyn Fn(&Bindings, usize) -> Result<[Ptr<f64>; 2], GpuError>;

/// A skin in many environments and their history. A step only enqueues kernels.
pub(crate) trait SkinSteps: fmt::Debug + Send + Sync {
    /// Enqueues a step of all environments.
    ///
    /// # Safety
    /// The bound arrays are alive until the work is done, in the memory of this GPU, and have a row per environment, as
    /// have the bodies and the parameters, unless null.
    unsafe fn enqueue(
        &self,
        bindings: &Bindings,
        objects: Option<&BoundObjects>,
        bodies: Ptr<f64>,
        parameters: Ptr<f64>,
        stream: usize,
    ) -> Result<(), GpuError>;

    /// Enqueues the end of all contact, and of the status, where the mask is not zero.
    ///
    /// # Safety
    /// The mask is alive until the work is done, in the memory of this GPU, and has an element per environment.
    unsafe fn reset(&self, mask: &View, stream: usize) -> Result<(), GpuError>;

    /// True if contacts have friction that can differ between environments.
    fn has_friction(&self) -> bool {
        false
    }

    /// Uses the kernels in which every environment has parameters of its own.
    fn use_own_parameters(&mut self) -> Result<(), GpuError> {
        Ok(())
    }

    /// Uses the kernels for `count` objects in each environment, of different shapes.
    fn use_objects(&mut self, _count: usize) -> Result<(), GpuError> {
        Ok(())
    }

    /// Prepares images and markers if they are bound; returns false if the skin has none.
    fn prepare(&mut self, _bindings: &Bindings) -> Result<bool, GpuError> {
        Ok(false)
    }

    /// One bit per taxel that may have a load after a step, (environments, words of 32); null if that is not known.
    fn touching(&self) -> Ptr<u32> {
        Ptr::default()
    }

    /// Why an environment may have failed.
    fn failure(&self) -> Option<String> {
        None
    }

    /// The warnings of every environment about its last step, after the work of all streams.
    fn warnings(&self) -> Result<Vec<Vec<Warning>>, GpuError> {
        Ok(Vec::new())
    }

    /// Steps all environments at given poses and velocities, and returns all loads, in new memory; `None` if the skin
    /// needs bound arrays. `read` enqueues what the step needs of the bound bodies and returns where it is.
    fn step(
        &self,
        _poses: &Poses,
        _twists: &Twists,
        _dt_s: f64,
        _read: ReadBodies<'_>,
    ) -> Result<Option<Presses>, GpuError> {
        Ok(None)
    }
}
