//! A mesh that can be asked where it is.

use crate::{Bounds, Bvh, TopologyError, TriMesh, Vec3};
use std::collections::HashMap;

/// A half-line, cut at `length`.
#[derive(Clone, Copy, Debug)]
pub struct Ray {
    /// Where it starts (m).
    pub origin: Vec3,
    /// Unit direction.
    pub direction: Vec3,
    /// How far it reaches (m).
    pub length: f64,
}

/// Where a ray meets a surface first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hit {
    /// Distance (m) along the ray.
    pub distance: f64,
    /// Index of the triangle. Where several are met at the same distance, the lowest.
    pub triangle: u32,
    /// Outward unit normal of that triangle.
    pub normal: Vec3,
}

/// The point of a surface nearest to a query.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Closest {
    /// Nearest point (m).
    pub point: Vec3,
    /// Its distance (m), never negative.
    pub distance: f64,
    /// Index of a triangle that holds it.
    pub triangle: u32,
    /// Outward direction there: the face's normal, or the angle-weighted normal of the edge or corner.
    pub normal: Vec3,
}

/// A triangle mesh with a hierarchy over it: rays, closest points, signed distance.
#[derive(Clone, Debug)]
pub struct Surface {
    mesh: TriMesh,
    bvh: Bvh,
    corners: Vec<[Vec3; 3]>,
    normals: Vec<Vec3>,
    features: Features,
    closed: Result<(), TopologyError>,
}

/// Angle-weighted normals of corners and edges (Bærentzen and Aanæs 2005): the sign of the distance at a
/// point whose nearest surface point lies on an edge or a corner is that of the dot product with these.
#[derive(Clone, Debug)]
struct Features {
    of_vertex: Vec<Vec3>,
    /// Per triangle, for its edges 0-1, 1-2, 2-0.
    of_edge: Vec<[Vec3; 3]>,
}

impl Surface {
    /// Prepares a mesh for queries.
    pub fn new(mesh: TriMesh) -> Self {
        let bvh = Bvh::new(&mesh);
        let count = mesh.triangles().len();
        let corners = (0..count).map(|t| mesh.corners(t)).collect();
        let normals: Vec<Vec3> = (0..count).map(|t| mesh.face_normal(t)).collect();
        let features = Features::new(&mesh, &normals);
        let closed = mesh.check_closed();
        Self { mesh, bvh, corners, normals, features, closed }
    }

    /// The mesh.
    pub fn mesh(&self) -> &TriMesh {
        &self.mesh
    }

    /// Box around the surface.
    pub fn bounds(&self) -> &Bounds {
        self.bvh.bounds()
    }

    /// The hierarchy over the triangles.
    pub fn bvh(&self) -> &Bvh {
        &self.bvh
    }

    /// True when the mesh bounds a solid with outward faces.
    pub fn is_closed(&self) -> bool {
        self.closed.is_ok()
    }

    /// Outward unit normal of a triangle.
    pub fn normal(&self, triangle: u32) -> Vec3 {
        self.normals[triangle as usize]
    }

    /// The first triangle that the ray meets. Watertight: a ray through an edge or a corner meets at least
    /// one of the triangles there. `hint` is a triangle likely to be met; it changes the speed, not the answer.
    pub fn cast(&self, ray: &Ray, hint: Option<u32>) -> Option<Hit> {
        let frame = RayFrame::new(ray, self.bounds());
        let mut best: Option<(f64, u32)> = None;
        let mut limit = ray.length;
        let mut consider = |triangle: u32, limit: f64| -> f64 {
            match frame.meet(&self.corners[triangle as usize]) {
                Some(t)
                    if t <= limit
                        && best.is_none_or(|(least, index)| t < least || (t == least && triangle < index)) =>
                {
                    best = Some((t, triangle));
                    t
                }
                _ => limit,
            }
        };
        if let Some(triangle) = hint.filter(|&h| (h as usize) < self.corners.len()) {
            limit = consider(triangle, limit);
        }
        self.bvh.visit(
            limit,
            |bounds| frame.enter(bounds),
            |items, mut limit| {
                for &triangle in items {
                    limit = consider(triangle, limit);
                }
                limit
            },
        );
        best.map(|(distance, triangle)| Hit { distance, triangle, normal: self.normals[triangle as usize] })
    }

    /// The same answer as [`Surface::cast`] by testing every triangle: the method of Moisio 2013, kept as the
    /// yardstick for tests and benchmarks.
    pub fn cast_brute_force(&self, ray: &Ray) -> Option<Hit> {
        let frame = RayFrame::new(ray, self.bounds());
        let mut best: Option<(f64, u32)> = None;
        for (triangle, corners) in self.corners.iter().enumerate() {
            if let Some(t) = frame.meet(corners)
                && t <= ray.length
                && best.is_none_or(|(least, _)| t < least)
            {
                best = Some((t, triangle as u32));
            }
        }
        best.map(|(distance, triangle)| Hit { distance, triangle, normal: self.normals[triangle as usize] })
    }

    /// The nearest point of the surface.
    pub fn closest(&self, query: Vec3) -> Closest {
        let mut best = (f64::INFINITY, 0u32, Vec3::ZERO, Vec3::ZERO);
        self.bvh.visit(
            f64::INFINITY,
            |bounds| Some(bounds.distance_squared(query)),
            |items, mut limit| {
                for &triangle in items {
                    let (point, feature) = closest_on_triangle(query, &self.corners[triangle as usize]);
                    let squared = (point - query).length_squared();
                    if squared < best.0 || (squared == best.0 && triangle < best.1) {
                        best = (squared, triangle, point, self.feature_normal(triangle, feature));
                        limit = squared;
                    }
                }
                limit
            },
        );
        Closest { point: best.2, distance: best.0.sqrt(), triangle: best.1, normal: best.3 }
    }

    /// Distance (m) of the surface, negative inside. Needs a closed mesh.
    pub fn signed_distance(&self, query: Vec3) -> Result<f64, TopologyError> {
        self.closed.clone()?;
        let closest = self.closest(query);
        let outside = (query - closest.point).dot(closest.normal) >= 0.0;
        Ok(if outside { closest.distance } else { -closest.distance })
    }

    fn feature_normal(&self, triangle: u32, feature: Feature) -> Vec3 {
        match feature {
            Feature::Face => self.normals[triangle as usize],
            Feature::Edge(edge) => self.features.of_edge[triangle as usize][edge],
            Feature::Corner(corner) => {
                self.features.of_vertex[self.mesh.triangles()[triangle as usize][corner] as usize]
            }
        }
    }
}

impl Features {
    fn new(mesh: &TriMesh, normals: &[Vec3]) -> Self {
        let mut of_vertex = vec![Vec3::ZERO; mesh.vertices().len()];
        let mut edges: HashMap<(u32, u32), Vec3> = HashMap::with_capacity(normals.len() * 3 / 2);
        let key = |a: u32, b: u32| (a.min(b), a.max(b));
        for (t, &indices) in mesh.triangles().iter().enumerate() {
            let corners = mesh.corners(t);
            for corner in 0..3 {
                let (here, next, last) = (corners[corner], corners[(corner + 1) % 3], corners[(corner + 2) % 3]);
                of_vertex[indices[corner] as usize] += normals[t] * (next - here).angle_between(last - here);
                *edges.entry(key(indices[corner], indices[(corner + 1) % 3])).or_default() += normals[t];
            }
        }
        let of_edge = mesh
            .triangles()
            .iter()
            .map(|&[a, b, c]| [(a, b), (b, c), (c, a)].map(|(p, q)| edges[&key(p, q)].normalize_or_zero()))
            .collect();
        Self { of_vertex: of_vertex.iter().map(|n| n.normalize_or_zero()).collect(), of_edge }
    }
}

/// A ray in the frame of Woop, Benthin and Wald (2013): sheared so that it runs along an axis, which makes
/// the edge functions of neighbouring triangles agree on their sign.
struct RayFrame {
    origin: Vec3,
    /// The origin plus and minus a few roundings of the largest coordinate, as much as `meet` may be off.
    origin_up: Vec3,
    origin_down: Vec3,
    inverse: Vec3,
    axes: [usize; 3],
    shear: [f64; 3],
}

impl RayFrame {
    fn new(ray: &Ray, bounds: &Bounds) -> Self {
        let d = ray.direction;
        let size = d.abs();
        let kz = if size.x > size.y && size.x > size.z {
            0
        } else if size.y > size.z {
            1
        } else {
            2
        };
        let (mut kx, mut ky) = ((kz + 1) % 3, (kz + 2) % 3);
        if d[kz] < 0.0 {
            std::mem::swap(&mut kx, &mut ky);
        }
        let largest = ray.origin.abs().max(bounds.min.abs()).max(bounds.max.abs()).max_element();
        let slack = Vec3::splat(16.0 * f64::EPSILON * largest + f64::MIN_POSITIVE);
        Self {
            origin: ray.origin,
            origin_up: ray.origin + slack,
            origin_down: ray.origin - slack,
            inverse: d.recip(),
            axes: [kx, ky, kz],
            shear: [d[kx] / d[kz], d[ky] / d[kz], d[kz].recip()],
        }
    }

    /// Distance at which the ray enters the box, or `None`. The box is widened by the slack: so a flat box is not
    /// missed, a triangle met at the same distance as another is not skipped, and a ray within a side of the box
    /// gets -∞ to ∞ there rather than 0 · ∞.
    fn enter(&self, bounds: &Bounds) -> Option<f64> {
        let a = (bounds.min - self.origin_up) * self.inverse;
        let b = (bounds.max - self.origin_down) * self.inverse;
        let near = a.min(b).max_element().max(0.0);
        let far = a.max(b).min_element();
        (near <= far).then_some(near)
    }

    fn meet(&self, corners: &[Vec3; 3]) -> Option<f64> {
        let [kx, ky, kz] = self.axes;
        let [sx, sy, sz] = self.shear;
        let [a, b, c] = corners.map(|corner| corner - self.origin);
        let (ax, ay) = (a[kx] - sx * a[kz], a[ky] - sy * a[kz]);
        let (bx, by) = (b[kx] - sx * b[kz], b[ky] - sy * b[kz]);
        let (cx, cy) = (c[kx] - sx * c[kz], c[ky] - sy * c[kz]);
        let u = cx * by - cy * bx;
        let v = ax * cy - ay * cx;
        let w = bx * ay - by * ax;
        if (u < 0.0 || v < 0.0 || w < 0.0) && (u > 0.0 || v > 0.0 || w > 0.0) {
            return None;
        }
        let sum = u + v + w;
        if sum == 0.0 {
            return None;
        }
        let t = (u * a[kz] + v * b[kz] + w * c[kz]) * sz / sum;
        (t >= 0.0).then_some(t)
    }
}

#[derive(Clone, Copy)]
enum Feature {
    Face,
    Edge(usize),
    Corner(usize),
}

/// Nearest point of a triangle, and on what part of it (Ericson 2005, section 5.1.5).
fn closest_on_triangle(p: Vec3, &[a, b, c]: &[Vec3; 3]) -> (Vec3, Feature) {
    let (ab, ac, ap) = (b - a, c - a, p - a);
    let (d1, d2) = (ab.dot(ap), ac.dot(ap));
    if d1 <= 0.0 && d2 <= 0.0 {
        return (a, Feature::Corner(0));
    }
    let bp = p - b;
    let (d3, d4) = (ab.dot(bp), ac.dot(bp));
    if d3 >= 0.0 && d4 <= d3 {
        return (b, Feature::Corner(1));
    }
    let vc = d1 * d4 - d3 * d2;
    if vc <= 0.0 && d1 >= 0.0 && d3 <= 0.0 {
        return (a + ab * (d1 / (d1 - d3)), Feature::Edge(0));
    }
    let cp = p - c;
    let (d5, d6) = (ab.dot(cp), ac.dot(cp));
    if d6 >= 0.0 && d5 <= d6 {
        return (c, Feature::Corner(2));
    }
    let vb = d5 * d2 - d1 * d6;
    if vb <= 0.0 && d2 >= 0.0 && d6 <= 0.0 {
        return (a + ac * (d2 / (d2 - d6)), Feature::Edge(2));
    }
    let va = d3 * d6 - d5 * d4;
    if va <= 0.0 && d4 - d3 >= 0.0 && d5 - d6 >= 0.0 {
        return (b + (c - b) * ((d4 - d3) / ((d4 - d3) + (d5 - d6))), Feature::Edge(1));
    }
    let sum = va + vb + vc;
    (a + ab * (vb / sum) + ac * (vc / sum), Feature::Face)
}
