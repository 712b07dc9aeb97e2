//! What a surface is, as kernels number it.

use dermis_geometry::Primitive;

/// Shapes in closed form, and those made of pieces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Ball = 0,
    Ellipsoid = 1,
    Cuboid = 2,
    Cylinder = 3,
    Capsule = 4,
    Mesh = 5,
    Balls = 6,
}

/// A primitive in plain numbers: its kind, and its lengths (m).
pub(crate) fn of_primitive(primitive: &Primitive) -> (Kind, [f64; 3]) {
    match *primitive {
        Primitive::Sphere { radius_m } => (Kind::Ball, [radius_m, 0.0, 0.0]),
        Primitive::Ellipsoid { semi_axes_m } => (Kind::Ellipsoid, semi_axes_m.to_array()),
        Primitive::Cuboid { half_m } => (Kind::Cuboid, half_m.to_array()),
        Primitive::Cylinder { radius_m, half_length_m } => (Kind::Cylinder, [radius_m, half_length_m, 0.0]),
        Primitive::Capsule { radius_m, half_length_m } => (Kind::Capsule, [radius_m, half_length_m, 0.0]),
    }
}
