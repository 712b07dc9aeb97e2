//! Skin, transducer and response in one.

use crate::optics::{CameraFrame, Optics, OpticsError};
use crate::{Chain, RayReading, Reading, Report, Response, ResponseError, ResponseState, Taxels};
use dermis_geometry::TriMesh;
use dermis_skin::{Motion, Skin, SkinError, State, Touch};
use std::sync::Arc;

/// A tactile sensor. Cheap to clone; its history is outside, in the skin's [`State`] and the response's [`ResponseState`].
#[derive(Clone, Debug)]
pub struct Sensor {
    name: String,
    skin: Arc<dyn Skin>,
    taxels: Arc<Taxels>,
    chain: Arc<Chain>,
    surface: Arc<TriMesh>,
    rays: Option<Arc<RayReading>>,
    optics: Option<Arc<Optics>>,
}

impl Sensor {
    /// Puts a sensor together. `surface` is the shape of the undeformed skin, for images and first contact; a
    /// [`Response`] is a response of counts alone.
    pub fn new(
        name: impl Into<String>,
        skin: impl Skin + 'static,
        taxels: Taxels,
        response: impl Into<Chain>,
        surface: TriMesh,
    ) -> Self {
        Self {
            name: name.into(),
            skin: Arc::new(skin),
            taxels: Arc::new(taxels),
            chain: Arc::new(response.into()),
            surface: Arc::new(surface),
            rays: None,
            optics: None,
        }
    }

    /// What it is called.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its skin.
    pub fn skin(&self) -> &dyn Skin {
        &*self.skin
    }

    /// Its skin, where that is of a kind.
    pub fn skin_as<S: Skin>(&self) -> Option<&S> {
        let skin: &dyn std::any::Any = &*self.skin;
        skin.downcast_ref()
    }

    /// Its taxels.
    pub fn taxels(&self) -> &Taxels {
        &self.taxels
    }

    /// How newtons become counts.
    pub fn response(&self) -> &Response {
        self.chain.counts()
    }

    /// Everything the device does to the forces on its taxels.
    pub fn chain(&self) -> &Chain {
        &self.chain
    }

    /// The shape of the undeformed skin.
    pub fn surface(&self) -> &TriMesh {
        &self.surface
    }

    /// The camera behind its skin, if it has one.
    pub fn optics(&self) -> Option<&Optics> {
        self.optics.as_deref()
    }

    /// The same sensor with a camera behind its skin.
    pub fn with_optics(&self, optics: Optics) -> Self {
        Self { optics: Some(Arc::new(optics)), ..self.clone() }
    }

    /// The same sensor with another skin.
    pub fn with_skin(&self, skin: impl Skin + 'static) -> Self {
        Self { skin: Arc::new(skin), ..self.clone() }
    }

    /// The same sensor with another response.
    pub fn with_response(&self, response: impl Into<Chain>) -> Self {
        Self { chain: Arc::new(response.into()), ..self.clone() }
    }

    /// The same sensor, whose taxels' values are what rays see instead of what their cells integrate.
    pub fn with_rays(&self, rays: RayReading) -> Self {
        Self { rays: Some(Arc::new(rays)), ..self.clone() }
    }

    /// The same sensor under a cover that spreads point loads before its cells feel them ([`Taxels::with_gaussian`]).
    pub fn with_gaussian(&self, sigma_m: f64) -> Self {
        let taxels = self.taxels().clone().with_gaussian(sigma_m);
        Self { taxels: Arc::new(taxels), ..self.clone() }
    }

    /// The rays by which it reads, if it does.
    pub fn rays(&self) -> Option<&RayReading> {
        self.rays.as_deref()
    }

    /// What the skin feels while things move so for `dt_s`.
    pub fn touch(&self, state: &State, motion: &Motion<'_>, dt_s: f64) -> Result<(Touch, State), SkinError> {
        self.skin.touch(state, motion, dt_s)
    }

    /// What the device reports of a touch, as if it had no memory and no noise.
    pub fn read(&self, touch: &Touch) -> Reading {
        let felt = self.felt(touch);
        let report = self.chain.respond_at_once(&felt.values_newton);
        felt.reported(report)
    }

    /// What the device reports while it is touched so for `dt_s`, with all of its response, and its state after that.
    /// Start from [`Chain::rest`].
    pub fn sense(
        &self,
        state: &ResponseState,
        touch: &Touch,
        dt_s: f64,
    ) -> Result<(Reading, ResponseState), ResponseError> {
        let felt = self.felt(touch);
        let (report, state) = self.chain.respond(state, &felt.values_newton, dt_s)?;
        Ok((felt.reported(report), state))
    }

    /// What the camera sees of a touch: its `frame`-th image, which decides the noise and nothing else. Apart from
    /// [`Sensor::read`], because an image costs more than a reading and is wanted less often.
    pub fn look(&self, touch: &Touch, frame: u64) -> Result<CameraFrame, OpticsError> {
        let optics = self.optics.as_deref().ok_or_else(|| OpticsError::Blind { sensor: self.name.clone() })?;
        let unknown = || OpticsError::NoSurface { sensor: self.name.clone() };
        Ok(optics.look(touch.surface.as_ref().ok_or_else(unknown)?, frame))
    }

    fn felt(&self, touch: &Touch) -> Felt {
        let (forces_newton, outside_newton) = self.taxels.bin(touch);
        let pressures_pa = self.rays.as_ref().map(|rays| rays.pressures_pa(touch));
        let values_newton: Vec<f64> = match &pressures_pa {
            Some(pressures) => pressures.iter().zip(self.taxels.areas_m2()).map(|(p, area)| p * area).collect(),
            None => {
                let along = forces_newton.iter().zip(self.taxels.normals());
                along.map(|(force, normal)| 0.0 - force.dot(*normal)).collect()
            }
        };
        let (size, saturated) = (self.taxels.size(), touch.saturated);
        Felt { size, values_newton, forces_newton, outside_newton, pressures_pa, saturated }
    }
}

/// What the taxels feel, before the response.
struct Felt {
    size: Option<(usize, usize)>,
    values_newton: Vec<f64>,
    forces_newton: Vec<dermis_geometry::Vec3>,
    outside_newton: dermis_geometry::Vec3,
    pressures_pa: Option<Vec<f64>>,
    saturated: usize,
}

impl Felt {
    fn reported(self, report: Report) -> Reading {
        Reading {
            size: self.size,
            sum_newton: self.values_newton.iter().sum(),
            values_newton: self.values_newton,
            raw_sum: report.raw.iter().map(|&counts| u64::from(counts)).sum(),
            raw: report.raw,
            reported_newton: report.newton,
            forces_newton: self.forces_newton,
            outside_newton: self.outside_newton,
            pressures_pa: self.pressures_pa,
            saturated: self.saturated,
        }
    }
}
