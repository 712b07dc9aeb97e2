//! Tetrahedral meshes of solids with the depth of each vertex.
//!
//! A pressure field of hydroelastic contact (Elandt et al. 2019) is linear on each tetrahedron and zero at the surface.
//! This module computes its geometric part, the **extent** e at the vertices: 0 at the surface, 1 at the deepest point
//! of the solid. The solids are divided along straight lines from the surface to a medial set, so that e is exact for
//! flat faces; `edge_m` sets the resolution of round faces.

mod cuboid;
mod lattice;
mod round;

pub use cuboid::cuboid;
pub use lattice::from_surface;
pub use round::{capsule, convex, cylinder, ellipsoid, sphere};

use crate::shapes::ShapeError;
use crate::{MeshError, TetMesh, TopologyError};

/// Tetrahedra with the extent of their vertices.
#[derive(Clone, Debug, PartialEq)]
pub struct DepthTets {
    /// The tetrahedra.
    pub mesh: TetMesh,
    /// Extent e of each vertex: 0 at the surface, 1 at the deepest point; negative for vertices outside, where the
    /// surface intersects tetrahedra.
    pub extent: Vec<f64>,
    /// Depth (m) of e = 1 below the surface.
    pub depth_m: f64,
}

/// Error when dividing a solid into tetrahedra.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[allow(missing_docs, reason = "the message of each variant names its fields")]
pub enum TetsError {
    /// The parameters of the shape are invalid.
    #[error(transparent)]
    Shape(#[from] ShapeError),
    /// The tetrahedra or their surface would be degenerate.
    #[error(transparent)]
    Mesh(#[from] MeshError),
    /// The surface does not bound a solid.
    #[error(transparent)]
    Topology(#[from] TopologyError),
    /// The surface is not convex.
    #[error(
        "{mesh}: triangle {triangle} does not face away from the middle of the mesh, so it is not convex; cut it on a lattice instead"
    )]
    NotConvex { mesh: String, triangle: usize },
    /// Every vertex lies on the surface.
    #[error("{mesh}: every vertex lies on the surface, so no pressure can build up inside; refine the mesh")]
    NoInside { mesh: String },
}

impl DepthTets {
    /// Uses a given tetrahedral mesh: e is the distance from its boundary divided by the greatest such distance of a
    /// vertex.
    pub fn from_mesh(mesh: TetMesh) -> Result<Self, TetsError> {
        let on_boundary = mesh.on_boundary();
        let surface = crate::Surface::new(mesh.boundary()?);
        let depth = |(v, &on): (usize, &bool)| if on { 0.0 } else { surface.closest(mesh.vertices()[v]).distance };
        let mut extent: Vec<f64> = on_boundary.iter().enumerate().map(depth).collect();
        // Vertices without a tetrahedron are ignored.
        let mut used = vec![false; extent.len()];
        mesh.tets().iter().flatten().for_each(|&v| used[v as usize] = true);
        extent.iter_mut().zip(used).filter(|(_, used)| !used).for_each(|(e, _)| *e = 0.0);
        let depth_m = extent.iter().copied().fold(0.0, f64::max);
        if depth_m <= 0.0 {
            return Err(TetsError::NoInside { mesh: mesh.name().to_owned() });
        }
        extent.iter_mut().for_each(|e| *e /= depth_m);
        Ok(Self { mesh, extent, depth_m })
    }

    /// The solid after a rigid transform.
    pub fn transformed(&self, to_from_solid: &crate::Pose) -> Self {
        Self { mesh: self.mesh.transformed(to_from_solid), ..self.clone() }
    }
}

/// Divides a prism with end triangles `p` and `q` into three tetrahedra; its quadrilaterals are cut along p₀q₁, p₀q₂
/// and p₁q₂.
fn prism(p: [u32; 3], q: [u32; 3]) -> [[u32; 4]; 3] {
    [[p[0], q[0], q[1], q[2]], [p[0], p[1], q[1], q[2]], [p[0], p[1], p[2], q[2]]]
}
