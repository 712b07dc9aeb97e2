//! Numbers that no sensor or scene has: refused with the key, or a finite result, soon.

use dermis::geometry::Primitive;
use dermis::prelude::*;
use dermis::scene::SceneSpec;
use dermis::sensor::{SkinKind, presets};
use std::collections::HashSet;
use std::sync::Mutex;
use std::time::{Duration, Instant};
use toml::Value;

const WILD: [f64; 5] = [1e-300, 1e300, 0.0, -1.0, f64::NAN];
/// One second on a quiet machine.
const SOON: Duration = Duration::from_secs(20);

/// Paths of all numbers of a description.
fn numbers(value: &Value, path: &[String], found: &mut Vec<Vec<String>>) {
    let below = |step: String| path.iter().cloned().chain([step]).collect::<Vec<_>>();
    match value {
        Value::Table(table) => table.iter().for_each(|(key, value)| numbers(value, &below(key.clone()), found)),
        // The entries of a list are alike.
        Value::Array(list) => list.iter().take(1).for_each(|value| numbers(value, &below("0".to_owned()), found)),
        Value::Integer(_) | Value::Float(_) => found.push(path.to_vec()),
        Value::String(text) if unit(text).is_some() => found.push(path.to_vec()),
        _ => {}
    }
}

/// The unit of a text that is a number with a unit.
fn unit(text: &str) -> Option<&str> {
    let (number, unit) = text.split_once(' ')?;
    number.parse::<f64>().ok().map(|_| unit)
}

/// A description with one number replaced.
fn with(root: &Value, path: &[String], number: f64) -> String {
    fn replace(value: &mut Value, path: &[String], number: f64) {
        let Some((step, rest)) = path.split_first() else {
            *value = match value {
                Value::String(text) => Value::String(format!("{number:e} {}", unit(text).unwrap())),
                Value::Integer(_) if number.fract() == 0.0 && number.abs() < 1e18 => Value::Integer(number as i64),
                Value::Integer(_) => Value::Integer(if number > 1.0 { i64::MAX } else { 0 }),
                _ => Value::Float(number),
            };
            return;
        };
        match value {
            Value::Table(table) => replace(table.get_mut(step).unwrap(), rest, number),
            Value::Array(list) => replace(&mut list[step.parse::<usize>().unwrap()], rest, number),
            _ => unreachable!(),
        }
    }
    let mut root = root.clone();
    replace(&mut root, path, number);
    toml::to_string(&root).unwrap()
}

/// Presses a ball lightly and renders; true if all numbers are finite.
fn is_finite(sensor: &Sensor) -> Result<bool, String> {
    let object = Object::of_primitive(Primitive::Sphere { radius_m: 4e-3 }, 5e-4).unwrap();
    let depth_m = 0.1 * sensor.skin().max_depth_m().min(1e-3);
    let pressed = press(sensor, &object, &Aim::default(), Goal::Depth(depth_m)).map_err(|error| error.to_string())?;
    let reading = &pressed.reading;
    let mut finite =
        pressed.touch.on_sensor.force.is_finite() && reading.values_newton.iter().all(|value| value.is_finite());
    if sensor.optics().is_some() {
        let frame = sensor.render(&pressed.touch, 0).map_err(|error| error.to_string())?;
        finite &= frame.image.channels.iter().flatten().all(|value| value.is_finite());
    }
    Ok(finite)
}

/// Every number of a preset that no preset with the same kind of skin had before becomes tiny, huge, zero, negative
/// and NaN, or as many of these in turn as `each` says. Layers are coarse, and a gel is built and not pressed: that takes
/// seconds.
fn wild_numbers(name: &str, seen: &Mutex<HashSet<String>>, each: usize) {
    let text = presets::text(name).unwrap();
    let kind = SensorSpec::parse(name, text).unwrap().skin.kind();
    let mut root: Value = toml::from_str(text).unwrap();
    if kind == SkinKind::Layer
        && let Some(cell) = root["skin"].get_mut("cell")
    {
        *cell = Value::String("0.5 mm".into());
    }
    let mut paths = Vec::new();
    numbers(&root, &[], &mut paths);
    assert!(paths.len() > 3, "{name}");
    paths.retain(|path| seen.lock().unwrap().insert(format!("{kind:?} {}", path.join("."))));
    for (i, path) in paths.iter().enumerate() {
        for number in WILD.into_iter().cycle().skip(i * each).take(each) {
            let text = with(&root, path, number);
            let what = format!("{name}: {} = {number:e}", path.join("."));
            let start = Instant::now();
            let outcome = SensorSpec::parse("wild.toml", &text)
                .and_then(|spec| Ok((spec.build(None)?, spec.skin.kind())))
                .map_err(|error| error.to_string())
                .and_then(|(sensor, kind)| if kind == SkinKind::Gel { Ok(true) } else { is_finite(&sensor) });
            match outcome {
                Ok(finite) => assert!(finite, "{what}: not finite"),
                Err(message) => assert!(!message.contains('\n'), "{what}: {message}"),
            }
            assert!(start.elapsed() < SOON, "{what}: {:?}", start.elapsed());
        }
    }
}

#[test]
fn wild_numbers_of_a_sensor_are_refused_with_their_key_or_harmless() {
    wild_sensors(2);
}

#[test]
#[ignore = "slow: cargo xtask validate slow"]
fn all_wild_numbers_of_a_sensor_are_refused_with_their_key_or_harmless() {
    wild_sensors(WILD.len());
}

fn wild_sensors(each: usize) {
    // Two at a time, each the next preset of a common list: some take a hundred times as long as others.
    let (names, seen) = (Mutex::new(presets::names()), Mutex::new(HashSet::new()));
    let next = || names.lock().unwrap().next();
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| std::iter::from_fn(next).for_each(|name| wild_numbers(name, &seen, each)));
        }
    });
    assert!(seen.into_inner().unwrap().len() > 100);
}

/// Found by fuzzing: shapes of 1e77 mm and 1e-30 mm, a body without volume.
#[test]
fn wild_numbers_of_a_scene_are_refused_with_their_key() {
    let base = r#"
        [world]
        duration = "60 min"
        time_step = "0.5 ms"
        gravity = ["0 m/s^2", "0 m/s^2", "-9.81 m/s^2"]
        ground = "0 mm"
        ground_friction = 0.5
        [record]
        every = "100 ms"
        [[body]]
        name = "cube"
        motion = "free"
        mass = "100 g"
        at = ["0 mm", "0 mm", "30 mm"]
        rotate = { axis = [0.0, 0.0, 1.0], angle = "30 deg" }
        velocity = ["1 mm/s", "0 m/s", "0 m/s"]
        shape.cuboid.size = ["20 mm", "40 mm", "20 mm"]
        [[body]]
        name = "post"
        at = ["50 mm", "0 mm", "30 mm"]
        shape.cylinder = { length = "10 mm", radius = "5 mm" }
        [[sensor]]
        name = "pad"
        preset = "uji-foam-14x6"
        at = ["0 mm", "0 mm", "20 mm"]
        skin.damping = "2 N s/m"
    "#;
    let root: Value = toml::from_str(base).unwrap();
    let mut paths = Vec::new();
    numbers(&root, &[], &mut paths);
    // Lists of bodies: also the second one.
    paths.extend(["length", "radius"].map(|key| ["body", "1", "shape", "cylinder", key].map(String::from).to_vec()));
    for path in &paths {
        for number in WILD.into_iter().chain([1e77, 1e-30, 1e30, 1e3]) {
            let text = with(&root, path, number);
            let what = format!("{} = {number:e}", path.join("."));
            let start = Instant::now();
            let built = SceneSpec::parse("wild.toml", &text).and_then(|scene| scene.build("wild.toml", None));
            match built {
                Ok(mut built) => {
                    let outcome = (0..10).try_for_each(|_| built.step());
                    assert!(
                        outcome.is_err() || built.world.bodies().all(|id| built.world.pose(id).is_finite()),
                        "{what}"
                    );
                }
                Err(error) => {
                    let message = error.to_string();
                    assert!(message.contains("wild.toml") && !message.contains('\n'), "{what}: {message}");
                }
            }
            assert!(start.elapsed() < SOON, "{what}: {:?}", start.elapsed());
        }
    }
    for (key, value) in [("length", "1e77 mm"), ("radius", "1e-11 mm"), ("length", "1e30 mm")] {
        let old = if key == "length" { "length = \"10 mm\"" } else { "radius = \"5 mm\"" };
        let error = SceneSpec::parse("wild.toml", &base.replace(old, &format!("{key} = \"{value}\""))).unwrap_err();
        let message = error.to_string();
        assert!(message.contains(value) && message.contains("out of range"), "{message}");
    }
}
