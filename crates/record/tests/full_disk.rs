//! A full disk, simulated by a limit on the size of files, ends an MCAP recording with a complete file.
#![cfg(unix)]

mod common;

use common::{layout, sample};
use dermis_record::mcap::McapLog;
use dermis_record::{Format, Log};
use std::path::Path;
use std::process::Command;

const PLACE: &str = "DERMIS_RECORD_FULL_PLACE";

/// The process with the limit; does nothing unless the other test starts it.
#[test]
fn writer() {
    let Ok(place) = std::env::var(PLACE) else { return };
    let mut recorder = Format::Mcap.record(Path::new(&place), &layout()).unwrap();
    let outcome = (0..20_000u32).try_for_each(|step| recorder.record(sample(f64::from(step) * 0.1, false)));
    let message = outcome.and_then(|()| recorder.finish().map(drop)).unwrap_err().to_string();
    println!("refused: {message}");
}

#[test]
fn a_full_disk_leaves_a_complete_mcap_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.mcap");
    // Blocks of 1024 bytes; the ignored signal turns the limit into an error of the write.
    let limited = "trap '' XFSZ; ulimit -f 300; exec \"$0\" --exact writer --nocapture --test-threads=1";
    let output = Command::new("bash")
        .args(["-c", limited])
        .arg(std::env::current_exe().unwrap())
        .env(PLACE, &path)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(said.contains("refused") && said.contains("all earlier samples are in the file"), "{said}");
    let file = McapLog::read(&path).unwrap();
    assert!(!file.cut && file.damaged.is_empty() && file.messages.len() > 100);
    let bytes = std::fs::read(&path).unwrap();
    assert!(bytes.ends_with(b"\x89MCAP0\r\n") && bytes.len() <= 300 * 1024);
    let times = &Log::read(&path).unwrap().signals[0].times_s;
    assert!(times.windows(2).all(|two| (two[1] - two[0] - 0.1).abs() < 1e-6));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}
