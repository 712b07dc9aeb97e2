//! Reads text files for the Python modules, as all readers do: regular files up to a limit.

use crate::error::Error;
use dermis::geometry::limits::{MAX_DESCRIPTION_BYTES, MAX_TABLE_BYTES};
use dermis::geometry::regular_file;
use pyo3::prelude::*;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

fn read(path: &Path, max_bytes: u64) -> PyResult<String> {
    regular_file::read_text(path, max_bytes).map_err(|error| match error.kind() {
        ErrorKind::Unsupported | ErrorKind::FileTooLarge | ErrorKind::InvalidData => {
            Error::new_err(format!("{}: cannot be read: {error}", path.display()))
        }
        kind => std::io::Error::new(kind, format!("{}: {error}", path.display())).into(),
    })
}

/// The text of a description.
#[pyfunction]
pub fn read_description(path: PathBuf) -> PyResult<String> {
    read(&path, MAX_DESCRIPTION_BYTES)
}

/// The text of a table of numbers.
#[pyfunction]
pub fn read_table(path: PathBuf) -> PyResult<String> {
    read(&path, MAX_TABLE_BYTES)
}
