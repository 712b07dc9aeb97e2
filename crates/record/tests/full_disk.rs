//! A full disk, simulated by a limit on the size of files, and a folder that cannot be written: every format ends with one
//! sentence, and what it has left is readable.
#![cfg(unix)]

mod common;

use common::{FORMATS, layout, sample};
use dermis_record::mcap::McapLog;
use dermis_record::{Format, Log};
use std::path::Path;
use std::process::Command;

const PLACE: &str = "DERMIS_RECORD_FULL_PLACE";
const FORMAT: &str = "DERMIS_RECORD_FULL_FORMAT";

/// The process with the limit; does nothing unless the other test starts it.
#[test]
fn writer() {
    let Ok(place) = std::env::var(PLACE) else { return };
    let name = std::env::var(FORMAT).unwrap_or("mcap".into());
    let format = FORMATS.into_iter().find(|(known, ..)| *known == name).map_or(Format::Mcap, |(_, format, _)| format);
    let mut recorder = format.record(Path::new(&place), &layout()).unwrap();
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

/// Images are small files, and such a disk never fills up: the four formats with growing files.
#[test]
fn a_full_disk_leaves_readable_files_of_every_format() {
    for (name, _, file) in FORMATS.into_iter().filter(|(name, ..)| *name != "png") {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(file);
        let limited = "trap '' XFSZ; ulimit -f 100; exec \"$0\" --exact writer --nocapture --test-threads=1";
        let output = Command::new("bash")
            .args(["-c", limited])
            .arg(std::env::current_exe().unwrap())
            .env(PLACE, &path)
            .env(FORMAT, name)
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && said.contains("refused") && said.contains(file), "{name}: {said}");
        let log = Log::read(&path).unwrap_or_else(|error| panic!("{name}: {error}"));
        let times = &log.signals[0].times_s;
        assert!(times.len() > 20 && times.windows(2).all(|two| (two[1] - two[0] - 0.1).abs() < 1e-6), "{name}");
    }
}

#[test]
fn a_folder_that_cannot_be_written_is_refused_by_name() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let closed = folder.path().join("closed");
    std::fs::create_dir(&closed).unwrap();
    std::fs::set_permissions(&closed, PermissionsExt::from_mode(0o555)).unwrap();
    // The administrator may write everywhere: below a file, nobody can.
    let (place, reason) = match std::fs::write(closed.join("probe"), "") {
        Ok(()) => (closed.join("probe"), "is a file; name a folder"),
        Err(_) => (closed.clone(), "cannot be written"),
    };
    for (name, format, file) in FORMATS {
        let outcome = format.record(&place.join(file), &layout()).and_then(|mut recorder| {
            recorder.record(sample(0.0, true))?;
            recorder.finish()
        });
        let message = outcome.unwrap_err().to_string();
        assert!(message.contains("closed") && message.contains(reason), "{name}: {message}");
    }
    std::fs::set_permissions(&closed, PermissionsExt::from_mode(0o755)).unwrap();
    assert!(std::fs::read_dir(&closed).unwrap().count() <= 1);
}
