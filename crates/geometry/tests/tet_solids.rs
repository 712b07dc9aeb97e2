//! Solids divided into tetrahedra: volume, surface and depth.

use dermis_geometry::tets::{self, DepthTets, TetsError};
use dermis_geometry::{MeshError, Surface, TetMesh, Vec3, shapes};
use std::f64::consts::PI;

/// The tetrahedra must fill the solid (volume) and have a closed boundary of the same volume; exactly the vertices on
/// that boundary must have extent 0.
fn check_whole(solid: &DepthTets) -> f64 {
    let surface = solid.mesh.boundary().unwrap();
    surface.check_closed().unwrap();
    let volume = solid.mesh.volume_m3();
    assert!((surface.volume_m3() - volume).abs() < 1e-12 * volume, "{}", solid.mesh.name());
    for (&on, &e) in solid.mesh.on_boundary().iter().zip(&solid.extent) {
        assert_eq!(on, e == 0.0);
        assert!((0.0..=1.0).contains(&e));
    }
    volume
}

/// A box of any proportions, including those whose medial set is a segment or a point, has its exact volume, and the
/// interpolated e at any point of a tetrahedron is the distance to the nearest face over half the shortest edge.
#[test]
fn boxes_are_exact() {
    for size in [[4.0, 4.0, 1.0], [1.0, 3.0, 2.0], [1.0, 1.0, 1.0], [2.0, 1.0, 1.0], [1.0, 2.0, 2.0], [1.0, 1.0, 5.0]] {
        let size = Vec3::from(size) * 0.01;
        let solid = tets::cuboid(size).unwrap();
        let volume = check_whole(&solid);
        assert!((volume - size.x * size.y * size.z).abs() < 1e-14 * volume);
        for (t, tet) in solid.mesh.tets().iter().enumerate() {
            let weights = [0.1, 0.2, 0.3, 0.4];
            let mix: Vec3 = solid.mesh.corners(t).iter().zip(weights).map(|(&v, w)| v * w).sum();
            let e: f64 = tet.iter().zip(weights).map(|(&v, w)| solid.extent[v as usize] * w).sum();
            let truth = (size * 0.5 - mix.abs()).min_element() / (0.5 * size.min_element());
            assert!((e - truth).abs() < 1e-12, "{size}: {e} {truth}");
        }
    }
}

/// The volume of round solids converges with the square of the edge: an inscribed polygon of edge h around radius R
/// lacks (2/3)(π R/(n R))² ≈ h²/(6R²) of a disc, and at most twice that of a ball.
#[test]
fn round_solids_fill_their_volume() {
    let (r, l) = (0.01, 0.03);
    for edge in [2e-3, 1e-3, 0.5e-3] {
        let bound = edge * edge / (r * r);
        let ball = 4.0 / 3.0 * PI * r * r * r;
        let cases = [
            (tets::sphere(r, edge).unwrap(), ball, r),
            (tets::ellipsoid(Vec3::new(r, 2.0 * r, r), edge).unwrap(), 2.0 * ball, r),
            (tets::capsule(r, l, edge).unwrap(), ball + PI * r * r * l, r),
            (tets::cylinder(r, l, edge).unwrap(), PI * r * r * l, r),
            (tets::cylinder(r, 0.012, edge).unwrap(), PI * r * r * 0.012, 0.006),
            (tets::cylinder(r, 0.02, edge).unwrap(), PI * r * r * 0.02, 0.01),
        ];
        for (solid, truth, depth) in cases {
            let volume = check_whole(&solid);
            let error = 1.0 - volume / truth;
            assert!(error > 0.0 && error < bound, "{} at {edge}: {error:e}", solid.mesh.name());
            assert_eq!(solid.depth_m, depth);
        }
    }
}

/// A convex mesh has its own volume exactly; a non-convex mesh is refused, and the error names the triangle.
#[test]
fn convex_meshes_are_coned() {
    let surface = shapes::prism(7, 0.02, 0.03).unwrap();
    let solid = tets::convex(&surface).unwrap();
    assert!((check_whole(&solid) - surface.volume_m3()).abs() < 1e-14 * surface.volume_m3());
    let ring = shapes::torus(0.02, 0.005, 0.003).unwrap();
    assert!(matches!(tets::convex(&ring), Err(TetsError::NotConvex { .. })));
}

/// On a lattice the zero set of e is the surface: for a ball e = (R − r)/R up to the interpolation error h²/(8
/// R²)·O(1), and no tetrahedron is a sliver: each has the volume of the lattice's, cell³/12.
#[test]
fn the_lattice_follows_any_surface() {
    let r = 0.01;
    let ball = Surface::new(shapes::sphere(r, 0.5e-3).unwrap());
    let solid = tets::from_surface(&ball, 1e-3).unwrap();
    assert!((solid.depth_m - r).abs() < 0.06 * r, "{}", solid.depth_m);
    for (v, &e) in solid.mesh.vertices().iter().zip(&solid.extent) {
        let truth = (r - v.length()) / solid.depth_m;
        assert!((e - truth).abs() < 6e-3, "{e} {truth}");
    }
    for t in 0..solid.mesh.tets().len() {
        assert!((solid.mesh.tet_volume_m3(t) / (1e-9 / 12.0) - 1.0).abs() < 1e-9);
    }
    // Volume where e > 0, from the corners inside. It is of first order, so the test only shows that the lattice has no
    // holes.
    let shell = solid.mesh.volume_m3();
    let truth = 4.0 / 3.0 * PI * r * r * r;
    assert!(shell > truth && shell < truth * 1.4, "{}", shell / truth);
    let torus = Surface::new(shapes::torus(0.02, 0.006, 0.002).unwrap());
    assert!((tets::from_surface(&torus, 1e-3).unwrap().depth_m - 0.006).abs() < 1e-3);
}

/// Any mesh: depth divided by the greatest depth. In a box divided into small cells the deepest vertex is the centre.
#[test]
fn extents_of_a_given_mesh() {
    let cut = tets::cuboid(Vec3::new(0.04, 0.04, 0.02)).unwrap();
    let again = DepthTets::from_mesh(cut.mesh.clone()).unwrap();
    assert!((again.depth_m - 0.01).abs() < 1e-15);
    assert!(again.extent.iter().zip(&cut.extent).all(|(a, b)| (a - b).abs() < 1e-12));
    let one = TetMesh::new("one", vec![Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z], vec![[0, 1, 2, 3]]).unwrap();
    assert!(matches!(DepthTets::from_mesh(one), Err(TetsError::NoInside { .. })));
}

#[test]
fn refusals_name_the_element() {
    let vertices = vec![Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z];
    let out = TetMesh::new("m", vertices.clone(), vec![[0, 1, 2, 9]]).unwrap_err();
    assert!(out.to_string().contains("tetrahedron 0 refers to vertex 9"), "{out}");
    let flat = TetMesh::new("m", vec![Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::ONE - Vec3::Z], vec![[0, 1, 2, 3]]);
    assert!(matches!(flat, Err(MeshError::NoVolume { tet: 0, .. })));
    assert!(matches!(TetMesh::new("m", vertices.clone(), vec![]), Err(MeshError::Empty { vertices: 4, .. })));
    let turned = TetMesh::new("m", vertices, vec![[1, 0, 2, 3]]).unwrap();
    assert!(turned.volume_m3() > 0.0, "a tetrahedron that is turned over is turned back");
    assert!(tets::sphere(-1.0, 0.1).is_err() && tets::cylinder(0.01, 0.0, 1e-3).is_err());
}
