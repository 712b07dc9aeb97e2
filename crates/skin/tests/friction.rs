//! Bristles in the skin: sliding, sticking, rotation, release, torque.
//!
//! `lugre.rs` compares the law with golden curves; these tests cover its use in the skin: frames, signs, memory. Blocks
//! wider than the skin press all N texels by the same depth, so every texel carries f_n = k d.

use crate::common::{bristles, cuboid, grid_skin, plain, pressed, step};
use dermis_geometry::{Pose, Quat, Twist, Vec3, shapes};
use dermis_skin::{
    Bristle, Elasticity, Friction, Lugre, Motion, Object, Skin, SpringParameters, Springs, State, Target, Touch,
};

const K: f64 = 100.0;
const DEPTH: f64 = 1e-3;
const N: f64 = 30.0;

fn skin(friction: Lugre) -> Springs {
    grid_skin(5, 6, 2e-3, SpringParameters { friction: Friction::Lugre(friction), ..plain(K, 3e-3) })
}

fn block() -> Object {
    cuboid(60e-3, 60e-3, 10e-3)
}

fn bristles_of(state: &State) -> Vec<Bristle> {
    match state {
        State::Springs { bristles, .. } => bristles.iter().collect(),
        _ => unreachable!("springs keep bristles"),
    }
}

/// Steps at a fixed pose: the block is wide and flat, so moving it would change nothing.
fn slide(skin: &Springs, velocity: Vec3, dt_s: f64, steps: usize) -> (Touch, State) {
    let (block, mut state) = (block(), skin.rest());
    let mut last = Touch::default();
    for _ in 0..steps {
        (last, state) = step(skin, &state, &block, pressed(10e-3, DEPTH), Twist::new(velocity, Vec3::ZERO), dt_s);
    }
    (last, state)
}

/// Steady sliding at v ≫ v_s: the block drags the skin along v with N(μ_d f_n + c_t v) and receives the opposite force.
#[test]
fn sliding_drags_the_sensor_along() {
    let skin = skin(Lugre { damping_newton_s_per_m: 0.3, viscous_newton_s_per_m: 0.2, ..bristles() });
    let speed = 0.1;
    for direction in [Vec3::X, -Vec3::X, Vec3::Y, -Vec3::Y, Vec3::new(0.6, -0.8, 0.0)] {
        let (touch, _) = slide(&skin, direction * speed, 1e-2, 50);
        let truth = N * (0.4 * K * DEPTH + 0.2 * speed);
        let drag = touch.on_sensor.force + Vec3::Z * (N * K * DEPTH);
        assert!((drag - direction * truth).length() < 1e-9 * truth, "{direction}: {drag} N");
        assert!(touch.on_objects[0].force.dot(direction) < 0.0);
    }
}

/// The same in the world frame, with a sensor that is yawed by ψ, flipped and moving: only the relative velocity
/// matters, and the drag in the world frame is along it.
#[test]
fn drag_is_along_the_relative_velocity_in_any_frame() {
    let skin = skin(bristles());
    let block = block();
    for turn in [Quat::from_rotation_z(0.7), Quat::from_rotation_x(2.0) * Quat::from_rotation_z(-2.5)] {
        let world_from_sensor = Pose::new(turn, Vec3::new(0.3, -0.2, 0.5));
        let world_from_object = world_from_sensor * pressed(10e-3, DEPTH);
        let relative = turn * Vec3::new(0.08, 0.06, 0.0);
        let sensor_velocity = Twist::new(Vec3::new(0.1, 0.2, -0.3), Vec3::new(1.0, -2.0, 0.5));
        // Velocity of the sensor at the block's origin, plus the sliding velocity.
        let arm = world_from_object.translation - world_from_sensor.translation;
        let carried = sensor_velocity.moved(arm);
        let object_velocity = Twist::new(carried.linear + relative, carried.angular);
        let target =
            Target::from_world(&block, &world_from_object, &object_velocity, &world_from_sensor, &sensor_velocity);
        let mut state = skin.rest();
        let mut drag = Vec3::ZERO;
        for _ in 0..50 {
            let (touch, next) = skin.touch(&state, &Motion { targets: &[target] }, 1e-2).unwrap();
            drag = world_from_sensor.transform_vector(touch.on_sensor.force + Vec3::Z * (N * K * DEPTH));
            state = next;
        }
        let truth = relative.normalize() * (N * 0.4 * K * DEPTH);
        assert!((drag - truth).length() < 1e-9 * truth.length(), "{drag} N, not {truth} N");
    }
}

/// Slow motion by x from rest: dz/dx = 1 − σ₀z/g, so the force is N g (1 − e^(−σ₀x/g)) with g = μ_s f_n, and σ₀ x per
/// texel as long as x ≪ g/σ₀ = 30 μm. At 1 μm/s g differs from μ_s f_n by 1e-8; the number of steps does not matter.
#[test]
fn sticking_is_a_spring() {
    let skin = skin(bristles());
    let g = 0.6 * K * DEPTH;
    for x in [1e-9, 1e-7, 1e-5, 3e-5, 3e-4] {
        for steps in [1, 7, 100] {
            let (touch, _) = slide(&skin, Vec3::Y * 1e-6, x / 1e-6 / steps as f64, steps);
            let truth = N * g * -(-2e3 * x / g).exp_m1();
            assert!((touch.on_sensor.force.y - truth).abs() < 1e-7 * truth, "{x} m: {} N", touch.on_sensor.force.y);
            if x < 1e-7 {
                assert!((touch.on_sensor.force.y - N * 2e3 * x).abs() < 1e-3 * truth);
            }
        }
    }
}

/// Deflections persist at rest, are reset when contact ends, and are not transferred between objects.
#[test]
fn bristles_are_kept_at_rest_and_dropped_with_the_contact() {
    let skin = skin(bristles());
    let (block, other) = (block(), block());
    let (touch, state) = slide(&skin, Vec3::X * 1e-3, 1e-2, 10);
    let at = pressed(10e-3, DEPTH);
    let (rest, next) = step(&skin, &state, &block, at, Twist::ZERO, 10.0);
    assert_eq!((rest.on_sensor.force, &next), (touch.on_sensor.force, &state), "nothing creeps");
    let (free, lifted) = step(&skin, &state, &block, pressed(10e-3, -1e-4), Twist::ZERO, 1e-3);
    assert!(free.facets.is_empty());
    assert_eq!(lifted, skin.rest());
    let away = Pose::from_translation(Vec3::Z);
    let targets = [Target::at_rest(&block, away), Target::at_rest(&other, at)];
    let (handed, _) = skin.touch(&state, &Motion { targets: &targets }, 1e-3).unwrap();
    assert_eq!(handed.on_sensor.force.truncate(), dermis_geometry::Vec2::ZERO);
    // Separation fast enough for the damper to cancel the spring force: no normal force, no friction.
    let damped = skin
        .with_parameters(SpringParameters { damping: dermis_skin::Damping::PerTexel(1.0), ..skin.parameters().clone() })
        .unwrap();
    let (gone, next) = step(&damped, &state, &block, at, Twist::new(Vec3::Z, Vec3::ZERO), 1e-3);
    assert_eq!(gone.on_sensor.force, Vec3::ZERO);
    assert!(bristles_of(&next).iter().all(|bristle| bristle.deflection_m == Vec3::ZERO));
}

/// A deflection rotates with the contact plane, here by 0.5 rad about one axis and back about another: it keeps its
/// length up to rounding and stays in the plane.
#[test]
fn bristles_turn_with_the_contact_plane() {
    let skin = grid_skin(3, 3, 1e-3, SpringParameters { friction: Friction::Lugre(bristles()), ..plain(K, 5e-3) });
    let block = cuboid(80e-3, 80e-3, 40e-3);
    let at = |turn: Quat| Pose::new(turn, turn * (Vec3::Z * 20e-3) - Vec3::Z * 2e-3);
    let slip = Twist::new(Vec3::new(2e-4, 3e-4, 0.0), Vec3::ZERO);
    let (_, mut state) = step(&skin, &skin.rest(), &block, at(Quat::IDENTITY), slip, 1e-2);
    let start: Vec<f64> = bristles_of(&state).iter().map(|b| b.deflection_m.length()).collect();
    for i in 1..=100 {
        let turn = if i <= 50 {
            Quat::from_rotation_y(0.01 * f64::from(i))
        } else {
            Quat::from_rotation_y(0.5) * Quat::from_rotation_x(0.008 * f64::from(i - 50))
        };
        let (touch, next) = step(&skin, &state, &block, at(turn), Twist::ZERO, 1e-2);
        assert_eq!(touch.facets.len(), 9);
        for ((bristle, facet), length) in bristles_of(&next).iter().zip(&touch.facets).zip(&start) {
            assert!((bristle.deflection_m.length() - length).abs() <= 1e-12 * length);
            assert!(bristle.deflection_m.dot(facet.normal).abs() <= 1e-12 * length);
        }
        state = next;
    }
}

/// A uniformly pressed disc of radius a that slips everywhere resists twist with ∫ μ p r dA = (2/3) μ P a. Slow twist,
/// |v| ≪ v_s, so μ = μ_s; the sum over texels of size a/40 is within 2 %. A single texel at the axis has no lever arm
/// and no torque.
#[test]
fn a_disc_resists_twist_by_two_thirds_mu_p_a() {
    let (a, pitch) = (10e-3, 0.25e-3);
    let friction = Friction::Lugre(Lugre { stiffness_newton_per_m: 50.0, ..bristles() });
    let parameters = SpringParameters { elasticity: Elasticity::PerArea(1e7), friction, ..plain(1.0, 3e-3) };
    let disc = Object::new(shapes::cylinder(a, 10e-3, 0.4e-3).unwrap());
    let twist = |skin: &Springs, spin: f64| {
        let mut state = skin.rest();
        let mut last = Touch::default();
        for i in 0..40 {
            let turn = Quat::from_rotation_z(spin * f64::from(i) * 10.0);
            let at = Pose::new(turn, pressed(10e-3, DEPTH).translation);
            (last, state) = step(skin, &state, &disc, at, Twist::new(Vec3::ZERO, Vec3::Z * spin), 10.0);
        }
        last
    };
    let full = grid_skin(84, 84, pitch, parameters.clone());
    for spin in [1e-2, -1e-2] {
        let touch = twist(&full, spin);
        let pressing = -touch.on_sensor.force.z;
        let truth = 2.0 / 3.0 * 0.6 * pressing * a * spin.signum();
        let error = touch.on_sensor.torque.z / truth - 1.0;
        println!("holding torque: {:+.2} % from (2/3) mu P a", 100.0 * error);
        assert!(error.abs() < 0.02, "{} N m, not {truth} N m", touch.on_sensor.torque.z);
        assert!(touch.on_sensor.force.truncate().length() < 1e-3 * pressing, "no net drag");
    }
    let single = twist(&grid_skin(1, 1, pitch, parameters), 1e-2);
    assert!(single.on_sensor.force.z < 0.0);
    assert_eq!(single.on_sensor.torque.z, 0.0);
}

/// Sheared and then lifted without sliding, every texel follows its falling load: |F_t| = μ_s f_n once the bristles
/// reach it, also after the object is pressed down again.
#[test]
fn a_sheared_contact_that_is_lifted_stays_in_the_friction_cone() {
    let skin = skin(bristles());
    let (touch, mut state) = slide(&skin, Vec3::X * 1e-3, 1e-2, 100);
    let ratio = |touch: &Touch| touch.on_sensor.force.x / -touch.on_sensor.force.z;
    assert!(ratio(&touch) > 0.5 && ratio(&touch) <= 0.6, "{}", ratio(&touch));
    let block = block();
    for part in [0.5, 0.1, 0.02, 1e-6] {
        let (touch, next) = step(&skin, &state, &block, pressed(10e-3, part * DEPTH), Twist::ZERO, 1e-3);
        assert!((ratio(&touch) / 0.6 - 1.0).abs() < 1e-9, "{part} of the depth: {}", ratio(&touch));
        state = next;
    }
    let (touch, _) = step(&skin, &state, &block, pressed(10e-3, DEPTH), Twist::ZERO, 1e-3);
    assert!(ratio(&touch) < 1e-5, "the lost shear came back: {}", ratio(&touch));
}
