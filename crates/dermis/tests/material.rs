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
    check("young", fit.value(MaterialUnknown::Young).unwrap(), 310e3, 70e3);
    check("thickness", fit.value(MaterialUnknown::Thickness).unwrap(), 2.5e-3, 0.7e-3);
    check("zero", fit.value(MaterialUnknown::Zero).unwrap(), 30e-6, 24e-6);
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
    // One draw of a noise in proportion to the force: 1.02 half-widths off (see `intervals_cover_the_truth`).
    let found = fit.value(MaterialUnknown::Poisson).unwrap();
    assert!((found.value - 0.47).abs() < 1.2 * found.ci95 && found.ci95 < 2e-3, "{found:?}");
    assert_eq!(fit.spec.name, "layer-fitted");
}

/// Sliding presses determine the friction.
#[test]
fn modulus_and_friction_return() {
    let real = spec(&[("200 kPa", "120 kPa"), ("mu = 0.5", "mu = 0.3")]).build(None).unwrap();
    let points = bench(&real, 0.0, &[0.0, 0.1e-3, 0.4e-3], 0.01);
    let unknowns = [MaterialUnknown::Young, MaterialUnknown::Friction];
    let fit = fit_material(&spec(&[]), &ball(), &Aim::default(), &points, &unknowns, &|_| ()).unwrap();
    // One draw of a noise in proportion to the force: 1.1 half-widths off (see `intervals_cover_the_truth`).
    let young = fit.value(MaterialUnknown::Young).unwrap();
    assert!((young.value - 120e3).abs() < 1.2 * young.ci95 && young.ci95 < 0.03 * 120e3, "{young:?}");
    check("friction", fit.value(MaterialUnknown::Friction).unwrap(), 0.3, 0.05 * 0.3);
}

/// Forces of a layer that relaxes, stepped in time by its own solver: a ramp to 0.5 mm, then a hold, in steps of 20 ms.
fn ramp_and_hold(relaxation: &str, ramp: i32, steps: i32) -> Vec<MaterialPoint> {
    let real = spec(&[("mu = 0.5", relaxation)]).build(None).unwrap();
    let top = dermis::sensor::first_contact(&real, &ball(), &Aim::default()).unwrap();
    let (mut state, object, dt_s) = (real.skin().rest(), ball(), 0.02);
    let point = |i: i32| {
        let depth_m = 0.5e-3 * (f64::from(i) / f64::from(ramp)).min(1.0);
        let speed = if i > 0 && i <= ramp { -0.5e-3 / f64::from(ramp) / dt_s } else { 0.0 };
        let pose = Pose::from_translation(Vec3::NEG_Z * depth_m) * top;
        let velocity = Twist { linear: Vec3::Z * speed, angular: Vec3::ZERO };
        let target = Target { velocity, ..Target::at_rest(&object, pose) };
        let (touch, next) = real.touch(&state, &Motion { targets: &[target] }, dt_s).unwrap();
        state = next;
        let force_newton = -touch.on_sensor.force.z;
        MaterialPoint { depth_m, time_s: f64::from(i) * dt_s, force_newton, ..MaterialPoint::default() }
    };
    (0..steps).map(point).collect()
}

const RELAXING: [MaterialUnknown; 3] =
    [MaterialUnknown::Young, MaterialUnknown::RelaxationRatio, MaterialUnknown::RelaxationTime];

/// The force of a relaxing layer through a ramp and a hold gives back the spectrum that it has.
#[test]
fn relaxation_returns_from_a_ramp_and_a_hold() {
    let points = ramp_and_hold("relaxation = [{ ratio = 0.6, time = \"0.3 s\" }]", 15, 40);
    let start = [("200 kPa", "150 kPa"), ("mu = 0.5", "")];
    let fit = fitted(&start, &points, &RELAXING);
    for (unknown, truth) in RELAXING.into_iter().zip([200e3, 0.6, 0.3]) {
        let found = fit.value(unknown).unwrap().value;
        assert!((found / truth - 1.0).abs() < 0.03, "{unknown:?}: {found}, truth {truth}");
    }
    let says = |fit: &MaterialFit| fit.warnings.iter().any(|warning| warning.contains("add its beginning"));
    assert!(!says(&fit), "{:?}", fit.warnings);
    // Without the ramp the times do not tell when the press began.
    let held = fitted(&start, &points[16..], &RELAXING);
    assert!(says(&held), "{:?}", held.warnings);
}

/// A slow ramp in few measurements: the force between them does not grow evenly, though the depth does. With forces that do,
/// the ratio is too large by 0.04.
#[test]
fn relaxation_returns_from_few_measurements_of_a_slow_ramp() {
    let all = ramp_and_hold("relaxation = [{ ratio = 0.6, time = \"1 s\" }]", 100, 300);
    for every in [25, 20, 10] {
        let points: Vec<MaterialPoint> = all.iter().step_by(every).copied().collect();
        let fit = fitted(&[("200 kPa", "150 kPa"), ("mu = 0.5", "")], &points, &RELAXING);
        for (unknown, truth) in RELAXING.into_iter().zip([200e3, 0.6, 1.0]) {
            check(&format!("every {every}: {unknown:?}"), fit.value(unknown).unwrap(), truth, 2e-3 * truth);
        }
    }
    // Most of the press between two measurements.
    let jump: Vec<MaterialPoint> = all[..1].iter().chain(&all[100..]).copied().collect();
    let fit = fitted(&[("mu = 0.5", "")], &jump, &RELAXING);
    assert!(
        fit.warnings.iter().any(|text| text.contains("between measurements 1 and 2, evenly in the fit")),
        "{fit:?}"
    );
}

/// A fit changes the first branch of the description, and keeps the second.
#[test]
fn further_branches_of_the_relaxation_are_kept() {
    let second = "{ ratio = 0.3, time = \"2 s\" }]";
    let points = ramp_and_hold(&format!("relaxation = [{{ ratio = 0.6, time = \"0.3 s\" }}, {second}"), 15, 100);
    let start = format!("relaxation = [{{ ratio = 0.2, time = \"0.5 s\" }}, {second}");
    let fit = fitted(&[("mu = 0.5", &start)], &points, &RELAXING);
    for (unknown, truth) in RELAXING.into_iter().zip([200e3, 0.6, 0.3]) {
        let found = fit.value(unknown).unwrap().value;
        assert!((found / truth - 1.0).abs() < 0.03, "{unknown:?}: {found}, truth {truth}");
    }
    let dermis::sensor::SkinSpec::Layer(layer) = &fit.spec.skin else { panic!("a layer") };
    let branches: Vec<[f64; 2]> = layer.relaxation.iter().map(|branch| [branch.ratio, branch.time.si()]).collect();
    assert_eq!(branches[0], [1, 2].map(|k| fit.values[k].1.value), "{fit:?}");
    assert_eq!(branches[1..], [[0.3, 2.0]], "{fit:?}");
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
    let outside: Vec<_> = points.iter().map(|point| MaterialPoint { depth_m: -point.depth_m, ..*point }).collect();
    let message = refusal(&spec(&[]), &outside, &[MaterialUnknown::Young]).to_string();
    assert!(message.contains("no depth is positive, the largest is -0.1 mm"), "{message}");
    let along: Vec<_> = points.iter().map(|point| MaterialPoint { shear_force_newton: Some(0.1), ..*point }).collect();
    for unknown in [MaterialUnknown::Young, MaterialUnknown::Friction] {
        assert!(matches!(refusal(&spec(&[]), &along, &[unknown]), MaterialError::ShearForceAlone));
    }
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
    // Centimetres and inches as millimetres; millinewtons and grams as newtons.
    let stronger = |factor: f64| -> Vec<MaterialPoint> {
        real.iter().map(|point| MaterialPoint { force_newton: factor * point.force_newton, ..*point }).collect()
    };
    for wrong in [deeper(0.1), deeper(1.0 / 25.4), stronger(1e3), stronger(1e3 / 9.81), stronger(1e-3)] {
        assert!(said(&wrong).contains("check the units of depth and force"), "{}", said(&wrong));
    }
    assert!(!said(&stronger(5.0)).contains("check the units"), "{}", said(&stronger(5.0)));
    let refusal = |points: &[MaterialPoint]| {
        fit_material(&spec(&[]), &ball(), &Aim::default(), points, &[MaterialUnknown::Young], &|_| ()).unwrap_err()
    };
    let message = refusal(&deeper(1e-3)).to_string();
    assert!(message.contains("the largest depth is 0.001 mm") && message.contains("is 1 mm meant?"), "{message}");
    let message = refusal(&deeper(1e3)).to_string();
    assert!(message.contains("mm meant? Depths are in the unit of their column"), "{message}");
    let mut sheared = bench(&spec(&[]).build(None).unwrap(), 0.0, &[0.0, 0.1e-3, 0.4e-3], 0.0);
    sheared.iter_mut().for_each(|point| point.shear_force_newton = point.shear_force_newton.map(|force| -force));
    assert!(matches!(refusal(&sheared), MaterialError::ShearSign));
}

fn names_a_first_contact(points: &[MaterialPoint], unknowns: &[MaterialUnknown]) -> bool {
    let fit = fitted(&[], points, unknowns);
    fit.warnings.iter().any(|text| text.contains("a first contact at a depth of about 0.0"))
}

/// A fitted thickness replaces a first contact that is off: the fit says so. One that is another than in the description does not.
#[test]
fn a_first_contact_is_named_where_the_thickness_is_fitted() {
    let unknowns = [MaterialUnknown::Young, MaterialUnknown::Thickness];
    assert!(names_a_first_contact(&deep_bench(&[], 60e-6, 0.002), &unknowns));
    assert!(!names_a_first_contact(&deep_bench(&[("3 mm", "2 mm")], 0.0, 0.0), &unknowns));
}

#[test]
#[ignore = "slow: cargo xtask validate slow"]
fn a_first_contact_is_named_where_poissons_ratio_is_fitted() {
    use MaterialUnknown::{Poisson, Thickness, Young};
    for unknowns in [[Young, Poisson].as_slice(), &[Young, Poisson, Thickness]] {
        assert!(names_a_first_contact(&deep_bench(&[], 60e-6, 0.002), unknowns), "{unknowns:?}");
    }
}

/// An offset of the load cell is no first contact. A contact whose force is small at first, or that begins deep, has none.
#[test]
fn an_offset_of_the_load_cell_is_named() {
    use MaterialUnknown::{Young, Zero};
    let real = deep_bench(&[], 0.0, 0.0);
    let before = |force_newton: f64, zero_m: f64| -> Vec<MaterialPoint> {
        let outside = (-3..=0).map(|i| MaterialPoint { depth_m: 0.1e-3 * f64::from(i), ..MaterialPoint::default() });
        let all = outside.chain(real.iter().copied()).enumerate();
        let moved = |(i, point): (usize, MaterialPoint)| MaterialPoint {
            depth_m: point.depth_m + zero_m,
            force_newton: point.force_newton + force_newton * (1.0 + 0.05 * noise(i)),
            ..point
        };
        all.map(moved).collect()
    };
    let said = |points: &[MaterialPoint], unknowns: &[MaterialUnknown]| {
        let fit = fitted(&[], points, unknowns);
        fit.warnings.iter().filter(|text| text.contains("offset of the load cell")).cloned().collect::<String>()
    };
    for (offset, zero_m) in [(0.1, 0.0), (0.1, 0.4e-3), (-0.1, 0.0)] {
        for unknowns in [[Young].as_slice(), &[Young, Zero]] {
            let text = said(&before(offset, zero_m), unknowns);
            let found: f64 = text.split(' ').nth(4).unwrap_or_default().parse().unwrap_or(0.0);
            assert!((found / offset - 1.0).abs() < 0.05, "{offset} {zero_m} {unknowns:?}: {text}");
        }
    }
    for clean in [real.clone(), before(0.0, 0.0), before(0.0, 0.4e-3), real[4..].to_vec(), deep_bench(&[], 0.0, 0.01)] {
        assert_eq!(said(&clean, &[Young, Zero]), "");
        assert_eq!(said(&clean, &[Young]), "");
    }
    // One measurement without contact.
    let first: Vec<_> = before(0.1, 0.0)[3..].to_vec();
    assert!(said(&first, &[Young]).contains("about 0.097"), "{}", said(&first, &[Young]));
    // Poisson's ratio is not determined by such forces.
    let fit = fitted(&[], &before(0.1, 0.0), &[Young, MaterialUnknown::Poisson]);
    let text = fit.warnings.join("; ");
    assert!(fit.values[1].1.ci95 > fit.values[1].1.value, "{fit:?}");
    assert!(text.contains("the interval of poisson is larger than its value"), "{text}");
}

/// 95 % intervals of the modulus cover the truth in most of 30 draws of uniform noise: of one size in all measurements, or, with
/// fewer measurements that count, in proportion to the force (a normal distribution covers 91 %).
#[test]
fn intervals_cover_the_truth() {
    let exact = deep_bench(&[], 0.0, 0.0);
    let largest = exact[exact.len() - 1].force_newton;
    for (is_relative, least) in [(false, 27), (true, 25)] {
        let covers = |draw: &u64| {
            let mut random = dermis::geometry::Random::new(*draw);
            let noisy = |point: &MaterialPoint| {
                let size = if is_relative { point.force_newton } else { largest };
                MaterialPoint { force_newton: point.force_newton + 0.01 * size * random.between(-1.0, 1.0), ..*point }
            };
            let points: Vec<MaterialPoint> = exact.iter().map(noisy).collect();
            let found = fitted(&[], &points, &[MaterialUnknown::Young]).value(MaterialUnknown::Young).unwrap();
            (found.value - 200e3).abs() <= found.ci95
        };
        let count = (1..=30).filter(covers).count();
        assert!(count >= least, "{is_relative}: {count} of 30");
    }
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

/// A description outside the usual Poisson's ratios, auxetic or nearly incompressible, is a start like another.
#[test]
fn unusual_poissons_ratios_are_starts() {
    let points = deep_bench(&[], 0.0, 0.0);
    for start in ["-0.1", "0.49995"] {
        let fit = fitted(&[("poisson = 0.4", &format!("poisson = {start}"))], &points, &YOUNG_AND_POISSON);
        let found = fit.value(MaterialUnknown::Young).unwrap();
        assert!((found.value - 200e3).abs() <= found.ci95.max(2e3), "from {start}: {fit:?}");
    }
}

const YOUNG_AND_POISSON: [MaterialUnknown; 2] = [MaterialUnknown::Young, MaterialUnknown::Poisson];

/// Without times the forces are those at rest, as those of `press`, also of a skin that relaxes.
#[test]
fn without_times_a_skin_that_relaxes_is_at_rest() {
    let relaxing = ("mu = 0.5", "relaxation = [{ ratio = 0.6, time = \"0.3 s\" }]");
    let fit = fitted(
        &[relaxing, ("200 kPa", "90 kPa")],
        &deep_bench(&[("mu = 0.5", "")], 0.0, 0.0),
        &[MaterialUnknown::Young],
    );
    let young_pa = fit.value(MaterialUnknown::Young).unwrap().value;
    assert!((young_pa / 200e3 - 1.0).abs() < 1e-3, "{young_pa}");
}

/// A record that begins before contact has no unloading, and one of a held depth, or of presses to one depth, tells nothing
/// about an offset or the first contact.
#[test]
fn a_beginning_before_contact_and_a_held_depth_are_no_doubts() {
    let mut begun = deep_bench(&[], 0.0, 0.0);
    begun.insert(0, MaterialPoint { depth_m: -0.1e-3, ..MaterialPoint::default() });
    (0..).zip(&mut begun).for_each(|(i, point)| point.time_s = f64::from(i));
    let fit = fitted(&[], &begun, &[MaterialUnknown::Young]);
    assert!(fit.warnings.iter().all(|warning| !warning.contains("decreases")), "{:?}", fit.warnings);
    let point = deep_bench(&[], 0.0, 0.0)[4];
    for seed in 0..3 {
        let at_one_depth = |i: usize| MaterialPoint {
            depth_m: point.depth_m + 1e-6 * noise(17 * i + 31 * seed),
            force_newton: point.force_newton * (1.0 + 0.01 * noise(i + 40 * seed + 5)),
            ..point
        };
        let fit = fitted(&[], &(0..12).map(at_one_depth).collect::<Vec<_>>(), &[MaterialUnknown::Young]);
        let doubts = fit.warnings.join("; ");
        assert!(!doubts.contains("before contact") && !doubts.contains("first contact"), "{doubts}");
    }
}
