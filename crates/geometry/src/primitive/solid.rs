//! Primitives as solids: support points, volume and mass.

use super::Primitive;
use crate::{MassProperties, Mat3, Vec3};
use std::f64::consts::PI;

impl Primitive {
    /// The point of the surface farthest along a direction (m).
    pub fn support(&self, direction: Vec3) -> Vec3 {
        let flat = Vec3::new(direction.x, direction.y, 0.0).normalize_or_zero();
        let end = if direction.z < 0.0 { Vec3::NEG_Z } else { Vec3::Z };
        match *self {
            Self::Sphere { radius_m } => direction.normalize_or_zero() * radius_m,
            Self::Ellipsoid { semi_axes_m } => semi_axes_m * (direction * semi_axes_m).normalize_or_zero(),
            Self::Cuboid { half_m } => half_m.copysign(direction),
            Self::Cylinder { radius_m, half_length_m } => flat * radius_m + end * half_length_m,
            Self::Capsule { radius_m, half_length_m } => direction.normalize_or_zero() * radius_m + end * half_length_m,
        }
    }

    /// Volume (m³).
    pub fn volume_m3(&self) -> f64 {
        match *self {
            Self::Sphere { radius_m } => 4.0 / 3.0 * PI * radius_m.powi(3),
            Self::Ellipsoid { semi_axes_m } => 4.0 / 3.0 * PI * semi_axes_m.element_product(),
            Self::Cuboid { half_m } => 8.0 * half_m.element_product(),
            Self::Cylinder { radius_m, half_length_m } => 2.0 * PI * radius_m * radius_m * half_length_m,
            Self::Capsule { radius_m, half_length_m } => {
                PI * radius_m * radius_m * (2.0 * half_length_m + 4.0 / 3.0 * radius_m)
            }
        }
    }

    /// Mass, centre of mass and inertia of the solid of uniform density with mass `mass_kg`.
    pub fn mass_properties(&self, mass_kg: f64) -> MassProperties {
        // The inertia of a solid with the second moments ∫x²/V, ∫y²/V, ∫z²/V about x is the sum of those along y and z.
        let squares = match *self {
            Self::Sphere { radius_m } => Vec3::splat(radius_m * radius_m / 5.0),
            Self::Ellipsoid { semi_axes_m } => semi_axes_m * semi_axes_m / 5.0,
            Self::Cuboid { half_m } => half_m * half_m / 3.0,
            Self::Cylinder { radius_m: r, half_length_m: h } => Vec3::new(r * r / 4.0, r * r / 4.0, h * h / 3.0),
            Self::Capsule { radius_m: r, half_length_m: h } => {
                let (side, ends) = (2.0 * h, 4.0 / 3.0 * r);
                let across = (side * r * r / 4.0 + ends * r * r / 5.0) / (side + ends);
                let along = (side * h * h / 3.0 + ends * (r * r / 5.0 + h * h + 0.75 * r * h)) / (side + ends);
                Vec3::new(across, across, along)
            }
        };
        let Vec3 { x, y, z } = squares * mass_kg;
        let inertia_kg_m2 = Mat3::from_diagonal(Vec3::new(y + z, z + x, x + y));
        MassProperties { mass_kg, center_m: Vec3::ZERO, inertia_kg_m2 }
    }

    /// Sizes (m), named as in the constructors of objects.
    pub fn sizes(&self) -> Vec<(&'static str, Vec<f64>)> {
        match *self {
            Self::Sphere { radius_m } => vec![("radius", vec![radius_m])],
            Self::Ellipsoid { semi_axes_m } => vec![("semi_axes", semi_axes_m.to_array().to_vec())],
            Self::Cuboid { half_m } => vec![("size", (2.0 * half_m).to_array().to_vec())],
            Self::Cylinder { radius_m, half_length_m } | Self::Capsule { radius_m, half_length_m } => {
                vec![("radius", vec![radius_m]), ("length", vec![2.0 * half_length_m])]
            }
        }
    }

    /// The primitive with another value (m) of one of its [`Primitive::sizes`]; `None` if it has no such size.
    pub fn with_size(mut self, name: &str, values: &[f64]) -> Option<Self> {
        match (&mut self, name, values) {
            (Self::Sphere { radius_m }, "radius", &[radius]) => *radius_m = radius,
            (Self::Ellipsoid { semi_axes_m }, "semi_axes", &[a, b, c]) => *semi_axes_m = Vec3::new(a, b, c),
            (Self::Cuboid { half_m }, "size", &[x, y, z]) => *half_m = Vec3::new(x, y, z) * 0.5,
            (Self::Cylinder { radius_m, .. } | Self::Capsule { radius_m, .. }, "radius", &[radius]) => {
                *radius_m = radius
            }
            (Self::Cylinder { half_length_m, .. } | Self::Capsule { half_length_m, .. }, "length", &[length]) => {
                *half_length_m = 0.5 * length;
            }
            _ => return None,
        }
        Some(self)
    }

    /// The shape scaled by a factor.
    pub fn scaled(&self, factor: f64) -> Self {
        match *self {
            Self::Sphere { radius_m } => Self::Sphere { radius_m: radius_m * factor },
            Self::Ellipsoid { semi_axes_m } => Self::Ellipsoid { semi_axes_m: semi_axes_m * factor },
            Self::Cuboid { half_m } => Self::Cuboid { half_m: half_m * factor },
            Self::Cylinder { radius_m, half_length_m } => {
                Self::Cylinder { radius_m: radius_m * factor, half_length_m: half_length_m * factor }
            }
            Self::Capsule { radius_m, half_length_m } => {
                Self::Capsule { radius_m: radius_m * factor, half_length_m: half_length_m * factor }
            }
        }
    }

    /// False if all faces are flat.
    pub fn is_round(&self) -> bool {
        !matches!(self, Self::Cuboid { .. })
    }

    /// The point of the surface halfway between two points of it that are close to each other: on the same face, or on
    /// the common edge of two faces.
    pub fn halfway(&self, a: Vec3, b: Vec3) -> Vec3 {
        let middle = a.midpoint(b);
        let around_axis = |radius_m: f64| {
            let out = Vec3::new(middle.x, middle.y, 0.0).normalize_or_zero();
            out * radius_m + Vec3::Z * middle.z
        };
        match *self {
            Self::Sphere { radius_m } => middle.normalize_or_zero() * radius_m,
            Self::Ellipsoid { semi_axes_m } => (middle / semi_axes_m).normalize_or_zero() * semi_axes_m,
            Self::Cuboid { .. } => middle,
            Self::Cylinder { radius_m, .. } => {
                let on_side = |p: Vec3| p.x.hypot(p.y) > radius_m * (1.0 - 1e-9);
                let near = (a - b).length() < radius_m;
                if on_side(a) && on_side(b) && near { around_axis(radius_m) } else { middle }
            }
            Self::Capsule { radius_m, half_length_m } => {
                if middle.z.abs() < half_length_m {
                    return around_axis(radius_m);
                }
                let center = Vec3::Z * half_length_m.copysign(middle.z);
                center + (middle - center).normalize_or_zero() * radius_m
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Random;

    const ALL: [Primitive; 5] = [
        Primitive::Sphere { radius_m: 0.7 },
        Primitive::Ellipsoid { semi_axes_m: Vec3::new(0.9, 0.5, 0.3) },
        Primitive::Cuboid { half_m: Vec3::new(0.3, 0.5, 0.8) },
        Primitive::Cylinder { radius_m: 0.4, half_length_m: 0.6 },
        Primitive::Capsule { radius_m: 0.3, half_length_m: 0.5 },
    ];

    /// The inscribed mesh converges to the closed forms with the square of its edge.
    #[test]
    fn mass_is_the_limit_of_fine_meshes() {
        for shape in ALL {
            let exact = shape.mass_properties(2.0);
            for edge_m in [0.1, 0.05, 0.025] {
                let mesh = shape.mesh(edge_m).unwrap();
                let near = mesh.mass_properties(2.0).unwrap();
                let error = (near.inertia_kg_m2 - exact.inertia_kg_m2).to_cols_array().map(f64::abs);
                let worst = error.into_iter().fold(0.0, f64::max) / exact.inertia_kg_m2.x_axis.x;
                let volume = (mesh.volume_m3() / shape.volume_m3() - 1.0).abs();
                assert!(worst < 4.0 * edge_m * edge_m + 1e-12, "{shape:?}: {worst:e} at {edge_m}");
                assert!(volume < 5.0 * edge_m * edge_m + 1e-12, "{shape:?}: {volume:e} at {edge_m}");
            }
        }
    }

    /// No vertex of the mesh, whose vertices lie on the surface, is farther, and the point is on the surface.
    #[test]
    fn support_points_are_the_farthest() {
        let mut random = Random::new(3);
        for shape in ALL {
            let mesh = shape.mesh(0.05).unwrap();
            for _ in 0..100 {
                let direction = random.direction();
                let point = shape.support(direction);
                assert!(shape.nearest(point).0.abs() < 1e-9, "{shape:?}: {point}");
                let vertices = mesh.vertices().iter().map(|v| v.dot(direction));
                assert!(vertices.fold(f64::NEG_INFINITY, f64::max) <= point.dot(direction) + 1e-12, "{shape:?}");
            }
        }
    }

    #[test]
    fn halfway_points_lie_on_the_surface() {
        for shape in ALL {
            let mesh = shape.mesh(0.1).unwrap();
            for &[a, b, _] in mesh.triangles() {
                let (a, b) = (mesh.vertices()[a as usize], mesh.vertices()[b as usize]);
                let point = shape.halfway(a, b);
                assert!(shape.nearest(point).0.abs() < 1e-9, "{shape:?}: {a} {b} {point}");
                assert!(point.distance(a.midpoint(b)) <= 0.5 * a.distance(b), "{shape:?}");
            }
        }
    }
}
