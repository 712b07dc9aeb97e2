//! How the gel is lit.

use super::{BackgroundSpec, Calibrated, CalibratedSpec, FloatImage, OpticsError, Phong, PhongSpec, Relief};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// A light as a file describes it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum LightSpec {
    /// By a model of lamps.
    Phong(PhongSpec),
    /// As it was measured.
    Calibrated(CalibratedSpec),
}

/// A light, ready.
#[derive(Clone, Debug, PartialEq)]
pub enum Light {
    /// By a model of lamps.
    Phong(Phong),
    /// As it was measured.
    Calibrated(Calibrated),
}

impl Default for LightSpec {
    /// Grey light from the camera itself.
    fn default() -> Self {
        let source = super::SourceSpec {
            azimuth: dermis_geometry::quantity::Angle::new(0.0),
            elevation: dermis_geometry::quantity::Angle::new(std::f64::consts::FRAC_PI_2),
            diffuse: [180.0; 3],
            specular: [0.0; 3],
        };
        let background = BackgroundSpec::Colour([20.0; 3]);
        Self::Phong(PhongSpec { background, relative: false, shininess: 1, sources: vec![source], shadow: None })
    }
}

impl LightSpec {
    /// Checks the numbers; `folder` is where a relative background is looked for.
    pub fn build(
        &self,
        width: usize,
        height: usize,
        pixel_m: f64,
        folder: Option<&Path>,
    ) -> Result<Light, OpticsError> {
        Ok(match self {
            Self::Phong(spec) => Light::Phong(spec.build(width, height, pixel_m, folder)?),
            Self::Calibrated(spec) => Light::Calibrated(spec.build(width, height, folder)?),
        })
    }
}

impl Light {
    /// The image of a relief; `rest` is asked for that of the untouched gel where the light needs it.
    pub fn shade(&self, relief: &Relief, rest: impl FnOnce() -> Option<Relief>) -> FloatImage {
        match self {
            Self::Phong(phong) => phong.shade(relief),
            Self::Calibrated(calibrated) => calibrated.shade(relief, rest().as_ref()),
        }
    }
}
