//! Records of a taxel array under weights.

use super::RealError;
use super::table::Table;
use dermis::sensor::Sensor;
use std::path::Path;

/// Standard gravity (m/s²).
const GRAVITY: f64 = 9.806_65;
/// Frames of this time span (s) are scored.
const SCORED_S: [f64; 2] = [1.0, 12.0];

/// The readings of one weight.
pub struct Record {
    /// File name.
    pub name: String,
    /// The weight (g).
    pub grams: f64,
    /// Time since contact (s) and the counts of every taxel.
    pub frames: Vec<(f64, Vec<f64>)>,
}

/// The weight in a file name that fits a pattern.
fn grams_of(pattern: &str, name: &str) -> Option<f64> {
    let (before, after) = pattern.split_once("{grams}")?;
    let fits = |pattern: &str, text: &str, ends: bool| match pattern.split_once('*') {
        None => text == pattern,
        Some((start, end)) => {
            text.len() >= start.len() + end.len() && text.starts_with(start) && (text.ends_with(end) || !ends)
        }
    };
    let digits = |text: &str| text.chars().take_while(|c| c.is_ascii_digit() || *c == '.').count();
    let starts = name.char_indices().map(|(at, _)| at).filter(|&at| fits(before, &name[..at], true));
    starts
        .filter_map(|at| {
            let count = digits(&name[at..]);
            let rest = &name[at + count..];
            (count > 0 && fits(after, rest, true)).then(|| name[at..at + count].parse().ok()).flatten()
        })
        .next()
}

/// True if a file name fits a pattern.
pub fn is_record(pattern: &str, name: &str) -> bool {
    grams_of(pattern, name).is_some()
}

/// Reads all records of a folder, by weight and name.
pub fn read(folder: &Path, pattern: &str, sensor: &Sensor) -> Result<Vec<Record>, RealError> {
    let mut files: Vec<(f64, String)> = std::fs::read_dir(folder)?
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .filter_map(|name| Some((grams_of(pattern, &name)?, name)))
        .collect();
    files.sort_by(|a, b| a.0.total_cmp(&b.0).then_with(|| a.1.cmp(&b.1)));
    if files.is_empty() {
        return Err(RealError::NoRecords { folder: folder.display().to_string(), pattern: pattern.to_owned() });
    }
    let taxels = sensor.taxels().len();
    files
        .into_iter()
        .map(|(grams, name)| {
            let path = folder.join(&name);
            let table = Table::read(&path)?;
            let found = table.rows[0].len() - 1;
            if found != taxels {
                let sensor = sensor.name().to_owned();
                return Err(RealError::OtherSensor { path: path.display().to_string(), found, sensor, taxels });
            }
            let frames = table.rows.iter().map(|row| (row[0], row[1..].to_vec())).collect();
            Ok(Record { name, grams, frames })
        })
        .collect()
}

impl Record {
    /// Force of the weight (N).
    pub fn newton(&self) -> f64 {
        1e-3 * self.grams * GRAVITY
    }

    /// Frames that are scored.
    pub fn scored(&self) -> impl Iterator<Item = &(f64, Vec<f64>)> {
        self.frames.iter().filter(|frame| (SCORED_S[0]..=SCORED_S[1]).contains(&frame.0))
    }
}

/// Mean counts of every taxel over the scored frames of all records.
pub fn mean_reading(records: &[&Record]) -> Vec<f64> {
    let frames: Vec<&Vec<f64>> = records.iter().flat_map(|record| record.scored()).map(|frame| &frame.1).collect();
    let taxels = frames.first().map_or(0, |frame| frame.len());
    (0..taxels).map(|i| frames.iter().map(|frame| frame[i]).sum::<f64>() / frames.len() as f64).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_are_read_from_file_names() {
        let pattern = "room-{grams}g-*.csv.gz";
        assert_eq!(grams_of(pattern, "room-400g-2.csv.gz"), Some(400.0));
        assert_eq!(grams_of(pattern, "hot-400g-2.csv.gz"), None);
        assert_eq!(grams_of(pattern, "room-g-2.csv.gz"), None);
        assert_eq!(grams_of("*-{grams}g.csv", "cold-12.5g.csv"), Some(12.5));
    }
}
