//! Extent fields in closed form.

use crate::{SkinError, require_positive};
use dermis_geometry::tets::{self, DepthTets, TetsError};
use dermis_geometry::{Bounds, TriMesh, Vec3, shapes};
use serde::{Deserialize, Serialize};

/// A shape centred at the origin whose extent e is known at every point: 1 at the deepest point, 0 on the surface,
/// negative outside.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Solid {
    /// e = 1 − r/R.
    Sphere {
        /// Radius R (m).
        radius_m: f64,
    },
    /// e = 1 − ‖diag(1/a, 1/b, 1/c) x‖.
    Ellipsoid {
        /// Semi-axes a, b, c (m).
        semi_axes_m: Vec3,
    },
    /// e = distance to the nearest face divided by half the shortest edge.
    Cuboid {
        /// Edges (m).
        size_m: Vec3,
    },
    /// A cylinder along z: e = distance to the surface divided by min(R, L/2).
    Cylinder {
        /// Radius R (m).
        radius_m: f64,
        /// Length L (m).
        length_m: f64,
    },
    /// A capsule along z: e = 1 − (distance to the axis)/R.
    Capsule {
        /// Radius R (m).
        radius_m: f64,
        /// Length of the straight part (m).
        length_m: f64,
    },
}

impl Solid {
    /// Checks that the lengths are positive.
    pub fn validate(&self) -> Result<(), SkinError> {
        let lengths = match *self {
            Self::Sphere { radius_m } => [radius_m; 3],
            Self::Ellipsoid { semi_axes_m } => semi_axes_m.to_array(),
            Self::Cuboid { size_m } => size_m.to_array(),
            Self::Cylinder { radius_m, length_m } | Self::Capsule { radius_m, length_m } => {
                [radius_m, length_m, length_m]
            }
        };
        lengths.into_iter().try_for_each(|length| require_positive("a length of the solid", "m", length))
    }

    /// Depth (m) of e = 1 below the surface.
    pub fn depth_m(&self) -> f64 {
        match *self {
            Self::Sphere { radius_m } | Self::Capsule { radius_m, .. } => radius_m,
            Self::Ellipsoid { semi_axes_m } => semi_axes_m.min_element(),
            Self::Cuboid { size_m } => 0.5 * size_m.min_element(),
            Self::Cylinder { radius_m, length_m } => radius_m.min(0.5 * length_m),
        }
    }

    /// Bounding box.
    pub fn bounds(&self) -> Bounds {
        let half = match *self {
            Self::Sphere { radius_m } => Vec3::splat(radius_m),
            Self::Ellipsoid { semi_axes_m } => semi_axes_m,
            Self::Cuboid { size_m } => size_m * 0.5,
            Self::Cylinder { radius_m, length_m } => Vec3::new(radius_m, radius_m, 0.5 * length_m),
            Self::Capsule { radius_m, length_m } => Vec3::new(radius_m, radius_m, 0.5 * length_m + radius_m),
        };
        Bounds { min: -half, max: half }
    }

    /// Extent e at a point.
    pub fn extent(&self, at: Vec3) -> f64 {
        match *self {
            Self::Sphere { radius_m } => 1.0 - at.length() / radius_m,
            Self::Ellipsoid { semi_axes_m } => 1.0 - (at / semi_axes_m).length(),
            Self::Cuboid { size_m } => (size_m * 0.5 - at.abs()).min_element() / (0.5 * size_m.min_element()),
            Self::Cylinder { radius_m, length_m } => {
                let side = radius_m - at.truncate().length();
                side.min(0.5 * length_m - at.z.abs()) / self.depth_m()
            }
            Self::Capsule { radius_m, length_m } => {
                let axis = Vec3::Z * at.z.clamp(-0.5 * length_m, 0.5 * length_m);
                1.0 - (at - axis).length() / radius_m
            }
        }
    }

    /// Gradient ∇e (1/m); zero where it is undefined.
    pub fn gradient(&self, at: Vec3) -> Vec3 {
        match *self {
            Self::Sphere { radius_m } => -at.normalize_or_zero() / radius_m,
            Self::Ellipsoid { semi_axes_m } => -(at / semi_axes_m).normalize_or_zero() / semi_axes_m,
            Self::Cuboid { size_m } => {
                let left = size_m * 0.5 - at.abs();
                let axis = if left.x <= left.y && left.x <= left.z {
                    Vec3::X * at.x.signum()
                } else if left.y <= left.z {
                    Vec3::Y * at.y.signum()
                } else {
                    Vec3::Z * at.z.signum()
                };
                -axis / self.depth_m()
            }
            Self::Cylinder { radius_m, length_m } => {
                let flat = at.truncate();
                if radius_m - flat.length() <= 0.5 * length_m - at.z.abs() {
                    -flat.normalize_or_zero().extend(0.0) / self.depth_m()
                } else {
                    Vec3::NEG_Z * at.z.signum() / self.depth_m()
                }
            }
            Self::Capsule { radius_m, length_m } => {
                let axis = Vec3::Z * at.z.clamp(-0.5 * length_m, 0.5 * length_m);
                -(at - axis).normalize_or_zero() / radius_m
            }
        }
    }

    /// Upper bound of |∇e| (1/m).
    pub(super) fn steepest(&self) -> f64 {
        match *self {
            Self::Ellipsoid { semi_axes_m } => 1.0 / semi_axes_m.min_element(),
            _ => 1.0 / self.depth_m(),
        }
    }

    /// Surface of the solid as triangles with edges of at most `edge_m`.
    pub fn surface(&self, edge_m: f64) -> Result<TriMesh, shapes::ShapeError> {
        match *self {
            Self::Sphere { radius_m } => shapes::sphere(radius_m, edge_m),
            Self::Ellipsoid { semi_axes_m } => shapes::ellipsoid(semi_axes_m, edge_m),
            Self::Cuboid { size_m } => shapes::cuboid(size_m),
            Self::Cylinder { radius_m, length_m } => shapes::cylinder(radius_m, length_m, edge_m),
            Self::Capsule { radius_m, length_m } => shapes::capsule(radius_m, length_m, edge_m),
        }
    }

    /// The same field on tetrahedra, with edges of at most `edge_m` on the surface.
    pub fn tets(&self, edge_m: f64) -> Result<DepthTets, TetsError> {
        match *self {
            Self::Sphere { radius_m } => tets::sphere(radius_m, edge_m),
            Self::Ellipsoid { semi_axes_m } => tets::ellipsoid(semi_axes_m, edge_m),
            Self::Cuboid { size_m } => tets::cuboid(size_m),
            Self::Cylinder { radius_m, length_m } => tets::cylinder(radius_m, length_m, edge_m),
            Self::Capsule { radius_m, length_m } => tets::capsule(radius_m, length_m, edge_m),
        }
    }
}
