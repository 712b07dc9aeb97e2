//! Degenerate and random positions: no panic, no NaN, no holes, no duplicates, no jumps.

use dermis_geometry::tets::{self, DepthTets};
use dermis_geometry::{Pose, Quat, Random, Surface, TetMesh, TriMesh, Vec3, shapes};
use dermis_skin::hydroelastic::{AngleLimit, Compliance, ContactSurface, Material, Side, TetField, contact};
use dermis_skin::{Hydroelastic, HydroelasticParameters, Motion, Object, Skin, Target, Warning};
use std::f64::consts::FRAC_PI_2;

const E: f64 = 1e5;

/// A block of n³ cubes of edge 1 mm, each in six tetrahedra: many faces in common planes.
fn block(n: usize) -> DepthTets {
    let index = |x: usize, y: usize, z: usize| ((x * (n + 1) + y) * (n + 1) + z) as u32;
    let at = |i: usize| (i as f64 - 0.5 * n as f64) * 1e-3;
    let grid = || (0..=n).flat_map(move |x| (0..=n).flat_map(move |y| (0..=n).map(move |z| (x, y, z))));
    let vertices = grid().map(|(x, y, z)| Vec3::new(at(x), at(y), at(z))).collect();
    let mut tets = Vec::new();
    for (x, y, z) in grid().filter(|&(x, y, z)| x < n && y < n && z < n) {
        let corner = |k: usize| index(x + (k >> 2), y + ((k >> 1) & 1), z + (k & 1));
        for [a, b] in [[4, 6], [6, 2], [2, 3], [3, 1], [1, 5], [5, 4]] {
            tets.push([corner(0), corner(a), corner(b), corner(7)]);
        }
    }
    DepthTets::from_mesh(TetMesh::new("block", vertices, tets).unwrap()).unwrap()
}

fn compliant(solid: DepthTets) -> Compliance {
    Compliance::tets(TetField::new(solid), Material::linear(E)).unwrap()
}

fn check(surface: &ContactSurface) {
    let wrench = surface.wrench_on_a();
    assert!(wrench.force.is_finite() && wrench.torque.is_finite() && surface.area_m2().is_finite());
    for face in surface.faces() {
        assert!((face.normal.length() - 1.0).abs() < 1e-9);
        assert!(surface.corners(face).iter().all(|c| c.is_finite()));
        assert!(surface.pressures_pa(face).iter().all(|p| p.is_finite() && *p >= 0.0));
    }
}

/// 10,000 poses of two meshes of tetrahedra. Every other one is a lattice position: translations by whole or half cells
/// and rotations by right angles, where faces touch, coincide and lie in each other's planes.
#[test]
fn random_and_degenerate_poses() {
    let mut random = Random::new(1);
    let (a, b) = (compliant(block(3)), compliant(block(2)));
    let medial = compliant(tets::cuboid(Vec3::splat(3e-3)).unwrap());
    let shell = Surface::new(shapes::cuboid(Vec3::splat(3e-3)).unwrap());
    let (mut touching, mut exact) = (0, 0);
    for i in 0..10_000 {
        let pose = if i % 2 == 0 {
            Pose::new(
                Quat::from_scaled_axis(random.direction() * random.between(0.0, 3.2)),
                random.direction() * random.between(0.0, 4.5e-3),
            )
        } else {
            exact += 1;
            let mut quarter = || f64::from(random.next_u32() % 4) * FRAC_PI_2;
            let turn =
                Quat::from_rotation_x(quarter()) * Quat::from_rotation_y(quarter()) * Quat::from_rotation_z(quarter());
            let mut cells = || (f64::from(random.next_u32() % 13) - 6.0) * 0.5e-3;
            Pose::new(turn, Vec3::new(cells(), cells(), cells()))
        };
        let limit = if i % 3 == 0 { AngleLimit::NONE } else { AngleLimit::default() };
        let other = match i % 5 {
            0 => Side::Rigid(&shell),
            1 => Side::Compliant(&medial),
            2 => Side::RigidHalfSpace,
            _ => Side::Compliant(&b),
        };
        let surface = contact(Side::Compliant(&a), other, &pose, limit).unwrap();
        check(&surface);
        touching += usize::from(!surface.faces().is_empty());
    }
    assert!(touching > 4000 && exact == 5000, "{touching}");
}

/// A rigid sheet through a block at any height, also exactly in planes full of faces, on edges and through corners: its
/// area equals that of the block's section, counted once. A hole or a duplicate would change it by whole triangles.
#[test]
fn sections_have_their_area() {
    let body = compliant(block(4));
    let sheet = Surface::new(shapes::grid(3, 3, 0.01).unwrap());
    let size = 4e-3;
    for k in -15..=15 {
        // Every fourth height is a lattice plane; the highest and lowest are inside.
        let z = f64::from(k) * 0.125e-3;
        for (other, pose) in [
            (Side::Rigid(&sheet), Pose::from_translation(Vec3::Z * z)),
            (Side::RigidHalfSpace, Pose::from_translation(Vec3::Z * z)),
            (Side::Rigid(&sheet), Pose::from_translation(Vec3::new(0.25e-3, 1e-3, z))),
            (Side::Rigid(&sheet), Pose::new(Quat::from_rotation_z(0.3), Vec3::Z * z)),
            (Side::Rigid(&sheet), Pose::new(Quat::from_rotation_y(FRAC_PI_2), Vec3::X * z)),
            (Side::Rigid(&sheet), Pose::new(Quat::from_rotation_y(std::f64::consts::PI), Vec3::Z * z)),
        ] {
            let surface = contact(Side::Compliant(&body), other, &pose, AngleLimit::NONE).unwrap();
            assert!(
                (surface.area_m2() / (size * size) - 1.0).abs() < 1e-9,
                "{z}: {}",
                surface.area_m2() / (size * size)
            );
        }
    }
    // Along a diagonal plane of the block, where faces of every cube lie.
    let diagonal = Pose::from_rotation(Quat::from_rotation_arc(Vec3::Z, Vec3::new(1.0, -1.0, 0.0).normalize()));
    let surface = contact(Side::Compliant(&body), Side::Rigid(&sheet), &diagonal, AngleLimit::NONE).unwrap();
    assert!((surface.area_m2() / (size * size * 2f64.sqrt()) - 1.0).abs() < 1e-9, "{}", surface.area_m2());
}

/// Two equal blocks, one on the other with overlap 2d: p₀ = p₁ halfway, everywhere on the plane of symmetry, which for
/// whole cells is a plane of faces of both meshes. Near the edge both pressures are the distance to the side and equal
/// on volumes, where no surface is defined, so the test checks only the force of the central part, and that it is the
/// same just beside the degenerate position.
#[test]
fn equal_blocks_meet_on_the_symmetry_plane() {
    let body = compliant(tets::cuboid(Vec3::new(8e-3, 8e-3, 4e-3)).unwrap());
    let force = |overlap: f64| {
        let pose = Pose::from_translation(Vec3::new(0.0, 0.0, 4e-3 - overlap));
        let surface = contact(Side::Compliant(&body), Side::Compliant(&body), &pose, AngleLimit::NONE).unwrap();
        check(&surface);
        surface.wrench_on_a().force
    };
    for overlap in [0.5e-3, 1e-3, 2e-3, 3e-3] {
        let (here, beside) = (force(overlap), force(overlap * (1.0 + 1e-9)));
        let p = E * 0.5 * overlap / 2e-3;
        // The flat part, where the depth is less than the distance to the sides.
        let flat = p * (8e-3 - overlap) * (8e-3 - overlap);
        assert!(-here.z > flat * (1.0 - 1e-9), "{overlap}: {} {flat}", -here.z);
        assert!((here - beside).length() < 1e-6 * here.length(), "{overlap}: {here} {beside}");
    }
}

/// Along random paths, with every face counted, the force is continuous: halving the step halves the maximum change.
#[test]
fn force_is_continuous() {
    let mut random = Random::new(9);
    let (a, b) = (compliant(block(4)), compliant(tets::sphere(3e-3, 1.5e-3).unwrap()));
    let shell = Surface::new(shapes::sphere(3e-3, 1.5e-3).unwrap());
    let mut ratio = 0.0f64;
    for path in 0..8 {
        let from = random.direction() * random.between(2e-3, 5e-3);
        let to = random.direction() * random.between(2e-3, 5e-3);
        let turn = random.direction() * random.between(0.0, 2.0);
        let other = if path % 2 == 0 { Side::Compliant(&b) } else { Side::Rigid(&shell) };
        let force = |s: f64| {
            let pose = Pose::new(Quat::from_scaled_axis(turn * s), from.lerp(to, s));
            contact(Side::Compliant(&a), other, &pose, AngleLimit::NONE).unwrap().wrench_on_a().force
        };
        let largest = |n: usize| {
            let forces: Vec<Vec3> = (0..=n).map(|i| force(i as f64 / n as f64)).collect();
            forces.windows(2).map(|pair| (pair[1] - pair[0]).length()).fold(0.0, f64::max)
        };
        let (coarse, fine) = (largest(50), largest(200));
        if coarse > 1e-9 {
            ratio = ratio.max(fine / coarse);
        }
    }
    // A quarter for a smooth path; one for a jump.
    assert!(ratio < 0.45, "{ratio}");
}

/// With the angle limit, each jump is that of a face crossing the limit: while a rigid box rotates in a half-space, the
/// force jumps when a side reaches 5π/8 and nowhere else.
#[test]
fn the_angle_test_jumps_where_it_says() {
    let body = Compliance::half_space(5e-3, Material::linear(E)).unwrap();
    let shell = Surface::new(shapes::cuboid(Vec3::splat(0.01)).unwrap());
    let force = |angle: f64| {
        let pose = Pose::new(Quat::from_rotation_x(angle), Vec3::Z * 2e-3);
        contact(Side::Compliant(&body), Side::Rigid(&shell), &pose, AngleLimit::default()).unwrap().wrench_on_a().force
    };
    // A side facing up by β has an angle of π/2 + β from the direction of increasing pressure: the limit is β = π/8.
    let limit = std::f64::consts::FRAC_PI_8;
    let steps = 2000;
    for i in 0..steps {
        let (from, to) = (0.7 * f64::from(i) / f64::from(steps), 0.7 * f64::from(i + 1) / f64::from(steps));
        let jump = (force(to) - force(from)).length();
        assert_eq!(jump > 0.02, from <= limit && limit < to, "{from}: {jump}");
    }
}

/// A mesh with one needle-shaped triangle, and one far larger than the field.
#[test]
fn needles_and_giants() {
    let body = compliant(block(4));
    let vertices = vec![
        Vec3::new(-1.0, -1.0, 0.0),
        Vec3::new(1.0, -1.0, 1e-4),
        Vec3::new(0.0, 2.0, 0.0),
        Vec3::new(1.0, -1.0, 1.0001e-4),
    ];
    let mesh = TriMesh::new("giants", vertices, vec![[0, 1, 2], [0, 3, 1]]).unwrap();
    let surface =
        contact(Side::Compliant(&body), Side::Rigid(&Surface::new(mesh)), &Pose::IDENTITY, AngleLimit::NONE).unwrap();
    check(&surface);
    assert!((surface.area_m2() / 16e-6 - 1.0).abs() < 1e-3, "{}", surface.area_m2());
}

/// A sheet whose faces point away from the skin has no force, which is said; with its faces reversed it has one.
#[test]
fn an_open_mesh_with_faces_that_point_away_is_said() {
    let half = 2e-3;
    let vertices = vec![
        Vec3::new(-half, -half, 0.0),
        Vec3::new(half, -half, 0.0),
        Vec3::new(half, half, 0.0),
        Vec3::new(-half, half, 0.0),
    ];
    let skin =
        Hydroelastic::new(compliant(tets::cuboid(Vec3::splat(8e-3)).unwrap()), HydroelasticParameters::default());
    let skin = skin.unwrap();
    for (triangles, points_away) in [(vec![[0, 1, 2], [0, 2, 3]], true), (vec![[0, 2, 1], [0, 3, 2]], false)] {
        let sheet = Object::new(TriMesh::new("sheet", vertices.clone(), triangles).unwrap());
        let at = |z: f64| Target::at_rest(&sheet, Pose::from_translation(Vec3::new(0.0, 0.0, z)));
        let (pressed, _) = skin.settle(&skin.rest(), &Motion { targets: &[at(3.5e-3)] }).unwrap();
        assert_eq!(pressed.on_sensor.force.z == 0.0, points_away);
        let said = matches!(pressed.warnings[..], [Warning::FacesAway { object: 0 }]);
        assert_eq!(said, points_away, "{:?}", pressed.warnings);
        let (free, _) = skin.settle(&skin.rest(), &Motion { targets: &[at(4.5e-3)] }).unwrap();
        assert!(free.warnings.is_empty() && free.on_sensor.force == Vec3::ZERO);
    }
}
