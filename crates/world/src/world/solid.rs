//! The shape of a solid body for Rapier's contacts: a primitive, else the convex hull of its mesh.
//!
//! Rapier takes at most four corners of a face, and of a face with more corners the first four: a prism or a bottle would
//! tip over beside them. [`Hull`] gives it four that span the face; the first one is the corner next to the contact.

use dermis_geometry::{Primitive, Surface, TriMesh, Vec3};
use rapier3d_f64::parry::bounding_volume::{Aabb, BoundingSphere};
use rapier3d_f64::parry::mass_properties::MassProperties;
use rapier3d_f64::parry::query::{PointProjection, PointQuery, Ray, RayCast, RayIntersection};
use rapier3d_f64::parry::shape::{
    ConvexPolyhedron, Cylinder, FeatureId, PackedFeatureId, PolygonalFeature, PolygonalFeatureMap, Shape, ShapeType,
    SubShapeId, SupportMap, TypedShape,
};
use rapier3d_f64::prelude as rapier;

/// Corners of a face lie this close (m) to its plane.
const FLAT_M: f64 = 1e-4;
/// Number of directions for which the outermost point is kept.
const DIRECTIONS: usize = 400;
/// Approximate limit on the points kept along the rim of a flat face.
const RIM: usize = 64;

/// The collider of a surface. `None` if it has no volume.
pub(super) fn collider(surface: &Surface) -> Option<rapier::ColliderBuilder> {
    Some(match surface.primitive() {
        Some(Primitive::Sphere { radius_m }) => rapier::ColliderBuilder::ball(*radius_m),
        Some(Primitive::Capsule { radius_m, half_length_m }) => {
            rapier::ColliderBuilder::capsule_z(*half_length_m, *radius_m)
        }
        Some(Primitive::Cuboid { half_m }) => rapier::ColliderBuilder::cuboid(half_m.x, half_m.y, half_m.z),
        round => {
            let hull = ConvexPolyhedron::from_convex_hull(&outermost_points(surface.mesh()))?;
            rapier::ColliderBuilder::new(rapier::SharedShape::new(Hull { hull, round: round.copied() }))
        }
    })
}

/// A collider in the frame of its body, whose mass is the body's own. Mass properties that are not all zero, as those of a
/// light or turned shape, would be added by Rapier, which then loses the principal axes of small tensors.
pub(super) fn massless(collider: rapier::ColliderBuilder) -> rapier::ColliderBuilder {
    collider.mass_properties(MassProperties::default())
}

/// The convex hull of a mesh; of a cylinder or an ellipsoid with its exact points.
#[derive(Clone)]
struct Hull {
    hull: ConvexPolyhedron,
    round: Option<Primitive>,
}

/// Sets the corners of a feature; all have numbers.
fn set_corners(feature: &mut PolygonalFeature, corners: impl IntoIterator<Item = (u32, Vec3)>) {
    feature.num_vertices = 0;
    for (id, corner) in corners {
        let at = feature.num_vertices;
        if !feature.vertices[..at].contains(&corner) {
            feature.vertices[at] = corner;
            (feature.vids[at], feature.eids[at]) = (PackedFeatureId::vertex(id), PackedFeatureId::edge(id));
            feature.num_vertices += 1;
        }
    }
    feature.fid = PackedFeatureId::face(0);
}

impl Hull {
    /// The feature in a direction: of a face with many corners four that span it, the first one as far as possible
    /// `towards`.
    fn feature(&self, direction: Vec3, towards: Vec3, feature: &mut PolygonalFeature) {
        match self.round {
            Some(Primitive::Cylinder { radius_m, half_length_m }) => {
                let around = |v: Vec3| Vec3::new(v.x, v.y, 0.0).try_normalize();
                let up = Vec3::Z * half_length_m;
                if direction.z.abs() < 0.5 {
                    let side = radius_m * around(direction).unwrap_or(Vec3::X);
                    return set_corners(feature, [(0, side - up), (1, side + up)]);
                }
                let first = radius_m * around(towards).or_else(|| around(direction)).unwrap_or(Vec3::X);
                let (second, cap) = (Vec3::Z.cross(first), up * direction.z.signum());
                let id = if direction.z > 0.0 { 10 } else { 20 };
                let rim = [first, second, -first, -second];
                set_corners(feature, rim.into_iter().zip(id..).map(|(corner, id)| (id, cap + corner)));
            }
            Some(round) => set_corners(feature, [(0, round.support(direction))]),
            None => self.face(direction, towards, feature),
        }
    }

    fn face(&self, direction: Vec3, towards: Vec3, feature: &mut PolygonalFeature) {
        let reach = |point: &Vec3| point.dot(direction);
        let points = self.hull.points();
        let most = points.iter().map(reach).fold(f64::NEG_INFINITY, f64::max);
        let flat = FLAT_M.min(0.01 * self.hull.local_aabb().extents().max_element());
        let corners: Vec<usize> = (0..points.len()).filter(|&i| reach(&points[i]) >= most - flat).collect();
        let farthest = |measure: &dyn Fn(Vec3) -> f64| {
            corners.iter().copied().max_by(|&a, &b| measure(points[a]).total_cmp(&measure(points[b])))
        };
        let Some(first) = farthest(&|p| p.dot(towards)) else { return };
        let Some(across) = farthest(&|p| p.distance(points[first])) else { return };
        let aside = direction.cross(points[across] - points[first]);
        let (right, left) = (farthest(&|p| p.dot(aside)), farthest(&|p| -p.dot(aside)));
        let around = [Some(first), right, Some(across), left].into_iter().flatten();
        set_corners(feature, around.map(|corner| (corner as u32, points[corner])));
    }
}

impl SupportMap for Hull {
    fn local_support_point(&self, direction: Vec3) -> Vec3 {
        match &self.round {
            Some(round) => round.support(direction),
            None => self.hull.local_support_point(direction),
        }
    }
}

impl PolygonalFeatureMap for Hull {
    /// The outermost corner first: of a tilted face, the one that touches.
    fn local_support_feature(&self, direction: Vec3, feature: &mut PolygonalFeature) {
        self.feature(direction, direction, feature);
    }

    fn local_support_feature_toward(&self, direction: Vec3, hint: Vec3, feature: &mut PolygonalFeature) {
        let center = self.hull.local_aabb().center();
        self.feature(direction, (hint - center).reject_from_normalized(direction), feature);
    }
}

impl RayCast for Hull {
    fn cast_local_ray_and_get_normal(&self, ray: &Ray, most: f64, solid: bool) -> Option<RayIntersection> {
        self.hull.cast_local_ray_and_get_normal(ray, most, solid)
    }
}

impl PointQuery for Hull {
    fn project_local_point(&self, point: Vec3, solid: bool) -> PointProjection {
        let Some(Primitive::Cylinder { radius_m, half_length_m }) = self.round else {
            return self.hull.project_local_point(point, solid);
        };
        // Rapier's cylinders run along y.
        let along_y = Cylinder::new(half_length_m, radius_m);
        let projection = along_y.project_local_point(Vec3::new(point.x, point.z, -point.y), solid);
        let found = projection.point;
        PointProjection { point: Vec3::new(found.x, -found.z, found.y), ..projection }
    }

    fn project_local_point_and_get_feature(&self, point: Vec3) -> (PointProjection, FeatureId) {
        self.hull.project_local_point_and_get_feature(point)
    }
}

impl Shape for Hull {
    fn compute_local_aabb(&self) -> Aabb {
        self.hull.compute_local_aabb()
    }

    fn compute_local_bounding_sphere(&self) -> BoundingSphere {
        self.hull.compute_local_bounding_sphere()
    }

    fn clone_dyn(&self) -> Box<dyn Shape> {
        Box::new(self.clone())
    }

    fn scale_dyn(&self, _scale: Vec3, _subdivisions: u32) -> Option<Box<dyn Shape>> {
        None
    }

    fn mass_properties(&self, density: f64) -> MassProperties {
        self.hull.mass_properties(density)
    }

    fn is_convex(&self) -> bool {
        true
    }

    fn shape_type(&self) -> ShapeType {
        ShapeType::Custom
    }

    /// As which it is saved: Rapier cannot save a shape of its users, which `saved` puts in again.
    fn as_typed_shape(&self) -> TypedShape<'_> {
        TypedShape::ConvexPolyhedron(&self.hull)
    }

    fn ccd_thickness(&self) -> f64 {
        self.hull.ccd_thickness()
    }

    fn ccd_angular_thickness(&self) -> f64 {
        self.hull.ccd_angular_thickness()
    }

    fn as_support_map(&self) -> Option<&dyn SupportMap> {
        Some(self)
    }

    fn as_polygonal_feature_map(&self) -> Option<(&dyn PolygonalFeatureMap, f64)> {
        Some((self, 0.0))
    }

    fn feature_normal_at_point(&self, _shape: SubShapeId, feature: FeatureId, _point: Vec3) -> Option<Vec3> {
        self.hull.feature_normal(feature)
    }
}

/// Returns the outermost vertices in the directions of [`directions`]: an approximation of the convex hull.
fn outermost_points(mesh: &TriMesh) -> Vec<Vec3> {
    let mut kept = Vec::new();
    for (direction, level) in levels(mesh) {
        kept.extend(rim(mesh, direction, &level));
    }
    kept.sort_unstable();
    kept.dedup();
    kept.into_iter().map(|index| mesh.vertices()[index]).collect()
}

/// For each direction, the vertices with the largest coordinate along it.
fn levels(mesh: &TriMesh) -> impl Iterator<Item = (Vec3, Vec<usize>)> + '_ {
    let tolerance = 1e-9 * mesh.bounds().size().length();
    let all: Vec<usize> = (0..mesh.vertices().len()).collect();
    directions(mesh).map(move |direction| (direction, outermost(mesh, &all, direction, tolerance)))
}

/// The vertices along the edge of a level with many vertices.
fn rim(mesh: &TriMesh, direction: Vec3, level: &[usize]) -> Vec<usize> {
    if level.len() <= RIM {
        return level.to_vec();
    }
    let (x, y) = direction.any_orthonormal_pair();
    let outwards = (0..RIM).map(|k| x * rim_angle(k).cos() + y * rim_angle(k).sin());
    outwards.flat_map(|outward| outermost(mesh, level, outward, 0.0)).collect()
}

fn rim_angle(k: usize) -> f64 {
    std::f64::consts::TAU * k as f64 / RIM as f64
}

fn directions(mesh: &TriMesh) -> impl Iterator<Item = Vec3> {
    face_directions(mesh).into_iter().chain(fibonacci(DIRECTIONS))
}

/// The vertices of `among` with the largest coordinate along a direction, within `tolerance` (m).
fn outermost(mesh: &TriMesh, among: &[usize], direction: Vec3, tolerance: f64) -> Vec<usize> {
    let reach = |index: usize| mesh.vertices()[index].dot(direction);
    let most = among.iter().map(|&index| reach(index)).fold(f64::NEG_INFINITY, f64::max);
    among.iter().copied().filter(|&index| reach(index) >= most - tolerance).collect()
}

/// The coordinate axes, and the normals of faces that cover more than 1 % of the surface.
fn face_directions(mesh: &TriMesh) -> Vec<Vec3> {
    let mut directions = vec![Vec3::X, Vec3::NEG_X, Vec3::Y, Vec3::NEG_Y, Vec3::Z, Vec3::NEG_Z];
    let total = mesh.area_m2();
    for triangle in 0..mesh.triangles().len() {
        let area = mesh.area_vector(triangle);
        if area.length() > 0.01 * total {
            directions.push(area.normalize());
        }
    }
    directions
}

/// Directions spread evenly over the sphere.
fn fibonacci(count: usize) -> impl Iterator<Item = Vec3> {
    let golden_angle = std::f64::consts::PI * (3.0 - 5f64.sqrt());
    (0..count).map(move |i| {
        let z = 1.0 - (2 * i + 1) as f64 / count as f64;
        let r = (1.0 - z * z).sqrt();
        let angle = golden_angle * i as f64;
        Vec3::new(r * angle.cos(), r * angle.sin(), z)
    })
}
