use dermis_geometry::{Pose, Twist, Vec3, shapes};
use dermis_skin::gel::*;
use dermis_skin::*;
use std::time::Instant;
fn main() {
    let a: Vec<f64> = std::env::args().skip(1).map(|x| x.parse().unwrap()).collect();
    let (cell, speed, scale, damping) = (a[0] * 1e-3, a[1] * 1e-3, a[2], a[3]);
    let p = GelParameters { cell_m: cell, mass_scaling: scale, damping_per_s: damping, ..Default::default() };
    let gel = Gel::block(Vec3::new(0.012, 0.012, 0.004), Bonds::default(), p).unwrap();
    let ball = Object::new(shapes::sphere(0.004, 0.0002).unwrap());
    let depth = 0.5e-3;
    let at = |d: f64| Pose::from_translation(Vec3::Z * (0.004 - d));
    let t = Instant::now();
    let (touch, _, work) =
        gel.equilibrium(&gel.rest(), &Motion { targets: &[Target::at_rest(&ball, at(depth))] }).unwrap();
    let f = touch.surface.as_ref().unwrap();
    let mid = f.values[f.rows / 2 * f.cols + f.cols / 2].z;
    println!("settle {:?}: {} N centre {} {work:?}", t.elapsed(), touch.on_sensor.force.z, mid);
    let dt = 1e-3;
    let n = (depth / speed / dt).round() as usize;
    let mut state = gel.rest();
    let t = Instant::now();
    for i in 1..=n {
        let target = Target {
            object: &ball,
            sensor_from_object: at(depth * i as f64 / n as f64),
            velocity: Twist::new(Vec3::Z * -speed, Vec3::ZERO),
        };
        let (touch, next) = gel.touch(&state, &Motion { targets: &[target] }, dt).unwrap();
        state = next;
        if i % (n / 5).max(1) == 0 || i == n {
            let f = touch.surface.as_ref().unwrap();
            let mid = f.values[f.rows / 2 * f.cols + f.cols / 2].z;
            let State::Gel(s) = &state else { panic!() };
            println!(
                "{i} {:?} {} N centre {} energy {:?} ratio {}",
                t.elapsed(),
                touch.on_sensor.force.z,
                mid,
                gel.energy(s),
                gel.energy(s).ratio()
            );
        }
    }
}
