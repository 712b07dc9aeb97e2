//! Materials from forces: simulated benches return the material that made them.

use dermis::estimate::{MaterialError, MaterialFit, MaterialPoint, MaterialUnknown, fit_material};
use dermis::geometry::Primitive;
use dermis::prelude::*;

const LAYER: &str = r#"name = "layer"

[surface.grid]
rows = 5
cols = 5
pitch = "4 mm"

[skin]
kind = "layer"
thickness = "3 mm"
young = "200 kPa"
poisson = 0.4
mu = 0.5
cell = "0.8 mm"
"#;

fn spec(changes: &[(&str, &str)]) -> SensorSpec {
    let text = changes.iter().fold(LAYER.to_owned(), |text, (from, to)| text.replace(from, to));
    SensorSpec::parse("layer.toml", &text).unwrap()
}

fn ball() -> Object {
    Object::of_primitive(Primitive::Sphere { radius_m: 6e-3 }, 3e-4).unwrap()
}

/// Noise between −1 and 1.
fn noise(i: usize) -> f64 {
    (i * 7919 % 101) as f64 / 50.0 - 1.0
}

/// What a bench would measure with the real sensor, whose first contact it places `zero_m` too deep.
fn bench(real: &Sensor, zero_m: f64, shear_m: &[f64], relative_noise: f64) -> Vec<MaterialPoint> {
    let point = |(i, shear_m): (usize, f64)| {
        let depth_m = 0.1e-3 * (i % 6 + 1) as f64;
        let goal = Goal::Depth(depth_m);
        let pressed = press(real, &ball(), &Aim::default(), goal).unwrap();
        let force = pressed.sheared(real, &ball(), [shear_m, 0.0], goal).unwrap().touch.on_sensor.force;
        MaterialPoint {
            depth_m: depth_m + zero_m,
            shear_m,
            force_newton: -force.z * (1.0 + relative_noise * noise(i)),
            shear_force_newton: (shear_m != 0.0).then_some(force.x * (1.0 + relative_noise * noise(i + 50))),
            ..MaterialPoint::default()
        }
    };
    (0..12).map(|i| point((i, shear_m[i % shear_m.len()]))).collect()
}

/// The interval covers the truth, and is not wider than `most` of it.
fn check(name: &str, estimate: dermis::sensor::calibration::Estimate, truth: f64, most: f64) {
    let dermis::sensor::calibration::Estimate { value, ci95 } = estimate;
    assert!((value - truth).abs() <= ci95 && ci95 <= most, "{name}: {value} ± {ci95}, truth {truth}");
}

/// Stiffer, thinner and placed 30 µm off, with 1 % of noise.
#[test]
fn modulus_thickness_and_zero_return() {
    let real = spec(&[("200 kPa", "310 kPa"), ("3 mm", "2.5 mm")]).build(None).unwrap();
    let points = bench(&real, 30e-6, &[0.0], 0.01);
    let unknowns = [MaterialUnknown::Young, MaterialUnknown::Thickness, MaterialUnknown::Zero];
    let fit = fit_material(&spec(&[]), &ball(), &Aim::default(), &points, &unknowns, &|_| ()).unwrap();
    check("young", fit.value(MaterialUnknown::Young).unwrap(), 310e3, 60e3);
    check("thickness", fit.value(MaterialUnknown::Thickness).unwrap(), 2.5e-3, 0.6e-3);
    check("zero", fit.value(MaterialUnknown::Zero).unwrap(), 30e-6, 20e-6);
    assert!(fit.explained > 0.999, "{fit:?}");
    // The fitted description gives the forces of the fit.
    let again = fit.spec.build(None).unwrap();
    let depth_m = points[4].depth_m - fit.value(MaterialUnknown::Zero).unwrap().value;
    let force = -press(&again, &ball(), &Aim::default(), Goal::Depth(depth_m)).unwrap().touch.on_sensor.force.z;
    assert!((force / fit.predicted_newton[4][0] - 1.0).abs() < 1e-6);
}

/// A contact that is wide for the thickness of its layer tells how compressible it is.
#[test]
fn poissons_ratio_returns() {
    let real = spec(&[("poisson = 0.4", "poisson = 0.47")]).build(None).unwrap();
    let points = bench(&real, 0.0, &[0.0], 0.01);
    let fit =
        fit_material(&spec(&[]), &ball(), &Aim::default(), &points, &[MaterialUnknown::Poisson], &|_| ()).unwrap();
    // One draw of the noise: 2.3 standard errors off.
    let found = fit.value(MaterialUnknown::Poisson).unwrap();
    assert!((found.value - 0.47).abs() < 1.5 * found.ci95 && found.ci95 < 2e-3, "{found:?}");
    assert_eq!(fit.spec.name, "layer-fitted");
}

/// Sliding presses determine the friction.
#[test]
fn modulus_and_friction_return() {
    let real = spec(&[("200 kPa", "120 kPa"), ("mu = 0.5", "mu = 0.3")]).build(None).unwrap();
    let points = bench(&real, 0.0, &[0.0, 0.1e-3, 0.4e-3], 0.01);
    let unknowns = [MaterialUnknown::Young, MaterialUnknown::Friction];
    let fit = fit_material(&spec(&[]), &ball(), &Aim::default(), &points, &unknowns, &|_| ()).unwrap();
    check("young", fit.value(MaterialUnknown::Young).unwrap(), 120e3, 0.03 * 120e3);
    check("friction", fit.value(MaterialUnknown::Friction).unwrap(), 0.3, 0.05 * 0.3);
}

/// The force of a relaxing layer, stepped in time by its own solver through a ramp and a hold, gives back the spectrum that
/// it has.
#[test]
fn relaxation_returns_from_a_ramp_and_a_hold() {
    let relaxation = "relaxation = [{ ratio = 0.6, time = \"0.3 s\" }]";
    let real = spec(&[("mu = 0.5", relaxation)]).build(None).unwrap();
    let top = dermis::sensor::first_contact(&real, &ball(), &Aim::default()).unwrap();
    let (mut state, mut points) = (real.skin().rest(), Vec::new());
    let (object, dt_s) = (ball(), 0.02);
    for i in 0..40 {
        let depth_m = 0.5e-3 * (f64::from(i) / 15.0).min(1.0);
        let speed = if i > 0 && i <= 15 { -0.5e-3 / 15.0 / dt_s } else { 0.0 };
        let pose = Pose::from_translation(Vec3::NEG_Z * depth_m) * top;
        let velocity = Twist { linear: Vec3::Z * speed, angular: Vec3::ZERO };
        let target = Target { velocity, ..Target::at_rest(&object, pose) };
        let (touch, next) = real.touch(&state, &Motion { targets: &[target] }, dt_s).unwrap();
        state = next;
        let force_newton = -touch.on_sensor.force.z;
        points.push(MaterialPoint { depth_m, time_s: f64::from(i) * dt_s, force_newton, ..MaterialPoint::default() });
    }
    let unknowns = [MaterialUnknown::Young, MaterialUnknown::RelaxationRatio, MaterialUnknown::RelaxationTime];
    let start = spec(&[("200 kPa", "150 kPa"), ("mu = 0.5", "")]);
    let fit = fit_material(&start, &object, &Aim::default(), &points, &unknowns, &|_| ()).unwrap();
    for (unknown, truth) in unknowns.into_iter().zip([200e3, 0.6, 0.3]) {
        let found = fit.value(unknown).unwrap().value;
        assert!((found / truth - 1.0).abs() < 0.03, "{unknown:?}: {found}, truth {truth}");
    }
    let says = |fit: &MaterialFit| fit.warnings.iter().any(|warning| warning.contains("add its beginning"));
    assert!(!says(&fit), "{:?}", fit.warnings);
    // Without the ramp the times do not tell when the press began.
    let held = fit_material(&start, &object, &Aim::default(), &points[16..], &unknowns, &|_| ()).unwrap();
    assert!(says(&held), "{:?}", held.warnings);
}

#[test]
fn what_cannot_be_fitted_is_said() {
    let real = spec(&[]).build(None).unwrap();
    let points = bench(&real, 0.0, &[0.0], 0.0);
    let refusal = |spec: &SensorSpec, points: &[MaterialPoint], unknowns: &[MaterialUnknown]| {
        fit_material(spec, &ball(), &Aim::default(), points, unknowns, &|_| ()).unwrap_err()
    };
    let springs = dermis::sensor::presets::find("wts0614").unwrap();
    let message = refusal(&springs, &points, &[MaterialUnknown::Young]).to_string();
    assert!(message.contains("young") && message.contains("calibrate stiffness"), "{message}");
    let message = refusal(&spec(&[]), &points, &[MaterialUnknown::Friction]).to_string();
    assert!(message.contains("friction") && message.contains("along the surface"), "{message}");
    let message = refusal(&spec(&[]), &points, &[MaterialUnknown::RelaxationTime]).to_string();
    assert!(message.contains("no times"), "{message}");
    let message = refusal(&spec(&[]), &points[..1], &[MaterialUnknown::Young]).to_string();
    assert!(message.contains("at least 2 measurements, there are 1"), "{message}");
    assert!(matches!(refusal(&spec(&[]), &points, &[]), MaterialError::NothingUnknown));
    let wrong = MaterialPoint { force_newton: f64::NAN, ..points[0] };
    assert!(refusal(&spec(&[]), &[wrong, points[1]], &[MaterialUnknown::Young]).to_string().contains("measurement 1"));
    let pulled: Vec<_> =
        points.iter().map(|point| MaterialPoint { force_newton: -point.force_newton, ..*point }).collect();
    assert!(refusal(&spec(&[]), &pulled, &[MaterialUnknown::Young]).to_string().contains("positive"));
    // A press without force has no stiffness.
    let flat: Vec<_> = points.iter().map(|point| MaterialPoint { depth_m: -1e-3, ..*point }).collect();
    assert!(matches!(refusal(&spec(&[]), &flat, &[MaterialUnknown::Young]), MaterialError::Undetermined { .. }));
}
