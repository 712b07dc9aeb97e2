//! Errors of recordings.

use crate::table::TableError;
use std::path::Path;

/// Error when writing or reading a recording; each names the file, the problem and the remedy.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the message of each variant names its fields")]
pub enum RecordError {
    /// The operating system refused to write.
    #[error("{path}: cannot be written: {reason}")]
    Write { path: String, reason: String },
    /// The operating system refused to read.
    #[error("{path}: cannot be read: {reason}")]
    Read { path: String, reason: String },
    /// A file is where a folder must be.
    #[error("{path}: is a file; name a folder")]
    IsFile { path: String },
    /// A file of that name exists.
    #[error("{path}: the file exists; name another one, or replace it with `--overwrite` (Python: `overwrite=True`)")]
    Exists { path: String },
    /// Another process writes to the same place.
    #[error("{path}: another program is writing to it; name another file or folder")]
    InUse { path: String },
    /// A folder that must be empty holds files.
    #[error("{path}: the folder is not empty; name a new one or clear it first, so that no two recordings mix")]
    NotEmpty { path: String },
    /// The parts of a killed run exist.
    #[error(
        "{parts}: holds what an interrupted run has left; save it with `dermis export {parts} FILE`, then remove it"
    )]
    LeftOver { parts: String },
    /// The extension selects no format.
    #[error("{path}: no format goes with this name; end it in {known}, or give `--format` (Python: `format=`)")]
    UnknownFormat { path: String, known: &'static str },
    /// The name does not fit the format.
    #[error("{path}: a recording as {format} is {wanted}")]
    WrongName { path: String, format: &'static str, wanted: &'static str },
    /// The content does not fit the format.
    #[error("{path}: is no {what}: {reason}")]
    Damaged { path: String, what: &'static str, reason: String },
    /// The file ends before its first message.
    #[error("{path}: is truncated: its {bytes} bytes end before the first message")]
    Truncated { path: String, bytes: usize },
    /// The recording has no content for the task.
    #[error("{path}: holds nothing to {task}; there are {found}")]
    Nothing { path: String, task: &'static str, found: String },
    /// A table could not be built.
    #[error("{path}: {error}")]
    Table { path: String, error: TableError },
    /// The recording is not where it was written.
    #[error("{path}: was removed or replaced by another program during the run; the recording is lost")]
    Lost { path: String },
    /// The writer thread has ended.
    #[error("the recording stopped: its thread has ended")]
    Stopped,
}

impl RecordError {
    /// Converts an operating-system error while writing.
    pub(crate) fn write(path: &Path, error: &std::io::Error) -> Self {
        Self::Write { path: path.display().to_string(), reason: error.to_string() }
    }

    /// Converts an operating-system error while reading.
    pub(crate) fn read(path: &Path, error: &std::io::Error) -> Self {
        Self::Read { path: path.display().to_string(), reason: error.to_string() }
    }

    pub(crate) fn table(path: &Path, error: TableError) -> Self {
        Self::Table { path: path.display().to_string(), error }
    }
}
