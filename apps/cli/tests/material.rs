//! `dermis calibrate material`: the written sensor gives the measured forces, and clear errors.

use crate::common::{run, write};
use serde_json::Value;
use tempfile::TempDir;

const SENSOR: &str = r#"name = "pad"

[surface.grid]
rows = 4
cols = 4
pitch = "5 mm"

[skin]
kind = "layer"
thickness = "3 mm"
young = "150 kPa"
poisson = 0.4
cell = "0.5 mm"
"#;

const CALIBRATE: &str = "calibrate material press.csv --sensor pad.toml --object sphere:radius=6mm";

/// Forces of a sensor that is 1.4 times as stiff, with the bench's zero 20 µm too deep.
#[test]
fn the_written_sensor_gives_the_measured_forces() {
    let folder = TempDir::new().unwrap();
    let here = folder.path();
    write(here, "pad.toml", SENSOR);
    let mut table = "depth_mm,force_n\n".to_owned();
    for depth_um in [100, 200, 300, 400, 500] {
        let line = format!("press --sensor pad.toml --object sphere:radius=6mm --depth {depth_um}um --json");
        let pressed: Value = serde_json::from_str(&run(here, &line).unwrap()).unwrap();
        table += &format!("{},{}\n", (f64::from(depth_um) + 20.0) * 1e-3, 1.4 * pressed["force_n"].as_f64().unwrap());
    }
    write(here, "press.csv", &table);
    let report: Value =
        serde_json::from_str(&run(here, &format!("{CALIBRATE} --fit young,zero --out fit --json")).unwrap()).unwrap();
    let value = |name: &str| report["values"][name]["value"].as_f64().unwrap();
    assert!((value("young") / 210e3 - 1.0).abs() < 1e-3 && (value("zero") / 20e-6 - 1.0).abs() < 0.01, "{report}");
    assert!(report["converged"] == true && report["at_bounds"].as_array().unwrap().is_empty(), "{report}");
    let pressed = run(here, "press --sensor fit/sensor.toml --object sphere:radius=6mm --depth 500um --json").unwrap();
    let pressed: Value = serde_json::from_str(&pressed).unwrap();
    let measured: f64 = table.lines().last().unwrap().split(',').nth(1).unwrap().parse().unwrap();
    assert!((pressed["force_n"].as_f64().unwrap() / measured - 1.0).abs() < 1e-3, "{pressed}");
    for name in ["fit.png", "fit.json"] {
        assert!(here.join("fit").join(name).exists(), "{name}");
    }
    let text = run(here, &format!("{CALIBRATE} --at 0.5mm,-1mm --fit young,zero")).unwrap();
    assert!(text.contains("young") && text.contains("kPa") && text.contains("zero") && text.contains("mm"), "{text}");
}

/// A quantity that ends at its bound is said in the text and in the JSON: no layer is so thin that a force so steep fits.
#[test]
fn a_quantity_at_its_bound_is_said() {
    let folder = TempDir::new().unwrap();
    let here = folder.path();
    write(here, "pad.toml", SENSOR);
    write(here, "press.csv", "depth_mm,force_n\n0.1,0.001\n0.2,0.01\n0.3,0.1\n0.4,1\n0.5,10\n");
    let text = run(here, &format!("{CALIBRATE} --fit young,poisson")).unwrap();
    assert!(text.contains("poisson ended at the bound of its range (0.4999)"), "{text}");
    assert!(!text.contains("may be wrong"), "{text}");
    let report = run(here, &format!("{CALIBRATE} --fit young,poisson --json")).unwrap();
    let report: Value = serde_json::from_str(&report).unwrap();
    assert_eq!(report["at_bounds"], serde_json::json!(["poisson"]), "{report}");
}

#[test]
fn wrong_input_is_one_line() {
    let folder = TempDir::new().unwrap();
    let here = folder.path();
    write(here, "pad.toml", SENSOR);
    write(here, "press.csv", "depth_mm,force_n\n0.1,0.1\n0.2,0.3\n");
    write(here, "other.csv", "depth,force\n0.1,0.1\n");
    write(here, "deep.csv", "depth_mm,force_n\n1,1\n9,9\n");
    write(here, "metres.csv", "depth_m,force_n\n0.1,0.1\n0.2,0.3\n");
    write(here, "shallow.csv", "depth_mm,force_n\n0.0001,0.1\n0.0002,0.3\n");
    write(here, "negative.csv", "depth_mm,force_n\n-0.1,0.1\n-0.2,0.3\n");
    write(here, "both.csv", "depth_mm,force_n,depth_m\n0.1,0.1,0.0001\n0.2,0.3,0.0002\n");
    write(here, "alone.csv", "depth_mm,force_n,shear_force_n\n0.1,0.1,0.01\n0.2,0.3,0.02\n0.3,0.5,0.03\n");
    write(here, "shear.csv", "depth_mm,force_n,shear_mm,shear_force_n\n0.1,0.1,0.1,-0.01\n0.2,0.3,0.1,-0.02\n");
    for (line, words) in [
        (format!("{CALIBRATE} --fit jung"), "\"jung\" is no quantity of a material"),
        (format!("{CALIBRATE} --fit friction"), "along the surface"),
        (format!("{CALIBRATE} --fit relaxation_time"), "have no times"),
        (format!("{CALIBRATE} --fit young,zero"), "at least 3 measurements, there are 2"),
        (CALIBRATE.replace("press.csv", "other.csv"), "no column for the depth"),
        (CALIBRATE.replace("press.csv", "none.csv"), "none.csv"),
        (CALIBRATE.replace("pad.toml", "wts0614"), "calibrate stiffness"),
        (format!("{CALIBRATE} --fit young,young"), "young is to be fitted twice: name every quantity once"),
        (format!("{CALIBRATE} --at 90mm,0mm"), "is not above sensor \"pad\" at x = 90 mm"),
        (CALIBRATE.replace("press.csv", "metres.csv"), "mm meant? Depths are in the unit of their column"),
        (CALIBRATE.replace("press.csv", "metres.csv"), "metres.csv, column `depth_m`: a depth of 100 mm"),
        (CALIBRATE.replace("press.csv", "shallow.csv"), "column `depth_mm`: the largest depth is 0.0002 mm"),
        (
            CALIBRATE.replace("press.csv", "negative.csv"),
            "column `depth_mm`: no depth is positive, the largest is -0.1 mm",
        ),
        (CALIBRATE.replace("press.csv", "both.csv"), "the columns `depth_mm` and `depth_m` are both the depth"),
        (CALIBRATE.replace("press.csv", "alone.csv") + " --fit young,friction", "no displacement along x"),
        (CALIBRATE.replace("press.csv", "shear.csv"), "the forces along x point against the displacements"),
        (CALIBRATE.replace("press.csv", "deep.csv"), "a depth of 9 mm is more than sensor \"pad\""),
    ] {
        let said = run(here, &line).unwrap_err();
        assert_eq!(said.matches(words).count(), 1, "{line}: {said}");
    }
}

/// Unloading has a warning: two smaller depths in succession, or one in time. Noise of a held depth, and a table of two
/// presses, have none.
#[test]
fn unloading_has_a_warning() {
    let folder = TempDir::new().unwrap();
    let here = folder.path();
    write(here, "pad.toml", SENSOR);
    for (rows, first) in [
        ("\n0.2,0.3\n0.4,0.8\n0.3,0.5\n0.2,0.3\n", Some(3)),
        ("\n0.2,0.3\n0.4,0.8\n0.2,0.3\n0.4,0.8\n", None),
        (",time_s\n0.2,0.3,1\n0.4,0.8,2\n0.3,0.5,3\n", Some(3)),
        (",time_s\n0.2,0.3,1\n0.4,0.8,2\n0.399,0.8,3\n", None),
    ] {
        write(here, "press.csv", format!("depth_mm,force_n{rows}"));
        let said = run(here, CALIBRATE).unwrap();
        let words = first.map(|row| format!("the depth decreases at measurement {row}, "));
        assert!(words.as_ref().is_none_or(|words| said.contains(words)), "{rows}: {said}");
        assert_eq!(said.contains("the depth decreases"), first.is_some(), "{rows}: {said}");
    }
}
