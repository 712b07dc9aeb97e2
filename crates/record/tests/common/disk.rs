//! Disks that are full or read-only: file systems in memory, which only the administrator can mount.

use super::{FORMATS, layout, sample};
use dermis_record::{Format, Log};
use std::path::Path;
use std::process::Command;
use tempfile::TempDir;

/// A mounted file system, unmounted at the end.
struct Disk(TempDir);

impl Disk {
    /// Mounts a file system of `size`, such as `1m`; `None` without the rights to do so.
    fn mount(size: &str) -> Option<Self> {
        let disk = Self(tempfile::tempdir().unwrap());
        disk.run("mount", &["-t", "tmpfs", "-o", &format!("size={size}"), "dermis"]).then_some(disk)
    }

    fn run(&self, program: &str, arguments: &[&str]) -> bool {
        Command::new(program).args(arguments).arg(self.0.path()).status().is_ok_and(|status| status.success())
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        self.run("umount", &[]);
    }
}

/// Records until an error, which must be one line; returns it.
fn refusal(format: Format, place: &Path) -> String {
    let message = format
        .record(place, &layout())
        .and_then(|mut recorder| {
            (0..20_000u32).try_for_each(|step| recorder.record(sample(f64::from(step) * 0.1, true)))?;
            recorder.finish()
        })
        .unwrap_err()
        .to_string();
    assert_eq!(message.lines().count(), 1, "{message}");
    message
}

/// Records in every format on a full and on a read-only disk; returns a table, or a sentence without the rights to mount.
pub fn table() -> String {
    let mut text = "\n| format | samples read from a full disk of 1 MiB | said there | said on a read-only disk |\n|---|---|---|---|\n".to_owned();
    for (name, format, file) in FORMATS {
        let Some(disk) = Disk::mount("1m") else {
            return "\nFull and read-only disks were not tested: mounting needs the administrator.\n".to_owned();
        };
        let (folder, path) = (disk.0.path(), disk.0.path().join(file));
        let full = refusal(format, &path);
        assert!(full.contains(file), "{name}: {full}");
        let log = Log::read(&path).unwrap_or_else(|error| panic!("{name}: {error}"));
        let times_s =
            log.signals.iter().map(|signal| &signal.times_s).chain(log.images.iter().map(|images| &images.times_s));
        let times_s: Vec<&Vec<f64>> = times_s.collect();
        let steady = |times_s: &&Vec<f64>| times_s.windows(2).all(|two| (two[1] - two[0] - 0.1).abs() < 1e-6);
        assert!(times_s.iter().all(steady), "{name}: samples are missing");
        let samples = times_s.iter().map(|times_s| times_s.len()).min().unwrap_or(0);
        assert!(samples > 10, "{name}: {samples} samples");
        // An existing file is replaced as a whole or not at all.
        let other = folder.join("old");
        assert!(dermis_files::write(&other, &[1; 1 << 20]).is_err() && !other.exists(), "{name}");
        let disk = Disk::mount("1m").unwrap();
        let path = disk.0.path().join(file);
        assert!(disk.run("mount", &["-o", "remount,ro"]));
        let closed = refusal(format, &path);
        assert!(closed.contains("cannot be written"), "{name}: {closed}");
        let said = |message: &str, folder: &Path| message.replace(&folder.display().to_string(), "DISK");
        let (full, closed) = (said(&full, folder), said(&closed, disk.0.path()));
        text += &format!("| {name} | {samples} | {full} | {closed} |\n");
    }
    text
}
