//! `dermis run --record`, `dermis compare` and `dermis export`, as a user runs them.

use crate::common::{SCENE, dermis, write};
use dermis::draw::Image;
use serde_json::Value;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;
use tempfile::TempDir;

/// A ball on a GelSight with a camera of 64 × 48 pixels, and a pad of springs next to it.
const CAMERA_SCENE: &str = r#"
[world]
duration = "60 ms"
time_step = "1 ms"
gravity = "0 m/s^2"

[[body]]
name = "ball"
motion = "driven"
shape.sphere.radius = "5 mm"
at = ["0 mm", "0 mm", "4.8 mm"]
velocity = ["0 m/s", "0 m/s", "-0.01 m/s"]

[[sensor]]
name = "gel"
file = "gel.toml"

[record]
every = "5 ms"
"#;

fn run(folder: &Path, arguments: &[&str]) -> (bool, String, String) {
    let all: Vec<String> = arguments.iter().map(|argument| (*argument).to_owned()).collect();
    let result = dermis(folder, &all);
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (result.status.success(), text(&result.stdout), text(&result.stderr))
}

fn good(folder: &Path, arguments: &[&str]) -> String {
    let (success, stdout, stderr) = run(folder, arguments);
    assert!(success, "dermis {}: {stderr}", arguments.join(" "));
    stdout
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error} in {text}"))
}

/// Compares one run in every format with the tables of another run of the same scene: all numbers are equal for any
/// number of threads.
#[test]
fn every_recording_of_a_run_holds_the_same_numbers() {
    let folder = TempDir::new().unwrap();
    write(folder.path(), "scene.toml", SCENE);
    good(folder.path(), &["run", "scene.toml", "--out", "tables", "--threads", "1"]);
    for (file, more, most_off) in [
        ("a.mcap", &[][..], 0.0),
        ("b", &["--format", "ros2"], 1e-6),
        ("c.parquet", &[], 0.0),
        ("d", &["--threads", "2"], 0.0),
    ] {
        let said =
            good(folder.path(), &[&["run", "scene.toml", "--record", file, "--image-every", "10ms"], more].concat());
        assert!(said.contains(&format!("recorded {file}")), "{said}");
        let found = json(&good(folder.path(), &["compare", "tables", file, "--json"]));
        let signals = found["signals"].as_array().unwrap();
        assert!(signals.len() >= 4, "{file}: {found}");
        for signal in signals {
            assert_eq!(signal["times"], 11, "{file}: {signal}");
            // The angle between equal orientations is zero but for rounding.
            assert!(signal["max_abs"].as_f64().unwrap() <= most_off + 1e-12, "{file}: {signal}");
        }
    }
    let said = good(folder.path(), &["compare", "a.mcap", "d", "--out", "both"]);
    assert!(said.contains("pad/taxels_n") && said.contains("errors.csv"), "{said}");
    let table = std::fs::read_to_string(folder.path().join("both/errors.csv")).unwrap();
    assert!(table.lines().count() > 50 && folder.path().join("both/compare.png").exists());
}

#[test]
fn images_are_compared_and_exported() {
    let folder = TempDir::new().unwrap();
    let described = good(folder.path(), &["sensors", "gelsight"]);
    let small = described.replace("width = 640", "width = 64").replace("height = 480", "height = 48");
    assert_ne!(small, described, "the preset has another camera now");
    write(folder.path(), "gel.toml", small);
    write(folder.path(), "scene.toml", CAMERA_SCENE);
    good(folder.path(), &["run", "scene.toml", "--record", "a.mcap", "--image-every", "10 ms", "--out", "run"]);
    let seen = Image::decode_png(&std::fs::read(folder.path().join("run/camera-gel.png")).unwrap()).unwrap();
    assert!(seen.width() > 2 * 64 && seen.height() > 2 * 48, "a run of an optical sensor writes its camera images");
    write(
        folder.path(),
        "scene.toml",
        CAMERA_SCENE.replace(r#"["0 mm", "0 mm", "4.8 mm"]"#, r#"["0.3 mm", "0 mm", "4.8 mm"]"#),
    );
    good(folder.path(), &["run", "scene.toml", "--record", "bag", "--format", "ros2", "--image-every", "10 ms"]);
    let found = json(&good(folder.path(), &["compare", "a.mcap", "bag", "--json", "--out", "both"]));
    let images = &found["images"][0];
    assert_eq!((&images["name"], images["times"].as_u64()), (&Value::from("gel/camera"), Some(6)), "{found}");
    let ssim = images["score"]["ssim"].as_f64().unwrap();
    assert!(ssim > 0.2 && ssim < 0.9999, "{images}");
    assert!(folder.path().join("both/least-alike-gel-camera.png").exists());
    let same = json(&good(folder.path(), &["compare", "a.mcap", "a.mcap", "--json"]));
    assert_eq!(same["images"][0]["score"]["mae_255"], 0.0);
    good(folder.path(), &["export", "a.mcap", "images", "--format", "png"]);
    assert!(folder.path().join("images/gel/camera/000005.png").exists());
    let same = json(&good(folder.path(), &["compare", "a.mcap", "images", "--json"]));
    let camera = same["images"].as_array().unwrap().iter().find(|images| images["name"] == "gel/camera").unwrap();
    assert_eq!((&camera["score"]["mae_255"], &camera["times"]), (&Value::from(0.0), &Value::from(6)));
}

#[test]
fn a_recording_becomes_any_other_form() {
    let folder = TempDir::new().unwrap();
    write(folder.path(), "scene.toml", SCENE);
    good(folder.path(), &["run", "scene.toml", "--record", "a.mcap"]);
    for file in ["b.csv", "b.parquet", "b"] {
        let made = json(&good(folder.path(), &["export", "a.mcap", file, "--json"]));
        assert_eq!((&made["times"], &made["cut"]), (&Value::from(11), &Value::from(false)), "{file}");
        let found = json(&good(folder.path(), &["compare", "a.mcap", file, "--json"]));
        for signal in found["signals"].as_array().unwrap() {
            assert_eq!(signal["times"], 11, "{file}");
            assert!(signal["max_abs"].as_f64().unwrap() < 1e-12, "{file}: {signal}");
        }
        assert!(found["only_in_a"].as_array().unwrap().iter().all(|name| name == "pad/tactile"), "{file}: {found}");
    }
    // A truncated file is repaired.
    let bytes = std::fs::read(folder.path().join("a.mcap")).unwrap();
    write(folder.path(), "cut.mcap", &bytes[..bytes.len() - 200]);
    let (success, _, stderr) = run(folder.path(), &["export", "cut.mcap", "whole.mcap"]);
    assert!(success && stderr.contains("the file is truncated"), "{stderr}");
    let mended = json(&good(folder.path(), &["compare", "a.mcap", "whole.mcap", "--json"]));
    assert_eq!(mended["only_in_a"].as_array().unwrap().len(), 0);
}

#[test]
fn what_cannot_be_recorded_compared_or_exported_is_told_in_one_line() {
    let folder = TempDir::new().unwrap();
    write(folder.path(), "scene.toml", SCENE);
    write(folder.path(), "text.mcap", "nonsense");
    write(folder.path(), "a.csv", "time_s,force_n\n0,1\n1,2\n");
    std::fs::create_dir(folder.path().join("full")).unwrap();
    write(folder.path(), "full/kept", "x");
    write(folder.path(), "b.csv", "time_s,force_n\n5,1\n6,2\n");
    for (arguments, words) in [
        (&["run", "scene.toml", "--record", "a.bag"][..], &["a.bag", ".mcap"][..]),
        (&["run", "scene.toml", "--record", "a.mcap", "--format", "npy"], &["a.mcap", "a folder"]),
        (&["run", "scene.toml", "--record", "a.mcap", "--image-every", "0s"], &["--image-every"]),
        (&["run", "scene.toml", "--record", "a.csv/b.mcap"], &["a.csv", "is a file; name a folder"]),
        (&["run", "scene.toml"], &["--out"]),
        (&["compare", "text.mcap", "a.csv"], &["text.mcap", "no MCAP file"]),
        (&["compare", "nowhere.mcap", "a.csv"], &["nowhere.mcap", "cannot be read"]),
        (&["compare", "a.csv", "b.csv"], &["a/force_n", "b/force_n", "--pair"]),
        (&["compare", "a.csv", "b.csv", "--pair", "a/force_n=b/force_n"], &["--from-start"]),
        (&["compare", "a.csv", "b.csv", "--pair", "x"], &["--pair"]),
        (&["export", "a.csv", "x.mcap"], &["a.csv", "MCAP"]),
        (&["export", "a.csv", "x.txt"], &["x.txt", ".parquet"]),
        (&["export", "a.csv", "x", "--format", "png"], &["no images"]),
        (&["export", "a.csv", "a.csv"], &["itself"]),
        (&["export", "a.csv", "full"], &["full", "not empty"]),
        (&["run", "scene.toml", "--record", "full"], &["full", "not empty"]),
    ] {
        let (success, stdout, stderr) = run(folder.path(), arguments);
        assert!(!success && stdout.is_empty() && stderr.lines().count() == 1, "{arguments:?}: {stderr}");
        for word in words {
            assert!(stderr.contains(word), "{arguments:?}: {word:?} is missing in {stderr}");
        }
    }
    let mut left: Vec<_> = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    left.sort();
    assert_eq!(left, ["a.csv", "b.csv", "full", "scene.toml", "text.mcap"]);
    assert!(folder.path().join("full/kept").exists());
    let pair = ["compare", "a.csv", "b.csv", "--pair", "a/force_n=b/force_n", "--from-start", "--json"];
    assert_eq!(json(&good(folder.path(), &pair))["signals"][0]["max_abs"], 0.0);
}

/// Kills the program itself; a test in `crates/record` bounds the loss.
#[test]
fn what_a_killed_run_has_recorded_is_there() {
    let folder = TempDir::new().unwrap();
    write(folder.path(), "scene.toml", SCENE.replace("duration = \"20 ms\"", "duration = \"60 s\""));
    let mut victims: Vec<_> = ["a.mcap", "b.parquet", "c"]
        .into_iter()
        .map(|file| {
            let child = Command::new(env!("CARGO_BIN_EXE_dermis"))
                .current_dir(folder.path())
                .args(["run", "scene.toml", "--record", file, "--threads", "1"])
                .stdout(Stdio::null())
                .spawn();
            (file, child.unwrap())
        })
        .collect();
    let rows = |file: &str| {
        let (success, stdout, stderr) =
            run(folder.path(), &["export", file, &format!("{file}.csv"), "--overwrite", "--json"]);
        if success { Ok(json(&stdout)["times"].as_u64().unwrap()) } else { Err(stderr) }
    };
    // Wait until there are rows, also on a busy machine.
    let enough = |file: &str| {
        (0..300).any(|_| {
            std::thread::sleep(Duration::from_millis(100));
            rows(file).is_ok_and(|rows| rows >= 20)
        })
    };
    let waited: Vec<bool> = victims.iter().map(|(file, _)| enough(file)).collect();
    for (_, child) in &mut victims {
        child.kill().unwrap();
        child.wait().unwrap();
    }
    for ((file, _), waited) in victims.iter().zip(waited) {
        assert!(waited, "{file}: nothing was recorded for half a minute");
        let there = rows(file).unwrap_or_else(|error| panic!("{file}: {error}"));
        assert!(there >= 20, "{file}: {there} rows");
    }
}

/// A run that fails after it has started to record leaves the file that it was to replace.
#[test]
fn a_failed_run_does_not_replace_a_recording() {
    let folder = TempDir::new().unwrap();
    write(folder.path(), "scene.toml", SCENE);
    for file in ["a.mcap", "b.parquet"] {
        good(folder.path(), &["run", "scene.toml", "--record", file]);
        let old = std::fs::read(folder.path().join(file)).unwrap();
        // The port is out of reach, which is noticed after the recording has begun.
        let holder = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = holder.local_addr().unwrap().port().to_string();
        let again = ["run", "scene.toml", "--record", file, "--overwrite", "--view", "--no-open", "--port", &port];
        let (success, _, stderr) = run(folder.path(), &again);
        assert!(!success && stderr.contains(&port), "{stderr}");
        assert!(std::fs::read(folder.path().join(file)).unwrap() == old, "{file} was replaced");
        good(folder.path(), &["run", "scene.toml", "--record", file, "--overwrite"]);
    }
    let mut left: Vec<_> = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    left.sort();
    assert_eq!(left, ["a.mcap", "b.parquet", "scene.toml"]);
}
