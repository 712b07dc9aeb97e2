//! Completes a data set whose shards are finished: metadata, and the list of all files with their hashes.

use super::columns::{all_features, features};
use super::error::DatasetError;
use super::set::Dataset;
use super::shard::ShardRecord;
use super::spec::FormatSpec;
use super::warnings::{self, DatasetWarning};
use dermis_geometry::limits::MAX_TABLE_BYTES;
use dermis_geometry::regular_file;
use dermis_record::atomic_folder::{AtomicFolder, Placed, sha256_of};
use dermis_record::lerobot::{self, EPISODES_FILE, EpisodeRow, Info, Statistics};
use dermis_record::table::{TableError, TableWriter};
use serde_json::{Map, Value, json};
use std::fmt::Write;
use std::io;
use std::path::Path;

/// The list of all files, in the format of `sha256sum --check`.
pub const SUMS: &str = "SHA256SUMS";

/// Writes the files that describe the whole set, and returns the warnings of its episodes. The same shards give the same
/// bytes; calling it again is harmless.
pub fn finish(set: &Dataset, atomic_folder: &AtomicFolder) -> Result<Vec<DatasetWarning>, DatasetError> {
    let mut files: Vec<Placed> = Vec::new();
    let mut sums: Vec<(String, Statistics)> = Vec::new();
    let mut warnings = Vec::new();
    for shard in 0..set.shards() {
        let Some(record) = ShardRecord::find(atomic_folder, shard)? else {
            let (missing, all) = (set.missing_in(atomic_folder)?.len(), set.shards());
            return Err(DatasetError::Missing { folder: atomic_folder.folder().display().to_string(), missing, all });
        };
        files.extend(record.files);
        warnings::merge(&mut warnings, record.warnings);
        for (name, part) in record.sums {
            match sums.iter_mut().find(|(own, _)| *own == name) {
                Some((_, all)) => all.add(&part),
                None => {
                    let mut all = Statistics::default();
                    all.add(&part);
                    sums.push((name, all));
                }
            }
        }
    }
    files.push(atomic_folder.place("dataset.toml", set.text.as_bytes())?);
    files.push(atomic_folder.place("dataset.json", pretty(&about(set, &warnings)).as_bytes())?);
    files.push(atomic_folder.place("README.md", super::readme::readme(set, &warnings).as_bytes())?);
    for (index, sensor) in set.sensors.iter().enumerate() {
        files.push(atomic_folder.place(&format!("sensors/{index}.toml"), sensor.spec.to_toml().as_bytes())?);
    }
    if set.spec.format == FormatSpec::Lerobot {
        files.extend(lerobot_files(set, atomic_folder, &sums)?);
    }
    files.sort_by(|a, b| a.name.cmp(&b.name));
    let mut list = String::new();
    for file in &files {
        let _ = writeln!(list, "{}  {}", file.sha256, file.name);
    }
    atomic_folder.place(SUMS, list.as_bytes())?;
    Ok(warnings)
}

fn lerobot_files(
    set: &Dataset,
    atomic_folder: &AtomicFolder,
    sums: &[(String, Statistics)],
) -> Result<Vec<Placed>, DatasetError> {
    let all = all_features(set);
    let tasks: Vec<String> = set.labels.iter().map(|label| format!("{} {label}", set.spec.scenario.name())).collect();
    let info = Info {
        robot: &set.sensors[0].spec.name,
        rate_hz: set.spec.scenario.rate_hz(),
        episodes: set.count(),
        frames: set.count() * set.frames(),
        tasks: tasks.len(),
        features: &all,
    };
    let row = |episode: usize| EpisodeRow {
        // Objects are the fastest axis of the grid.
        task: set.objects[episode % set.objects.len()].label_index,
        frames: set.frames(),
        file: episode / set.shard_len(),
    };
    let stats: Map<String, Value> = all
        .iter()
        .filter_map(|feature| {
            let (name, sums) = sums.iter().find(|(name, _)| *name == feature.name)?;
            Some((name.clone(), sums.to_json(feature)))
        })
        .collect();
    // In blocks, so that a set of any size needs little memory.
    let episodes = atomic_folder.place_with(EPISODES_FILE, |file| {
        let mut writer = TableWriter::new(file);
        for start in (0..set.count()).step_by(EPISODES_AT_ONCE) {
            let rows: Vec<EpisodeRow> = (start..(start + EPISODES_AT_ONCE).min(set.count())).map(row).collect();
            let part = lerobot::episodes(&rows, &tasks, start, start * set.frames()).map_err(table_io_error)?;
            writer.append(&part).map_err(table_io_error)?;
        }
        writer.finish().map(drop).map_err(table_io_error)
    })?;
    Ok(vec![
        episodes,
        atomic_folder.place("meta/info.json", pretty(&info.to_json()).as_bytes())?,
        atomic_folder.place("meta/stats.json", pretty(&Value::Object(stats)).as_bytes())?,
        atomic_folder.place("meta/tasks.parquet", &lerobot::tasks(&tasks)?.to_bytes()?)?,
    ])
}

/// Rows of the episode table in memory at a time.
const EPISODES_AT_ONCE: usize = 1 << 16;

/// Converts a table error to an I/O error.
pub fn table_io_error(error: TableError) -> io::Error {
    match error {
        TableError::Io(error) => error,
        other => io::Error::other(other),
    }
}

/// A description of the set, for people and loaders.
fn about(set: &Dataset, warnings: &[DatasetWarning]) -> Value {
    let column = |feature: &lerobot::Feature| json!({ "name": feature.name, "dtype": feature.kind, "shape": feature.shape, "names": feature.names });
    json!({
        "name": set.spec.name,
        "description": set.spec.description,
        "format": set.spec.format.name(),
        "scenario": set.spec.scenario.name(),
        "seed": set.spec.seed,
        "episodes": set.count(),
        "frames_per_episode": set.frames(),
        "rate_hz": set.spec.scenario.rate_hz(),
        "episodes_per_shard": set.shard_len(),
        "shards": set.shards(),
        "labels": set.labels,
        "sensors": set.sensors.iter().map(|sensor| sensor.spec.name.clone()).collect::<Vec<_>>(),
        "columns": features(set).iter().map(column).collect::<Vec<_>>(),
        "units": {
            "state": "m, and a quaternion", "tactile": "N", "force": "N", "wrench": "N, N m", "depth": "m",
            "action": "m, rad, until the next frame", "slip": "m", "timestamp": "s",
        },
        "warnings": warnings,
        "dermis": env!("CARGO_PKG_VERSION"),
        "fingerprint": set.fingerprint(),
    })
}

fn pretty(value: &Value) -> String {
    serde_json::to_string_pretty(value).unwrap_or_default() + "\n"
}

/// Compares every file of a finished set with its hash; returns the number of files.
pub fn check(folder: &Path) -> Result<usize, DatasetError> {
    let list = folder.join(SUMS);
    let damaged =
        |file: &Path, what: &str| DatasetError::Damaged { file: file.display().to_string(), what: what.to_owned() };
    let text = regular_file::read_text(&list, MAX_TABLE_BYTES).map_err(|error| DatasetError::Unreadable {
        file: list.display().to_string(),
        reason: format!("{error}; is the set finished?"),
    })?;
    for line in text.lines() {
        let (sum, name) = line.split_once("  ").ok_or_else(|| damaged(&list, "it is no list of hashes"))?;
        let path = folder.join(name);
        match sha256_of(&path) {
            Ok(found) if found == sum => {}
            Ok(_) => return Err(damaged(&path, "its content is not what was written")),
            Err(error) => return Err(damaged(&path, &format!("it cannot be read: {error}"))),
        }
    }
    Ok(text.lines().count())
}
