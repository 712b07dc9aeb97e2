//! What a gel remembers.

use super::contact::Hold;
use dermis_geometry::Pose;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// The history of a [`super::Gel`]: where its nodes are, what sticks to it, and where the objects were.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GelState {
    /// Displacement (m) of the nodes of the reference grid.
    pub(crate) nodes: Arc<[f64]>,
    /// Points of the surface that are pressed, in their order.
    pub(crate) holds: Vec<Hold>,
    /// Where the objects were.
    pub(crate) poses: Vec<Pose>,
}
