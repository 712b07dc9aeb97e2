//! Rays, closest points and signed distance, compared with testing every triangle and with closed forms.

use dermis_geometry::{Random, Ray, Surface, TriMesh, Vec3, shapes};

fn several() -> Vec<Surface> {
    let meshes = [
        shapes::sphere(0.02, 0.004).unwrap(),
        shapes::cuboid(Vec3::new(0.02, 0.03, 0.04)).unwrap(),
        shapes::torus(0.02, 0.007, 0.004).unwrap(),
        shapes::cylinder(0.01, 0.03, 0.005).unwrap(),
        shapes::fingertip(&shapes::Fingertip::default(), 0.002).unwrap(),
        shapes::grid(9, 12, 0.003).unwrap(),
        TriMesh::new("one", vec![Vec3::ZERO, Vec3::X * 0.02, Vec3::Y * 0.02], vec![[0, 1, 2]]).unwrap(),
    ];
    meshes.into_iter().map(Surface::new).collect()
}

/// Checks that the hit is bitwise equal, with and without a length, with correct and wrong hints.
fn assert_same(surface: &Surface, ray: &Ray, random: &mut Random) {
    let truth = surface.cast_brute_force(ray);
    let count = surface.mesh().triangles().len() as u32;
    let hints = [None, truth.map(|hit| hit.triangle), Some(random.next_u32() % count), Some(u32::MAX)];
    for hint in hints {
        assert_eq!(surface.cast(ray, hint), truth, "{} {ray:?} hint {hint:?}", surface.mesh().name());
    }
    if let Some(hit) = truth {
        // A ray that ends exactly at the hit still hits; a shorter one does not.
        let cut = Ray { length: hit.distance, ..*ray };
        assert_eq!(surface.cast(&cut, None), truth, "{} {cut:?}", surface.mesh().name());
        let short = Ray { length: hit.distance * (1.0 - 1e-9) - 1e-300, ..*ray };
        assert_eq!(surface.cast(&short, None), surface.cast_brute_force(&short));
        assert_eq!(surface.cast(&short, Some(hit.triangle)), None);
    }
}

fn somewhere(surface: &Surface, random: &mut Random) -> Vec3 {
    let bounds = surface.bounds().padded(0.01);
    Vec3::from_array([0, 1, 2].map(|axis| random.between(bounds.min[axis], bounds.max[axis])))
}

#[test]
fn random_rays_hit_what_testing_every_triangle_hits() {
    let mut random = Random::new(1);
    for surface in several() {
        let mut hits = 0;
        for _ in 0..2000 {
            let length = if random.uniform() < 0.5 { f64::INFINITY } else { random.between(0.0, 0.05) };
            let ray = Ray { origin: somewhere(&surface, &mut random), direction: random.direction(), length };
            assert_same(&surface, &ray, &mut random);
            hits += usize::from(surface.cast(&ray, None).is_some());
        }
        assert!(hits > 30, "{}: {hits}", surface.mesh().name());
    }
}

const AXES: [Vec3; 6] = [Vec3::X, Vec3::NEG_X, Vec3::Y, Vec3::NEG_Y, Vec3::Z, Vec3::NEG_Z];

/// Rays along an axis from random points, from a vertex, and from beside a vertex in the plane of a box's side, where 0
/// · ∞ occurs in the slab test.
#[test]
fn rays_along_the_axes_hit_what_testing_every_triangle_hits() {
    let mut random = Random::new(2);
    for surface in several() {
        let vertices = surface.mesh().vertices();
        for i in 0..200 {
            let vertex = vertices[random.next_u32() as usize % vertices.len()];
            let other = vertices[random.next_u32() as usize % vertices.len()];
            for direction in AXES {
                let mixed = Vec3::new(vertex.x, other.y, if i % 2 == 0 { vertex.z } else { other.z });
                for origin in
                    [somewhere(&surface, &mut random), vertex, vertex - direction * 0.1, mixed - direction * 0.1]
                {
                    for length in [f64::INFINITY, 0.3] {
                        assert_same(&surface, &Ray { origin, direction, length }, &mut random);
                    }
                }
            }
        }
    }
}

/// A ray aimed exactly at a vertex or the midpoint of an edge never passes through a closed surface, seen from the
/// inside.
#[test]
fn rays_through_edges_and_corners_do_not_leak() {
    let mut random = Random::new(3);
    for surface in several().into_iter().filter(Surface::is_closed) {
        if surface.mesh().name() == "torus" {
            continue; // Its middle is outside.
        }
        let inside = surface.bounds().center();
        for triangle in 0..surface.mesh().triangles().len() {
            let [a, b, c] = surface.mesh().corners(triangle);
            for target in [a, (a + b) * 0.5, b + (c - b) * random.uniform()] {
                let from = inside + random.direction() * 1e-3 * random.uniform();
                let ray = Ray { origin: from, direction: (target - from).normalize(), length: f64::INFINITY };
                assert!(surface.cast(&ray, None).is_some(), "{} {ray:?}", surface.mesh().name());
                assert_same(&surface, &ray, &mut random);
            }
        }
    }
}

#[test]
fn rays_from_the_surface_hit_what_testing_every_triangle_hits() {
    let mut random = Random::new(4);
    for surface in several() {
        for p in dermis_geometry::sampling::area_uniform(surface.mesh(), 500, 8) {
            for direction in [p.normal, -p.normal, random.direction()] {
                assert_same(&surface, &Ray { origin: p.point, direction, length: 0.02 }, &mut random);
            }
        }
        for &vertex in surface.mesh().vertices().iter().take(300) {
            assert_same(&surface, &Ray { origin: vertex, direction: random.direction(), length: 1.0 }, &mut random);
        }
    }
}

/// Independent distance of a point from a triangle: to its projection on the plane if inside, else to the nearest edge.
fn distance_to_triangle(q: Vec3, [a, b, c]: [Vec3; 3]) -> f64 {
    let normal = (b - a).cross(c - a).normalize();
    let foot = q - normal * (q - a).dot(normal);
    let edges = [(a, b), (b, c), (c, a)];
    if edges.iter().all(|&(p, r)| (r - p).cross(foot - p).dot(normal) >= 0.0) {
        return q.distance(foot);
    }
    let to_edge = |&(p, r): &(Vec3, Vec3)| {
        q.distance(p + (r - p) * ((q - p).dot(r - p) / (r - p).length_squared()).clamp(0.0, 1.0))
    };
    edges.iter().map(to_edge).fold(f64::INFINITY, f64::min)
}

#[test]
fn closest_point_is_that_of_the_nearest_triangle() {
    let mut random = Random::new(5);
    for surface in several() {
        let mesh = surface.mesh();
        for i in 0..800 {
            let query = match i % 4 {
                0 => mesh.vertices()[random.next_u32() as usize % mesh.vertices().len()],
                1 => surface.bounds().center() + random.direction(),
                _ => somewhere(&surface, &mut random),
            };
            let truth = (0..mesh.triangles().len())
                .map(|t| distance_to_triangle(query, mesh.corners(t)))
                .fold(f64::INFINITY, f64::min);
            let found = surface.closest(query);
            assert!((found.distance - truth).abs() < 1e-12, "{} {query}: {} {truth}", mesh.name(), found.distance);
            assert!((found.point.distance(query) - found.distance).abs() < 1e-15);
            assert!(distance_to_triangle(found.point, mesh.corners(found.triangle as usize)) < 1e-12);
            assert!((found.normal.length() - 1.0).abs() < 1e-12);
        }
    }
}

/// Sphere |q| − r and torus ((√(x²+y²) − R)² + z²)^½ − r, up to the distance of the mesh from the true surface:
/// edge²/(8 × smallest radius), doubled for the middle of a triangle.
#[test]
fn signed_distance_of_round_shapes() {
    let mut random = Random::new(6);
    for edge in [0.004, 0.002, 0.001] {
        let sphere = Surface::new(shapes::sphere(0.02, edge).unwrap());
        let torus = Surface::new(shapes::torus(0.02, 0.007, edge).unwrap());
        for _ in 0..2000 {
            let q = somewhere(&sphere, &mut random);
            let error = sphere.signed_distance(q).unwrap() - (q.length() - 0.02);
            assert!(error.abs() < edge * edge / (4.0 * 0.02), "sphere {q}: {error}");
            let truth = (q.x.hypot(q.y) - 0.02).hypot(q.z) - 0.007;
            let error = torus.signed_distance(q).unwrap() - truth;
            assert!(error.abs() < edge * edge / (4.0 * 0.007), "torus {q}: {error}");
        }
    }
}

/// A box is meshed exactly: |max(d, 0)| + min(max(d), 0) with d = |q| − half, including points straight out of edges
/// and corners.
#[test]
fn signed_distance_of_a_box() {
    let mut random = Random::new(7);
    let size = Vec3::new(0.02, 0.03, 0.04);
    let surface = Surface::new(shapes::cuboid(size).unwrap());
    for i in 0..5000 {
        let mut q = somewhere(&surface, &mut random);
        if i % 3 == 0 {
            // In the planes, edges and corners of the box, and on the lines through its centre.
            for axis in 0..3 {
                match random.next_u32() % 4 {
                    0 => q[axis] = 0.5 * size[axis] * q[axis].signum(),
                    1 => q[axis] = 0.0,
                    _ => {}
                }
            }
        }
        let d = q.abs() - size * 0.5;
        let truth = d.max(Vec3::ZERO).length() + d.max_element().min(0.0);
        let found = surface.signed_distance(q).unwrap();
        assert!((found - truth).abs() < 1e-15, "{q}: {found} {truth}");
    }
}

#[test]
fn signed_distance_needs_a_closed_mesh() {
    assert!(Surface::new(shapes::grid(3, 3, 0.01).unwrap()).signed_distance(Vec3::ZERO).is_err());
}

#[test]
fn bounds_are_those_of_the_vertices() {
    for surface in several() {
        assert_eq!(*surface.bounds(), surface.mesh().bounds());
    }
}
