//! Why nothing could be kept or read.

use crate::table::TableError;
use std::path::Path;

/// One sentence each: which file, what is wrong, what to do.
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
    /// A run that was killed has left its parts.
    #[error(
        "{parts}: holds what an interrupted run has left; save it with `dermis export {parts} FILE`, then remove it"
    )]
    LeftOver {
        /// The folder of parts.
        parts: String,
    },
    /// The name says no format.
    #[error("{path}: no format goes with this name; end it in {known}, or give `--format`")]
    UnknownFormat {
        /// The file.
        path: String,
        /// What there is.
        known: &'static str,
    },
    /// The name and the format do not go together.
    #[error("{path}: a recording as {format} is {wanted}")]
    WrongName {
        /// The file.
        path: String,
        /// The format.
        format: &'static str,
        /// What it should be called.
        wanted: &'static str,
    },
    /// The file is not what it is called.
    #[error("{path}: is no {what}: {reason}")]
    Damaged {
        /// The file.
        path: String,
        /// What it should be.
        what: &'static str,
        /// Where it fails.
        reason: String,
    },
    /// Nothing in it can be used here.
    #[error("{path}: holds nothing to {task}; there are {found}")]
    Nothing {
        /// The file.
        path: String,
        /// What was to be done with it.
        task: &'static str,
        /// What is there.
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
    /// The thread that writes has ended without a word.
    #[error("the recording stopped: its thread has ended")]
    Stopped,
}

impl RecordError {
    /// What the system said while writing.
    pub(crate) fn write(path: &Path, error: &std::io::Error) -> Self {
        Self::Write { path: path.display().to_string(), reason: error.to_string() }
    }

    /// What the system said while reading.
    pub(crate) fn read(path: &Path, error: &std::io::Error) -> Self {
        Self::Read { path: path.display().to_string(), reason: error.to_string() }
    }

    pub(crate) fn table(path: &Path, error: TableError) -> Self {
        Self::Table { path: path.display().to_string(), error }
    }
}
