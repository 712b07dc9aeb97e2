//! States of skins and responses that were saved as JSON.

use super::said;
use dermis::geometry::{Pose, Primitive, Twist, Vec3};
use dermis::sensor::{Sensor, SensorSpec, SkinKind, presets};
use dermis::skin::{Motion, Object, SkinError, State, Target, Touch};
use std::cell::OnceCell;
use std::path::Path;

thread_local! {
    static SENSORS: OnceCell<(Vec<Sensor>, Object)> = const { OnceCell::new() };
}

/// A small sensor of each skin, and a ball.
fn made() -> (Vec<Sensor>, Object) {
    let springs = presets::find("wts0614").expect("a preset");
    let hydroelastic = springs.with_skin(SkinKind::Hydroelastic).expect("a skin for it");
    let soft = |kind: &str, cell: &str| {
        let text = format!(
            "name = \"a\"\nsurface.grid = {{ rows = 4, cols = 4, pitch = \"2 mm\" }}\n[skin]\nkind = \"{kind}\"\n\
             thickness = \"3 mm\"\nyoung = \"200 kPa\"\npoisson = 0.4\ncell = \"{cell}\"\n"
        );
        SensorSpec::parse("a", &text).expect("a sensor")
    };
    let specs = [springs, hydroelastic, soft("layer", "1 mm"), soft("gel", "2 mm")];
    let sensors = specs.into_iter().map(|spec| spec.build(None).expect("a sensor")).collect();
    (sensors, Object::of_primitive(Primitive::Sphere { radius_m: 6e-3 }, 0.8e-3).expect("a ball"))
}

/// The step of a ball that presses and slides.
fn step(sensor: &Sensor, object: &Object, state: &State) -> Result<(Touch, State), SkinError> {
    let pose = Pose::from_translation(Vec3::new(1e-4, 0.0, 6e-3 - 0.3e-3));
    let velocity = Twist { linear: Vec3::X * 0.01, angular: Vec3::ZERO };
    sensor.touch(state, &Motion { targets: &[Target { object, sensor_from_object: pose, velocity }] }, 1e-4)
}

/// States of all skins, at rest and after a step.
pub fn seeds() -> Vec<Vec<u8>> {
    let (sensors, object) = made();
    let states = sensors.iter().flat_map(|sensor| {
        let rest = sensor.skin().rest();
        let touched = step(sensor, &object, &rest).map(|(_, state)| state);
        [Some(rest), touched.ok()]
    });
    states.flatten().filter_map(|state| serde_json::to_vec(&state).ok()).collect()
}

pub fn state(bytes: &[u8], _: &Path) -> Result<(), String> {
    let state: State = serde_json::from_slice(bytes).map_err(said)?;
    let text = serde_json::to_string(&state).expect("a state becomes JSON");
    let again: State = serde_json::from_str(&text).expect("a state of our own is read");
    assert_eq!(serde_json::to_string(&again).ok().as_deref(), Some(text.as_str()), "a state does not round-trip");
    SENSORS.with(|made_once| {
        let (sensors, object) = made_once.get_or_init(made);
        let mut outcome = Err("no skin".to_owned());
        for sensor in sensors {
            outcome = match step(sensor, object, &state) {
                Ok((touch, _)) => {
                    let on_sensor = touch.on_sensor;
                    assert!(on_sensor.force.is_finite() && on_sensor.torque.is_finite(), "a load is not finite");
                    return Ok(());
                }
                Err(error) => Err(said(error)),
            };
        }
        outcome
    })
}
