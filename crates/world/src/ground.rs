//! Contact of bodies with a level ground.
//!
//! Rapier reduces the contact of a face to a few points: resting bodies drift, and a cylinder with many sides tips
//! over. This module uses a fixed set of the body's outermost points, each a spring-damper with bristle friction like a
//! texel. Symmetric bodies stay symmetric, and bodies do not creep.

use dermis_geometry::{MassProperties, Pose, TriMesh, Twist, Vec3, Wrench};
use dermis_skin::Lugre;

/// Natural frequency of the ground springs times the time step: stiff, with a margin to the stability limit.
const SWING_PER_STEP: f64 = 0.3;
/// Number of directions for which the outermost point is kept.
const DIRECTIONS: usize = 400;
/// Approximate limit on the points kept along the rim of a flat face.
const RIM: usize = 64;
/// Meshes with more vertices than this use only their outermost points.
const MAX_POINTS: usize = 20_000;

/// Ground contact of a body: its support points and their bristles.
#[derive(Clone, Debug)]
pub(crate) struct GroundContact {
    points: Vec<Vec3>,
    bristles: Vec<Vec3>,
    stiffness: f64,
    damping: f64,
    lugre: Lugre,
}

impl GroundContact {
    /// Selects the support points of a mesh and scales the spring stiffness to the mass and the time step.
    pub fn new(mesh: &TriMesh, mass: &MassProperties, friction: f64, step_s: f64) -> Self {
        let points = standing_points(mesh);
        let tolerance = 1e-6 * mesh.bounds().size().length();
        // The stiffness is divided among the points that can touch at the same time.
        let together = directions(mesh)
            .map(|direction| {
                let top = points.iter().map(|p| p.dot(direction)).fold(f64::NEG_INFINITY, f64::max);
                points.iter().filter(|p| p.dot(direction) > top - tolerance).count()
            })
            .fold(4, usize::max);
        let omega = SWING_PER_STEP / step_s;
        let share = mass.mass_kg / together as f64;
        let (stiffness, damping) = (share * omega * omega, share * omega);
        Self {
            bristles: vec![Vec3::ZERO; points.len()],
            points,
            stiffness,
            damping,
            lugre: Lugre {
                stiffness_newton_per_m: stiffness,
                damping_newton_s_per_m: damping,
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
        for (point, bristle) in self.points.iter().zip(&mut self.bristles) {
            let depth = -(up_in_body.dot(*point) + clearance);
            if depth <= 0.0 {
                *bristle = Vec3::ZERO;
                continue;
            }
            let arm = world_from_body.transform_vector(*point);
            let v = velocity.at(arm);
            let normal = (self.stiffness * depth - self.damping * v.z).max(0.0);
            // The ground takes the role of the sensor in the friction law; the body receives the opposite force.
            let (next, on_ground) = self.lugre.step(*bristle, Vec3::new(v.x, v.y, 0.0), normal, dt_s);
            *bristle = next;
            sum += Wrench::from_force_at(Vec3::Z * normal - on_ground, arm);
        }
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

    /// A cube rests on its four corners at a depth of mg/(m ω²).
    #[test]
    fn a_cube_stands_on_four_corners() {
        let mesh = cuboid(Vec3::splat(0.02)).unwrap();
        let mass = mesh.mass_properties(0.05).unwrap();
        let mut ground_contact = GroundContact::new(&mesh, &mass, 0.5, 1e-4);
        assert_eq!(ground_contact.points.len(), 8);
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
        let ground_contact = GroundContact::new(&mesh, &mass, 0.5, 1e-4);
        let low: Vec<&Vec3> = ground_contact.points.iter().filter(|p| p.z < -0.0399).collect();
        assert!(low.len() > 40, "{}", low.len());
        let middle = low.iter().copied().copied().sum::<Vec3>() / low.len() as f64;
        assert!(middle.truncate().length() < 2e-3, "{middle}");
    }
}
