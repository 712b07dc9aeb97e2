//! Height fields compared with rays and closed forms.

use dermis_geometry::{HeightField, HeightGrid, Pose, Quat, Ray, Surface, TriMesh, Vec2, Vec3, shapes};

fn grid(cells: usize, size_m: f64) -> HeightGrid {
    HeightGrid { rows: cells, cols: cells + 7, cell_m: size_m / cells as f64, center: Vec2::new(1e-3, -2e-3) }
}

/// The reference is a ray from below through the centre of each cell. Few cells lie at a silhouette, where a ray may
/// just miss.
#[test]
fn heights_are_where_rays_from_below_meet_the_mesh() {
    let meshes = [
        shapes::sphere(0.01, 0.002).unwrap(),
        shapes::torus(0.01, 0.003, 0.002).unwrap(),
        shapes::cuboid(Vec3::new(0.008, 0.01, 0.02)).unwrap(),
        TriMesh::new(
            "flag",
            vec![Vec3::new(-9e-3, -8e-3, 1e-3), Vec3::new(7e-3, -6e-3, 3e-3), Vec3::new(1e-3, 9e-3, 0.0)],
            vec![[0, 1, 2]],
        )
        .unwrap(),
    ];
    for mesh in meshes {
        let surface = Surface::new(mesh);
        let pose = Pose::new(Quat::from_rotation_x(0.3) * Quat::from_rotation_y(-0.4), Vec3::new(2e-3, 1e-3, 0.013));
        let grid = grid(64, 0.03);
        let field = HeightField::of_surface(grid, &surface, &pose);
        let back = pose.inverse();
        let mut seen = 0;
        for row in 0..grid.rows {
            for col in 0..grid.cols {
                let at = grid.cell_center(row, col);
                let origin = back.transform_point(Vec3::new(at.x, at.y, -1.0));
                let ray = Ray { origin, direction: back.transform_vector(Vec3::Z), length: 3.0 };
                let truth = surface.cast(&ray, None).map_or(f64::INFINITY, |hit| hit.distance - 1.0);
                let height = field.heights_m[row * grid.cols + col];
                let same = height == truth || (height - truth).abs() < 1e-12;
                assert!(same, "{}: row {row}, col {col}: {height} for {truth}", surface.mesh().name());
                seen += usize::from(height.is_finite());
            }
        }
        assert!(seen > 300, "{seen}");
    }
}

/// Vertices and edges lie exactly above cell centres: every cell under the face has its height.
#[test]
fn no_gap_along_shared_edges() {
    let surface = Surface::new(shapes::cuboid(Vec3::splat(0.016)).unwrap());
    let grid = HeightGrid { rows: 17, cols: 17, cell_m: 1e-3, center: Vec2::ZERO };
    let field = HeightField::of_surface(grid, &surface, &Pose::from_translation(Vec3::Z * 0.01));
    assert!(field.heights_m.iter().all(|&height| (height - 0.002).abs() < 1e-15), "{:?}", field.heights_m);
}

#[test]
fn the_lower_of_two_stays() {
    let surface = Surface::new(shapes::cuboid(Vec3::splat(0.004)).unwrap());
    let grid = grid(16, 0.02);
    let mut field = HeightField::of_surface(grid, &surface, &Pose::from_translation(Vec3::Z * 0.01));
    let mut lower = |at: Vec3, max_m: f64| field.lower(&surface, &Pose::from_translation(at), max_m);
    assert!(!lower(Vec3::Z * 0.02, f64::INFINITY));
    assert!(!lower(Vec3::X, f64::INFINITY));
    assert!(!lower(Vec3::Z * 0.005, 0.002));
    assert!(lower(Vec3::Z * 0.005, 0.004));
    assert!(field.heights_m.iter().all(|&h| h == f64::INFINITY || (h - 0.003).abs() < 1e-15));
}
