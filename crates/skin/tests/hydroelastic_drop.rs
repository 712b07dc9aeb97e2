//! Energy: hydroelastic contact does not gain energy.

use dermis_geometry::{Pose, Quat, Twist, Vec3, shapes, tets};
use dermis_skin::hydroelastic::{AngleLimit, Compliance, Material, TetField};
use dermis_skin::{Friction, Hydroelastic, HydroelasticParameters, Lugre, Motion, Object, Skin, Target};

/// Heights (m) of successive apexes of a ball of 50 g dropped from 5 mm over a pad, by symplectic Euler.
fn apexes(dissipation: f64, compliant: bool, dt_s: f64) -> Vec<f64> {
    let solid = tets::cuboid(Vec3::new(0.04, 0.04, 0.02)).unwrap();
    let solid = solid.transformed(&Pose::from_translation(Vec3::Z * -0.01));
    let material = Material::linear(2e5).with_dissipation(dissipation);
    let body = Compliance::tets(TetField::new(solid), material.clone()).unwrap();
    let skin = Hydroelastic::new(body, HydroelasticParameters::default()).unwrap();
    let mut ball = Object::new(shapes::sphere(0.01, 1.5e-3).unwrap());
    if compliant {
        let field = TetField::new(tets::sphere(0.01, 2.5e-3).unwrap());
        ball = ball.with_compliance(Compliance::tets(field, material).unwrap());
    }
    let turn = Quat::from_rotation_x(0.4) * Quat::from_rotation_y(0.2);
    let (mut z, mut v, mut state) = (0.015, 0.0, skin.rest());
    let mut found = vec![z - 0.01];
    // Ten apexes, or 0.6 s if the ball comes to rest earlier.
    let mut time_s = 0.0;
    while found.len() < 11 && time_s < 0.6 {
        time_s += dt_s;
        let target = Target {
            object: &ball,
            sensor_from_object: Pose::new(turn, Vec3::new(0.7e-3, -0.4e-3, z)),
            velocity: Twist::new(Vec3::Z * v, Vec3::ZERO),
        };
        let (touch, next) = skin.touch(&state, &Motion { targets: &[target] }, dt_s).unwrap();
        state = next;
        let before = v;
        v += dt_s * (touch.on_objects[0].force.z / 0.05 - 9.81);
        z += dt_s * v;
        if before > 0.0 && v <= 0.0 {
            // Computed from energy, so that the step length does not affect the apex.
            found.push(z - 0.01 + v * v / (2.0 * 9.81));
        }
    }
    found
}

/// Pressure is the derivative of an energy (force on a rigid body = −∇ ∫ p dV over the covered volume), so without
/// dissipation each apex equals the previous one, up to the integrator's O(Δt); never higher by more than 1e-3 of it.
#[test]
fn a_dropped_ball_never_rises_higher() {
    for (dissipation, compliant) in [(0.0, false), (0.0, true), (0.5, false), (0.5, true)] {
        let heights = apexes(dissipation, compliant, 4e-5);
        for pair in heights.windows(2) {
            assert!(pair[1] <= pair[0] * (1.0 + 1e-3), "{dissipation} {compliant}: {heights:?}");
        }
        let last = heights[heights.len() - 1] / heights[0];
        if dissipation == 0.0 {
            assert!(last > 0.99, "nothing is lost either: {last}");
        } else {
            assert!(last < 0.9, "{last}");
        }
    }
}

/// A body moved along a closed path inside a field does no work if every face counts: a tilted box moves along a
/// circle; the work, a sum over N steps of the mean force, vanishes with 1/N².
#[test]
fn closed_paths_cost_nothing() {
    let solid = tets::cuboid(Vec3::new(0.04, 0.04, 0.02)).unwrap();
    let body = Compliance::tets(TetField::new(solid), Material::linear(1e5)).unwrap();
    let parameters = HydroelasticParameters { angle_limit: AngleLimit::NONE, ..Default::default() };
    let skin = Hydroelastic::new(body, parameters).unwrap();
    let punch = Object::new(shapes::cuboid(Vec3::splat(8e-3)).unwrap());
    let work = |n: usize| {
        let turn = std::f64::consts::TAU / n as f64;
        let place = |i: usize| {
            let (sin, cos) = (turn * i as f64).sin_cos();
            Vec3::new(3e-3 * cos, 1e-3 * sin, 0.014 + 2e-3 * sin)
        };
        let force = |i: usize| {
            let target = Target::at_rest(&punch, Pose::new(Quat::from_rotation_y(0.5), place(i)));
            skin.surface_with(&target).unwrap().wrench_on_a().force
        };
        let forces: Vec<Vec3> = (0..=n).map(force).collect();
        let steps = (0..n).map(|i| (forces[i] + forces[i + 1]).dot(place(i + 1) - place(i)) * 0.5);
        let spent: f64 = steps.clone().map(f64::abs).sum();
        steps.sum::<f64>().abs() / spent
    };
    let (coarse, fine) = (work(100), work(400));
    assert!(coarse < 2e-3 && fine < 2e-4, "{coarse:e} {fine:e}");
}

/// A cube of 1 kg on a pad tilted by 10°, released at rest, for two seconds with some damping: it sinks in, its
/// bristles carry the slope load, and then it does not creep. Only translation is integrated, not rotation.
#[test]
fn a_cube_on_a_slope_holds() {
    let solid = tets::cuboid(Vec3::new(0.1, 0.1, 0.02)).unwrap();
    let solid = solid.transformed(&Pose::from_translation(Vec3::Z * -0.01));
    let body = Compliance::tets(TetField::new(solid), Material::linear(1e6).with_dissipation(20.0)).unwrap();
    let friction = Friction::Lugre(Lugre {
        stiffness_newton_per_m: 2e7,
        damping_newton_s_per_m: 4e4,
        viscous_newton_s_per_m: 0.0,
        mu_static: 0.6,
        mu_dynamic: 0.5,
        stribeck_m_per_s: 0.01,
    });
    let skin = Hydroelastic::new(body, HydroelasticParameters { friction, ..Default::default() }).unwrap();
    let cube = Object::new(shapes::cuboid(Vec3::splat(0.05)).unwrap());
    let gravity = Vec3::new(10f64.to_radians().sin(), 0.0, -10f64.to_radians().cos()) * 9.81;
    let (mut at, mut v, mut state) = (Vec3::new(0.0, 0.0, 0.025), Vec3::ZERO, skin.rest());
    let dt = 2e-4;
    let mut held = Vec3::ZERO;
    for i in 0..15_000 {
        let target = Target {
            object: &cube,
            sensor_from_object: Pose::from_translation(at),
            velocity: Twist::new(v, Vec3::ZERO),
        };
        let (touch, next) = skin.touch(&state, &Motion { targets: &[target] }, dt).unwrap();
        state = next;
        v += dt * (touch.on_objects[0].force + gravity);
        at += dt * v;
        if i == 10_000 {
            held = at;
        }
    }
    assert!(at.x > 1e-6, "it leans on its bristles");
    assert!((at - held).length() < 1e-10, "creeps by {:e} m", (at - held).length());
}
