//! Derivatives of presses on a layer with friction, against central differences.

use dermis_geometry::{Pose, Primitive, Quat, Twist, Vec3};
use dermis_skin::layer::{LayerContact, Ply, Poisson};
use dermis_skin::{Layer, LayerParameters, Motion, Object, Skin, State, Target, Touch, TouchCotangent};

const RADIUS_M: f64 = 4e-3;
const MU: f64 = 0.35;

/// A layer of two plies of one material, which has no derivatives by it: they need tables that take longer than this test.
fn layer(increments: usize, tolerance: f64) -> Layer {
    let ply = Ply { thickness_m: 1e-3, young_pa: 2e5, poisson: Poisson::Ratio(0.3) };
    let parameters = LayerParameters::new(ply, [7.2e-3; 2], 0.4e-3);
    let contact = LayerContact { mu: 0.0, tolerance };
    Layer::new(LayerParameters { plies: vec![ply; 2], contact, max_increments: increments, ..parameters }).unwrap()
}

fn ball(radius_m: f64, mu: f64) -> Object {
    Object { mu: Some(mu), ..Object::of_primitive(Primitive::Sphere { radius_m }, 1e-3).unwrap() }
}

fn pressed(layer: &Layer, object: &Object, pose: Pose) -> (Touch, State) {
    layer.settle(&layer.rest(), &Motion { targets: &[Target::at_rest(object, pose)] }).unwrap()
}

/// Weights of everything that a layer computes, and the sum with these weights.
fn cotangent(cells: usize) -> TouchCotangent {
    let wave =
        |i: usize, k: f64| Vec3::new((k * i as f64).sin(), (k * i as f64 + 1.0).cos(), (k * i as f64 + 2.0).sin());
    let mut by = TouchCotangent::default();
    by.on_sensor.force = Vec3::new(0.7, -0.4, 0.3);
    by.on_sensor.torque = Vec3::new(200.0, 150.0, -300.0);
    by.surface = (0..cells).map(|i| wave(i, 0.37) * 300.0).collect();
    by.base = (0..cells).map(|i| wave(i, 0.53) * 1e-5).collect();
    by
}

fn sum(touch: &Touch, by: &TouchCotangent) -> f64 {
    let field = |field: &Option<dermis_skin::SurfaceField>, by: &[Vec3]| -> f64 {
        field.iter().flat_map(|field| &field.values).zip(by).map(|(value, by)| value.dot(*by)).sum()
    };
    touch.on_sensor.force.dot(by.on_sensor.force)
        + touch.on_sensor.torque.dot(by.on_sensor.torque)
        + field(&touch.surface, &by.surface)
        + field(&touch.base, &by.base)
}

/// The derivative of a function at zero by Richardson's extrapolation, with its uncertainty.
fn slope(step: f64, at: impl Fn(f64) -> f64) -> (f64, f64) {
    let [coarse, fine, finest] =
        [1.0, 0.5, 0.25].map(|part| (at(part * step) - at(-part * step)) / (2.0 * part * step));
    let [a, b] = [(4.0 * fine - coarse) / 3.0, (4.0 * finest - fine) / 3.0];
    ((16.0 * b - a) / 15.0, (b - a).abs())
}

/// By position, size and friction, of a press that is solved at once and of one in three increments; `dermis validate gradients`
/// compares the others. Derivatives whose differences are not certain to 1e-5, because a cell begins to touch or to slip within a
/// step, are left out; most remain.
#[test]
fn presses_with_friction_have_the_slopes_of_their_differences() {
    let at = Vec3::new(0.13e-3, -0.21e-3, 3.63e-3);
    let pose = |at: Vec3| Pose::new(Quat::IDENTITY, at);
    let by = cotangent(18 * 18);
    for increments in [1, 3] {
        let layer = layer(increments, 1e-12);
        let object = ball(RADIUS_M, MU);
        let (touch, state) = pressed(&layer, &object, pose(at));
        let found = layer.vjp(&touch, &state, &Target::at_rest(&object, pose(at)), &by).unwrap();
        let of = |object: &Object, at: Vec3| sum(&pressed(&layer, object, pose(at)).0, &by);
        let along = |axis: Vec3| slope(2e-8, |step| of(&object, at + axis * step));
        let by_radius = found.shape.sizes(&Primitive::Sphere { radius_m: RADIUS_M })[0].1[0];
        let [(key, by_mu)] = found.parameters[..] else { panic!("{:?}", found.parameters) };
        assert_eq!(key, "mu");
        let pairs = [
            ("x", found.shape.position.x, along(Vec3::X)),
            ("z", found.shape.position.z, along(Vec3::Z)),
            ("radius", by_radius, slope(2e-8, |step| of(&ball(RADIUS_M + step, MU), at))),
            ("mu", by_mu, slope(1e-4, |step| of(&ball(RADIUS_M, MU + step), at))),
        ];
        let mut compared = 0;
        for (name, got, (truth, uncertain)) in pairs {
            let [error, uncertain] = [got - truth, uncertain].map(|value| value.abs() / truth.abs());
            println!("{increments} {name:<7} {got:>14.7e} {truth:>14.7e} {error:.1e} ± {uncertain:.1e}");
            if uncertain <= 1e-5 {
                compared += 1;
                assert!(error <= 1e-4, "{increments} {name}: {got} {truth}");
            }
        }
        assert!(compared >= 3, "{compared} of 4");
    }
}

/// Shear after the press is not part of the derivative: it is refused instead of left out in silence.
#[test]
fn a_sheared_press_with_friction_is_refused() {
    let (layer, ball) = (layer(3, 1e-5), ball(RADIUS_M, MU));
    let at = |x: f64| Target::at_rest(&ball, Pose::new(Quat::IDENTITY, Vec3::new(x, 0.0, 3.63e-3)));
    let (_, state) = pressed(&layer, &ball, at(0.0).sensor_from_object);
    let moving = Target { velocity: Twist { linear: Vec3::X * 5e-5, angular: Vec3::ZERO }, ..at(5e-5) };
    let (touch, state) = layer.touch(&state, &Motion { targets: &[moving] }, 1.0).unwrap();
    let refused = layer.vjp(&touch, &state, &at(5e-5), &TouchCotangent::default()).unwrap_err().to_string();
    assert!(refused.contains("from rest, without shear"), "{refused}");
}
