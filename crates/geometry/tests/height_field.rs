//! Height fields compared with rays and closed forms.

use dermis_geometry::{
    HeightField, HeightGrid, Pose, Primitive, Quat, Random, Ray, Surface, TriMesh, Vec2, Vec3, shapes,
};

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

/// A primitive is evaluated in closed form: no facet shows at any edge of its mesh, and at the rim the height of a fine
/// mesh is reached.
#[test]
fn primitives_have_exact_heights() {
    let shapes = [
        Primitive::Sphere { radius_m: 0.01 },
        Primitive::Ellipsoid { semi_axes_m: Vec3::new(0.01, 0.006, 0.004) },
        Primitive::Cuboid { half_m: Vec3::new(0.004, 0.006, 0.008) },
        Primitive::Cylinder { radius_m: 0.006, half_length_m: 0.008 },
        Primitive::Capsule { radius_m: 0.004, half_length_m: 0.006 },
    ];
    for shape in shapes {
        let pose = Pose::new(Quat::from_rotation_x(0.3) * Quat::from_rotation_y(-0.4), Vec3::new(2e-3, 1e-3, 0.013));
        let (grid, back) = (grid(64, 0.03), pose.inverse());
        let field = HeightField::of_surface(grid, &Surface::of_primitive(shape, 4e-3).unwrap(), &pose);
        let fine = HeightField::of_surface(grid, &Surface::new(shape.mesh(2e-4).unwrap()), &pose);
        let mut seen = 0;
        for (i, &height) in field.heights_m.iter().enumerate() {
            let at = grid.cell_center(i / grid.cols, i % grid.cols);
            let ray = Ray {
                origin: back.transform_point(Vec3::new(at.x, at.y, -1.0)),
                direction: back.transform_vector(Vec3::Z),
                length: 3.0,
            };
            let truth = shape.cast(&ray).map_or(f64::INFINITY, |hit| hit.0 - 1.0);
            assert!(height == truth || (height - truth).abs() < 1e-12, "{shape:?}: {height} for {truth}");
            // Above the middle, slopes are steep.
            if height.is_finite() && fine.heights_m[i].is_finite() && height < 0.011 {
                assert!((height - fine.heights_m[i]).abs() < 2e-5, "{shape:?}: {height} and {}", fine.heights_m[i]);
                seen += 1;
            }
        }
        assert!(seen > 200, "{shape:?}: {seen}");
    }
}

/// The volume that a punch displaces is its area times its depth wherever it stands and however it is rotated, as a
/// primitive and as a mesh: no staircase of whole cells. With one sample at the centre of a cell it would vary by 15 %.
#[test]
fn the_rim_of_a_punch_lies_between_cells() {
    let (side, depth) = (1e-3, 0.15e-3);
    let half_m = Vec3::new(0.5 * side, 0.5 * side, 2e-3);
    let exact = Surface::of_primitive(Primitive::Cuboid { half_m }, 1.0).unwrap();
    let mesh = Surface::new(shapes::cuboid(half_m * 2.0).unwrap());
    let round = Surface::of_primitive(Primitive::Cylinder { radius_m: 0.5 * side, half_length_m: 2e-3 }, 1e-4).unwrap();
    let grid = HeightGrid { rows: 30, cols: 30, cell_m: 0.2e-3, center: Vec2::ZERO };
    let mut random = Random::new(9);
    for _ in 0..200 {
        let at = Vec3::new(random.between(-1e-3, 1e-3), random.between(-1e-3, 1e-3), 2e-3 - depth);
        let pose = Pose::new(Quat::from_rotation_z(random.between(0.0, 1.6)), at);
        let volume = |surface: &Surface| {
            let field = HeightField::of_surface(grid, surface, &pose);
            let depths = field.heights_m.iter().zip(&field.covered).map(|(height, covered)| -covered * height.min(0.0));
            depths.sum::<f64>() * grid.cell_m * grid.cell_m
        };
        let flat = side * side * depth;
        for (truth, surface) in [(flat, &exact), (flat, &mesh), (std::f64::consts::FRAC_PI_4 * flat, &round)] {
            let error = volume(surface) / truth - 1.0;
            assert!(error.abs() < 0.025, "{error} at {pose:?}");
        }
    }
}

/// The flank of a ball is smooth, however steep: its cells have the height over their centres. Those of the edge of a wedge
/// have the mean over their area.
#[test]
fn edges_are_averaged_and_smooth_flanks_are_not() {
    let grid = HeightGrid { rows: 80, cols: 80, cell_m: 0.1e-3, center: Vec2::ZERO };
    let (radius_m, depth) = (4e-3, 1.9e-3);
    let ball = Surface::of_primitive(Primitive::Sphere { radius_m }, 1e-4).unwrap();
    let middle = Vec3::new(3e-5, -1e-5, radius_m - depth);
    let field = HeightField::of_surface(grid, &ball, &Pose::from_translation(middle));
    let mut steepest = 0.0_f64;
    for (i, &height) in field.heights_m.iter().enumerate() {
        let from_axis = (grid.cell_center(i / grid.cols, i % grid.cols) - middle.truncate()).length();
        if height < 0.0 {
            let truth = middle.z - (radius_m * radius_m - from_axis * from_axis).sqrt();
            assert!((height - truth).abs() < 1e-15, "{from_axis}: {height} for {truth}");
            assert_eq!(field.covered[i], 1.0);
            steepest = steepest.max(from_axis / (middle.z - height));
        }
    }
    assert!(steepest > 1.5, "{steepest}");

    // The edge of a wedge lies along y; its flanks rise by 60°.
    let (slope, edge_m, tip_m) = (3.0_f64.sqrt(), 2e-5, -1e-3);
    let corner = |x: f64, y: f64| Vec3::new(edge_m + x, y, tip_m + slope * x.abs());
    let corners = [-2e-3, 0.0, 2e-3].into_iter().flat_map(|x| [-4e-3, 4e-3].map(|y| corner(x, y))).collect();
    let wedge = TriMesh::new("wedge", corners, vec![[0, 1, 2], [2, 1, 3], [2, 3, 4], [4, 3, 5]]).unwrap();
    let field = HeightField::of_surface(grid, &Surface::new(wedge), &Pose::IDENTITY);
    for row in 1..grid.rows - 1 {
        for col in 1..grid.cols - 1 {
            let (x, half) = (grid.cell_center(row, col).x - edge_m, 0.5 * grid.cell_m);
            let height = field.heights_m[row * grid.cols + col];
            let mean_distance = if x.abs() >= half { x.abs() } else { (x * x + half * half) / (2.0 * half) };
            let truth = tip_m + slope * mean_distance;
            if truth < -2.0 * slope * grid.cell_m {
                assert!((height - truth).abs() < 1e-3 * grid.cell_m, "{x}: {height} for {truth}");
            }
        }
    }
}
