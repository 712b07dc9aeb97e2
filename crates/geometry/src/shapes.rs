//! Generated meshes.
//!
//! Lengths are in metres. `edge_m` is the maximum edge length: features smaller than it are lost. Every closed shape
//! bounds a solid with outward faces; the documentation of an open patch says so. The same parameters give the same
//! mesh, vertex by vertex.

mod bottle;
mod fingertip;
mod flat;
pub mod indenters;
mod loft;
mod polygon;
mod round;
mod rounded;
mod spline;
mod terrain;

pub use bottle::spray_bottle;
pub use fingertip::{Fingertip, finger, fingertip, fingertip_pad};
pub use flat::{cuboid, grid, prism};
pub use round::{capsule, cone, cylinder, ellipsoid, sphere, spherical_patch, torus};
pub use rounded::rounded_box;
pub use terrain::{check_heights, terrain};

use crate::MeshError;
use crate::limits::{MAX_HEIGHTS, MAX_SIZE_M, MAX_TRIANGLES, NoMemory, require_mesh_memory};

/// Error when generating a shape.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[allow(missing_docs, reason = "the message of each variant names its fields")]
pub enum ShapeError {
    /// A length is not positive, or larger than [`MAX_SIZE_M`].
    #[error("{shape}: `{what}` must be a positive length of at most {MAX_SIZE_M:e} m, got {got:?} m; check its unit")]
    BadLength { shape: &'static str, what: &'static str, got: f64 },
    /// An angle is outside its range.
    #[error(
        "{shape}: `{what}` must lie between 0 and {below} rad, both excluded, got {got}; 90 degrees are 1.5708 rad"
    )]
    BadAngle { shape: &'static str, what: &'static str, got: f64, below: f64 },
    /// The shape has too few sides, rows or columns.
    #[error("{shape}: `{what}` must be at least {min}, got {got}")]
    TooFew { shape: &'static str, what: &'static str, min: usize, got: usize },
    /// The minor radius of a torus is not smaller than its major radius.
    #[error("torus: `minor_m` must be smaller than `major_m`, or the surface cuts itself; got {minor_m} and {major_m}")]
    FatTorus { major_m: f64, minor_m: f64 },
    /// No indenter has this name.
    #[error("there is no indenter {name:?}; the indenters are {}", indenters::NAMES.join(", "))]
    UnknownIndenter { name: String },
    /// The shape would need more triangles than [`MAX_TRIANGLES`].
    #[error(
        "{shape}: about {triangles:.3e} triangles would be needed, and {MAX_TRIANGLES} are allowed; is the edge or the pitch of {edge_m} m in millimetres or micrometres?"
    )]
    TooFine { shape: &'static str, edge_m: f64, triangles: f64 },
    /// A height field has more heights than [`MAX_HEIGHTS`].
    #[error("height field: {rows} x {cols} heights, and at most {MAX_HEIGHTS} are allowed; take every second one")]
    TooManyHeights { rows: usize, cols: usize },
    /// The system does not give the memory of the mesh.
    #[error("{shape}: the mesh {error}; allow longer edges")]
    NoMemory { shape: &'static str, error: NoMemory },
    /// The parameters are so extreme that a triangle degenerates.
    #[error(transparent)]
    Degenerate(#[from] MeshError),
}

/// Refuses a length (m) that is not positive or larger than [`MAX_SIZE_M`].
pub(crate) fn check_length(shape: &'static str, what: &'static str, got: f64) -> Result<(), ShapeError> {
    if got > 0.0 && got <= MAX_SIZE_M { Ok(()) } else { Err(ShapeError::BadLength { shape, what, got }) }
}

/// Refuses more triangles than [`MAX_TRIANGLES`], and more than the system has memory for, before any is made.
pub(crate) fn check_count(shape: &'static str, edge_m: f64, triangles: f64) -> Result<(), ShapeError> {
    if triangles.is_nan() || triangles > MAX_TRIANGLES as f64 {
        return Err(ShapeError::TooFine { shape, edge_m, triangles });
    }
    check_memory(shape, triangles)
}

/// Refuses a mesh that the system has no memory for.
fn check_memory(shape: &'static str, triangles: f64) -> Result<(), ShapeError> {
    require_mesh_memory(triangles).map_err(|error| ShapeError::NoMemory { shape, error })
}

fn check_min(shape: &'static str, what: &'static str, min: usize, got: usize) -> Result<(), ShapeError> {
    if got >= min { Ok(()) } else { Err(ShapeError::TooFew { shape, what, min, got }) }
}
