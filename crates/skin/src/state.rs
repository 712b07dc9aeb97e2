//! What a skin remembers between steps.

use crate::gel::GelState;
use crate::hydroelastic::Bristles;
use crate::layer::LayerState;
use dermis_geometry::Vec3;
use serde::{Deserialize, Serialize};

/// The bristles under one texel that is touched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Bristle {
    /// Which texel (or contact point).
    pub site: u32,
    /// Which object holds them.
    pub object: u32,
    /// Their deflection (m), in the contact plane, in the sensor's frame.
    pub deflection_m: Vec3,
    /// Normal of the contact plane, out of the sensor.
    pub normal: Vec3,
    /// The triangle met last: where to look first.
    pub triangle: u32,
}

/// The history of a skin: clone it to branch, serialise it to resume.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum State {
    /// Of [`crate::Springs`].
    Springs {
        /// How many texels (or contact points) the skin has.
        sites: usize,
        /// Those that are touched, in their order; the others remember nothing.
        bristles: Vec<Bristle>,
    },
    /// Of [`crate::Hydroelastic`]: deflections at the corners of the last contact surface.
    Hydroelastic(Bristles),
    /// Of [`crate::Gel`]: nodes, what sticks, and particles where it moves.
    Gel(GelState),
    /// Of [`crate::Layer`]: tractions.
    Layer(LayerState),
    /// Of [`crate::Imprint`], which remembers nothing.
    Imprint,
}
