//! Derivatives of presses on a gel against central differences.

use dermis_geometry::shapes::{self, indenters};
use dermis_geometry::{Pose, Primitive, Quat, Vec3};
use dermis_skin::gel::{Constitution, Face, FixedFaces, GelFriction};
use dermis_skin::{
    Gel, GelParameters, Motion, Object, Skin, SkinGradient, State, SurfaceField, Target, Touch, TouchCotangent,
};

fn parameters() -> GelParameters {
    GelParameters { cell_m: 0.6e-3, poisson: 0.42, ..GelParameters::default() }
}

fn block(faces: FixedFaces, parameters: GelParameters) -> Gel {
    Gel::block(Vec3::new(7.2e-3, 6.6e-3, 1.8e-3), faces, parameters).unwrap()
}

fn of_shape(primitive: Primitive) -> Object {
    Object::of_primitive(primitive, 1e-3).unwrap()
}

fn pressed(gel: &Gel, object: &Object, pose: Pose) -> (Touch, State) {
    gel.settle(&gel.rest(), &Motion { targets: &[Target::at_rest(object, pose)] }).unwrap()
}

fn gradient(gel: &Gel, object: &Object, pose: Pose, by: &TouchCotangent) -> SkinGradient {
    let (touch, state) = pressed(gel, object, pose);
    gel.vjp(&touch, &state, &Target::at_rest(object, pose), by).unwrap()
}

/// Weights of everything that a gel computes; without those of the stress if the bottom is free.
fn cotangent(touch: &Touch) -> TouchCotangent {
    let wave =
        |i: usize, k: f64| Vec3::new((k * i as f64).sin(), (k * i as f64 + 1.0).cos(), (k * i as f64 + 2.0).sin());
    let cells = |field: &Option<SurfaceField>| field.as_ref().map_or(0, |field| field.values.len());
    let mut by = TouchCotangent::default();
    by.on_sensor.force = Vec3::new(0.7, -0.4, 0.3);
    by.on_sensor.torque = Vec3::new(200.0, 150.0, -300.0);
    by.surface = (0..cells(&touch.surface)).map(|i| wave(i, 0.37) * 300.0).collect();
    by.base = (0..cells(&touch.base)).map(|i| wave(i, 0.53) * 1e-5).collect();
    by.forces = (0..touch.facets.len()).map(|i| wave(i, 0.29)).collect();
    by
}

/// The sum of a touch with these weights.
fn sum(touch: &Touch, by: &TouchCotangent) -> f64 {
    let field = |field: &Option<SurfaceField>, by: &[Vec3]| -> f64 {
        field.iter().flat_map(|field| &field.values).zip(by).map(|(value, by)| value.dot(*by)).sum()
    };
    touch.on_sensor.force.dot(by.on_sensor.force)
        + touch.on_sensor.torque.dot(by.on_sensor.torque)
        + touch.facets.iter().zip(&by.forces).map(|(facet, by)| facet.force_on_sensor().dot(*by)).sum::<f64>()
        + field(&touch.surface, &by.surface)
        + field(&touch.base, &by.base)
}

/// The derivative of a function at zero by Richardson's extrapolation; `None` if two of them differ by more than 1e-5,
/// because a point begins or ceases to touch.
fn slope(step: f64, at: impl Fn(f64) -> f64) -> Option<f64> {
    let [coarse, fine, finest] =
        [1.0, 0.5, 0.25].map(|part| (at(part * step) - at(-part * step)) / (2.0 * part * step));
    let [a, b] = [(4.0 * fine - coarse) / 3.0, (4.0 * finest - fine) / 3.0];
    ((a - b).abs() <= 1e-5 * b.abs()).then_some(b)
}

/// By position, rotation, sizes and material, of force, torque, stress, surface and forces of points: a block on its bottom, one
/// held at two sides, and one of a linear material.
#[test]
#[ignore = "slow: cargo xtask validate slow"]
fn presses_have_the_slopes_of_their_differences() {
    let axes = Vec3::new(4e-3, 3e-3, 2.5e-3);
    let ellipsoid = Primitive::Ellipsoid { semi_axes_m: axes };
    let tilted = Quat::from_rotation_x(0.3) * Quat::from_rotation_y(-0.2);
    let linear = GelParameters { constitution: Constitution::Linear, ..parameters() };
    let sides = FixedFaces::at(&[Face::LowX, Face::HighY]);
    let all = ["x", "z", "rotation x", "rotation z", "scale", "young", "poisson"];
    let cases = [
        ("bottom", FixedFaces::default(), parameters(), ellipsoid, &all[..]),
        ("sides", sides, parameters(), Primitive::Sphere { radius_m: 3e-3 }, &["x", "scale", "young", "poisson"]),
        ("linear", FixedFaces::default(), linear, ellipsoid, &["z", "poisson"]),
    ];
    let (mut compared, mut count) = (0, 0);
    for (name, faces, parameters, primitive, wanted) in cases {
        let exact = |parameters: GelParameters| block(faces, parameters).solved_to(1e-11);
        let (gel, object) = (exact(parameters), of_shape(primitive));
        let at = Vec3::new(0.13e-3, -0.21e-3, if name == "sides" { 2.75e-3 } else { 2.25e-3 });
        let pose = Pose::new(tilted, at);
        let by = cotangent(&pressed(&gel, &object, pose).0);
        let found = gradient(&gel, &object, pose, &by);
        let of = |gel: &Gel, object: &Object, pose: Pose| sum(&pressed(gel, object, pose).0, &by);
        let moved = |axis: Vec3| slope(2e-7, |step| of(&gel, &object, Pose::new(tilted, at + axis * step)));
        let rotated = |axis: Vec3| {
            slope(5e-5, |step| of(&gel, &object, Pose::new(Quat::from_axis_angle(axis, step) * tilted, at)))
        };
        let scaled = || slope(5e-5, |step| of(&gel, &of_shape(primitive.scaled(1.0 + step)), pose));
        let of_material =
            |step: f64, with: &dyn Fn(f64) -> GelParameters| slope(step, |step| of(&exact(with(step)), &object, pose));
        let [(_, by_young), (_, by_poisson)] = found.parameters[..] else { panic!("{:?}", found.parameters) };
        let GelParameters { young_pa, poisson, .. } = parameters;
        for &parameter in wanted {
            let (got, truth) = match parameter {
                "x" => (found.shape.position.x, moved(Vec3::X)),
                "z" => (found.shape.position.z, moved(Vec3::Z)),
                "rotation x" => (found.shape.rotation.x, rotated(Vec3::X)),
                "rotation z" => (found.shape.rotation.z, rotated(Vec3::Z)),
                "scale" => (found.shape.scale(), scaled()),
                "young" => {
                    (by_young, of_material(1e2, &|step| GelParameters { young_pa: young_pa + step, ..parameters }))
                }
                _ => (by_poisson, of_material(1e-5, &|step| GelParameters { poisson: poisson + step, ..parameters })),
            };
            println!("{name} {parameter} {got:e} {truth:?}");
            count += 1;
            let Some(truth) = truth else { continue };
            let error = (got - truth).abs() / truth.abs();
            assert!(error <= 2e-5, "{name} {parameter}: {got} {truth}");
            compared += 1;
        }
    }
    assert!(4 * compared >= 3 * count, "{compared} of {count}");
}

/// A press with the usual precision has the derivatives of the equilibrium nearby with a stiffness of contact. Those of the force
/// by the height are those of differences across many points that begin to touch, within 2 % (measured: 0.9 %).
#[test]
fn usual_presses_have_slopes_near_their_differences() {
    const STEP_M: f64 = 4e-5;
    let parameters = GelParameters { cell_m: 0.5e-3, ..parameters() };
    let gel = Gel::block(Vec3::new(10e-3, 10e-3, 3e-3), FixedFaces::default(), parameters).unwrap();
    let ball = of_shape(Primitive::Sphere { radius_m: 4e-3 });
    let mut by = TouchCotangent::default();
    by.on_sensor.force = Vec3::Z;
    for depth_m in [0.36e-3, 0.67e-3] {
        let at = |step: f64| Pose::from_translation(Vec3::new(0.1e-3, -0.06e-3, 4e-3 - depth_m + step));
        let [above, below] = [STEP_M, -STEP_M].map(|step| pressed(&gel, &ball, at(step)).0.on_sensor.force.z);
        let (got, truth) = (gradient(&gel, &ball, at(0.0), &by).shape.position.z, (above - below) / (2.0 * STEP_M));
        assert!((got / truth - 1.0).abs() < 0.02, "{got} {truth}");
    }
}

/// What has no derivatives says so in one sentence.
#[test]
fn friction_motion_and_other_laws_are_refused() {
    let ball = of_shape(Primitive::Sphere { radius_m: 3e-3 });
    let target = Target::at_rest(&ball, Pose::from_translation(Vec3::Z * 2.8e-3));
    let refused = |gel: &Gel, (touch, state): (Touch, State)| {
        gel.vjp(&touch, &state, &target, &TouchCotangent::default()).unwrap_err().to_string()
    };
    let with = |change: GelParameters| block(FixedFaces::default(), change);
    let settled = |gel: &Gel| pressed(gel, &ball, target.sensor_from_object);
    let rough = with(GelParameters { friction: GelFriction::Coulomb { mu: 0.4 }, ..parameters() });
    let corotated = with(GelParameters { constitution: Constitution::FixedCorotated, ..parameters() });
    let plain = with(parameters());
    assert!(refused(&rough, settled(&rough)).contains("without friction"));
    assert!(refused(&corotated, settled(&corotated)).contains("neo-hookean"));
    let moving = plain.touch(&plain.rest(), &Motion { targets: &[target] }, 1e-5).unwrap();
    assert!(refused(&plain, moving).contains("at rest"));
    let above = Target::at_rest(&ball, Pose::from_translation(Vec3::Z * 4e-3));
    let (touch, state) = pressed(&plain, &ball, above.sensor_from_object);
    let free = plain.vjp(&touch, &state, &above, &TouchCotangent::default()).unwrap();
    assert_eq!((free.shape.position, free.parameters.len()), (Vec3::ZERO, 2));
}

/// A line narrower than a cell, whose points are held in front of its faces during the press.
#[test]
fn a_narrow_line_has_slopes_near_its_differences() {
    const STEP_M: f64 = 4e-5;
    let parameters = GelParameters { cell_m: 1e-3, ..parameters() };
    let gel = Gel::block(Vec3::new(20e-3, 20e-3, 4e-3), FixedFaces::default(), parameters).unwrap();
    let line = Object::new(indenters::find("line").unwrap());
    let mut by = TouchCotangent::default();
    by.on_sensor.force = Vec3::Z;
    let at = |step: f64| Pose::from_translation(Vec3::new(0.1e-3, 0.2e-3, -0.6e-3 + step));
    let [above, below] = [STEP_M, -STEP_M].map(|step| pressed(&gel, &line, at(step)).0.on_sensor.force.z);
    let (got, truth) = (gradient(&gel, &line, at(0.0), &by).shape.position.z, (above - below) / (2.0 * STEP_M));
    assert!((got / truth - 1.0).abs() < 0.03, "{got} {truth}");
}

/// The taxels of a curved gel lie on its surface: the slopes of the forces of its contact points are those of differences.
#[test]
fn a_curved_gel_has_the_slopes_of_its_differences() {
    let body = shapes::sphere(6e-3, 0.6e-3).unwrap().transformed(&Pose::from_translation(Vec3::Z * -6e-3));
    let parameters = GelParameters { cell_m: 1e-3, ..parameters() };
    let gel = Gel::solid(&body, -5e-3, FixedFaces::default(), parameters).unwrap().solved_to(1e-11);
    let ball = of_shape(Primitive::Sphere { radius_m: 4e-3 });
    let at = |step: f64| Pose::from_translation(Vec3::new(0.2e-3, -0.1e-3, 3.5e-3 + step));
    let by = cotangent(&pressed(&gel, &ball, at(0.0)).0);
    let got = gradient(&gel, &ball, at(0.0), &by).shape.position.z;
    let truth = slope(1e-7, |step| sum(&pressed(&gel, &ball, at(step)).0, &by)).unwrap();
    assert!((got / truth - 1.0).abs() < 2e-5, "{got} {truth}");
}
