//! Gels on a GPU: equilibrium and MPM steps, from the parameter and state types of `dermis_skin::gel`.

mod arena;
mod equilibrium;
mod layout;
mod mpm;
mod tacchi;

pub use equilibrium::GpuGel;
pub use mpm::{GpuMpm, MpmRun};
pub use tacchi::GpuTacchiGel;

use crate::{Gpu, GpuError};
use dermis_sensor::Sensor;
use dermis_skin::Gel;
use dermis_skin::gel::TacchiGel;
use std::any::Any;
use std::sync::Arc;

/// The gel of a sensor, by its method.
#[derive(Clone, Copy, Debug)]
pub enum GelSkin<'a> {
    /// Quasi-static equilibrium.
    Equilibrium(&'a Gel),
    /// The method of Chen et al. 2023.
    Tacchi(&'a TacchiGel),
}

impl<'a> GelSkin<'a> {
    /// The gel of a sensor; `None` if its skin is of another kind.
    pub fn of(sensor: &'a Sensor) -> Option<Self> {
        let skin: &dyn Any = sensor.skin();
        let tacchi = || skin.downcast_ref::<TacchiGel>().map(Self::Tacchi);
        skin.downcast_ref::<Gel>().map(Self::Equilibrium).or_else(tacchi)
    }

    /// Makes a copy of the sensor whose gel runs on a GPU.
    pub fn on(self, gpu: &Arc<Gpu>, sensor: &Sensor) -> Result<Sensor, GpuError> {
        Ok(match self {
            Self::Equilibrium(gel) => sensor.with_skin(GpuGel::new(gpu, gel.clone())?),
            Self::Tacchi(gel) => sensor.with_skin(GpuTacchiGel::new(gpu, gel.clone())),
        })
    }
}

/// All CUDA programs of gels.
#[cfg(test)]
pub(crate) fn programs() -> Vec<crate::program::Program> {
    vec![layout::program(layout::BLOCKS[0]), layout::program(layout::BLOCKS[1]), mpm::program()]
}
