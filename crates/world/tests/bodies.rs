//! Rigid-body behaviour with any skin: momentum is conserved, springs oscillate at their frequency, unstable steps are
//! refused.

mod balance;

use balance::{balanced, tracked};
use dermis_geometry::shapes::{cuboid, sphere};
use dermis_geometry::{MassProperties, Pose, Primitive, Quat, Twist, Vec3};
use dermis_sensor::{Response, Sensor, Taxels};
use dermis_skin::{Coulomb, Damping, Elasticity, Friction, Law, Lugre, Object, Site, SpringParameters, Springs};
use dermis_world::{Body, BodyId, Coupling, World, WorldError, WorldParameters, WorldWarning};
use std::sync::Arc;

fn sensor(stiffness: f64, damping: f64, friction: Friction) -> Sensor {
    let parameters = SpringParameters {
        elasticity: Elasticity::PerTexel(stiffness),
        damping: Damping::PerTexel(damping),
        max_penetration_m: 0.012,
        law: Law::Conservative,
        friction,
    };
    let (rows, cols, pitch) = (14, 6, 3.85758e-3);
    let skin = Springs::new(Site::grid(rows, cols, pitch, 1), parameters).unwrap();
    let (x, y) = (0.5 * cols as f64 * pitch, 0.5 * rows as f64 * pitch);
    let corners = [(-x, -y), (x, -y), (x, y), (-x, y)].map(|(x, y)| Vec3::new(x, y, 0.0)).to_vec();
    let surface = dermis_geometry::TriMesh::new("pad", corners, vec![[0, 1, 2], [0, 2, 3]]).unwrap();
    Sensor::new("pad", skin, Taxels::grid(rows, cols, pitch), Response::default(), surface)
}

fn lugre() -> Friction {
    Friction::Lugre(Lugre {
        stiffness_newton_per_m: 300.0,
        damping_newton_s_per_m: 0.5,
        viscous_newton_s_per_m: 0.01,
        mu_static: 0.435,
        mu_dynamic: 0.23,
        stribeck_m_per_s: 0.3,
    })
}

fn cube(side: f64, mass_kg: f64) -> (MassProperties, Arc<Object>) {
    let mesh = cuboid(Vec3::splat(side)).unwrap();
    (mesh.mass_properties(mass_kg).unwrap(), Arc::new(Object::new(mesh)))
}

fn world(step_s: f64, gravity: f64) -> World {
    let gravity = Vec3::new(0.0, 0.0, -gravity);
    tracked(WorldParameters { gravity, step_s, ..Default::default() })
}

fn explicit_world(step_s: f64) -> World {
    let (gravity, coupling) = (Vec3::new(0.0, 0.0, -9.8), Some(Coupling::Explicit));
    tracked(WorldParameters { gravity, step_s, coupling, ..Default::default() })
}

/// Linear momentum (N s) and angular momentum about the world's origin (N m s) of a free body.
fn momenta(world: &World, id: BodyId, mass: &MassProperties) -> (Vec3, Vec3) {
    let pose = world.pose(id);
    let arm = pose.transform_vector(mass.center_m);
    let velocity = world.velocity(id).at(arm);
    let spin = world.velocity(id).angular;
    let turn = dermis_geometry::Mat3::from_quat(pose.rotation);
    let inertia = turn * mass.inertia_kg_m2 * turn.transpose();
    let momentum = velocity * mass.mass_kg;
    (momentum, (pose.translation + arm).cross(momentum) + inertia * spin)
}

/// A floating sensor and a floating ball collide with friction and spin. No external force acts, so linear and angular
/// momentum are conserved to rounding. (Plate and ball have isotropic inertia, so that the rotation is integrated
/// exactly too.)
#[test]
fn two_free_bodies_keep_their_momentum() {
    let mut world = world(1e-4, 0.0);
    let (plate_mass, _) = cube(0.05, 0.4);
    let plate = world.add_body(Body::free("plate", Pose::IDENTITY, plate_mass)).unwrap();
    world.mount(sensor(500.0, 0.5, lugre()), plate, Pose::IDENTITY);
    let mesh = sphere(0.02, 2e-3).unwrap();
    let ball_mass = mesh.mass_properties(0.1).unwrap();
    let start = Twist::new(Vec3::new(0.05, -0.02, -0.4), Vec3::new(5.0, 3.0, 10.0));
    let mut ball = Body::free("ball", Pose::from_translation(Vec3::new(0.002, 0.003, 0.021)), ball_mass)
        .touchable(Arc::new(Object::new(mesh)));
    ball.velocity = start;
    let ball = world.add_body(ball).unwrap();
    let total = |world: &World| {
        let (a, b) = (momenta(world, plate, &plate_mass), momenta(world, ball, &ball_mass));
        (a.0 + b.0, a.1 + b.1)
    };
    let before = total(&world);
    world.run_until(0.1, |_| Ok(true)).unwrap();
    let after = total(&world);
    assert!((world.velocity(ball).linear - start.linear).length() > 0.1, "they met");
    assert!((after.0 - before.0).length() < 1e-12 * before.0.length(), "{before:?} {after:?}");
    assert!((after.1 - before.1).length() < 1e-10 * before.1.length(), "{before:?} {after:?}");
    balanced(&world, 1e-3, "two free bodies");
}

/// A cube of mass m on N undamped texels oscillates with ω² = N k / m and keeps its amplitude for a thousand periods of
/// a hundred steps each: symplectic Euler neither gains nor loses energy. Undamped bristles keep the cube from sliding
/// off: without friction its position is unstable under rounding errors.
#[test]
fn an_undamped_cube_swings_for_ever() {
    let (k, m) = (100.0, 1.0);
    let omega = (84.0f64 * k / m).sqrt();
    let step_s = std::f64::consts::TAU / omega / 100.0;
    let mut world = world(step_s, 9.8);
    let finger = world.add_body(Body::fixed("finger", Pose::IDENTITY)).unwrap();
    let Friction::Lugre(set) = lugre() else { unreachable!() };
    let bristles = Lugre { damping_newton_s_per_m: 0.0, viscous_newton_s_per_m: 0.0, ..set };
    world.mount(sensor(k, 0.0, Friction::Lugre(bristles)), finger, Pose::IDENTITY);
    let (mass, object) = cube(0.06, m);
    // Starts halfway to equilibrium, so that the cube never leaves the springs.
    let rest = m * 9.8 / (84.0 * k);
    let start = Pose::from_translation(Vec3::Z * (0.03 - 0.5 * rest));
    let id = world.add_body(Body::free("cube", start, mass).touchable(object)).unwrap();
    let (mut highest, mut lowest, mut crossings) = (f64::NEG_INFINITY, f64::INFINITY, 0u32);
    let (mut late_high, mut last) = (f64::NEG_INFINITY, -1.0);
    let periods = 1000;
    world
        .run_until(f64::from(periods) * 100.0 * step_s, |world| {
            let z = world.pose(id).translation.z - (0.03 - rest);
            highest = highest.max(z);
            lowest = lowest.min(z);
            if world.time_s() > 0.9 * f64::from(periods) * 100.0 * step_s {
                late_high = late_high.max(z);
            }
            crossings += u32::from(last < 0.0 && z >= 0.0);
            last = z;
            Ok(true)
        })
        .unwrap();
    assert!((late_high / (0.5 * rest) - 1.0).abs() < 1e-3, "height kept: {} of {}", late_high, 0.5 * rest);
    assert!((lowest / (-0.5 * rest) - 1.0).abs() < 1e-3);
    assert!(crossings.abs_diff(periods) <= 1, "{crossings} swings in {periods} periods");
    balanced(&world, 2e-3, "a swinging cube");
}

/// The error names the body, the sensor and the limit. A step just below that limit is accepted and stays finite.
#[test]
fn a_step_beyond_the_limit_is_refused_with_the_number() {
    let build = |step_s: f64| {
        let mut world = explicit_world(step_s);
        let finger = world.add_body(Body::fixed("finger", Pose::IDENTITY)).unwrap();
        world.mount(sensor(1000.0, 10.0, lugre()), finger, Pose::IDENTITY);
        let (mass, object) = cube(0.06, 0.1);
        let start = Pose::from_translation(Vec3::Z * 0.03);
        world.add_body(Body::free("cube", start, mass).touchable(object)).unwrap();
        world
    };
    let limit_s = build(1e-5).stability().unwrap().limit_s;
    // 2γΔ + ω²Δ² < 4 with γ = 84 · 10 / 0.1 and ω² = 84 · 1000 / 0.1 for heave only.
    let heave = dermis_world::largest_stable_step_s(84.0 * 1000.0 / 0.1, 84.0 * 10.0 / 0.1);
    assert!(limit_s <= heave && limit_s > 0.3 * heave, "{limit_s} against {heave}");
    match build(1.01 * limit_s).step() {
        Err(error @ WorldError::Unstable { .. }) => {
            let message = error.to_string();
            assert!(message.contains("cube") && message.contains("pad"), "{message}");
            assert!(message.contains(&format!("{limit_s:.3e}")), "{message}");
        }
        other => panic!("{other:?}"),
    }
    let mut world = build(0.99 * limit_s);
    world.run_until(1.0, |_| Ok(true)).unwrap();
    let sum = world.reading(world.sensors().next().unwrap()).sum_newton;
    assert!((sum / 0.98 - 1.0).abs() < 1e-9, "{sum}");
    balanced(&world, 0.05, "a cube just below the limit");
}

/// Coulomb friction regularised at a low speed is a damper proportional to the load: detected during the run.
#[test]
fn a_load_that_makes_the_step_too_long_is_refused_when_it_comes() {
    let mut world = explicit_world(1e-3);
    let finger = world.add_body(Body::fixed("finger", Pose::IDENTITY)).unwrap();
    let coulomb = Friction::Coulomb(Coulomb { mu: 0.4, regularisation_m_per_s: 1e-5 });
    world.mount(sensor(1000.0, 1.0, coulomb), finger, Pose::IDENTITY);
    let (mass, object) = cube(0.06, 1.0);
    world.add_body(Body::free("cube", Pose::from_translation(Vec3::Z * 0.031), mass).touchable(object)).unwrap();
    let outcome = world.run_until(1.0, |_| Ok(true));
    assert!(matches!(outcome, Err(WorldError::Unstable { .. })), "{outcome:?}");
    assert!(world.time_s() > 0.0);
}

/// A solid carrier adds no contact where its skin covers it: under an object smaller than a flush skin, and under one
/// wider than a skin that stands out of its carrier.
#[test]
fn nothing_but_the_skin_acts_between_a_sensor_and_what_it_feels() {
    for (side_m, stands_out_m) in [(0.02, 0.0), (0.06, 0.002)] {
        let mut world = world(1e-4, 9.8);
        let (_, block) = cube(0.06, 1.0);
        let finger = Body::fixed("finger", Pose::from_translation(Vec3::Z * -0.03)).touchable(block).solid();
        let finger = world.add_body(finger).unwrap();
        let place = Pose::from_translation(Vec3::Z * (0.03 + stands_out_m));
        let id = world.mount(sensor(1000.0, 10.0, lugre()), finger, place);
        let (mass, object) = cube(side_m, 1.0);
        let start = Pose::from_translation(Vec3::Z * (0.5 * side_m + stands_out_m));
        world.add_body(Body::free("cube", start, mass).touchable(object).solid()).unwrap();
        world.run_until(1.0, |_| Ok(true)).unwrap();
        let sum = world.reading(id).sum_newton;
        assert!((sum / 9.8 - 1.0).abs() < 1e-9, "the skin carries all of it: {sum}");
        assert_eq!(world.warnings(), []);
        balanced(&world, 0.01, &format!("{side_m} m, {stands_out_m} m"));
    }
}

#[test]
fn what_means_nothing_is_refused() {
    assert!(World::new(WorldParameters { step_s: 0.0, ..Default::default() }).is_err());
    assert!(World::new(WorldParameters { step_s: f64::NAN, ..Default::default() }).is_err());
    let mut world = world(1e-3, 9.8);
    let (mass, _) = cube(0.02, 1.0);
    let nowhere = Pose::from_translation(Vec3::new(f64::NAN, 0.0, 0.0));
    assert!(matches!(world.add_body(Body::fixed("x", nowhere)), Err(WorldError::NotFinite { .. })));
    let light = MassProperties { mass_kg: -1.0, ..mass };
    assert!(matches!(world.add_body(Body::free("y", Pose::IDENTITY, light)), Err(WorldError::NotPositive { .. })));
    world.add_body(Body::fixed("z", Pose::IDENTITY)).unwrap();
    assert!(matches!(world.add_body(Body::fixed("z", Pose::IDENTITY)), Err(WorldError::Duplicate { .. })));
}

/// A ball, a capsule and a cylinder on a table stay where they are in any orientation, and a rolling ball keeps rolling:
/// as a polyhedron a ball rocked from face to face and went away.
#[test]
fn a_ball_on_a_table_stays_and_rolls() {
    let ground = || {
        let parameters = WorldParameters { step_s: 2e-4, ground_z_m: Some(0.0), ..Default::default() };
        tracked(parameters)
    };
    let side = Quat::from_rotation_x(std::f64::consts::FRAC_PI_2);
    let tilted = Quat::from_rotation_x(0.4) * Quat::from_rotation_y(0.2);
    let ball = Primitive::Sphere { radius_m: 0.02 };
    for (shape, rotation, height_m) in [
        (ball, tilted, 0.02),
        (Primitive::Capsule { radius_m: 0.01, half_length_m: 0.02 }, side * Quat::from_rotation_z(0.3), 0.01),
        (Primitive::Cylinder { radius_m: 0.01, half_length_m: 0.02 }, side * Quat::from_rotation_z(0.3), 0.01),
        (Primitive::Cylinder { radius_m: 0.01, half_length_m: 0.02 }, Quat::from_rotation_z(0.3), 0.02),
        (Primitive::Cuboid { half_m: Vec3::splat(0.01) }, Quat::from_rotation_z(0.3), 0.01),
    ] {
        let mut world = ground();
        let object = Arc::new(Object::of_primitive(shape, 2e-3).unwrap());
        let mass = object.surface.mass_properties(0.1).unwrap();
        let start = Pose::new(rotation, Vec3::Z * height_m);
        let id = world.add_body(Body::free("body", start, mass).touchable(object).solid()).unwrap();
        for _ in 0..5000 {
            world.step().unwrap();
        }
        let moved = world.pose(id).translation - start.translation;
        let turned = world.pose(id).rotation.angle_between(rotation);
        assert!(moved.truncate().length() < 1e-6 && moved.z.abs() < 2e-4, "{shape:?}: {moved}");
        assert!(turned < 1e-4, "{shape:?}: {turned} rad");
        balanced(&world, 0.01, &format!("{shape:?}"));
    }
    // Started without spin, friction makes it roll at 5/7 of its speed.
    let mut world = ground();
    let object = Arc::new(Object::of_primitive(ball, 2e-3).unwrap());
    let mass = object.surface.mass_properties(0.1).unwrap();
    let mut body = Body::free("ball", Pose::from_translation(Vec3::Z * 0.02), mass).touchable(object).solid();
    body.velocity = Twist::new(Vec3::X * 0.1, Vec3::ZERO);
    let id = world.add_body(body).unwrap();
    for _ in 0..5000 {
        world.step().unwrap();
    }
    let (linear, spin) = (world.velocity(id).linear, world.velocity(id).angular);
    assert!((linear.x / 0.1 - 5.0 / 7.0).abs() < 0.01 && linear.y.abs() < 1e-6, "{linear}");
    assert!((spin.y * 0.02 / linear.x - 1.0).abs() < 1e-3, "{spin} and {linear}");
    balanced(&world, 0.01, "a ball that begins to roll");
}

/// A ball driven onto the skin in steps of 10 ms: after each step, the reading is that of the depth at this instant.
#[test]
fn a_reading_belongs_to_the_poses_after_the_step() {
    let (radius, stiffness, step_s) = (0.02, 500.0, 0.01);
    let mut world = world(step_s, 0.0);
    let finger = world.add_body(Body::fixed("finger", Pose::IDENTITY)).unwrap();
    let pad = world.mount(sensor(stiffness, 0.0, Friction::None), finger, Pose::IDENTITY);
    let object = Arc::new(Object::of_primitive(Primitive::Sphere { radius_m: radius }, 2e-3).unwrap());
    let at = Pose::from_translation(Vec3::new(1e-3, 2e-3, radius));
    let ball = world.add_body(Body::driven("ball", at).touchable(object)).unwrap();
    world.set_velocity(ball, Twist::new(Vec3::new(0.0, 0.0, -0.05), Vec3::ZERO));
    let depths = |center: Vec3| {
        let surface = |site: Vec3| center.z - (radius.powi(2) - (site - center).truncate().length_squared()).sqrt();
        Site::grid(14, 6, 3.85758e-3, 1)
            .into_iter()
            .map(move |site| (-surface(site.point)).max(0.0))
            .collect::<Vec<_>>()
    };
    for step in 1..=6 {
        world.step().unwrap();
        let expected: f64 = depths(world.pose(ball).translation).iter().map(|depth| stiffness * depth).sum();
        let read = world.touch(pad).on_sensor.force.z;
        assert!((read + expected).abs() < 1e-9 * expected.max(1e-9), "step {step}: {read} N, {expected} N");
    }
    balanced(&world, 0.03, "a driven ball");
}

/// A ball that falls from far above is not lost; one that falls beside the sensor is.
#[test]
fn a_body_has_left_only_if_it_moves_away() {
    for (x, is_lost) in [(0.0, false), (0.2, true)] {
        let mut world = world(5e-4, 9.8);
        let finger = world.add_body(Body::fixed("finger", Pose::IDENTITY)).unwrap();
        world.mount(sensor(500.0, 0.5, lugre()), finger, Pose::IDENTITY);
        let (mass, object) = cube(0.02, 0.05);
        let start = Pose::from_translation(Vec3::new(x, 0.0, 0.4));
        world.add_body(Body::free("cube", start, mass).touchable(object)).unwrap();
        world.run_until(0.5, |_| Ok(true)).unwrap();
        let lost = world.warnings().iter().any(|warning| matches!(warning, WorldWarning::Left { .. }));
        assert_eq!(lost, is_lost, "{:?}", world.warnings());
        balanced(&world, 0.03, &format!("a cube that falls at {x} m"));
    }
}

/// Without gravity, a body that rests or only turns has not left, however far away; one that drifts away has.
#[test]
fn a_body_at_rest_without_gravity_has_not_left() {
    for (twist, is_lost) in [
        (Twist::ZERO, false),
        (Twist::new(Vec3::ZERO, Vec3::new(0.1, 20.0, 0.0)), false),
        (Twist::new(Vec3::Z * -0.1, Vec3::ZERO), false),
        (Twist::new(Vec3::Z * 0.1, Vec3::ZERO), true),
    ] {
        let mut world = world(1e-3, 0.0);
        let finger = world.add_body(Body::fixed("finger", Pose::IDENTITY)).unwrap();
        world.mount(sensor(500.0, 0.5, lugre()), finger, Pose::IDENTITY);
        let (mass, object) = cube(0.02, 0.05);
        let mut cube = Body::free("cube", Pose::from_translation(Vec3::Z * 0.4), mass).touchable(object);
        cube.velocity = twist;
        world.add_body(cube).unwrap();
        world.run_until(0.5, |_| Ok(true)).unwrap();
        let lost = world.warnings().iter().any(|warning| matches!(warning, WorldWarning::Left { .. }));
        assert_eq!(lost, is_lost, "{twist:?}: {:?}", world.warnings());
        balanced(&world, 1e-9, &format!("{twist:?}"));
    }
}

/// A ball bounces off undamped springs. At the start of the step their forces keep its speed, whatever the step; at the end of
/// the step they take some, once without a word.
#[test]
fn bounces_within_few_steps_are_reported_with_what_they_lose() {
    for (coupling, step_s) in [
        (Coupling::Explicit, 1e-3),
        (Coupling::Explicit, 3e-3),
        (Coupling::Implicit, 1e-3),
        (Coupling::Implicit, 2e-3),
        (Coupling::Implicit, 4e-3),
        (Coupling::Implicit, 6e-3),
    ] {
        let parameters =
            WorldParameters { gravity: Vec3::ZERO, step_s, coupling: Some(coupling), ..Default::default() };
        let mut world = tracked(parameters);
        let finger = world.add_body(Body::fixed("finger", Pose::IDENTITY)).unwrap();
        world.mount(sensor(1500.0, 0.0, Friction::None), finger, Pose::IDENTITY);
        let (mass, object) = cube(0.03, 10.0);
        let mut cube = Body::free("cube", Pose::from_translation(Vec3::Z * 0.0153), mass).touchable(object);
        cube.velocity = Twist::new(Vec3::Z * -0.15, Vec3::ZERO);
        let id = world.add_body(cube).unwrap();
        world.run_until(0.2, |_| Ok(true)).unwrap();
        let lost_percent = 100.0 * (1.0 - world.velocity(id).linear.z / 0.15);
        let said = world.warnings().iter().find_map(|warning| match warning {
            WorldWarning::FewSteps { lost_percent, .. } => Some(*lost_percent),
            _ => None,
        });
        let at = format!("{coupling:?} {step_s} s: lost {lost_percent} %, said {said:?}");
        match said {
            Some(said) => assert!(lost_percent < 1.2 * said, "{at}"),
            None => assert!(lost_percent.abs() < 2.0, "{at}"),
        }
        assert!(said.is_some() == (coupling == Coupling::Implicit && step_s > 1e-3), "{at}");
        let lost = (world.velocity(id).linear.z / 0.15).powi(2) - 1.0;
        let residual = world.energy().unwrap().residual_joule() / (0.5 * 10.0 * 0.15f64.powi(2));
        assert!((residual - lost).abs() < 1e-6, "{at}: residual {residual}, lost {lost}");
    }
}
