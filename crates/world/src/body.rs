//! Rigid bodies.

use crate::{WorldError, require_positive};
use dermis_geometry::{MassProperties, Pose, TriMesh, Twist};
use dermis_skin::Object;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Handle of a body in a world.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct BodyId(pub(crate) usize);

/// The motion type of a body.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum BodyKind {
    /// Does not move.
    Fixed,
    /// The caller prescribes the velocity with [`crate::World::set_velocity`]; forces have no effect.
    Driven,
    /// Moves under forces, with this mass and inertia.
    Free(MassProperties),
}

/// Description of a rigid body.
///
/// ```
/// use dermis_geometry::{Pose, Vec3};
/// use dermis_skin::Object;
/// use dermis_world::Body;
/// let ball = Object::new(dermis_geometry::shapes::sphere(0.010, 0.001)?);
/// let mass = ball.surface.mass_properties(0.05)?; // kg
/// let body = Body::free("ball", Pose::from_translation(Vec3::new(0.0, 0.0, 0.02)), mass).touchable(ball.into()).solid();
/// assert!(body.solid && body.visible().is_some());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Body {
    /// Name, used in messages and recordings.
    pub name: String,
    /// Motion type.
    pub kind: BodyKind,
    /// Initial pose.
    pub world_from_body: Pose,
    /// Initial velocity of the origin, in the world frame.
    pub velocity: Twist,
    /// Surface that sensors can touch, if any.
    pub object: Option<Arc<Object>>,
    /// Whether the body collides with the ground and other solid bodies (as the convex hull of its surface).
    pub solid: bool,
    /// Visual mesh, if it differs from the touchable surface.
    pub look: Option<Arc<TriMesh>>,
}

impl Body {
    /// Creates a body that does not move.
    pub fn fixed(name: impl Into<String>, world_from_body: Pose) -> Self {
        let kind = BodyKind::Fixed;
        let (velocity, object, solid, look) = (Twist::ZERO, None, false, None);
        Self { name: name.into(), kind, world_from_body, velocity, object, solid, look }
    }

    /// Creates a body that moves under forces.
    pub fn free(name: impl Into<String>, world_from_body: Pose, mass: MassProperties) -> Self {
        Self { kind: BodyKind::Free(mass), ..Self::fixed(name, world_from_body) }
    }

    /// Creates a body whose velocity the caller prescribes.
    pub fn driven(name: impl Into<String>, world_from_body: Pose) -> Self {
        Self { kind: BodyKind::Driven, ..Self::fixed(name, world_from_body) }
    }

    /// Makes the body touchable by sensors.
    pub fn touchable(mut self, object: Arc<Object>) -> Self {
        self.object = Some(object);
        self
    }

    /// Makes the body collide with the ground and other solid bodies.
    pub fn solid(mut self) -> Self {
        self.solid = true;
        self
    }

    /// Sets the visual mesh.
    pub fn with_visual_mesh(mut self, mesh: TriMesh) -> Self {
        self.look = Some(Arc::new(mesh));
        self
    }

    /// The mesh for rendering: the visual mesh, else the touchable surface, if any.
    pub fn visible(&self) -> Option<&TriMesh> {
        self.look.as_deref().or_else(|| self.object.as_ref().map(|object| object.surface.mesh()))
    }

    pub(crate) fn check(&self) -> Result<(), WorldError> {
        let owner = format!("body {:?}", self.name);
        if !self.world_from_body.is_finite() {
            return Err(WorldError::NotFinite { owner, key: "pose" });
        }
        if !self.velocity.is_finite() {
            return Err(WorldError::NotFinite { owner, key: "velocity" });
        }
        if let BodyKind::Free(mass) = &self.kind {
            require_positive(&owner, "mass", "kg", mass.mass_kg)?;
            for axis in 0..3 {
                require_positive(&owner, "inertia", "kg m^2", mass.inertia_kg_m2.col(axis)[axis])?;
            }
        }
        Ok(())
    }
}
