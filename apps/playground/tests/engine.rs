//! Tests of the page's engine without a page.

use dermis_playground::{Arrays, Engine, OFFERS, Offer};
use dermis_sensor::object::ObjectSpec;
use dermis_sensor::{Aim, Goal, presets, press};
use serde_json::{Value, json};

const BALL: &str = "sphere:radius=5mm";

fn ask(engine: &mut Engine, question: Value) -> (Value, Arrays) {
    engine.answer(&question.to_string(), &[])
}

/// An engine with a ball and a sensor.
fn ready(preset: &str, skin: &str) -> Engine {
    let mut engine = Engine::default();
    let object = ask(&mut engine, json!({ "do": "object", "name": BALL, "unit": null })).0;
    assert!(object["triangles"].as_u64().unwrap() > 1000, "{object}");
    let build = json!({ "do": "sensor", "slot": 0, "preset": preset, "skin": skin, "controls": {}, "width_px": 160 });
    let sensor = ask(&mut engine, build).0;
    assert!(sensor.get("error").is_none(), "{sensor}");
    engine
}

fn question(depth_mm: f64) -> Value {
    json!({
        "do": "press", "slot": 0, "at_mm": [1.0, -0.5], "depth_mm": depth_mm,
        "tilt_deg": [3.0, 0.0], "yaw_deg": 10.0, "shear_mm": [0.0, 0.0],
    })
}

/// On every sensor, with its own skin unless that is a gel; what the page shows first of it has no warning.
#[test]
fn a_press_is_the_press_of_the_sensor_and_the_first_has_no_warning() {
    for Offer { preset, skins, first: (object, depth_mm), .. } in OFFERS {
        let mut engine = ready(preset, json!(skins[0]).as_str().unwrap());
        let (answer, arrays) = ask(&mut engine, question(0.6));
        let sensor = presets::find(preset).unwrap().with_skin(skins[0]).unwrap().build(None).unwrap();
        let ball = ObjectSpec::parse_flag(BALL, None).unwrap().object(None, None).unwrap();
        let aim = Aim { at_m: [1e-3, -0.5e-3], tilt_rad: [3f64.to_radians(), 0.0], yaw_rad: 10f64.to_radians() };
        let pressed = press(&sensor, &ball, &aim, Goal::Depth(0.6e-3)).unwrap();
        let off = answer["sum_n"].as_f64().unwrap() - pressed.reading.sum_newton;
        assert!(off.abs() <= 1e-12 * pressed.reading.sum_newton, "{preset}: {off:e}");
        assert_eq!(arrays.index()["values"][2], 4 * sensor.taxels().len());
        assert_eq!(arrays.index().get("image").is_some(), sensor.optics().is_some());
        let fields =
            pressed.reading.magnetic_tesla.map(|all| all.iter().map(|b| (*b * 1e6).to_array()).collect::<Vec<_>>());
        assert_eq!(answer.get("magnetic_ut").cloned(), fields.map(|fields| json!(fields)), "{preset}");
        ask(&mut engine, json!({ "do": "object", "name": object, "unit": null }));
        let first = json!({
            "do": "press", "slot": 0, "at_mm": [0.0, 0.0], "depth_mm": depth_mm,
            "tilt_deg": [0.0, 0.0], "yaw_deg": 0.0, "shear_mm": [0.0, 0.0],
        });
        let answer = ask(&mut engine, first).0;
        assert_eq!(answer["warnings"], json!([]), "{preset}");
        assert!(-answer["force_n"][2].as_f64().unwrap() > 0.01, "{preset}");
    }
}

/// A skin beyond its range warns in the page as in the program.
#[test]
fn the_warnings_of_a_skin_are_in_the_answer() {
    let mut engine = ready("wts0614-layer", "layer");
    let answer = ask(&mut engine, question(0.9)).0;
    let warnings = answer["warnings"].as_array().unwrap();
    assert!(warnings.iter().any(|text| text.as_str().unwrap().contains("the largest strain is")), "{answer}");
}

/// A light that is used outside its data warns in the page too.
#[test]
fn the_warning_of_a_camera_is_in_the_answer() {
    let mut engine = Engine::default();
    ask(&mut engine, json!({ "do": "object", "name": "cylinder:radius=2mm,length=6mm", "unit": null }));
    let build =
        json!({ "do": "sensor", "slot": 0, "preset": "gelsight", "skin": "imprint", "controls": {}, "width_px": 640 });
    ask(&mut engine, build);
    let mut upright = question(1.0);
    upright["tilt_deg"] = json!([0.0, 0.0]);
    let answer = ask(&mut engine, upright).0;
    let warnings = answer["warnings"].as_array().unwrap();
    assert!(warnings.iter().any(|text| text.as_str().unwrap().contains("`light.steepest`")), "{answer}");
}

#[test]
fn above_the_sensor_nothing_is_felt_and_beside_it_nothing_breaks() {
    let mut engine = ready("wts0614", "springs");
    let hovering = ask(&mut engine, question(-1.0)).0;
    assert_eq!((&hovering["sum_n"], &hovering["above"]), (&json!(0.0), &json!(true)), "{hovering}");
    let mut far = question(0.5);
    far["at_mm"] = json!([500.0, 0.0]);
    let beside = ask(&mut engine, far).0;
    assert_eq!((&beside["sum_n"], &beside["above"]), (&json!(0.0), &json!(false)), "{beside}");
}

#[test]
fn a_force_is_reached_and_its_depth_gives_it_again() {
    let mut engine = ready("wts0614", "springs");
    let mut wanted = question(0.0);
    wanted["force_n"] = json!(1.5);
    let by_force = ask(&mut engine, wanted.clone()).0;
    assert!((by_force["force_n"][2].as_f64().unwrap() + 1.5).abs() < 1e-9, "{by_force}");
    let by_depth = ask(&mut engine, question(by_force["depth_mm"].as_f64().unwrap())).0;
    assert!((by_depth["force_n"][2].as_f64().unwrap() + 1.5).abs() < 1e-9, "{by_depth}");
    wanted["force_n"] = json!(1e6);
    assert!(ask(&mut engine, wanted).0["error"].as_str().unwrap().contains("cannot carry"));
}

#[test]
fn every_preset_is_offered() {
    let missing: Vec<_> = presets::names().filter(|name| OFFERS.iter().all(|offer| offer.preset != *name)).collect();
    assert_eq!(missing, ["tacchi"]);
}

#[test]
fn every_offer_is_a_preset_with_skins_that_it_can_have() {
    for offer in OFFERS {
        let spec = presets::find(offer.preset).unwrap();
        assert!(offer.skins.iter().all(|skin| spec.with_skin(*skin).is_ok()), "{}", offer.preset);
    }
}

#[test]
fn refusals_are_sentences_and_the_engine_goes_on() {
    let mut engine = ready("wts0614", "springs");
    let mut error =
        |question: &str, bytes: &[u8]| engine.answer(question, bytes).0["error"].as_str().unwrap().to_owned();
    assert!(error("{", &[]).contains("reload it"));
    assert!(error(r#"{"do":"dance"}"#, &[]).contains("dance"));
    assert!(error(r#"{"do":"object","name":"cat.jpg","unit":"mm"}"#, b"x").contains("cat.jpg"));
    assert!(error(r#"{"do":"object","name":"cat.stl","unit":"mm"}"#, b"no mesh").contains("cat.stl"));
    let sensor = |controls: Value| {
        json!({ "do": "sensor", "slot": 0, "preset": "wts0614", "skin": "springs", "controls": controls, "width_px": 160 })
            .to_string()
    };
    assert!(error(&sensor(json!({ "stiffness": -1.0 })), &[]).contains("`stiffness`"));
    assert!(error(&sensor(json!({ "colour": 1.0 })), &[]).contains("colour"));
    let mut deep = question(900.0);
    deep["shear_mm"] = json!([0.0, 0.0]);
    assert!(error(&deep.to_string(), &[]).contains("more than sensor"));
    assert!(ask(&mut engine, question(0.6)).0["sum_n"].as_f64().unwrap() > 0.1);
}

#[test]
fn a_warning_names_only_skins_that_the_page_offers() {
    for (preset, has_gel) in [("wts0614-layer", false), ("reskin", false), ("digit", true)] {
        let answer = ask(&mut ready(preset, "layer"), question(0.9)).0;
        let strain = |text: &&Value| text.as_str().unwrap().contains("the largest strain is");
        let text = answer["warnings"].as_array().unwrap().iter().find(strain).unwrap_or_else(|| panic!("{answer}"));
        assert_eq!(text.as_str().unwrap().contains("gel"), has_gel, "{preset}: {text}");
    }
}

/// A stiffness of 1e30 N/mm gave a force of 3e31 N.
#[test]
fn values_of_controls_are_bounded() {
    // Every skin once.
    let offers = [("wts0614", "springs"), ("wts0614", "hydroelastic"), ("wts0614", "layer"), ("fingertip", "imprint")];
    for (preset, skin) in offers {
        let mut engine = Engine::default();
        let mut build = |controls: Value| {
            let question = json!({ "do": "sensor", "slot": 0, "preset": preset, "skin": skin, "controls": controls, "width_px": 160 });
            ask(&mut engine, question).0
        };
        let controls = build(json!({}))["controls"].clone();
        for (key, control) in controls.as_object().unwrap().iter().filter(|(_, control)| !control.is_null()) {
            for beyond in [1e30, -1.0, 2.0 * control["max"].as_f64().unwrap()] {
                let error = build(json!({ key: beyond }))["error"].as_str().map(str::to_owned);
                let error = error.unwrap_or_else(|| panic!("{preset} {skin:?}: {key} = {beyond} is accepted"));
                assert!(error.contains(key) && error.contains("between"), "{error}");
            }
        }
    }
}

/// The slider scales the stiffness in proportion, and the file for the command line contains the new value.
#[test]
fn sliders_change_the_skin_and_its_file() {
    let mut engine = ready("wts0614", "springs");
    let soft = ask(&mut engine, question(0.6)).0["sum_n"].as_f64().unwrap();
    let controls = json!({ "stiffness": 6.0, "friction": 0.2, "thickness": 2.0 });
    let build = json!({ "do": "sensor", "slot": 0, "preset": "wts0614", "skin": "springs", "controls": controls, "width_px": 160 });
    let sensor = ask(&mut engine, build).0;
    let hard = ask(&mut engine, question(0.6)).0["sum_n"].as_f64().unwrap();
    assert!((hard / soft - 3.0).abs() < 1e-9, "{soft} {hard}");
    assert_eq!(
        sensor["controls"]["stiffness"],
        json!({ "label": "Stiffness of a taxel", "unit": "N/mm", "value": 2.0, "min": 0.002, "max": 2000.0 })
    );
    assert!((sensor["max_depth_mm"].as_f64().unwrap() - 2.0).abs() < 1e-12);
    let toml = sensor["toml"].as_str().unwrap();
    assert!(toml.contains("mu_static = 0.2") && toml.contains("max_penetration = \"2 mm\""), "{toml}");
}
