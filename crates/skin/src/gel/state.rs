//! History of a gel.

use super::contact::ContactState;
use dermis_geometry::Pose;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// History of a [`super::Gel`]: nodal displacements, contacts, poses of the objects and, while it moves, its particles.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GelState {
    /// Nodal displacements (m) on the reference grid.
    pub(crate) nodes: Arc<[f64]>,
    /// Contacts, sorted by surface point.
    #[serde(rename = "holds")]
    pub(crate) contacts: Vec<ContactState>,
    /// Last poses of the objects.
    pub(crate) poses: Vec<Pose>,
    /// Particle motion since the last equilibrium, if any.
    pub(crate) moving: Option<Arc<Moving>>,
}

/// Motion of the particles, in the order of the reference grid.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Moving {
    /// Displacements (m).
    pub displacement: Vec<[f64; 3]>,
    /// Velocities (m/s).
    pub velocity: Vec<[f32; 3]>,
    /// Affine velocities (1/s).
    pub affine: Vec<[f32; 9]>,
    /// Deformation gradients.
    pub deformation: Vec<[f32; 9]>,
}
