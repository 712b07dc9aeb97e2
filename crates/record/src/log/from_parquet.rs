//! Reads Parquet: a row per time and sensor, or per time.

use super::{Log, LogBuilder};
use crate::RecordError;
use crate::table::{ReadColumn, ReadValues, read_columns};
use dermis_geometry::limits::MAX_RECORDING_BYTES;
use dermis_geometry::regular_file;
use std::path::PathBuf;

/// Reads consecutive files.
pub fn read(paths: &[PathBuf]) -> Result<Log, RecordError> {
    let mut log = LogBuilder::default();
    for path in paths {
        let bytes = regular_file::read(path, MAX_RECORDING_BYTES).map_err(|error| RecordError::read(path, &error))?;
        read_columns(bytes).and_then(|columns| take(&mut log, &columns)).map_err(|reason| RecordError::Damaged {
            path: path.display().to_string(),
            what: "recording as Parquet",
            reason,
        })?;
    }
    Ok(log.finish())
}

fn take(log: &mut LogBuilder, columns: &[ReadColumn]) -> Result<(), String> {
    let find = |name: &str| columns.iter().find(|column| column.name == name && column.lengths.is_none());
    let Some(ReadValues::Numbers(times)) = find("time_s").map(|column| &column.values) else {
        let names: Vec<&str> = columns.iter().take(8).map(|column| column.name.as_str()).collect();
        return Err(format!("it has no column `time_s` of numbers; there are {}", names.join(", ")));
    };
    if let Some(row) = times.iter().position(|time| !time.is_finite()) {
        return Err(format!("row {row}: there is no time"));
    }
    let owners = match find("sensor").map(|column| &column.values) {
        Some(ReadValues::Bytes(names)) if names.len() == times.len() => Some(names),
        _ => None,
    };
    for column in columns.iter().filter(|column| !["time_s", "sensor"].contains(&column.name.as_str())) {
        let mut start = 0;
        for (row, time_s) in times.iter().enumerate() {
            let count = column.lengths.as_ref().map_or(Some(1), |lengths| lengths.get(row).copied());
            let end = start + count.unwrap_or(0);
            let name = match owners {
                Some(owners) if !column.name.contains('/') => {
                    format!("{}/{}", String::from_utf8_lossy(&owners[row]), column.name)
                }
                _ => column.name.clone(),
            };
            // The rows of all sensors repeat the signals of the bodies.
            if owners.is_some_and(|owners| column.name.contains('/') && owners[row] != owners[0]) {
                start = end;
                continue;
            }
            match &column.values {
                ReadValues::Bytes(files) => {
                    if let (Some(name), Some(file)) = (name.strip_suffix(".bytes"), files.get(row))
                        && !file.is_empty()
                    {
                        log.push_image(name, *time_s, file.clone());
                    }
                }
                // A row without numbers has no reading at this time.
                ReadValues::Numbers(numbers) => {
                    if let Some(row) = numbers.get(start..end).filter(|row| !row.iter().all(|value| value.is_nan())) {
                        log.push(&name, *time_s, row);
                    }
                }
            }
            start = end;
        }
    }
    Ok(())
}
