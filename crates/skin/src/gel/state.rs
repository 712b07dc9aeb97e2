//! History of a gel.

use super::contact::ContactState;
use crate::SkinError;
use crate::state::is_bounded;
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

/// Largest displacement of a node, by the width of the gel. A node beside a curved surface, of which the gel depends by a
/// thousandth, may move far.
const MAX_WIDTHS: f64 = 1e6;

impl GelState {
    /// Returns an error unless the state is that of a gel with this number of particles, points of the surface and size
    /// (m).
    pub(crate) fn check(&self, particles: usize, points: usize, size_m: f64) -> Result<(), SkinError> {
        if let Some(moving) = &self.moving {
            let Moving { displacement, velocity, affine, deformation } = &**moving;
            let lengths = [displacement.len(), velocity.len(), affine.len(), deformation.len()];
            // A gel of the same size has fewer particles if parts of it are fixed.
            if let Some(&got) = lengths.iter().find(|&&got| got != particles) {
                return Err(SkinError::StateMismatch { got, expected: particles });
            }
        }
        let last = self.contacts.last().map_or(0, |contact| contact.point as usize + 1);
        if last > points {
            return Err(SkinError::StateMismatch { got: last, expected: points });
        }
        let damaged = |what| Err(SkinError::DamagedState { skin: "gel", what });
        if !self.nodes.iter().all(|value| value.abs() <= MAX_WIDTHS * size_m) {
            return damaged("a node is not finite, or has left the gel");
        }
        let sound =
            |contact: &ContactState| (0.0..=1e15).contains(&contact.pressure_pa) && is_bounded(contact.anchor, 1e6);
        if !self.contacts.is_sorted_by(|a, b| a.point < b.point) || !self.contacts.iter().all(sound) {
            return damaged("its contacts are not in the order of the points, or not finite");
        }
        let is_pose =
            |pose: &Pose| is_bounded(pose.translation, 1e6) && (pose.rotation.length_squared() - 1.0).abs() < 1e-6;
        if !self.poses.iter().all(is_pose) {
            return damaged("the pose of an object is not finite, or its rotation is none");
        }
        let Some(moving) = &self.moving else { return Ok(()) };
        let near = moving.displacement.as_flattened().iter().all(|value| value.abs() <= size_m);
        let below = |values: &[f32], max: f32| values.iter().all(|value| value.abs() <= max);
        let calm = below(moving.velocity.as_flattened(), 1e4)
            && below(moving.affine.as_flattened(), 1e9)
            && below(moving.deformation.as_flattened(), 1e3);
        if near && calm { Ok(()) } else { damaged("a particle is not finite, or has left the gel") }
    }
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
