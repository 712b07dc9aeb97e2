//! Derivatives through a press on a hydroelastic skin.

use super::contact::traced_contact;
use super::surface::Origin;
use super::{Hydroelastic, PressureFieldShape, PressureLaw};
use crate::hydroelastic::Cell;
use crate::{Load, PartEdge, SkinError, SkinGradient, Target, Touch, TouchCotangent};
use dermis_geometry::{PlacedShape, Vec3};

/// Shear (Pa), as a fraction of the largest pressure, up to which a contact counts as frictionless.
const MAX_SHEAR: f64 = 1e-9;
/// Distance (fraction of the body) up to which a corner lies on a face of a tetrahedron.
const ON_FACE: f64 = 1e-9;
/// Sine of the angle between a face and a border below which they count as parallel: their line of intersection is undefined.
const PARALLEL: f64 = 1e-9;

impl Hydroelastic {
    /// Derivatives of a scalar through the touch of one rigid object at rest.
    ///
    /// The force on the sensor is ∫ p **n** dA over the surface of the object inside the field, with its outward normal **n**. On
    /// a part of a triangle with corners **v**ᵢ, barycentric coordinates λᵢ and **N** = (**v**₁ − **v**₀) × (**v**₂ − **v**₀),
    /// L = ∫ p **N**·**w** dλ with the derivative **w** = **w**₀ + **τ** × **x** by a force at **x**. With the field at rest,
    /// ```text
    /// ∂L/∂vᵢ = ∫ λᵢ (∇p (N·w) + p N × τ) dλ + (vᵢ₊₁ − vᵢ₊₂) × ∫ p w dλ − Σ m ∮ λᵢ p (n·w)/|m − n (n·m)| ds
    /// ```
    /// The last sum is over the edges that are at rest with the sensor, on planes with the outward normal **m**: faces of
    /// tetrahedra and borders of taxels. On the surface of the field p is zero. The scalar is in proportion to the modulus.
    pub(super) fn gradient(
        &self,
        touch: &Touch,
        target: &Target<'_>,
        cotangent: &TouchCotangent,
    ) -> Result<SkinGradient, SkinError> {
        let no = |reason| Err(SkinError::NoGradient { reason });
        let Some(body) = self.compliance() else {
            return no("a hydroelastic skin has them on a compliant body, and this one is rigid");
        };
        if target.object.compliance.is_some() {
            return no("a hydroelastic skin has them for rigid objects, and this one has a `compliance`");
        }
        let cells = match body.shape() {
            PressureFieldShape::Tets(field) => {
                let mut cells: Vec<Option<&Cell>> = vec![None; field.cells().len()];
                field.cells().iter().enumerate().for_each(|(i, cell)| cells[field.name(i) as usize] = Some(cell));
                cells
            }
            PressureFieldShape::HalfSpace { .. } => Vec::new(),
            PressureFieldShape::Solid { .. } => {
                return no("a hydroelastic skin has them on tetrahedra, and this body is in closed form");
            }
        };
        if slides(touch) {
            return no("a hydroelastic skin has them for a press without sliding, and this object slides");
        }
        let pose = &target.sensor_from_object;
        let (surface, origins) = traced_contact(body, &target.object.surface, pose, self.parameters.angle_limit)?;
        if surface.faces().len() != touch.facets.len() {
            return Err(SkinError::OtherSkin { expected: "hydroelastic" });
        }
        let shape = PlacedShape::new(target.object.surface.primitive(), pose);
        let flat_m = ON_FACE * body.depth_m();
        let (mut gradient, mut scalar) = (SkinGradient::default(), 0.0);
        let mut parts = cotangent.parts.iter().peekable();
        let mut edges = Vec::new();
        for (index, (face, origin)) in surface.faces().iter().zip(&origins).enumerate() {
            let corners = surface.corners(face);
            let cell = cells.get(face.key[1] as usize).copied().flatten();
            let resting = |i: usize| {
                let ends = [corners[i], corners[(i + 1) % corners.len()]];
                cell?.face_through(ends, flat_m).map(|inward| -inward)
            };
            let mut load = FaceLoad::new(origin, corners[0], surface.pressures_pa(face)[0]);
            edges.clear();
            edges.extend((0..corners.len()).map(|i| (corners[i], resting(i))));
            load.add(&edges, cotangent.on_sensor.force, cotangent.on_sensor.torque);
            while let Some(part) = parts.next_if(|part| part.facet == index) {
                let border = |edge: PartEdge| match edge {
                    PartEdge::Facet(i) => resting(i),
                    PartEdge::Border(outward) => Some(outward),
                };
                edges.clear();
                edges.extend(part.corners.iter().map(|&(at, edge)| (at, border(edge))));
                load.add(&edges, part.by_force, Vec3::ZERO);
            }
            for (corner, by) in origin.corners.into_iter().zip(load.by_corners) {
                gradient.shape.add_corner(&shape, corner, by);
            }
            scalar += load.scalar;
        }
        if let PressureLaw::Linear { modulus_pa } = body.material().law {
            gradient.parameters.push(("hydroelastic_modulus", scalar / modulus_pa));
        }
        Ok(gradient)
    }
}

/// True if a facet has friction.
fn slides(touch: &Touch) -> bool {
    let corners = || {
        touch.facets.iter().flat_map(|facet| match &facet.load {
            Load::Polygon(corners) => corners.as_slice(),
            Load::Point { .. } => &[],
        })
    };
    let largest_pa = corners().map(|corner| corner.pressure_pa).fold(0.0, f64::max);
    corners().any(|corner| corner.shear_pa.length() > MAX_SHEAR * largest_pa)
}

impl Cell {
    /// The inward normal of the face that both ends of an edge lie on.
    fn face_through(&self, ends: [Vec3; 2], flat_m: f64) -> Option<Vec3> {
        let on =
            |face: &usize| ends.iter().all(|&at| (self.inward[*face].dot(at) - self.height[*face]).abs() <= flat_m);
        (0..4).find(on).map(|face| self.inward[face])
    }
}

/// The terms of parts of one triangle of the object.
struct FaceLoad<'a> {
    origin: &'a Origin,
    /// Unit normal of the triangle, and twice its area (m²).
    normal: Vec3,
    doubled_m2: f64,
    /// A point (m) and the pressure (Pa) there.
    at: Vec3,
    pressure_pa: f64,
    /// By the corners of the triangle (1/m).
    by_corners: [Vec3; 3],
    scalar: f64,
}

/// Points and weights that integrate cubics over a triangle exactly.
const TRIANGLE_RULE: [([f64; 3], f64); 4] = [
    ([1.0 / 3.0, 1.0 / 3.0, 1.0 / 3.0], -27.0 / 48.0),
    ([0.6, 0.2, 0.2], 25.0 / 48.0),
    ([0.2, 0.6, 0.2], 25.0 / 48.0),
    ([0.2, 0.2, 0.6], 25.0 / 48.0),
];

impl<'a> FaceLoad<'a> {
    fn new(origin: &'a Origin, at: Vec3, pressure_pa: f64) -> Self {
        let [a, b, c] = origin.corners;
        let doubled = (b - a).cross(c - a);
        let doubled_m2 = doubled.length();
        let (normal, by_corners) = (doubled / doubled_m2, [Vec3::ZERO; 3]);
        Self { origin, normal, doubled_m2, at, pressure_pa, by_corners, scalar: 0.0 }
    }

    /// Barycentric coordinates of a point of the triangle, and the pressure (Pa) there.
    fn at(&self, at: Vec3) -> ([f64; 3], f64) {
        let [a, b, c] = self.origin.corners;
        let share = |p: Vec3, q: Vec3| (p - at).cross(q - at).dot(self.normal) / self.doubled_m2;
        let pressure_pa = self.pressure_pa + self.origin.gradient_pa_per_m.dot(at - self.at);
        ([share(b, c), share(c, a), share(a, b)], pressure_pa)
    }

    /// Adds a convex part, given by its corners, each with the outward normal of the edge to the next one if that edge is at
    /// rest with the sensor. A force at **x** has the derivative `by_force` + `by_torque` × **x**.
    fn add(&mut self, corners: &[(Vec3, Option<Vec3>)], by_force: Vec3, by_torque: Vec3) {
        if by_force == Vec3::ZERO && by_torque == Vec3::ZERO {
            return;
        }
        let gradient = self.origin.gradient_pa_per_m;
        let by = |at: Vec3| by_force + by_torque.cross(at);
        let by_lever = self.normal.cross(by_torque);
        // ∫ p w dλ.
        let mut loaded = Vec3::ZERO;
        for i in 2..corners.len() {
            let triangle = [corners[0].0, corners[i - 1].0, corners[i].0];
            let area_m2 = 0.5 * (triangle[1] - triangle[0]).cross(triangle[2] - triangle[0]).length();
            for (shares, weight) in TRIANGLE_RULE {
                let at = triangle[0] * shares[0] + triangle[1] * shares[1] + triangle[2] * shares[2];
                let (lambda, pressure_pa) = self.at(at);
                let (part_m2, by) = (weight * area_m2, by(at));
                let along = self.normal.dot(by);
                self.scalar += part_m2 * pressure_pa * along;
                loaded += by * (part_m2 * pressure_pa / self.doubled_m2);
                for (sum, lambda) in self.by_corners.iter_mut().zip(lambda) {
                    *sum += (gradient * along + by_lever * pressure_pa) * (part_m2 * lambda);
                }
            }
        }
        let at = self.origin.corners;
        for (k, sum) in self.by_corners.iter_mut().enumerate() {
            *sum += (at[(k + 1) % 3] - at[(k + 2) % 3]).cross(loaded);
        }
        for (i, &(from, outward)) in corners.iter().enumerate() {
            let Some(outward) = outward else { continue };
            let across = (outward - self.normal * self.normal.dot(outward)).length();
            if across <= PARALLEL {
                continue;
            }
            let step = corners[(i + 1) % corners.len()].0 - from;
            // Two points of Gauss integrate cubics exactly.
            for part in [0.5 - 0.5 / 3f64.sqrt(), 0.5 + 0.5 / 3f64.sqrt()] {
                let at = from + step * part;
                let (lambda, pressure_pa) = self.at(at);
                let flux = 0.5 * step.length() * pressure_pa * self.normal.dot(by(at)) / across;
                for (sum, lambda) in self.by_corners.iter_mut().zip(lambda) {
                    *sum -= outward * (flux * lambda);
                }
            }
        }
    }
}
