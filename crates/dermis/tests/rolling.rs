//! Bodies that roll down an incline of 10 degrees on every skin and on the ground, as a rigid body does: with the moment k m r²
//! about its axis, at g sin α / (1 + k).

use dermis::scene::SceneSpec;

const RADIUS_MM: f64 = 8.0;
/// The start of the measurement (s) and its end: after the first bounces.
const WINDOW_S: (f64, f64) = (0.1, 0.25);

/// A cylinder of a length (mm), or a sphere.
fn shape(length_mm: Option<f64>) -> String {
    match length_mm {
        Some(length) => format!("shape.cylinder = {{ radius = \"{RADIUS_MM} mm\", length = \"{length} mm\" }}"),
        None => format!("shape.sphere = {{ radius = \"{RADIUS_MM} mm\" }}"),
    }
}

/// Acceleration along the slope (m/s²); the skin lies flat and gravity is inclined.
fn acceleration(body: &str, sink_mm: f64, step: &str, ground: &str, sensor: &str) -> f64 {
    let (sine, cosine) = 10f64.to_radians().sin_cos();
    let text = format!(
        r#"
        [world]
        duration = "0.25 s"
        time_step = "{step}"
        gravity = ["{} m/s^2", "0 m/s^2", "{} m/s^2"]
        {ground}
        [[body]]
        name = "roller"
        motion = "free"
        mass = "50 g"
        {body}
        at = ["-50 mm", "0 mm", "{} mm"]
        rotate = {{ axis = [1, 0, 0], angle = "90 deg" }}
        {sensor}
        "#,
        9.81 * sine,
        -9.81 * cosine,
        RADIUS_MM - sink_mm,
    );
    let mut built = SceneSpec::parse("roll.toml", &text).unwrap().build("roll.toml", None).unwrap();
    let id = built.body("roller").unwrap();
    let mut speeds = [0.0; 2];
    for (speed, until) in speeds.iter_mut().zip([WINDOW_S.0, WINDOW_S.1]) {
        built.world.run_until(until, |_| Ok(true)).unwrap();
        *speed = built.world.velocity(id).linear.x;
    }
    (speeds[1] - speeds[0]) / (WINDOW_S.1 - WINDOW_S.0)
}

fn expected(length_mm: Option<f64>) -> f64 {
    let moment = if length_mm.is_some() { 0.5 } else { 0.4 };
    9.81 * 10f64.to_radians().sin() / (1.0 + moment)
}

const PAD: &str = r#"
        [[sensor]]
        name = "pad"
        surface.grid = { rows = 8, cols = 20, pitch = "6 mm" }
"#;

fn skins() -> Vec<(&'static str, String, &'static str)> {
    let springs = format!(
        r#"{PAD}
        contact_points = 12
        [sensor.skin]
        kind = "springs"
        stiffness_per_area = "100 MPa/m"
        max_penetration = "4 mm"
        friction = {{ kind = "coulomb", mu = 0.6, regularisation_speed = "1 mm/s" }}
        "#
    );
    let hydroelastic = format!(
        r#"{PAD}
        [sensor.skin]
        kind = "hydroelastic"
        hydroelastic_modulus = "400 kPa"
        thickness = "4 mm"
        dissipation = "0 s/m"
        friction = {{ kind = "coulomb", mu = 0.6, regularisation_speed = "1 mm/s" }}
        "#
    );
    let layer = format!(
        r#"{PAD}
        [sensor.skin]
        kind = "layer"
        thickness = "3 mm"
        young = "1.65 MPa"
        poisson = 0.2
        cell = "1 mm"
        mu = 0.6
        "#
    );
    vec![
        ("springs", springs.clone(), "0.25 ms"),
        ("springs, implicit", springs, "1 ms"),
        ("hydroelastic", hydroelastic, "0.25 ms"),
        ("layer", layer, "0.25 ms"),
    ]
}

#[test]
fn cylinders_and_balls_roll_down_as_rigid_bodies() {
    for length_mm in [Some(5.0), Some(20.0), Some(40.0), None] {
        let exact = expected(length_mm);
        for (name, skin, step) in skins() {
            let found = acceleration(&shape(length_mm), 0.1, step, "", &skin);
            println!(
                "{length_mm:?} mm on {name}: {found:.4} m/s^2, {exact:.4}: {:+.2} %",
                100.0 * (found / exact - 1.0)
            );
        }
        let solid = format!("{}\n        solid = true", shape(length_mm));
        let ground = "ground = \"0 mm\"\nground_friction = 0.6";
        let far = PAD.replace("name = \"pad\"", "name = \"pad\"\nat = [\"0 mm\", \"500 mm\", \"0 mm\"]\nskin = { kind = \"springs\", stiffness_per_area = \"1 MPa/m\", max_penetration = \"4 mm\", friction = { kind = \"none\" } }");
        let found = acceleration(&solid, 0.0, "1 ms", ground, &far);
        println!("{length_mm:?} mm on ground: {found:.4} m/s^2, {exact:.4}: {:+.2} %", 100.0 * (found / exact - 1.0));
    }
}
