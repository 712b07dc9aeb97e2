//! Magnets in a layer and magnetometers under it.

use crate::common::sphere;
use dermis_geometry::{Vec2, Vec3};
use dermis_sensor::magnetic::{cuboid, cylinder, dipole};
use dermis_sensor::{Aim, Goal, SensorSpec, press};
use dermis_skin::Layer;

const SENSOR: &str = r#"
name = "magnetic"

[surface.grid]
rows = 4
cols = 4
pitch = "5 mm"

[skin]
kind = "layer"
thickness = "6 mm"
young = "0.2 MPa"
poisson = 0.4
cell = "0.4 mm"
mu = 0.5

[magnets]
positions = [["5 mm", "5 mm", "-3 mm"], ["-5 mm", "5 mm", "-3 mm"], ["0 mm", "-5 mm", "-3 mm"]]

[magnets.shape]
kind = "cylinder"
diameter = "3 mm"
height = "1 mm"
remanence = "1.2 T"

[magnetometers]
positions = [["0 mm", "0 mm", "-8 mm"], ["6 mm", "0 mm", "-8 mm"]]
"#;

fn spec() -> SensorSpec {
    SensorSpec::parse("magnetic.toml", SENSOR).unwrap()
}

/// Dipoles, cylinders and cuboids have the fields of magpylib (validation/magnetic) to 1e-9.
#[test]
fn fields_of_magnets_are_those_of_magpylib() {
    let golden: serde_json::Value = serde_json::from_str(include_str!("golden/magnetic.json")).unwrap();
    let vector = |value: &serde_json::Value| Vec3::from_array(std::array::from_fn(|i| value[i].as_f64().unwrap()));
    for case in golden["cases"].as_array().unwrap() {
        let number = |key: &str| case[key].as_f64();
        let direction = vector(&case["direction"]);
        let places = case["at_m"].as_array().unwrap().iter().zip(case["field_t"].as_array().unwrap());
        for (at, truth) in places.map(|(at, truth)| (vector(at), vector(truth))) {
            let found = match (number("moment_am2"), number("remanence_t"), number("diameter_m")) {
                (Some(moment), ..) => dipole(direction * moment, at),
                (None, Some(b), Some(diameter)) => cylinder(diameter, number("height_m").unwrap(), direction * b, at),
                (None, Some(b), None) => cuboid(vector(&case["size_m"]), direction * b, at),
                _ => panic!("{case}"),
            };
            let error = (found - truth).length() / truth.length();
            assert!(error < 1e-9, "{} at {at}: {found} for {truth}, {error:e}", case["name"]);
        }
    }
}

/// Far from it every magnet is a dipole of moment J V/μ₀; the closed forms meet it at the distance where it replaces them.
#[test]
fn far_magnets_are_dipoles() {
    let (size, b) = (Vec3::new(2e-3, 3e-3, 1e-3), Vec3::new(0.3, -0.5, 1.1));
    let moment = b * (size.x * size.y * size.z / dermis_sensor::magnetic::MU_0);
    for at in [Vec3::new(0.3, 0.4, -0.7), Vec3::new(-0.02, 0.09, 0.03) * 3.0] {
        let (found, truth) = (cuboid(size, b, at), dipole(moment, at));
        assert!((found - truth).length() < 1e-4 * truth.length(), "{at}: {found} for {truth}");
    }
}

/// The reading is the field of magnets moved and rotated with the material, in the frames of the chips.
#[test]
fn magnets_move_with_the_material_at_their_depth() {
    let mut spec = spec();
    let sensor = spec.build(None).unwrap();
    let ball = sphere(6e-3, 0.5e-3);
    let aim = Aim { at_m: [4e-3, 3e-3], ..Aim::default() };
    let pressed = press(&sensor, &ball, &aim, Goal::Depth(0.8e-3)).unwrap();
    let field = pressed.reading.magnetic_tesla.clone().unwrap();
    let layer = sensor.skin_as::<Layer>().unwrap();
    let loads = pressed.touch.facets.iter().map(|facet| (facet.at().truncate(), facet.force_on_sensor()));
    let loads: Vec<(Vec2, Vec3)> = loads.collect();
    let inside = layer.interior(3e-3);
    let mut truth = Vec3::ZERO;
    for (x, y) in [(5e-3, 5e-3), (-5e-3, 5e-3), (0.0, -5e-3)] {
        let motion = inside.motion(Vec2::new(x, y), loads.iter().copied());
        let at = Vec3::new(x, y, -3e-3) + motion.displacement_m;
        let rotation = dermis_geometry::Quat::from_scaled_axis(motion.rotation_rad);
        let r = rotation.inverse() * (Vec3::new(0.0, 0.0, -8e-3) - at);
        truth += rotation * cylinder(3e-3, 1e-3, Vec3::Z * 1.2, r);
        if x > 0.0 {
            assert!(motion.displacement_m.z < -0.1e-3, "{motion:?}");
        }
    }
    assert!((field[0] - truth).length() < 1e-12 * truth.length(), "{} for {truth}", field[0]);
    let rest = sensor.magnetics().unwrap().rest();
    assert!((field[1] - rest[1]).length() > 0.01 * rest[1].length());
    // A chip rotated by 90° about z reads y as x, and the Earth's field adds.
    let chips = spec.magnetometers.as_mut().unwrap();
    chips.rotations = vec!["90 deg".parse().unwrap()];
    chips.uniform = Some(["0 uT", "20 uT", "-45 uT"].map(|text| text.parse().unwrap()));
    let rotated = spec.build(None).unwrap().magnetics().unwrap().rest()[0];
    let expected = Vec3::new(rest[0].y + 20e-6, -rest[0].x, rest[0].z - 45e-6);
    assert!((rotated - expected).length() < 1e-15, "{rotated} for {expected}");
}

/// Magnets change no other part of a reading.
#[test]
fn a_reading_without_its_magnets_has_the_same_bytes() {
    let with = spec();
    let without = SensorSpec { magnets: None, magnetometers: None, ..with.clone() };
    let ball = sphere(6e-3, 0.5e-3);
    let read = |spec: &SensorSpec| {
        let sensor = spec.build(None).unwrap();
        press(&sensor, &ball, &Aim::default(), Goal::Force(2.0)).unwrap().reading
    };
    let (mut with, without) = (read(&with), read(&without));
    assert!(with.magnetic_tesla.take().is_some());
    let text = serde_json::to_string(&without).unwrap();
    assert_eq!(serde_json::to_string(&with).unwrap(), text);
    assert!(!text.contains("magnetic"));
}

/// Range and bits of a chip.
#[test]
fn chips_saturate_and_count() {
    let mut spec = spec();
    let chips = spec.magnetometers.as_mut().unwrap();
    (chips.range, chips.bits) = (Some("100 uT".parse().unwrap()), Some(4));
    let sensor = spec.build(None).unwrap();
    let count = 200e-6 / 16.0;
    for value in sensor.magnetics().unwrap().rest().iter().flat_map(|b| b.to_array()) {
        assert!(value.abs() <= 100e-6 + 1e-12 && (value / count - (value / count).round()).abs() < 1e-9, "{value}");
    }
}

#[test]
fn bad_magnets_are_refused_in_one_sentence() {
    let cases = [
        ("\"5 mm\", \"5 mm\", \"-3 mm\"", "\"5 mm\", \"5 mm\", \"-7 mm\"", "magnet 0 is at 5, 5, -7 mm"),
        ("remanence = \"1.2 T\"", "remanence = \"0 T\"", "`remanence` of the magnets must be positive, got 0 T"),
        ("\"-5 mm\", \"5 mm\", \"-3 mm\"", "\"4 mm\", \"5 mm\", \"-3 mm\"", "magnets 0 and 1 do"),
        ("\"0 mm\", \"0 mm\", \"-8 mm\"", "\"5 mm\", \"5 mm\", \"-3 mm\"", "chip 0 is inside magnet 0"),
        ("\"6 mm\", \"0 mm\", \"-8 mm\"", "\"0 mm\", \"0 mm\", \"-8 mm\"", "chips 0 and 1 are at the same place"),
        ("[magnets]\n", "[magnets]\ndirections = [[0, 0, 0]]\n", "that of magnet 0 is"),
        ("mu = 0.5", "mu = 0.5\nrelaxation = [{ ratio = 1.0, time = \"1 s\" }]", "need a skin of kind \"layer\""),
        ("[magnetometers]\n", "[magnetometers]\nbits = 16\n", "needs `range`"),
    ];
    for (from, to, message) in cases {
        assert!(SENSOR.contains(from), "{from}");
        let spec = SensorSpec::parse("magnetic.toml", &SENSOR.replacen(from, to, 1)).unwrap();
        let error = spec.build(None).err().map(|error| error.to_string()).unwrap_or_default();
        assert!(error.contains(message) && !error.contains('\n'), "{message}: {error:?}");
    }
    let alone = SensorSpec { magnetometers: None, ..spec() };
    assert!(alone.build(None).err().unwrap().to_string().contains("need `magnetometers`"));
}
