//! Readings of a sensor that dermis has no model of: the error of the null model, which a model would have to beat.

use super::row::{Comparison, Measure, NULL};
use super::score::{Sample, Statistic};
use super::table::Table;
use super::{RealError, Setting};
use std::path::Path;

/// Scores the mean reading of every channel.
pub fn compare(setting: &Setting<'_>, table: &Path, columns: [usize; 2], unit: &str) -> Result<Comparison, RealError> {
    let path = setting.folder.join(table);
    let rows = Table::read(&path)?.rows;
    let [first, last] = columns;
    if first > last || last >= rows[0].len() {
        let rule = format!("`columns` must lie within the {} columns of the table, got {columns:?}", rows[0].len());
        return Err(RealError::Bad { what: path.display().to_string(), rule });
    }
    let channels = last - first + 1;
    let mean: Vec<f64> =
        (first..=last).map(|c| rows.iter().map(|row| row[c]).sum::<f64>() / rows.len() as f64).collect();
    let sample = |row: &Vec<f64>| {
        let error = row[first..=last].iter().zip(&mean).map(|(value, mean)| (value - mean).powi(2)).sum();
        Sample { error, weight: channels as f64 }
    };
    let mut measure = Measure::new("readings", "readings of all channels: rms error", Statistic::Rms);
    measure.add(NULL, &rows.iter().map(sample).collect::<Vec<_>>());
    let notes = vec![format!("{channels} channels in {unit}; the null model is the mean reading of each")];
    Ok(Comparison {
        samples: rows.len(),
        fitted: "nothing".into(),
        measures: vec![measure],
        notes,
        ..Comparison::default()
    })
}
