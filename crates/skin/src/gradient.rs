//! Derivatives of a scalar through a touch.

use crate::Touch;
use dermis_geometry::{Pose, ShapeGradient, Twist, Vec3, Wrench};

/// Derivatives of a scalar L with respect to the parts of a [`crate::Touch`]. An empty list is zero.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TouchCotangent {
    /// By force (1/N) and torque (1/(N m)) on the sensor, about its origin.
    pub on_sensor: Wrench,
    /// By the force (1/N) of each contact point of springs.
    pub forces: Vec<Vec3>,
    /// By the displacement (1/m) of each cell of the surface.
    pub surface: Vec<Vec3>,
    /// By the stress (1/Pa) on each cell of the base.
    pub base: Vec<Vec3>,
    /// By the force (1/N) on each cell of a layer, through displacements inside of it at constant stiffness.
    pub inside: Vec<Vec3>,
    /// By the forces on parts of the polygon facets, in the order of the facets.
    pub parts: Vec<FacetPart>,
}

/// A convex part of a polygon facet with the derivative of a scalar by the force on it.
#[derive(Clone, Debug, PartialEq)]
pub struct FacetPart {
    /// Index of the facet.
    pub facet: usize,
    /// By the force on the part (1/N).
    pub by_force: Vec3,
    /// Corners (m), each with the edge from it to the next.
    pub corners: Vec<(Vec3, PartEdge)>,
}

/// An edge of a part of a polygon facet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PartEdge {
    /// On an edge of the facet: that from its corner of this index to the next.
    Facet(usize),
    /// On a plane at rest in the sensor's frame with this outward unit normal.
    Border(Vec3),
}

/// Derivatives of a scalar L with respect to the object and the parameters of a skin.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SkinGradient {
    /// By the pose and the size of the object.
    pub shape: ShapeGradient,
    /// By the parameters of the skin in SI units, named by their keys in a description.
    pub parameters: Vec<(&'static str, f64)>,
}

/// One step of an object along a path on a skin.
#[derive(Clone, Debug)]
pub struct PathStep {
    /// Pose of the object.
    pub sensor_from_object: Pose,
    /// Velocity of the object minus that of the sensor, in the sensor's frame, at the sensor's origin.
    pub velocity: Twist,
    /// The contact loads of the step.
    pub touch: Touch,
}

/// Derivatives of a scalar L with respect to pose and velocity of the object in one step of a path.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct StepGradient {
    /// By the position of the object's origin (1/m), in the sensor's frame.
    pub position: Vec3,
    /// By a rotation vector (1/rad) in the sensor's frame, about the object's origin, applied after the present rotation.
    pub rotation: Vec3,
    /// By the velocity (s/m) at the sensor's origin, at constant pose.
    pub linear: Vec3,
    /// By the angular velocity (s/rad), at constant pose.
    pub angular: Vec3,
}

/// Derivatives of a scalar L through all steps of a path.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PathGradient {
    /// By the motion in each step.
    pub steps: Vec<StepGradient>,
    /// By the size of the object and the parameters of the skin; position and rotation are the sums over the steps.
    pub whole: SkinGradient,
}
