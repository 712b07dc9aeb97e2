//! Sampled points: density, spacing and reproducibility.

use dermis_geometry::sampling::{SurfacePoint, area_uniform, poisson_disk};
use dermis_geometry::{Surface, TriMesh, Vec3, shapes};

fn several() -> Vec<TriMesh> {
    vec![
        shapes::sphere(0.02, 0.002).unwrap(),
        shapes::cuboid(Vec3::new(0.01, 0.04, 0.02)).unwrap(),
        shapes::torus(0.02, 0.006, 0.004).unwrap(),
        shapes::fingertip_pad(&shapes::Fingertip::default(), 0.001).unwrap(),
        shapes::cone(0.01, 0.03, 0.02).unwrap(),
    ]
}

fn lies_on_its_triangle(mesh: &TriMesh, p: &SurfacePoint) -> bool {
    let [a, b, c] = mesh.corners(p.triangle as usize);
    let doubled = (b - a).cross(c - a).length();
    let parts: f64 = [(a, b), (b, c), (c, a)].iter().map(|&(q, r)| (q - p.point).cross(r - p.point).length()).sum();
    (parts / doubled - 1.0).abs() < 1e-9 && p.normal == mesh.face_normal(p.triangle as usize)
}

/// The count in each triangle is binomial, so Σ (n − Np)²/(Np) follows χ² with k − 1 degrees of freedom: mean
/// k − 1, variance 2(k − 1). Five standard deviations are allowed.
#[test]
fn counts_follow_the_areas() {
    for mesh in several() {
        let count = 200 * mesh.triangles().len();
        let mut met = vec![0.0; mesh.triangles().len()];
        for p in area_uniform(&mesh, count, 11) {
            assert!(lies_on_its_triangle(&mesh, &p));
            met[p.triangle as usize] += 1.0;
        }
        let total = mesh.area_m2();
        let expected = |t: usize| count as f64 * mesh.area_vector(t).length() / total;
        let chi: f64 =
            met.iter().enumerate().map(|(t, &n): (usize, &f64)| (n - expected(t)).powi(2) / expected(t)).sum();
        let freedom = met.len() as f64 - 1.0;
        assert!((chi - freedom).abs() < 5.0 * (2.0 * freedom).sqrt(), "{}: {chi} for {freedom}", mesh.name());
    }
}

/// Points are also uniform within a triangle: their mean is the centroid, each coordinate with variance edge²/18 here.
#[test]
fn points_are_uniform_within_a_triangle() {
    let mesh = TriMesh::new("one", vec![Vec3::ZERO, Vec3::X, Vec3::Y], vec![[0, 1, 2]]).unwrap();
    let count = 100_000;
    let points = area_uniform(&mesh, count, 3);
    let mean = points.iter().map(|p| p.point).sum::<Vec3>() / count as f64;
    let allowed = 5.0 / (18.0 * count as f64).sqrt();
    assert!((mean.x - 1.0 / 3.0).abs() < allowed && (mean.y - 1.0 / 3.0).abs() < allowed, "{mean}");
    // The half nearest to the corner at the origin, x + y < 1/√2, holds half of the points.
    let near = points.iter().filter(|p| p.point.x + p.point.y < 0.5f64.sqrt()).count() as f64;
    assert!((near / count as f64 - 0.5).abs() < 5.0 * 0.5 / (count as f64).sqrt());
}

#[test]
fn disks_keep_their_distance_and_leave_no_gap() {
    for mesh in several() {
        for spacing in [0.0011, 0.004] {
            let points = poisson_disk(&mesh, spacing, 5);
            assert!(points.iter().all(|p| lies_on_its_triangle(&mesh, p)));
            for (i, p) in points.iter().enumerate() {
                assert!(points[..i].iter().all(|q| q.point.distance(p.point) >= spacing), "{}", mesh.name());
            }
            for fresh in area_uniform(&mesh, 5_000, 77) {
                let nearest = points.iter().map(|p| p.point.distance(fresh.point)).fold(f64::INFINITY, f64::min);
                assert!(nearest < 1.06 * spacing, "{}: gap of {} spacings", mesh.name(), nearest / spacing);
            }
        }
    }
}

/// Random sequential packing covers about 0.547 of a plane with disks of half the spacing: 0.696 points per spacing²
/// (the jamming limit). Filled gaps may add a few.
#[test]
fn disks_are_as_many_as_random_packing_allows() {
    let plate = shapes::grid(2, 2, 0.1).unwrap();
    let spacing = 0.001;
    let per_cell = poisson_disk(&plate, spacing, 9).len() as f64 * spacing * spacing / plate.area_m2();
    assert!((0.68..0.74).contains(&per_cell), "{per_cell}");
}

#[test]
fn same_seed_same_points() {
    let mesh = shapes::torus(0.02, 0.006, 0.002).unwrap();
    assert_eq!(area_uniform(&mesh, 100, 1), area_uniform(&mesh, 100, 1));
    assert_ne!(area_uniform(&mesh, 100, 1), area_uniform(&mesh, 100, 2));
    assert_eq!(poisson_disk(&mesh, 0.001, 1), poisson_disk(&mesh, 0.001, 1));
    assert_ne!(poisson_disk(&mesh, 0.001, 1), poisson_disk(&mesh, 0.001, 2));
}

#[test]
fn odd_spacings_do_not_hang() {
    let mesh = shapes::sphere(0.01, 0.005).unwrap();
    assert_eq!(poisson_disk(&mesh, 1.0, 1).len(), 1);
    assert_eq!(poisson_disk(&mesh, f64::INFINITY, 1).len(), 1);
    for none in [0.0, -1.0, f64::NAN] {
        assert!(poisson_disk(&mesh, none, 1).is_empty());
    }
    let surface = Surface::new(mesh.clone());
    assert!(poisson_disk(&mesh, 0.002, 1).iter().all(|p| surface.closest(p.point).distance < 1e-15));
}
