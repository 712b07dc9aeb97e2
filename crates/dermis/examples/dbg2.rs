use dermis::geometry::*;
use dermis::prelude::*;
use dermis::skin::*;
fn main() {
    let n: usize = std::env::args().nth(1).map(|a| a.parse().unwrap()).unwrap_or(14);
    let obj = Object::new(shapes::sphere(0.02, 0.9e-3).unwrap());
    let p = SpringParameters {
        elasticity: Elasticity::PerArea(3.93e6),
        damping: Damping::PerArea(3.93e4),
        max_penetration_m: 0.012,
        law: Law::Conservative,
        friction: Friction::Lugre(Lugre {
            stiffness_newton_per_m: 300.,
            damping_newton_s_per_m: 0.5,
            viscous_newton_s_per_m: 0.01,
            mu_static: 0.435,
            mu_dynamic: 0.23,
            stribeck_m_per_s: 0.3,
        }),
    };
    let skin =
        Springs::new(if n == 14 { Site::grid(14, 6, 3.85758e-3, 1) } else { Site::grid(n, n, 0.036 / n as f64, 1) }, p)
            .unwrap();
    let mut st = skin.rest();
    let t = std::time::Instant::now();
    let steps = if n == 14 { 100000 } else { 100000 * 84 / (n * n) };
    let mut lit = 0;
    for i in 0..steps {
        let ph = i as f64 * 0.01;
        let t = Target {
            object: &obj,
            sensor_from_object: Pose::new(
                Quat::from_rotation_y(ph) * Quat::from_rotation_x(0.7 * ph),
                Vec3::new(1e-3 * ph.sin(), 1e-3 * ph.cos(), 0.017),
            ),
            velocity: Twist::new(Vec3::new(0.01, -0.02, 0.001), Vec3::new(0.1, 0.2, 0.3)),
        };
        let (a, b) = skin.touch(&st, &Motion { targets: &[t] }, 1e-3).unwrap();
        st = b;
        lit = a.facets.len();
    }
    println!("{} tri {:?}/step lit {lit}", obj.surface.mesh().triangles().len(), t.elapsed() / steps as u32);
}
