//! Sensors with a gel skin: readings of taxels under the gel, and fixed regions.

use crate::common::sphere;
use dermis_geometry::files::{LengthUnit, write_stl};
use dermis_geometry::quantity::Length;
use dermis_geometry::{Pose, Primitive, Vec3, shapes};
use dermis_sensor::{Aim, Cotangents, Goal, Pressed, SensorSpec, SkinSpec, press, press_to_pose};
use dermis_skin::{Gel, Object, Warning};

const GEL: &str = r#"
name = "a gel"
[surface.grid]
rows = 10
cols = 10
pitch = "1 mm"
[skin]
kind = "gel"
young = "145 kPa"
poisson = 0.45
thickness = "3 mm"
size = ["14 mm", "14 mm"]
cell = "0.5 mm"
"#;

fn pressed(spec: &SensorSpec, depth_m: f64) -> Pressed {
    press(&spec.build(None).unwrap(), &sphere(5e-3, 0.25e-3), &Aim::default(), Goal::Depth(depth_m)).unwrap()
}

/// Taxels lie under the gel, so they read the stress on its base: wider than the contact, and equal to that of a layer
/// of the same material at strains within linear elasticity. Taxels plus the stress beside the array sum to the load.
#[test]
fn taxels_feel_the_base_as_under_a_layer() {
    let gel = SensorSpec::parse("gel.toml", GEL).unwrap();
    let layer = GEL.replace("\"gel\"", "\"layer\"").replace("cell = \"0.5 mm\"", "cell = \"0.1 mm\"");
    let layer = SensorSpec::parse("layer.toml", &layer).unwrap();
    let (gel, layer) = (pressed(&gel, 0.15e-3), pressed(&layer, 0.15e-3));
    let load = gel.touch.on_sensor.force;
    let reading = &gel.reading;
    let sum = reading.forces_newton.iter().sum::<Vec3>() + reading.outside_newton;
    assert!((sum - load).length() < 1e-12 * load.length());
    let beside = (reading.outside_newton - layer.reading.outside_newton).length() / load.length();
    assert!(beside < 0.04, "{} and {} N pass beside", reading.outside_newton, layer.reading.outside_newton);
    let most = layer.reading.values_newton.iter().copied().fold(0.0, f64::max);
    for (i, (a, b)) in gel.reading.values_newton.iter().zip(&layer.reading.values_newton).enumerate() {
        assert!((a - b).abs() < 0.06 * most, "taxel {i}: {a} N under the gel, {b} N under the layer");
    }
    // The contact radius is about 1 mm: its four taxels do not carry the whole load.
    let middle: f64 = [44, 45, 54, 55].iter().map(|&i| reading.values_newton[i]).sum();
    assert!(middle < 0.6 * reading.sum_newton, "{middle} N of {} N", reading.sum_newton);
}

/// A gel on a bone from a file is stiffer than without it; a description that fixes no face, no file or no gel returns
/// an error with its key.
#[test]
fn gels_are_held_where_the_file_says() {
    let folder = std::env::temp_dir().join(format!("dermis-bone-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let bone = shapes::cuboid(Vec3::new(20e-3, 20e-3, 2e-3)).unwrap();
    let bone = bone.transformed(&Pose::from_translation(Vec3::Z * -3e-3));
    std::fs::write(folder.join("bone.stl"), write_stl(&bone, LengthUnit::Metre)).unwrap();
    let held = |more: &str| SensorSpec::parse("gel.toml", &format!("{GEL}{more}")).unwrap();
    let aim = Aim::default();
    let force = |spec: &SensorSpec| {
        let sensor = spec.build(Some(&folder))?;
        let done = press(&sensor, &sphere(5e-3, 0.3e-3), &aim, Goal::Depth(0.3e-3)).unwrap();
        Ok::<f64, dermis_sensor::SensorError>(-done.touch.on_sensor.force.z)
    };
    let free = force(&held("")).unwrap();
    let on_bone =
        force(&held("bonded = []\nheld = { file = \"bone.stl\", unit = \"m\", within = \"0 mm\" }\n")).unwrap();
    // The bone reaches up to 2 mm under the surface: compares with a block of that thickness.
    let mut thin = held("");
    let SkinSpec::Gel(gel) = &mut thin.skin else { unreachable!() };
    gel.thickness = Some(Length::new(2e-3));
    let thin = force(&thin).unwrap();
    let refused = |more: &str| force(&held(more)).unwrap_err().to_string();
    let nothing = refused("bonded = []\n");
    let far = refused("held = { file = \"bone.stl\", unit = \"mm\", within = \"0 mm\" }\n");
    let no_file = refused("held = { file = \"none.stl\", unit = \"mm\", within = \"1 mm\" }\n");
    std::fs::remove_dir_all(&folder).unwrap();
    assert!((on_bone / thin - 1.0).abs() < 0.02 && on_bone > 1.15 * free, "{on_bone} N, thin {thin} N, free {free} N");
    assert!(nothing.contains("bonded"), "{nothing}");
    assert!(far.contains("held"), "{far}");
    assert!(no_file.contains("none.stl"), "{no_file}");
}

/// The setting of Tacchi is read in motion. Its taxels read the base, where a load under a ball is wider than the contact;
/// the contact is as wide as the imprint; and a warning says that the gel is not at rest.
#[test]
fn tacchi_s_taxels_read_the_base_and_its_motion_is_reported() {
    let coarse = serde_json::json!({ "skin": { "paper": {
        "particles": [51, 51, 11], "grid_nodes": 128, "indenter_particles": 20000
    } } });
    let spec = dermis_sensor::presets::find("tacchi").unwrap().with_overrides(coarse.as_object().unwrap()).unwrap();
    let pressed = pressed(&spec, 1e-3);
    let (touch, reading) = (&pressed.touch, &pressed.reading);
    let half = 0.5 * reading.values_newton.iter().copied().fold(0.0, f64::max);
    assert!(reading.values_newton.iter().filter(|value| **value > half).count() >= 4);
    let sum = reading.forces_newton.iter().sum::<Vec3>() + reading.outside_newton;
    assert!((sum - touch.on_sensor.force).length() < 1e-9 * touch.on_sensor.force.length());
    // A ball of 5 mm, 1 mm deep, leaves an imprint of 15.7 mm² (Hertz) to 28.3 mm² (undeformed surface) at rest; this gel
    // recoils, and its grid has cells of 0.26 mm.
    let area_mm2 = touch.area_m2() * 1e6;
    assert!((5.0..45.0).contains(&area_mm2), "{area_mm2} mm²");
    let moving = |warning: &Warning| matches!(warning, Warning::NotQuasiStatic { ratio } if *ratio > 0.01);
    assert!(touch.warnings.iter().any(moving), "{:?}", touch.warnings);
}

/// The taxels of a gel that is free at its bottom lie on its surface and read the forces of contact points: their slopes by the
/// height of the object are those of differences, and as large as that of the force.
#[test]
fn taxels_on_a_gel_have_the_slopes_of_their_differences() {
    let text = r#"
        name = "a gel between walls"
        [surface.grid]
        rows = 5
        cols = 5
        pitch = "1.6 mm"
        [skin]
        kind = "gel"
        young = "145 kPa"
        poisson = 0.4
        thickness = "2.4 mm"
        cell = "0.8 mm"
        bonded = ["low-x", "high-x"]
    "#;
    let sensor = SensorSpec::parse("walls.toml", text).unwrap().build(None).unwrap();
    let gel = sensor.skin_as::<Gel>().unwrap().clone().solved_to(1e-11);
    let sensor = sensor.with_skin(gel);
    let ball = Object::of_primitive(Primitive::Sphere { radius_m: 4e-3 }, 1e-3).unwrap();
    let aim = Aim { at_m: [0.3e-3, 0.2e-3], ..Aim::default() };
    let pose = press(&sensor, &ball, &aim, Goal::Depth(0.6e-3)).unwrap().sensor_from_object;
    let pressed = |step: f64| {
        let moved = Pose { translation: pose.translation + Vec3::Z * step, ..pose };
        press_to_pose(&sensor, &ball, &moved).unwrap()
    };
    let weights: Vec<f64> = (0..sensor.taxels().len()).map(|i| 1.0 + (0.7 * i as f64).sin()).collect();
    let sum = |pressed: Pressed| -> f64 {
        pressed.reading.values_newton.iter().zip(&weights).map(|(value, by)| value * by).sum()
    };
    let by = Cotangents { taxels: weights.clone(), ..Cotangents::default() };
    let got = sensor.vjp(&ball, &pressed(0.0), &by).unwrap().position.z;
    let difference = |step: f64| (sum(pressed(step)) - sum(pressed(-step))) / (2.0 * step);
    let truth = (4.0 * difference(1e-7) - difference(2e-7)) / 3.0;
    assert!((got / truth - 1.0).abs() < 1e-5, "{got} {truth}");
    assert!(got.abs() > 100.0, "{got} N/m");
}
