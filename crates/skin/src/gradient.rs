//! Derivatives of a scalar through a touch.

use dermis_geometry::{ShapeGradient, Vec3, Wrench};

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
