//! Quantities to estimate.

use super::Placement;
use serde::Serialize;

/// A quantity to estimate.
///
/// ```
/// use dermis::estimate::{Measured, Placement, Unknown, estimate};
/// # use dermis::prelude::*;
/// # let sensor = dermis::sensor::presets::find("uji-foam-14x6")?.build(None)?;
/// # let ball = Object::new(dermis::geometry::shapes::sphere(0.010, 0.001)?);
/// let known = Placement { depth_m: 1e-3, ..Placement::default() };
/// let reading = press(&sensor, &ball, &Aim::default(), Goal::Depth(2e-3))?.reading;
/// let found = estimate(&sensor, &ball, Measured::Taxels(&reading.values_newton), known, &[Unknown::Depth], &|_| ())?;
/// assert!((found.placement.depth_m - 2e-3).abs() < 1e-6);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Unknown {
    /// Position along x.
    X,
    /// Position along y.
    Y,
    /// Travel past first contact.
    Depth,
    /// Tilt about x.
    TiltX,
    /// Tilt about y.
    TiltY,
    /// Rotation about the normal.
    Yaw,
    /// Tangential displacement along x.
    ShearX,
    /// Tangential displacement along y.
    ShearY,
    /// Size.
    Scale,
}

impl Unknown {
    pub(crate) fn entry(self, placement: &mut Placement) -> &mut f64 {
        match self {
            Self::X => &mut placement.at_m[0],
            Self::Y => &mut placement.at_m[1],
            Self::Depth => &mut placement.depth_m,
            Self::TiltX => &mut placement.tilt_rad[0],
            Self::TiltY => &mut placement.tilt_rad[1],
            Self::Yaw => &mut placement.yaw_rad,
            Self::ShearX => &mut placement.shear_m[0],
            Self::ShearY => &mut placement.shear_m[1],
            Self::Scale => &mut placement.scale,
        }
    }

    /// Step of the differences: larger than the effect of single cells and taxels, smaller than a contact.
    pub(crate) fn step(self) -> f64 {
        match self {
            Self::X | Self::Y | Self::ShearX | Self::ShearY => 20e-6,
            Self::Depth => 10e-6,
            Self::TiltX | Self::TiltY | Self::Yaw => 0.01,
            Self::Scale => 0.02,
        }
    }
}
