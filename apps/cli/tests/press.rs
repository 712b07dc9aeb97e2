//! `dermis press`: its text, table and figures say the same, in the sensor frame.

use crate::common::{SENSOR, run, write};
use dermis::draw::Image;
use serde_json::Value;
use std::path::Path;
use tempfile::TempDir;

fn dermis(folder: &Path, arguments: &[&str]) -> String {
    let all: Vec<String> = arguments.iter().map(|argument| (*argument).to_owned()).collect();
    let result = crate::common::dermis(folder, &all);
    assert!(result.status.success(), "dermis {}: {}", all.join(" "), String::from_utf8_lossy(&result.stderr));
    String::from_utf8(result.stdout).unwrap()
}

fn fails(folder: &Path, arguments: &[&str]) -> String {
    let all: Vec<String> = arguments.iter().map(|argument| (*argument).to_owned()).collect();
    let result = crate::common::dermis(folder, &all);
    assert!(!result.status.success(), "dermis {}", all.join(" "));
    String::from_utf8(result.stderr).unwrap()
}

const BALL: [&str; 5] = ["press", "--sensor", "wts0614", "--object", "sphere:radius=10mm"];

fn line<'a>(text: &'a str, name: &str) -> &'a str {
    text.lines().find(|line| line.trim_start().starts_with(name)).unwrap_or_else(|| panic!("no {name} in {text}"))
}

/// Taxel, row and column count from 0 and the place is that of the table, near the aim.
#[test]
fn text_and_table_name_the_same_taxel_in_the_sensor_frame() {
    let folder = TempDir::new().unwrap();
    for (out, at, sign) in [("a", "5mm,13mm", 1.0), ("b", "-5mm,-13mm", -1.0)] {
        let text = dermis(folder.path(), &[&BALL[..], &["--at", at, "--depth", "0.5mm", "--out", out]].concat());
        let table = std::fs::read_to_string(folder.path().join(out).join("taxels.csv")).unwrap();
        let rows: Vec<Vec<f64>> =
            table.lines().skip(1).map(|row| row.split(',').map(|n| n.parse().unwrap()).collect()).collect();
        let peak = rows.iter().max_by(|a, b| a[7].total_cmp(&b[7])).unwrap();
        let (taxel, [x_mm, y_mm]) = (peak[0] as usize, [peak[1], peak[2]].map(|at_m| (at_m * 1e5).round() / 1e2));
        assert!((x_mm - 5.0 * sign).abs() < 3.4 && (y_mm - 13.0 * sign).abs() < 3.4, "{x_mm} {y_mm}");
        let said = format!("taxel {taxel} (row {}, column {}), x {x_mm} mm, y {y_mm} mm", taxel / 6, taxel % 6);
        assert!(line(&text, "peak").ends_with(&said), "{said} in {text}");
    }
}

/// A second press into the folder of the first: refused, or the files of the first that stay are named.
#[test]
fn files_of_an_earlier_press_are_not_mixed_in_silence() {
    let folder = TempDir::new().unwrap();
    let press = |sensor: &str, more: &[&str]| {
        let press = ["press", "--sensor", sensor, "--object", "sphere:radius=4mm", "--depth", "0.3mm", "--out", "o"];
        let all: Vec<String> = press.iter().chain(more).map(|argument| (*argument).to_owned()).collect();
        crate::common::dermis(folder.path(), &all)
    };
    assert!(press("gelsight", &[]).status.success());
    let refused = press("wts0614", &[]);
    assert_eq!(refused.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("the folder is not empty"));
    let text = String::from_utf8(press("wts0614", &["--overwrite"]).stdout).unwrap();
    let kept = text.lines().find(|line| line.starts_with("kept from before")).unwrap_or_else(|| panic!("{text}"));
    assert!(kept.contains("camera.png") && !kept.contains("reading.json"), "{kept}");
}

/// A force that numbers do not resolve has a warning in text and JSON.
#[test]
fn a_force_that_is_not_reached_is_a_warning() {
    let folder = TempDir::new().unwrap();
    let said = dermis(folder.path(), &[&BALL[..], &["--force", "1e-18N"]].concat());
    assert!(
        line(&said, "warning     the press ended at")
            .contains(" N instead of 1e-18 N, which is too small to be resolved"),
        "{said}"
    );
    let said = dermis(folder.path(), &[&BALL[..], &["--force", "1e-18N", "--json"]].concat());
    assert!(said.contains("instead of 1e-18 N"), "{said}");
}

/// Files without a flag: the command that fits a material, and the flag of a reading, are named.
#[test]
fn an_estimate_says_where_its_file_belongs() {
    let folder = TempDir::new().unwrap();
    for arguments in [
        &["estimate", "material", "press.csv"][..],
        &["estimate", "material"],
        &["estimate", "material", "--sensor", "digit"],
    ] {
        let said = fails(folder.path(), arguments);
        assert!(said.contains("one reading does not tell it; `dermis calibrate material FILE.csv"), "{said}");
    }
    let said = fails(folder.path(), &["estimate", "pose", "rgb.png"]);
    assert!(said.contains("'rgb.png'") && said.contains("a reading is given as `--reading FILE`"), "{said}");
}

/// Half a newton on four taxels is below the threshold of this sensor: the load is shown, and that nothing is reported.
#[test]
fn a_load_below_the_threshold_is_shown_with_the_report_of_zero() {
    let folder = TempDir::new().unwrap();
    let press = |force: &str| {
        let arguments = [&BALL[..], &["--force", force, "--out", "o", "--overwrite"]].concat();
        let text = dermis(folder.path(), &arguments);
        let report = std::fs::read_to_string(folder.path().join("o/reading.json")).unwrap();
        (text, serde_json::from_str::<Value>(&report).unwrap())
    };
    let (text, report) = press("0.5N");
    assert!(line(&text, "contact").contains("of 84 taxels active"), "{text}");
    assert!(line(&text, "reported").contains("0 N: no taxel exceeds the threshold"), "{text}");
    assert_eq!((&report["reported_sum_n"], &report["reported_active"]), (&Value::from(0.0), &Value::from(0)));
    assert!(report["active"].as_u64().unwrap() > 0 && !text.contains("lit"), "{text}");
    let (text, report) = press("20N");
    assert!(report["reported_sum_n"].as_f64().unwrap() > 1.0, "{report}");
    assert!(line(&text, "reported").contains("taxels"), "{text}");
    // Load and report are drawn side by side.
    let image = Image::decode_png(&std::fs::read(folder.path().join("o/tactile.png")).unwrap()).unwrap();
    assert!(image.width() > image.height(), "{} × {}", image.width(), image.height());
}

/// A press and its estimate: position, depth and size return from the image and from the taxels that the press wrote.
#[test]
fn an_estimate_returns_the_press_that_made_the_reading() {
    let folder = TempDir::new().unwrap();
    let small = [
        "--set",
        "skin.mu=0",
        "--set",
        "camera.width=160",
        "--set",
        "camera.height=120",
        "--set",
        "camera.pixel=\"0.12 mm\"",
    ];
    let press = ["press", "--sensor", "gelsight", "--object", "sphere:radius=3mm", "--at", "1mm,-2mm", "--depth"];
    dermis(folder.path(), &[&press[..], &["0.5mm", "--out", "made"], &small].concat());
    let estimate =
        ["estimate", "shape", "--sensor", "gelsight", "--object", "sphere:radius=4mm", "--json", "--reading"];
    let text = dermis(folder.path(), &[&estimate[..], &["made/rgb.png", "--out", "found"], &small].concat());
    let report: Value = serde_json::from_str(&text).unwrap();
    let value = |report: &Value, name: &str| report["estimates"][name]["value"].as_f64().unwrap();
    assert!((value(&report, "x_mm") - 1.0).abs() < 0.03 && (value(&report, "y_mm") + 2.0).abs() < 0.03, "{report}");
    assert!((value(&report, "scale") - 0.75).abs() < 0.02, "{report}");
    assert!(folder.path().join("found/estimate.png").exists());
    let from_taxels = [&BALL[1..], &["--depth", "1mm", "--at", "3mm,5mm", "--out", "taxels"]].concat();
    dermis(folder.path(), &[&["press"], &from_taxels[..]].concat());
    let estimate = [&["estimate", "pose"], &BALL[1..], &["--json", "--reading", "taxels/taxels.csv"]].concat();
    let report: Value = serde_json::from_str(&dermis(folder.path(), &estimate)).unwrap();
    assert!((value(&report, "x_mm") - 3.0).abs() < 0.01 && (value(&report, "y_mm") - 5.0).abs() < 0.01, "{report}");
    assert!((value(&report, "depth_mm") - 1.0).abs() < 0.01, "{report}");
    let refused = |reading: &str, words: &str| {
        let error = fails(folder.path(), &[&["estimate", "pose"], &BALL[1..], &["--reading", reading]].concat());
        assert!(error.contains(words) && error.lines().count() == 1, "{error}");
    };
    refused("made/rgb.png", "no camera");
    refused("none.csv", "cannot be read");
    refused("made/reading.json", "must be a .png or .jpg image or a .csv table");
    write(folder.path(), "bad.csv", "taxel,value_n\n0,much\n");
    refused("bad.csv", "bad.csv, line 2: `value_n` must be a finite number, got \"much\"");
    write(folder.path(), "order.csv", "taxel,value_n\n1,1\n0,2\n");
    refused("order.csv", "`taxel` must be 0, got 1: order the rows");
    write(folder.path(), "other.csv", "taxel,x_m,value_n\n0,1.5,1\n");
    refused("other.csv", "give the sensor that was read");
    write(folder.path(), "few.csv", "taxel,value_n\n0,1\n");
    refused("few.csv", "1 taxels");
}

/// All six freedoms of an indenter return from a press nearby.
#[test]
fn a_whole_pose_returns_from_a_press_nearby() {
    let folder = TempDir::new().unwrap();
    let on =
        ["--sensor", "gelsight", "--set", "skin.mu=0", "--set", "skin.cell=\"0.3 mm\"", "--object", "indenter:moon"];
    let at = ["--at", "0.4mm,-0.3mm", "--depth", "0.6mm", "--yaw", "25deg", "--tilt", "2deg,-3deg", "--out", "made"];
    dermis(folder.path(), &[&["press"], &on[..], &at].concat());
    let pose = [&["estimate", "pose"], &on[..], &["--reading", "made/rgb.png"]].concat();
    let near = ["--near", "1mm,0mm,0.4mm,20deg", "--json", "--out", "found"];
    let report: Value = serde_json::from_str(&dermis(folder.path(), &[&pose[..], &near].concat())).unwrap();
    let truth = [("x_mm", 0.4), ("y_mm", -0.3), ("tilt_x_deg", 2.0), ("tilt_y_deg", -3.0), ("yaw_deg", 25.0)];
    for (name, truth) in truth {
        let value = report["estimates"][name]["value"].as_f64().unwrap();
        // Levels are rounded to 8 bits, which the estimate takes for noise.
        let tolerance = if name.ends_with("_mm") { 0.005 } else { 0.1 };
        assert!((value - truth).abs() < tolerance, "{name}: {report}");
    }
    assert!(folder.path().join("found/estimate.png").exists());
    let refused = |flags: &[&str], words: &str| {
        let error = fails(folder.path(), &[&pose[..], flags].concat());
        assert!(error.contains(words), "{error}");
    };
    refused(&["--near", "1mm,0mm"], "3, 4 or 6 values");
    refused(&["--near", "40mm,0mm,0.4mm"], "not above sensor");
    refused(&["--near", "0mm,0mm,0.4mm", "--yaw", "3deg"], "leave out `--yaw`");
    refused(&["--near", "", "--tilt"], "got 0");
    refused(&["--fixed", "about-z"], "such as `--near 1mm,0mm,0.5mm,30deg`");
    let all = "along-x,along-y,along-z,about-x,about-y,about-z";
    refused(&["--near", "0mm,0mm,0.4mm", "--fixed", all], "nothing is to be estimated");
    let material = fails(folder.path(), &[&["estimate", "material"], &pose[2..]].concat());
    assert!(material.contains("dermis calibrate material FILE.csv"), "{material}");
}

/// Under a layer every taxel carries some load; those far from the contact are not active.
#[test]
fn a_small_contact_does_not_activate_every_taxel() {
    let folder = TempDir::new().unwrap();
    let press = ["press", "--sensor", "gelsight", "--object", "sphere:radius=4mm", "--depth", "0.5mm", "--json"];
    let report: Value = serde_json::from_str(&dermis(folder.path(), &press)).unwrap();
    let active = report["active"].as_u64().unwrap();
    assert!(active > 0 && active < 200, "{active} of 400");
}

#[test]
fn a_sheared_press_says_its_tangential_force_and_holds_the_normal_force() {
    let folder = TempDir::new().unwrap();
    let shear = ["--force", "2N", "--shear", "0.5mm,-0.2mm"];
    let text = dermis(folder.path(), &[&BALL[..], &shear].concat());
    assert!(line(&text, "tangential").contains("fx 0.") && !text.contains("warning"), "{text}");
    let report: Value =
        serde_json::from_str(&dermis(folder.path(), &[&BALL[..], &shear, &["--json"]].concat())).unwrap();
    assert!((report["force_n"].as_f64().unwrap() - 2.0).abs() < 3e-6, "{report}");
    let force = |axis: usize| report["on_sensor_n"][axis].as_f64().unwrap();
    assert!(force(0) > 0.1 && force(1) < -0.05, "{report}");

    let smooth = &SENSOR[..SENSOR.find("[skin.friction]").unwrap()];
    write(folder.path(), "smooth.toml", smooth);
    let press = ["press", "--sensor", "smooth.toml", "--object", "sphere:radius=10mm", "--force", "0.1N"];
    let text = dermis(folder.path(), &[&press[..], &["--shear", "0.5mm,0mm"]].concat());
    assert!(line(&text, "warning").contains("without dragging the skin"), "{text}");
    assert!(!dermis(folder.path(), &press).contains("warning"));
    let error = fails(folder.path(), &[&press[..], &["--shear", "80mm,0mm"]].concat());
    assert!(error.contains("cannot hold the force"), "{error}");
    let error = fails(folder.path(), &[&BALL[..], &["--depth", "1mm", "--shear", "80mm,0mm"]].concat());
    assert!(error.contains("left sensor") && error.contains("80 mm"), "{error}");
}

/// A ball held in the pad for a fifth of the time constant of `slow.toml`.
const SCENE: &str = r#"
[world]
duration = "2 s"
time_step = "0.1 s"

[[body]]
name = "ball"
motion = "fixed"
shape.sphere.radius = "10 mm"
at = ["0 mm", "0 mm", "9 mm"]

[[sensor]]
name = "pad"
"#;

/// A warm array reads 1 + a ΔT as much: with `--set`, from a file, and in a scene. With a
/// time constant a press reads as after warming up, and a scene starts cold.
#[test]
fn a_warm_array_reads_alike_in_a_press_and_a_scene() {
    let folder = TempDir::new().unwrap();
    let warm = "\n[response.gain.drift]\nrise = \"20 K\"\ngain_per_kelvin = 0.03\noffset_per_kelvin = \"1 mN\"\n";
    let slow = warm.to_owned() + "time = \"10 s\"\n";
    for (name, text) in [("cold.toml", ""), ("warm.toml", warm), ("slow.toml", &slow)] {
        write(folder.path(), name, &(SENSOR.to_owned() + text));
    }
    let reported = |sensor: &str, more: &[&str]| -> Vec<f64> {
        let press = ["press", "--sensor", sensor, "--object", "sphere:radius=10mm", "--depth", "1mm", "--json"];
        let report: Value = serde_json::from_str(&dermis(folder.path(), &[&press[..], more].concat())).unwrap();
        report["reported_n"].as_array().unwrap().iter().map(|value| value.as_f64().unwrap()).collect()
    };
    let close = |found: &[f64], truth: &[f64]| {
        assert!(found.len() == 16 && found.iter().zip(truth).all(|(a, b)| (a - b).abs() < 1e-9), "{found:?} {truth:?}");
    };
    let cold = reported("cold.toml", &[]);
    let truth: Vec<f64> = cold.iter().map(|value| 1.6 * value + 0.02).collect();
    assert!(truth.iter().any(|value| *value > 0.05), "{truth:?}");
    close(&reported("warm.toml", &[]), &truth);
    close(&reported("slow.toml", &[]), &truth);
    let drift = "response.gain.drift={rise = \"20 K\", gain_per_kelvin = 0.03, offset_per_kelvin = \"1 mN\"}";
    close(&reported("cold.toml", &["--set", drift]), &truth);
    let scene = |sensor: &str, gain: f64, offset: f64| {
        let text = format!("{SCENE}file = \"{sensor}\"\n");
        write(folder.path(), "scene.toml", &text);
        dermis(folder.path(), &["run", "scene.toml", "--out", "run", "--overwrite"]);
        let table = std::fs::read_to_string(folder.path().join("run/readings-pad.csv")).unwrap();
        let last: Vec<f64> = table.lines().last().unwrap().split(',').map(|cell| cell.parse().unwrap()).collect();
        let column = |name: &str| table.lines().next().unwrap().split(',').position(|head| head == name).unwrap();
        let loads = &last[column("t0_n")..];
        let counts: f64 = loads.iter().map(|load| (1e3 * (gain * load + offset)).round()).sum();
        let raw = last[column("raw_sum")];
        assert!(raw == counts && counts > 50.0, "{sensor}: {raw} counts, not {counts}");
    };
    let kelvin = 20.0 * (1.0 - (-0.2f64).exp());
    scene("cold.toml", 1.0, 0.0);
    scene("warm.toml", 1.6, 0.02);
    scene("slow.toml", 1.0 + 0.03 * kelvin, 1e-3 * kelvin);
    let told = fails(
        folder.path(),
        &[
            "press",
            "--sensor",
            "cold.toml",
            "--object",
            "sphere:radius=10mm",
            "--depth",
            "1mm",
            "--set",
            "response.gain.drift={rise = \"20 K\", gain_per_kelvin = -0.1}",
        ],
    );
    assert!(
        told.contains("`gain.drift.gain_per_kelvin` must be more than -1 when multiplied by `rise`, got -2"),
        "{told}"
    );
}

/// Where the taxels do not sum to the force, the text says which part of the load is normal to them, on every preset.
#[test]
fn a_sum_of_curved_taxels_that_differs_is_explained() {
    let folder = tempfile::tempdir().unwrap();
    let mut explained = 0;
    for name in
        ["shadow-fingertip", "fingertip", "spherical-patch", "thumbtip", "uji-foam-14x6", "wts0614", "wts0614-layer"]
    {
        let press = format!("press --sensor {name} --object sphere:radius=6mm --depth 0.5mm");
        let (said, report) =
            (run(folder.path(), &press).unwrap(), run(folder.path(), &format!("{press} --json")).unwrap());
        let report: Value = serde_json::from_str(&report).unwrap();
        let number = |key: &str| report[key].as_f64().unwrap();
        let differs = (number("sum_n") - number("force_n")).abs() > 2e-3 * number("force_n");
        assert_eq!(
            said.contains("normal to them")
                || said.contains("along its own normal")
                || said.contains("beside the taxels"),
            differs,
            "{name}: {said}"
        );
        explained += usize::from(differs);
    }
    assert!(explained > 0);
}
