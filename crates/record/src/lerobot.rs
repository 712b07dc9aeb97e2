//! LeRobot's data set layout, version 3.0: its files and metadata.
//!
//! ```text
//! data/chunk-000/file-000.parquet             frames, one row each; images in the table
//! meta/info.json                              features, counts, paths
//! meta/tasks.parquet                          tasks by number
//! meta/episodes/chunk-000/file-000.parquet    first and last frame of each episode
//! meta/stats.json                             range, mean, deviation and quantiles of every feature
//! ```
//! The files are smaller than those that LeRobot writes; its reader accepts them. Statistics cover the whole set, not
//! single episodes.

use crate::histogram::Histogram;
use crate::table::{Table, TableError, Values};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// The version of the layout.
pub const VERSION: &str = "v3.0";
/// Number of files per folder.
const CHUNK: usize = 1000;

/// A column of the data.
#[derive(Clone, Debug, PartialEq)]
pub struct Feature {
    /// Name of the column.
    pub name: String,
    /// `float32`, `float64`, `int64`, `bool` or `image`.
    pub kind: &'static str,
    /// Shape of a row: `[1]` for a single value; rows, columns and channels of an image.
    pub shape: Vec<usize>,
    /// Names of the entries of the last dimension.
    pub names: Option<Vec<String>>,
}

impl Feature {
    /// A column without names for its entries.
    pub fn new(name: impl Into<String>, kind: &'static str, shape: &[usize]) -> Self {
        Self { name: name.into(), kind, shape: shape.to_vec(), names: None }
    }

    /// The same column with names for its entries.
    #[must_use]
    pub fn named(self, names: &[&str]) -> Self {
        Self { names: Some(names.iter().map(|name| (*name).to_owned()).collect()), ..self }
    }

    fn to_json(&self) -> Value {
        json!({ "dtype": self.kind, "shape": self.shape, "names": self.names })
    }
}

/// The index and time columns that every data set has after its own columns.
pub fn own_features() -> Vec<Feature> {
    let whole = ["frame_index", "episode_index", "index", "task_index"].map(|name| Feature::new(name, "int64", &[1]));
    [Feature::new("timestamp", "float32", &[1])].into_iter().chain(whole).collect()
}

/// Sums and histograms of a feature; those of several parts can be added.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Statistics {
    /// Number of rows.
    pub rows: usize,
    /// Number of values of each entry; larger than `rows` for images.
    pub values: usize,
    /// Minimum of each entry.
    pub min: Vec<f64>,
    /// Maximum of each entry.
    pub max: Vec<f64>,
    /// Sum of each entry.
    pub sum: Vec<f64>,
    /// Sum of squares of each entry.
    pub squares: Vec<f64>,
    /// Histogram of each entry.
    pub histograms: Vec<Histogram>,
}

impl Statistics {
    /// Computes the statistics of rows of `each` values.
    pub fn of(values: impl ExactSizeIterator<Item = f64>, each: usize) -> Self {
        let rows = values.len() / each.max(1);
        let mut all = Self::empty(each);
        (all.rows, all.values) = (rows, rows);
        for (i, value) in values.enumerate() {
            all.insert(i % each, value, 1);
        }
        all
    }

    /// Statistics of no rows of `each` entries.
    pub fn empty(each: usize) -> Self {
        let of = |value: f64| vec![value; each];
        Self {
            rows: 0,
            values: 0,
            min: of(f64::INFINITY),
            max: of(f64::NEG_INFINITY),
            sum: of(0.0),
            squares: of(0.0),
            histograms: vec![Histogram::default(); each],
        }
    }

    /// Adds a value of an entry `count` times, without changing the numbers of rows and values.
    pub fn insert(&mut self, entry: usize, value: f64, count: u64) {
        self.min[entry] = self.min[entry].min(value);
        self.max[entry] = self.max[entry].max(value);
        self.sum[entry] += value * count as f64;
        self.squares[entry] += value * value * count as f64;
        self.histograms[entry].insert(value, count);
    }

    /// Adds the statistics of another part. The first part sets the number of entries.
    pub fn add(&mut self, other: &Self) {
        if self.sum.is_empty() {
            *self = Self::empty(other.sum.len());
        }
        self.rows += other.rows;
        self.values += other.values;
        for entry in 0..self.sum.len().min(other.sum.len()) {
            self.min[entry] = self.min[entry].min(other.min[entry]);
            self.max[entry] = self.max[entry].max(other.max[entry]);
            self.sum[entry] += other.sum[entry];
            self.squares[entry] += other.squares[entry];
            self.histograms[entry].add(&other.histograms[entry]);
        }
    }

    /// The entry of `stats.json`, in the shape of the feature; one value per channel for images.
    pub fn to_json(&self, feature: &Feature) -> Value {
        let count = (self.values as f64).max(1.0);
        let mean: Vec<f64> = self.sum.iter().map(|sum| sum / count).collect();
        let deviation =
            self.squares.iter().zip(&mean).map(|(squares, mean)| (squares / count - mean * mean).max(0.0).sqrt());
        let shape = match feature.kind {
            "image" => vec![self.sum.len(), 1, 1],
            _ => feature.shape.clone(),
        };
        let mut stats = Map::from_iter([
            ("min".to_owned(), shaped(&self.min, &shape)),
            ("max".to_owned(), shaped(&self.max, &shape)),
            ("mean".to_owned(), shaped(&mean, &shape)),
            ("std".to_owned(), shaped(&deviation.collect::<Vec<_>>(), &shape)),
            ("count".to_owned(), json!([self.rows])),
        ]);
        for percent in [1, 10, 50, 90, 99] {
            let quantiles = self.histograms.iter().zip(&self.min).zip(&self.max).map(|((histogram, min), max)| {
                histogram.quantile(f64::from(percent) / 100.0).clamp(*min, max.max(*min))
            });
            stats.insert(format!("q{percent:02}"), shaped(&quantiles.collect::<Vec<_>>(), &shape));
        }
        Value::Object(stats)
    }
}

/// Nests values into lists of a shape.
fn shaped(values: &[f64], shape: &[usize]) -> Value {
    match shape {
        [] | [_] => json!(values),
        [_, inner @ ..] => {
            let each = inner.iter().product::<usize>().max(1);
            Value::Array(values.chunks(each).map(|part| shaped(part, inner)).collect())
        }
    }
}

/// Path of the `i`-th data file.
pub fn data_file(i: usize) -> String {
    format!("data/chunk-{:03}/file-{:03}.parquet", i / CHUNK, i % CHUNK)
}

/// The content of `meta/info.json`.
#[derive(Clone, Debug)]
pub struct Info<'a> {
    /// Name of the robot.
    pub robot: &'a str,
    /// Frame rate (1/s).
    pub rate_hz: f64,
    /// Number of episodes.
    pub episodes: usize,
    /// Number of frames.
    pub frames: usize,
    /// Number of tasks.
    pub tasks: usize,
    /// All columns.
    pub features: &'a [Feature],
}

impl Info<'_> {
    /// The content of `meta/info.json`.
    pub fn to_json(&self) -> Value {
        let features: Map<String, Value> =
            self.features.iter().map(|feature| (feature.name.clone(), feature.to_json())).collect();
        // An integral rate is written as an integer, as LeRobot does.
        let rate = if self.rate_hz.fract() == 0.0 { json!(self.rate_hz as u64) } else { json!(self.rate_hz) };
        json!({
            "codebase_version": VERSION,
            "robot_type": self.robot,
            "total_episodes": self.episodes,
            "total_frames": self.frames,
            "total_tasks": self.tasks,
            "chunks_size": CHUNK,
            "data_files_size_in_mb": 100,
            "video_files_size_in_mb": 200,
            "fps": rate,
            "splits": { "train": format!("0:{}", self.episodes) },
            "data_path": "data/chunk-{chunk_index:03d}/file-{file_index:03d}.parquet",
            "video_path": null,
            "features": features,
        })
    }
}

/// The table `meta/tasks.parquet`: pandas looks up tasks by their text.
pub fn tasks(tasks: &[String]) -> Result<Table, TableError> {
    let index = "__index_level_0__";
    let column = |name: Value, field: &str, kind: &str, numpy: &str| json!({ "name": name, "field_name": field, "pandas_type": kind, "numpy_type": numpy, "metadata": null });
    let pandas = json!({
        "index_columns": [index],
        "column_indexes": [],
        "columns": [
            column(json!("task_index"), "task_index", "int64", "int64"),
            column(Value::Null, index, "unicode", "object"),
        ],
        "pandas_version": "2.2.0",
    });
    Ok(Table::new()
        .column("task_index", Values::I64((0..tasks.len() as i64).collect()))?
        .column(index, Values::Text(tasks.to_vec()))?
        .metadata("pandas", pandas.to_string()))
}

/// One row of `meta/episodes`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EpisodeRow {
    /// Index of the task.
    pub task: usize,
    /// Number of frames.
    pub frames: usize,
    /// Index of the data file.
    pub file: usize,
}

/// Path of the list of episodes.
pub const EPISODES_FILE: &str = "meta/episodes/chunk-000/file-000.parquet";

/// A part of [`EPISODES_FILE`]: consecutive episodes, after the given numbers of episodes and frames.
pub fn episodes(
    rows: &[EpisodeRow],
    tasks: &[String],
    episodes_before: usize,
    frames_before: usize,
) -> Result<Table, TableError> {
    let whole = |of: &dyn Fn(&EpisodeRow) -> usize| Values::I64(rows.iter().map(|row| of(row) as i64).collect());
    let mut ends = Vec::with_capacity(rows.len());
    let mut end = frames_before as i64;
    for row in rows {
        end += row.frames as i64;
        ends.push(end);
    }
    let starts = ends.iter().zip(rows).map(|(end, row)| end - row.frames as i64).collect();
    let names = rows.iter().map(|row| tasks.get(row.task).cloned().unwrap_or_default()).collect();
    Table::new()
        .column(
            "episode_index",
            Values::I64((episodes_before..episodes_before + rows.len()).map(|i| i as i64).collect()),
        )?
        .lists("tasks", vec![1; rows.len()], Values::Text(names))?
        .column("length", whole(&|row| row.frames))?
        .column("data/chunk_index", whole(&|row| row.file / CHUNK))?
        .column("data/file_index", whole(&|row| row.file % CHUNK))?
        .column("dataset_from_index", Values::I64(starts))?
        .column("dataset_to_index", Values::I64(ends))?
        .column("meta/episodes/chunk_index", whole(&|_| 0))?
        .column("meta/episodes/file_index", whole(&|_| 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The statistics of parts add up to those of the whole, and mean and deviation follow their definitions.
    #[test]
    fn statistics_of_parts_add_up() {
        let values: Vec<f64> = (0..60).map(|i| f64::from(i * i % 17)).collect();
        let whole = Statistics::of(values.iter().copied(), 2);
        let mut sum = Statistics::default();
        for part in [&values[..20], &values[20..]] {
            let stored = json!(Statistics::of(part.iter().copied(), 2));
            sum.add(&Statistics::deserialize(&stored).unwrap());
        }
        assert_eq!(sum, whole);
        let json = whole.to_json(&Feature::new("x", "float32", &[2]));
        let first: Vec<f64> = values.iter().copied().step_by(2).collect();
        let mean = first.iter().sum::<f64>() / 30.0;
        let deviation = (first.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / 30.0).sqrt();
        assert!((json["mean"][0].as_f64().unwrap() - mean).abs() < 1e-12);
        assert!((json["std"][0].as_f64().unwrap() - deviation).abs() < 1e-12);
        assert_eq!(json["count"][0], 30);
    }

    #[test]
    fn episodes_say_where_they_begin_and_end() {
        let rows = [EpisodeRow { task: 1, frames: 3, file: 0 }, EpisodeRow { task: 0, frames: 2, file: 1001 }];
        let table = episodes(&rows, &["press".into(), "slide".into()], 0, 0).unwrap();
        assert_eq!(table.rows(), 2);
        assert!(table.names().any(|name| name == "dataset_from_index"));
        assert_eq!(data_file(1001), "data/chunk-001/file-001.parquet");
        assert_eq!(shaped(&[1.0, 2.0, 3.0, 4.0], &[2, 2]), json!([[1.0, 2.0], [3.0, 4.0]]));
    }
}
