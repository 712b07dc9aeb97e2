//! Files on which an earlier version panicked, returned NaN or read without end, and meshes at the ends of the range of
//! coordinates.

use dermis_geometry::files::{FileError, Import, LengthUnit, Problem, read};
use dermis_geometry::{MeshError, Random, Ray, Surface, TopologyError, TriMesh, Vec3};
use std::path::Path;

fn load(name: &str) -> Result<TriMesh, FileError> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus").join(name);
    read(&path, &Import { unit: Some(LengthUnit::Millimetre), ..Import::default() })
}

/// Areas are finite, and the hierarchy finds what testing every triangle finds.
#[track_caller]
fn check(mesh: TriMesh) {
    let name = mesh.name().to_owned();
    assert!(mesh.area_m2().is_finite() && mesh.volume_m3().is_finite(), "{name}");
    if let Ok(mass) = mesh.mass_properties(1.0) {
        assert!(mass.center_m.is_finite() && mass.inertia_kg_m2.is_finite(), "{name}: {mass:?}");
    }
    let surface = Surface::new(mesh);
    let (bounds, mut random) = (*surface.bounds(), Random::new(1));
    let size = bounds.size().length();
    for _ in 0..200 {
        let mut inside =
            || bounds.min + bounds.size() * Vec3::new(random.uniform(), random.uniform(), random.uniform());
        let (target, away) = (inside(), inside() - inside());
        let direction = away.normalize_or(Vec3::Z);
        let ray = Ray { origin: target - direction * size, direction, length: 3.0 * size };
        assert_eq!(surface.cast(&ray, None), surface.cast_brute_force(&ray), "{name}: {ray:?}");
        let closest = surface.closest(target);
        assert!(closest.distance.is_finite() && closest.normal.is_finite(), "{name}: {closest:?}");
    }
}

#[test]
fn coordinates_beyond_the_range_are_refused() {
    for (name, place) in [
        ("obj-1e100.obj", "line 2"),
        ("obj-1e155.obj", "line 2"),
        ("obj-cube-1e80.obj", "line 2"),
        ("mesh-11-6572.ply", "line 18"),
    ] {
        let error = load(name).unwrap_err();
        assert!(matches!(error.problem, Problem::Mesh(MeshError::OutOfRange { .. })), "{error}");
        let text = error.to_string();
        assert!(text.contains(name) && text.contains(place) && text.contains("1e6 m"), "{text}");
    }
    // A translation of 9e16 m.
    let error = load("mesh-12-714486.glb").unwrap_err().to_string();
    assert!(error.contains("mesh 0, primitive 0") && error.contains("1e6 m"), "{error}");
}

#[test]
fn damaged_buffers_are_read_or_refused() {
    match load("mesh-11-80182.gltf") {
        Ok(mesh) => check(mesh),
        Err(error) => assert!(error.to_string().contains("mesh 0, primitive"), "{error}"),
    }
    let error = load("gltf-reads-dev-zero.gltf").unwrap_err().to_string();
    assert!(error.contains("buffer 0"), "{error}");
}

#[test]
fn a_flat_closed_mesh_is_no_solid() {
    let mesh = load("obj-flat-closed.obj").unwrap();
    let name = mesh.name().to_owned();
    assert_eq!(mesh.check_closed(), Err(TopologyError::Flat { mesh: name }));
    assert!(mesh.mass_properties(0.01).is_err());
    let surface = Surface::new(mesh);
    assert!(!surface.is_closed());
    // A pose that is not finite gives a point at infinity, without a panic.
    assert_eq!(surface.closest(Vec3::splat(f64::NAN)).distance, f64::INFINITY);
    // A thin plate is a solid.
    assert_eq!(dermis_geometry::shapes::cuboid(Vec3::new(0.1, 0.1, 1e-7)).unwrap().check_closed(), Ok(()));
}

/// Boxes from the smallest to the largest coordinates, slender ones among them.
#[test]
fn the_whole_range_of_coordinates_works() {
    let mut random = Random::new(5);
    for exponent in -9..=6 {
        let scale = 10f64.powi(exponent);
        for _ in 0..20 {
            let mut vertices: Vec<Vec3> =
                (0..12).map(|_| random.direction() * (0.99 * scale * random.uniform().powi(3))).collect();
            vertices.push(Vec3::X * (0.999 * scale));
            vertices.push(Vec3::NEG_X * (0.999 * scale));
            let mut corner = || (random.uniform() * 14.0) as u32;
            let triangles = (0..20).map(|_| [corner(), corner(), corner()]).collect();
            if let Ok(mesh) = TriMesh::without_degenerates(format!("1e{exponent}"), vertices, triangles) {
                check(mesh);
            }
        }
    }
    let triangle =
        |scale: f64| TriMesh::new("t", vec![Vec3::ZERO, Vec3::X * scale, Vec3::Y * scale], vec![[0, 1, 2]]).map(|_| ());
    assert!(matches!(triangle(1.1e6), Err(MeshError::OutOfRange { vertex: 1, .. })));
    assert!(matches!(triangle(0.9e-9), Err(MeshError::TooSmall { .. })));
    assert_eq!((triangle(1e6), triangle(1e-9)), (Ok(()), Ok(())));
}
