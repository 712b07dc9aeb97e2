//! A folder whose files are always complete, even if the process is killed.
//!
//! Each file is an [`AtomicFile`], synced to the disk before it is renamed. [`AtomicFolder::sweep`] removes the
//! incomplete files of killed processes.

use crate::atomic_file::{self, AtomicFile};
use dermis_geometry::limits::MAX_RECORDING_BYTES;
use dermis_geometry::regular_file;
use sha2::{Digest, Sha256};
use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// Error when creating, reading, writing or removing a file of the folder.
#[derive(Debug, thiserror::Error)]
#[error("{}: cannot be {what}: {error}", path.display())]
pub struct AtomicFolderError {
    /// The file or folder.
    pub path: PathBuf,
    /// The failed operation: made, read, written or cleared.
    pub what: &'static str,
    /// The error of the operating system.
    pub error: io::Error,
}

impl AtomicFolderError {
    /// Whether the disk or quota is full, or the file exceeds the file size limit.
    pub fn is_full(&self) -> bool {
        use io::ErrorKind::{FileTooLarge, QuotaExceeded, StorageFull};
        matches!(self.error.kind(), StorageFull | QuotaExceeded | FileTooLarge)
    }
}

/// A file that was written into the folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placed {
    /// Name in the folder, with `/` between folders.
    pub name: String,
    /// Length of the file (bytes).
    pub bytes: u64,
    /// SHA-256 of the content, in hexadecimal digits.
    pub sha256: String,
}

/// A folder of atomic files.
#[derive(Clone, Debug)]
pub struct AtomicFolder {
    folder: PathBuf,
}

impl AtomicFolder {
    /// Opens a folder and creates it if it does not exist.
    pub fn open(folder: &Path) -> Result<Self, AtomicFolderError> {
        fs::create_dir_all(folder).map_err(|error| match atomic_file::file_in_the_way(folder) {
            Some(file) => {
                let error = io::Error::new(io::ErrorKind::NotADirectory, "it is a file; name a folder");
                AtomicFolderError { path: file.to_owned(), what: "made", error }
            }
            None => refused(folder, "made")(error),
        })?;
        Ok(Self { folder: folder.to_owned() })
    }

    /// Path of the folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Path of a file.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// The content of a file, or `None` if it does not exist.
    pub fn read(&self, name: &str) -> Result<Option<Vec<u8>>, AtomicFolderError> {
        let path = self.path(name);
        match regular_file::read(&path, MAX_RECORDING_BYTES) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(refused(&path, "read")(error)),
        }
    }

    /// Whether a file of this length (bytes) exists.
    pub fn holds(&self, name: &str, bytes: u64) -> bool {
        fs::metadata(self.path(name)).is_ok_and(|about| about.is_file() && about.len() == bytes)
    }

    /// Writes a complete file and syncs it to the disk; replaces a file of that name.
    pub fn place(&self, name: &str, bytes: &[u8]) -> Result<Placed, AtomicFolderError> {
        self.place_with(name, |file| file.write_all(bytes))
    }

    /// As [`AtomicFolder::place`], if no file of that name exists: of several processes, one succeeds.
    pub fn place_new(&self, name: &str, bytes: &[u8]) -> Result<bool, AtomicFolderError> {
        let path = self.path(name);
        let parent = path.parent().unwrap_or(&self.folder);
        fs::create_dir_all(parent).map_err(refused(parent, "made"))?;
        let written = AtomicFile::create(&path).and_then(|mut file| {
            file.write_all(bytes)?;
            file.persist_new()
        });
        match written {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
            written => written.map(|_| true).map_err(refused(&path, "written")),
        }
    }

    /// As [`AtomicFolder::place`], with a function that writes the content in pieces, for files larger than memory.
    pub fn place_with(
        &self,
        name: &str,
        write: impl FnOnce(&mut BufWriter<Hashing<AtomicFile>>) -> io::Result<()>,
    ) -> Result<Placed, AtomicFolderError> {
        let path = self.path(name);
        let parent = path.parent().unwrap_or(&self.folder);
        fs::create_dir_all(parent).map_err(refused(parent, "made"))?;
        let written = AtomicFile::create(&path).and_then(|file| {
            let mut file = BufWriter::with_capacity(1 << 20, Hashing { to: file, bytes: 0, hash: Sha256::new() });
            write(&mut file)?;
            let file = file.into_inner().map_err(io::IntoInnerError::into_error)?;
            file.to.persist()?;
            Ok((file.bytes, hexadecimal(&file.hash.finalize())))
        });
        let (bytes, sha256) = written.map_err(refused(&path, "written"))?;
        Ok(Placed { name: name.to_owned(), bytes, sha256 })
    }

    /// Removes the incomplete files of killed processes.
    pub fn sweep(&self) -> Result<(), AtomicFolderError> {
        sweep(&self.folder)
    }
}

fn sweep(folder: &Path) -> Result<(), AtomicFolderError> {
    atomic_file::sweep(folder).map_err(refused(folder, "cleared"))?;
    for entry in fs::read_dir(folder).map_err(refused(folder, "read"))?.flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            sweep(&entry.path())?;
        }
    }
    Ok(())
}

fn refused(path: &Path, what: &'static str) -> impl FnOnce(io::Error) -> AtomicFolderError {
    let path = path.to_owned();
    move |error| AtomicFolderError { path, what, error }
}

/// A writer that hashes the bytes written through it.
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

/// SHA-256 of a file, in hexadecimal digits; the file need not fit into memory.
pub fn sha256_of(path: &Path) -> io::Result<String> {
    let mut hash = Sha256::new();
    io::copy(&mut regular_file::open(path, u64::MAX)?, &mut hash)?;
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
        let files = AtomicFolder::open(&folder.path().join("set")).unwrap();
        let placed = files.place("a/b.txt", b"abc").unwrap();
        // The first test vector of FIPS 180-2.
        assert_eq!(placed.sha256, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        assert!(files.holds("a/b.txt", 3) && !files.holds("a/b.txt", 4) && !files.holds("a", 3));
        assert_eq!(sha256_of(&files.path("a/b.txt")).unwrap(), placed.sha256);
        assert_eq!(files.read("a/b.txt").unwrap().unwrap(), b"abc");
        assert_eq!(files.read("none").unwrap(), None);
        assert_eq!(fs::read_dir(folder.path().join("set/a")).unwrap().count(), 1);
    }

    #[test]
    fn a_place_that_cannot_be_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let files = AtomicFolder::open(folder.path()).unwrap();
        files.place("a", b"").unwrap();
        let message = files.place("a/b", b"").unwrap_err().to_string();
        assert!(message.contains("/a") && message.contains("cannot be"), "{message}");
    }
}
