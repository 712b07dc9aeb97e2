//! Images of a camera behind the gel: depth, colour and markers.
//!
//! [`Optics`] is a transducer like the taxels: it renders the deformed surface of a touch
//! ([`dermis_skin::Touch::surface`]) and does not depend on the kind of skin. Images cost milliseconds, so they are not
//! part of a [`crate::Reading`]; [`crate::Sensor::render`] renders one. Levels are those of an 8-bit image (0–255), in
//! `f32` until [`FloatImage::to_rgb8`].

mod background;
mod calibrated;
mod camera;
mod casters;
mod error;
mod exposure;
mod float_image;
mod gradient;
mod horizon;
mod lattice;
mod light;
mod markers;
mod membrane;
mod phong;
mod position;
mod relief;
mod shadow;
mod side_lamp;
mod smoothing;
mod spec;
mod wide;

pub use background::BackgroundSpec;
pub use calibrated::{
    Calibrated, CalibratedSpec, CastShadow, CastShadowSpec, DepthLightSpec, MAX_SURFACE_DEGREE, MIN_HIDDEN,
    MIN_PRESSED_MM, MIN_SLOPE, SHADOW_POSITION_DEGREE,
};
pub(crate) use calibrated::{Composition, coefficients, features, relative, shadow_coefficients, surface_monomials};
pub use camera::{Camera, CameraSpec, Crop, NoiseSpec};
pub use error::OpticsError;
pub use exposure::Exposure;
pub use float_image::FloatImage;
pub use gradient::OpticsGradient;
pub use horizon::{Horizon, node_stride, sight_points_m};
pub use lattice::{Lattice, Tap};
pub use light::{Light, LightResidual, LightSpec};
pub use markers::{Markers, MarkersSpec, Pattern};
pub use membrane::Membrane;
pub use phong::{LightSource, LightSourceSpec, Phong, PhongSpec};
pub use position::Area;
pub(crate) use position::place_in;
pub use position::{ImageCoordinates, along_row};
pub use relief::Relief;
pub use shadow::{Shadow, ShadowSpec};
pub use side_lamp::{SideLamp, SideLampSpec};
pub use spec::OpticsSpec;

use dermis_skin::{SurfaceField, Touch};
use std::borrow::Cow;

/// A camera with its light and markers.
#[derive(Clone, Debug, PartialEq)]
pub struct Optics {
    camera: Camera,
    light: Light,
    light_residual: Option<LightResidual>,
    markers: Option<Markers>,
    exposure: Exposure,
}

/// One image of the camera with its ground truth.
#[derive(Clone, Debug, PartialEq)]
pub struct CameraFrame {
    /// The colours, with markers, exposure and noise.
    pub image: FloatImage,
    /// Height and slope of the surface at every pixel.
    pub relief: Relief,
    /// Position of each marker in the image (pixels) without contact and in this frame: column, row, column, row.
    pub markers: Vec<[f64; 4]>,
}

/// Fraction of the pressed pixels from which a warning is given.
const WORTH_SAYING: f64 = 0.01;

impl Optics {
    /// Builds a camera from its description. Relative file names are resolved against `folder`.
    pub fn new(spec: &OpticsSpec, folder: Option<&std::path::Path>) -> Result<Self, OpticsError> {
        let camera = spec.camera.build()?;
        Ok(Self {
            light: spec.light.build(camera.width, camera.height, camera.pixel_m, folder)?,
            light_residual: spec.light.residual(),
            markers: spec.markers.as_ref().map(MarkersSpec::build).transpose()?,
            exposure: Exposure::new(&spec.camera),
            camera,
        })
    }

    /// The camera.
    pub fn camera(&self) -> &Camera {
        &self.camera
    }

    /// The light.
    pub fn light(&self) -> &Light {
        &self.light
    }

    /// The error of the light, if it was fitted to images.
    pub fn light_residual(&self) -> Option<LightResidual> {
        self.light_residual
    }

    /// The same camera with another light.
    pub fn with_light(self, light: Light) -> Self {
        Self { light, ..self }
    }

    /// The same camera with another [`Camera::sight_step`].
    pub fn with_sight_step(self, sight_step: f64) -> Self {
        Self { camera: Camera { sight_step, ..self.camera }, ..self }
    }

    /// The markers, if any.
    pub fn markers(&self) -> Option<&Markers> {
        self.markers.as_ref()
    }

    /// Exposure, vignetting and noise.
    pub fn exposure(&self) -> &Exposure {
        &self.exposure
    }

    /// The surface of a touch as the camera sees it, displaced in its mount ([`CameraSpec::mount_stiffness`]); `None` for a
    /// skin that does not know its surface.
    pub fn surface_of<'a>(&self, touch: &'a Touch) -> Option<Cow<'a, SurfaceField>> {
        let mut surface = Cow::Borrowed(touch.surface.as_ref()?);
        if self.camera.mount_newton_per_m.is_some() {
            let shift_m = self.camera.mount_shift_m(touch.on_sensor.force);
            surface.to_mut().values.iter_mut().for_each(|value| *value += shift_m);
        }
        Some(surface)
    }

    /// Renders a deformed surface. `frame` is the number of the image; only the noise depends on it.
    pub fn render(&self, surface: &SurfaceField, frame: u64) -> CameraFrame {
        let relief = Relief::of(surface, &self.camera);
        let rest = || surface.rest_heights_m.as_ref().map(|_| Relief::at_rest(surface, &self.camera));
        let mut image = self.light.shade(&relief, rest);
        let markers = self.markers.as_ref().map(|markers| markers.track(surface, &self.camera)).unwrap_or_default();
        if let Some(seen) = &relief.seen {
            for channel in &mut image.channels {
                channel.iter_mut().zip(seen).filter(|(_, seen)| !**seen).for_each(|(level, _)| *level = 0.0);
            }
        }
        if let Some(dots) = &self.markers {
            dots.paint(&mut image, &markers, &self.camera);
        }
        self.exposure.apply(&mut image, frame);
        CameraFrame { image, relief, markers }
    }

    /// [`Optics::warning`] of a deformed surface, without rendering its image.
    pub fn surface_warning(&self, surface: &SurfaceField) -> Option<String> {
        if !self.light.has_limits() {
            return None;
        }
        self.warning(&Relief::of(surface, &self.camera))
    }

    /// A warning about a frame whose surface is steeper or deeper than the presses that its light was fitted to.
    pub fn warning(&self, relief: &Relief) -> Option<String> {
        let steep = Self::steep_warning(self.light.beyond_data(relief));
        let deep = self.light.deeper_than_data(relief);
        let deep = Self::limit_warning(deep, ["deeper", "depth.deepest", "largest measured depth"]);
        let both: Vec<String> = [steep, deep].into_iter().flatten().collect();
        (!both.is_empty()).then(|| both.join("; "))
    }

    /// The warning about a frame of whose pressed pixels this fraction is steeper than the presses that its light was
    /// fitted to.
    pub fn steep_warning(steep: f64) -> Option<String> {
        Self::limit_warning(steep, ["steeper", "steepest", "steepest measured slope"])
    }

    /// A warning about a part of the pressed pixels beyond a limit of the light: how they are, and what they have instead.
    fn limit_warning(part: f64, [are, key, instead]: [&str; 3]) -> Option<String> {
        (part > WORTH_SAYING).then(|| {
            let percent = 100.0 * part;
            format!(
                "{percent:.0} % of the pressed pixels are {are} than the presses that the light was fitted to (`light.{key}`); they have the light of the {instead}"
            )
        })
    }

    /// Optical flow (pixels, right and down): for each pixel, the displacement in the image of the gel point that the
    /// pixel sees without contact.
    pub fn flow(&self, surface: &SurfaceField) -> [Vec<f32>; 2] {
        Lattice::over(surface, &self.camera).flow(surface, &self.camera)
    }
}
