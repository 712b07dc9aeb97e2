//! Rigid bodies.

use crate::{WorldError, require_positive};
use dermis_geometry::{MassProperties, Pose, TriMesh, Twist};
use dermis_skin::Object;
use std::sync::Arc;

/// A body of a world.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BodyId(pub(crate) usize);

/// How a body moves.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum BodyKind {
    /// It is fixed.
    Fixed,
    /// The caller prescribes its velocity with [`crate::World::set_velocity`]; forces have no effect.
    Driven,
    /// Forces move it.
    Free(MassProperties),
}

/// A body to put into a world.
#[derive(Clone, Debug)]
pub struct Body {
    /// Its name, in messages and records.
    pub name: String,
    /// How it moves.
    pub kind: BodyKind,
    /// Initial pose.
    pub world_from_body: Pose,
    /// Initial velocity at its origin, in the world frame.
    pub velocity: Twist,
    /// Its surface, if sensors can touch it.
    pub object: Option<Arc<Object>>,
    /// Whether it collides with the ground and other solid bodies (as the convex hull of its surface).
    pub solid: bool,
    /// Visual mesh, if it differs from the touchable surface.
    pub look: Option<Arc<TriMesh>>,
}

impl Body {
    /// A body that never moves.
    pub fn fixed(name: impl Into<String>, world_from_body: Pose) -> Self {
        let kind = BodyKind::Fixed;
        let (velocity, object, solid, look) = (Twist::ZERO, None, false, None);
        Self { name: name.into(), kind, world_from_body, velocity, object, solid, look }
    }

    /// A body that forces move.
    pub fn free(name: impl Into<String>, world_from_body: Pose, mass: MassProperties) -> Self {
        Self { kind: BodyKind::Free(mass), ..Self::fixed(name, world_from_body) }
    }

    /// A body that the caller moves.
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

    /// The mesh for rendering, if there is one.
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
