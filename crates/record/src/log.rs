//! Reads recordings of any format as signals and images over time.

mod from_csv;
mod from_folder;
mod from_mcap;
mod from_parquet;

use crate::{RecordError, parts_folder};
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
    /// Reads a recording: MCAP, Parquet, CSV, or a folder written by `dermis run`.
    pub fn read(path: &Path) -> Result<Self, RecordError> {
        let parts = parts_folder(path);
        let mut log = match path.extension().and_then(|end| end.to_str()) {
            _ if path.is_dir() => from_folder::read(path)?,
            Some("mcap") => from_mcap::read(path)?,
            Some("parquet") if !path.exists() && parts.is_dir() => from_folder::read(&parts)?,
            Some("parquet") => from_parquet::read(&[path.to_owned()])?,
            Some("csv") => from_csv::read(path)?,
            _ if path.exists() => {
                let known = "`.mcap`, `.parquet` or `.csv`, or name a folder that `dermis run` has written";
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

    /// Adds a row; ignores rows whose length differs from the first row of that name, and rows that are not later than
    /// the last.
    fn push(&mut self, name: &str, time_s: f64, row: &[f64]) {
        let place = self.signals.iter().position(|signal| signal.name == name).unwrap_or_else(|| {
            let (name, width) = (name.to_owned(), row.len());
            self.signals.push(SignalLog { name, width, times_s: Vec::new(), values: Vec::new() });
            self.signals.len() - 1
        });
        let signal = &mut self.signals[place];
        let later = signal.times_s.last().is_none_or(|last| *last < time_s);
        if row.len() == signal.width && !row.is_empty() && later {
            signal.times_s.push(time_s);
            signal.values.extend(row);
        }
    }

    fn push_image(&mut self, name: &str, time_s: f64, file: Vec<u8>) {
        let place = self.images.iter().position(|images| images.name == name).unwrap_or_else(|| {
            self.images.push(ImageLog { name: name.to_owned(), times_s: Vec::new(), files: Vec::new() });
            self.images.len() - 1
        });
        let images = &mut self.images[place];
        if images.times_s.last().is_none_or(|last| *last < time_s) {
            images.times_s.push(time_s);
            images.files.push(file);
        }
    }

    /// All signals at the union of their times, with NaN for missing values.
    pub fn aligned(&self) -> (Vec<f64>, Vec<Vec<f64>>) {
        let mut times: Vec<f64> = self.signals.iter().flat_map(|signal| signal.times_s.iter().copied()).collect();
        times.sort_by(f64::total_cmp);
        times.dedup();
        let align = |signal: &SignalLog| {
            let mut values = Vec::with_capacity(times.len() * signal.width);
            let mut next = 0;
            for time in &times {
                if signal.times_s.get(next) == Some(time) {
                    values.extend(signal.row(next));
                    next += 1;
                } else {
                    values.extend(std::iter::repeat_n(f64::NAN, signal.width));
                }
            }
            values
        };
        let values = self.signals.iter().map(align).collect();
        (times, values)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_between_times_lie_on_a_line() {
        let mut log = Log::default();
        for (time, row) in [(0.0, [0.0, 1.0]), (1.0, [2.0, 1.0]), (1.0, [9.0, 9.0]), (3.0, [0.0, f64::INFINITY])] {
            log.push("a", time, &row);
        }
        log.push("a", 4.0, &[1.0]);
        let signal = log.signal("a").unwrap();
        assert_eq!(signal.times_s, [0.0, 1.0, 3.0]);
        assert_eq!(signal.at(0.25), Some(vec![0.5, 1.0]));
        assert_eq!(signal.at(1.0 + 1e-12), Some(vec![2.0, 1.0]));
        assert_eq!((signal.at(-0.1), signal.at(3.1)), (None, None));
        log.push("b", 2.0, &[5.0]);
        let (times, values) = log.aligned();
        assert_eq!(times, [0.0, 1.0, 2.0, 3.0]);
        assert!(values[0][4].is_nan() && values[1][0].is_nan() && values[1][2] == 5.0 && values[0][6] == 0.0);
    }
}
