//! Magnetic skins on the command line: contacts from channels, fits of recordings, and clear errors.

use crate::common::{run, write};
use serde_json::Value;
use std::fmt::Write;
use std::path::Path;
use tempfile::TempDir;

const SENSOR: &str = r#"name = "patch"

[surface.grid]
rows = 4
cols = 4
pitch = "5 mm"

[skin]
kind = "layer"
thickness = "5 mm"
young = "0.2 MPa"
poisson = 0.45
cell = "0.8 mm"
mu = 0.8

[magnets]
lattice = { rows = 2, cols = 2, pitch = "8 mm", depth = "2.5 mm" }
shape = { kind = "cylinder", diameter = "3 mm", height = "1 mm", remanence = "1.2 T" }

[magnetometers]
positions = [["0 mm", "0 mm", "-7 mm"], ["6 mm", "0 mm", "-7 mm"], ["-6 mm", "1 mm", "-7 mm"]]
range = "50 mT"
bits = 18
"#;

fn json(folder: &Path, line: &str) -> Value {
    serde_json::from_str(&run(folder, &format!("{line} --json")).unwrap()).unwrap()
}

/// A sheared press returns from the table that it wrote; on a sensor with a table of motions without an object.
#[test]
fn a_contact_returns_from_the_channels_of_a_press() {
    let folder = TempDir::new().unwrap();
    let here = folder.path();
    write(here, "patch.toml", SENSOR);
    let ball = "--sensor patch.toml --object sphere:radius=6mm";
    let press = format!("press {ball} --depth 0.6mm --at 1mm,-2mm --shear 0.1mm,0.05mm --out made");
    let truth = json(here, &press);
    assert!(here.join("made/magnetic.png").exists());
    let found = json(here, &format!("estimate contact {ball} --reading made/magnetometers.csv"));
    let load = [0, 1, 2].map(|axis| truth["on_sensor_n"][axis].as_f64().unwrap());
    for (key, truth) in [
        ("x_mm", 1.0),
        ("y_mm", -2.0),
        ("depth_mm", 0.6),
        ("normal_force_n", -load[2]),
        ("shear_force_x_n", load[0]),
        ("shear_force_y_n", load[1]),
    ] {
        let entry = &found["estimates"][key];
        let (value, high) = (entry["value"].as_f64().unwrap(), entry["interval_95"][1].as_f64().unwrap());
        assert!((value - truth).abs() < 3.0 / 1.96 * (high - value) + 1e-9, "{key}: {entry} for {truth}");
        assert!(high - value < 0.2, "{key}: {entry}");
    }
    let error = run(here, "estimate contact --sensor patch.toml --reading made/magnetometers.csv").unwrap_err();
    assert!(error.contains("`--object` is missing"), "{error}");
    let error = run(here, &format!("estimate contact {ball} --reading made/taxels.csv")).unwrap_err();
    assert!(error.contains("needs the flux densities of magnetometers"), "{error}");
    let damaged = std::fs::read_to_string(here.join("made/magnetometers.csv")).unwrap().replace("\n1,", "\n1,nan");
    write(here, "damaged.csv", damaged);
    let error = run(here, &format!("estimate contact {ball} --reading damaged.csv")).unwrap_err();
    assert!(
        error.contains("damaged.csv, line 3: `x_m` must be a finite number") && error.lines().count() == 1,
        "{error}"
    );

    run(here, "press --sensor eflesh --object sphere:radius=6mm --depth 3mm --at 4mm,-3mm --out lattice").unwrap();
    let found = json(here, "estimate contact --sensor eflesh --reading lattice/magnetometers.csv");
    for (key, truth) in [("x_mm", 4.0), ("y_mm", -3.0), ("depth_mm", 3.0)] {
        let value = found["estimates"][key]["value"].as_f64().unwrap();
        assert!((value - truth).abs() < 0.5, "{key}: {found}");
    }
}

/// Recordings of a probe: rows that are not numbers, times that do not match, fields of other chips.
#[test]
fn bad_recordings_are_refused_in_one_sentence() {
    let folder = TempDir::new().unwrap();
    let here = folder.path();
    write(here, "patch.toml", SENSOR);
    let (mut probe, mut field) = ("time,x,y,z\n".to_owned(), "time,x0,y0,z0,x1,y1,z1,x2,y2,z2\n".to_owned());
    for i in 0..30 {
        let _ = writeln!(probe, "{},0,0,{}", 0.1 * f64::from(i), if i < 5 { 0.0 } else { -0.4 });
        let _ = writeln!(field, "{},1,2,3,4,5,6,7,8,9", 0.1 * f64::from(i));
    }
    write(here, "probe.csv", &probe);
    write(here, "field.csv", &field);
    write(here, "nan.csv", field.replacen("1,2,3", "1,nan,3", 1));
    write(here, "late.csv", field.replace("\n0,", "\n-9,").replace("\n0.1,", "\n-8,").replace("\n0.2,", "\n-7,"));
    write(
        here,
        "few.csv",
        field.lines().map(|line| line.rsplitn(4, ',').last().unwrap().to_owned() + "\n").collect::<String>(),
    );
    for (field, words) in [
        ("nan.csv", "nan"),
        ("late.csv", "has no field within 0.1 s"),
        ("few.csv", "has 2 chips and the sensor has 3"),
        ("missing.csv", "missing.csv"),
    ] {
        for object in ["", "--object sphere:radius=6mm"] {
            let line = format!("calibrate magnetic probe.csv {field} --sensor patch.toml --keep-out none {object}");
            let error = run(here, &line).unwrap_err();
            assert!(error.to_lowercase().contains(words) && error.trim().lines().count() == 1, "{words}: {error}");
        }
    }
    let error = run(
        here,
        "calibrate magnetic probe.csv field.csv --sensor patch.toml --object sphere:radius=6mm --position-sd 0mm",
    )
    .unwrap_err();
    assert!(error.contains("must be positive"), "{error}");
}
