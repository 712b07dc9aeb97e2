//! The moving gel under an object: quasi-static at low speed, with the same result as the equilibrium.

use dermis_geometry::{Pose, Twist, Vec3, shapes};
use dermis_skin::gel::FixedFaces;
use dermis_skin::{Gel, GelParameters, Motion, Object, Skin, State, Target, Touch};

const RADIUS: f64 = 3e-3;
const DEPTH: f64 = 0.4e-3;

fn gel() -> Gel {
    let parameters =
        GelParameters { cell_m: 0.5e-3, mass_scaling: 4.0, damping_per_s: 300.0, ..GelParameters::default() };
    Gel::block(Vec3::new(8e-3, 8e-3, 3e-3), FixedFaces::default(), parameters).unwrap()
}

fn ball() -> Object {
    Object::new(shapes::sphere(RADIUS, 0.2e-3).unwrap())
}

/// Presses at a speed, in steps of a millisecond.
fn press(gel: &Gel, ball: &Object, speed: f64) -> (Touch, State) {
    let dt = 1e-3;
    let steps = (DEPTH / speed / dt).round() as usize;
    let mut state = gel.rest();
    let mut touch = Touch::default();
    for i in 1..=steps {
        let depth = DEPTH * i as f64 / steps as f64;
        let target = Target {
            object: ball,
            sensor_from_object: Pose::from_translation(Vec3::Z * (RADIUS - depth)),
            velocity: Twist::new(Vec3::Z * -speed, Vec3::ZERO),
        };
        (touch, state) = gel.touch(&state, &Motion { targets: &[target] }, dt).unwrap();
        let sum = touch.on_objects[0].force + touch.on_sensor.force;
        assert!(sum.length() < 1e-12);
    }
    (touch, state)
}

fn largest_difference(a: &Touch, b: &Touch) -> f64 {
    let (a, b) = (a.surface.as_ref().unwrap(), b.surface.as_ref().unwrap());
    a.values.iter().zip(&b.values).map(|(a, b)| (*a - *b).length()).fold(0.0, f64::max)
}

/// With mass scaling of four: halving the speed changes the surface by less than 1 % of depth, the kinetic energy is
/// below 1 % of the strain energy, and both surfaces are within 6 % of depth of the equilibrium everywhere (at cells of
/// a sixth of the thickness; the contact of the moving gel is slightly compliant).
#[test]
fn a_slow_press_is_quasi_static() {
    let (gel, ball) = (gel(), ball());
    let (fast, fast_state) = press(&gel, &ball, 40e-3);
    let (slow, slow_state) = press(&gel, &ball, 20e-3);
    let moved = largest_difference(&fast, &slow) / DEPTH;
    println!("halving the speed moves the surface by {moved:.5} of depth");
    assert!(moved < 0.01, "halving the speed moves the surface by {moved} of depth");
    for state in [&fast_state, &slow_state] {
        let State::Gel(state) = state else { unreachable!() };
        let ratio = gel.energy(state).ratio();
        println!("kinetic by strain energy {ratio:.2e}");
        assert!(ratio > 0.0 && ratio < 0.01, "kinetic by strain energy {ratio}");
    }
    for (touch, state) in [(&fast, &fast_state), (&slow, &slow_state)] {
        let State::Gel(state) = state else { unreachable!() };
        assert_eq!(touch.energy, Some(gel.energy(state)), "a touch tells the energies of its state");
    }
    let target = Target::at_rest(&ball, Pose::from_translation(Vec3::Z * (RADIUS - DEPTH)));
    let (rest, _) = gel.settle(&gel.rest(), &Motion { targets: &[target] }).unwrap();
    let apart = largest_difference(&slow, &rest) / DEPTH;
    assert!(apart < 0.06, "in motion and at rest differ by {apart} of depth");
    assert!((slow.on_sensor.force.z / rest.on_sensor.force.z - 1.0).abs() < 0.05, "{} N", slow.on_sensor.force.z);
    // From motion to rest: the same equilibrium for any history.
    let (settled, _) = gel.settle(&slow_state, &Motion { targets: &[target] }).unwrap();
    assert!(largest_difference(&settled, &rest) < 0.01 * DEPTH);
}

/// With objects held in place, a gel at rest stays at rest: the transfer of the equilibrium to particles moves it by
/// less than 6 % of depth.
#[test]
fn an_equilibrium_persists_in_dynamics() {
    let (gel, ball) = (gel(), ball());
    let target = Target::at_rest(&ball, Pose::from_translation(Vec3::Z * (RADIUS - DEPTH)));
    let (rest, mut state) = gel.settle(&gel.rest(), &Motion { targets: &[target] }).unwrap();
    let mut touch = rest.clone();
    for _ in 0..5 {
        (touch, state) = gel.touch(&state, &Motion { targets: &[target] }, 1e-3).unwrap();
    }
    let moved = largest_difference(&touch, &rest) / DEPTH;
    assert!(moved < 0.06, "{moved}");
    assert!((touch.on_sensor.force.z / rest.on_sensor.force.z - 1.0).abs() < 0.05);
}
