//! The method of Chen et al. 2023 (Tacchi) with its MPM steps on a GPU.

use super::mpm::{GpuMpm, MpmRun};
use crate::Gpu;
use dermis_geometry::Pose;
use dermis_skin::gel::TacchiGel;
use dermis_skin::{Motion, Object, Skin, SkinError, State, Support, Touch};
use std::sync::Arc;

/// [`TacchiGel`] with its MPM steps on a GPU.
#[derive(Debug)]
pub struct GpuTacchiGel {
    gpu: Arc<Gpu>,
    gel: TacchiGel,
}

impl GpuTacchiGel {
    /// Makes the GPU version of a gel.
    pub fn new(gpu: &Arc<Gpu>, gel: TacchiGel) -> Self {
        Self { gpu: Arc::clone(gpu), gel }
    }

    /// [`TacchiGel::press`] on the GPU; also returns the result of its MPM steps.
    pub fn press(&self, object: &Object, sensor_from_object: Pose) -> Result<(Touch, MpmRun), SkinError> {
        let steps = self.gel.steps(object, sensor_from_object);
        let solved = GpuMpm::new(&self.gpu, &steps).and_then(|mut mpm| {
            let run = mpm.run(steps.count)?;
            Ok((mpm.particles()?, run))
        });
        let (particles, run) = solved?;
        if let Some((particle, step)) = run.failed {
            return Err(SkinError::GelBroke { particle, step, dt_us: steps.setup.dt_s * 1e6 });
        }
        Ok((self.gel.touch_after(object, sensor_from_object, &particles, run.prescribed_impulse), run))
    }
}

impl Skin for GpuTacchiGel {
    fn rest(&self) -> State {
        self.gel.rest()
    }

    /// Ignores the state: every call is a press from above.
    fn touch(&self, state: &State, motion: &Motion<'_>, dt_s: f64) -> Result<(Touch, State), SkinError> {
        match motion.targets {
            [target] => {
                motion.check()?;
                Ok((self.press(target.object, target.sensor_from_object)?.0, self.rest()))
            }
            _ => self.gel.touch(state, motion, dt_s),
        }
    }

    fn fully_pressed(&self) -> Vec<Support> {
        self.gel.fully_pressed()
    }

    fn max_depth_m(&self) -> f64 {
        self.gel.max_depth_m()
    }

    fn precision(&self) -> f64 {
        self.gel.precision()
    }

    fn holds_shear(&self, object: &dermis_skin::Object) -> bool {
        self.gel.holds_shear(object)
    }
}
