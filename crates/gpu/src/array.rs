//! Arrays of taxels under one object: computes many presses at once.
//!
//! Kernels compute in `f64` (environments of springs also in `f32`), in the sensor's frame, without fused multiply-add, and sum in the order of the CPU where
//! that is cheap: results differ from the CPU's by rounding only. Two runs give the same bytes.

mod friction;
mod pads;
mod poses;
mod presses;
mod springs;

pub use poses::{ExternalArray, PoseFormat, Poses, Twists};
pub use presses::Presses;

use crate::{Gpu, GpuError, GpuObject};
use cudarc::driver::LaunchConfig;
use dermis_geometry::Pose;
use dermis_sensor::{Chain, Sensor};
use dermis_skin::{self as skin, hydroelastic::Hydroelastic};
pub(crate) use friction::{FRICTION, FrictionLaw};
pub(crate) use pads::{LawPiece, PAD_CONTACT, PAD_TAXELS, PadField, PadParts, PadSkin, Pads, Tetrahedron, limits};
pub(crate) use poses::same_count;
pub(crate) use presses::along_minus_z;
pub(crate) use springs::Springs;
use std::sync::Arc;

/// The taxels of a sensor on a GPU.
#[derive(Debug)]
pub struct Arrays {
    gpu: Arc<Gpu>,
    sensor: String,
    skin: ArraySkin,
    chain: Chain,
}

#[derive(Debug)]
enum ArraySkin {
    Springs(Arc<Springs>),
    Pads(Box<Pads>),
}

impl Arrays {
    /// Uploads a sensor: springs, or a hydroelastic skin of tetrahedra. Refuses other sensors.
    pub fn new(gpu: &Arc<Gpu>, sensor: &Sensor) -> Result<Self, GpuError> {
        if sensor.rays().is_some() {
            return Err(unsupported(sensor.name(), "its taxels read by rays"));
        }
        let skin = if let Some(springs) = sensor.skin_as::<skin::Springs>() {
            ArraySkin::Springs(Arc::new(Springs::new(gpu, springs, sensor.taxels())?))
        } else if let Some(pad) = sensor.skin_as::<Hydroelastic>() {
            ArraySkin::Pads(Box::new(Pads::new(gpu, pad, sensor)?))
        } else {
            return Err(unsupported(sensor.name(), "its skin has neither springs nor a pressure field"));
        };
        let chain = sensor.chain().clone();
        Ok(Self { gpu: Arc::clone(gpu), sensor: sensor.name().to_owned(), skin, chain })
    }

    /// The GPU.
    pub fn gpu(&self) -> &Arc<Gpu> {
        &self.gpu
    }

    /// Computes the contact loads (N, N m) of an object at rest at each pose: [`dermis_skin::Skin::settle`] from rest.
    pub fn settle(&self, object: &GpuObject, poses: &Poses) -> Result<Presses, GpuError> {
        match &self.skin {
            ArraySkin::Springs(springs) => springs.settle(object, poses),
            ArraySkin::Pads(_) if !object.is_rigid => Err(unsupported(
                &self.sensor,
                "the object is compliant, and hydroelastic skins take rigid objects on a GPU",
            )),
            ArraySkin::Pads(pads) => pads.settle(object, poses),
        }
    }

    /// Computes the force (N) along −z on the sensor of an object at rest at each pose.
    pub fn normal_forces(&self, object: &GpuObject, poses: &[Pose]) -> Result<Vec<f64>, GpuError> {
        self.settle(object, &self.poses(poses)?)?.normal_forces()
    }

    /// Uploads poses. Refuses poses that are not finite.
    pub fn poses(&self, poses: &[Pose]) -> Result<Poses, GpuError> {
        Poses::of_host(&self.gpu, poses)
    }

    /// Name of the sensor.
    pub(crate) fn sensor(&self) -> &str {
        &self.sensor
    }

    /// The response of the sensor.
    pub(crate) fn chain(&self) -> &Chain {
        &self.chain
    }

    pub(crate) fn springs(&self) -> Result<&Arc<Springs>, GpuError> {
        match &self.skin {
            ArraySkin::Springs(springs) => Ok(springs),
            ArraySkin::Pads(_) => Err(unsupported(&self.sensor, "its skin has no springs")),
        }
    }

    /// The pressure field; `None` for springs.
    pub(crate) fn pads(&self) -> Option<&Pads> {
        match &self.skin {
            ArraySkin::Springs(_) => None,
            ArraySkin::Pads(pads) => Some(pads),
        }
    }
}

pub(crate) fn unsupported(sensor: &str, why: &str) -> GpuError {
    GpuError::Unsupported { what: format!("a press on sensor {sensor:?}"), why: why.to_owned() }
}

/// All CUDA programs of arrays.
#[cfg(test)]
pub(crate) fn programs() -> Vec<crate::program::Program> {
    [
        springs::programs(),
        vec![pads::program(false), pads::program(true), poses::program()],
        crate::environments::programs(),
    ]
    .concat()
}

/// A launch of `count` items, `per_block` items per block of `threads` threads.
fn grid(count: usize, per_block: usize, threads: u32) -> LaunchConfig {
    let blocks = count.div_ceil(per_block).max(1) as u32;
    LaunchConfig { grid_dim: (blocks, 1, 1), block_dim: (threads, 1, 1), shared_mem_bytes: 0 }
}
