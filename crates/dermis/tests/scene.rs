//! Scenes: what passes a sensor, leaves, or exceeds the range of a skin is said.

use dermis::run::{Continue, Recording, run};
use dermis::scene::SceneSpec;

fn run_scene(text: &str) -> Recording {
    let mut built = SceneSpec::parse("scene.toml", text).unwrap().build("scene.toml", None).unwrap();
    let recording = run(&mut built, &mut |_| Continue::Yes).unwrap();
    let residual = recording.energy.relative_residual();
    assert!(residual.abs() < 0.05, "residual {residual}: {:?}", recording.energy);
    recording
}

/// A ball of 2 kg above a foam array (12 mm of travel) on a block; `x_mm` shifts the ball. The friction of the preset is
/// so soft that the ball would slide off.
fn ball_on_block(x_mm: f64, sensor_on: &str, more: &str) -> String {
    format!(
        r#"
        [world]
        duration = "0.6 s"
        time_step = "0.2 ms"
        [[body]]
        name = "block"
        shape.cuboid.size = ["200 mm", "200 mm", "40 mm"]
        at = ["0 mm", "0 mm", "-20 mm"]
        [[body]]
        name = "ball"
        motion = "free"
        mass = "2 kg"
        shape.sphere.radius = "20 mm"
        at = ["{x_mm} mm", "0 mm", "21 mm"]
        {more}
        [[sensor]]
        name = "pad"
        preset = "uji-foam-14x6"
        skin.friction = {{ sigma0 = "500 N/m", sigma1 = "1 N s/m", mu_static = 0.9, mu_dynamic = 0.9 }}
        {sensor_on}
        "#
    )
}

fn height_m(recording: &Recording) -> f64 {
    let ball = recording.bodies.iter().find(|track| track.name == "ball").unwrap();
    ball.poses.last().unwrap().translation.z
}

/// The skin carries what it can; its base, 12 mm below the surface, carries the rest.
#[test]
fn a_heavy_ball_bottoms_out_on_the_carrier_of_a_soft_skin() {
    let recording = run_scene(&ball_on_block(0.0, "body = \"block\"\nat = [\"0 mm\", \"0 mm\", \"20 mm\"]", ""));
    let depth_m = 0.020 - height_m(&recording);
    assert!((0.010..0.0125).contains(&depth_m), "{depth_m} m deep");
    let warnings = recording.warnings.texts();
    assert!(warnings.iter().any(|text| text.contains("base") && text.contains("\"ball\"")), "{warnings:?}");
    assert!(!recording.warnings.lost_body());
    let last = recording.sensors[0].rows.last().unwrap();
    assert!(last.sum_newton > 10.0, "the skin carries {} N", last.sum_newton);
    let summary = recording.summary();
    assert_eq!(summary["warnings"].as_array().unwrap().len(), warnings.len());
}

/// A sensor without a body that carries it has a base too.
#[test]
fn a_heavy_ball_bottoms_out_on_a_sensor_that_is_fixed_in_the_world() {
    let text = ball_on_block(0.0, "at = [\"0 mm\", \"0 mm\", \"0 mm\"]", "").replace("\"-20 mm\"]", "\"-80 mm\"]");
    let depth_m = 0.020 - height_m(&run_scene(&text));
    assert!((0.010..0.0125).contains(&depth_m), "{depth_m} m deep");
}

#[test]
fn a_ball_beside_the_array_rests_on_the_carrier() {
    let recording = run_scene(&ball_on_block(60.0, "body = \"block\"\nat = [\"0 mm\", \"0 mm\", \"20 mm\"]", ""));
    assert!((height_m(&recording) - 0.020).abs() < 5e-4, "{} m", height_m(&recording));
    assert_eq!(recording.warnings.texts(), Vec::<String>::new());
}

/// A body that is not solid passes the base; without anything below it leaves the scene.
#[test]
fn what_passes_through_or_leaves_is_said() {
    let text = ball_on_block(0.0, "body = \"block\"\nat = [\"0 mm\", \"0 mm\", \"20 mm\"]", "solid = false");
    let text = text.replace("\"2 kg\"", "\"20 kg\"").replace("\"0.6 s\"", "\"1.5 s\"");
    let recording = run_scene(&text);
    let warnings = recording.warnings.texts();
    assert!(recording.warnings.lost_body());
    for words in ["\"ball\" passed through \"pad\"", "\"ball\" left the scene"] {
        assert!(warnings.iter().any(|text| text.contains(words)), "{words}: {warnings:?}");
    }
    assert_eq!(recording.summary()["lost_body"], true);
}

/// A plate wider than an array that is flush with its carrier rests on the carrier too.
#[test]
fn a_plate_on_the_carrier_beside_the_skin_is_said() {
    let text = ball_on_block(0.0, "body = \"block\"\nat = [\"0 mm\", \"0 mm\", \"20 mm\"]", "")
        .replace("shape.sphere.radius = \"20 mm\"", "shape.cuboid.size = [\"80 mm\", \"80 mm\", \"40 mm\"]");
    let recording = run_scene(&text);
    let warnings = recording.warnings.texts();
    assert!(warnings.iter().any(|text| text.contains("rests on \"block\" beside the skin")), "{warnings:?}");
    assert!((height_m(&recording) - 0.020).abs() < 5e-4, "{} m", height_m(&recording));
}

/// The rows of a sensor with magnetometers have their flux density, which changes as a driven ball comes down.
#[test]
fn a_run_records_the_flux_density_of_magnetometers() {
    let folder = tempfile::TempDir::new().unwrap();
    let sensor = r#"
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
        [magnets]
        positions = [["1 mm", "0 mm", "-3 mm"]]
        directions = [[0, 0, 1]]
        shape = { kind = "dipole", moment = "10 mA m^2" }
        [magnetometers]
        positions = [["0 mm", "0 mm", "-8 mm"]]
    "#;
    std::fs::write(folder.path().join("magnetic.toml"), sensor).unwrap();
    let scene = r#"
        [world]
        duration = "20 ms"
        [[body]]
        name = "ball"
        motion = "driven"
        shape.sphere.radius = "8 mm"
        at = ["0 mm", "0 mm", "8.1 mm"]
        velocity = ["0 mm/s", "0 mm/s", "-30 mm/s"]
        [[sensor]]
        name = "skin"
        file = "magnetic.toml"
    "#;
    let spec = SceneSpec::parse("scene.toml", scene).unwrap();
    let recording = run(&mut spec.build("scene.toml", Some(folder.path())).unwrap(), &mut |_| Continue::Yes).unwrap();
    let field = |row: usize| recording.sensors[0].rows[row].magnetic_tesla[0];
    let last = recording.sensors[0].rows.len() - 1;
    assert!((field(last) - field(0)).length() > 1e-6, "{} {}", field(0), field(last));
    assert!(recording.energy.relative_residual().abs() < 0.05, "{:?}", recording.energy);
}
