//! A process that is killed while it records leaves readable files that lack at most the last second.
//!
//! The test starts itself as a second process, which records in real time and reports each sample that it has passed to
//! the recorder. The test kills it without warning, twice in each format; `cargo xtask validate kill` kills it 40 times in each
//! format, up to 4 s after its first sample, and records on full and read-only disks ([`common::disk`]). The test does not cover power loss, which may also lose data that the system has
//! not yet written to the disk.

mod common;

use common::{FORMATS, layout, sample};
use dermis_geometry::Random;
use dermis_record::Log;
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

const PLACE: &str = "DERMIS_RECORD_KILLED_PLACE";
const FORMAT: &str = "DERMIS_RECORD_KILLED_FORMAT";
/// The file for the log of the long test.
const LOG: &str = "DERMIS_LOG";
/// Processes of each format that run at the same time.
const AT_ONCE: usize = 5;

/// The process to be killed; does nothing unless the other test starts it.
#[test]
fn victim() {
    let (Ok(place), Ok(format)) = (std::env::var(PLACE), std::env::var(FORMAT)) else { return };
    let (_, format, _) = FORMATS.into_iter().find(|(name, ..)| *name == format).unwrap();
    let mut recorder = format.record(Path::new(&place), &layout()).unwrap();
    let start = Instant::now();
    for step in 0u32..1000 {
        let time_s = f64::from(step) * 0.02;
        std::thread::sleep(Duration::from_secs_f64(time_s).saturating_sub(start.elapsed()));
        recorder.record(sample(time_s, step % 2 == 0)).unwrap();
        println!("kept {time_s}");
        std::io::stdout().flush().unwrap();
    }
}

/// Starts the process, and returns it with its reports after the first sample.
fn started(format: &str, place: &Path) -> (Child, BufReader<ChildStdout>) {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "victim", "--nocapture", "--test-threads=1"])
        .env(PLACE, place)
        .env(FORMAT, format)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut reports = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    while !line.contains("kept ") {
        line.clear();
        assert_ne!(reports.read_line(&mut line).unwrap(), 0, "{format}: ended without a sample");
    }
    (child, reports)
}

/// Time (s) of the last sample that the process reported.
fn last_kept_s(reports: BufReader<ChildStdout>) -> f64 {
    let lines = reports.lines().map_while(Result::ok);
    let times = lines.filter_map(|line| line.split("kept ").nth(1).and_then(|time| time.parse().ok()));
    times.fold(0.0, f64::max)
}

#[test]
fn all_but_the_last_second_is_there() {
    let log = std::env::var_os(LOG);
    let (kills, last_s) = if log.is_some() { (40, 4.0) } else { (2, 2.0) };
    let mut random = Random::new(u64::from(std::process::id()));
    let mut found = Found::default();
    for first in (0..kills).step_by(AT_ONCE) {
        kill_some(AT_ONCE.min(kills - first), last_s, &mut random, &mut found);
    }
    for (format, ..) in FORMATS {
        let count = found.examined.get(format).copied().unwrap_or(0);
        assert!(count >= kills / 2, "{format}: only {count} of {kills} recordings were examined");
    }
    let Found { most_lost_s, examined } = found;
    let killed = kills * FORMATS.len();
    let rows = examined.iter().map(|(format, count)| format!("| {format} | {kills} | {count} |\n")).collect::<String>();
    let text = format!(
        "# Recordings that were killed\n\n{killed} processes were killed by SIGKILL at a random time in their first {last_s} s. All \
         recordings were readable; {most_lost_s:.2} s were lost at most (limit: 1 s). A recording counts as read if it was \
         killed after its first flush.\n\n| format | killed | read with samples |\n|---|---|---|\n{rows}"
    );
    let text = if log.is_some() { text + &common::disk::table() } else { text };
    println!("{text}");
    log.into_iter().for_each(|log| std::fs::write(log, &text).unwrap());
}

/// What the killed processes left.
#[derive(Default)]
struct Found {
    most_lost_s: f64,
    examined: BTreeMap<&'static str, usize>,
}

/// Starts `count` processes of each format, kills them within `last_s` and examines what they have left.
fn kill_some(count: usize, last_s: f64, random: &mut Random, found: &mut Found) {
    let folder = tempfile::tempdir().unwrap();
    let mut victims = Vec::new();
    for (format, _, file) in FORMATS {
        for kill in 0..count {
            let place = folder.path().join(format!("{format}-{kill}-{file}"));
            let process = started(format, &place);
            // The last one of each round lives long enough to have flushed.
            let first_s = if kill + 1 == count { 0.75 * last_s } else { 0.0 };
            let due = Instant::now() + Duration::from_secs_f64(random.between(first_s, last_s));
            victims.push((due, format, place, process));
        }
    }
    victims.sort_by_key(|victim| victim.0);
    let Found { most_lost_s, examined } = found;
    for (due, format, place, (mut child, reports)) in victims {
        std::thread::sleep(due.saturating_duration_since(Instant::now()));
        child.kill().unwrap();
        child.wait().unwrap();
        let kept_s = last_kept_s(reports);
        if kept_s < 1.0 && !place.exists() && format == "parquet" {
            continue;
        }
        let log = match Log::read(&place) {
            Ok(log) => log,
            Err(error) if kept_s < 1.0 => {
                // Before the first flush there may be at most a file without messages or a folder without files.
                assert!(error.to_string().contains("holds nothing"), "{format}, {kept_s} s: {error}");
                continue;
            }
            Err(error) => panic!("{format}, killed after {kept_s} s: {error}"),
        };
        *examined.entry(format).or_default() += 1;
        let signals = log.signals.iter().map(|signal| (&signal.name, &signal.times_s, 0.02));
        let images = log.images.iter().map(|images| (&images.name, &images.times_s, 0.04));
        let mut channels = 0;
        for (name, times_s, every_s) in signals.chain(images) {
            channels += 1;
            for (i, time_s) in times_s.iter().enumerate() {
                assert!((time_s - i as f64 * every_s).abs() < 1e-9, "{format}: {name}: sample {i} is at {time_s} s");
            }
            let lost_s = kept_s - times_s.last().copied().unwrap_or(0.0);
            *most_lost_s = most_lost_s.max(lost_s);
            assert!(lost_s < 1.0, "{format}: {name}: killed after {kept_s} s, {lost_s} s are lost");
        }
        assert!(kept_s < 1.0 || channels >= 4, "{format}: killed after {kept_s} s, with {channels} channels");
        if format == "mcap" && kept_s > 1.0 {
            let sensor = sample(0.5, true);
            assert_eq!(log.signal("pad/taxels_n").unwrap().row(25), sensor.sensors[0].reading.values_newton);
        }
    }
}
