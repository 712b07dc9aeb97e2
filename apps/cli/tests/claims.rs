//! Two commands never write into one folder at the same time.

use crate::common::{SCENE, SENSOR, dermis, write};
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

fn run(folder: &Path, line: &str) -> Output {
    dermis(folder, &line.split(' ').map(str::to_owned).collect::<Vec<_>>())
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Files of a folder, hidden ones too.
fn files(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten();
    entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect()
}

/// Two commands into one new folder both succeeded, and their files were mixed.
#[test]
fn two_commands_into_one_new_folder_mixed_their_files() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    write(path, "mine.toml", SENSOR);
    write(path, "scene.toml", SCENE);
    // A ball that stays on the sensor for ten million steps.
    let long = SCENE.replace("\"20 ms\"", "\"1000 s\"").replace("every = \"2 ms\"", "every = \"50 s\"");
    let long = long.replace("motion = \"free\"\nmass = \"50 g\"", "motion = \"driven\"");
    let is_still = |line: &&str| !line.starts_with("velocity") && !line.starts_with("spin");
    write(path, "long.toml", long.lines().filter(is_still).collect::<Vec<_>>().join("\n"));
    let press = "press --sensor mine.toml --object sphere:radius=5mm --depth 0.5mm --out out";
    for record in ["", " --record out"] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_dermis"));
        let long = format!("run long.toml --out out{record}");
        command.current_dir(path).args(long.split(' ')).stdout(Stdio::null()).stderr(Stdio::null());
        let mut first = command.spawn().unwrap();
        let start = Instant::now();
        while files(&path.join("out")).is_empty() {
            assert!(start.elapsed() < Duration::from_secs(20) && first.try_wait().unwrap().is_none());
            std::thread::sleep(Duration::from_millis(5));
        }
        for second in [press, &format!("{press} --overwrite"), "run scene.toml --out out", "demo --out out"] {
            let done = run(path, second);
            let message = text(&done.stderr);
            assert_eq!(done.status.code(), Some(1), "{second}: {message}");
            assert!(
                message.contains("out: another command is writing there") && message.lines().count() == 1,
                "{message}"
            );
        }
        assert!(!files(&path.join("out")).iter().any(|name| name == "reading.json" || name == "summary.json"));
        assert!(first.try_wait().unwrap().is_none(), "the first command runs all the time");
        // A killed command stops nobody.
        first.kill().unwrap();
        first.wait().unwrap();
        let again = if record.is_empty() { press.to_owned() } else { format!("{press} --overwrite") };
        let done = run(path, &again);
        assert!(done.status.success(), "{}", text(&done.stderr));
        let left = files(&path.join("out"));
        assert!(
            left.contains(&"reading.json".to_owned()) && !left.iter().any(|name| name.starts_with('.')),
            "{left:?}"
        );
        std::fs::remove_dir_all(path.join("out")).unwrap();
    }
}

/// A command that fails leaves neither a folder nor a mark.
#[test]
fn a_refused_command_leaves_no_folder() {
    let folder = tempfile::tempdir().unwrap();
    for line in ["run missing.toml --out a/b", "press --sensor no-such-sensor --object sphere --depth 1mm --out a/b"] {
        assert_eq!(run(folder.path(), line).status.code(), Some(1), "{line}");
        assert_eq!(files(folder.path()), Vec::<String>::new(), "{line}");
    }
}

/// A file in the place of a folder was "File exists (os error 17)".
#[test]
fn a_file_in_the_place_of_a_folder_is_called_a_file() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "scene.toml", SCENE);
    write(folder.path(), "notes", "mine");
    let press = "press --sensor wts0614 --object sphere --depth 1mm";
    for line in [
        format!("{press} --out notes"),
        format!("{press} --out notes/inside"),
        "run scene.toml --out notes".to_owned(),
        "run scene.toml --record notes --format npy".to_owned(),
        "run scene.toml --record notes/bag --format ros2".to_owned(),
        "demo --out notes".to_owned(),
        "dataset make set.toml --out notes".to_owned(),
    ] {
        if line.contains("set.toml") {
            let example = run(folder.path(), "dataset example array");
            write(folder.path(), "set.toml", example.stdout);
        }
        let done = run(folder.path(), &line);
        let message = text(&done.stderr);
        assert_eq!(done.status.code(), Some(1), "{line}: {message}");
        assert!(message.contains("notes: ") && message.contains("is a file; name a folder"), "{line}: {message}");
        assert_eq!(std::fs::read_to_string(folder.path().join("notes")).unwrap(), "mine");
    }
}
