//! How long contact surfaces take, one thread, the pose changed at every call.
//!
//! `cargo run --release -p dermis-skin --example hydroelastic_speed`

use dermis_geometry::tets::{self, DepthTets};
use dermis_geometry::{Pose, Quat, Surface, TetMesh, Vec3, shapes};
use dermis_skin::hydroelastic::{AngleLimit, Compliance, Material, Side, Solid, TetField, contact};
use std::time::Instant;

/// Best of five averages over `calls`, in seconds, and the polygons of the last call.
fn time(name: &str, calls: usize, a: Side<'_>, b: Side<'_>, a_from_b: Pose) -> usize {
    let moved = |i: usize| {
        let shift = (i % 97) as f64 * 1e-6;
        Pose::new(a_from_b.rotation * Quat::from_rotation_x(shift), a_from_b.translation + Vec3::X * shift)
    };
    let mut polygons = 0;
    let mut best = f64::INFINITY;
    for _ in 0..5 {
        let start = Instant::now();
        for i in 0..calls {
            polygons = contact(a, b, &moved(i), AngleLimit::default()).map_or(0, |surface| surface.faces().len());
        }
        best = best.min(start.elapsed().as_secs_f64() / calls as f64);
    }
    println!("{name:36} {:9.1} us {polygons:6} polygons", best * 1e6);
    polygons
}

/// A cube of 40 mm in n³ cells of six tetrahedra.
fn block(n: usize) -> DepthTets {
    let index = |x: usize, y: usize, z: usize| ((x * (n + 1) + y) * (n + 1) + z) as u32;
    let at = |i: usize| (i as f64 / n as f64 - 0.5) * 0.04;
    let grid = || (0..=n).flat_map(move |x| (0..=n).flat_map(move |y| (0..=n).map(move |z| (x, y, z))));
    let vertices = grid().map(|(x, y, z)| Vec3::new(at(x), at(y), at(z))).collect();
    let mut tets = Vec::new();
    for (x, y, z) in grid().filter(|&(x, y, z)| x < n && y < n && z < n) {
        let corner = |k: usize| index(x + (k >> 2), y + ((k >> 1) & 1), z + (k & 1));
        let ring = [[4, 6], [6, 2], [2, 3], [3, 1], [1, 5], [5, 4]];
        tets.extend(ring.map(|[a, b]| [corner(0), corner(a), corner(b), corner(7)]));
    }
    DepthTets::from_mesh(TetMesh::new("block", vertices, tets).expect("a mesh")).expect("with an inside")
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let soft = |solid: DepthTets| Compliance::tets(TetField::new(solid), Material::linear(1e5));
    let pad = soft(tets::cuboid(Vec3::new(0.04, 0.04, 0.01))?)?;
    let ball = Surface::new(shapes::sphere(0.01, 1.4e-3)?);
    let soft_ball = soft(tets::sphere(0.01, 2.5e-3)?)?;
    let fine = soft(block(32))?;
    let cube = Surface::new(shapes::cuboid(Vec3::splat(0.1))?);
    let smooth = Compliance::solid(Solid::Sphere { radius_m: 0.01 }, Material::linear(1e5))?;
    let smooth_pad = Compliance::solid(Solid::Cuboid { size_m: Vec3::new(0.04, 0.04, 0.01) }, Material::linear(1e5))?;

    let (rigid, pad) = (Side::Rigid(&ball), Side::Compliant(&pad));
    let tilted = |z: f64| Pose::new(Quat::from_rotation_x(0.1), Vec3::Z * z);
    println!("{} triangles in the ball", ball.mesh().triangles().len());
    let found = [
        time("rigid ball on a coarse pad", 500, rigid, pad, tilted(-0.014)),
        time("soft ball on a coarse pad", 500, Side::Compliant(&soft_ball), pad, tilted(-0.014)),
        time("12 huge triangles, 196,608 tets", 20, Side::Rigid(&cube), Side::Compliant(&fine), tilted(-0.065)),
        time("soft ball, 196,608 tets", 20, Side::Compliant(&soft_ball), Side::Compliant(&fine), tilted(-0.028)),
        time("smooth ball on a plane", 50, Side::Compliant(&smooth), Side::RigidHalfSpace, tilted(-0.009)),
        time("smooth ball on a smooth pad", 20, Side::Compliant(&smooth), Side::Compliant(&smooth_pad), tilted(-0.014)),
    ];
    assert!(found.iter().all(|&polygons| polygons > 0), "they all touch");
    assert_eq!(time("apart", 1000, rigid, pad, tilted(-0.0155)), 0);
    Ok(())
}
