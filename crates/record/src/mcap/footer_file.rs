//! A growing file that always ends in a valid footer.

use crate::RecordError;
use crate::atomic_file::AtomicFile;
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
    footer: Vec<u8>,
    len: u64,
}

impl FooterFile {
    /// Holds the first data in memory; does not write to the disk yet.
    pub fn new(path: &Path, head: Vec<u8>) -> Self {
        let len = head.len() as u64;
        Self { path: path.to_owned(), file: None, head, footer: Vec::new(), len }
    }

    /// The path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Length of the data (bytes), without the footer.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Creates the file with its first footer and locks it; an existing file of that name is an error.
    pub fn place(&mut self, footer: &[u8]) -> Result<(), RecordError> {
        let create = || -> std::io::Result<File> {
            let mut file = AtomicFile::create(&self.path)?;
            file.write_all(&self.head)?;
            file.write_all(footer)?;
            file.persist_new()
        };
        let file = create().map_err(|error| match error.kind() {
            std::io::ErrorKind::AlreadyExists => RecordError::Exists { path: self.path.display().to_string() },
            _ => RecordError::write(&self.path, &error),
        })?;
        (self.file, self.head, self.footer) = (Some(file), Vec::new(), footer.to_vec());
        Ok(())
    }

    /// Appends data and writes the new footer. If the disk is full, restores the old footer, which fits in the place
    /// that it had, so that the file remains complete without the new data.
    pub fn append(&mut self, data: &[u8], footer: &[u8]) -> Result<(), RecordError> {
        let Some(file) = &mut self.file else { return Err(RecordError::Stopped) };
        let start = self.len;
        let mut put = |bytes: &[u8]| file.seek(SeekFrom::Start(start)).and_then(|_| file.write_all(bytes));
        if let Err(error) = put(&[data, footer].concat()) {
            let restored = put(&self.footer).and_then(|()| file.set_len(start + self.footer.len() as u64));
            let hint = if restored.is_ok() {
                "; all earlier samples are in the file"
            } else {
                "; its index is damaged: repair it with `dermis export`"
            };
            let reason = format!("{error}{hint}");
            return Err(RecordError::Write { path: self.path.display().to_string(), reason });
        }
        self.len += data.len() as u64;
        self.footer = footer.to_vec();
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
