//! A pressed object moved tangentially: it sticks, then slips.

use dermis_geometry::{Vec3, shapes};
use dermis_sensor::{Aim, Goal, Pressed, Sensor, SkinKind, presets, press};
use dermis_skin::Object;

/// Larger than the sensors, so that the contact does not move with the object.
fn block() -> Object {
    Object::new(shapes::cuboid(Vec3::new(60e-3, 90e-3, 8e-3)).unwrap())
}

fn sheared(sensor: &Sensor, shear_m: [f64; 2]) -> Pressed {
    let object = block();
    let pressed = press(sensor, &object, &Aim::default(), Goal::Depth(0.5e-3)).unwrap();
    pressed.sheared(sensor, &object, shear_m, Goal::Depth(0.5e-3)).unwrap()
}

/// Under a flat sticking block, the shear s deflects the bristles of every pressed taxel: F = n σ₀ s. At 2 µm the
/// deflection is less than a hundredth of its maximum (μ k d/σ₀ = 217 µm), and the creep is smaller in the same
/// proportion.
#[test]
fn bristles_carry_a_small_shear() {
    let sensor = presets::find("wts0614").unwrap().build(None).unwrap();
    let pressed = sheared(&sensor, [2e-6, 0.0]);
    let expected = pressed.reading.active() as f64 * 2000.0 * 2e-6;
    let force = pressed.touch.on_sensor.force;
    assert_eq!(pressed.reading.active(), 84);
    assert!((force.x / expected - 1.0).abs() < 0.01, "{} {expected}", force.x);
    assert!(force.y.abs() < 1e-9 * expected);
}

/// At large displacement everything slips: the force is μ times the load, opposite to the motion.
#[test]
fn a_large_shear_ends_at_coulombs_bound() {
    for (name, hydroelastic, mu) in
        [("wts0614", false, 0.435), ("wts0614", true, 0.435), ("wts0614-layer", false, 0.435)]
    {
        let spec = presets::find(name).unwrap();
        let spec = if hydroelastic { spec.with_skin(SkinKind::Hydroelastic).unwrap() } else { spec };
        let sensor = spec.build(None).unwrap();
        let pressed = sheared(&sensor, [1.6e-3, -1.2e-3]);
        let force = pressed.touch.on_sensor.force;
        let ratio = force.truncate().length() / -force.z;
        // The deflection is within exp(−2 mm/217 µm) of its bound, which is slightly lower at the speed of the motion
        // than at rest.
        assert!((ratio / mu - 1.0).abs() < 0.005, "{name}: {ratio}");
        assert!((force.x / force.y + 4.0 / 3.0).abs() < 0.005, "{name}: {force}");
        let (taken, given) = (pressed.touch.on_sensor, pressed.touch.on_objects[0]);
        assert!((taken.force + given.force).length() < 1e-12 * taken.force.length(), "{name}");
        let on_taxels = pressed.reading.net_force_newton();
        assert!(
            (on_taxels - taken.force).length() < 1e-9 * taken.force.length(),
            "{name}: {on_taxels} {}",
            taken.force
        );
    }
}

#[test]
fn no_shear_is_the_press_and_nonsense_is_refused() {
    let sensor = presets::find("wts0614").unwrap().build(None).unwrap();
    let object = block();
    let goal = Goal::Depth(0.5e-3);
    let pressed = press(&sensor, &object, &Aim::default(), goal).unwrap();
    assert_eq!(pressed.sheared(&sensor, &object, [0.0; 2], goal).unwrap().touch, pressed.touch);
    let message = pressed.sheared(&sensor, &object, [f64::NAN, 0.0], goal).unwrap_err().to_string();
    assert!(message.contains("shear"), "{message}");
}

/// A ball that slides over an array of springs passes from taxel to taxel: at one height its force changes, a press to a
/// force holds it.
#[test]
fn a_press_to_a_force_holds_it_during_the_shear() {
    let ball = Object::new(shapes::sphere(10e-3, 0.4e-3).unwrap());
    for (name, kind) in [("wts0614", None), ("wts0614", Some(SkinKind::Hydroelastic)), ("wts0614-layer", None)] {
        let spec = presets::find(name).unwrap();
        let spec = kind.map_or(spec.clone(), |kind| spec.with_skin(kind).unwrap());
        let sensor = spec.build(None).unwrap();
        let goal = Goal::Force(2.0);
        let pressed = press(&sensor, &ball, &Aim::default(), goal).unwrap();
        let shear_m = [1.1e-3, 0.4e-3];
        let held = pressed.sheared(&sensor, &ball, shear_m, goal).unwrap();
        assert!((held.touch.on_sensor.force.z + 2.0).abs() < 3e-6, "{name}: {}", held.touch.on_sensor.force);
        assert!(held.touch.on_sensor.force.truncate().length() > 0.1, "{name}: {}", held.touch.on_sensor.force);
        let fixed = pressed.sheared(&sensor, &ball, shear_m, Goal::Depth(pressed.depth_m)).unwrap();
        assert_eq!(fixed.depth_m, pressed.depth_m);
    }
}
