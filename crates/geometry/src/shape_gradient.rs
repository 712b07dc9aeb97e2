//! Gradient of a scalar with respect to the pose and the size of an object.

use crate::{Mat3, Pose, Primitive, Surface, Vec3};

/// Derivatives of a scalar L with respect to the pose and the size of an object.
///
/// All of them follow from rays that hit the object. With the direction **d** of a ray, the distance t and the point of
/// the hit, the outward normal **n** there and its derivative C = ∂**n**/∂**x** along the surface, a small motion
/// **δ**(**x**) of the surface that changes the normal of a moving point by **ν** changes
/// ```text
/// dt = n·δ / n·d,     dn = ν + C (d dt − δ)
/// ```
/// For a rotation **ω** about the object's origin **p**, **δ** = **ω** × (**x** − **p**) and **ν** = **ω** × **n**. For a
/// stretch e along an axis **a** of the object, **δ** = e **a** (**a**·(**x** − **p**)) and **ν** = −e (**a**·**n**)
/// (**a** − **n** (**a**·**n**)): normals transform by the inverse.
///
/// A mesh has derivatives by its vertices too ([`ShapeGradient::by_vertices`]): a point of a triangle moves by **δ** = Σ λᵢ **δ**ᵢ with
/// its barycentric coordinates λᵢ, and its normal by that of (**v**₁ − **v**₀) × (**v**₂ − **v**₀).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ShapeGradient {
    /// By the position of the object's origin (1/m), in the sensor's frame.
    pub position: Vec3,
    /// By a rotation vector (1/rad) about axes parallel to the sensor's through the object's origin, applied after the
    /// present rotation.
    pub rotation: Vec3,
    /// By a relative stretch along each axis of the object.
    pub stretch: Vec3,
    /// By the half length (1/m) of a capsule at constant radius.
    pub extension: f64,
    /// What the scalar depends on at points of a mesh.
    terms: Vec<SurfaceTerm>,
    /// True if the terms are not all on faces.
    is_at_edges: bool,
}

/// A term that depends on a point of a mesh and on the normal there, in the frame of the object.
#[derive(Clone, Copy, Debug, PartialEq)]
struct SurfaceTerm {
    /// The point (m).
    at: Vec3,
    /// By a motion of the surface there (1/m).
    by_motion: Vec3,
    /// By the outward unit normal.
    by_normal: Vec3,
}

/// A ray that hits an object, in the sensor's frame.
#[derive(Clone, Copy, Debug)]
pub struct RayHit {
    /// Where the ray hits (m).
    pub point: Vec3,
    /// Unit direction of the ray.
    pub direction: Vec3,
    /// Outward unit normal of the object.
    pub normal: Vec3,
}

/// The placement of an object, with what its hits have in common.
#[derive(Clone, Copy, Debug)]
pub struct PlacedShape<'a> {
    primitive: Option<&'a Primitive>,
    sensor_from_object: Mat3,
    origin: Vec3,
}

impl<'a> PlacedShape<'a> {
    /// A primitive, or a mesh for `None`, at a pose.
    pub fn new(primitive: Option<&'a Primitive>, sensor_from_object: &Pose) -> Self {
        let rotation = Mat3::from_quat(sensor_from_object.rotation);
        Self { primitive, sensor_from_object: rotation, origin: sensor_from_object.translation }
    }
}

impl ShapeGradient {
    /// The derivatives by position, rotation, stretch and extension, without those by vertices.
    pub fn of_sums(position: Vec3, rotation: Vec3, stretch: Vec3, extension: f64) -> Self {
        Self { position, rotation, stretch, extension, ..Self::default() }.without_vertices()
    }

    /// Adds the derivatives of a term that depends on the distance (m) of a hit by `by_distance` and on the outward normal
    /// there by `by_normal`.
    pub fn add(&mut self, shape: &PlacedShape<'_>, hit: &RayHit, by_distance: f64, by_normal: Vec3) {
        let across = hit.normal.dot(hit.direction);
        if across == 0.0 {
            return;
        }
        let rotation = &shape.sensor_from_object;
        let arm = hit.point - shape.origin;
        let to_object = |vector: Vec3| {
            Vec3::new(rotation.x_axis.dot(vector), rotation.y_axis.dot(vector), rotation.z_axis.dot(vector))
        };
        let (at, normal, by_normal_in_object) = (to_object(arm), to_object(hit.normal), to_object(by_normal));
        // C is symmetric.
        let bent = match shape.primitive {
            Some(primitive) if by_normal != Vec3::ZERO => {
                *rotation * primitive.normal_change(at, normal, by_normal_in_object)
            }
            _ => Vec3::ZERO,
        };
        let by_motion = hit.normal * ((by_distance + bent.dot(hit.direction)) / across) - bent;
        self.position += by_motion;
        self.rotation += arm.cross(by_motion) + hit.normal.cross(by_normal);
        let in_object = to_object(by_motion);
        self.stretch += in_object * at - normal * (by_normal_in_object - normal * by_normal.dot(hit.normal));
        if let Some(Primitive::Capsule { half_length_m, .. }) = shape.primitive
            && at.z.abs() > *half_length_m
        {
            self.extension += in_object.z * at.z.signum();
        }
        self.keep(shape, SurfaceTerm { at, by_motion: in_object, by_normal: by_normal_in_object });
    }

    /// Keeps a term of a mesh.
    fn keep(&mut self, shape: &PlacedShape<'_>, term: SurfaceTerm) {
        if shape.primitive.is_none() {
            self.terms.push(term);
        }
    }

    /// Adds the derivatives of a term that depends by `by_corner` (1/m) on a corner of the object's mesh at `corner`, both in the
    /// sensor's frame. The mesh of a primitive stretches with it; the corners between the ends of a capsule move in proportion
    /// to their distance from its middle.
    pub fn add_corner(&mut self, shape: &PlacedShape<'_>, corner: Vec3, by_corner: Vec3) {
        let object_from_sensor = shape.sensor_from_object.transpose();
        let arm = corner - shape.origin;
        self.position += by_corner;
        self.rotation += arm.cross(by_corner);
        let (at, by) = (object_from_sensor * arm, object_from_sensor * by_corner);
        self.stretch += by * at;
        if let Some(Primitive::Capsule { half_length_m, .. }) = shape.primitive {
            self.extension += by.z * (at.z / half_length_m).clamp(-1.0, 1.0);
        }
        self.keep(shape, SurfaceTerm { at, by_motion: by, by_normal: Vec3::ZERO });
    }

    /// Leaves out the derivatives by vertices: for normals that belong to edges and corners, not to faces.
    pub fn without_vertices(self) -> Self {
        Self { terms: Vec::new(), is_at_edges: true, ..self }
    }

    /// By the vertices of the object's mesh (1/m), in the frame of the object. Terms on an edge belong to one of its faces. `None` for a
    /// primitive and for balls, whose mesh is only drawn, and after [`Self::without_vertices`].
    pub fn by_vertices(&self, surface: &Surface) -> Option<Vec<Vec3>> {
        if self.is_at_edges || surface.primitive().is_some() || surface.balls().is_some() {
            return None;
        }
        let mesh = surface.mesh();
        let mut by = vec![Vec3::ZERO; mesh.vertices().len()];
        for term in &self.terms {
            let closest = surface.closest(term.at);
            let indices = mesh.triangles()[closest.triangle as usize].map(|index| index as usize);
            let [a, b, c] = mesh.corners(closest.triangle as usize);
            let doubled = (b - a).cross(c - a);
            let (size, normal) = (doubled.length(), doubled.normalize());
            let share = |p: Vec3, q: Vec3| (p - closest.point).cross(q - closest.point).dot(normal) / size;
            let shares = [share(b, c), share(c, a), share(a, b)];
            let turned = (term.by_normal - normal * normal.dot(term.by_normal)) / size;
            let (by_b, by_c) = ((c - a).cross(turned), turned.cross(b - a));
            let by_corners = [-by_b - by_c, by_b, by_c];
            for ((index, share), by_corner) in indices.into_iter().zip(shares).zip(by_corners) {
                by[index] += term.by_motion * share + by_corner;
            }
        }
        Some(by)
    }

    /// By the scale of the object.
    pub fn scale(&self) -> f64 {
        self.stretch.element_sum()
    }

    /// By the sizes of a primitive (1/m): their names and derivatives, as in the constructors of objects.
    pub fn sizes(&self, primitive: &Primitive) -> Vec<(&'static str, Vec<f64>)> {
        let s = self.stretch;
        match *primitive {
            Primitive::Sphere { radius_m } => vec![("radius", vec![self.scale() / radius_m])],
            Primitive::Ellipsoid { semi_axes_m } => vec![("semi_axes", (s / semi_axes_m).to_array().to_vec())],
            Primitive::Cuboid { half_m } => vec![("size", (s / (2.0 * half_m)).to_array().to_vec())],
            Primitive::Cylinder { radius_m, half_length_m } => {
                vec![("radius", vec![(s.x + s.y) / radius_m]), ("length", vec![0.5 * s.z / half_length_m])]
            }
            Primitive::Capsule { radius_m, half_length_m } => {
                let by_radius = (self.scale() - half_length_m * self.extension) / radius_m;
                vec![("radius", vec![by_radius]), ("length", vec![0.5 * self.extension])]
            }
        }
    }
}

impl Primitive {
    /// C v (1/m) at a point (m) of the surface with the outward unit normal **n**: the change of the normal along the surface
    /// with C = ∂**n**/∂**x**, C **n** = 0.
    pub fn normal_change(&self, at: Vec3, normal: Vec3, vector: Vec3) -> Vec3 {
        let on_surface = |v: Vec3| v - normal * normal.dot(v);
        match *self {
            Self::Sphere { radius_m } => on_surface(vector) / radius_m,
            Self::Ellipsoid { semi_axes_m } => {
                let by_squares = semi_axes_m.powf(-2.0);
                on_surface(by_squares * on_surface(vector)) / (at * by_squares).length()
            }
            Self::Cuboid { .. } => Vec3::ZERO,
            Self::Cylinder { .. } if normal.z.abs() > 0.5 => Vec3::ZERO,
            Self::Capsule { radius_m, half_length_m } if at.z.abs() > half_length_m => on_surface(vector) / radius_m,
            Self::Cylinder { radius_m, .. } | Self::Capsule { radius_m, .. } => {
                on_surface(vector.with_z(0.0)).with_z(0.0) / radius_m
            }
        }
    }
}
