//! A place into which one process writes at a time.

use crate::PART;
use std::fs::{File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

/// The right of a process to write files of one name, or into one folder, until it is dropped.
///
/// It is a lock on a hidden file. The system releases the lock when a process ends, however it ends: a file that a killed process has left
/// stops nobody. On a file system without locks every process is admitted.
#[derive(Debug)]
pub struct Claim {
    path: PathBuf,
    file: Option<File>,
}

/// Error of [`Claim::new`].
#[derive(Debug)]
pub enum ClaimError {
    /// Another process has the claim.
    InUse,
    /// The operating system refused to create the file.
    Io(io::Error),
}

impl Claim {
    /// Claims a name inside a folder, which must exist.
    pub fn new(folder: &Path, name: &str) -> Result<Self, ClaimError> {
        let path = folder.join(format!(".{name}{PART}"));
        loop {
            let file = File::options().create(true).truncate(false).write(true).open(&path).map_err(ClaimError::Io)?;
            match file.try_lock() {
                Err(TryLockError::WouldBlock) => return Err(ClaimError::InUse),
                // Otherwise the former owner has removed the file in between.
                Ok(()) if !is_at(&file, &path) => continue,
                Ok(()) | Err(TryLockError::Error(_)) => return Ok(Self { path, file: Some(file) }),
            }
        }
    }

    /// Whether a file of a folder belongs to a claim of this name.
    pub fn is_file_of(name: &str, file: &str) -> bool {
        file == format!(".{name}{PART}")
    }
}

#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let place = |about: std::fs::Metadata| (about.dev(), about.ino());
    matches!((file.metadata().map(place), path.metadata().map(place)), (Ok(open), Ok(there)) if open == there)
}

/// An open file cannot be removed on such systems.
#[cfg(not(unix))]
fn is_at(_: &File, _: &Path) -> bool {
    true
}

impl Drop for Claim {
    fn drop(&mut self) {
        if cfg!(not(unix)) {
            self.file = None;
        }
        // Before the lock is released, so that nobody else has the file.
        let _ = std::fs::remove_file(&self.path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_process_has_a_name_until_it_is_dropped() {
        let folder = tempfile::tempdir().unwrap();
        let claim = Claim::new(folder.path(), "a").unwrap();
        assert!(matches!(Claim::new(folder.path(), "a"), Err(ClaimError::InUse)));
        drop(Claim::new(folder.path(), "b").unwrap());
        drop(claim);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
        drop(Claim::new(folder.path(), "a").unwrap());
        assert!(matches!(Claim::new(&folder.path().join("missing"), "a"), Err(ClaimError::Io(_))));
    }

    #[test]
    fn the_file_of_a_killed_process_stops_nobody() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join(".a.part"), "").unwrap();
        let claim = Claim::new(folder.path(), "a").unwrap();
        assert!(Claim::is_file_of("a", ".a.part") && matches!(Claim::new(folder.path(), "a"), Err(ClaimError::InUse)));
        // What is swept away is what nobody holds.
        crate::sweep(folder.path()).unwrap();
        assert!(matches!(Claim::new(folder.path(), "a"), Err(ClaimError::InUse)));
        drop(claim);
    }

    /// Each of many threads that claim one name again and again is alone while it has it.
    #[test]
    fn two_never_have_one_name_while_files_come_and_go() {
        use std::sync::atomic::{AtomicUsize, Ordering};
        let folder = tempfile::tempdir().unwrap();
        let (inside, claimed) = (AtomicUsize::new(0), AtomicUsize::new(0));
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..500 {
                        if let Ok(claim) = Claim::new(folder.path(), "a") {
                            assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0);
                            claimed.fetch_add(1, Ordering::SeqCst);
                            inside.fetch_sub(1, Ordering::SeqCst);
                            drop(claim);
                        }
                    }
                });
            }
        });
        assert!(claimed.load(Ordering::SeqCst) > 0);
    }
}
