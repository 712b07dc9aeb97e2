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
    // One draw of the noise: 2.4 standard errors off.
    let young = fit.value(MaterialUnknown::Young).unwrap();
    assert!((young.value - 120e3).abs() < 1.5 * young.ci95 && young.ci95 < 0.03 * 120e3, "{young:?}");
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

const TRUE_YOUNG_PA: f64 = 237e3;
const TRUTH: [(&str, &str); 2] = [("200 kPa", "237 kPa"), ("poisson = 0.4", "poisson = 0.45")];

/// Forces up to a deep press, whose contact is wide for the thickness.
fn deep_bench(changes: &[(&str, &str)], zero_m: f64, relative_noise: f64) -> Vec<MaterialPoint> {
    let real = spec(changes).build(None).unwrap();
    let point = |i: usize| {
        let depth_m = 0.1e-3 * (i + 1) as f64;
        let force = press(&real, &ball(), &Aim::default(), Goal::Depth(depth_m)).unwrap().touch.on_sensor.force;
        let force_newton = -force.z * (1.0 + relative_noise * noise(i));
        MaterialPoint { depth_m: depth_m + zero_m, force_newton, ..MaterialPoint::default() }
    };
    (0..10).map(point).collect()
}

fn fitted(start: &[(&str, &str)], points: &[MaterialPoint], unknowns: &[MaterialUnknown]) -> MaterialFit {
    fit_material(&spec(start), &ball(), &Aim::default(), points, unknowns, &|_| ()).unwrap()
}

/// Forces are proportional to the modulus, so that its best value does not depend on the start.
#[test]
fn the_modulus_returns_from_any_start() {
    let points = deep_bench(&TRUTH, 0.0, 0.0);
    for young in ["1 Pa", "20 kPa", "100 kPa", "10 MPa", "10 GPa"] {
        let fit = fitted(&[("200 kPa", young), TRUTH[1]], &points, &[MaterialUnknown::Young]);
        let found = fit.value(MaterialUnknown::Young).unwrap();
        assert!((found.value / TRUE_YOUNG_PA - 1.0).abs() < 1e-4 && fit.explained > 0.99999, "{young}: {fit:?}");
        assert!(fit.converged && fit.at_bounds.is_empty(), "{young}: {fit:?}");
    }
}

/// Three and four unknowns return from starts that are off by orders of magnitude, and a larger set of unknowns fits at least
/// as well as each smaller one.
#[test]
fn several_unknowns_return_from_distant_starts() {
    use MaterialUnknown::{Poisson, Thickness, Young, Zero};
    let points = deep_bench(&TRUTH, 40e-6, 0.0);
    for (young, poisson, thickness) in [("1 Pa", "poisson = 0.1", "3 mm"), ("10 MPa", "poisson = 0.49", "5 mm")] {
        let start = [("200 kPa", young), ("poisson = 0.4", poisson), ("3 mm", thickness)];
        let mut rms_newton = f64::INFINITY;
        for unknowns in
            [[Young].as_slice(), &[Young, Zero], &[Young, Zero, Poisson], &[Young, Zero, Poisson, Thickness]]
        {
            let fit = fitted(&start, &points, unknowns);
            assert!(fit.rms_newton < 1.001 * rms_newton && fit.converged, "{start:?}: {fit:?}");
            // Of a layer whose thickness is given as 5 mm, no Poisson's ratio fits.
            let is_right = thickness == "3 mm" || unknowns.contains(&Thickness);
            assert!(!is_right || fit.at_bounds.is_empty(), "{start:?}: {fit:?}");
            assert_eq!(fit.warnings.iter().any(|text| text.contains("ended at the bound")), !fit.at_bounds.is_empty());
            rms_newton = fit.rms_newton;
            let truths = [(Young, TRUE_YOUNG_PA), (Zero, 40e-6), (Poisson, 0.45), (Thickness, 3e-3)];
            if is_right && unknowns.len() >= 3 {
                for (unknown, truth) in truths.into_iter().take(unknowns.len()) {
                    let found = fit.value(unknown).unwrap();
                    assert!(
                        (found.value / truth - 1.0).abs() < 2e-3 && found.ci95 < 0.05 * truth,
                        "{start:?}: {fit:?}"
                    );
                }
            }
        }
    }
}

/// A ball on a layer that is much thicker than its contact is that of Hertz: forces depend on E/(1 − ν²) alone, and the fit says so.
#[test]
fn quantities_that_have_the_same_effect_are_named() {
    let thick = [
        ("mu = 0.5", ""),
        ("3 mm", "80 mm"),
        ("cell = \"0.8 mm\"", "cell = \"0.8 mm\"\nsize = [\"60 mm\", \"60 mm\"]"),
    ];
    let points = deep_bench(&[TRUTH[0], TRUTH[1], thick[0], thick[1], thick[2]], 0.0, 0.0);
    let unknowns = [MaterialUnknown::Young, MaterialUnknown::Poisson];
    match fit_material(&spec(&thick), &ball(), &Aim::default(), &points, &unknowns, &|_| ()) {
        Err(error) => assert!(error.to_string().starts_with("young and poisson cannot be told apart"), "{error}"),
        Ok(fit) => {
            assert!(
                fit.warnings.iter().any(|text| text.starts_with("young and poisson are hardly told apart")),
                "{fit:?}"
            );
            let (young, poisson) = (fit.values[0].1, fit.values[1].1);
            assert!((young.value - TRUE_YOUNG_PA).abs() <= young.ci95 && poisson.ci95 > 0.02, "{fit:?}");
        }
    }
}

/// A first contact that is off, depths in another unit and a force along x of the wrong sign have a sentence each.
#[test]
fn likely_mistakes_of_the_measurements_are_said() {
    let said = |points: &[MaterialPoint]| fitted(&[], points, &[MaterialUnknown::Young]).warnings.join("; ");
    let real = deep_bench(&[], 0.0, 0.005);
    let shifted = deep_bench(&[], 80e-6, 0.005);
    assert!(said(&shifted).contains("a first contact at a depth of about 0.0"), "{}", said(&shifted));
    assert!(!said(&real).contains("first contact"), "{}", said(&real));
    let deeper = |factor: f64| -> Vec<MaterialPoint> {
        real.iter().map(|point| MaterialPoint { depth_m: factor * point.depth_m, ..*point }).collect()
    };
    assert!(said(&deeper(1e-3)).contains("check the units of depth and force"), "{}", said(&deeper(1e-3)));
    let refusal = |points: &[MaterialPoint]| {
        fit_material(&spec(&[]), &ball(), &Aim::default(), points, &[MaterialUnknown::Young], &|_| ()).unwrap_err()
    };
    let message = refusal(&deeper(1e3)).to_string();
    assert!(message.contains("mm meant? Depths are in the unit of their column"), "{message}");
    let mut sheared = bench(&spec(&[]).build(None).unwrap(), 0.0, &[0.0, 0.1e-3, 0.4e-3], 0.0);
    sheared.iter_mut().for_each(|point| point.shear_force_newton = point.shear_force_newton.map(|force| -force));
    assert!(matches!(refusal(&sheared), MaterialError::ShearSign));
}

/// Outliers count less, also where the start is far off.
#[test]
fn an_outlier_hardly_moves_the_modulus() {
    let mut points = deep_bench(&TRUTH, 0.0, 0.002);
    points[6].force_newton *= 1.3;
    let fit = fitted(&[("200 kPa", "1 kPa"), TRUTH[1]], &points, &[MaterialUnknown::Young]);
    let found = fit.value(MaterialUnknown::Young).unwrap();
    assert!((found.value / TRUE_YOUNG_PA - 1.0).abs() < 0.02, "{fit:?}");
}
