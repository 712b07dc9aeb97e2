//! Runs every command as a user does.

use crate::common::{DEFINITION, SCENE, SENSOR, write};
use dermis::draw::Image;
use dermis::geometry::files::LengthUnit;
use dermis::geometry::quantity::{Angle, Length};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;
use tempfile::TempDir;

/// Runs the program and returns stdout.
fn dermis(folder: &Path, arguments: &[&str]) -> String {
    let all: Vec<String> = arguments.iter().map(|argument| (*argument).to_owned()).collect();
    let result = crate::common::dermis(folder, &all);
    assert!(result.status.success(), "dermis {}: {}", all.join(" "), String::from_utf8_lossy(&result.stderr));
    String::from_utf8(result.stdout).unwrap()
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error} in {text}"))
}

fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = std::fs::read_dir(folder).unwrap().map(Result::unwrap);
    entries.map(|entry| (entry.file_name().into_string().unwrap(), std::fs::read(entry.path()).unwrap())).collect()
}

fn names(files: &BTreeMap<String, Vec<u8>>) -> Vec<&str> {
    files.keys().map(String::as_str).collect()
}

fn is_png(bytes: &[u8]) -> bool {
    bytes.starts_with(b"\x89PNG\r\n\x1a\n") && bytes.len() > 2000
}

#[test]
fn sensors_lists_what_ships_and_what_it_shows_can_be_used() {
    let folder = TempDir::new().unwrap();
    let list = dermis(folder.path(), &["sensors"]);
    let all = json(&dermis(folder.path(), &["sensors", "--json"]));
    assert!(
        !list.lines().any(|line| line.ends_with("et al") || line.ends_with('(')),
        "a description is cut off: {list}"
    );
    for sensor in all.as_array().unwrap() {
        let name = sensor["name"].as_str().unwrap();
        assert!(list.contains(name), "{list}");
        write(folder.path(), "copy.toml", dermis(folder.path(), &["sensors", name]));
        // Presses of gels take seconds; other tests make them.
        if name != "tacchi" {
            dermis(folder.path(), &["press", "--sensor", "copy.toml", "--object", "sphere", "--depth", "0.2mm"]);
        }
        assert_eq!(json(&dermis(folder.path(), &["sensors", name, "--json"]))["name"], name);
    }
}

/// 14 × 6 springs of 2 N/mm under a plate that covers them all carry 168 N per millimetre.
#[test]
fn press_reports_force_and_writes_its_files() {
    let folder = TempDir::new().unwrap();
    let plate = ["press", "--sensor", "wts0614", "--object", "cuboid:size=60mm,60mm,10mm"];
    let report = json(&dermis(folder.path(), &[&plate[..], &["--depth", "1mm", "--json", "--out", "o"]].concat()));
    assert!((report["force_n"].as_f64().unwrap() - 168.0).abs() < 1e-9, "{report}");
    assert!((report["area_m2"].as_f64().unwrap() - 84.0 * 3.4e-3 * 3.4e-3).abs() < 1e-12);
    assert_eq!((&report["active"], &report["saturated"]), (&Value::from(84), &Value::from(0)));
    assert_eq!(report["size"], serde_json::json!([14, 6]));
    assert_eq!(report["values_n"].as_array().unwrap().len(), 84);
    assert_eq!(report["raw"].as_array().unwrap().len(), 84);
    let made = files(&folder.path().join("o"));
    assert_eq!(names(&made), ["reading.json", "scene.png", "tactile.png", "taxels.csv"]);
    assert!(is_png(&made["scene.png"]) && is_png(&made["tactile.png"]));
    assert!(made["taxels.csv"].starts_with(b"taxel,x_m,y_m,z_m,fx_n,fy_n,fz_n,value_n,raw,reported_n\n"));
    assert_eq!(json(std::str::from_utf8(&made["reading.json"]).unwrap()), report);
    let report = json(&dermis(folder.path(), &[&plate[..], &["--force", "84N", "--json"]].concat()));
    assert!((report["depth_m"].as_f64().unwrap() - 0.5e-3).abs() < 1e-12, "{report}");
}

#[test]
fn press_takes_places_turns_meshes_and_sensor_files() {
    let folder = TempDir::new().unwrap();
    write(folder.path(), "mine.toml", SENSOR);
    let ball = dermis::geometry::shapes::sphere(0.008, 0.001).unwrap();
    let bytes = dermis::geometry::files::write_stl(&ball, dermis::geometry::files::LengthUnit::Millimetre);
    write(folder.path(), "ball.stl", bytes);
    let mesh = ["press", "--sensor", "mine.toml", "--object", "ball.stl", "--unit", "mm", "--depth", "2mm"];
    assert!(dermis(folder.path(), &mesh).contains("force"));
    let placed = ["--at", "-4mm,2mm", "--tilt", "-5deg,3deg", "--yaw", "30deg", "--skin", "springs", "--json"];
    let arguments = [&["press", "--sensor", "spherical-patch", "--object", "cuboid", "--depth", "1mm"], &placed[..]];
    let report = json(&dermis(folder.path(), &arguments.concat()));
    assert_eq!(report["size"], Value::Null);
    assert!(report["force_n"].as_f64().unwrap() > 0.0);
}

/// The same scene gives the same bytes in every run and with any number of threads.
#[test]
fn run_gives_the_same_bytes_with_any_number_of_threads() {
    let folder = TempDir::new().unwrap();
    write(folder.path(), "scene.toml", SCENE);
    let summary = json(&dermis(folder.path(), &["run", "scene.toml", "--out", "a", "--json"]));
    assert_eq!(summary["steps"], 200);
    assert!(summary["sensors"][0]["peak_sum_n"].as_f64().unwrap() > 0.1, "{summary}");
    dermis(folder.path(), &["--threads", "1", "run", "scene.toml", "--out", "b"]);
    dermis(folder.path(), &["run", "scene.toml", "--out", "c", "--threads", "2"]);
    let first = files(&folder.path().join("a"));
    assert_eq!(
        names(&first),
        ["bodies.csv", "forces.png", "readings-pad.csv", "scene.png", "summary.json", "tactile-pad.png"]
    );
    for other in ["b", "c"] {
        assert!(files(&folder.path().join(other)) == first, "{other} differs");
    }
    let readings = String::from_utf8_lossy(&first["readings-pad.csv"]);
    assert!(readings.starts_with("time_s,sum_n,fx_n,fy_n,fz_n,tx_nm,ty_nm,tz_nm,raw_sum,saturated,t0_n,t1_n,"));
    assert_eq!(readings.lines().count(), 1 + 11);
    assert_eq!(readings.lines().last().unwrap().split(',').count(), 10 + 2304);
    let bodies = String::from_utf8_lossy(&first["bodies.csv"]);
    let heads =
        "time_s,body,x_m,y_m,z_m,qw,qx,qy,qz,vx_m_per_s,vy_m_per_s,vz_m_per_s,wx_rad_per_s,wy_rad_per_s,wz_rad_per_s";
    // The velocity and spin of the scene.
    assert!(bodies.starts_with(&format!("{heads}\n0,ball,0,0.001,0.0145,1,0,0,0,0.1,0,-0.1,0,0,5\n")), "{bodies}");
}

#[test]
fn calibrate_finds_the_line_it_was_given() {
    let folder = TempDir::new().unwrap();
    let rows: String = (1..=6).map(|i| format!("{},{}\n", 0.5 * f64::from(i), 1.5 * f64::from(i))).collect();
    write(folder.path(), "bench.csv", format!("# a comment\ndepth_mm,force_n\n{rows}"));
    let arguments = ["calibrate", "stiffness", "bench.csv", "--area", "1000 mm^2", "--sensor-area", "840 mm^2"];
    let arguments = [&arguments[..], &["--texels", "84", "--out", "o", "--json"]].concat();
    let report = json(&dermis(folder.path(), &arguments));
    let near = |value: &Value, truth: f64| (value["value"].as_f64().unwrap() / truth - 1.0).abs() < 1e-9;
    assert!(near(&report["fit"]["through_zero_newton_per_m"], 3000.0), "{report}");
    assert!(near(&report["per_area_pa_per_m"], 3e6) && near(&report["per_texel_n_per_m"], 30.0), "{report}");
    let made = files(&folder.path().join("o"));
    assert_eq!(names(&made), ["fit.json", "fit.png"]);
    assert!(is_png(&made["fit.png"]));

    let force = |v: f64| 0.08 * (0.23 + 0.205 * (-(v / 0.3) * (v / 0.3)).exp()) + 0.01 * v;
    let rows: String = (1..40).map(|i| 0.03 * f64::from(i)).map(|v| format!("{v},{}\n", force(v))).collect();
    write(folder.path(), "slide.csv", format!("velocity_m_per_s,force_n\n{rows}"));
    let text = dermis(folder.path(), &["calibrate", "friction", "slide.csv", "--normal-force", "0.08 N"]);
    assert!(text.contains("mu_static              0.435 ±") && text.contains("0.3 ±"), "{text}");
}

/// A load cell with an offset: the line through the origin, whose interval did not hold the stiffness, came first and was written.
#[test]
fn a_stiffness_with_an_offset_was_that_through_zero() {
    let folder = TempDir::new().unwrap();
    let force = |i: i32| 1.5 * f64::from(i) + 0.9 + 0.01 * f64::from(i * 7 % 5 - 2);
    let rows: String = (1..=8).map(|i| format!("{},{}\n", 0.5 * f64::from(i), force(i))).collect();
    write(folder.path(), "bench.csv", format!("depth_mm,force_n\n{rows}"));
    write(folder.path(), "mine.toml", SENSOR);
    let all = ["calibrate", "stiffness", "bench.csv", "--sensor", "mine.toml", "--out", "o"];
    let said = dermis(folder.path(), &all);
    let at = |text: &str| said.find(text).unwrap_or_else(|| panic!("{text}: {said}"));
    assert!(at("free line ") < at("through zero ") && said.contains("force at zero          0."), "{said}");
    let written = std::fs::read_to_string(folder.path().join("o/sensor.toml")).unwrap();
    let stiffness = written.lines().find_map(|line| line.strip_prefix("stiffness = \"")).unwrap();
    let value: f64 = stiffness.split(' ').next().unwrap().parse().unwrap();
    assert!((value / 3000.0 - 1.0).abs() < 0.01, "{stiffness}");
}

/// Depths in another unit than that of their column gave a stiffness a thousand times too large, and a mesh of 40 m a force, both
/// without a word.
#[test]
fn lengths_in_another_unit_were_taken_silently() {
    let folder = TempDir::new().unwrap();
    let table = |column: &str, scale: f64| {
        let rows: String = (1..=4).map(|i| format!("{},{}\n", scale * f64::from(i), 1.5 * f64::from(i))).collect();
        write(folder.path(), "bench.csv", format!("{column},force_n\n{rows}"));
        dermis(folder.path(), &["calibrate", "stiffness", "bench.csv"])
    };
    for (column, scale, told) in [
        (
            "depth_mm",
            0.5e-3,
            "column `depth_mm`: the largest depth is 0.002 mm, less than a press can be measured to: are they in metres? Then name the column `depth_m`",
        ),
        ("depth_m", 0.5, "are they in millimetres? Then name the column `depth_mm`"),
        ("compression_mm", 500.0, "are they in micrometres? Then name the column `compression_um`"),
        ("depth_mm", 0.01, ""),
        ("depth_um", 5.0, ""),
        ("compression_mm", 15.0, ""),
    ] {
        let said = table(column, scale);
        assert_eq!(said.contains("warning"), !told.is_empty(), "{column} {scale}: {said}");
        assert!(said.contains(told), "{column} {scale}: {said}");
    }
    // An octahedron of 40 units.
    let corners = ["20 0 0", "-20 0 0", "0 20 0", "0 -20 0", "0 0 20", "0 0 -20"];
    let faces = "f 1 3 5\nf 3 2 5\nf 2 4 5\nf 4 1 5\nf 3 1 6\nf 2 3 6\nf 4 2 6\nf 1 4 6\n";
    write(folder.path(), "tool.obj", corners.map(|corner| format!("v {corner}\n")).concat() + faces);
    write(folder.path(), "mine.toml", SENSOR);
    let press = |object: &str, unit: &[&str]| {
        let all = ["press", "--sensor", "mine.toml", "--object", object, "--depth", "1mm"];
        dermis(folder.path(), &[&all[..], unit].concat())
    };
    let said = press("tool.obj", &["--unit", "m"]);
    assert!(said.contains("the object is 40 m large, ") && said.contains("`--unit mm`"), "{said}");
    assert!(!press("tool.obj", &["--unit", "mm"]).contains("large"));
    assert!(!press("cuboid:size=40m,40m,1m", &[]).contains("large"), "the sizes of a shape carry their units");
}

#[test]
fn import_makes_a_sensor_that_can_be_pressed() {
    let folder = TempDir::new().unwrap();
    write(folder.path(), "robot.xml", DEFINITION);
    let grid = ["import", "robot.xml", "--grid", "14x6", "--pitch", "3.86mm"];
    assert!(dermis(folder.path(), &grid).contains("stiffness = \"58.5 N/m\""));
    let out = [&grid[..], &["--out", "made/t1.toml"]].concat();
    dermis(folder.path(), &out);
    crate::bad_input::refused(folder.path(), 1, &out, &["t1.toml: exists", "`--overwrite`"]);
    dermis(folder.path(), &[&out[..], &["--overwrite"]].concat());
    let press = ["press", "--sensor", "made/t1.toml", "--object", "cuboid:size=9cm,9cm,1cm", "--depth", "1mm"];
    let report = json(&dermis(folder.path(), &[&press[..], &["--json"]].concat()));
    assert!((report["force_n"].as_f64().unwrap() - 84.0 * 58.5e-3).abs() < 1e-9, "{report}");
}

#[test]
fn demo_makes_its_images() {
    let folder = TempDir::new().unwrap();
    let message = dermis(folder.path(), &["demo"]);
    assert!(message.contains("carried 1.96 N; the ball weighs 1.96 N") && message.contains("poster.png"), "{message}");
    let made = files(&folder.path().join("out/demo"));
    let images = ["poster", "scene-grasped", "scene-lifted", "tactile-left", "tactile-right", "forces"];
    assert!(images.iter().all(|name| is_png(&made[&format!("{name}.png")])));
    assert!(
        ["demo.toml", "readings-left.csv", "readings-right.csv", "bodies.csv", "summary.json"]
            .iter()
            .all(|name| made.contains_key(*name))
    );
    let summary = json(std::str::from_utf8(&made["summary.json"]).unwrap());
    assert_eq!(summary["phases"].as_array().unwrap().last().unwrap()["phase"], "Done");
}

/// The tables of `--out` and the arrays of `--record` hold the same loads; torques are those of the force at its contact, velocities those of
/// the positions.
#[test]
fn tables_of_a_run_had_no_torques_and_velocities() {
    let folder = TempDir::new().unwrap();
    write(folder.path(), "scene.toml", SCENE);
    dermis(folder.path(), &["run", "scene.toml", "--out", "tables", "--record", "arrays"]);
    let compared = json(&dermis(folder.path(), &["compare", "tables", "arrays", "--json"]));
    for name in ["pad/force_n", "pad/torque_nm"] {
        let signal = compared["signals"].as_array().unwrap().iter().find(|signal| signal["name"] == name).unwrap();
        let number = |key: &str| signal[key].as_f64().unwrap();
        assert!(
            number("times") == 11.0 && number("max_abs") <= number("rounding") && number("range") > 1e-4,
            "{signal}"
        );
    }
    let table = |name: &str| -> Vec<Vec<f64>> {
        let text = std::fs::read_to_string(folder.path().join(name)).unwrap();
        let row = |line: &str| line.split(',').map(|cell| cell.parse().unwrap_or(f64::NAN)).collect();
        text.lines().skip(1).map(row).collect()
    };
    // A still ball has its force under its middle, at 5 mm, -3 mm: t = r × f.
    let still = SCENE.replace("motion = \"free\"\nmass = \"50 g\"", "motion = \"driven\"");
    let still = still.replace("at = [\"0 mm\", \"1 mm\"", "at = [\"5 mm\", \"-3 mm\"");
    let is_still = |line: &&str| !line.starts_with("velocity") && !line.starts_with("spin");
    write(folder.path(), "still.toml", still.lines().filter(is_still).collect::<Vec<_>>().join("\n"));
    dermis(folder.path(), &["run", "still.toml", "--out", "still"]);
    let last = table("still/readings-pad.csv").pop().unwrap();
    let (fz, tx, ty, tz) = (last[4], last[5], last[6], last[7]);
    assert!(fz < -0.02 && (tx / (-3e-3 * fz) - 1.0).abs() < 1e-6, "{:?}", &last[..8]);
    assert!((ty / (-5e-3 * fz) - 1.0).abs() < 1e-6 && tz.abs() < 1e-9, "{:?}", &last[..8]);
    let bodies = table("tables/bodies.csv");
    for rows in bodies.windows(2) {
        let (dt, mean) = (rows[1][0] - rows[0][0], |i: usize| 0.5 * (rows[0][i] + rows[1][i]));
        for axis in 0..3 {
            let slope = (rows[1][2 + axis] - rows[0][2 + axis]) / dt;
            assert!((slope - mean(9 + axis)).abs() < 5e-3, "axis {axis}: {slope} {}", mean(9 + axis));
        }
    }
}

/// `run` says how often and how long something touches a sensor, and what became of the body in a gripper.
#[test]
fn a_run_tells_contacts_and_the_outcome_of_a_gripper() {
    let folder = TempDir::new().unwrap();
    write(folder.path(), "scene.toml", SCENE);
    let said = dermis(folder.path(), &["run", "scene.toml", "--out", "a"]);
    assert!(said.contains("; 1 contact of 0.02 s, 200 steps"), "{said}");
    assert!(said.contains("dissipated: friction") && said.contains("; residual "), "{said}");
    let above = SCENE.replace("\"14.5 mm\"]", "\"16 mm\"]");
    write(folder.path(), "above.toml", &above);
    let said = dermis(folder.path(), &["run", "above.toml", "--out", "b"]);
    // It flies 1 mm at 0.1 m/s first.
    assert!(said.contains("; 1 contact of 0.01"), "{said}");
    write(folder.path(), "far.toml", SCENE.replace("\"14.5 mm\"]", "\"30 mm\"]"));
    assert!(dermis(folder.path(), &["run", "far.toml", "--out", "c"]).contains("; no contact"));
    let summary = json(&dermis(folder.path(), &["demo", "--out", "demo", "--json"]));
    let carried = &summary["carried"];
    let number = |key: &str| carried[key].as_f64().unwrap();
    assert!(carried["body"] == "ball" && (number("lifted_m") - 0.06).abs() < 1e-3, "{carried}");
    assert!((number("hand_lifted_m") - 0.06).abs() < 1e-3 && number("from_start_m") < 1e-4, "{carried}");
    assert_eq!(summary["sensors"][0]["contacts"], 1);
    // The drives carry all of the gripper's weight.
    let energy = |key: &str| summary["energy"][key].as_f64().unwrap();
    assert!(
        energy("relative_residual").abs() < 0.02 && (energy("drives_j") / energy("potential_j") - 1.0).abs() < 0.05,
        "{}",
        summary["energy"]
    );
    let demo = std::fs::read_to_string(folder.path().join("demo/demo.toml")).unwrap();
    assert!(demo.contains("lift"), "{demo}");
}

/// The bench measures a simulated sensor, the fits recover its parameters, and the written description loads as a
/// sensor.
#[test]
fn a_device_is_characterised_and_fitted_from_its_own_data() {
    let folder = TempDir::new().unwrap();
    let at = folder.path();
    let device = SENSOR.replace("\"50 N/m\"", "\"2 N/mm\"").replace("pitch = \"4 mm\"", "pitch = \"3.4 mm\"")
        + r#"
[response]
force_per_count = "0.42 mN"
bits = 12

[response.spread]
sigma_taxels = 0.5
kernel = 3

[[response.creep]]
amplitude = 0.2
time = "1.5 s"
"#;
    // One contact point, so that the indenter presses a taxel completely.
    let single = "contact_points = 1\n".to_owned();
    write(at, "device.toml", single.clone() + &device);
    write(
        at,
        "nominal.toml",
        single
            + &SENSOR.replace("pitch = \"4 mm\"", "pitch = \"3.4 mm\"")
            + "\n[response]\nforce_per_count = \"0.42 mN\"\nbits = 12\n",
    );
    dermis(at, &["characterise", "--sensor", "device.toml", "--depth", "0.6mm", "--out", "bench"]);
    let header = std::fs::read_to_string(at.join("bench/presses.csv")).unwrap();
    assert!(header.starts_with("taxel,press,held_s,depth_mm,force_N,raw_0_counts"), "{}", &header[..60]);

    let fit = |what: &str, data: &[&str]| {
        let all = [&["calibrate", what], data, &["--sensor", "nominal.toml", "--out", what, "--json"]].concat();
        let report = json(&dermis(at, &all));
        let kept = files(&at.join(what));
        assert_eq!(names(&kept), ["fit.json", "fit.png", "sensor.toml"], "{what}");
        assert!(is_png(&kept["fit.png"]), "{what}");
        let sensor = format!("{what}/sensor.toml");
        dermis(at, &["press", "--sensor", &sensor, "--object", "sphere", "--depth", "1mm"]);
        report
    };
    let near = |value: &Value, truth: f64| (value["value"].as_f64().unwrap() / truth - 1.0).abs() < 0.05;
    // Alone, the fit of the spread does not account for creep; with all data it does.
    let spread = fit("spread", &["bench/presses.csv"]);
    assert!((spread["fit"]["sigma_taxels"]["value"].as_f64().unwrap() - 0.5).abs() < 0.06, "{spread}");
    let creep = fit("creep", &["bench/creep.csv"]);
    assert!(near(&creep["fit"]["terms"][0]["amplitude"], 0.2), "{creep}");
    assert!(near(&creep["fit"]["terms"][0]["time_s"], 1.5), "{creep}");
    let stiffness = fit("stiffness", &["bench/presses.csv"]);
    assert!(near(&stiffness["fit"]["through_zero_newton_per_m"], 2000.0), "{stiffness}");
    fit("taxels", &["bench/presses.csv"]);
    let device = fit("device", &["bench/presses.csv", "bench/creep.csv"]);
    // The figure had the curve only: it has rows of two plots, of taxels two, and those of the other stages.
    let height = |what: &str| Image::decode_png(&files(&at.join(what))["fit.png"]).unwrap().height();
    assert!(height("device") > 3 * height("taxels") / 2, "{} {}", height("device"), height("taxels"));
    assert!(near(&device["fit"]["spread"]["sigma_taxels"], 0.5), "{}", device["fit"]["spread"]);
}

/// The commands of the README, in its order; `docs/site/build.py` runs all of them, and those of the guide.
#[test]
fn the_readmes_chain_of_commands_runs() {
    const ELSEWHERE: [&str; 3] = ["dataset ", "demo", "sensors  "];
    let folder = TempDir::new().unwrap();
    let readme = include_str!("../../../README.md");
    let commands = readme.lines().filter_map(|line| line.strip_prefix("cargo run --release -- "));
    let mut ran = Vec::new();
    for command in commands.filter(|command| !ELSEWHERE.iter().any(|other| command.contains(other))) {
        let plain = command.split(" #").next().unwrap_or_default().trim();
        let mut arguments = Vec::new();
        // Quoted parts are one argument.
        for (i, part) in plain.split('\'').enumerate() {
            if i % 2 == 1 {
                arguments.push(part);
            } else {
                arguments.extend(part.split_whitespace());
            }
        }
        dermis(folder.path(), &arguments);
        ran.push(arguments[0].to_owned());
    }
    assert!(["press", "characterise", "calibrate"].iter().all(|name| ran.iter().any(|ran| ran == name)), "{ran:?}");
    // The calibrated sensor reads as the measured one.
    let raw = |sensor: &str| -> f64 {
        let press =
            ["press", "--sensor", sensor, "--object", "cylinder:radius=5mm,length=10mm", "--depth", "1mm", "--json"];
        let reading = json(&dermis(folder.path(), &press));
        reading["raw"].as_array().unwrap().iter().map(|counts| counts.as_f64().unwrap()).sum()
    };
    let (measured, fitted) = (raw("wts0614"), raw("out/fit/sensor.toml"));
    assert!((fitted / measured - 1.0).abs() < 0.01, "{fitted} counts for {measured}");
    // A sensor without creep, noise and hysteresis is fitted, too.
    let bench = ["calibrate", "sensor", "out/bench/presses.csv", "out/bench/creep.csv", "--sensor", "wts0614"];
    let text = dermis(folder.path(), &[&bench[..], &["--out", "out/all"]].concat());
    assert!(text.contains("creep         none found"), "{text}");
    let all = raw("out/all/sensor.toml");
    assert!((all / measured - 1.0).abs() < 0.02, "{all} counts for {measured}");
}

#[test]
fn reproduce_and_bench_say_what_there_is() {
    let folder = TempDir::new().unwrap();
    let list = dermis(folder.path(), &["reproduce", "--list"]);
    assert!(list.contains("moisio-weights") && list.contains("kappassov-cartesian"), "{list}");
    let report = json(&dermis(folder.path(), &["reproduce", "moisio-weights", "--json", "--out", "o"]));
    assert_eq!(report["passed"], true);
    assert!((report["metrics"]["sum_force_n_10kg"].as_f64().unwrap() - 98.0).abs() < 98e-6);
    assert!(report["wall_s"].as_f64().unwrap() > 0.0);
    assert!(is_png(&files(&folder.path().join("o/moisio-weights"))["weights.png"]));
    let page = std::fs::read_to_string(folder.path().join("o/index.html")).unwrap();
    assert!(page.contains(">holds<") && page.contains(">no data<") && page.contains("data:image/png;base64,"));
}

/// Under a plate a hydroelastic pad acts like springs of the same stiffness per area: 168 N per millimetre.
#[test]
fn press_takes_another_skin() {
    let folder = TempDir::new().unwrap();
    let plate = ["--object", "cuboid:size=60mm,60mm,10mm", "--depth", "1mm", "--json"];
    let pad = [&["press", "--sensor", "wts0614", "--skin", "hydroelastic"], &plate[..]].concat();
    let report = json(&dermis(folder.path(), &pad));
    assert!((report["force_n"].as_f64().unwrap() - 168.0).abs() < 1e-6, "{report}");
    let finger = ["press", "--sensor", "shadow-fingertip", "--object", "sphere", "--force", "1N", "--json"];
    let report = json(&dermis(folder.path(), &finger));
    assert_eq!(report["values_n"].as_array().unwrap().len(), 12);
    assert!(report["active"].as_u64().unwrap() >= 2, "{report}");
}

/// On 64 cells the errors of the golden cases are at most one percent; the document has the keys that other programs
/// read.
#[test]
fn validate_layer_prints_its_errors() {
    let folder = TempDir::new().unwrap();
    let golden = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../crates/skin/tests/golden/layer/paraboloid_on_bonded_layer.json");
    let golden = golden.to_str().unwrap();
    let report = json(&dermis(folder.path(), &["validate", "layer", golden, "--cells", "64", "--json"]));
    assert_eq!(report["cases"].as_array().unwrap().len(), 6);
    for key in ["force_rel", "radius_cells", "surface_rel", "base_rel"] {
        assert!(report["cases"][0][key].is_f64() && report["worst"][key].is_f64(), "{report}");
    }
    assert!(report["worst"]["force_rel"].as_f64().unwrap() < 5e-3);
    assert!(dermis(folder.path(), &["validate", "layer", golden, "--cells", "64"]).contains("worst"));
}

/// Springs as a layer: the taxel forces and the force outside sum to the total force.
#[test]
fn press_with_a_layer() {
    let folder = TempDir::new().unwrap();
    let press =
        ["press", "--sensor", "wts0614", "--skin", "layer", "--object", "sphere:radius=8mm", "--depth", "0.4mm"];
    let report = json(&dermis(folder.path(), &[&press[..], &["--json"]].concat()));
    let number = |value: &Value| value.as_f64().unwrap();
    let outside = number(&report["outside_n"][2]);
    assert!((number(&report["sum_n"]) - outside - number(&report["force_n"])).abs() < 1e-9, "{report}");
    assert!(number(&report["force_n"]) > 0.1);
}

/// A point cloud on a gel: the taxel forces and the force outside sum to the total force, and the cloud is at rest. A
/// cloud without a unit is refused.
#[test]
fn press_points_on_a_gel() {
    let folder = TempDir::new().unwrap();
    let sensor = "name = \"g\"\n[surface.grid]\nrows = 8\ncols = 8\npitch = \"1 mm\"\n[skin]\nkind = \"gel\"\nyoung = \"145 kPa\"\npoisson = 0.45\nthickness = \"3 mm\"\ncell = \"1 mm\"\n";
    std::fs::write(folder.path().join("gel.toml"), sensor).unwrap();
    std::fs::write(folder.path().join("scan.xyz"), "# x y z\n0 0 3\n0.4 0 3\n0,0.4,3\n").unwrap();
    let press = ["press", "--sensor", "gel.toml", "--object", "points:scan.xyz,radius=2mm", "--depth", "0.5mm"];
    let report = json(&dermis(folder.path(), &[&press[..], &["--unit", "mm", "--json"]].concat()));
    let number = |value: &Value| value.as_f64().unwrap();
    let outside = number(&report["outside_n"][2]);
    assert!((number(&report["sum_n"]) - outside - number(&report["force_n"])).abs() < 1e-9, "{report}");
    assert!(number(&report["force_n"]) > 0.05, "{report}");
    assert_eq!(number(&report["kinetic_by_strain_energy"]), 0.0);
    assert!(number(&report["strain_energy_j"]) > 1e-6, "{report}");
    assert!(dermis(folder.path(), &[&press[..], &["--unit", "mm"]].concat()).contains("kinetic by strain"));
}

/// The command line presses the object that the library makes, for every shape: the same numbers to 1e-12.
#[test]
fn every_shape_is_pressed_as_in_the_library() {
    use dermis::object::ObjectSpec;
    use dermis::prelude::*;
    let folder = TempDir::new().unwrap();
    write(folder.path(), "cloud.xyz", "0 0 0\n1 0 0\n0 1 0\n1 1 0.2\n");
    std::fs::create_dir(folder.path().join("meshes")).unwrap();
    write(folder.path(), "meshes/block.obj", dermis::geometry::files::write_obj(&block(), LengthUnit::Millimetre));
    let shapes = [
        ("sphere:radius=100mm", None),
        ("sphere:radius=6mm,edge=1mm", None),
        ("ellipsoid:semi_axes=9mm,7mm,5mm", None),
        ("cuboid:size=8mm,6mm,5mm", None),
        ("cylinder:radius=4mm,length=9mm", None),
        ("capsule:radius=4mm,length=6mm", None),
        ("cone:radius=5mm,height=8mm", None),
        ("torus:major=5mm,minor=2mm", None),
        ("prism:sides=5,radius=5mm,length=9mm", None),
        ("spray-bottle:edge=4mm", None),
        ("fingertip", None),
        ("indenter:moon", None),
        ("points:cloud.xyz,radius=2mm", Some(LengthUnit::Millimetre)),
        ("meshes/block.obj", Some(LengthUnit::Millimetre)),
    ];
    for (sensor, depth) in [("uji-foam-14x6", 0.6), ("gelsight", 0.3)] {
        let built = SensorSpec::find(sensor).unwrap().0.build(None).unwrap();
        for (flag, unit) in shapes {
            let mut words =
                vec!["press", "--sensor", sensor, "--object", flag, "--at", "0.7mm,-0.4mm", "--tilt", "9deg"];
            let depth_text = format!("{depth}mm");
            words.extend(["--yaw", "20deg", "--depth", &depth_text, "--json"]);
            let unit_text = unit.map(|unit| unit.to_string());
            if let Some(unit) = &unit_text {
                words.extend(["--unit", unit]);
            }
            let told = json(&dermis(folder.path(), &words));
            let object = ObjectSpec::parse_flag(flag, unit).unwrap().object(Some(folder.path()), None).unwrap();
            let (tilt, yaw) = ("9deg".parse::<Angle>().unwrap().si(), "20deg".parse::<Angle>().unwrap().si());
            let [x, y] = ["0.7mm", "-0.4mm"].map(|text| text.parse::<Length>().unwrap().si());
            let aim = Aim { at_m: [x, y], tilt_rad: [tilt, 0.0], yaw_rad: yaw };
            let depth_m = depth_text.parse::<Length>().unwrap().si();
            let pressed = press(&built, &object, &aim, Goal::Depth(depth_m)).unwrap();
            let size = pressed.touch.on_sensor.force.length();
            for (axis, part) in pressed.touch.on_sensor.force.to_array().into_iter().enumerate() {
                let cli = told["on_sensor_n"][axis].as_f64().unwrap();
                assert!((cli - part).abs() <= 1e-12 * size, "{sensor}, {flag}: {cli} and {part}");
            }
            assert_eq!(told["values_n"].as_array().unwrap().len(), pressed.reading.values_newton.len());
        }
    }
}

fn block() -> dermis::geometry::TriMesh {
    dermis::geometry::shapes::cuboid(dermis::geometry::Vec3::new(6e-3, 5e-3, 4e-3)).unwrap()
}

/// A closed mesh without volume has no mass: the scene is refused instead of moving a body to NaN.
#[test]
fn a_flat_closed_mesh_cannot_be_a_free_body() {
    let folder = TempDir::new().unwrap();
    write(folder.path(), "obj-flat-closed.obj", "v 0 0 0\nv 20 0 0\nv 0 20 0\nf 1 2 3\nf 1 3 2\n");
    write(folder.path(), "scene.toml", include_str!("corpus/scene-flat-closed-free-body.toml"));
    let arguments = ["run", "scene.toml", "--out", "o"].map(str::to_owned);
    let result = crate::common::dermis(folder.path(), &arguments);
    let text = String::from_utf8_lossy(&result.stderr);
    assert!(!result.status.success() && text.contains("closed but flat") && text.contains("sheet"), "{text}");
}

#[test]
fn output_that_cannot_be_written_is_an_error() {
    let Ok(full) = std::fs::OpenOptions::new().write(true).open("/dev/full") else { return };
    let mut press = std::process::Command::new(env!("CARGO_BIN_EXE_dermis"));
    press.args(["press", "--sensor", "wts0614", "--object", "sphere", "--depth", "0.5mm", "--json"]);
    let result = press.stdout(full).output().unwrap();
    let text = String::from_utf8_lossy(&result.stderr);
    assert!(result.status.code() == Some(1) && text.contains("could not be written"), "{text}");
}

#[test]
fn characterise_gives_the_warnings_of_the_skin() {
    let folder = TempDir::new().unwrap();
    let arguments = ["characterise", "--sensor", "wts0614", "--indenter", "3mm", "--depth", "0.5mm", "--out", "bench"];
    let said = dermis(folder.path(), &arguments);
    assert!(said.contains("warning") && said.contains("increase `contact_points`"), "{said}");
    let quick = ["--presses", "1", "--steps", "1", "--overwrite", "--json"];
    let report = json(&dermis(folder.path(), &[&arguments[..], &quick].concat()));
    let rows = std::fs::read_to_string(folder.path().join("bench/presses.csv")).unwrap().lines().count() - 1;
    assert!(report["taxels"] == 84 && report["readings"] == rows, "{report}: {rows} rows");
    let warning = report["warnings"][0].as_str().unwrap();
    assert!(warning.contains("increase `contact_points`"), "{report}");
}
