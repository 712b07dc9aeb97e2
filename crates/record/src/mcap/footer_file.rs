//! A growing file that always ends in a valid footer.

use crate::{RecordError, atomic_file};
use std::fs::File;
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// A file of growing data followed by a footer. Appending overwrites the old footer with the data and a new footer, in
/// one write.
///
/// The file appears under its path together with its first footer. If the process is killed during a write, all earlier
/// data are preserved.
pub struct FooterFile {
    path: PathBuf,
    file: Option<File>,
    head: Vec<u8>,
    len: u64,
}

impl FooterFile {
    /// Holds the first data in memory; does not write to the disk yet.
    pub fn new(path: &Path, head: Vec<u8>) -> Self {
        let len = head.len() as u64;
        Self { path: path.to_owned(), file: None, head, len }
    }

    /// Length of the data (bytes), without the footer.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Creates the file with its first footer.
    pub fn place(&mut self, footer: &[u8]) -> Result<(), RecordError> {
        let bytes = [std::mem::take(&mut self.head).as_slice(), footer].concat();
        self.file =
            Some(atomic_file::write(&self.path, &bytes).map_err(|error| RecordError::write(&self.path, &error))?);
        Ok(())
    }

    /// Appends data and writes the new footer.
    pub fn append(&mut self, data: &[u8], footer: &[u8]) -> Result<(), RecordError> {
        let failed = |error: std::io::Error| RecordError::write(&self.path, &error);
        let Some(file) = &mut self.file else { return Err(RecordError::Stopped) };
        file.seek(SeekFrom::Start(self.len)).map_err(failed)?;
        file.write_all(&[data, footer].concat()).map_err(failed)?;
        self.len += data.len() as u64;
        Ok(())
    }

    /// Syncs the file to the disk and returns its path.
    pub fn finish(self) -> Result<PathBuf, RecordError> {
        if let Some(file) = &self.file {
            file.sync_data().map_err(|error| RecordError::write(&self.path, &error))?;
        }
        Ok(self.path)
    }
}
