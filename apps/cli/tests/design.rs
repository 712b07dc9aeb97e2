//! `dermis design`.

use crate::common::{run, write};
use serde_json::Value;
use tempfile::TempDir;

const PRESSES: &str = r#"
name = "presses"
format = "parquet"
count = 6
scenario.kind = "press"

[[sensor]]
name = "pad"
surface.grid = { rows = 6, cols = 6, pitch = "2 mm" }
skin = { kind = "springs", stiffness_per_area = "100 MPa/m", damping = "1 N s/m", max_penetration = "2 mm", friction = { kind = "coulomb", mu = 0.8, regularisation_speed = "1 mm/s" } }
response.noise.sd = "2 mN"

[[object]]
shape.sphere.radius = "4 mm"

[pose]
x = { uniform = ["-8 mm", "8 mm"] }
y = { uniform = ["-8 mm", "8 mm"] }
force = { uniform = ["0.5 N", "2 N"] }
"#;

/// The best sensor is better than the one described, and its file is that sensor: designed again, it is described as good.
#[test]
fn the_sensor_that_is_written_is_the_best_one() {
    let folder = TempDir::new().unwrap();
    write(folder.path(), "presses.toml", PRESSES);
    let design = |presses: &str, out: &str| -> Value {
        let vary = "--vary surface.grid.pitch=1.5mm..6mm --minimise position --trials 8 --json";
        serde_json::from_str(&run(folder.path(), &format!("design {presses} {vary} --out {out}")).unwrap()).unwrap()
    };
    let report = design("presses.toml", "found");
    let sd = |report: &Value, which: &str| report[which]["sd"].as_f64().unwrap();
    assert!(sd(&report, "best") < 0.5 * sd(&report, "described") && report["unit"] == "mm", "{report}");
    for file in ["found/sensor.toml", "found/design.json", "found/trials.csv", "found/design.png"] {
        assert!(folder.path().join(file).exists(), "{file}");
    }
    let inline = PRESSES
        .lines()
        .filter(|line| !["name = \"pad\"", "surface", "skin", "response"].iter().any(|key| line.starts_with(key)));
    let of_file: Vec<&str> = inline.collect();
    write(
        folder.path(),
        "again.toml",
        of_file.join("\n").replace("[[sensor]]", "[[sensor]]\nfile = \"found/sensor.toml\""),
    );
    let again = design("again.toml", "again");
    assert!((sd(&again, "described") / sd(&report, "best") - 1.0).abs() < 1e-6, "{report} {again}");
}

#[test]
fn a_wrong_design_is_refused_in_one_sentence() {
    let folder = TempDir::new().unwrap();
    write(folder.path(), "presses.toml", PRESSES);
    let refused = |flags: &str, words: &str| {
        let error = run(folder.path(), &format!("design presses.toml --trials 2 {flags}")).unwrap_err();
        assert!(error.contains(words) && error.trim().lines().count() == 1, "{error}");
    };
    let pitch = "--vary surface.grid.pitch=2mm..4mm";
    refused(&format!("{pitch} --minimise yaw"), "give `pose.yaw` a distribution");
    refused("--vary surface.grid.pitsch=2mm..4mm --minimise force", "did you mean \"pitch\"?");
    refused("--vary surface.grid.pitch=4mm..2mm --minimise force", "smaller bound first");
    refused(&format!("{pitch} --minimise force --noise 5"), "`--noise`: \"5\" has no unit");
    refused(&format!("{pitch} --minimise force --read image"), "has no image");
    refused(&format!("{pitch} {pitch} --minimise force"), "varied twice");
}
