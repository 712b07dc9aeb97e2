//! Contact of a rigid body with tetrahedra or a half-space: the part of its surface inside the field.

use super::contact::AngleLimit;
use super::field::{Cell, TetField};
use super::material::Piece;
use super::polygon::Polygon;
use super::surface::{Builder, Origin};
use dermis_geometry::{Bounds, Mat3, Pose, Primitive, Slab, Surface, Vec3};

/// The rigid side of a pair.
#[derive(Clone, Copy)]
pub(super) struct Rigid<'a> {
    pub shell: &'a Surface,
    pub field_from_shell: Pose,
    /// +1 if the rigid body is A (its outward normal is that of the contact), −1 if it is B.
    pub sign: f64,
}

/// A triangle of a surface in the frame of the field.
pub(super) struct Triangle {
    pub corners: [Vec3; 3],
    pub normal: Vec3,
    pub name: u32,
}

/// Number of edges across the part of a round primitive that may be in contact.
const EDGES_ACROSS: f64 = 24.0;
/// Approximate limit on the triangles of that part: a long, narrow contact is divided less.
const MAX_PARTS: f64 = 2e4;
/// Maximum number of divisions of a triangle of a primitive's mesh.
const MAX_LEVELS: f64 = 16.0;

/// Smallest radius of curvature (m) of a round primitive, or less.
fn radius_m(primitive: &Primitive) -> f64 {
    match *primitive {
        Primitive::Ellipsoid { semi_axes_m } => semi_axes_m.min_element().powi(2) / semi_axes_m.max_element(),
        _ => 0.5 * primitive.bounds().size().min_element(),
    }
}

/// Longest edge (m) of the triangles of a round primitive, given the size (m) of the box around its part inside a field: the
/// smallest extent is at least the depth δ, at which the contact of a radius R is √(8Rδ) wide.
fn edge_m(primitive: &Primitive, inside: Vec3) -> f64 {
    let [thin, middle, long] = {
        let mut sorted = inside.to_array();
        sorted.sort_by(f64::total_cmp);
        sorted
    };
    let fine_m = long.min((8.0 * radius_m(primitive) * thin).sqrt()) / EDGES_ACROSS;
    fine_m.max((long * middle / (0.433 * MAX_PARTS)).sqrt())
}

/// Divides triangles of a round primitive.
struct RoundParts<'a> {
    primitive: &'a Primitive,
    radius_m: f64,
    frame: Pose,
    bounds: &'a Bounds,
}

impl RoundParts<'_> {
    /// Visits the parts of a triangle, given in the frame of the primitive, after `levels` divisions into four. All
    /// triangles are divided equally often, so that parts of neighbours share their corners.
    fn visit(&self, corners: [Vec3; 3], levels: u32, name: u32, visit: &mut impl FnMut(&Triangle)) {
        let [a, b, c] = corners;
        let placed = corners.map(|v| self.frame.transform_point(v));
        let around = Bounds::around(placed);
        if levels == 0 {
            let normal = (placed[1] - placed[0]).cross(placed[2] - placed[0]).normalize_or_zero();
            if around.overlaps(self.bounds) && normal != Vec3::ZERO {
                visit(&Triangle { corners: placed, normal, name });
            }
            return;
        }
        // The surface is within L²/6R of a triangle with edges up to L < R (its corners lie on a circle of radius L/√3), and
        // within L/2 of any. With L/2 alone, small depths would visit all of a ball.
        let longest_m = around.size().length();
        let margin_m = (0.5 * longest_m).min(0.5 * longest_m * longest_m / self.radius_m);
        if !around.padded(margin_m).overlaps(self.bounds) {
            return;
        }
        let [ab, bc, ca] = [(a, b), (b, c), (c, a)].map(|(p, q)| self.primitive.halfway(p, q));
        for (part, child) in [[a, ab, ca], [ab, b, bc], [ca, bc, c], [ab, bc, ca]].into_iter().zip(1..) {
            // Bristles recognise a part by its name; a mixing step makes equal names unlikely.
            let name = (name ^ 0x9e37_79b9).wrapping_mul(0x85eb_ca6b).rotate_left(13).wrapping_add(child);
            self.visit(part, levels - 1, name, visit);
        }
    }
}

impl Rigid<'_> {
    /// Visits the triangles whose bounds overlap `bounds`, in the frame of the field. The triangles of a round primitive
    /// are divided until their edges are short compared with the part of the primitive inside the bounds, with all
    /// corners on its surface: the facets of a sphere at depth d deviate by less than d/400.
    pub fn near(&self, bounds: &Bounds, mut visit: impl FnMut(&Triangle)) {
        if let Some(primitive) = self.shell.primitive().filter(|primitive| primitive.is_round()) {
            let Some(inside) = primitive.bounds_in(&self.field_from_shell, bounds) else { return };
            let edge_m = edge_m(primitive, inside.size());
            let parts = RoundParts { primitive, radius_m: radius_m(primitive), frame: self.field_from_shell, bounds };
            // A triangle deviates from the surface by less than half its longest edge.
            let longest = |corners: [Vec3; 3]| {
                let [a, b, c] = corners;
                a.distance(b).max(b.distance(c)).max(c.distance(a))
            };
            let mesh = self.shell.mesh();
            let coarsest = (0..mesh.triangles().len()).map(|t| longest(mesh.corners(t))).fold(0.0, f64::max);
            let levels = (coarsest / edge_m).log2().ceil().clamp(0.0, MAX_LEVELS) as u32;
            self.triangles_near(&bounds.padded(0.5 * coarsest), |name, corners| {
                parts.visit(corners, levels, name, &mut visit);
            });
            return;
        }
        self.triangles_near(bounds, |name, corners| {
            let frame = &self.field_from_shell;
            let corners = corners.map(|v| frame.transform_point(v));
            if Bounds::around(corners).overlaps(bounds) {
                visit(&Triangle { corners, normal: frame.transform_vector(self.shell.normal(name)), name });
            }
        });
    }

    /// Visits the triangles of the mesh near `bounds` with their corners in the frame of the shell.
    fn triangles_near(&self, bounds: &Bounds, mut visit: impl FnMut(u32, [Vec3; 3])) {
        let back = Mat3::from_quat(self.field_from_shell.rotation).transpose();
        let shift = self.field_from_shell.translation;
        let (center, half) = (bounds.center(), bounds.size() * 0.5);
        let (query, slabs) = seen_from(&back, back * (center - shift), half);
        self.shell.bvh().within(&query, &slabs, |position| {
            visit(self.shell.bvh().order()[position], *self.shell.leaf_corners(position));
        });
    }

    /// Clips the triangles by the tetrahedra of a field.
    pub fn on_tets(&self, field: &TetField, pieces: &[Piece], limit: AngleLimit, out: &mut Builder) {
        let flat = 1e-12 * field.bounds().size().length();
        let bounds = field.bounds().padded(flat);
        let mut polygon = Polygon::new();
        self.near(&bounds, |triangle| {
            let query = Bounds::around(triangle.corners).padded(flat);
            let offset = triangle.normal.dot(triangle.corners[0]);
            let plane = Slab { normal: triangle.normal, low: offset, high: offset };
            field.bvh().within(&query, &[plane], |position| {
                let cell = field.cell(position);
                if limit.allows_slope(triangle.normal, cell.gradient, cell.slope)
                    && !all_on_one_side(triangle.normal, offset, cell, flat)
                    && cut(triangle, cell, flat, &mut polygon)
                {
                    let extent = triangle.corners.map(|corner| cell.extent_at(corner));
                    let part = RigidPart {
                        points: &triangle.corners,
                        extent: &extent,
                        gradient: cell.gradient,
                        normal: triangle.normal,
                        sign: self.sign,
                        key: [triangle.name, field.name(position)],
                    };
                    part.add(&mut polygon, pieces, field.is_cut(), out);
                }
            });
        });
    }

    /// Clips the triangles by a half-space z ≤ 0 with e = −z/thickness.
    pub fn on_half_space(&self, thickness_m: f64, pieces: &[Piece], limit: AngleLimit, out: &mut Builder) {
        let gradient = Vec3::NEG_Z / thickness_m;
        let below = Bounds { min: Vec3::splat(-1e9), max: Vec3::new(1e9, 1e9, 0.0) };
        let mut part = Polygon::new();
        self.near(&below, |triangle| {
            if !limit.allows(triangle.normal, gradient) {
                return;
            }
            let extent = triangle.corners.map(|corner| -corner.z / thickness_m);
            let (points, normal, key) = (&triangle.corners, triangle.normal, [triangle.name, 0]);
            part.set_triangle();
            RigidPart { points, extent: &extent, gradient, normal, sign: self.sign, key }
                .add(&mut part, pieces, true, out);
        });
    }
}

/// The part of a contact surface given by a polygon of a rigid surface inside a linear field.
pub(super) struct RigidPart<'a, const N: usize> {
    /// Points that the weights of the polygon refer to (m), and e at these points.
    pub points: &'a [Vec3; N],
    pub extent: &'a [f64; N],
    /// Gradient ∇e (1/m).
    pub gradient: Vec3,
    /// Outward unit normal of the rigid surface.
    pub normal: Vec3,
    /// Sign as in [`Rigid`].
    pub sign: f64,
    /// Identifies the pair of elements.
    pub key: [u32; 2],
}

impl<const N: usize> RigidPart<'_, N> {
    /// Adds the polygon, clipped to each piece of the pressure law.
    pub fn add(&self, polygon: &mut Polygon<N>, pieces: &[Piece], is_cut: bool, out: &mut Builder) {
        for (index, piece) in pieces.iter().enumerate() {
            let mut copy;
            // The last piece reuses the polygon itself; most laws have one piece.
            let part = if index + 1 == pieces.len() {
                &mut *polygon
            } else {
                copy = *polygon;
                &mut copy
            };
            if !within(part, self.extent, piece, is_cut) {
                continue;
            }
            let pressures = self.extent.map(|e| piece.pressure(e));
            let stiffness = (piece.slope_pa * self.gradient.dot(self.normal)).max(0.0);
            let key = [self.key[0], self.key[1], index as u32];
            if out.add(part, self.points, &pressures, self.normal * self.sign, stiffness, key) {
                out.trace(|| {
                    let corners = self.points[..].try_into().ok()?;
                    Some(Origin { corners, gradient_pa_per_m: self.gradient * piece.slope_pa })
                });
            }
        }
    }
}

/// Slices tetrahedra by the plane of a rigid half-space, z ≤ 0 in the frame `field_from_space`.
pub(super) fn plane_on_tets(field_from_space: &Pose, sign: f64, field: &TetField, pieces: &[Piece], out: &mut Builder) {
    let normal = field_from_space.transform_vector(Vec3::Z);
    let offset = normal.dot(field_from_space.translation);
    let plane = Slab { normal, low: offset, high: offset };
    let mut part = Polygon::new();
    field.bvh().within(field.bounds(), &[plane], |position| {
        let cell = field.cell(position);
        let heights = cell.corners.map(|corner| normal.dot(corner) - offset);
        if part.set_slice(heights) {
            let (points, extent, gradient) = (&cell.corners, &cell.extent, cell.gradient);
            RigidPart { points, extent, gradient, normal, sign, key: [0, field.name(position)] }.add(
                &mut part,
                pieces,
                field.is_cut(),
                out,
            );
        }
    });
}

/// Axis-aligned bounds of a box with half edges `half` and centre `middle` whose axes are the columns of `rotation`,
/// and the slabs between its faces.
pub(super) fn seen_from(rotation: &Mat3, middle: Vec3, half: Vec3) -> (Bounds, [Slab; 3]) {
    let axes = [rotation.x_axis, rotation.y_axis, rotation.z_axis];
    let reach = axes[0].abs() * half.x + axes[1].abs() * half.y + axes[2].abs() * half.z;
    let slab = |k: usize| {
        let height = axes[k].dot(middle);
        Slab { normal: axes[k], low: height - half[k], high: height + half[k] }
    };
    (Bounds { min: middle - reach, max: middle + reach }, [slab(0), slab(1), slab(2)])
}

/// Clips a polygon to the extents of a piece of the pressure law, excluding its end.
pub(super) fn within<const N: usize>(part: &mut Polygon<N>, extent: &[f64; N], piece: &Piece, is_cut: bool) -> bool {
    ((piece.from <= 0.0 && !is_cut) || part.keep(&extent.map(|e| e - piece.from)))
        && (piece.to == f64::INFINITY || part.keep_above(&extent.map(|e| piece.to - e)))
}

/// True if a tetrahedron does not intersect the plane of a triangle.
fn all_on_one_side(normal: Vec3, offset: f64, cell: &Cell, flat: f64) -> bool {
    let heights = cell.corners.map(|corner| normal.dot(corner) - offset);
    heights.iter().all(|&h| h > flat) || heights.iter().all(|&h| h < -flat)
}

/// Clips a triangle by a tetrahedron. A triangle in the plane of a face belongs to the tetrahedron in front of it,
/// hence to exactly one of the two that share the face.
fn cut(triangle: &Triangle, cell: &Cell, flat: f64, polygon: &mut Polygon<3>) -> bool {
    let mut heights = [[0.0; 3]; 4];
    for (face, values) in heights.iter_mut().enumerate() {
        *values = triangle.corners.map(|corner| cell.inward[face].dot(corner) - cell.height[face]);
        if values.iter().all(|&h| h < -flat) {
            return false;
        }
    }
    polygon.set_triangle();
    for (face, values) in heights.iter().enumerate() {
        if values.iter().all(|h| h.abs() <= flat) {
            if cell.inward[face].dot(triangle.normal) < 0.0 {
                return false;
            }
        } else if !values.iter().all(|&h| h >= 0.0) && !polygon.keep(values) {
            return false;
        }
    }
    true
}
