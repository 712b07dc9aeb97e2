//! The history of a skin: cloning, serialisation and the number of threads do not change results.

use crate::common;

use common::{bristles, objects, plain, rotation, vector};
use dermis_geometry::{Pose, Quat, Random, Twist, Vec3, shapes};
use dermis_skin::{Friction, Law, Motion, Object, Site, Skin, SpringParameters, Springs, State, Target, Touch};

fn parameters() -> SpringParameters {
    SpringParameters {
        friction: Friction::Lugre(bristles()),
        damping: dermis_skin::Damping::PerTexel(0.3),
        law: Law::Conservative,
        ..plain(100.0, 4e-3)
    }
}

/// A ball that rolls, spins and slides over the skin, 1 mm deep.
fn rolling(i: usize) -> (Pose, Twist) {
    let s = i as f64 * 0.05;
    let turn = Quat::from_rotation_y(0.3 * s) * Quat::from_rotation_z(0.7 * s);
    let at = Vec3::new(2e-3 * s.sin(), 1.5e-3 * (1.3 * s).cos(), 8e-3 - 1e-3 - 0.4e-3 * (2.0 * s).sin());
    (Pose::new(turn, at), Twist::new(Vec3::new(0.02 * s.cos(), -0.01, 0.003), Vec3::new(0.1, 0.5, -0.3)))
}

fn go(skin: &Springs, ball: &Object, mut state: State, steps: std::ops::Range<usize>) -> (Vec<Touch>, State) {
    let mut touches = Vec::new();
    for i in steps {
        let (sensor_from_object, velocity) = rolling(i);
        let target = Target { object: ball, sensor_from_object, velocity };
        let (touch, next) = skin.touch(&state, &Motion { targets: &[target] }, 1e-3).unwrap();
        touches.push(touch);
        state = next;
    }
    (touches, state)
}

/// All digits, so that −0 and 0 also differ.
fn bits<T: serde::Serialize>(value: &T) -> String {
    serde_json::to_string(value).unwrap()
}

/// A clone, and a copy through JSON, continue exactly like the original: bit for bit in forty steps.
#[test]
fn a_saved_state_goes_on_bit_by_bit() {
    let cap = shapes::spherical_patch(15e-3, 1.0, 1.2e-3).unwrap();
    let skin = Springs::new(Site::from_mesh(&cap, 2), parameters()).unwrap();
    let ball = Object::new(shapes::sphere(8e-3, 1e-3).unwrap());
    let (_, middle) = go(&skin, &ball, skin.rest(), 0..40);
    let read: State = serde_json::from_str(&serde_json::to_string(&middle).unwrap()).unwrap();
    assert!(read == middle, "JSON keeps every digit");
    let (truth, end) = go(&skin, &ball, middle.clone(), 40..80);
    for start in [middle, read] {
        let (touches, last) = go(&skin, &ball, start, 40..80);
        assert!(bits(&touches) == bits(&truth));
        assert!(bits(&last) == bits(&end));
    }
}

/// 5,184 texels are divided between threads. One, two and three threads give the same bits.
#[test]
fn threads_do_not_change_a_bit() {
    let skin = Springs::new(Site::grid(72, 72, 0.2e-3, 1), parameters()).unwrap();
    let ball = Object::new(shapes::sphere(8e-3, 0.5e-3).unwrap());
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let (touches, state) = pool.install(|| go(&skin, &ball, skin.rest(), 0..12));
        assert!(touches.iter().all(|touch| touch.facets.len() > 500));
        (bits(&touches), bits(&state))
    };
    let one = run(1);
    assert!(run(2) == one);
    assert!(run(3) == one);
}

/// The last triangle is only a hint for the search: depths and normals along a path equal those of a skin without
/// history. Friction is off, so loads are equal too.
#[test]
fn looking_where_it_was_finds_the_same() {
    let mut random = Random::new(8);
    for object in objects() {
        for sites in common::layouts(2) {
            let skin = Springs::new(sites, plain(100.0, 4e-3)).unwrap();
            let (turn, spin) = (rotation(&mut random), vector(&mut random, 0.05));
            let drift = vector(&mut random, 0.3e-3);
            let lowest = object.surface.mesh().vertices().iter().map(|&v| (turn * v).z).fold(f64::INFINITY, f64::min);
            let mut state = skin.rest();
            for i in 0..12 {
                let s = f64::from(i);
                let at = Vec3::Z * (-lowest - 1.5e-3) + drift * s;
                let pose = Pose::new(Quat::from_scaled_axis(spin * s) * turn, at);
                let target = Target::at_rest(&object, pose);
                let (touch, next) = skin.touch(&state, &Motion { targets: &[target] }, 1e-3).unwrap();
                assert_eq!(touch, common::held(&skin, &object, pose));
                state = next;
            }
        }
    }
}
