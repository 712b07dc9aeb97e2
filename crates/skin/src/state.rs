//! The history of a skin between steps.

use crate::gel::GelState;
use crate::hydroelastic::Bristles;
use crate::layer::LayerState;
use dermis_geometry::Vec3;
use serde::{Deserialize, Serialize};

/// The bristles of a texel in contact.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Bristle {
    /// Index of the texel (or contact point).
    pub site: u32,
    /// Index of the object in contact.
    pub object: u32,
    /// Deflection (m) in the contact plane, in the sensor's frame.
    pub deflection_m: Vec3,
    /// Normal of the contact plane, out of the sensor.
    pub normal: Vec3,
    /// Triangle hit in the last step: a hint for the next ray.
    pub triangle: u32,
}

impl Bristle {
    /// True if the numbers are those of a bristle.
    pub(crate) fn is_sound(&self) -> bool {
        is_bounded(self.deflection_m, 1e6) && is_unit(self.normal)
    }
}

/// True if a vector is finite and no component is larger than `max`.
pub(crate) fn is_bounded(vector: Vec3, max: f64) -> bool {
    vector.abs().cmple(Vec3::splat(max)).all()
}

/// True for a unit vector, to rounding.
pub(crate) fn is_unit(vector: Vec3) -> bool {
    (vector.length_squared() - 1.0).abs() < 1e-6
}

/// The history of a skin: clone it to branch, serialise it to resume.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum State {
    /// State of [`crate::Springs`].
    Springs {
        /// Number of texels (or contact points) of the skin.
        sites: usize,
        /// Bristles of the texels in contact, in the order of the texels.
        bristles: Vec<Bristle>,
    },
    /// State of [`crate::Hydroelastic`]: deflections at the corners of the last contact surface.
    Hydroelastic(Bristles),
    /// State of [`crate::Gel`]: node displacements, sticking contacts and, in motion, particles.
    Gel(GelState),
    /// State of [`crate::Layer`]: tractions.
    Layer(LayerState),
    /// State of [`crate::Imprint`], which has no history.
    Imprint,
}
