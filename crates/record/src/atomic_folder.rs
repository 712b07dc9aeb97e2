//! A folder in which files appear whole or not at all, however a program ends.
//!
//! A file is written beside its place under a name that nobody else uses, brought to the disk, and then renamed. What a killed program
//! leaves are parts, which [`AtomicFolder::sweep`] takes away.

use sha2::{Digest, Sha256};
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// How parts end.
const PART: &str = ".part";

/// Why a file is not on the atomic_folder.
#[derive(Debug, thiserror::Error)]
#[error("{}: cannot be {what}: {error}", path.display())]
pub struct AtomicFolderError {
    /// The file or folder.
    pub path: PathBuf,
    /// What was tried.
    pub what: &'static str,
    /// The system's reason.
    pub error: io::Error,
}

impl AtomicFolderError {
    /// Whether there is no room: a full disk, a used-up quota, or a limit on the size of files.
    pub fn is_full(&self) -> bool {
        use io::ErrorKind::{FileTooLarge, QuotaExceeded, StorageFull};
        matches!(self.error.kind(), StorageFull | QuotaExceeded | FileTooLarge)
    }
}

/// A file that was put on the atomic_folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placed {
    /// Its name in the folder, with `/` between folders.
    pub name: String,
    /// Its bytes.
    pub bytes: u64,
    /// SHA-256 of its content, in hexadecimal digits.
    pub sha256: String,
}

/// A folder.
#[derive(Clone, Debug)]
pub struct AtomicFolder {
    folder: PathBuf,
}

/// Parts of this program that are being written: each has a name of its own.
static PARTS: AtomicU64 = AtomicU64::new(0);

impl AtomicFolder {
    /// A folder, made if it is not there.
    pub fn open(folder: &Path) -> Result<Self, AtomicFolderError> {
        fs::create_dir_all(folder).map_err(refused(folder, "made"))?;
        Ok(Self { folder: folder.to_owned() })
    }

    /// Where it is.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The path of a name.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// The content of a file, if it is there.
    pub fn read(&self, name: &str) -> Result<Option<Vec<u8>>, AtomicFolderError> {
        let path = self.path(name);
        match fs::read(&path) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(refused(&path, "read")(error)),
        }
    }

    /// Whether a file is there with as many bytes.
    pub fn holds(&self, name: &str, bytes: u64) -> bool {
        fs::metadata(self.path(name)).is_ok_and(|about| about.is_file() && about.len() == bytes)
    }

    /// Puts a file in its place, whole and on the disk; what was there before is replaced.
    pub fn place(&self, name: &str, bytes: &[u8]) -> Result<Placed, AtomicFolderError> {
        self.place_with(name, |file| file.write_all(bytes))
    }

    /// Puts a file in its place that is written bit by bit: one that need not fit into memory.
    pub fn place_with(
        &self,
        name: &str,
        write: impl FnOnce(&mut BufWriter<Hashing<File>>) -> io::Result<()>,
    ) -> Result<Placed, AtomicFolderError> {
        let path = self.path(name);
        let parent = path.parent().unwrap_or(&self.folder);
        fs::create_dir_all(parent).map_err(refused(parent, "made"))?;
        let number = PARTS.fetch_add(1, Ordering::Relaxed);
        let file_name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let part = parent.join(format!(".{file_name}.{}-{}-{number}{PART}", machine(), std::process::id()));
        let written = File::create(&part).and_then(|file| {
            let mut file = BufWriter::with_capacity(1 << 20, Hashing { to: file, bytes: 0, hash: Sha256::new() });
            write(&mut file)?;
            let file = file.into_inner().map_err(io::IntoInnerError::into_error)?;
            file.to.sync_all()?;
            fs::rename(&part, &path)?;
            Ok((file.bytes, hexadecimal(&file.hash.finalize())))
        });
        let (bytes, sha256) = written.map_err(|error| {
            // The first error is the one that matters.
            let _ = fs::remove_file(&part);
            refused(&path, "written")(error)
        })?;
        // The renaming itself, so that a record of this file never reaches the disk before the file does.
        if let Ok(folder) = File::open(parent) {
            let _ = folder.sync_all();
        }
        Ok(Placed { name: name.to_owned(), bytes, sha256 })
    }

    /// Takes away what programs that were killed have left.
    pub fn sweep(&self) -> Result<(), AtomicFolderError> {
        sweep(&self.folder)
    }
}

fn sweep(folder: &Path) -> Result<(), AtomicFolderError> {
    for entry in fs::read_dir(folder).map_err(refused(folder, "read"))?.flatten() {
        let path = entry.path();
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            sweep(&path)?;
        } else if name.starts_with('.') && name.ends_with(PART) {
            match fs::remove_file(&path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(refused(&path, "removed")(error)),
                _ => {}
            }
        }
    }
    Ok(())
}

/// Programs on different machines may have the same number; where the system does not say, they are told apart by chance.
fn machine() -> String {
    let name = fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let plain: String = name.trim().chars().filter(char::is_ascii_alphanumeric).take(32).collect();
    if plain.is_empty() { "host".to_owned() } else { plain }
}

fn refused(path: &Path, what: &'static str) -> impl FnOnce(io::Error) -> AtomicFolderError {
    let path = path.to_owned();
    move |error| AtomicFolderError { path, what, error }
}

/// A writer that hashes what goes through it.
pub struct Hashing<W> {
    to: W,
    bytes: u64,
    hash: Sha256,
}

impl<W: Write> Write for Hashing<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.to.write(bytes)?;
        self.hash.update(&bytes[..count]);
        self.bytes += count as u64;
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}

/// SHA-256 in hexadecimal digits.
pub fn sha256(bytes: &[u8]) -> String {
    hexadecimal(&Sha256::digest(bytes))
}

/// SHA-256 of a file, which need not fit into memory.
pub fn sha256_of(path: &Path) -> io::Result<String> {
    let mut hash = Sha256::new();
    io::copy(&mut File::open(path)?, &mut hash)?;
    Ok(hexadecimal(&hash.finalize()))
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_placed_whole_with_their_hash() {
        let folder = tempfile::tempdir().unwrap();
        let atomic_folder = AtomicFolder::open(&folder.path().join("set")).unwrap();
        let placed = atomic_folder.place("a/b.txt", b"abc").unwrap();
        // The first test vector of FIPS 180-2.
        assert_eq!(placed.sha256, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        assert!(
            atomic_folder.holds("a/b.txt", 3) && !atomic_folder.holds("a/b.txt", 4) && !atomic_folder.holds("a", 3)
        );
        assert_eq!(sha256_of(&atomic_folder.path("a/b.txt")).unwrap(), placed.sha256);
        assert_eq!(atomic_folder.read("a/b.txt").unwrap().unwrap(), b"abc");
        assert_eq!(atomic_folder.read("none").unwrap(), None);
        assert_eq!(fs::read_dir(folder.path().join("set/a")).unwrap().count(), 1);
    }

    #[test]
    fn what_a_killed_program_left_is_swept_away_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let atomic_folder = AtomicFolder::open(folder.path()).unwrap();
        atomic_folder.place("a/b.part", b"").unwrap();
        fs::write(folder.path().join("a/.c.host-1-2.part"), b"half").unwrap();
        atomic_folder.sweep().unwrap();
        let left: Vec<_> = fs::read_dir(folder.path().join("a")).unwrap().flatten().map(|e| e.file_name()).collect();
        assert_eq!(left, ["b.part"]);
    }

    #[test]
    fn a_place_that_cannot_be_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let atomic_folder = AtomicFolder::open(folder.path()).unwrap();
        atomic_folder.place("a", b"").unwrap();
        let message = atomic_folder.place("a/b", b"").unwrap_err().to_string();
        assert!(message.contains("/a") && message.contains("cannot be"), "{message}");
    }
}
