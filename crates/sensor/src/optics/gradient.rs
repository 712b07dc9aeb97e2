//! Derivatives of a scalar through an image.

use super::{Camera, Lattice, Light, Optics, OpticsError, Relief};
use dermis_geometry::Vec3;
use dermis_skin::SurfaceField;

/// Derivatives of a scalar with respect to a surface and its light.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OpticsGradient {
    /// By the displacement (1/m) of each cell of the surface.
    pub surface: Vec<Vec3>,
    /// By the parameters of the light, named by their keys: each a list in the order of the description.
    pub light: Vec<(&'static str, Vec<f64>)>,
}

/// Derivatives of a scalar with respect to the heights and slopes of a relief.
#[derive(Clone, Debug)]
pub(super) struct ByRelief {
    /// By the height (1/m), through shadows.
    pub z: Vec<f64>,
    pub right: Vec<f64>,
    pub down: Vec<f64>,
}

impl ByRelief {
    pub fn zero(pixels: usize) -> Self {
        Self { z: vec![0.0; pixels], right: vec![0.0; pixels], down: vec![0.0; pixels] }
    }
}

/// [`Camera::sight_step`] of a derivative, which is that of a line of sight that ends on the surface.
const SIGHT_STEP: f64 = 1e-6;

impl Optics {
    /// Derivatives of a scalar by the surface and the light, from those by the levels of the image (before they are rounded)
    /// and by column and row of each marker. An empty list is zero. The noise of the camera is held fixed.
    ///
    /// A shadow follows the point of the surface that casts it. Returns an error for lists of other sizes.
    pub fn vjp(
        &self,
        surface: &SurfaceField,
        by_image: &[Vec<f64>; 3],
        by_markers: &[[f64; 2]],
    ) -> Result<OpticsGradient, OpticsError> {
        let camera = &Camera { sight_step: SIGHT_STEP, ..self.camera.clone() };
        let pixels = camera.width * camera.height;
        let tracks = self.markers.as_ref().map(|markers| markers.track(surface, camera)).unwrap_or_default();
        let wrong = |what, got, expected| Err(OpticsError::BadCotangent { what, got, expected });
        if let Some(channel) = by_image.iter().find(|channel| ![0, pixels].contains(&channel.len())) {
            return wrong("the image", channel.len(), pixels);
        }
        if ![0, tracks.len()].contains(&by_markers.len()) {
            return wrong("the markers", by_markers.len(), tracks.len());
        }
        let mut by_tracks = by_markers.to_vec();
        by_tracks.resize(tracks.len(), [0.0; 2]);
        let mut gradient = OpticsGradient { surface: vec![Vec3::ZERO; surface.values.len()], light: Vec::new() };
        if by_image.iter().any(|channel| !channel.is_empty()) {
            let relief = Relief::of(surface, camera);
            let rest = surface.rest_heights_m.as_ref().map(|_| Relief::at_rest(surface, camera));
            let mut by_levels = by_image.each_ref().map(|channel| {
                let mut by = channel.clone();
                by.resize(pixels, 0.0);
                by
            });
            self.exposure.scale(camera.width, &mut by_levels);
            if let Some(markers) = &self.markers {
                let mut image = self.light.shade(&relief, || rest.clone());
                markers.by_paint(&mut image, &tracks, camera, &mut by_levels, &mut by_tracks);
            }
            if let Some(seen) = &relief.seen {
                for channel in &mut by_levels {
                    channel.iter_mut().zip(seen).filter(|(_, seen)| !**seen).for_each(|(by, _)| *by = 0.0);
                }
            }
            let (by_relief, light) = match &self.light {
                Light::Phong(phong) => phong.vjp(&relief, &by_levels),
                Light::Calibrated(calibrated) => calibrated.vjp(&relief, rest.as_ref(), &by_levels),
            };
            gradient.light = light;
            let by_heights = relief.by_heights(camera, &by_relief);
            Lattice::over(surface, camera).add_by_surface(surface, camera, &by_heights, &mut gradient.surface);
        }
        if let Some(markers) = &self.markers {
            markers.add_by_surface(surface, camera, &by_tracks, &mut gradient.surface);
        }
        Ok(gradient)
    }
}
