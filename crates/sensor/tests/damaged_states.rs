//! States from damaged files and of other sensors: every skin and the response return an error, never a panic and never
//! a load that is not finite.

use dermis_geometry::quantity::{Force, Frequency, Length, Time};
use dermis_geometry::{Pose, Primitive, Random, Twist, Vec3};
use dermis_sensor::response::{Ageing, Creep, Delay, Hysteresis, Sampling, Scan};
use dermis_sensor::{ResponseState, Sensor, SensorSpec, SkinKind, SkinSpec, presets};
use dermis_skin::{Motion, Object, SkinError, State, Target, Touch};
use serde_json::{Value, json};

/// Changes one random part of a JSON value.
fn damage(value: &mut Value, random: &mut Random) {
    let pick = |random: &mut Random, count: usize| ((random.uniform() * count as f64) as usize).min(count - 1);
    // Descends with a probability of 4/5, so that all levels are damaged.
    let deeper = random.uniform() < 0.8;
    match value {
        Value::Array(items) if !items.is_empty() => {
            let index = pick(random, items.len());
            match if deeper { 9 } else { pick(random, 4) } {
                0 => drop(items.remove(index)),
                1 => items.insert(index, items[index].clone()),
                2 => items.truncate(index),
                3 => items.reverse(),
                _ => damage(&mut items[index], random),
            }
        }
        Value::Object(fields) if !fields.is_empty() => {
            let name = fields.keys().nth(pick(random, fields.len())).unwrap().clone();
            match if deeper { 9 } else { pick(random, 3) } {
                0 => drop(fields.remove(&name)),
                1 => drop(fields.insert(name, Value::Null)),
                2 => drop(fields.insert("Imprint".to_owned(), Value::Null)),
                _ => damage(&mut fields[&name], random),
            }
        }
        other => {
            let numbers = [
                json!(0),
                json!(1),
                json!(-1),
                json!(u32::MAX),
                json!(u64::MAX),
                json!(1e-300),
                json!(0.37),
                json!(1e12),
                json!(-1e12),
                json!(1e300),
                json!(-1e300),
                Value::Null,
                json!([]),
                json!("x"),
            ];
            *other = numbers[pick(random, numbers.len())].clone();
        }
    }
}

fn ball() -> Object {
    Object::of_primitive(Primitive::Sphere { radius_m: 6e-3 }, 0.8e-3).unwrap()
}

fn is_finite(touch: &Touch) -> bool {
    touch.on_sensor.force.is_finite()
        && touch.on_sensor.torque.is_finite()
        && touch.facets.iter().all(|facet| facet.force_on_sensor().is_finite())
}

/// A step of a ball that presses and slides.
fn step(sensor: &Sensor, object: &Object, state: &State, x_m: f64) -> Result<(Touch, State), SkinError> {
    let pose = Pose::from_translation(Vec3::new(x_m, 0.0, 6e-3 - 0.6e-3));
    let velocity = Twist { linear: Vec3::X * 0.05, angular: Vec3::ZERO };
    sensor.touch(state, &Motion { targets: &[Target { object, sensor_from_object: pose, velocity }] }, 1e-3)
}

/// A small sensor of each kind, with the number of damaged states to try.
fn sensors() -> Vec<(Sensor, usize)> {
    let array = presets::find("wts0614").unwrap();
    let mut pad = array.with_skin(SkinKind::Hydroelastic).unwrap();
    pad.name = "pad".into();
    let text = "name = \"layer\"\nsurface.grid = { rows = 6, cols = 6, pitch = \"2 mm\" }\n[skin]\nkind = \"layer\"\n\
                thickness = \"3 mm\"\nyoung = \"200 kPa\"\npoisson = 0.4\ncell = \"0.6 mm\"\nmu = 0.5\n\
                [[skin.relaxation]]\nratio = 0.5\ntime = \"1 s\"\n";
    let layer = SensorSpec::parse("layer", text).unwrap();
    let gel = "name = \"gel\"\nsurface.grid = { rows = 6, cols = 6, pitch = \"2 mm\" }\n[skin]\nkind = \"gel\"\n\
               thickness = \"3 mm\"\nyoung = \"200 kPa\"\npoisson = 0.4\ncell = \"1 mm\"\nmass_scaling = 1e4\n";
    let gel = SensorSpec::parse("gel", gel).unwrap();
    let imprint = presets::find("fingertip").unwrap().with_skin(SkinKind::Imprint).unwrap();
    [(array, 300), (pad, 100), (layer, 40), (gel, 12), (imprint, 8)]
        .map(|(spec, count)| (spec.build(None).unwrap(), count))
        .into()
}

#[test]
fn a_damaged_state_is_refused_by_every_skin() {
    let object = ball();
    for (sensor, count) in sensors() {
        let mut random = Random::new(18);
        let mut state = sensor.skin().rest();
        for i in 0..3 {
            state = step(&sensor, &object, &state, f64::from(i) * 5e-5).unwrap().1;
        }
        let at_rest = sensor.skin().settle(&sensor.skin().rest(), &Motion { targets: &[] }).unwrap().1;
        let mut refused = 0;
        for k in 0..count {
            let from = if k % 8 == 7 { &at_rest } else { &state };
            let mut damaged = serde_json::to_value(from).unwrap();
            for _ in 0..=k % 3 {
                damage(&mut damaged, &mut random);
            }
            let Ok(read) = serde_json::from_value::<State>(damaged) else {
                refused += 1;
                continue;
            };
            let moved = step(&sensor, &object, &read, 2e-4);
            let pose = Pose::from_translation(Vec3::Z * 5.5e-3);
            let settled = sensor.skin().settle(&read, &Motion { targets: &[Target::at_rest(&object, pose)] });
            for outcome in [moved, settled] {
                match outcome {
                    Ok((touch, next)) => {
                        assert!(is_finite(&touch), "{}: {:?}", sensor.name(), touch.on_sensor);
                        // The next state is sound too.
                        assert!(step(&sensor, &object, &next, 2.5e-4).is_ok(), "{}", sensor.name());
                    }
                    Err(_) => refused += 1,
                }
            }
        }
        println!("{}: {refused} refused", sensor.name());
        assert!(refused > count / 4 || sensor.name() == "fingertip", "{}: {refused} of {count}", sensor.name());
    }
}

#[test]
fn a_state_of_another_skin_is_refused() {
    let sensors = sensors();
    let nothing = Motion { targets: &[] };
    for (i, (sensor, _)) in sensors.iter().enumerate() {
        for (j, (other, _)) in sensors.iter().enumerate().filter(|(j, _)| *j != i) {
            let outcome = sensor.touch(&other.skin().rest(), &nothing, 1e-3);
            assert!(matches!(outcome, Err(SkinError::OtherSkin { .. })), "{i} {j}");
        }
    }
    let mut spec = presets::find("tacchi").unwrap();
    let SkinSpec::Gel(gel) = &mut spec.skin else { panic!("a gel") };
    gel.thickness = Some(Length::new(4e-3));
    let tacchi = spec.build(None).unwrap();
    assert!(matches!(tacchi.touch(&State::Imprint, &nothing, 1e-3), Err(SkinError::OtherSkin { .. })));
}

#[test]
fn a_damaged_state_is_refused_by_the_response() {
    let mut spec = presets::find("wts0614").unwrap();
    spec.response.hysteresis = Some(Hysteresis { fraction: 0.1, width: Force::new(0.0) });
    spec.response.creep = vec![Creep { amplitude: 0.1, time: Time::new(1.0) }];
    spec.response.ageing = Some(Ageing {
        loss_by_use: 0.1,
        presses: 100.0,
        pressed_above: Force::new(0.1),
        loss_by_time: 0.1,
        time: Time::new(100.0),
    });
    spec.response.sampling = Some(Sampling { rate: Frequency::new(300.0), scan: Scan::Rows });
    spec.response.delay = Some(Delay { time: Time::new(5e-3) });
    let sensor = spec.build(None).unwrap();
    let (touch, _) = step(&sensor, &ball(), &sensor.skin().rest(), 0.0).unwrap();
    let mut state = sensor.chain().rest();
    for _ in 0..9 {
        state = sensor.sense(&state, &touch, 1e-3).unwrap().1;
    }
    let mut random = Random::new(7);
    for k in 0..500 {
        let mut damaged = serde_json::to_value(&state).unwrap();
        (0..=k % 3).for_each(|_| damage(&mut damaged, &mut random));
        if let Ok(read) = serde_json::from_value::<ResponseState>(damaged)
            && let Ok((reading, _)) = sensor.sense(&read, &touch, 1e-3)
        {
            assert!(reading.reported_newton.iter().all(|value| value.is_finite()));
        }
    }
}
