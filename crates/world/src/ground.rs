//! Contact of bodies with a level ground.
//!
//! Rapier reduces the contact of a face to a few points: resting bodies drift, and a cylinder with many sides tips
//! over. This module uses the body's outermost points, each a spring-damper with bristle friction like a texel: a fixed
//! set of points of a mesh, and the exact lowest points of a round primitive, so that a ball rolls and does not rock.
//! Symmetric bodies stay symmetric, and bodies do not creep.

use dermis_geometry::{MassProperties, Pose, Primitive, Surface, TriMesh, Twist, Vec3, Wrench};
use dermis_skin::Lugre;

/// Natural frequency of the ground springs times the time step: stiff, with a margin to the stability limit.
const SWING_PER_STEP: f64 = 0.3;
/// Number of directions for which the outermost point is kept.
const DIRECTIONS: usize = 400;
/// Approximate limit on the points kept along the rim of a flat face.
const RIM: usize = 64;
/// Number of points on the rim of each end of a cylinder.
const CYLINDER_RIM: usize = 12;
/// Meshes with more vertices than this use only their outermost points.
const MAX_POINTS: usize = 20_000;

/// Ground contact of a body: its support points and their bristles.
#[derive(Clone, Debug)]
pub(crate) struct GroundContact {
    points: Points,
    bristles: Vec<Vec3>,
    /// Numbers of the points that touched in the last step, in order: all other bristles are zero.
    touching: Vec<usize>,
    stiffness: f64,
    damping: f64,
    lugre: Lugre,
}

/// The points of a body that can touch the ground.
#[derive(Clone, Debug)]
enum Points {
    Fixed(Vec<Vec3>, Vec<Group>),
    Round(Primitive),
}

/// Points of a mesh one after the other, with the ball around them: few of a body's points are near the ground.
#[derive(Clone, Debug)]
struct Group {
    center: Vec3,
    radius_m: f64,
}

/// Number of points in a group.
const GROUP: usize = 16;

impl Group {
    fn around(points: &[Vec3]) -> Self {
        let center = points.iter().sum::<Vec3>() / points.len() as f64;
        let farthest = points.iter().map(|point| point.distance(center)).fold(0.0, f64::max);
        // Rounding errors must not exclude a point.
        Self { center, radius_m: farthest * (1.0 + 1e-9) + 1e-12 }
    }
}

impl Points {
    fn new(surface: &Surface) -> Self {
        match surface.primitive().filter(|primitive| primitive.is_round()) {
            Some(primitive) => Self::Round(*primitive),
            None => {
                let points = standing_points(surface.mesh());
                let groups = points.chunks(GROUP).map(Group::around).collect();
                Self::Fixed(points, groups)
            }
        }
    }

    /// Number of points, and the largest number of them that touch at the same time.
    fn counts(&self, mesh: &TriMesh) -> (usize, usize) {
        match self {
            Self::Round(Primitive::Capsule { .. }) => (2, 2),
            Self::Round(Primitive::Cylinder { .. }) => (2 * CYLINDER_RIM, CYLINDER_RIM),
            Self::Round(_) => (1, 1),
            Self::Fixed(points, _) => {
                let tolerance = 1e-6 * mesh.bounds().size().length();
                let together = directions(mesh).map(|direction| {
                    let top = points.iter().map(|p| p.dot(direction)).fold(f64::NEG_INFINITY, f64::max);
                    points.iter().filter(|p| p.dot(direction) > top - tolerance).count()
                });
                (points.len(), together.fold(4, usize::max))
            }
        }
    }

    /// Visits the number and position (m) of every point that may touch, in the frame of the body, for a ground below
    /// `up_in_body` at a distance of `clearance_m` from the body's origin.
    fn visit(&self, up_in_body: Vec3, clearance_m: f64, mut visit: impl FnMut(usize, Vec3)) {
        match *self {
            Self::Fixed(ref points, ref groups) => {
                for (number, group) in groups.iter().enumerate() {
                    if up_in_body.dot(group.center) + clearance_m <= group.radius_m {
                        let first = number * GROUP;
                        let points = points[first..].iter().take(GROUP);
                        points.enumerate().for_each(|(i, &point)| visit(first + i, point));
                    }
                }
            }
            // The lowest points of both ends.
            Self::Round(Primitive::Capsule { radius_m, half_length_m }) => {
                let lowest = -up_in_body * radius_m;
                visit(0, lowest - Vec3::Z * half_length_m);
                visit(1, lowest + Vec3::Z * half_length_m);
            }
            // Points around both ends, of which the first is the lowest.
            Self::Round(Primitive::Cylinder { radius_m, half_length_m }) => {
                let x = -Vec3::new(up_in_body.x, up_in_body.y, 0.0).normalize_or(Vec3::X) * radius_m;
                let y = Vec3::Z.cross(x);
                for k in 0..CYLINDER_RIM {
                    let (sine, cosine) = (std::f64::consts::TAU * k as f64 / CYLINDER_RIM as f64).sin_cos();
                    let out = x * cosine + y * sine;
                    visit(2 * k, out - Vec3::Z * half_length_m);
                    visit(2 * k + 1, out + Vec3::Z * half_length_m);
                }
            }
            Self::Round(primitive) => visit(0, primitive.support(-up_in_body)),
        }
    }
}

impl GroundContact {
    /// Selects the support points of a surface and scales the spring stiffness to the mass and the time step.
    pub fn new(surface: &Surface, mass: &MassProperties, friction: f64, step_s: f64) -> Self {
        let points = Points::new(surface);
        // The stiffness is divided among the points that can touch at the same time.
        let (count, together) = points.counts(surface.mesh());
        let omega = SWING_PER_STEP / step_s;
        let share = mass.mass_kg / together as f64;
        let (stiffness, damping) = (share * omega * omega, share * omega);
        // A point that carries a body alone also rotates it: the mass that friction moves there is smaller.
        let sideways = if together < 4 { 0.25 * together as f64 } else { 1.0 };
        Self {
            bristles: vec![Vec3::ZERO; count],
            touching: Vec::new(),
            points,
            stiffness,
            damping,
            lugre: Lugre {
                stiffness_newton_per_m: sideways * stiffness,
                damping_newton_s_per_m: sideways * damping,
                viscous_newton_s_per_m: 0.0,
                mu_static: friction,
                mu_dynamic: friction,
                stribeck_m_per_s: 0.01,
            },
        }
    }

    /// Returns the load of the ground at height `z_m` on the body, about the body's origin, in the world frame.
    pub fn push(&mut self, z_m: f64, world_from_body: &Pose, velocity: &Twist, dt_s: f64) -> Wrench {
        let mut sum = Wrench::ZERO;
        // Few points are in contact: their height is tested first.
        let up_in_body = world_from_body.rotation.conjugate() * Vec3::Z;
        let clearance = world_from_body.translation.z - z_m;
        let mut touching = Vec::with_capacity(self.touching.len());
        self.points.visit(up_in_body, clearance, |index, point| {
            let depth = -(up_in_body.dot(point) + clearance);
            if depth <= 0.0 {
                return;
            }
            touching.push(index);
            let bristle = &mut self.bristles[index];
            let arm = world_from_body.transform_vector(point);
            let v = velocity.at(arm);
            let normal = (self.stiffness * depth - self.damping * v.z).max(0.0);
            // The ground takes the role of the sensor in the friction law; the body receives the opposite force.
            let (next, on_ground) = self.lugre.step(*bristle, Vec3::new(v.x, v.y, 0.0), normal, dt_s);
            *bristle = next;
            sum += Wrench::from_force_at(Vec3::Z * normal - on_ground, arm);
        });
        for &index in self.touching.iter().filter(|index| touching.binary_search(index).is_err()) {
            self.bristles[index] = Vec3::ZERO;
        }
        self.touching = touching;
        sum
    }
}

/// Returns the outermost vertices in the directions of [`directions`]: an approximation of the convex hull.
pub(crate) fn outermost_points(mesh: &TriMesh) -> Vec<Vec3> {
    let mut kept = Vec::new();
    for (direction, level) in levels(mesh) {
        kept.extend(rim(mesh, direction, &level));
    }
    kept.sort_unstable();
    kept.dedup();
    kept.into_iter().map(|index| mesh.vertices()[index]).collect()
}

/// Returns the vertices that can support the body: all except the interior of flat faces, where the rim suffices. A
/// ball needs all vertices of its mesh, or it would rock between the support points. For meshes of more than
/// [`MAX_POINTS`] vertices only the outermost vertices are used.
fn standing_points(mesh: &TriMesh) -> Vec<Vec3> {
    if mesh.vertices().len() > MAX_POINTS {
        return outermost_points(mesh);
    }
    let mut stands = vec![true; mesh.vertices().len()];
    let mut rims = Vec::new();
    for (direction, level) in levels(mesh) {
        level.iter().for_each(|&index| stands[index] = false);
        rims.extend(rim(mesh, direction, &level));
    }
    rims.into_iter().for_each(|index| stands[index] = true);
    mesh.vertices().iter().zip(stands).filter(|(_, stands)| *stands).map(|(vertex, _)| *vertex).collect()
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

#[cfg(test)]
mod tests {
    use super::*;
    use dermis_geometry::shapes::{cuboid, cylinder};
    use dermis_geometry::{Quat, Surface};

    /// A cube rests on its four corners at a depth of mg/(m ω²).
    #[test]
    fn a_cube_stands_on_four_corners() {
        let mesh = cuboid(Vec3::splat(0.02)).unwrap();
        let mass = mesh.mass_properties(0.05).unwrap();
        let mut ground_contact = GroundContact::new(&Surface::new(mesh), &mass, 0.5, 1e-4);
        assert_eq!(ground_contact.bristles.len(), 8);
        let depth = 9.8 / (SWING_PER_STEP / 1e-4f64).powi(2);
        let pose = Pose::from_translation(Vec3::Z * (0.01 - depth));
        let load = ground_contact.push(0.0, &pose, &Twist::ZERO, 1e-4);
        assert!((load.force.z - 0.05 * 9.8).abs() < 1e-9, "{:?}", load);
        assert!(load.torque.length() < 1e-15);
    }

    #[test]
    fn a_cylinder_stands_on_its_whole_rim() {
        let mesh = cylinder(0.018, 0.08, 1e-3).unwrap();
        let mass = mesh.mass_properties(0.1).unwrap();
        let ground_contact = GroundContact::new(&Surface::new(mesh), &mass, 0.5, 1e-4);
        let Points::Fixed(points, _) = &ground_contact.points else { panic!("a mesh has fixed points") };
        let low: Vec<&Vec3> = points.iter().filter(|p| p.z < -0.0399).collect();
        assert!(low.len() > 40, "{}", low.len());
        let middle = low.iter().copied().copied().sum::<Vec3>() / low.len() as f64;
        assert!(middle.truncate().length() < 2e-3, "{middle}");
    }

    /// At rest at the depth mg/(m ω²) in any orientation, the load of the ground is the weight through the centre: a
    /// ball neither rocks nor rolls. A cylinder on its end or its side, and a capsule on its side, stay too.
    #[test]
    fn round_bodies_rest_without_torque() {
        let ball = Primitive::Sphere { radius_m: 0.02 };
        let cylinder = Primitive::Cylinder { radius_m: 0.01, half_length_m: 0.03 };
        let capsule = Primitive::Capsule { radius_m: 0.01, half_length_m: 0.03 };
        let side = Quat::from_rotation_x(std::f64::consts::FRAC_PI_2);
        let any = Quat::from_rotation_x(0.7) * Quat::from_rotation_y(-1.1);
        let (step_s, mass_kg) = (1e-4, 0.05);
        // The last number: how many of the points that may touch at the same time do.
        for (shape, rotation, height_m, part) in [
            (ball, any, 0.02, 1.0),
            (ball, Quat::IDENTITY, 0.02, 1.0),
            (cylinder, Quat::from_rotation_z(0.3), 0.03, 1.0),
            (cylinder, side, 0.01, 2.0 / CYLINDER_RIM as f64),
            (cylinder, side * Quat::from_rotation_z(0.2), 0.01, 2.0 / CYLINDER_RIM as f64),
            (capsule, side * Quat::from_rotation_z(0.2), 0.01, 1.0),
        ] {
            let surface = Surface::of_primitive(shape, 2e-3).unwrap();
            let mass = surface.mass_properties(mass_kg).unwrap();
            let mut contact = GroundContact::new(&surface, &mass, 0.5, step_s);
            let depth = 9.8 / (SWING_PER_STEP / step_s).powi(2) / part;
            let pose = Pose::new(rotation, Vec3::Z * (height_m - depth));
            let load = contact.push(0.0, &pose, &Twist::ZERO, step_s);
            assert!((load.force - Vec3::Z * (mass_kg * 9.8)).length() < 1e-9, "{shape:?}: {load:?}");
            assert!(load.torque.length() < 1e-12, "{shape:?}: {load:?}");
        }
    }
}
