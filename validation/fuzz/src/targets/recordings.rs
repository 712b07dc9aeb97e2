//! Recordings and arrays.

use super::said;
use dermis::record::mcap::McapLog;
use dermis::record::{ExportFormat, Log, export, npy};
use std::path::Path;

pub fn mcap(bytes: &[u8], folder: &Path) -> Result<(), String> {
    if let Some(log) = McapLog::parse(bytes).filter(|log| !log.messages.is_empty()) {
        let path = folder.join("again.mcap");
        let _ = std::fs::remove_file(&path);
        log.write(&path).map_err(said)?;
        let again = McapLog::read(&path).expect("an MCAP file of our own is read");
        assert!(!again.cut && again.damaged.is_empty(), "an MCAP file of our own is damaged: {:?}", again.damaged);
        assert_eq!(again.messages.len(), log.messages.len(), "MCAP messages do not round-trip");
    }
    read("a.mcap", bytes, folder)
}

pub fn parquet(bytes: &[u8], folder: &Path) -> Result<(), String> {
    read("a.parquet", bytes, folder)
}

pub fn csv(bytes: &[u8], folder: &Path) -> Result<(), String> {
    read("a.csv", bytes, folder)
}

pub fn bag(bytes: &[u8], folder: &Path) -> Result<(), String> {
    read("a.db3", bytes, folder)
}

/// Reads a recording, and what it becomes as a table.
fn read(name: &str, bytes: &[u8], folder: &Path) -> Result<(), String> {
    let path = folder.join(name);
    std::fs::write(&path, bytes).map_err(said)?;
    let log = Log::read(&path).map_err(said)?;
    for signal in &log.signals {
        assert_eq!(signal.values.len(), signal.width * signal.times_s.len(), "{}: rows of another length", signal.name);
        assert!(signal.times_s.iter().all(|time_s| time_s.is_finite()), "{}: a time is not finite", signal.name);
        assert!(signal.times_s.is_sorted(), "{}: times go back", signal.name);
    }
    for images in &log.images {
        assert_eq!(images.files.len(), images.times_s.len(), "{}: images without times", images.name);
    }
    let table = folder.join("table.csv");
    let exported = export(&path, &table, ExportFormat::Csv).map_err(said)?;
    let again = Log::read(&table).expect("a table of our own is read");
    let values = |log: &Log| log.signals.iter().map(|signal| signal.values.len()).sum::<usize>();
    if exported.times > 0 && values(&log) > 0 {
        assert!(!again.signals.is_empty(), "a table of our own is empty");
    }
    Ok(())
}

pub fn npy(bytes: &[u8], folder: &Path) -> Result<(), String> {
    let path = folder.join("a.npy");
    std::fs::write(&path, bytes).map_err(said)?;
    let (rows, width, values) = npy::read(&path).map_err(said)?;
    assert_eq!(rows * width, values.len(), "values are missing");
    let written = npy::of_f64(&[rows, width], values.iter().copied()).expect("the shape fits");
    std::fs::write(&path, written).map_err(said)?;
    let (_, _, again) = npy::read(&path).expect("an array of our own is read");
    let bits = |values: &[f64]| values.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
    assert_eq!(bits(&again), bits(&values), "an array does not round-trip");
    Ok(())
}
