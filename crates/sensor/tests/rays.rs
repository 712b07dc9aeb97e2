//! Reading by rays: closed forms of the weights, visible and hidden contacts.

use dermis_geometry::{Pose, Quat, Vec3, shapes};
use dermis_sensor::{Aim, Goal, Reading, Sensor, SensorSpec, presets, press};
use dermis_skin::{Motion, Object, Target};

/// One taxel of 8 mm on a pad that is 4 mm thick, modulus 50 kPa.
fn pad(reading: &str) -> SensorSpec {
    let text = format!(
        "name = \"pad\"\n[surface.grid]\nrows = 1\ncols = 1\npitch = \"8 mm\"\n[skin]\nkind = \"hydroelastic\"\n\
         hydroelastic_modulus = \"50 kPa\"\nthickness = \"4 mm\"\n[reading]\nkind = \"rays\"\n{reading}\n"
    );
    SensorSpec::parse("pad.toml", &text).unwrap()
}

fn pressed(sensor: &Sensor, object: &Object) -> Reading {
    press(sensor, object, &Aim::default(), Goal::Depth(1e-3)).unwrap().reading
}

const FIELD: &str = "radius = \"4 mm\"\nspacing = \"0.3 mm\"";

/// Under a plate every ray reads p = E d/h, so every window gives this pressure, and the input of the response is p
/// times the area.
#[test]
fn an_even_pressure_is_seen_as_it_is() {
    let plate = Object::new(shapes::cuboid(Vec3::new(0.05, 0.05, 0.01)).unwrap());
    for window in ["uniform", "linear", "squared", "nearest"] {
        let sensor = pad(&format!("{FIELD}\nwindow = \"{window}\"")).build(None).unwrap();
        let reading = pressed(&sensor, &plate);
        for (pressure, value) in reading.pressures_pa.as_ref().unwrap().iter().zip(&reading.values_newton) {
            assert!((pressure / 12_500.0 - 1.0).abs() < 1e-12, "{window}: {pressure}");
            assert!((value / (12_500.0 * 64e-6) - 1.0).abs() < 1e-12, "{window}: {value}");
        }
        assert!((reading.net_force_newton().z + 12_500.0 * 64e-6).abs() < 1e-9, "cells stay exact");
    }
}

/// A flat round punch of radius a at the centre of the taxel. With s = a/r the fraction of the weights under it is s²
/// (uniform), 3s² − 2s³ (linear) and 6s² − 8s³ + 3s⁴ (squared). Sampling causes an error of order spacing/r or less.
#[test]
fn windows_weigh_a_round_punch_as_their_integrals_say() {
    let (r, a) = (4e-3, 1.5e-3);
    let s: f64 = a / r;
    let punch = Object::new(shapes::cylinder(a, 2e-3, 1e-4).unwrap());
    let closed =
        [("uniform", s * s), ("linear", s * s * (3.0 - 2.0 * s)), ("squared", s * s * (6.0 - 8.0 * s + 3.0 * s * s))];
    for (window, share) in closed {
        for spacing_mm in [0.4, 0.2, 0.1] {
            let mut worst = 0f64;
            for seed in 0..3 {
                let reading =
                    format!("radius = \"4 mm\"\nspacing = \"{spacing_mm} mm\"\nwindow = \"{window}\"\nseed = {seed}");
                let sensor = pad(&reading).build(None).unwrap();
                let seen = pressed(&sensor, &punch).pressures_pa.unwrap()[0];
                worst = worst.max((seen / 12_500.0 - share).abs());
            }
            println!("{window}, {spacing_mm} mm: error {worst:.5} of the full pressure");
            // First order; measured constant up to 0.35.
            assert!(worst < 0.5 * spacing_mm / 4.0, "{window}, {spacing_mm} mm: {worst}");
        }
    }
}

/// Contact on the nail side of a fingertip is behind the rays of the pad; a taxel at the centre of the pad reads zero.
#[test]
fn the_back_of_a_contact_is_not_seen() {
    let mut spec = presets::find("shadow-fingertip").unwrap();
    spec.reading = pad("radius = \"5 mm\"\nspacing = \"0.5 mm\"").reading;
    let sensor = spec.build(None).unwrap();
    let ball = Object::new(shapes::sphere(6e-3, 1e-3).unwrap());
    let low = sensor.surface().bounds().min.z;
    let below = Pose::new(Quat::IDENTITY, Vec3::new(0.0, 0.0, low - 6e-3 + 1.5e-3));
    let motion = |pose: Pose| [Target::at_rest(&ball, pose)];
    let read = |pose: Pose| {
        let (touch, _) = sensor.touch(&sensor.skin().rest(), &Motion { targets: &motion(pose) }, 1e-3).unwrap();
        (touch.on_sensor.force.z, sensor.read(&touch).pressures_pa.unwrap())
    };
    let (force, pressures) = read(below);
    assert!(force > 0.01, "it presses from below: {force}");
    assert!(pressures.iter().all(|&p| p == 0.0), "{pressures:?}");
    let (force, pressures) = read(Pose::new(Quat::IDENTITY, Vec3::new(0.0, 2e-3, 6e-3 - 1.5e-3)));
    assert!(force < -0.01 && pressures.iter().any(|&p| p > 100.0), "{force}, {pressures:?}");
}

/// The twelve taxels and the shape are symmetric about x = 0, the samples are not: mirrored taxels agree within the
/// sampling error.
#[test]
fn the_fingertip_sees_both_sides_alike() {
    let mut spec = presets::find("shadow-fingertip").unwrap();
    let plate = Object::new(shapes::cuboid(Vec3::new(0.05, 0.05, 0.01)).unwrap());
    for distance in ["euclidean", "geodesic"] {
        spec.reading = pad(&format!("radius = \"5 mm\"\nspacing = \"0.25 mm\"\ndistance = \"{distance}\"")).reading;
        let sensor = spec.build(None).unwrap();
        let pressures = pressed(&sensor, &plate).pressures_pa.unwrap();
        let most = pressures.iter().copied().fold(0.0, f64::max);
        assert!(most > 100.0, "{pressures:?}");
        for i in 0..6 {
            assert!((pressures[i] - pressures[11 - i]).abs() < 0.05 * most, "{distance}, taxel {i}: {pressures:?}");
        }
    }
}

/// Two parts with disjoint receptive fields: the pressure of the taxel is the mean of their pressures, with the same
/// number of samples for each.
#[test]
fn sub_taxels_share_a_taxel() {
    let part = |x: f64| {
        format!(
            "[[reading.sub_taxels]]\ntaxel = 0\ncenter = [\"{x} mm\", \"0 mm\", \"0 mm\"]\nnormal = [0.0, 0.0, 2.0]\nradius = \"1.5 mm\"\n"
        )
    };
    let field = "radius = \"4 mm\"\nspacing = \"0.1 mm\"";
    // The plate presses on x > 0.
    let plate = Object::new(shapes::cuboid(Vec3::new(0.04, 0.05, 0.01)).unwrap());
    let aim = Aim { at_m: [0.02, 0.0], ..Aim::default() };
    let seen = |parts: &str| {
        let sensor = pad(&format!("{field}\n{parts}")).build(None).unwrap();
        press(&sensor, &plate, &aim, Goal::Depth(1e-3)).unwrap().reading.pressures_pa.unwrap()[0] / 12_500.0
    };
    assert!(seen(&part(-2.0)) == 0.0 && (seen(&part(2.0)) - 1.0).abs() < 1e-12);
    let both = seen(&format!("{}{}", part(-2.0), part(2.0)));
    assert!((both - 0.5).abs() < 0.02, "{both}");
}

/// Point loads are represented by tiles: uniform springs under a plate show their pressure.
#[test]
fn springs_can_be_read_by_rays() {
    let mut spec = presets::find("uji-foam-14x6").unwrap();
    spec.reading = pad("radius = \"3 mm\"\nspacing = \"0.5 mm\"").reading;
    let sensor = spec.build(None).unwrap();
    let plate = Object::new(shapes::cuboid(Vec3::new(0.1, 0.1, 0.01)).unwrap());
    let reading = pressed(&sensor, &plate);
    let area = sensor.taxels().areas_m2()[0];
    for (i, pressure) in reading.pressures_pa.unwrap().iter().enumerate() {
        assert!((pressure / (58.5e-3 / area) - 1.0).abs() < 1e-9, "taxel {i}: {pressure}");
    }
}

#[test]
fn slips_name_their_key() {
    let refusal = |reading: &str| pad(reading).build(None).unwrap_err().to_string();
    assert!(refusal("radius = \"0 mm\"\nspacing = \"1 mm\"").contains("`radius`"));
    assert!(refusal("radius = \"4 mm\"\nspacing = \"-1 mm\"").contains("`spacing`"));
    assert!(refusal("radius = \"4 mm\"\nspacing = \"1 um\"").contains("be coarser"));
    assert!(refusal(&format!("{FIELD}\ncone = \"0 deg\"")).contains("`cone`"));
    let far = "[[reading.sub_taxels]]\ntaxel = 9\ncenter = [\"0 mm\", \"0 mm\", \"0 mm\"]\nnormal = [0.0, 0.0, 1.0]";
    assert!(refusal(&format!("{FIELD}\n{far}")).contains("taxel 9"));
    let flat = far.replace("taxel = 9", "taxel = 0").replace("[0.0, 0.0, 1.0]", "[0.0, 0.0, 0.0]");
    assert!(refusal(&format!("{FIELD}\n{flat}")).contains("taxel 0"));
    let turned = far.replace("taxel = 9", "taxel = 0").replace("[0.0, 0.0, 1.0]", "[0.0, 0.0, -1.0]");
    assert!(refusal(&format!("{FIELD}\n{turned}")).contains("taxel 0 at"), "it looks away from the skin");
    let unknown =
        SensorSpec::parse("pad.toml", &pad(FIELD).to_toml().replace("radius", "radios")).unwrap_err().to_string();
    assert!(unknown.contains("radios"), "{unknown}");
    assert_eq!(SensorSpec::parse("pad.toml", &pad(FIELD).to_toml()).unwrap(), pad(FIELD));
}
