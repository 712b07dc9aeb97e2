//! Ray, closest-point and signed-distance queries on a mesh.

use crate::ray::{Ray, RayFrame};
use crate::shapes::ShapeError;
use crate::triangle_set::closest_hit;
use crate::{Balls, Bounds, Bvh, MassProperties, Mat3, Pose, Primitive, TopologyError, TriMesh, Vec3};
use std::collections::HashMap;
use std::sync::Arc;

/// First intersection of a ray with a surface.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hit {
    /// Distance (m) along the ray.
    pub distance: f64,
    /// Index of the triangle; the lowest of several at the same distance; 0 for a primitive.
    pub triangle: u32,
    /// Outward unit normal of the triangle, or of the primitive at the hit.
    pub normal: Vec3,
}

/// The point of a surface nearest to a query point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Closest {
    /// Nearest point (m).
    pub point: Vec3,
    /// Distance (m), never negative.
    pub distance: f64,
    /// Index of a triangle that contains the point.
    pub triangle: u32,
    /// Outward direction at the point: the normal of the face, or the angle-weighted normal of the edge or corner.
    pub normal: Vec3,
}

/// A triangle mesh with a bounding-volume hierarchy: rays, closest points, signed distance.
///
/// ```
/// use dermis_geometry::{Surface, Vec3, shapes};
/// let ball = Surface::new(shapes::sphere(0.010, 0.001)?);
/// assert!((ball.closest(Vec3::new(0.0, 0.0, 0.015)).distance - 0.005).abs() < 1e-4);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Surface {
    mesh: TriMesh,
    bvh: Bvh,
    /// Corners in the order of the hierarchy's leaves.
    corners: Vec<[Vec3; 3]>,
    /// Position of each triangle in that order.
    place: Vec<u32>,
    normals: Vec<Vec3>,
    features: Features,
    closed: Result<(), TopologyError>,
    primitive: Option<Primitive>,
    balls: Option<Arc<Balls>>,
    bounds: Bounds,
}

/// Signed distance of a point from a solid, negative inside, with its gradient.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Nearest {
    /// Distance (m).
    pub distance_m: f64,
    /// Unit gradient of the distance; points out of the solid.
    pub normal: Vec3,
}

/// Angle-weighted normals of corners and edges (Bærentzen and Aanæs 2005). Where the nearest surface point lies on an
/// edge or a corner, the dot product with these gives the sign of the distance.
#[derive(Clone, Debug)]
struct Features {
    of_vertex: Vec<Vec3>,
    /// Per triangle, normals of its edges 0-1, 1-2, 2-0.
    of_edge: Vec<[Vec3; 3]>,
}

impl Surface {
    /// Prepares a mesh for queries.
    pub fn new(mesh: TriMesh) -> Self {
        let bvh = Bvh::new(&mesh);
        let count = mesh.triangles().len();
        let corners = bvh.order().iter().map(|&t| mesh.corners(t as usize)).collect();
        let mut place = vec![0; count];
        for (position, &triangle) in bvh.order().iter().enumerate() {
            place[triangle as usize] = position as u32;
        }
        let normals: Vec<Vec3> = (0..count).map(|t| mesh.face_normal(t)).collect();
        let features = Features::new(&mesh, &normals);
        let closed = mesh.check_closed();
        let bounds = *bvh.bounds();
        Self { mesh, bvh, corners, place, normals, features, closed, primitive: None, balls: None, bounds }
    }

    /// Creates the surface of a primitive. Rays, [`Surface::nearest`], height fields, support points and mass use its
    /// exact shape; renderings, closest points and [`Surface::signed_distance`] use a mesh whose round parts have edges
    /// of at most `edge_m`.
    pub fn of_primitive(primitive: Primitive, edge_m: f64) -> Result<Self, ShapeError> {
        let surface = Self::new(primitive.mesh(edge_m)?);
        Ok(Self { primitive: Some(primitive), bounds: primitive.bounds(), ..surface })
    }

    /// Creates the surface of a point cloud. [`Surface::nearest`] uses the balls about the points; all other queries
    /// use their mesh ([`Balls::mesh`]).
    pub fn of_balls(balls: Balls) -> Result<Self, ShapeError> {
        let surface = Self::new(balls.mesh()?);
        Ok(Self { bounds: *balls.bounds(), balls: Some(Arc::new(balls)), ..surface })
    }

    /// The primitive, if the surface is one.
    pub fn primitive(&self) -> Option<&Primitive> {
        self.primitive.as_ref()
    }

    /// The balls, if the surface is a cloud of points.
    pub fn balls(&self) -> Option<&Balls> {
        self.balls.as_deref()
    }

    /// The mesh.
    pub fn mesh(&self) -> &TriMesh {
        &self.mesh
    }

    /// The point (m) farthest along a direction: exact for a primitive, else a vertex of the mesh.
    pub fn support(&self, direction: Vec3) -> Vec3 {
        match &self.primitive {
            Some(primitive) => primitive.support(direction),
            None => {
                let mut farthest = (f64::NEG_INFINITY, Vec3::ZERO);
                for &vertex in self.mesh.vertices() {
                    let along = vertex.dot(direction);
                    if along >= farthest.0 {
                        farthest = (along, vertex);
                    }
                }
                farthest.1
            }
        }
    }

    /// Enclosed volume (m³): exact for a primitive, else that of the mesh ([`TriMesh::volume_m3`]).
    pub fn volume_m3(&self) -> f64 {
        self.primitive.as_ref().map_or_else(|| self.mesh.volume_m3(), Primitive::volume_m3)
    }

    /// Mass, centre of mass and inertia of the enclosed solid of uniform density with mass `mass_kg`: exact for a
    /// primitive, else those of the mesh.
    pub fn mass_properties(&self, mass_kg: f64) -> Result<MassProperties, TopologyError> {
        match &self.primitive {
            Some(primitive) => Ok(primitive.mass_properties(mass_kg)),
            None => self.mesh.mass_properties(mass_kg),
        }
    }

    /// Bounding box of the surface.
    pub fn bounds(&self) -> &Bounds {
        &self.bounds
    }

    /// Bounds, in another frame, of the part of the surface and its solid inside the box `within` of that frame; `None`
    /// if there is none.
    pub fn bounds_in(&self, frame_from_surface: &Pose, within: &Bounds) -> Option<Bounds> {
        if let Some(primitive) = &self.primitive {
            return primitive.bounds_in(frame_from_surface, within);
        }
        let rotation = Mat3::from_quat(frame_from_surface.rotation);
        let half = self.bounds.size() * 0.5;
        let reach = rotation.x_axis.abs() * half.x + rotation.y_axis.abs() * half.y + rotation.z_axis.abs() * half.z;
        let center = frame_from_surface.transform_point(self.bounds.center());
        let found = Bounds { min: (center - reach).max(within.min), max: (center + reach).min(within.max) };
        found.min.cmple(found.max).all().then_some(found)
    }

    /// The hierarchy over the triangles.
    pub fn bvh(&self) -> &Bvh {
        &self.bvh
    }

    /// The corners (m) of the triangle at a position of the hierarchy ([`Bvh::order`]).
    pub fn leaf_corners(&self, position: usize) -> &[Vec3; 3] {
        &self.corners[position]
    }

    /// True when the mesh bounds a solid with outward faces.
    pub fn is_closed(&self) -> bool {
        self.closed.is_ok()
    }

    /// Outward unit normal of a triangle.
    pub fn normal(&self, triangle: u32) -> Vec3 {
        self.normals[triangle as usize]
    }

    /// Outward directions of a triangle's face, its edges 0-1, 1-2, 2-0, and its corners: see [`Closest::normal`].
    pub fn directions(&self, triangle: u32) -> [Vec3; 7] {
        let [a, b, c] = self.features.of_edge[triangle as usize];
        let [p, q, r] = self.mesh.triangles()[triangle as usize].map(|vertex| self.features.of_vertex[vertex as usize]);
        [self.normal(triangle), a, b, c, p, q, r]
    }

    /// The first triangle that the ray hits. Watertight: a ray through an edge or a corner hits at least one of the
    /// triangles there. `hint` names a triangle that the ray is likely to hit; it affects the speed, not the result.
    #[inline(always)]
    pub fn cast(&self, ray: &Ray, hint: Option<u32>) -> Option<Hit> {
        match &self.primitive {
            Some(primitive) => primitive.cast(ray).map(|(distance, normal)| Hit { distance, triangle: 0, normal }),
            None => self.cast_at_triangles(ray, hint),
        }
    }

    fn cast_at_triangles(&self, ray: &Ray, hint: Option<u32>) -> Option<Hit> {
        let place = hint.and_then(|hint| self.place.get(hint as usize)).map(|&place| place as usize);
        let (distance, triangle) = closest_hit(&self.bvh, &self.corners, ray, place)?;
        Some(Hit { distance, triangle, normal: self.normals[triangle as usize] })
    }

    /// Computes the result of [`Surface::cast`] by testing every triangle, the method of Moisio 2013. Reference for
    /// tests and benchmarks.
    pub fn cast_brute_force(&self, ray: &Ray) -> Option<Hit> {
        let frame = RayFrame::new(ray);
        let mut best: Option<(f64, u32)> = None;
        for (&triangle, corners) in self.bvh.order().iter().zip(&self.corners) {
            if let Some(t) = frame.intersect(corners)
                && t <= ray.length
                && best.is_none_or(|(least, index)| t < least || (t == least && triangle < index))
            {
                best = Some((t, triangle));
            }
        }
        best.map(|(distance, triangle)| Hit { distance, triangle, normal: self.normals[triangle as usize] })
    }

    /// The nearest point of the surface; a point at infinite distance for a query that is not finite.
    pub fn closest(&self, query: Vec3) -> Closest {
        let mut best = (f64::INFINITY, 0, Vec3::ZERO, Feature::Face);
        let local = query - self.bvh.bounds().center();
        let [x, y, z] = local.to_array().map(|c| c as f32);
        let order = self.bvh.order();
        self.bvh.visit(
            f32::INFINITY,
            |lanes| {
                let mut squared = [0f32; 4];
                for (axis, c) in [x, y, z].into_iter().enumerate() {
                    for (lane, sum) in squared.iter_mut().enumerate() {
                        let outside = (lanes.min[axis][lane] - c).max(c - lanes.max[axis][lane]).max(0.0);
                        *sum += outside * outside;
                    }
                }
                // Rounds down, so that it is a lower bound.
                squared.map(|d| d * (1.0 - 1e-5))
            },
            |first, count| {
                let leaf = first..first + count;
                for (&triangle, corners) in order[leaf.clone()].iter().zip(&self.corners[leaf]) {
                    let (point, feature) = closest_on_triangle(query, corners);
                    let squared = (point - query).length_squared();
                    if squared < best.0 || (squared == best.0 && triangle < best.1) {
                        best = (squared, triangle, point, feature);
                    }
                }
                (best.0 as f32).next_up()
            },
        );
        let normal = self.feature_normal(best.1, best.3);
        Closest { point: best.2, distance: best.0.sqrt(), triangle: best.1, normal }
    }

    /// Distance (m) from the surface, negative inside. Needs a closed mesh.
    pub fn signed_distance(&self, query: Vec3) -> Result<f64, TopologyError> {
        self.closed.clone()?;
        let closest = self.closest(query);
        let outside = (query - closest.point).dot(closest.normal) >= 0.0;
        Ok(if outside { closest.distance } else { -closest.distance })
    }

    /// Signed distance from the solid: exact for a primitive and for balls, else that of the mesh. An open mesh bounds
    /// the half-space behind it.
    pub fn nearest(&self, query: Vec3) -> Nearest {
        if let Some(primitive) = &self.primitive {
            let (distance_m, normal) = primitive.nearest(query);
            return Nearest { distance_m, normal };
        }
        if let Some(balls) = &self.balls {
            let (distance_m, normal) = balls.nearest(query);
            return Nearest { distance_m, normal };
        }
        let closest = self.closest(query);
        let arm = query - closest.point;
        let sign = if arm.dot(closest.normal) < 0.0 { -1.0 } else { 1.0 };
        // On the surface itself the direction to the closest point is undefined.
        let normal = if closest.distance > 1e-9 { arm * (sign / closest.distance) } else { closest.normal };
        Nearest { distance_m: sign * closest.distance, normal }
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

#[derive(Clone, Copy)]
enum Feature {
    Face,
    Edge(usize),
    Corner(usize),
}

/// Nearest point of a triangle, and the feature (face, edge or corner) it lies on (Ericson 2005, section 5.1.5).
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
