//! A file that is whole whenever it is looked at.

use crate::RecordError;
use std::fs::File;
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// A file of data that grow and an end that follows them: the next data go over the old end, and a new end behind them, in one write.
///
/// It appears under its name only when it has its first end. A write that is cut by the death of the process leaves all data before it.
pub struct WholeFile {
    path: PathBuf,
    file: Option<File>,
    head: Vec<u8>,
    len: u64,
}

impl WholeFile {
    /// With its first data; nothing is on the disk yet.
    pub fn new(path: &Path, head: Vec<u8>) -> Self {
        let len = head.len() as u64;
        Self { path: path.to_owned(), file: None, head, len }
    }

    /// Where the data end.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Puts the file in its place, with its first end.
    pub fn place(&mut self, end: &[u8]) -> Result<(), RecordError> {
        let bytes = [std::mem::take(&mut self.head).as_slice(), end].concat();
        self.file = Some(placed(&self.path, &bytes)?);
        Ok(())
    }

    /// Adds data and the end that follows them.
    pub fn append(&mut self, data: &[u8], end: &[u8]) -> Result<(), RecordError> {
        let told = |error: std::io::Error| RecordError::write(&self.path, &error);
        let Some(file) = &mut self.file else { return Err(RecordError::Stopped) };
        file.seek(SeekFrom::Start(self.len)).map_err(told)?;
        file.write_all(&[data, end].concat()).map_err(told)?;
        self.len += data.len() as u64;
        Ok(())
    }

    /// Waits until it is on the disk and returns its place.
    pub fn finish(self) -> Result<PathBuf, RecordError> {
        if let Some(file) = &self.file {
            file.sync_data().map_err(|error| RecordError::write(&self.path, &error))?;
        }
        Ok(self.path)
    }
}

/// Writes a file beside its place and renames it: it is there with all of these bytes or not at all.
pub fn placed(path: &Path, bytes: &[u8]) -> Result<File, RecordError> {
    let partial = partial(path);
    let write = || -> std::io::Result<File> {
        let mut file = File::create(&partial)?;
        file.write_all(bytes)?;
        std::fs::rename(&partial, path)?;
        Ok(file)
    };
    write().map_err(|error| {
        let _ = std::fs::remove_file(&partial);
        RecordError::write(path, &error)
    })
}

/// What a file is called before it is whole.
pub fn partial(path: &Path) -> PathBuf {
    let mut hidden = std::ffi::OsString::from(".");
    hidden.push(path.file_name().unwrap_or_default());
    hidden.push(".partial");
    path.with_file_name(hidden)
}
