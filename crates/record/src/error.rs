//! Errors of recordings.

use crate::table::TableError;
use std::path::Path;

/// Why a recording cannot be written or read; each names the file, the problem and the remedy.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// The system refused to write.
    #[error("{path}: cannot be written: {reason}")]
    Write {
        /// The file or folder.
        path: String,
        /// The system's reason.
        reason: String,
    },
    /// The system refused to read.
    #[error("{path}: cannot be read: {reason}")]
    Read {
        /// The file or folder.
        path: String,
        /// The system's reason.
        reason: String,
    },
    /// A folder that should be new holds files.
    #[error("{path}: the folder is not empty; name a new one or clear it first, so that no two recordings mix")]
    NotEmpty {
        /// The folder.
        path: String,
    },
    /// A killed run has left its parts.
    #[error(
        "{parts}: holds what an interrupted run has left; save it with `dermis export {parts} FILE`, then remove it"
    )]
    LeftOver {
        /// The folder of parts.
        parts: String,
    },
    /// The extension selects no format.
    #[error("{path}: no format goes with this name; end it in {known}, or give `--format`")]
    UnknownFormat {
        /// The file.
        path: String,
        /// The known extensions.
        known: &'static str,
    },
    /// The name does not fit the format.
    #[error("{path}: a recording as {format} is {wanted}")]
    WrongName {
        /// The file.
        path: String,
        /// The format.
        format: &'static str,
        /// The rule for its name.
        wanted: &'static str,
    },
    /// The content does not fit the format.
    #[error("{path}: is no {what}: {reason}")]
    Damaged {
        /// The file.
        path: String,
        /// What it should be.
        what: &'static str,
        /// Where it fails.
        reason: String,
    },
    /// The recording holds nothing for the task.
    #[error("{path}: holds nothing to {task}; there are {found}")]
    Nothing {
        /// The file.
        path: String,
        /// The task.
        task: &'static str,
        /// The content.
        found: String,
    },
    /// A table could not be made.
    #[error("{path}: {error}")]
    Table {
        /// The file.
        path: String,
        /// Why.
        error: TableError,
    },
    /// The writer thread has ended.
    #[error("the recording stopped: its thread has ended")]
    Stopped,
}

impl RecordError {
    /// An error of the system while writing.
    pub(crate) fn write(path: &Path, error: &std::io::Error) -> Self {
        Self::Write { path: path.display().to_string(), reason: error.to_string() }
    }

    /// An error of the system while reading.
    pub(crate) fn read(path: &Path, error: &std::io::Error) -> Self {
        Self::Read { path: path.display().to_string(), reason: error.to_string() }
    }

    pub(crate) fn table(path: &Path, error: TableError) -> Self {
        Self::Table { path: path.display().to_string(), error }
    }
}
