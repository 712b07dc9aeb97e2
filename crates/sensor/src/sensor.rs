//! A sensor: skin, transducer and response.

use crate::magnetic::Magnetics;
use crate::optics::{CameraFrame, Optics, OpticsError};
use crate::{Chain, RayReading, Reading, Response, ResponseError, ResponseState, Taxels};
use dermis_geometry::{Pose, Surface, TriMesh};
use dermis_skin::{Motion, Skin, SkinError, State, SurfaceField, Touch};
use std::borrow::Cow;
use std::sync::{Arc, OnceLock};

/// A tactile sensor. Cheap to clone; it holds no history. The caller keeps the skin's [`State`] and the response's
/// [`ResponseState`].
///
/// ```
/// use dermis_geometry::{Pose, Vec3};
/// use dermis_sensor::presets;
/// use dermis_skin::{Motion, Object, Target};
/// let sensor = presets::find("wts0614")?.build(None)?;
/// let ball = Object::new(dermis_geometry::shapes::sphere(0.010, 0.001)?);
/// let targets = [Target::at_rest(&ball, Pose::from_translation(Vec3::new(0.0, 0.0, 9.5e-3)))];
/// let (touch, _next) = sensor.touch(&sensor.skin().rest(), &Motion { targets: &targets }, 1e-3)?;
/// assert!(sensor.read(&touch).sum_newton > 0.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Sensor {
    name: String,
    skin: Arc<dyn Skin>,
    taxels: Arc<Taxels>,
    chain: Arc<Chain>,
    surface: Arc<TriMesh>,
    /// The surface with its hierarchy of boxes, made on first use.
    contact_surface: Arc<OnceLock<Surface>>,
    rays: Option<Arc<RayReading>>,
    optics: Option<Arc<Optics>>,
    magnetics: Option<Arc<Magnetics>>,
}

impl Sensor {
    /// Makes a sensor from its parts. `surface` is the shape of the undeformed skin, used for images and first contact.
    /// A plain [`Response`] is accepted as a [`Chain`] that only converts newtons to counts.
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
            contact_surface: Arc::default(),
            rays: None,
            optics: None,
            magnetics: None,
        }
    }

    /// The sensor's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The sensor's skin.
    pub fn skin(&self) -> &dyn Skin {
        &*self.skin
    }

    /// The sensor's skin, if it is of type `S`.
    pub fn skin_as<S: Skin>(&self) -> Option<&S> {
        let skin: &dyn std::any::Any = &*self.skin;
        skin.downcast_ref()
    }

    /// The sensor's taxels.
    pub fn taxels(&self) -> &Taxels {
        &self.taxels
    }

    /// The conversion of newtons into counts.
    pub fn response(&self) -> &Response {
        self.chain.counts()
    }

    /// The response, from the forces on the taxels to the reported values.
    pub fn chain(&self) -> &Chain {
        &self.chain
    }

    /// The shape of the undeformed skin.
    pub fn surface(&self) -> &TriMesh {
        &self.surface
    }

    /// The shape of the undeformed skin, to cast rays at.
    pub fn contact_surface(&self) -> &Surface {
        self.contact_surface.get_or_init(|| Surface::new(self.surface().clone()))
    }

    /// The camera behind the skin, if the sensor has one.
    pub fn optics(&self) -> Option<&Optics> {
        self.optics.as_deref()
    }

    /// The same sensor with a camera behind its skin.
    pub fn with_optics(&self, optics: Optics) -> Self {
        Self { optics: Some(Arc::new(optics)), ..self.clone() }
    }

    /// The magnets in the skin and their magnetometers, if the sensor has them.
    pub fn magnetics(&self) -> Option<&Magnetics> {
        self.magnetics.as_deref()
    }

    /// The same sensor with magnets in its skin.
    pub fn with_magnetics(&self, magnetics: Magnetics) -> Self {
        Self { magnetics: Some(Arc::new(magnetics)), ..self.clone() }
    }

    /// The same sensor with another skin.
    pub fn with_skin(&self, skin: impl Skin + 'static) -> Self {
        Self { skin: Arc::new(skin), ..self.clone() }
    }

    /// The same sensor with another response.
    pub fn with_response(&self, response: impl Into<Chain>) -> Self {
        Self { chain: Arc::new(response.into()), ..self.clone() }
    }

    /// The same sensor with taxels that are read by rays instead of by integrating over their cells.
    pub fn with_rays(&self, rays: RayReading) -> Self {
        Self { rays: Some(Arc::new(rays)), ..self.clone() }
    }

    /// The same sensor under a cover that spreads point loads over its cells ([`Taxels::with_gaussian`]).
    pub fn with_gaussian(&self, sigma_m: f64) -> Self {
        let taxels = self.taxels().clone().with_gaussian(sigma_m);
        Self { taxels: Arc::new(taxels), ..self.clone() }
    }

    /// The rays that read the taxels, if any.
    pub fn rays(&self) -> Option<&RayReading> {
        self.rays.as_deref()
    }

    /// Returns the contact loads on the skin while objects move for `dt_s`, and the state of the skin afterwards.
    pub fn touch(&self, state: &State, motion: &Motion<'_>, dt_s: f64) -> Result<(Touch, State), SkinError> {
        self.skin.touch(state, motion, dt_s)
    }

    /// Returns the reading of a touch without the memory and noise of the response.
    pub fn read(&self, touch: &Touch) -> Reading {
        let loads = self.taxel_loads(touch);
        let report = self.chain.respond_at_once(&loads.values_newton);
        let reading = loads.with_report(report);
        match self.magnetics() {
            Some(magnetics) => reading.with_magnetic(magnetics.read(touch, &Pose::IDENTITY)),
            None => reading,
        }
    }

    /// Returns the reading of a touch that lasts `dt_s`, with all stages of the response, and the state of the response
    /// afterwards. Start from [`Chain::rest`]. The sensor frame is the world frame; see [`Sensor::sense_at`].
    pub fn sense(
        &self,
        state: &ResponseState,
        touch: &Touch,
        dt_s: f64,
    ) -> Result<(Reading, ResponseState), ResponseError> {
        self.sense_at(state, touch, dt_s, &Pose::IDENTITY)
    }

    /// Like [`Sensor::sense`], for a sensor at a pose in the world: magnetometers also read the fields of the world.
    pub fn sense_at(
        &self,
        state: &ResponseState,
        touch: &Touch,
        dt_s: f64,
        world_from_sensor: &Pose,
    ) -> Result<(Reading, ResponseState), ResponseError> {
        let loads = self.taxel_loads(touch);
        let (report, mut next) = self.chain.respond(state, &loads.values_newton, dt_s)?;
        let mut reading = loads.with_report(report);
        if let Some(magnetics) = self.magnetics() {
            let sensed = magnetics.sense(touch, world_from_sensor, state, &mut next.magnetic, dt_s)?;
            reading = reading.with_magnetic(sensed);
        }
        Ok((reading, next))
    }

    /// Renders the camera's image of a touch. `frame` is the number of the image; only the noise depends on it.
    /// Separate from [`Sensor::read`] because an image costs much more than a reading.
    pub fn render(&self, touch: &Touch, frame: u64) -> Result<CameraFrame, OpticsError> {
        let (optics, surface) = self.camera_view(touch)?;
        Ok(optics.render(&surface, frame))
    }

    /// The camera and the surface of a touch as it sees it ([`Optics::surface_of`]).
    pub fn camera_view<'a>(&'a self, touch: &'a Touch) -> Result<(&'a Optics, Cow<'a, SurfaceField>), OpticsError> {
        let optics = self.optics.as_deref().ok_or_else(|| OpticsError::WithoutCamera { sensor: self.name.clone() })?;
        let unknown = || OpticsError::NoSurface { sensor: self.name.clone() };
        Ok((optics, optics.surface_of(touch).ok_or_else(unknown)?))
    }

    /// The warning of the camera about a touch, without rendering its image; see [`Optics::warning`].
    pub fn camera_warning(&self, touch: &Touch) -> Option<String> {
        let (optics, surface) = self.camera_view(touch).ok()?;
        optics.surface_warning(&surface)
    }

    /// The loads on the taxels, before the response: a reading without reported values.
    pub fn taxel_loads(&self, touch: &Touch) -> Reading {
        let (forces_newton, outside_newton) = self.taxels.bin(touch);
        let pressures_pa = self.rays.as_ref().map(|rays| rays.pressures_pa(touch));
        let values_newton: Vec<f64> = match &pressures_pa {
            Some(pressures) => pressures.iter().zip(self.taxels.areas_m2()).map(|(p, area)| p * area).collect(),
            None => {
                let along = forces_newton.iter().zip(self.taxels.normals());
                along.map(|(force, normal)| 0.0 - force.dot(*normal)).collect()
            }
        };
        Reading {
            size: self.taxels.size(),
            sum_newton: values_newton.iter().sum(),
            values_newton,
            forces_newton,
            outside_newton,
            pressures_pa,
            saturated: touch.saturated,
            ..Reading::default()
        }
    }
}
