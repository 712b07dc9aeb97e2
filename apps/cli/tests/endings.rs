//! How commands end: warnings, lost bodies, unfinished tasks, Ctrl-C, and the commands about the program itself.

use crate::common::{dermis, write};
use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

fn run(folder: &Path, line: &str) -> Output {
    dermis(folder, &line.split(' ').map(str::to_owned).collect::<Vec<_>>())
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// A ball of 2 kg falls beside the sensor.
const FALLING: &str = r#"
[world]
duration = "1 s"
[[body]]
name = "ball"
motion = "free"
mass = "2 kg"
shape.sphere.radius = "20 mm"
at = ["80 mm", "0 mm", "21 mm"]
[[sensor]]
name = "pad"
preset = "uji-foam-14x6"
"#;

/// A ball of 4 mm radius is driven down by 0.4 mm from a height, onto a sensor.
fn driven_ball(height: &str, sensor: &str) -> String {
    format!(
        r#"
        [world]
        duration = "20 ms"
        time_step = "1 ms"
        gravity = "0 m/s^2"
        [[body]]
        name = "ball"
        motion = "driven"
        velocity = ["0 m/s", "0 m/s", "-20 mm/s"]
        shape.sphere.radius = "4 mm"
        at = ["0 mm", "0 mm", "{height}"]
        [[sensor]]
        name = "gel"
        {sensor}
        "#
    )
}

#[test]
fn a_ball_that_leaves_the_scene_is_in_text_summary_and_exit_code() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "falling.toml", FALLING);
    let done = run(folder.path(), "run falling.toml --out out");
    assert_eq!(done.status.code(), Some(3), "{}", text(&done.stderr));
    assert!(text(&done.stdout).contains("\"ball\" left the scene"), "{}", text(&done.stdout));
    assert!(text(&done.stderr).contains("left the scene"), "{}", text(&done.stderr));
    let summary: Value =
        serde_json::from_slice(&std::fs::read(folder.path().join("out/summary.json")).unwrap()).unwrap();
    assert_eq!(summary["lost_body"], true);
    assert!(summary["warnings"][0].as_str().unwrap().contains("left the scene"), "{summary}");
}

/// An elastic layer pressed beyond linear elasticity warns in a run as in a press, wherever results go. The
/// other formats of recordings are tested in `record/tests/formats.rs`, Python in `test_world.py` and `test_sensor.py`,
/// the page in `playground/tests/engine.rs`.
#[test]
fn the_warning_of_a_skin_is_in_text_json_summary_and_recording() {
    let folder = tempfile::tempdir().unwrap();
    let words = "the largest strain is";
    write(folder.path(), "scene.toml", driven_ball("3.6 mm", "preset = \"wts0614-layer\""));
    let press = "press --sensor wts0614-layer --object sphere:radius=4mm --depth 0.8mm";
    let said = |arguments: &str| {
        let done = run(folder.path(), arguments);
        assert_eq!(done.status.code(), Some(0), "{arguments}: {}", text(&done.stderr));
        text(&done.stdout)
    };
    for arguments in [press, "run scene.toml --out text"] {
        let said = said(arguments);
        let line = said.lines().find(|line| line.contains(words)).unwrap_or_else(|| panic!("{arguments}: {said}"));
        assert!(line.trim_start().starts_with("warning"), "{line}");
    }
    for arguments in [format!("{press} --json"), "run scene.toml --json --out json".to_owned()] {
        let report: Value = serde_json::from_str(&said(&arguments)).unwrap();
        let warnings = report["warnings"].as_array().unwrap();
        assert!(warnings.iter().any(|warning| warning.as_str().unwrap().contains(words)), "{arguments}: {report}");
    }
    said(&format!("{press} --out press"));
    said("run scene.toml --out out --record arrays");
    for file in ["text/summary.json", "json/summary.json", "press/reading.json", "arrays/warnings.txt"] {
        let written = std::fs::read_to_string(folder.path().join(file)).unwrap();
        assert!(written.contains(words), "{file}: {written}");
    }
}

/// A light that is used outside its data warns wherever its image goes.
#[test]
fn the_warning_of_a_camera_is_in_text_json_summary_and_recording() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "scene.toml", driven_ball("3.9 mm", "preset = \"gelsight\"\nlight.steepest = 0.2"));
    let press = "press --sensor gelsight --set light.steepest=0.2 --object sphere:radius=4mm --depth 0.4mm";
    let done = run(folder.path(), press);
    assert!(text(&done.stdout).contains("`light.steepest`"), "{}", text(&done.stdout));
    let json = |arguments: &str| -> Value {
        let done = run(folder.path(), arguments);
        serde_json::from_slice(&done.stdout).unwrap_or_else(|_| panic!("{}", text(&done.stderr)))
    };
    let summary = json("run scene.toml --json --out out --record recording --image-every 5ms");
    for report in [json(&format!("{press} --json")), summary] {
        let warnings = report["warnings"].as_array().unwrap();
        assert!(warnings.iter().any(|text| text.as_str().unwrap().contains("`light.steepest`")), "{warnings:?}");
    }
    for file in ["out/summary.json", "recording/warnings.txt"] {
        let written = std::fs::read_to_string(folder.path().join(file)).unwrap();
        assert!(written.contains("`light.steepest`"), "{file}: {written}");
    }
}

#[cfg(unix)]
#[test]
fn ctrl_c_ends_every_long_command_with_130() {
    let folder = tempfile::tempdir().unwrap();
    let long = FALLING
        .replace("\"1 s\"", "\"100 s\"")
        .replace("time_step", "#")
        .replace("[world]", "[world]\ntime_step = \"0.02 ms\"");
    write(folder.path(), "long.toml", long);
    let commands = [
        "run long.toml --out out",
        "reproduce moisio-tilt --full",
        "bench springs",
        "characterise --sensor gelsight --out bench",
    ];
    for line in commands {
        let mut child = Command::new(env!("CARGO_BIN_EXE_dermis"))
            .current_dir(folder.path())
            .args(line.split(' '))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        std::thread::sleep(Duration::from_millis(1500));
        let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
        assert!(sent.success() && child.wait().is_ok(), "{line}");
        let done = child.wait_with_output().unwrap();
        assert_eq!(done.status.code(), Some(130), "{line}: {}", text(&done.stderr));
        assert!(text(&done.stderr).contains("interrupted"), "{line}: {}", text(&done.stderr));
    }
    assert!(folder.path().join("out/summary.json").exists(), "the results so far are kept");
}

/// A pick-and-place task that `duration` cuts short.
#[test]
fn an_unfinished_task_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let finished = run(folder.path(), "demo --out demo --json");
    let summary: Value = serde_json::from_slice(&finished.stdout).unwrap();
    assert_eq!(summary["task_finished"], true);
    let scene = std::fs::read_to_string(folder.path().join("demo/demo.toml")).unwrap();
    let duration = scene.lines().find(|line| line.starts_with("duration")).unwrap();
    write(folder.path(), "short.toml", scene.replace(duration, "duration = \"50 ms\""));
    let done = run(folder.path(), "run short.toml --json --out out");
    assert_eq!(done.status.code(), Some(3), "{}", text(&done.stderr));
    let summary: Value = serde_json::from_slice(&done.stdout).unwrap();
    assert_eq!(summary["task_finished"], false);
    assert!(text(&done.stderr).contains("the task is not finished"), "{}", text(&done.stderr));
}

/// A ball that is wider than the open gripper.
#[test]
#[ignore = "slow: cargo xtask validate slow"]
fn an_object_wider_than_the_gripper_is_no_success() {
    let folder = tempfile::tempdir().unwrap();
    run(folder.path(), "demo --out demo");
    let scene = std::fs::read_to_string(folder.path().join("demo/demo.toml")).unwrap();
    let wide = scene
        .replace("opening = \"68 mm\"", "opening = \"50 mm\"")
        .replace("duration = \"12 s\"", "duration = \"2 s\"");
    assert!(wide.contains("50 mm") && wide.contains("2 s"), "{wide}");
    write(folder.path(), "wide.toml", wide);
    let done = run(folder.path(), "run wide.toml --out out");
    assert_eq!(done.status.code(), Some(3), "{}{}", text(&done.stdout), text(&done.stderr));
    assert!(text(&done.stderr).contains("the open fingers met the object"), "{}", text(&done.stderr));
}

#[test]
fn the_program_tells_about_itself() {
    let folder = tempfile::tempdir().unwrap();
    let version = text(&run(folder.path(), "--version").stdout);
    assert!(version.starts_with("dermis 0.") && version.trim_end().ends_with(')'), "{version}");
    let completions = text(&run(folder.path(), "completions bash").stdout);
    assert!(completions.contains("_dermis()"), "{completions}");
    let doctor: Value = serde_json::from_slice(&run(folder.path(), "doctor --json").stdout).unwrap();
    for key in ["version", "cpu", "threads", "gpu", "driver", "nvrtc", "cache", "mujoco"] {
        assert!(doctor[key].as_str().is_some_and(|found| !found.is_empty()), "{key}: {doctor}");
    }
}

#[test]
fn misspelt_names_are_answered_with_the_nearest() {
    let folder = tempfile::tempdir().unwrap();
    for (line, words) in [
        ("press --sensor wts0641 --object sphere --depth 1mm", "did you mean \"wts0614\"?"),
        ("press --sensor wts0614 --object spere --depth 1mm", "did you mean \"sphere\"?"),
        ("press --sensor wts0614 --object sphere:radus=1mm --depth 1mm", "did you mean \"radius\"?"),
        ("press --sensor wts0614 --set skin.stifness=1N/m --object sphere --depth 1mm", "did you mean \"stiffness\"?"),
        ("reproduce moisio-weihts", "did you mean \"moisio-weights\"?"),
        ("press --sensor wts0614 --object sphere --depth -1mm", "got -1 mm"),
    ] {
        let done = run(folder.path(), line);
        assert_eq!(done.status.code(), Some(1), "{line}");
        assert!(text(&done.stderr).contains(words), "{line}: {}", text(&done.stderr));
        assert!(!text(&done.stderr).contains("?;"), "{line}: {}", text(&done.stderr));
    }
}
