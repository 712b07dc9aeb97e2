//! Where things are.
//!
//! The leftmost room of dermis: everything later is built on the nouns here and this crate imports none of
//! them. It knows triangle and tetrahedral meshes and how to read them ([`TriMesh`], [`TetMesh`], [`files`]), how
//! to make them ([`shapes`], [`tets`]) and wear them ([`Roughness`]), how to ask where a surface is ([`Surface`]: rays, closest points, signed distance;
//! [`Primitive`]: rays in closed form), how high it hangs over a plane ([`HeightField`]), how to scatter points on it ([`sampling`]), rigid motion
//! ([`Pose`], [`Twist`], [`Wrench`]) and quantities with units ([`quantity`]).
//!
//! SI inside, `f64` throughout. Nothing here assumes threads, and only [`files::read`] touches a file system,
//! so the crate builds for `wasm32-unknown-unknown`.

mod balls;
mod bvh;
pub mod files;
mod height_field;
mod mesh;
mod pose;
mod primitive;
pub mod quantity;
mod random;
mod ray;
mod refine;
mod roughness;
pub mod sampling;
pub mod shapes;
mod surface;
mod tet_mesh;
pub mod tets;
mod topology;
mod triangle_set;
mod twist;

pub use balls::Balls;
pub use bvh::{Bounds, Bvh, FlatNode, Slab};
pub use height_field::{HeightField, HeightGrid};
pub use mesh::{MassProperties, MeshError, TriMesh};
pub use pose::Pose;
pub use primitive::Primitive;
pub use random::Random;
pub use ray::Ray;
pub use refine::{RefineError, refined};
pub use roughness::{Roughness, RoughnessError};
pub use surface::{Closest, Hit, Nearest, Surface};
pub use tet_mesh::TetMesh;
pub use topology::TopologyError;
pub use triangle_set::TriangleSet;
pub use twist::{Twist, Wrench};

/// A point or vector in three dimensions.
pub type Vec3 = glam::DVec3;
/// A point or vector in a plane.
pub type Vec2 = glam::DVec2;
/// A unit quaternion: a rotation.
pub type Quat = glam::DQuat;
/// A 3 × 3 matrix.
pub type Mat3 = glam::DMat3;
