//! Reads folders: those of `dermis run`, and ROS 2 bags.

use super::{ImageLog, Log, SignalLog, from_csv, from_mcap, from_parquet, from_sqlite};
use crate::folder::TIMES;
use crate::{RecordError, npy};
use dermis_geometry::limits::MAX_IMAGE_BYTES;
use dermis_geometry::regular_file;
use std::path::{Path, PathBuf};

/// Reads arrays and images (`--record`), tables (`--out`), the parts of a Parquet file, or the files of a bag.
pub fn read(folder: &Path) -> Result<Log, RecordError> {
    let files = entries(folder)?;
    let parts: Vec<PathBuf> = files.iter().filter(|path| ends(path, "parquet")).cloned().collect();
    if !parts.is_empty() {
        return from_parquet::read(&parts);
    }
    for (end, read) in [("mcap", from_mcap::read as fn(&[PathBuf]) -> _), ("db3", from_sqlite::read)] {
        let mut bag: Vec<PathBuf> = files.iter().filter(|path| ends(path, end)).cloned().collect();
        // The parts of a bag are numbered without leading zeros.
        bag.sort_by_key(|path| path.as_os_str().len());
        if !bag.is_empty() {
            return read(&bag);
        }
    }
    let mut log = Log::default();
    let tables = files.iter().filter(|path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name == "bodies.csv" || (name.starts_with("readings-") && name.ends_with(".csv"))
    });
    for path in tables {
        let table = from_csv::read(path)?;
        log.signals.extend(table.signals);
        log.notes.extend(table.notes);
    }
    let times = folder.join(TIMES);
    let times_s = if times.exists() { Some(npy::read(&times)?.2) } else { None };
    for inner in files.iter().filter(|path| path.is_dir()) {
        arrays(&mut log, inner, times_s.as_deref())?;
    }
    if log.signals.is_empty() && log.images.is_empty() {
        let names: Vec<String> = files
            .iter()
            .take(8)
            .map(|path| path.file_name().unwrap_or_default().to_string_lossy().into_owned())
            .collect();
        let found = if names.is_empty() { "no files".to_owned() } else { names.join(", ") };
        return Err(RecordError::Nothing { path: folder.display().to_string(), task: "read here", found });
    }
    Ok(log)
}

/// Reads the files of one sensor or body.
fn arrays(log: &mut Log, folder: &Path, times_s: Option<&[f64]>) -> Result<(), RecordError> {
    let owner = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
    for path in entries(folder)? {
        let name = format!("{owner}/{}", path.file_stem().unwrap_or_default().to_string_lossy());
        if path.is_dir() {
            let times = path.join(TIMES);
            if times.exists() {
                log.images.push(sequence(name, &path, npy::read(&times)?.2)?);
            }
        } else if let (true, Some(times_s)) = (ends(&path, "npy"), times_s) {
            let (rows, width, mut values) = npy::read(&path)?;
            // A killed run may have left rows without times.
            let rows = rows.min(times_s.len());
            values.truncate(rows * width);
            log.signals.push(SignalLog { name, width, times_s: times_s[..rows].to_vec(), values });
        }
    }
    Ok(())
}

fn sequence(name: String, folder: &Path, mut times_s: Vec<f64>) -> Result<ImageLog, RecordError> {
    let mut files = Vec::new();
    for path in entries(folder)?.iter().filter(|path| ends(path, "png")).take(times_s.len()) {
        files.push(regular_file::read(path, MAX_IMAGE_BYTES).map_err(|error| RecordError::read(path, &error))?);
    }
    times_s.truncate(files.len());
    Ok(ImageLog { name, times_s, files })
}

fn ends(path: &Path, with: &str) -> bool {
    path.extension().is_some_and(|end| end == with)
}

/// The entries of a folder sorted by name, without hidden files.
fn entries(folder: &Path) -> Result<Vec<PathBuf>, RecordError> {
    let read =
        || -> std::io::Result<Vec<PathBuf>> { std::fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect() };
    let mut all = read().map_err(|error| RecordError::read(folder, &error))?;
    all.retain(|path| !path.file_name().unwrap_or_default().to_string_lossy().starts_with('.'));
    all.sort();
    Ok(all)
}
