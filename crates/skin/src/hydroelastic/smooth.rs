//! Contact with fields in closed form.
//!
//! A rigid triangle is subdivided until the field is nearly linear on each part: position and normal of the contact are
//! exact, the pressure is second-order accurate in the size of the parts. Two closed-form fields are sampled on a
//! lattice fixed to the first and approximated as linear on each of its tetrahedra.

use super::compliant::LinearPair;
use super::contact::AngleLimit;
use super::material::Piece;
use super::polygon::Polygon;
use super::rigid::{Rigid, RigidPart, Triangle};
use super::solid::Solid;
use super::surface::Builder;
use dermis_geometry::{Bounds, Pose, Vec3};

/// Maximum number of subdivisions.
const MAX_LEVEL: u32 = 14;
/// Maximum deviation of e at the midpoints of the edges from linear interpolation.
const LINEAR: f64 = 1e-9;

/// Contact of rigid triangles with a solid; parts have edges of at most `facet_m` where the field is curved.
pub(super) fn rigid_on_solid(
    rigid: &Rigid<'_>,
    solid: &Solid,
    facet_m: f64,
    pieces: &[Piece],
    limit: AngleLimit,
    out: &mut Builder,
) {
    let bounds = solid.bounds();
    let context = Context { solid, facet_m, pieces, limit, sign: rigid.sign };
    rigid.near(&bounds, |triangle| context.part(triangle, triangle.corners, 0, 1, out));
}

/// Contact of a rigid half-space with a solid: two triangles of its plane that cover the solid.
pub(super) fn plane_on_solid(
    solid_from_space: &Pose,
    sign: f64,
    solid: &Solid,
    facet_m: f64,
    pieces: &[Piece],
    out: &mut Builder,
) {
    let normal = solid_from_space.transform_vector(Vec3::Z);
    let middle = normal * normal.dot(solid_from_space.translation);
    let reach = 1.01 * solid.bounds().size().length();
    let (u, v) = normal.any_orthonormal_pair();
    let (u, v) = if u.cross(v).dot(normal) > 0.0 { (u, v) } else { (v, u) };
    let corner = |a: f64, b: f64| middle + (u * a + v * b) * reach;
    let square = [corner(-1.0, -1.0), corner(1.0, -1.0), corner(1.0, 1.0), corner(-1.0, 1.0)];
    let context = Context { solid, facet_m, pieces, limit: AngleLimit::NONE, sign };
    for (name, corners) in
        [[square[0], square[1], square[2]], [square[0], square[2], square[3]]].into_iter().enumerate()
    {
        let triangle = Triangle { corners, normal, name: name as u32 };
        context.part(&triangle, corners, 0, 1, out);
    }
}

struct Context<'a> {
    solid: &'a Solid,
    facet_m: f64,
    pieces: &'a [Piece],
    limit: AngleLimit,
    sign: f64,
}

impl Context<'_> {
    /// Subdivides or adds a part. `path` identifies it: a leading 1 and two bits per level.
    fn part(&self, triangle: &Triangle, corners: [Vec3; 3], level: u32, path: u32, out: &mut Builder) {
        let center = (corners[0] + corners[1] + corners[2]) / 3.0;
        let radius = corners.iter().map(|c| (*c - center).length()).fold(0.0, f64::max);
        let middle = self.solid.extent(center);
        if middle + radius * self.solid.steepest() <= 0.0 {
            return;
        }
        let extent = corners.map(|c| self.solid.extent(c));
        let mids = [(0, 1), (1, 2), (2, 0)].map(|(i, j)| (corners[i] + corners[j]) * 0.5);
        let off_line = |k: usize| (self.solid.extent(mids[k]) - 0.5 * (extent[k] + extent[(k + 1) % 3])).abs();
        let bent = (0..3).map(off_line).fold((middle - extent.iter().sum::<f64>() / 3.0).abs(), f64::max);
        // A part larger than the solid may contain it without a corner or a midpoint inside.
        let small = radius <= self.facet_m;
        let straight = bent <= LINEAR && radius <= 4.0 * self.solid.depth_m();
        if small || straight || level >= MAX_LEVEL {
            return self.press(triangle, &corners, &extent, center, path, out);
        }
        let [ab, bc, ca] = mids;
        let [a, b, c] = corners;
        for (k, corners) in [[a, ab, ca], [ab, b, bc], [ca, bc, c], [ab, bc, ca]].into_iter().enumerate() {
            self.part(triangle, corners, level + 1, (path << 2) | k as u32, out);
        }
    }

    fn press(
        &self,
        triangle: &Triangle,
        corners: &[Vec3; 3],
        extent: &[f64; 3],
        center: Vec3,
        path: u32,
        out: &mut Builder,
    ) {
        let gradient = self.solid.gradient(center);
        if !self.limit.allows(triangle.normal, gradient) {
            return;
        }
        let mut polygon = Polygon::new();
        polygon.set_triangle();
        RigidPart {
            points: corners,
            extent,
            gradient,
            normal: triangle.normal,
            sign: self.sign,
            key: [triangle.name, path],
        }
        .add(&mut polygon, self.pieces, true, out);
    }
}

/// The other field of a pair, in its own frame.
pub(super) enum Other<'a> {
    Solid(&'a Solid),
    HalfSpace { thickness_m: f64 },
}

impl Other<'_> {
    fn extent(&self, at: Vec3) -> f64 {
        match self {
            Self::Solid(solid) => solid.extent(at),
            Self::HalfSpace { thickness_m } => -at.z / thickness_m,
        }
    }
}

/// The six tetrahedra of a cube around its diagonal; corner 4a + 2b + c lies on the sides a of x, b of y, c of z.
const KUHN: [[usize; 4]; 6] = [[0, 4, 6, 7], [0, 6, 2, 7], [0, 2, 3, 7], [0, 3, 1, 7], [0, 1, 5, 7], [0, 5, 4, 7]];

/// Contact of two closed-form fields on cells of `cell_m`, in the frame of the first; `sign` is −1 if the first is A.
#[allow(clippy::too_many_arguments, reason = "the two sides of a pair, each with its law")]
pub(super) fn solids(
    solid: &Solid,
    other: &Other<'_>,
    pieces: [&[Piece]; 2],
    other_from_solid: &Pose,
    region: &Bounds,
    cell_m: f64,
    sign: f64,
    limit: AngleLimit,
    out: &mut Builder,
) {
    let low = (region.min / cell_m).floor();
    let count = ((region.max / cell_m).ceil() - low).max(Vec3::ZERO);
    let [nx, ny, nz] = count.to_array().map(|n| n as usize);
    // Values at the lattice points, two planes of x at a time.
    let point = |x: usize, y: usize, z: usize| (low + Vec3::new(x as f64, y as f64, z as f64)) * cell_m;
    let plane = |x: usize| -> Vec<[f64; 2]> {
        (0..(ny + 1) * (nz + 1))
            .map(|i| {
                let at = point(x, i / (nz + 1), i % (nz + 1));
                [solid.extent(at), other.extent(other_from_solid.transform_point(at))]
            })
            .collect()
    };
    let mut planes = [plane(0), Vec::new()];
    let mut polygon = Polygon::new();
    for x in 0..nx {
        planes[1] = plane(x + 1);
        for (y, z) in (0..ny).flat_map(|y| (0..nz).map(move |z| (y, z))) {
            let offset = |k: usize| (k >> 2, (k >> 1) & 1, k & 1);
            let value: [[f64; 2]; 8] = std::array::from_fn(|k| {
                let (a, b, c) = offset(k);
                planes[a][(y + b) * (nz + 1) + z + c]
            });
            if value.iter().all(|v| v[0] < 0.0) || value.iter().all(|v| v[1] < 0.0) {
                continue;
            }
            let places: [Vec3; 8] = std::array::from_fn(|k| {
                let (a, b, c) = offset(k);
                point(x + a, y + b, z + c)
            });
            let cube =
                ((low.x as i64 + x as i64) as u32, (low.y as i64 + y as i64) as u32, (low.z as i64 + z as i64) as u32);
            for (t, tet) in KUHN.iter().enumerate() {
                let corners = tet.map(|k| places[k]);
                let extent = tet.map(|k| value[k][0]);
                let values = tet.map(|k| value[k][1]);
                let gradients = || [linear_gradient(&corners, &extent), linear_gradient(&corners, &values)];
                let part = |index: usize| (t * pieces[0].len() * pieces[1].len() + index) as u32;
                let key = |index: usize| [cube.0, cube.1, cube.2.wrapping_mul(64).wrapping_add(part(index))];
                LinearPair { corners: &corners, extent: &extent, values: &values, is_cut: true, pieces, sign, limit }
                    .add(gradients, key, &mut polygon, out);
            }
        }
        planes.swap(0, 1);
    }
}

/// Gradient of a linear function given at the corners of a tetrahedron.
fn linear_gradient(corners: &[Vec3; 4], values: &[f64; 4]) -> Vec3 {
    let [a, b, c] = [1, 2, 3].map(|k| corners[k] - corners[0]);
    let [f, g, h] = [1, 2, 3].map(|k| values[k] - values[0]);
    (b.cross(c) * f + c.cross(a) * g + a.cross(b) * h) / a.dot(b.cross(c))
}
