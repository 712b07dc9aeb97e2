//! What a gel remembers.

use super::contact::Hold;
use dermis_geometry::Pose;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// The history of a [`super::Gel`]: where its nodes are, what sticks to it, where the objects were, and, if it moves, its particles.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GelState {
    /// Displacement (m) of the nodes of the reference grid.
    pub(crate) nodes: Arc<[f64]>,
    /// Points of the surface that are pressed, in their order.
    pub(crate) holds: Vec<Hold>,
    /// Where the objects were.
    pub(crate) poses: Vec<Pose>,
    /// The particles, where they have moved since the gel was last at rest.
    pub(crate) moving: Option<Arc<Moving>>,
}

/// Particles in motion, in the order of the reference grid.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Moving {
    /// From where they rest (m).
    pub displacement: Vec<[f64; 3]>,
    /// Velocities (m/s).
    pub velocity: Vec<[f32; 3]>,
    /// Affine velocities (1/s).
    pub affine: Vec<[f32; 9]>,
    /// Deformation gradients.
    pub deformation: Vec<[f32; 9]>,
}
