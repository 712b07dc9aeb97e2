//! Mass, centre and inertia of solids with a closed form.

use dermis_geometry::{Mat3, Pose, Quat, TriMesh, Vec3, shapes};

const MASS: f64 = 0.3;

fn inertia(mesh: &TriMesh) -> Mat3 {
    let properties = mesh.mass_properties(MASS).unwrap();
    assert_eq!(properties.mass_kg, MASS);
    properties.inertia_kg_m2
}

fn relative(found: Mat3, truth: Mat3) -> f64 {
    let size = truth.to_cols_array().iter().fold(0.0, |m: f64, x| m.max(x.abs()));
    (found - truth).to_cols_array().iter().fold(0.0, |m: f64, x| m.max(x.abs())) / size
}

/// m/12 (b² + c²), exact at any position and orientation of the box: I' = R I Rᵀ.
#[test]
fn box_is_exact_in_any_pose() {
    let size = Vec3::new(0.02, 0.05, 0.11);
    let square = size * size;
    let truth =
        Mat3::from_diagonal(Vec3::new(square.y + square.z, square.z + square.x, square.x + square.y) * (MASS / 12.0));
    let cuboid = shapes::cuboid(size).unwrap();
    assert!(relative(inertia(&cuboid), truth) < 1e-13);
    let turn = Quat::from_axis_angle(Vec3::new(1.0, 2.0, -0.5).normalize(), 0.8);
    let away = Vec3::new(3.0, -2.0, 5.0);
    let moved = cuboid.transformed(&Pose::new(turn, away));
    let turned = Mat3::from_quat(turn) * truth * Mat3::from_quat(turn).transpose();
    assert!(relative(inertia(&moved), turned) < 1e-9);
    assert!(moved.mass_properties(MASS).unwrap().center_m.distance(away) < 1e-12);
}

/// Sphere 2/5 mr²; ellipsoid m/5 (b² + c²); cylinder mr²/2 and m(3r² + l²)/12; cone about its centre of mass
/// 3/10 mr² and 3/80 m(4r² + h²); torus m(R² + 3/4 r²) and m(R²/2 + 5/8 r²). All to second order in the edge.
#[test]
fn inertia_converges_with_the_square_of_the_edge() {
    let (r, l) = (0.02, 0.05);
    let (major, minor) = (0.03, 0.01);
    let about_z = |across: f64, along: f64| Mat3::from_diagonal(Vec3::new(across, across, along) * MASS);
    let axes = Vec3::new(0.03, 0.02, 0.01);
    let sq = axes * axes;
    type Maker<'a> = Box<dyn Fn(f64) -> TriMesh + 'a>;
    let cases: [(Maker, Mat3); 5] = [
        (Box::new(|e| shapes::sphere(r, e).unwrap()), about_z(0.4 * r * r, 0.4 * r * r)),
        (
            Box::new(|e| shapes::ellipsoid(axes, e).unwrap()),
            Mat3::from_diagonal(Vec3::new(sq.y + sq.z, sq.z + sq.x, sq.x + sq.y) * (MASS / 5.0)),
        ),
        (Box::new(|e| shapes::cylinder(r, l, e).unwrap()), about_z((3.0 * r * r + l * l) / 12.0, 0.5 * r * r)),
        (Box::new(|e| shapes::cone(r, l, e).unwrap()), about_z(0.0375 * (4.0 * r * r + l * l), 0.3 * r * r)),
        (
            Box::new(|e| shapes::torus(major, minor, e).unwrap()),
            about_z(0.5 * major * major + 0.625 * minor * minor, major * major + 0.75 * minor * minor),
        ),
    ];
    for (make, truth) in cases {
        let (coarse, fine) = (make(0.004), make(0.0005));
        let (far, near) = (relative(inertia(&coarse), truth), relative(inertia(&fine), truth));
        let order = (far / near).log2() / 3.0;
        assert!((1.8..2.2).contains(&order), "{}: order {order}, {far:e} {near:e}", fine.name());
        assert!(near < 1e-3, "{}: {near:e}", fine.name());
    }
}

/// The centre of mass lies at a quarter of the height above the base.
#[test]
fn center_of_a_cone() {
    let center = shapes::cone(0.02, 0.05, 0.001).unwrap().mass_properties(1.0).unwrap().center_m;
    assert!(center.distance(Vec3::new(0.0, 0.0, 0.0125)) < 1e-5, "{center}");
}

/// A capsule is its cylinder and two half spheres: m_c (3r² + l²)/12 + m_s (2/5 r² + l²/4 + 3/8 l r) across.
#[test]
fn capsule_is_the_sum_of_its_parts() {
    let (r, l) = (0.02f64, 0.05f64);
    let (ball, rod) = (4.0 / 3.0 * r.powi(3), r * r * l);
    let (ball, rod) = (MASS * ball / (ball + rod), MASS * rod / (ball + rod));
    let across = rod * (3.0 * r * r + l * l) / 12.0 + ball * (0.4 * r * r + 0.25 * l * l + 0.375 * l * r);
    let along = rod * 0.5 * r * r + ball * 0.4 * r * r;
    let truth = Mat3::from_diagonal(Vec3::new(across, across, along));
    let found = inertia(&shapes::capsule(r, l, 0.0005).unwrap());
    assert!(relative(found, truth) < 2e-4, "{}", relative(found, truth));
}

#[test]
fn open_mesh_has_no_mass() {
    assert!(shapes::grid(3, 3, 0.01).unwrap().mass_properties(1.0).is_err());
}
