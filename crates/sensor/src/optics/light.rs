//! The light on the gel.

use super::{BackgroundSpec, Calibrated, CalibratedSpec, FloatImage, OpticsError, Phong, PhongSpec, Relief};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// The description of a light.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
#[allow(clippy::large_enum_variant, reason = "a sensor has one")]
pub enum LightSpec {
    /// Phong shading with coloured lights.
    Phong(PhongSpec),
    /// Calibrated on images of known presses.
    Calibrated(CalibratedSpec),
}

/// Error of a light that was fitted to images: root mean square difference (levels of 255) from images of presses that the
/// fit did not contain.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LightResidual {
    /// In the contact, to 0.9 of its radius.
    pub inside: f64,
    /// Around it, from 1 to 2 radii.
    pub around: f64,
}

/// A light with checked parameters.
#[derive(Clone, Debug, PartialEq)]
#[allow(clippy::large_enum_variant, reason = "a sensor has one")]
pub enum Light {
    /// Phong shading with coloured lights.
    Phong(Phong),
    /// Calibrated on images of known presses.
    Calibrated(Calibrated),
}

impl Default for LightSpec {
    /// Grey light from the direction of the camera.
    fn default() -> Self {
        let source = super::LightSourceSpec {
            azimuth: dermis_geometry::quantity::Angle::new(0.0),
            elevation: dermis_geometry::quantity::Angle::new(std::f64::consts::FRAC_PI_2),
            diffuse: [180.0; 3],
            specular: [0.0; 3],
        };
        let background = BackgroundSpec::Colour([20.0; 3]);
        Self::Phong(PhongSpec {
            background,
            relative: false,
            shininess: 1,
            sources: vec![source],
            shadow: None,
            residual: None,
        })
    }
}

impl LightSpec {
    /// The error of a fitted light, if it is known.
    pub fn residual(&self) -> Option<LightResidual> {
        match self {
            Self::Phong(spec) => spec.residual,
            Self::Calibrated(spec) => spec.residual,
        }
    }

    /// The same light with its error.
    pub fn with_residual(mut self, residual: LightResidual) -> Self {
        match &mut self {
            Self::Phong(spec) => spec.residual = Some(residual),
            Self::Calibrated(spec) => spec.residual = Some(residual),
        }
        self
    }

    /// Checks the parameters. A relative background file is resolved against `folder`.
    pub fn build(
        &self,
        width: usize,
        height: usize,
        pixel_m: f64,
        folder: Option<&Path>,
    ) -> Result<Light, OpticsError> {
        if let Some(LightResidual { inside, around }) = self.residual()
            && let Some(got) = [inside, around].into_iter().find(|level| !(level.is_finite() && *level >= 0.0))
        {
            let rule = format!("needs levels of 0 or more, got {got}");
            return Err(OpticsError::Bad { table: "light", key: "residual", rule });
        }
        Ok(match self {
            Self::Phong(spec) => Light::Phong(spec.build(width, height, pixel_m, folder)?),
            Self::Calibrated(spec) => Light::Calibrated(spec.build(width, height, folder)?),
        })
    }
}

impl Light {
    /// Fraction of the pressed pixels whose slope lies outside the data that the light was fitted to.
    pub fn beyond_data(&self, relief: &Relief) -> f64 {
        match self {
            Self::Phong(_) => 0.0,
            Self::Calibrated(calibrated) => calibrated.beyond(relief),
        }
    }

    /// Fraction of the pressed pixels whose depth lies outside the data that the light was fitted to.
    pub fn deeper_than_data(&self, relief: &Relief) -> f64 {
        match self {
            Self::Phong(_) => 0.0,
            Self::Calibrated(calibrated) => calibrated.deeper(relief),
        }
    }

    /// True if a surface can lie outside the data that the light was fitted to.
    pub fn has_limits(&self) -> bool {
        match self {
            Self::Phong(_) => false,
            Self::Calibrated(calibrated) => calibrated.steepest() < 1.0 || calibrated.depends_on_depth(),
        }
    }

    /// The same light on another image without contact.
    pub fn on_background(self, background: FloatImage) -> Self {
        match self {
            Self::Phong(phong) => Self::Phong(phong.on_background(background)),
            Self::Calibrated(calibrated) => Self::Calibrated(calibrated.on_background(background)),
        }
    }

    /// Shades a relief. `rest` is called for the relief without contact if the light needs it.
    pub fn shade(&self, relief: &Relief, rest: impl FnOnce() -> Option<Relief>) -> FloatImage {
        match self {
            Self::Phong(phong) => phong.shade(relief),
            Self::Calibrated(calibrated) => calibrated.shade(relief, rest().as_ref()),
        }
    }
}
