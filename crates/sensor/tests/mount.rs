//! A mount that yields moves the gel across the image.

use dermis_geometry::{Pose, Primitive, Quat, Vec3, Wrench};
use dermis_sensor::optics::CameraFrame;
use dermis_sensor::{Aim, Cotangents, Goal, Pressed, Sensor, SensorSpec, presets, press, press_to_pose};
use dermis_skin::{Layer, Object, Touch};
use serde_json::{Value, json};

/// The preset gelsight-dots with changes.
fn spec(changes: Value) -> SensorSpec {
    presets::find("gelsight-dots").unwrap().with_overrides(changes.as_object().unwrap()).unwrap()
}

/// A lamp that shines from one side, without shadows.
fn lamp() -> Value {
    let source = json!({ "azimuth": "20 deg", "elevation": "60 deg", "diffuse": [150.0, 60.0, 20.0] });
    json!({ "kind": "phong", "background": { "colour": [60.0, 60.0, 60.0] }, "sources": [source] })
}

fn mounted(mount_stiffness: &str) -> Sensor {
    spec(json!({ "camera": { "mount_stiffness": mount_stiffness } })).build(None).unwrap()
}

fn sheared(sensor: &Sensor, shear_m: [f64; 2]) -> Pressed {
    let (ball, goal) = (Object::of_primitive(Primitive::Sphere { radius_m: 4e-3 }, 1e-3).unwrap(), Goal::Depth(0.6e-3));
    let pressed = press(sensor, &ball, &Aim::default(), goal).unwrap();
    pressed.sheared(sensor, &ball, shear_m, goal).unwrap()
}

/// All markers move by force over stiffness, over the size of a pixel, and nothing else changes.
#[test]
fn markers_move_by_force_over_stiffness() {
    let (rigid, yields) = (presets::find("gelsight-dots").unwrap().build(None).unwrap(), mounted("2 N/mm"));
    let [fixed, moved] = [&rigid, &yields].map(|sensor| sheared(sensor, [0.2e-3, -0.1e-3]));
    assert_eq!(fixed.touch, moved.touch, "loads and surface are relative to the skin");
    assert_eq!(fixed.sensor_from_object, moved.sensor_from_object);
    let force = moved.touch.on_sensor.force;
    assert!(force.x > 0.05 && force.y < -0.02, "{force}");
    let [fixed, moved] = [(&rigid, fixed), (&yields, moved)].map(|(sensor, pressed)| frame(sensor, &pressed.touch));
    assert_eq!(moved.markers.len(), 108);
    let expected = [force.x / 2e3 / 0.0295e-3, -force.y / 2e3 / 0.0295e-3];
    for (fixed, moved) in fixed.markers.iter().zip(&moved.markers) {
        assert_eq!(fixed[..2], moved[..2]);
        for k in 0..2 {
            let shift = moved[2 + k] - fixed[2 + k];
            assert!((shift / expected[k] - 1.0).abs() < 1e-9, "{shift} {expected:?}");
        }
    }
}

fn frame(sensor: &Sensor, touch: &Touch) -> CameraFrame {
    sensor.render(touch, 0).unwrap()
}

/// With a light that is the same everywhere the image is that of a rigid mount, displaced. The shift is two cells of the
/// skin and eight pixels, so that nothing is interpolated.
#[test]
fn the_image_is_displaced() {
    const PIXELS: usize = 8;
    let camera = json!({ "width": 400, "height": 400, "pixel": "0.03125 mm" });
    let rigid = spec(json!({ "camera": camera, "light": lamp() }));
    let pressed = sheared(&rigid.build(None).unwrap(), [0.2e-3, 0.0]);
    let force = pressed.touch.on_sensor.force;
    assert!(force.y.abs() < 1e-6 * force.x, "{force}");
    let stiffness = force.x / (PIXELS as f64 * 0.03125e-3);
    let mount = json!({ "camera": { "mount_stiffness": format!("{stiffness} N/m") } });
    let yields = rigid.with_overrides(mount.as_object().unwrap()).unwrap();
    let [fixed, moved] = [rigid, yields].map(|spec| frame(&spec.build(None).unwrap(), &pressed.touch));
    let (mut compared, mut changed) = (0, 0);
    for (at, here) in fixed.image.channels[0].iter().enumerate().filter(|(at, _)| at % 400 < 400 - PIXELS) {
        let there = moved.image.channels[0][at + PIXELS];
        assert!((here - there).abs() < 0.02, "pixel {at}: {here} {there}");
        assert!((fixed.relief.z_m[at] - moved.relief.z_m[at + PIXELS]).abs() < 1e-9);
        compared += 1;
        changed += usize::from((moved.image.channels[0][at] - here).abs() > 5.0);
    }
    assert!(compared == 400 * 392 && changed > 5_000, "{changed} pixels change");
}

/// Lamps and their background image stay: a displaced gel without indentation and markers has the image at rest.
#[test]
fn the_background_stays() {
    let camera = json!({ "width": 300, "height": 300, "mount_stiffness": "1 N/mm" });
    let sensor = SensorSpec { markers: None, ..spec(json!({ "camera": camera })) }.build(None).unwrap();
    let mut touch = sheared(&sensor, [0.0; 2]).touch;
    touch.surface.iter_mut().flat_map(|surface| &mut surface.values).for_each(|value| *value = Vec3::ZERO);
    let at_rest = frame(&sensor, &Touch { on_sensor: Wrench::ZERO, ..touch.clone() });
    touch.on_sensor.force = Vec3::new(0.4, 0.3, -2.0);
    let displaced = frame(&sensor, &touch);
    assert_eq!(displaced.image, at_rest.image);
    let [right, down] = {
        let (optics, surface) = sensor.camera_view(&touch).unwrap();
        optics.flow(&surface)
    };
    assert!(right.iter().all(|right| (right - 0.4 / 0.0295).abs() < 1e-3));
    assert!(down.iter().all(|down| (down + 0.3 / 0.0295).abs() < 1e-3));
}

/// Markers and image depend on the pose through the surface and through the force: central differences of a weighted sum.
#[test]
fn gradients_go_through_the_force() {
    let camera = json!({ "width": 160, "height": 160, "pixel": "0.08 mm" });
    let rigid = spec(json!({ "camera": camera, "light": lamp(), "skin": { "cell": "0.4 mm" } }));
    // Solved precisely, and without the edges of dots in the image, so that differences are smooth.
    let build = |spec: SensorSpec, dots: bool| {
        let markers = spec.markers.clone().filter(|_| dots);
        let sensor = SensorSpec { markers, ..spec }.build(None).unwrap();
        let mut parameters = sensor.skin_as::<Layer>().unwrap().parameters().clone();
        parameters.contact.tolerance = 1e-12;
        let optics = sensor.optics().unwrap().clone().with_sight_step(1e-6);
        sensor.with_skin(Layer::new(parameters).unwrap()).with_optics(optics)
    };
    let soft = |stiffness: f64, dots: bool| {
        let change = json!({ "camera": { "mount_stiffness": format!("{stiffness} N/m") } });
        build(rigid.with_overrides(change.as_object().unwrap()).unwrap(), dots)
    };
    let object = Object::of_primitive(Primitive::Ellipsoid { semi_axes_m: Vec3::new(6e-3, 3e-3, 4e-3) }, 1e-3).unwrap();
    let start = Pose::new(Quat::from_rotation_y(0.35) * Quat::from_rotation_x(0.2), Vec3::new(0.4e-3, -0.3e-3, 3.4e-3));
    let pressed = |sensor: &Sensor, height_m: f64, angle: f64| {
        let (translation, rotation) = (start.translation + Vec3::Z * height_m, Quat::from_rotation_y(angle));
        press_to_pose(sensor, &object, &Pose::new(rotation * start.rotation, translation)).unwrap()
    };
    let weight = |i: usize| (0.7 * i as f64).sin();
    let markers: Vec<[f64; 2]> = (0..108).map(|i| [1.0 + weight(i), weight(3 * i) - 0.5]).collect();
    let wave = |i: usize| (0.05 * (i % 160) as f64 + 0.03 * (i / 160) as f64).sin();
    let image = [0, 1, 2].map(|_| (0..160 * 160).map(wave).collect::<Vec<f64>>());
    let of_markers = Cotangents { markers: markers.clone(), ..Cotangents::default() };
    let of_image = Cotangents { image: image.clone(), ..Cotangents::default() };
    let sum = |sensor: &Sensor, pressed: &Pressed, by: &Cotangents| -> f64 {
        let frame = frame(sensor, &pressed.touch);
        let tracks = frame.markers.iter().zip(&by.markers).map(|(at, by)| at[2] * by[0] + at[3] * by[1]);
        let levels = frame.image.channels.iter().zip(&by.image);
        tracks.sum::<f64>()
            + levels
                .flat_map(|(levels, by)| levels.iter().zip(by))
                .map(|(level, by)| f64::from(*level) * by)
                .sum::<f64>()
    };
    let here = pressed(&soft(5.0, true), 0.0, 0.0);
    assert!(here.touch.on_sensor.force.truncate().length() > 5e-4, "{}", here.touch.on_sensor.force);
    for (what, by, step, tolerance) in [("markers", of_markers, 1e-7, 1e-5), ("image", of_image, 3e-7, 1e-3)] {
        let dots = what == "markers";
        let (sensor, rigid) = (soft(5.0, dots), build(rigid.clone(), dots));
        let found = sensor.vjp(&object, &here, &by).unwrap();
        let without = rigid.vjp(&object, &here, &by).unwrap();
        let differences = |at: &dyn Fn(f64) -> (Sensor, Pressed), step: f64| {
            let value = |step: f64| {
                let (sensor, pressed) = at(step);
                sum(&sensor, &pressed, &by)
            };
            let slope = |step: f64| (value(step) - value(-step)) / (2.0 * step);
            (4.0 * slope(0.5 * step) - slope(step)) / 3.0
        };
        let cases: [(&str, f64, f64, f64); 3] = [
            (
                "height",
                found.position.z,
                without.position.z,
                differences(&|dz| (sensor.clone(), pressed(&sensor, dz, 0.0)), step),
            ),
            (
                "angle",
                found.rotation.y,
                without.rotation.y,
                differences(&|angle| (sensor.clone(), pressed(&sensor, 0.0, angle)), 200.0 * step),
            ),
            (
                "stiffness",
                found.get("mount_stiffness").unwrap()[0],
                0.0,
                differences(&|more| (soft(5.0 + more, dots), here.clone()), 0.25),
            ),
        ];
        for (name, got, rigid, truth) in cases {
            assert!((got / truth - 1.0).abs() < tolerance, "{what} by {name}: {got} {truth}");
            assert!((rigid / truth - 1.0).abs() > 10.0 * tolerance, "{what} by {name}: the force matters");
        }
    }
}

/// The key survives a file, and a mount that is no stiffness is refused by name.
#[test]
fn a_file_keeps_the_mount() {
    let spec = spec(json!({ "camera": { "mount_stiffness": "20 N/mm" } }));
    let text = spec.to_toml();
    assert!(text.contains("mount_stiffness = \"20000 N/m\""), "{text}");
    let read = SensorSpec::parse("mine.toml", &text).unwrap();
    assert_eq!(read, spec);
    assert_eq!(read.build(None).unwrap().optics().unwrap().camera().mount_newton_per_m, Some(20e3));
    for (wrong, reason) in [
        ("0 N/mm", "positive stiffness"),
        ("-3 N/m", "got -3 N/m"),
        ("NaN N/m", "NaN"),
        ("20 mm", "no unit of stiffness"),
    ] {
        let text = text.replace("20000 N/m", wrong);
        let error = SensorSpec::parse("mine.toml", &text).and_then(|spec| spec.build(None)).unwrap_err().to_string();
        assert!(error.contains("mount_stiffness") && error.contains(reason), "{error}");
    }
}
