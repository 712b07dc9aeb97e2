//! Reads recordings of any format as signals and images over time.

mod builder;
mod content;
mod from_csv;
mod from_folder;
mod from_mcap;
mod from_parquet;
mod from_sqlite;
mod messages;

use crate::{RecordError, parts_folder};
use builder::LogBuilder;
pub(crate) use from_csv::column_name;
use std::path::Path;

/// The content of a recording.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Log {
    /// Path of the file or folder, for messages.
    pub source: String,
    /// Signals, in the order in which they first appear.
    pub signals: Vec<SignalLog>,
    /// Sequences of images.
    pub images: Vec<ImageLog>,
    /// Whether the file was truncated.
    pub cut: bool,
    /// Number of damaged places that were skipped.
    pub damaged: usize,
    /// What differs from the file, in sentences: rows that were sorted, padded, or left out.
    pub notes: Vec<String>,
}

/// A signal: rows of numbers over time.
#[derive(Clone, Debug, PartialEq)]
pub struct SignalLog {
    /// Owner and quantity with its unit: `pad/force_n`.
    pub name: String,
    /// Number of values per time.
    pub width: usize,
    /// Times (s).
    pub times_s: Vec<f64>,
    /// Values, `width` for each time.
    pub values: Vec<f64>,
}

/// Images over time.
#[derive(Clone, Debug, PartialEq)]
pub struct ImageLog {
    /// Owner and name: `pad/camera`.
    pub name: String,
    /// Times (s).
    pub times_s: Vec<f64>,
    /// Content of each image file.
    pub files: Vec<Vec<u8>>,
}

impl SignalLog {
    /// The values at the `i`-th time.
    pub fn row(&self, i: usize) -> &[f64] {
        &self.values[i * self.width..(i + 1) * self.width]
    }

    /// The values at a time (s) between the first and the last, interpolated linearly.
    pub fn at(&self, time_s: f64) -> Option<Vec<f64>> {
        /// Allows for rounding: times are sums of steps.
        const SAME_TIME_S: f64 = 1e-9;
        let next = self.times_s.partition_point(|known| *known < time_s - SAME_TIME_S);
        let after = *self.times_s.get(next)?;
        if (after - time_s).abs() <= SAME_TIME_S {
            return Some(self.row(next).to_vec());
        }
        let before = *self.times_s.get(next.checked_sub(1)?)?;
        let part = (time_s - before) / (after - before);
        let between = |(a, b): (&f64, &f64)| if a == b { *a } else { a + part * (b - a) };
        Some(self.row(next - 1).iter().zip(self.row(next)).map(between).collect())
    }
}

impl Log {
    /// Reads a recording: MCAP, SQLite (`.db3`), Parquet, CSV, or a folder: of `dermis run`, or a ROS 2 bag.
    pub fn read(path: &Path) -> Result<Self, RecordError> {
        let parts = parts_folder(path);
        let mut log = match path.extension().and_then(|end| end.to_str()) {
            _ if path.is_dir() => from_folder::read(path)?,
            Some("mcap") => from_mcap::read(&[path.to_owned()])?,
            Some("db3") => from_sqlite::read(&[path.to_owned()])?,
            Some("parquet") if !path.exists() && parts.is_dir() => from_folder::read(&parts)?,
            Some("parquet") => from_parquet::read(&[path.to_owned()])?,
            Some("csv") => from_csv::read(path)?,
            _ if path.exists() => {
                let known =
                    "`.mcap`, `.db3`, `.parquet` or `.csv`, or name a folder: of `dermis run`, or a bag of ROS 2";
                return Err(RecordError::UnknownFormat { path: path.display().to_string(), known });
            }
            _ => return Err(RecordError::read(path, &std::io::ErrorKind::NotFound.into())),
        };
        log.source = path.display().to_string();
        Ok(log)
    }

    /// A signal by name.
    pub fn signal(&self, name: &str) -> Option<&SignalLog> {
        self.signals.iter().find(|signal| signal.name == name)
    }

    /// Images by name.
    pub fn images(&self, name: &str) -> Option<&ImageLog> {
        self.images.iter().find(|images| images.name == name)
    }

    /// The times of all signals, and of all images if asked for. A time that a signal repeats appears as often.
    pub fn times_s(&self, with_images: bool) -> Vec<f64> {
        let images = self.images.iter().filter(|_| with_images).map(|images| &images.times_s);
        let mut union: Vec<f64> = Vec::new();
        for times_s in self.signals.iter().map(|signal| &signal.times_s).chain(images) {
            let mut merged = Vec::with_capacity(union.len().max(times_s.len()));
            let (mut a, mut b) = (union.iter().peekable(), times_s.iter().peekable());
            while let Some(next) = match (a.peek(), b.peek()) {
                (Some(a), Some(b)) => Some(a.min(**b)),
                (one, other) => one.or(other).map(|time| **time),
            } {
                a.next_if(|time| **time == next);
                b.next_if(|time| **time == next);
                merged.push(next);
            }
            union = merged;
        }
        union
    }
}

/// The place of each of `times_s`, which are sorted and may repeat, in `of`; `of` contains all of them.
pub(crate) fn places(times_s: &[f64], of: &[f64]) -> Vec<usize> {
    let mut next = 0;
    let mut place = |time: &f64| {
        next += of[next..].iter().take_while(|known| *known < time).count();
        next += 1;
        next - 1
    };
    times_s.iter().map(&mut place).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_between_times_lie_on_a_line() {
        let mut rows = LogBuilder::default();
        for (time, row) in [(0.0, [0.0, 1.0]), (1.0, [2.0, 1.0]), (3.0, [0.0, f64::INFINITY])] {
            rows.push("a", time, &row);
        }
        let log = rows.finish();
        let signal = log.signal("a").unwrap();
        assert_eq!(signal.at(0.25), Some(vec![0.5, 1.0]));
        assert_eq!(signal.at(1.0 + 1e-12), Some(vec![2.0, 1.0]));
        assert_eq!((signal.at(-0.1), signal.at(3.1)), (None, None));
        assert!(log.notes.is_empty());
    }

    /// Times that go back or repeat, and rows of unequal length, are legal in MCAP and CSV: all rows are kept.
    #[test]
    fn times_that_go_back_or_repeat_lose_no_row() {
        let mut rows = LogBuilder::default();
        for (time, value) in [(0.0, 0.0), (2.0, 1.0), (1.0, 2.0), (1.0, 3.0), (3.0, 4.0), (0.5, 5.0)] {
            rows.push("a", time, &[value]);
            rows.push_image("i", time, vec![value as u8]);
        }
        rows.push("b", 1.0, &[]);
        rows.push("b", 1.0, &[7.0]);
        rows.push("b", 2.5, &[8.0, 9.0]);
        let log = rows.finish();
        let (a, b) = (log.signal("a").unwrap(), log.signal("b").unwrap());
        assert_eq!(a.times_s, [0.0, 0.5, 1.0, 1.0, 2.0, 3.0]);
        assert_eq!(a.values, [0.0, 5.0, 2.0, 3.0, 1.0, 4.0]);
        assert_eq!(log.images[0].files, [[0], [5], [2], [3], [1], [4]]);
        assert!(b.width == 2 && b.row(0)[1].is_nan() && b.row(1) == [8.0, 9.0]);
        assert_eq!(log.notes.len(), 3, "{:?}", log.notes);
        let times = log.times_s(false);
        assert_eq!(times, [0.0, 0.5, 1.0, 1.0, 2.0, 2.5, 3.0]);
        assert_eq!(places(&a.times_s, &times), [0, 1, 2, 3, 4, 6]);
        assert_eq!(places(&b.times_s, &times), [2, 5]);
        assert_eq!(a.at(0.75), Some(vec![3.5]));
    }

    #[test]
    fn rows_that_would_need_much_padding_are_left_out_and_counted() {
        let mut rows = LogBuilder::default();
        rows.push("a", 0.0, &[1.0]);
        rows.push("a", 1.0, &vec![2.0; 10_000]);
        (2..1000).for_each(|i| rows.push("a", f64::from(i), &[1.0]));
        let log = rows.finish();
        assert_eq!((log.signals[0].width, log.signals[0].times_s.len()), (1, 999));
        assert_eq!(log.notes, ["1 of 1000 rows of a were left out: their length is not 1"]);
    }
}
