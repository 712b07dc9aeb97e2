use dermis_geometry::{Pose, Quat, Surface, Vec3, shapes, tets};
use dermis_skin::hydroelastic::*;
use std::time::Instant;
fn time(name: &str, n: usize, mut f: impl FnMut(usize) -> ContactSurface) {
    let mut faces = 0;
    for i in 0..n / 10 + 1 { faces = f(i).faces().len(); }
    let mut best = f64::INFINITY;
    for _ in 0..5 {
        let t = Instant::now();
        for i in 0..n { std::hint::black_box(f(i)); }
        best = best.min(t.elapsed().as_secs_f64() / n as f64);
    }
    println!("{name:40} {:10.1} us, {faces} faces", best * 1e6);
}
fn main() {
    let m = Material::linear(1e5);
    let pad = Compliance::tets(TetField::new(tets::cuboid(Vec3::new(0.04, 0.04, 0.01)).unwrap()), m.clone()).unwrap();
    let ball = Surface::new(shapes::sphere(0.01, 1.3e-3).unwrap());
    println!("{} triangles", ball.mesh().triangles().len());
    let jig = |i: usize| (i % 97) as f64 * 1e-6;
    time("rigid ball on pad", 500, |i| contact(Side::Rigid(&ball), Side::Compliant(&pad), &Pose::new(Quat::from_rotation_x(jig(i)), Vec3::new(jig(i), 0.0, -0.014)), AngleLimit::default()).unwrap());
    let soft = Compliance::tets(TetField::new(tets::sphere(0.01, 2.5e-3).unwrap()), m.clone()).unwrap();
    time("soft ball (tets) on pad", 500, |i| contact(Side::Compliant(&soft), Side::Compliant(&pad), &Pose::new(Quat::from_rotation_x(jig(i)), Vec3::new(jig(i), 0.0, -0.014)), AngleLimit::default()).unwrap());
    let n = 32;
    // a block of 32^3*6 = 196,608 tets
    let at = |i: usize| (i as f64 - 16.0) * 1.25e-3;
    let idx = |x: usize, y: usize, z: usize| ((x * (n + 1) + y) * (n + 1) + z) as u32;
    let mut v = vec![]; let mut t = vec![];
    for x in 0..=n { for y in 0..=n { for z in 0..=n { v.push(Vec3::new(at(x), at(y), at(z))); } } }
    for x in 0..n { for y in 0..n { for z in 0..n {
        let c = |k: usize| idx(x + (k >> 2), y + ((k >> 1) & 1), z + (k & 1));
        for [a, b] in [[4, 6], [6, 2], [2, 3], [3, 1], [1, 5], [5, 4]] { t.push([c(0), c(a), c(b), c(7)]); }
    } } }
    let mesh = dermis_geometry::TetMesh::new("b", v, t).unwrap();
    let start = Instant::now();
    let block = Compliance::tets(TetField::new(tets::DepthTets::from_mesh(mesh).unwrap()), m.clone()).unwrap();
    println!("built in {:?}", start.elapsed());
    let cube = Surface::new(shapes::cuboid(Vec3::splat(0.1)).unwrap());
    time("few huge triangles on 196,608 tets", 20, |i| contact(Side::Rigid(&cube), Side::Compliant(&block), &Pose::new(Quat::from_rotation_x(0.1 + jig(i)), Vec3::new(jig(i), 0.0, -0.065)), AngleLimit::default()).unwrap());
    time("soft ball on 196,608 tets", 20, |i| contact(Side::Compliant(&soft), Side::Compliant(&block), &Pose::new(Quat::from_rotation_x(0.1 + jig(i)), Vec3::new(jig(i), 0.0, -0.028)), AngleLimit::default()).unwrap());
    let smooth = Compliance::solid(Solid::Sphere { radius_m: 0.01 }, m.clone()).unwrap();
    time("smooth ball on plane", 50, |i| contact(Side::Compliant(&smooth), Side::RigidHalfSpace, &Pose::from_translation(Vec3::Z * (-0.009 - jig(i))), AngleLimit::default()).unwrap());
    let spad = Compliance::solid(Solid::Cuboid { size_m: Vec3::new(0.04, 0.04, 0.01) }, m).unwrap();
    time("smooth ball on smooth pad", 20, |i| contact(Side::Compliant(&smooth), Side::Compliant(&spad), &Pose::from_translation(Vec3::Z * (-0.014 - jig(i))), AngleLimit::default()).unwrap());
    time("separated", 5000, |i| contact(Side::Rigid(&ball), Side::Compliant(&pad), &Pose::from_translation(Vec3::Z * (-0.0151 - jig(i))), AngleLimit::default()).unwrap());
}
