//! Geometry for contact simulation.
//!
//! This is the lowest crate: it depends on no other crate of dermis. It provides triangle and tetrahedral meshes and
//! their file formats ([`TriMesh`], [`TetMesh`], [`files`]), generated shapes ([`shapes`], [`tets`]) and surface
//! defects ([`Roughness`]), queries on surfaces ([`Surface`]: rays, closest points, signed distance; [`Primitive`]:
//! rays in closed form), height fields over a plane ([`HeightField`]), surface sampling ([`sampling`]), rigid motion
//! ([`Pose`], [`Twist`], [`Wrench`]) and quantities with units ([`quantity`]).
//!
//! All values are in SI units and `f64`. The crate starts no threads, and only [`files`] uses the file system, so that
//! it builds for `wasm32-unknown-unknown`.

mod balls;
mod bvh;
pub mod files;
mod height_field;
pub mod limits;
mod mesh;
mod pose;
mod primitive;
mod quadrature;
pub mod quantity;
mod random;
mod ray;
mod refine;
pub mod regular_file;
mod roughness;
pub mod sampling;
mod shape_gradient;
pub mod shapes;
mod surface;
mod terminal_text;
mod tet_mesh;
pub mod tets;
mod topology;
mod triangle_bounds;
mod triangle_set;
mod twist;

pub use balls::Balls;
pub use bvh::{Bounds, Bvh, FlatNode, Slab};
pub use height_field::{HeightField, HeightGrid};
pub use mesh::{MassProperties, MeshError, TriMesh};
pub use pose::Pose;
pub use primitive::Primitive;
pub use quadrature::gauss_legendre;
pub use random::{Random, mixed};
pub use ray::Ray;
pub use refine::{RefineError, refined};
pub use roughness::{Roughness, RoughnessError};
pub use shape_gradient::{PlacedShape, RayHit, ShapeGradient};
pub use surface::{Closest, Hit, Nearest, Surface};
pub use terminal_text::terminal_text;
pub use tet_mesh::TetMesh;
pub use topology::TopologyError;
pub use triangle_bounds::{clipped, cut};
pub use triangle_set::TriangleSet;
pub use twist::{Twist, Wrench};

/// A point or vector in three dimensions.
pub type Vec3 = glam::DVec3;
/// A point or vector in a plane.
pub type Vec2 = glam::DVec2;
/// A rotation as a unit quaternion.
pub type Quat = glam::DQuat;
/// A 3 × 3 matrix.
pub type Mat3 = glam::DMat3;
