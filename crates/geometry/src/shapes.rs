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
pub use terrain::terrain;

use crate::MeshError;
use crate::limits::MAX_TRIANGLES;

/// Error when generating a shape.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[allow(missing_docs, reason = "the message of each variant names its fields")]
pub enum ShapeError {
    /// A length is not positive.
    #[error("{shape}: `{what}` must be a positive length in metres, got {got}")]
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
    /// The parameters are so extreme that a triangle degenerates.
    #[error(transparent)]
    Degenerate(#[from] MeshError),
}

fn check_length(shape: &'static str, what: &'static str, got: f64) -> Result<(), ShapeError> {
    if got.is_finite() && got > 0.0 { Ok(()) } else { Err(ShapeError::BadLength { shape, what, got }) }
}

fn check_count(shape: &'static str, edge_m: f64, triangles: f64) -> Result<(), ShapeError> {
    if triangles <= MAX_TRIANGLES as f64 { Ok(()) } else { Err(ShapeError::TooFine { shape, edge_m, triangles }) }
}
