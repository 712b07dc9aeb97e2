use super::*;
use dermis_sensor::SkinKind;

const BALL_ON_PAD: &str = r#"
[world]
duration = "0.2 s"
time_step = "0.2 ms"

[[body]]
name = "ball"
motion = "free"
mass = "50 g"
shape.sphere.radius = "15 mm"
at = ["0 mm", "0 mm", "14.9 mm"]

[[sensor]]
name = "pad"
preset = "uji-foam-14x6"
skin.friction.sigma0 = "200 N/m"
"#;

fn refusal(text: &str) -> String {
    let spec = SceneSpec::parse("ball.toml", text);
    let message = match spec.and_then(|spec| spec.build("ball.toml", None)) {
        Ok(_) => panic!("accepted:\n{text}"),
        Err(error) => error.to_string(),
    };
    assert!(message.contains("ball.toml") && !message.contains('\n'), "{message}");
    message
}

/// After the ball has come to rest, the sensor carries its weight.
#[test]
fn a_ball_comes_to_rest_on_a_pad_and_weighs_what_it_weighs() {
    let text = BALL_ON_PAD.replace("0.2 s", "1.5 s").replace(
        "skin.friction.sigma0 = \"200 N/m\"",
        "skin.friction.sigma0 = \"200 N/m\"\nskin.damping = \"2 N s/m\"",
    );
    let mut built = SceneSpec::parse("ball.toml", &text).unwrap().build("ball.toml", None).unwrap();
    let recording = crate::run::run(&mut built, &mut |_| crate::run::Continue::Yes).unwrap();
    let last = recording.sensors[0].rows.last().unwrap();
    let weight = 0.050 * 9.81;
    assert!((-last.force_newton.z - weight).abs() < 0.01 * weight, "{} N", last.force_newton.z);
    assert_eq!(recording.times_s.len(), 151);
    // The first touch of a few contact points is no reason for a warning.
    assert_eq!(recording.warnings.texts(), [""; 0]);
}

#[test]
fn a_body_that_few_contact_points_carry_is_reported_by_a_run() {
    let text = BALL_ON_PAD
        .replace("15 mm", "3 mm")
        .replace("14.9 mm", "2.9 mm")
        .replace("preset = \"uji-foam-14x6\"", "preset = \"uji-foam-14x6\"\ncontact_points = 1");
    let mut built = SceneSpec::parse("ball.toml", &text).unwrap().build("ball.toml", None).unwrap();
    let recording = crate::run::run(&mut built, &mut |_| crate::run::Continue::Yes).unwrap();
    let texts = recording.warnings.texts();
    assert!(texts.iter().any(|text| text.contains("increase `contact_points`")), "{texts:?}");
}

#[test]
fn a_change_leaves_the_rest_of_the_preset() {
    let spec = SceneSpec::parse("ball.toml", BALL_ON_PAD).unwrap();
    let built = spec.build("ball.toml", None).unwrap();
    let sensor = built.world.sensor(built.sensor("pad").unwrap());
    // A texel has 5 × 5 contact points.
    let tangent = sensor.skin().fully_pressed()[0].tangent;
    assert!((25.0 * tangent.stiffness_normal / 58.5 - 1.0).abs() < 1e-12, "{tangent:?}");
    assert!((25.0 * tangent.stiffness_tangential / 200.0 - 1.0).abs() < 1e-12, "{tangent:?}");
    let other = BALL_ON_PAD.replace("skin.friction.sigma0 = \"200 N/m\"", "skin.friction = { kind = \"none\" }");
    let built = SceneSpec::parse("ball.toml", &other).unwrap().build("ball.toml", None).unwrap();
    assert_eq!(built.world.sensor(built.sensors[0].1).skin().fully_pressed()[0].tangent.stiffness_tangential, 0.0);
}

/// Another kind of skin replaces that of the preset: no key of the springs remains, and missing keys are reported.
#[test]
fn a_preset_of_springs_can_be_made_hydroelastic() {
    let with = |skin: &str| BALL_ON_PAD.replace("skin.friction.sigma0 = \"200 N/m\"", skin);
    let stiffness = |text: &str| {
        let built = SceneSpec::parse("ball.toml", text).unwrap().build("ball.toml", None).unwrap();
        let skin = built.world.sensor(built.sensors[0].1).skin();
        (skin.fully_pressed().iter().map(|support| support.tangent.stiffness_normal).sum::<f64>(), skin.max_depth_m())
    };
    let own = "skin = { kind = \"hydroelastic\", hydroelastic_modulus = \"60 kPa\", thickness = \"6 mm\", dissipation = \"5 s/m\" }";
    let (sum, depth_m) = stiffness(&with(own));
    let area_m2 = 84.0 * 3.85758e-3f64.powi(2);
    assert!(
        (sum / (60e3 / 6e-3 * area_m2) - 1.0).abs() < 1e-9 && (depth_m - 6e-3).abs() < 1e-12,
        "{sum} N/m, {depth_m} m"
    );
    // The kind alone converts the springs to a pad of the same stiffness.
    let (sum, _) = stiffness(&with("skin.kind = \"hydroelastic\""));
    assert!((sum / (84.0 * 58.5) - 1.0).abs() < 1e-9, "{sum} N/m");
    let message = refusal(&with("skin = { kind = \"hydroelastic\", hydroelastic_modulus = \"60 kPa\" }"));
    assert!(message.contains("`thickness` is needed"), "{message}");
    let message = refusal(&with("skin = { kind = \"hydroelastic\", stiffness = \"60 N/m\" }"));
    assert!(message.contains("stiffness"), "{message}");
    let message = refusal(&with("reading = { kind = \"rays\", radius = \"3 mm\", spacing = \"-1 mm\" }"));
    assert!(message.contains("`spacing`"), "{message}");
}

/// `stiffness_per_area` replaces the preset's `stiffness`.
#[test]
fn an_override_follows_the_rule_of_the_sensor() {
    let text = BALL_ON_PAD.replace("skin.friction.sigma0 = \"200 N/m\"", "skin.stiffness_per_area = \"10 MPa/m\"");
    let spec = SceneSpec::parse("ball.toml", &text).unwrap();
    let (sensor, _) = spec.sensors[0].sensor.resolve("pad", None).unwrap();
    let changes = serde_json::json!({ "name": "pad", "skin": { "stiffness_per_area": "10 MPa/m" } });
    let preset = dermis_sensor::presets::find("uji-foam-14x6").unwrap();
    assert_eq!(sensor, preset.with_overrides(changes.as_object().unwrap()).unwrap());
    assert!(spec.build("ball.toml", None).is_ok());
}

/// The keys of a sensor are checked although they are flattened into the entry.
#[test]
fn the_line_of_a_slip_in_a_sensor_is_named() {
    let own = "surface.grid = { rows = 2, cols = 2, pitch = 3 }\nskin.kind = \"springs\"";
    let message = refusal(&BALL_ON_PAD.replace("preset = \"uji-foam-14x6\"", own));
    assert!(message.contains("pitch = 3") && message.contains("no unit"), "{message}");
    let message = refusal(&BALL_ON_PAD.replace("preset =", "presets ="));
    assert!(message.contains("(`presets = "), "{message}");
    let gripper = "[gripper]\nkind = \"parallel\"\nsensor.presets = \"wts0614\"\n[[sensor]]";
    let message = refusal(&BALL_ON_PAD.replace("[[sensor]]", gripper));
    assert!(message.contains("presets"), "{message}");
}

/// A scene with `coupling = "implicit"` and a layer was accepted and took the force at the start of the step.
#[test]
fn implicit_coupling_of_a_layer_ran_explicit() {
    let presets = dermis_sensor::presets::names().map(|name| (name, None));
    let converted = SkinKind::NAMES.iter().map(|kind| ("wts0614", Some(*kind)));
    for (preset, kind) in presets.chain(converted) {
        let spec = dermis_sensor::presets::find(preset).unwrap();
        let kind = kind.unwrap_or(spec.skin.kind().name());
        let text = format!(
            "world = {{ duration = \"1 s\", coupling = \"implicit\", time_step = \"10 us\" }}\n\
             sensor = [{{ name = \"pad\", preset = {preset:?}, skin.kind = {kind:?} }}]"
        );
        let built = SceneSpec::parse("scene.toml", &text).unwrap().build("scene.toml", None);
        let supports = ["springs", "hydroelastic"].contains(&kind);
        match built.map_err(|error| error.to_string()) {
            Ok(_) => assert!(supports, "{preset} as {kind} is accepted"),
            Err(message) => {
                let words = ["`coupling`", "\"pad\"", "springs and hydroelastic"];
                assert!(!supports && words.iter().all(|word| message.contains(word)), "{preset} as {kind}: {message}");
            }
        }
    }
}

#[test]
fn slips_are_named() {
    let with = |from: &str, to: &str| {
        assert!(BALL_ON_PAD.contains(from), "{from}");
        refusal(&BALL_ON_PAD.replace(from, to))
    };
    let says = |message: String, words: &[&str]| {
        assert!(words.iter().all(|word| message.contains(word)), "{message}");
    };
    says(with("mass = \"50 g\"", "mass = \"-50 g\""), &["\"ball\"", "`mass`", "-0.05"]);
    says(with("mass = \"50 g\"", "weight = \"50 g\""), &["line 9", "weight"]);
    says(with("mass = \"50 g\"\n", ""), &["\"ball\"", "`mass`", "`density`"]);
    says(with("\"0.2 ms\"", "\"50 ms\"\ncoupling = \"explicit\""), &["5e-2 s", "stable up to"]);
    says(with("\"0.2 ms\"", "\"0.2 ms\"\ncoupling = \"semi\""), &["semi", "implicit"]);
    says(with("\"0.2 ms\"", "0.2"), &["line 4", "no unit"]);
    says(with("\"15 mm\"", "\"15 N\""), &["line 10", "no unit of length"]);
    says(with("name = \"pad\"", "name = \"pad\"\nbody = \"table\""), &["`body`", "\"table\"", "\"ball\""]);
    says(with("uji-foam-14x6", "uji"), &["\"uji\"", "wts0614"]);
    says(with("\"200 N/m\"", "\"200 N\""), &["\"pad\"", "`skin.friction.sigma0`", "200 N"]);
    says(with("\"200 N/m\"", "\"-200 N/m\""), &["\"pad\"", "-200"]);
    says(with("skin.friction.sigma0", "skin.friction.sigma"), &["`skin.friction.sigma`", "unknown field"]);
    says(with("[[sensor]]", "[gripper]\nkind = \"four-finger\"\n[[sensor]]"), &["four-finger", "parallel"]);
    says(with("[[sensor]]", "[task]\nkind = \"pick-and-place\"\n[[sensor]]"), &["[gripper]"]);
    says(with("[[sensor]]", "[record]\nevery = \"0.1 ms\"\n[[sensor]]"), &["`every`"]);
    says(with("at = [", "rotate = { axis = [0, 0, 0], angle = \"1 deg\" }\nat = ["), &["`rotate.axis`"]);
    says(with("at = [", "rotate = { axis = [0, nan, 0], angle = \"1 deg\" }\nat = ["), &["`axis`", "NaN"]);
    says(with("at = [", "rotate = { angle = \"1 deg\" }\nat = ["), &["`axis`"]);
    let array = "rotate = [[0, 0, 1], \"30 deg\"]\nat = [";
    says(with("at = [", array), &["(`rotate = [[0, 0, 1], \"30 deg\"]`)", "a table such as { axis", "an array of 2"]);
    says(with("at = [", "rotate = \"30 deg\"\nat = ["), &["(`rotate = \"30 deg\"`)", "a table such as { axis"]);
    says(with("[world]", "gripper = 3\n[world]"), &["(`gripper = 3`)", "expected a table"]);
    let twice = format!("{BALL_ON_PAD}\n[[sensor]]\nname = \"Pad\"\npreset = \"wts0614\"\n");
    says(refusal(&twice), &["two sensors", "\"Pad\""]);
    says(refusal("[world]\nduration = \"1 s\"\n"), &["[[sensor]]"]);
}

#[test]
fn gravity_is_one_number_or_three() {
    let gravity = |text: &str| {
        let scene = BALL_ON_PAD.replace("[world]", &format!("[world]\ngravity = {text}"));
        SceneSpec::parse("g.toml", &scene).map(|spec| spec.world.gravity.vector().to_array())
    };
    assert_eq!(gravity("\"9.8 m/s^2\"").unwrap(), [0.0, 0.0, -9.8]);
    assert_eq!(gravity("[\"1 m/s^2\", \"0 m/s^2\", \"-9 m/s^2\"]").unwrap(), [1.0, 0.0, -9.0]);
    assert!(gravity("9.8").unwrap_err().to_string().contains("acceleration"));
    assert!(gravity("[\"1 m/s^2\"]").is_err());
}

#[test]
fn a_scene_survives_being_written_and_read() {
    let spec = SceneSpec::parse("ball.toml", BALL_ON_PAD).unwrap();
    let text = serde_json::to_string(&spec).unwrap();
    assert_eq!(serde_json::from_str::<SceneSpec>(&text).unwrap(), spec);
}
