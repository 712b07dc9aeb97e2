//! Signed distance of points from primitives.

use super::Primitive;
use crate::Vec3;

impl Primitive {
    /// Signed distance (m) of a point from the surface, negative inside, and its outward unit gradient.
    pub fn nearest(&self, point: Vec3) -> (f64, Vec3) {
        match *self {
            Self::Sphere { radius_m } => around(point, radius_m),
            Self::Capsule { radius_m, half_length_m } => {
                around(point - Vec3::Z * point.z.clamp(-half_length_m, half_length_m), radius_m)
            }
            Self::Cuboid { half_m } => {
                let (distance, normal) = corner(point.abs() - half_m);
                (distance, normal * signs(point))
            }
            Self::Cylinder { radius_m, half_length_m } => {
                let flat = Vec3::new(point.x, point.y, 0.0);
                let out = flat.normalize_or(Vec3::X);
                let over = Vec3::new(flat.length() - radius_m, f64::NEG_INFINITY, point.z.abs() - half_length_m);
                let (distance, normal) = corner(over);
                (distance, out * normal.x + Vec3::Z * (normal.z * sign(point.z)))
            }
            Self::Ellipsoid { semi_axes_m } => ellipsoid(semi_axes_m, point),
        }
    }
}

fn sign(value: f64) -> f64 {
    if value < 0.0 { -1.0 } else { 1.0 }
}

fn signs(point: Vec3) -> Vec3 {
    Vec3::new(sign(point.x), sign(point.y), sign(point.z))
}

/// Distance from a ball of a point at `arm` from its centre. At the centre the direction is normal to z, which is
/// outward for a capsule too.
fn around(arm: Vec3, radius_m: f64) -> (f64, Vec3) {
    (arm.length() - radius_m, arm.normalize_or(Vec3::X))
}

/// Distance of the point `over` from the octant x, y, z ≤ 0.
fn corner(over: Vec3) -> (f64, Vec3) {
    let outside = over.max(Vec3::ZERO);
    if outside != Vec3::ZERO {
        let distance = outside.length();
        return (distance, outside / distance);
    }
    let axis = (0..3).fold(0, |best, axis| if over[axis] > over[best] { axis } else { best });
    (over[axis], Vec3::AXES[axis])
}

/// The nearest point is xᵢ = aᵢ² yᵢ/(aᵢ² + t) with Σ (xᵢ/aᵢ)² = 1. The sum falls with t and is convex, so that Newton's
/// method reaches the root from the left without overshooting (equation from Eberly 2013). The unknown is s = t + c²,
/// with c the shortest axis, because t can be close to −c².
fn ellipsoid(a: Vec3, point: Vec3) -> (f64, Vec3) {
    let squared = a * a;
    let least = a.min_element();
    let over = squared - least * least;
    // On the planes of symmetry a term may be 0/0 at the root; a small offset avoids this.
    let y = point.abs().max(Vec3::splat(1e-12 * least));
    let mut s = (a * y - over).max_element();
    for _ in 0..200 {
        let part = a * y / (over + s);
        let miss = part.length_squared() - 1.0;
        let slope = -2.0 * (part * part / (over + s)).element_sum();
        let next = s - miss / slope;
        if next <= s || miss <= 0.0 {
            break;
        }
        s = next;
    }
    let near = squared * y / (over + s);
    let normal = (near / squared).normalize() * signs(point);
    let inside = (y / a).length_squared() < 1.0;
    let distance = (y - near).length();
    (if inside { -distance } else { distance }, normal)
}
