//! Scores of other programs on the same kept-out samples.

use super::RealError;
use super::score::Score;
use super::table::text_of;
use serde::Deserialize;
use std::path::Path;

/// The score of another program.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Peer {
    /// Name of the row: `gelsight-ball/gelsight`.
    pub row: String,
    /// Name of the measure: `inside`.
    pub measure: String,
    /// Program and version.
    pub model: String,
    /// Its score.
    pub value: f64,
    /// Number of samples.
    pub n: usize,
}

impl Peer {
    /// Reads a JSON list.
    pub fn read(path: &Path) -> Result<Vec<Self>, RealError> {
        serde_json::from_str(&text_of(path)?).map_err(|error| RealError::Bad {
            what: path.display().to_string(),
            rule: format!("is no list of scores with `row`, `measure`, `model`, `value` and `n`: {error}"),
        })
    }

    /// The score, without an interval.
    pub(super) fn score(&self) -> Score {
        let Self { model, value, n, .. } = self.clone();
        Score { model, value, interval: None, median: None, worst: None, n }
    }
}
