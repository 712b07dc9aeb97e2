//! `dermis dataset`: killed and resumed, on a full disk, planned, and split into shares.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

const SPEC: &str = r#"
name = "presses"
format = "parquet"
count = 240
shard = 8
sensor = [{ preset = "uji-foam-14x6" }]
object = [{ shape.sphere = { radius = "12 mm", edge = "0.6 mm" } }, { indenters = ["dots"] }]
pose.x = { uniform = ["-6 mm", "6 mm"] }
pose.y = { uniform = ["-12 mm", "12 mm"] }
pose.depth = { uniform = ["0.5 mm", "2 mm"] }
scenario = { kind = "press", frames = 3 }
"#;

fn dermis() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_dermis"));
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn sums(folder: &Path) -> String {
    std::fs::read_to_string(folder.join("SHA256SUMS")).unwrap()
}

fn files(folder: &Path) -> BTreeMap<String, u64> {
    let mut all = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(inner) = folders.pop() {
        for path in std::fs::read_dir(&inner).unwrap().flatten().map(|entry| entry.path()) {
            if path.is_dir() {
                folders.push(path);
            } else {
                let name = path.strip_prefix(folder).unwrap().display().to_string();
                all.insert(name, std::fs::metadata(&path).unwrap().len());
            }
        }
    }
    all
}

/// Killed (SIGKILL) or interrupted (Ctrl-C) at arbitrary times and restarted: the hashes are the same and there are no
/// extra files.
#[test]
fn killed_and_resumed_it_is_the_same() {
    let root = tempfile::tempdir().unwrap();
    let spec = root.path().join("set.toml");
    std::fs::write(&spec, SPEC).unwrap();
    let make = |out: &Path| {
        let mut command = dermis();
        command.args(["dataset", "make"]).arg(&spec).arg("--out").arg(out);
        command
    };
    let (once, again) = (root.path().join("once"), root.path().join("again"));
    let done = make(&once).args(["--json", "--threads", "1"]).output().unwrap();
    let report: serde_json::Value = serde_json::from_slice(&done.stdout).unwrap();
    assert_eq!((&report["complete"], &report["episodes"]), (&true.into(), &240.into()));
    assert!(report["peak_memory_bytes"].as_u64().is_none_or(|bytes| bytes < 1_000_000_000));
    let whole = Duration::from_secs_f64(report["wall_s"].as_f64().unwrap());
    let mut stops = 0;
    for attempt in 0..12u32 {
        let mut child = make(&again).spawn().unwrap();
        std::thread::sleep(whole.mul_f64(0.1 + 0.07 * f64::from(attempt * 5 % 7)));
        let signal = if attempt % 2 == 0 { "-KILL" } else { "-INT" };
        let _ = Command::new("kill").args([signal, &child.id().to_string()]).stderr(Stdio::null()).status();
        let status = child.wait().unwrap();
        if status.success() {
            break;
        }
        stops += 1;
    }
    // An incomplete file without an owner is removed once it is two seconds old.
    std::thread::sleep(Duration::from_millis(2100));
    assert!(make(&again).output().unwrap().status.success());
    assert!(stops > 0, "it was never stopped in time");
    assert_eq!(sums(&once), sums(&again));
    assert_eq!(files(&once), files(&again));
    let checked = dermis().args(["dataset", "check"]).arg(&again).output().unwrap();
    assert!(checked.status.success());
}

/// A file size limit of 64 kB stands for a full disk: the error is one sentence, and the finished shard is kept and
/// used later.
#[test]
fn a_full_disk_stops_it_with_one_sentence() {
    let root = tempfile::tempdir().unwrap();
    let spec = root.path().join("set.toml");
    std::fs::write(&spec, SPEC.replace("count = 240", "count = 40").replace("frames = 3", "frames = 12")).unwrap();
    let out = root.path().join("set");
    let make = |more: &[&str]| {
        dermis().args(["dataset", "make"]).arg(&spec).arg("--out").arg(&out).args(more).output().unwrap()
    };
    assert!(make(&["--shard", "2/5"]).status.success());
    let line = format!(
        "trap '' XFSZ; ulimit -f 64; exec {} dataset make {} --out {}",
        env!("CARGO_BIN_EXE_dermis"),
        spec.display(),
        out.display()
    );
    let run = Command::new("bash").args(["-c", &line]).output().unwrap();
    assert!(!run.status.success());
    let message = String::from_utf8(run.stderr).unwrap();
    assert!(
        message.contains("the disk is full") && message.contains("1 of 5 shards are finished and kept"),
        "{message}"
    );
    assert_eq!(message.trim().lines().count(), 1, "{message}");
    let resumed: serde_json::Value = serde_json::from_slice(&make(&["--json"]).stdout).unwrap();
    assert_eq!((&resumed["found"], &resumed["episodes"], &resumed["complete"]), (&8.into(), &32.into(), &true.into()));
    assert!(!files(&out).keys().any(|name| name.ends_with(".part")));
}

#[test]
fn every_example_can_be_planned_and_wrong_input_is_one_line() {
    let root = tempfile::tempdir().unwrap();
    let listed = dermis().args(["dataset", "example"]).output().unwrap();
    let names: Vec<String> = String::from_utf8(listed.stdout)
        .unwrap()
        .lines()
        .map(|line| line.split_whitespace().next().unwrap().to_owned())
        .collect();
    assert!(names.len() >= 4, "{names:?}");
    for name in &names {
        let text = dermis().args(["dataset", "example", name]).output().unwrap().stdout;
        let spec = root.path().join(format!("{name}.toml"));
        std::fs::write(&spec, text).unwrap();
        let plan = dermis().args(["dataset", "plan", "--json"]).arg(&spec).output().unwrap();
        assert!(plan.status.success(), "{name}: {}", String::from_utf8_lossy(&plan.stderr));
        let plan: serde_json::Value = serde_json::from_slice(&plan.stdout).unwrap();
        assert!(plan["episodes"].as_u64().unwrap() >= 200 && plan["bytes"].as_u64().unwrap() > 1000, "{plan}");
    }
    for arguments in [["example", "nothing"], ["plan", "no.toml"], ["check", "nowhere"]] {
        let run = dermis().arg("dataset").args(arguments).output().unwrap();
        let message = String::from_utf8(run.stderr).unwrap();
        assert!(
            !run.status.success() && message.starts_with("dermis: ") && message.trim().lines().count() == 1,
            "{message}"
        );
    }
    let out = root.path().join("out");
    let spec = root.path().join("array.toml");
    let run = dermis().args(["dataset", "make", "--shard", "5/4"]).arg(spec).arg("--out").arg(&out).output().unwrap();
    assert!(String::from_utf8(run.stderr).unwrap().contains("from 1 to n") && !out.exists());
}
