//! Rigid bodies.

use crate::{WorldError, require_positive};
use dermis_geometry::{MassProperties, Pose, TriMesh, Twist};
use dermis_skin::Object;
use std::sync::Arc;

/// A body of a world.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BodyId(pub(crate) usize);

/// What makes a body move.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum BodyKind {
    /// Nothing.
    Fixed,
    /// The caller, by [`crate::World::set_velocity`]; forces do not.
    Driven,
    /// Forces.
    Free(MassProperties),
}

/// A body to put into a world.
#[derive(Clone, Debug)]
pub struct Body {
    /// Its name, in messages and records.
    pub name: String,
    /// What makes it move.
    pub kind: BodyKind,
    /// Where it starts.
    pub world_from_body: Pose,
    /// How it starts moving, at its origin, in the world's frame.
    pub velocity: Twist,
    /// Its surface, if sensors can feel it.
    pub object: Option<Arc<Object>>,
    /// Whether it meets the ground and other solid bodies (as the convex hull of its surface).
    pub solid: bool,
    /// What it looks like, where that is not its touchable surface.
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

    /// Lets sensors feel the body.
    pub fn touchable(mut self, object: Arc<Object>) -> Self {
        self.object = Some(object);
        self
    }

    /// Lets the body meet the ground and other solid bodies.
    pub fn solid(mut self) -> Self {
        self.solid = true;
        self
    }

    /// Gives the body a look of its own.
    pub fn looking_like(mut self, mesh: TriMesh) -> Self {
        self.look = Some(Arc::new(mesh));
        self
    }

    /// The mesh to draw, if there is any.
    pub fn visible(&self) -> Option<&TriMesh> {
        self.look.as_deref().or_else(|| self.object.as_ref().map(|object| object.surface.mesh()))
    }

    pub(crate) fn check(&self) -> Result<(), WorldError> {
        let whose = format!("body {:?}", self.name);
        if !self.world_from_body.is_finite() {
            return Err(WorldError::NotFinite { whose, key: "pose" });
        }
        if !self.velocity.is_finite() {
            return Err(WorldError::NotFinite { whose, key: "velocity" });
        }
        if let BodyKind::Free(mass) = &self.kind {
            require_positive(&whose, "mass", "kg", mass.mass_kg)?;
            for axis in 0..3 {
                require_positive(&whose, "inertia", "kg m^2", mass.inertia_kg_m2.col(axis)[axis])?;
            }
        }
        Ok(())
    }
}
