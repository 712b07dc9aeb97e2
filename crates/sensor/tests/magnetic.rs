//! Magnets in a layer and magnetometers under it.

use crate::common::sphere;
use dermis_geometry::quantity::{Angle, Length};
use dermis_geometry::{Pose, Primitive, Quat, Random, Vec2, Vec3};
use dermis_sensor::calibration::{
    Estimate, GeometryPrior, MagneticFitSettings, MagneticSample, fit_magnetic, fit_magnetic_geometry,
};
use dermis_sensor::magnetic::{Cylinder, MagneticInverse, TableGrid, cuboid, dipole};
use dermis_sensor::{Aim, Goal, SensorSpec, press};
use dermis_skin::{Layer, Object, Touch, Warning};

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
                (None, Some(b), Some(diameter)) => {
                    Cylinder::new(diameter, number("height_m").unwrap()).field(direction * b, at)
                }
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
        truth += rotation * Cylinder::new(3e-3, 1e-3).field(Vec3::Z * 1.2, r);
        if x > 0.0 {
            assert!(motion.displacement_m.z < -0.1e-3, "{motion:?}");
        }
    }
    assert!((field[0] - truth).length() < 1e-11 * truth.length(), "{} for {truth}", field[0]);
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
    let pressed = press(&sensor, &sphere(6e-3, 0.5e-3), &Aim::default(), Goal::Depth(0.5e-3)).unwrap();
    let said = pressed.touch.warning_texts().join("; ");
    assert!(said.contains("2 chips exceeds their range of 0.1 mT"), "{said}");
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
        (
            "[magnets]\n",
            "[magnets]\ndirections = [[0, 0, 0]]\n",
            "must be finite and not zero, got [0.0, 0.0, 0.0] of magnet 0",
        ),
        ("mu = 0.5", "mu = 0.5\nrelaxation = [{ ratio = 1.0, time = \"1 s\" }]", "need a skin of kind \"layer\""),
        ("[magnetometers]\n", "[magnetometers]\nbits = 16\n", "needs `range`"),
        ("[magnetometers]\n", "[magnetometers]\ngains = [[1, 1, 0]]\n", "of chip 0"),
        ("[magnetometers]\n", "[magnetometers]\ngains = [[1, 1, 1], [1, 1, 1], [1, 1, 1]]\n", "one entry or 2, got 3"),
        ("[magnetometers]\n", "[magnetometers]\nsampling = { rate = \"0 Hz\" }\n", "a positive frequency, got 0 Hz"),
        (
            "[magnetometers]\n",
            "[magnetometers]\nsampling = { rate = \"9 Hz\", scan = \"rows\" }\n",
            "chips have no rows",
        ),
        (
            "[magnetometers]\n",
            "[magnetometers]\nnoise = { sd = [\"-1 uT\", \"1 uT\", \"1 uT\"] }\n",
            "zero or positive",
        ),
        ("\"0 mm\", \"0 mm\", \"-8 mm\"", "\"0 mm\", \"0 mm\", \"1 mm\"", "chip 0 is at z = 1 mm"),
        ("positions = [[\"0 mm\", \"0 mm\", \"-8 mm\"], [\"6 mm\", \"0 mm\", \"-8 mm\"]]", "positions = []", "got 0"),
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

/// Noise has its standard deviation, samples are held at the rate of the chips, and a press has neither.
#[test]
fn noise_and_sampling_of_chips() {
    let mut spec = spec();
    let chips = spec.magnetometers.as_mut().unwrap();
    chips.noise =
        Some(serde_json::from_value(serde_json::json!({ "sd": ["1 uT", "2 uT", "3 uT"], "seed": 5 })).unwrap());
    let noisy = spec.build(None).unwrap();
    let (mut state, rest) = (noisy.chain().rest(), noisy.magnetics().unwrap().rest()[0]);
    assert_eq!(noisy.read(&Touch::default()).magnetic_tesla.unwrap()[0], rest);
    let (mut squares, steps) = (Vec3::ZERO, 4000);
    for _ in 0..steps {
        let (reading, next) = noisy.sense(&state, &Touch::default(), 1e-3).unwrap();
        let error = (reading.magnetic_tesla.unwrap()[0] - rest) * 1e6;
        squares += error * error;
        state = next;
    }
    let sd = (squares / f64::from(steps)).to_array().map(f64::sqrt);
    for (found, truth) in sd.into_iter().zip([1.0, 2.0, 3.0]) {
        assert!((found / truth - 1.0).abs() < 4.0 / (2.0 * f64::from(steps)).sqrt(), "{sd:?}");
    }
    // At 100 Hz and steps of 1 ms a sample lasts ten steps.
    let chips = spec.magnetometers.as_mut().unwrap();
    chips.sampling = Some(serde_json::from_value(serde_json::json!({ "rate": "100 Hz" })).unwrap());
    let sampled = spec.build(None).unwrap();
    let mut state = sampled.chain().rest();
    let mut values = Vec::new();
    for _ in 0..30 {
        let (reading, next) = sampled.sense(&state, &Touch::default(), 1e-3).unwrap();
        values.push(reading.magnetic_tesla.unwrap()[1]);
        state = next;
    }
    assert!(values.chunks(10).all(|chunk| chunk.iter().all(|value| *value == chunk[0])), "{values:?}");
    assert!(values[0] != values[10] && values[10] != values[20]);
}

/// After three time constants of warming up, the field of the magnets has fallen by the coefficient of the remanence.
#[test]
fn magnets_and_chips_drift_with_temperature() {
    let (mut spec, cold) = (spec(), spec().build(None).unwrap().magnetics().unwrap().rest()[0]);
    let drift = serde_json::json!({
        "rise": "20 K", "time": "100 s", "remanence_per_kelvin": -0.0011, "offset_per_kelvin": ["0 uT", "0.5 uT", "0 uT"]
    });
    spec.magnetometers.as_mut().unwrap().drift = Some(serde_json::from_value(drift).unwrap());
    let sensor = spec.build(None).unwrap();
    let (reading, _) = sensor.sense(&sensor.chain().rest(), &Touch::default(), 300.0).unwrap();
    let rise = 20.0 * (1.0 - (-3.0f64).exp());
    let truth = cold * (1.0 - 0.0011 * rise) + Vec3::Y * (0.5e-6 * rise);
    assert!((reading.magnetic_tesla.unwrap()[0] - truth).length() < 1e-15);
    let warm = cold * (1.0 - 0.022) + Vec3::Y * 10e-6;
    assert!((sensor.magnetics().unwrap().rest()[0] - warm).length() < 1e-15);
}

/// A uniform field and a dipole stay in the world while the sensor rotates.
#[test]
fn fields_of_the_world_do_not_rotate_with_the_sensor() {
    let mut spec = spec();
    let alone = spec.build(None).unwrap().magnetics().unwrap().rest()[1];
    let chips = spec.magnetometers.as_mut().unwrap();
    chips.uniform = Some(["0 uT", "20 uT", "-45 uT"].map(|text| text.parse().unwrap()));
    let dipoles = serde_json::json!([{ "at": ["0.1 m", "0 m", "0 m"], "moment": ["0 A m^2", "0 A m^2", "1 A m^2"] }]);
    chips.dipoles = serde_json::from_value(dipoles).unwrap();
    let sensor = spec.build(None).unwrap();
    let pose = Pose::new(Quat::from_rotation_x(1.1) * Quat::from_rotation_z(0.4), Vec3::new(0.02, 0.01, 0.05));
    let (reading, _) = sensor.sense_at(&sensor.chain().rest(), &Touch::default(), 1e-3, &pose).unwrap();
    let at = pose.transform_point(Vec3::new(6e-3, 0.0, -8e-3));
    let world = Vec3::new(0.0, 20e-6, -45e-6) + dipole(Vec3::Z, at - Vec3::X * 0.1);
    let truth = alone + pose.rotation.inverse() * world;
    assert!((reading.magnetic_tesla.unwrap()[1] - truth).length() < 1e-15);
}

/// The dipoles of an elastomer have together the field of a cuboid of the same size and remanence.
#[test]
fn an_elastomer_has_the_field_of_a_cuboid() {
    let text = SENSOR.split("[magnets]").next().unwrap().to_owned()
        + r#"
[magnets]
elastomer = { size = ["12 mm", "12 mm", "2 mm"], depth = "2 mm", pitch = "1 mm", remanence = "30 mT" }

[magnetometers]
positions = [["1 mm", "2 mm", "-5 mm"], ["4 mm", "-3 mm", "-8 mm"]]
"#;
    let spec = SensorSpec::parse("elastomer.toml", &text).unwrap();
    let sensor = spec.build(None).unwrap();
    let size = Vec3::new(12e-3, 12e-3, 2e-3);
    for (at, found, tolerance) in [
        (Vec3::new(1e-3, 2e-3, -5e-3), sensor.magnetics().unwrap().rest()[0], 0.02),
        (Vec3::new(4e-3, -3e-3, -8e-3), sensor.magnetics().unwrap().rest()[1], 0.005),
    ] {
        let truth = cuboid(size, Vec3::Z * 30e-3, at + Vec3::Z * 2e-3);
        assert!((found - truth).length() < tolerance * truth.length(), "{at}: {found} for {truth}");
    }
    let near = text.replace("[\"1 mm\", \"2 mm\", \"-5 mm\"]", "[\"1 mm\", \"2 mm\", \"-3.5 mm\"]");
    let error = SensorSpec::parse("near.toml", &near).unwrap().build(None).unwrap_err().to_string();
    assert!(error.contains("must be at least two of its `pitch` of 1 mm from the elastomer: chip 0 is at 0.5 mm; use a `pitch` of at most 0.25 mm"), "{error}");
}

/// A press changes the field of an elastomer by a small difference of large parts: dipoles three quarters as far apart change
/// it by less than 4 % of the largest change. With levels at equal distances and dipoles 2 mm apart they changed by several times it.
#[test]
fn elastomers_of_the_presets_are_converged() {
    for name in ["anyskin", "reskin"] {
        let ball = sphere(4e-3, 0.3e-3);
        let presses = [([0.0, 0.0], 1e-3), ([3e-3, 1e-3], 0.5e-3), ([6.3e-3, 2.1e-3], 1e-3)];
        let changes = |part: f64| {
            let mut spec = SensorSpec::find(name).unwrap().0;
            let elastomer = spec.magnets.as_mut().unwrap().elastomer.as_mut().unwrap();
            elastomer.pitch = Length::new(part * elastomer.pitch.si());
            let sensor = spec.build(None).unwrap();
            let change = |&(at_m, depth): &([f64; 2], f64)| {
                let touch = press(&sensor, &ball, &Aim { at_m, ..Aim::default() }, Goal::Depth(depth)).unwrap().touch;
                sensor.magnetics().unwrap().changes(&touch)
            };
            presses.iter().flat_map(change).collect::<Vec<Vec3>>()
        };
        let (shipped, finer) = (changes(1.0), changes(0.75));
        let largest = finer.iter().map(|change| change.abs().max_element()).fold(0.0, f64::max);
        let off = shipped.iter().zip(&finer).map(|(a, b)| (*a - *b).abs().max_element()).fold(0.0, f64::max);
        println!("{name}: {:.2} of {:.1} µT", 1e6 * off, 1e6 * largest);
        assert!(off < 0.04 * largest && largest > 50e-6, "{name}: {off} of {largest} T");
    }
}

/// Under a plate that is pressed into springs by d, a magnet at depth t over a base at T sinks by d (1 − t/T) and does not
/// rotate; under a plate tilted by α it rotates by α (1 − t/T).
#[test]
fn magnets_in_springs_follow_the_plane_of_the_springs() {
    let text = SENSOR
        .replace(
            "kind = \"layer\"\nthickness = \"6 mm\"\nyoung = \"0.2 MPa\"\npoisson = 0.4\ncell = \"0.4 mm\"\nmu = 0.5",
            "kind = \"springs\"\nstiffness_per_area = \"2 MPa/m\"\nmax_penetration = \"4 mm\"",
        )
        .replace("[magnets]\n", "[magnets]\nbase = \"6 mm\"\n");
    let spec = SensorSpec::parse("springs.toml", &text).unwrap();
    let sensor = spec.build(None).unwrap();
    let plate = crate::common::cuboid(40e-3, 40e-3, 10e-3);
    for tilt in [0.0, 0.02] {
        let aim = Aim { tilt_rad: [tilt, 0.0], ..Aim::default() };
        let pressed = press(&sensor, &plate, &aim, Goal::Depth(2e-3)).unwrap();
        for (at, rotation) in sensor.magnetics().unwrap().moved(&pressed.touch) {
            let rest = Vec3::new(at.x, at.y, -3e-3);
            let surface =
                pressed.sensor_from_object.transform_point(Vec3::new(0.0, 0.0, -5e-3)).z + tilt.tan() * rest.y;
            let sunk = 0.5 * surface;
            assert!((at.z - rest.z - sunk).abs() < 0.02e-3, "tilt {tilt}: {} for {sunk}", at.z - rest.z);
            let turned = rotation.to_scaled_axis();
            assert!((turned.x - 0.5 * tilt.tan()).abs() < 5e-4 && turned.y.abs() < 1e-9, "{turned}");
        }
    }
    let without = SensorSpec::parse("springs.toml", &text.replace("base = \"6 mm\"\n", "")).unwrap();
    assert!(without.build(None).unwrap_err().to_string().contains("need `base`"));
}

/// A table of three magnets over two depths that does not depend on the place.
fn table_sensor(hysteresis: bool) -> SensorSpec {
    let mut spec = spec();
    let mut motion = serde_json::json!({
        "x": ["-5 mm", "5 mm"], "y": ["0 mm"], "depth": ["0 mm", "1 mm", "2 mm"],
        "translations_um": vec![[0.0, 0.0, -100.0]; 6].into_iter().chain(vec![[30.0, -10.0, -300.0]; 6]).collect::<Vec<_>>(),
        "tilts_mrad": (0..12).map(|i| [f64::from(i), -5.0]).collect::<Vec<_>>(),
        "loads_n": [1.0, 1.0, 4.0, 5.0],
    });
    if hysteresis {
        motion["hysteresis"] = serde_json::json!({
            "width": "0.2 mm", "translations_um": vec![[0.0, 20.0, 30.0]; 12], "tilts_mrad": vec![[0.0, 3.0]; 12],
            "loads_n": [0.2, 0.2, 0.2, 0.2],
        });
    }
    spec.magnets.as_mut().unwrap().motion = Some(serde_json::from_value(motion).unwrap());
    spec
}

/// A table is interpolated between its nodes, warns beyond them, and remembers the direction of the travel.
#[test]
fn a_table_moves_magnets_by_place_depth_and_history() {
    let sensor = table_sensor(true).build(None).unwrap();
    let table = sensor.magnetics().unwrap().motion_table().unwrap();
    let motion = table.motions(Vec2::new(0.0, 9.0), 1.5e-3, 0.0);
    assert!((motion[0].displacement_m - Vec3::new(15e-6, -5e-6, -200e-6)).length() < 1e-12, "{motion:?}");
    assert!((motion[1].rotation_rad.x - 5.5e-3).abs() < 1e-12);
    let mut held = 0.0;
    assert_eq!([0.1e-3, 1e-3].map(|travel| (table.follow(&mut held, travel) * 1e6).round()), [5e5, 1e6]);
    assert_eq!((table.follow(&mut held, 0.8e-3) * 1e6).round(), 0.0);
    assert_eq!((table.follow(&mut held, 0.5e-3) * 1e6).round(), -1e6);
    let ball = sphere(6e-3, 0.5e-3);
    let aim = Aim { at_m: [9e-3, 0.0], ..Aim::default() };
    let pressed = press(&sensor, &ball, &aim, Goal::Depth(0.8e-3)).unwrap();
    assert!(pressed.touch.warnings.iter().any(|w| matches!(w, Warning::BeyondMotionTable { .. })));
    let wrong = "x = [\"1 mm\", \"0 mm\"]";
    let mut spec = table_sensor(false);
    let motion = spec.magnets.as_mut().unwrap().motion.as_mut().unwrap();
    motion.x.reverse();
    let error = spec.build(None).unwrap_err().to_string();
    assert!(error.contains("needs `x` that increases"), "{wrong}: {error}");
}

/// A recording made with a table is fitted: the fit predicts the part that it has not seen, and its inverse the load.
#[test]
fn a_fitted_table_predicts_the_samples_that_were_kept_out() {
    let truth_spec = table_sensor(true);
    let truth = truth_spec.build(None).unwrap();
    let (magnetics, table) = (truth.magnetics().unwrap(), truth.magnetics().unwrap().motion_table().unwrap());
    let mut held = 0.0;
    let sample = |i: usize| {
        let travel_m = if i < 5 { 0.0 } else { 1e-3 - 1e-3 * (i as f64 * 0.05).cos() };
        let at_m = Vec2::new(((i * 37) % 101) as f64 * 1e-4 - 5e-3, 0.0);
        let side = table.follow(&mut held, travel_m);
        let field_tesla = magnetics.field_of(&table.motions(at_m, travel_m, side));
        MagneticSample { at_m, travel_m, load_newton: table.load_newton(at_m, travel_m, side), field_tesla }
    };
    let samples: Vec<MagneticSample> = (0..600).map(sample).collect();
    let used: Vec<bool> = (0..600).map(|i| (i / 126) % 2 == 0).collect();
    let grid = TableGrid { x: vec![-5e-3, 5e-3], y: vec![0.0], depth: vec![0.0, 1e-3, 2e-3] };
    let settings = MagneticFitSettings { grid, along: [0.0, 0.0, -1.0], play_m: Some(0.2e-3), smoothness: 0.0 };
    let mut start = truth_spec.clone();
    start.magnets.as_mut().unwrap().motion = None;
    let fit = fit_magnetic(&start, None, &samples, &used, &settings).unwrap();
    let kept_out = fit.kept_out.unwrap();
    assert!(kept_out.nrmse < 0.02, "{kept_out:?}");
    assert!(kept_out.load_rmse_newton.unwrap() < 0.1, "{kept_out:?}");
    assert!((fit.load_newton.unwrap().value - 5.0).abs() < 0.05, "{:?}", fit.load_newton);
    let fitted = fit.spec.build(None).unwrap();
    let inverse = MagneticInverse::new(fitted.magnetics().unwrap()).unwrap();
    let change: Vec<Vec3> =
        samples[30].field_tesla.iter().zip(&samples[0].field_tesla).map(|(b, rest)| *b - *rest).collect();
    let found = inverse.estimate(&change).unwrap();
    assert!((found.travel_m.value - samples[30].travel_m).abs() < 0.05e-3, "{found:?}");
    let mut damaged = samples.clone();
    damaged[7].field_tesla[0].x = f64::NAN;
    let error = fit_magnetic(&start, None, &damaged, &used, &settings).unwrap_err().to_string();
    assert!(error.contains("row 8"), "{error}");
}

/// A recording with magnets and chips that are not where the description has them: the fit finds them within its intervals.
#[test]
fn a_fitted_geometry_is_within_its_intervals() {
    // Without friction, which takes several times as long.
    let mut described = SensorSpec::parse("magnetic.toml", &SENSOR.replace("mu = 0.5\n", "")).unwrap();
    described.magnetometers.as_mut().unwrap().positions =
        [[0.0, 0.0], [6e-3, 0.0], [-6e-3, 1e-3], [1e-3, 6e-3]].map(|[x, y]| [x, y, -8e-3].map(Length::new)).to_vec();
    let mut random = Random::new(3);
    let mut truth = described.clone();
    let mut moved = |at: &mut [Length; 3]| {
        at.iter_mut().for_each(|at| *at = Length::new(at.si() + 0.25e-3 * random.normal()));
    };
    truth.magnets.as_mut().unwrap().positions.iter_mut().for_each(&mut moved);
    let chips = truth.magnetometers.as_mut().unwrap();
    chips.positions.iter_mut().for_each(&mut moved);
    let angle = |i: usize, k: usize| 0.02 * (1.7 * (3 * i + k) as f64).sin();
    chips.misalignments = (0..4).map(|i| [0, 1, 2].map(|k| Angle::new(angle(i, k)))).collect();
    let sensor = truth.build(None).unwrap();
    let (magnetics, probe) = (sensor.magnetics().unwrap(), sphere(5e-3, 0.5e-3));
    let mut samples = Vec::new();
    for i in 0..40 {
        let travel_m = if i < 4 { 0.0 } else { 0.4e-3 + 0.4e-3 * f64::from(i % 2) };
        let at_m = Vec2::new(f64::from(i * 7 % 6) - 2.5, f64::from(i / 6) - 3.0) * 2e-3;
        let aim = Aim { at_m: at_m.to_array(), ..Aim::default() };
        let pressed = (i >= 4).then(|| press(&sensor, &probe, &aim, Goal::Depth(travel_m)).unwrap().touch);
        let touch = pressed.unwrap_or_default();
        let changes = magnetics.changes(&touch).into_iter().zip(magnetics.rest());
        let mut noise = || Vec3::new(random.normal(), random.normal(), random.normal()) * 0.5e-6;
        let field_tesla = changes.map(|(change, rest)| change + *rest + noise()).collect();
        let load_newton = Some(-0.8 * touch.on_sensor.force.z);
        samples.push(MagneticSample { at_m, travel_m, load_newton, field_tesla });
    }
    let used: Vec<bool> = (0..40).map(|i| i % 3 != 2).collect();
    let fit = fit_magnetic_geometry(&described, None, &probe, &samples, &used, &GeometryPrior::default()).unwrap();
    let (truth_magnets, truth_chips) = (truth.magnets.as_ref().unwrap(), truth.magnetometers.as_ref().unwrap());
    let mut errors = Vec::new();
    let mut check = |found: &Estimate, truth: f64, widest: f64| {
        assert!(found.ci95 < widest, "{found:?} for {truth}");
        errors.push(1.96 * (found.value - truth).abs() / found.ci95);
    };
    let pairs = fit.geometry.magnets_m.iter().zip(&truth_magnets.positions);
    for (found, truth) in pairs.chain(fit.geometry.chips_m.iter().zip(&truth_chips.positions)) {
        found.iter().zip(truth).for_each(|(found, truth)| check(found, truth.si(), 0.97e-3));
    }
    for (i, found) in fit.geometry.misalignments_rad.iter().enumerate() {
        found.iter().enumerate().for_each(|(k, found)| check(found, angle(i, k), 5.87f64.to_radians()));
    }
    check(&fit.geometry.strength, 1.0, 0.38);
    // Of 34 numbers, 95 % within two standard errors; none beyond four.
    errors.sort_by(f64::total_cmp);
    assert!(errors[31] < 2.3 && errors[33] < 4.0, "{errors:?}");
    let widest = fit.geometry.magnets_m.iter().flatten().map(|found| found.ci95).fold(0.0, f64::max);
    assert!(widest < 0.6e-3, "the data determine the magnets: {widest}");
    assert!((fit.stiffness.unwrap().value - 0.8).abs() < 1e-3, "{:?}", fit.stiffness);
    let kept_out = fit.kept_out.unwrap();
    assert!(kept_out.nrmse < 0.02 && fit.described.nrmse > 5.0 * kept_out.nrmse, "{kept_out:?} {:?}", fit.described);
    // The written sensor is the fitted one.
    let again = fit.spec.build(None).unwrap();
    let place = again.magnetics().unwrap().magnets()[1];
    assert!((place.x - fit.geometry.magnets_m[1][0].value).abs() < 1e-7);
    let mut elastic = described.clone();
    elastic.magnets = serde_json::from_value(serde_json::json!({
        "elastomer": { "size": ["12 mm", "12 mm", "2 mm"], "depth": "2 mm", "pitch": "1 mm", "remanence": "30 mT" },
    }))
    .unwrap();
    let error = fit_magnetic_geometry(&elastic, None, &probe, &samples, &used, &GeometryPrior::default()).unwrap_err();
    assert!(error.to_string().contains("cells of an `elastomer`"), "{error}");
    let grid = TableGrid { x: vec![0.0], y: vec![0.0], depth: vec![0.0, 1e-3] };
    let settings = MagneticFitSettings { grid, along: [0.0, 0.0, -1.0], play_m: None, smoothness: 0.0 };
    let error = fit_magnetic(&elastic, None, &samples, &used, &settings).unwrap_err();
    assert!(error.to_string().contains("cells of an `elastomer` move with the skin"), "{error}");
}

/// At small strain the material of a gel moves and rotates at the magnets as that of a layer of the same size, to 2 % of the
/// largest motion, and so do the channels.
#[test]
fn magnets_in_a_gel_move_as_in_a_layer_at_small_strain() {
    let text = |kind: &str, cell: &str| {
        let places = r#"[["2.5 mm", "0 mm", "-1.5 mm"], ["-3 mm", "3 mm", "-2.5 mm"], ["0 mm", "-4 mm", "-1.5 mm"]]"#;
        let known = r#"[["5 mm", "5 mm", "-3 mm"], ["-5 mm", "5 mm", "-3 mm"], ["0 mm", "-5 mm", "-3 mm"]]"#;
        assert!(SENSOR.contains(known));
        SENSOR
            .replace(known, places)
            .replace("kind = \"layer\"\nthickness = \"6 mm\"", &format!("kind = \"{kind}\"\nthickness = \"4 mm\""))
            .replace("cell = \"0.4 mm\"\nmu = 0.5", &format!("cell = \"{cell}\""))
            .replace("diameter = \"3 mm\"", "diameter = \"2 mm\"")
    };
    let (layer, gel) = (text("layer", "0.25 mm"), text("gel", "0.5 mm"));
    let ball = Object::of_primitive(Primitive::Sphere { radius_m: 30e-3 }, 0.5e-3).unwrap();
    let [layer, gel] = [layer, gel].map(|text| {
        let sensor = SensorSpec::parse("skin.toml", &text).unwrap().build(None).unwrap();
        let pressed = press(&sensor, &ball, &Aim::default(), Goal::Depth(0.05e-3)).unwrap();
        let magnetics = sensor.magnetics().unwrap();
        let rest = magnetics.magnets().to_vec();
        let moved = magnetics.moved(&pressed.touch);
        let motions: Vec<(Vec3, Vec3)> =
            moved.iter().zip(rest).map(|((at, rotation), rest)| (*at - rest, rotation.to_scaled_axis())).collect();
        (motions, magnetics.changes(&pressed.touch))
    });
    let largest = |part: &dyn Fn(&(Vec3, Vec3)) -> Vec3| layer.0.iter().map(|m| part(m).length()).fold(0.0, f64::max);
    let (moved, rotated) = (largest(&|m| m.0), largest(&|m| m.1));
    assert!(moved > 4e-6 && rotated > 2e-4, "{layer:?}");
    for (a, b) in layer.0.iter().zip(&gel.0) {
        assert!((a.0 - b.0).length() < 0.02 * moved, "{a:?} {b:?} of {moved}");
        assert!((a.1 - b.1).length() < 0.02 * rotated, "{a:?} {b:?} of {rotated}");
    }
    let change = layer.1.iter().map(|change| change.length()).fold(0.0, f64::max);
    for (a, b) in layer.1.iter().zip(&gel.1) {
        assert!((*a - *b).length() < 0.02 * change, "{a} {b} of {change}");
    }
}
