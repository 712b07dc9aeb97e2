use dermis::prelude::*;
use dermis_geometry as g;
fn main() {
    let f: f64 = std::env::args().nth(1).map(|a| a.parse().unwrap()).unwrap_or(1e-3);
    let mut w = World::new(WorldParameters {
        gravity: Vec3::new(0., 0., -9.8),
        step_s: 1e-4,
        ground_z_m: Some(0.0),
        ..Default::default()
    })
    .unwrap();
    let m = g::shapes::cylinder(0.018, 0.08, f).unwrap();
    let mp = m.mass_properties(0.1).unwrap();
    let b = w
        .add_body(
            dermis::world::Body::free("c", Pose::from_translation(Vec3::Z * 0.04), mp)
                .touchable(std::sync::Arc::new(Object::new(m)))
                .solid(),
        )
        .unwrap();
    let t = std::time::Instant::now();
    for i in 0..20000 {
        w.step().unwrap();
        if i % 2000 == 0 || i < 5 {
            println!("{i} {:?} {:?}", w.pose(b), w.velocity(b));
        }
    }
    println!("{:?}/step", t.elapsed() / 20000);
}
