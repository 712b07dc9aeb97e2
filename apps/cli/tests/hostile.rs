//! Hostile files, names and limits: one sentence, in little time and memory, and nothing half-written.

use crate::common::{SCENE, SENSOR, dermis, write};
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Runs the program under limits of the shell, such as `ulimit -v 4000000`.
fn limited(folder: &Path, limits: &str, arguments: &[&str]) -> Output {
    let line = format!("{limits}; exec \"$0\" \"$@\"");
    let mut shell = Command::new("bash");
    shell.args(["-c", &line, env!("CARGO_BIN_EXE_dermis")]).args(arguments);
    shell.current_dir(folder).output().unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn names(folder: &Path) -> Vec<String> {
    let mut all: Vec<String> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    all.sort();
    all
}

/// `/dev/zero`, links to it and pipes were read until the memory was full.
#[test]
fn no_command_reads_a_device_or_a_pipe() {
    let folder = TempDir::new().unwrap();
    write(folder.path(), "sensor.toml", SENSOR);
    for name in ["x.toml", "x.csv", "x.png", "x.mcap", "x.parquet", "x.db3", "x.json", "x.xml", "x.stl", "x.npy"] {
        symlink("/dev/zero", folder.path().join(name)).unwrap();
    }
    std::fs::create_dir(folder.path().join("recording")).unwrap();
    symlink("/dev/zero", folder.path().join("recording/times_s.npy")).unwrap();
    assert!(Command::new("mkfifo").arg(folder.path().join("pipe.toml")).status().unwrap().success());
    for line in [
        "run /dev/zero --out out",
        "run pipe.toml --out out",
        "press --sensor ./x.toml --object sphere --depth 1mm",
        "press --sensor ./sensor.toml --object x.stl --unit mm --depth 1mm",
        "dataset plan x.toml",
        "metrics x.png x.png",
        "estimate pose --sensor gelsight --object sphere --reading x.png",
        "calibrate stiffness x.csv",
        "import x.xml --grid 4x4 --pitch 1mm",
        "validate real --peers x.json recording",
        "compare x.mcap x.mcap",
        "compare x.csv x.csv",
        "compare x.parquet x.parquet",
        "compare x.db3 x.db3",
        "compare recording recording",
        "export x.mcap out.parquet",
    ] {
        let arguments: Vec<&str> = line.split(' ').collect();
        let done = limited(folder.path(), "ulimit -v 4000000; ulimit -t 20", &arguments);
        let said = stderr(&done);
        assert_eq!(done.status.code(), Some(1), "dermis {line}: {said}");
        assert!(said.contains("no regular file") && said.lines().count() == 1, "dermis {line}: {said}");
    }
}

/// The entry with the slip was found by reading the file once for every entry.
#[test]
fn the_slip_in_a_scene_of_many_bodies_is_found_in_linear_time() {
    let folder = TempDir::new().unwrap();
    let body = "[[body]]\nname = \"b\"\n";
    let cases = [
        ("[[body]]\n".repeat(32_000), "line 1 (`[[body]]`): missing field `name`"),
        (body.repeat(2_000) + "[[body]]\n" + &body.repeat(2_000), "line 4001 (`[[body]]`): missing field `name`"),
        ("[[sensor]]\nnme = 1\n".repeat(60_000), "line 1 (`[[sensor]]`): missing field `name`"),
        ("[world]\n".to_owned() + &(0..50_000).map(|i| format!("k{i} = 1\n")).collect::<String>(), "unknown field"),
    ];
    for (text, words) in cases {
        write(folder.path(), "scene.toml", &text);
        let done = limited(folder.path(), "ulimit -t 10", &["run", "scene.toml", "--out", "out"]);
        let said = stderr(&done);
        assert!(said.contains(words) && done.status.code() == Some(1), "{words}: {said}");
    }
}

#[test]
fn more_bodies_or_sensors_than_can_be_simulated_are_refused() {
    let folder = TempDir::new().unwrap();
    let body =
        |i: usize| format!("[[body]]\nname = \"b{i}\"\nmotion = \"fixed\"\nat = [\"0 mm\", \"0 mm\", \"0 mm\"]\n");
    let sensor = |i: usize| format!("[[sensor]]\nname = \"s{i}\"\npreset = \"wts0614\"\n");
    let world = "world.duration = \"1 s\"\n";
    for (text, words) in [
        (
            world.to_owned() + &(0..10_001).map(body).collect::<String>() + &sensor(0),
            "`body` must be a shorter list, got 10001",
        ),
        (world.to_owned() + &(0..1_001).map(sensor).collect::<String>(), "`sensor` must be a shorter list, got 1001"),
    ] {
        write(folder.path(), "scene.toml", &text);
        let done = limited(folder.path(), "ulimit -t 10", &["run", "scene.toml", "--out", "out"]);
        assert!(stderr(&done).contains(words), "{}", stderr(&done));
    }
}

/// A file that grew beyond the limit of the user ended the program by a signal and left `.part` and `.replaced`.
#[test]
fn a_recording_beyond_the_file_size_limit_is_refused_and_the_old_one_returns() {
    let folder = TempDir::new().unwrap();
    write(folder.path(), "scene.toml", SCENE.replace("every = \"2 ms\"", "every = \"0.1 ms\""));
    for name in ["x.mcap", "x.parquet"] {
        write(folder.path(), name, "old");
        let arguments = ["run", "scene.toml", "--record", name, "--overwrite"];
        let done = limited(folder.path(), "ulimit -f 300", &arguments);
        let said = stderr(&done);
        assert_eq!(done.status.code(), Some(1), "{name}: {:?} {said}", done.status);
        assert!(said.contains(name) && said.contains("File too large") && said.lines().count() == 1, "{said}");
        assert_eq!(std::fs::read_to_string(folder.path().join(name)).unwrap(), "old", "{name}");
        // What was written of a Parquet file before remains readable.
        let parts = format!("{name}.parts");
        let others: Vec<String> = names(folder.path()).into_iter().filter(|other| *other != parts).collect();
        assert_eq!(others, ["scene.toml", name], "{name}");
        std::fs::remove_file(folder.path().join(name)).unwrap();
        std::fs::remove_dir_all(folder.path().join(parts)).unwrap_or_default();
    }
}

/// Escape sequences in names reached the terminal.
#[test]
fn names_are_escaped_and_cut_before_they_are_printed() {
    let folder = TempDir::new().unwrap();
    let hostile = "\u{1b}]0;owned\u{7}\u{1b}[2J\u{9b}31m\u{202e}";
    let scene = SCENE.replace("name = \"pad\"", r#"name = "pad\u001b[31m\u009b2J""#);
    write(folder.path(), "scene.toml", scene);
    write(folder.path(), &format!("{hostile}.toml"), "name = 1");
    write(folder.path(), &format!("{hostile}.csv"), format!("time_s,{hostile}\n0,1\n1,2\n"));
    let (long, csv) = ("n".repeat(100_000), format!("{hostile}.csv"));
    for arguments in [
        &["press", "--sensor", &format!("./{hostile}.toml"), "--object", "sphere", "--depth", "1mm"][..],
        &["run", &format!("{hostile}{long}")],
        &["press", "--sensor", &long, "--object", "sphere", "--depth", "1mm"],
        &[hostile],
        &["run", "scene.toml", "--out", "out"],
        &["compare", &csv, &csv],
    ] {
        let done = dermis(folder.path(), &arguments.iter().map(|&argument| argument.to_owned()).collect::<Vec<_>>());
        let said = stderr(&done) + &String::from_utf8_lossy(&done.stdout);
        let is_plain = |c: char| c == '\n' || !(c.is_control() || c == '\u{202e}');
        assert!(!said.is_empty() && said.len() < 5_000 && said.chars().all(is_plain), "{arguments:.60?}: {said:.600?}");
    }
}

/// The run said "recorded x.mcap" of a file that was gone.
#[test]
fn a_recording_that_is_removed_during_the_run_is_noticed() {
    let folder = TempDir::new().unwrap();
    write(folder.path(), "scene.toml", SCENE);
    let path = folder.path().join("x.mcap");
    let mut command = Command::new(env!("CARGO_BIN_EXE_dermis"));
    command.current_dir(folder.path()).args(["run", "scene.toml", "--record", "x.mcap"]);
    let running = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let began = Instant::now();
    while !path.exists() && began.elapsed() < Duration::from_secs(60) {
        std::thread::sleep(Duration::from_millis(1));
    }
    std::fs::remove_file(&path).unwrap();
    let done = running.wait_with_output().unwrap();
    let said = stderr(&done);
    assert_eq!(done.status.code(), Some(1), "{said}");
    assert!(said.contains("x.mcap: was removed or replaced"), "{said}");
    assert!(!String::from_utf8_lossy(&done.stdout).contains("recorded"));
}

/// The page was served, and nobody was told where.
#[test]
fn a_page_whose_address_cannot_be_printed_is_not_served() {
    let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
    let mut command = Command::new("timeout");
    command.args(["60", env!("CARGO_BIN_EXE_dermis"), "view", "--no-open"]);
    let folder = TempDir::new().unwrap();
    write(folder.path(), "dermis.wasm.gz", "");
    let done = command.arg("--dir").arg(folder.path()).stdout(full).output().unwrap();
    assert_eq!(done.status.code(), Some(1), "{}", stderr(&done));
    assert!(stderr(&done).contains("the output could not be written"), "{}", stderr(&done));
}
