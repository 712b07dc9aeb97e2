//! Reads Parquet: a row per time and sensor, or per time.

use super::Log;
use crate::RecordError;
use crate::table::{ReadColumn, Values, read_columns};
use std::path::PathBuf;

/// Reads consecutive files.
pub fn read(paths: &[PathBuf]) -> Result<Log, RecordError> {
    let mut log = Log::default();
    for path in paths {
        let bytes = std::fs::read(path).map_err(|error| RecordError::read(path, &error))?;
        read_columns(&bytes).and_then(|columns| take(&mut log, &columns)).map_err(|reason| RecordError::Damaged {
            path: path.display().to_string(),
            what: "recording as Parquet",
            reason,
        })?;
    }
    Ok(log)
}

fn take(log: &mut Log, columns: &[ReadColumn]) -> Result<(), String> {
    let Some(Values::F64(times)) = column(columns, "time_s").map(|column| &column.values) else {
        let names: Vec<&str> = columns.iter().take(8).map(|column| column.name.as_str()).collect();
        return Err(format!("it has no column `time_s` of 64-bit numbers; there are {}", names.join(", ")));
    };
    let owners = match column(columns, "sensor").map(|column| &column.values) {
        Some(Values::Bytes(names)) if names.len() == times.len() => Some(names),
        _ => None,
    };
    for column in columns.iter().filter(|column| !["time_s", "sensor"].contains(&column.name.as_str())) {
        let mut start = 0;
        for (row, time_s) in times.iter().enumerate() {
            let count = column.lengths.as_ref().map_or(Some(1), |lengths| lengths.get(row).copied());
            let end = start + count.unwrap_or(0);
            let owner = owners.map(|owners| String::from_utf8_lossy(&owners[row]));
            let name = match &owner {
                Some(owner) if !column.name.contains('/') => format!("{owner}/{}", column.name),
                _ => column.name.clone(),
            };
            if let Values::Bytes(files) = &column.values {
                if let (Some(name), Some(file)) = (name.strip_suffix(".bytes"), files.get(row))
                    && !file.is_empty()
                {
                    log.push_image(name, *time_s, file.clone());
                }
            } else if let Some(numbers) = numbers(&column.values, start..end) {
                log.push(&name, *time_s, &numbers);
            }
            start = end;
        }
    }
    Ok(())
}

fn column<'a>(columns: &'a [ReadColumn], name: &str) -> Option<&'a ReadColumn> {
    columns.iter().find(|column| column.name == name)
}

fn numbers(values: &Values, range: std::ops::Range<usize>) -> Option<Vec<f64>> {
    match values {
        Values::F64(values) => Some(values.get(range)?.to_vec()),
        Values::F32(values) => Some(values.get(range)?.iter().map(|value| f64::from(*value)).collect()),
        Values::I64(values) => Some(values.get(range)?.iter().map(|value| *value as f64).collect()),
        Values::Bool(values) => Some(values.get(range)?.iter().map(|value| f64::from(u8::from(*value))).collect()),
        Values::Text(_) | Values::Bytes(_) => None,
    }
}
