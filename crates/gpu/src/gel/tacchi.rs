//! Particles of a moving gel on a GPU.

use crate::gel::{Ran, Rules, Steps, Swarm};
use crate::{Gpu, GpuError};
use dermis_geometry::Pose;
use dermis_skin::gel::{Body, Constitution, Flight, TacchiGel};
use dermis_skin::{Motion, Object, Skin, SkinError, State, Support, Touch};
use std::sync::Arc;

/// Puts the particles of a flight on a GPU; none of its steps is done.
pub fn boarded(gpu: &Arc<Gpu>, flight: &Flight) -> Result<Steps, GpuError> {
    let parameters = &flight.parameters;
    let corotated = match parameters.constitution {
        Constitution::NeoHookean => false,
        Constitution::FixedCorotated => true,
        Constitution::Linear => {
            let (what, why) = ("a moving gel of small strains".to_owned(), "it cannot turn".to_owned());
            return Err(GpuError::Unsupported { what, why });
        }
    };
    let (lambda, mu) = parameters.lame_pa();
    let rules = Rules {
        corotated,
        lame_pa: [lambda, mu],
        density_kg_per_m3: parameters.density_kg_per_m3 * parameters.mass_scaling,
        dt_s: flight.dt_s,
        slow: (1.0 - parameters.damping_per_s * flight.dt_s).max(0.0),
        origin: flight.origin,
        cell_m: flight.cell_m,
        floor: flight.floor,
        leads: flight.leads.clone(),
    };
    let Body { at, velocity, affine, deformation, part, kind } = flight.body.clone();
    Steps::new(gpu, rules, Swarm { at, velocity, affine, deformation, part, kind })
}

/// All steps of a flight on a GPU: where particles are then, and how it went.
pub fn flown(gpu: &Arc<Gpu>, flight: &Flight) -> Result<(Body, Ran), GpuError> {
    let mut steps = boarded(gpu, flight)?;
    let ran = steps.run(flight.steps)?;
    let Swarm { at, velocity, affine, deformation, part, kind } = steps.swarm()?;
    Ok((Body { at, velocity, affine, deformation, part, kind }, ran))
}

/// The gel of Chen et al. 2023 with its steps on a GPU.
#[derive(Debug)]
pub struct GpuTacchiGel {
    gpu: Arc<Gpu>,
    paper: TacchiGel,
}

impl GpuTacchiGel {
    /// The same gel on a GPU.
    pub fn new(gpu: &Arc<Gpu>, paper: TacchiGel) -> Self {
        Self { gpu: Arc::clone(gpu), paper }
    }

    /// [`TacchiGel::pressed`] on the GPU, and how it went there.
    pub fn pressed(&self, object: &Object, sensor_from_object: Pose) -> Result<(Touch, Ran), SkinError> {
        let flight = self.paper.flight(object, sensor_from_object);
        let (body, ran) = flown(&self.gpu, &flight)?;
        if let Some((particle, step)) = ran.broke {
            return Err(SkinError::GelBroke { particle, step, dt_us: flight.dt_s * 1e6 });
        }
        Ok((self.paper.landed(&body, ran.led_impulse, sensor_from_object), ran))
    }
}

impl Skin for GpuTacchiGel {
    fn rest(&self) -> State {
        self.paper.rest()
    }

    /// Without memory: every step is a press from above.
    fn touch(&self, state: &State, motion: &Motion<'_>, dt_s: f64) -> Result<(Touch, State), SkinError> {
        match motion.targets {
            [target] => {
                motion.check()?;
                Ok((self.pressed(target.object, target.sensor_from_object)?.0, self.rest()))
            }
            _ => self.paper.touch(state, motion, dt_s),
        }
    }

    fn fully_pressed(&self) -> Vec<Support> {
        self.paper.fully_pressed()
    }

    fn max_depth_m(&self) -> f64 {
        self.paper.max_depth_m()
    }

    fn precision(&self) -> f64 {
        self.paper.precision()
    }
}
