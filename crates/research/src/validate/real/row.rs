//! One row of the scoreboard: a sensor against one set of measurements.

use super::score::{Sample, Score, Statistic};
use dermis::draw::Image;
use serde::Serialize;

/// What became of a row.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// Compared with the measurements.
    Scored,
    /// The measurements are not at hand.
    NoData,
    /// dermis has no model of this sensor.
    NoModel,
    /// The comparison failed.
    Failed,
}

/// One row.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// Data set and sensor: `gelsight-ball/gelsight`.
    pub name: String,
    /// The sensor of dermis.
    pub sensor: String,
    /// Kind of data.
    pub kind: &'static str,
    /// Folder of the data.
    pub folder: Option<String>,
    /// What became of it.
    pub status: Status,
    /// Why there is no score, or how to get the data.
    pub reason: Option<String>,
    /// What was compared.
    #[serde(flatten)]
    pub comparison: Comparison,
    /// Where data and licence are from.
    pub source: String,
    /// Time that the row took (s).
    pub seconds: f64,
}

/// A figure and its caption.
#[derive(Clone, Debug)]
pub struct Figure {
    /// Its caption.
    pub caption: String,
    /// The figure.
    pub image: Image,
}

/// One kind of error, for every model.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Measure {
    /// Short name, the key of a bar.
    pub name: &'static str,
    /// What is measured, with its unit.
    pub what: &'static str,
    /// How the samples combine.
    pub statistic: Statistic,
    /// The bar that the first score should meet.
    pub bar: Option<f64>,
    /// True if the first score meets it.
    pub holds: Option<bool>,
    /// The scores; the first is the best model of dermis.
    pub scores: Vec<Score>,
}

impl Measure {
    /// A measure without scores.
    pub fn new(name: &'static str, what: &'static str, statistic: Statistic) -> Self {
        Self { name, what, statistic, bar: None, holds: None, scores: Vec::new() }
    }

    /// Adds the score of a model.
    pub fn add(&mut self, model: impl Into<String>, samples: &[Sample]) {
        self.scores.push(Score::new(model, self.statistic, samples));
    }

    /// Compares the first score with a bar.
    pub fn judge(&mut self, bar: f64) {
        self.bar = Some(bar);
        let meets = |value: f64| if self.statistic.higher_is_better() { value >= bar } else { value <= bar };
        self.holds = self.scores.first().map(|score| score.n > 0 && meets(score.value));
    }

    /// The score of a model.
    pub fn score(&self, model: &str) -> Option<&Score> {
        self.scores.iter().find(|score| score.model == model)
    }
}

/// The result of a comparison.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Comparison {
    /// Number of samples.
    pub samples: usize,
    /// Number of samples that the fit used.
    pub fitted_on: usize,
    /// What was fitted, on what.
    pub fitted: String,
    /// Names of the samples that were kept out.
    pub kept_out: Vec<String>,
    /// Errors on the samples that were kept out.
    pub measures: Vec<Measure>,
    /// What a reader must know.
    pub notes: Vec<String>,
    /// Figures: measured, simulated, difference.
    #[serde(skip)]
    pub figures: Vec<Figure>,
}

impl Comparison {
    /// The note on a fit that has fewer samples than `fit` asks for.
    pub fn clipped(&self, fit: Option<usize>) -> Option<String> {
        let (samples, fitted) = (self.samples, self.fitted_on);
        let asked = fit.filter(|asked| *asked > fitted && fitted > 0)?;
        Some(format!("`fit` asks for {asked} of {samples} samples: {fitted} are fitted, and one is kept out"))
    }
}

/// Name of the model that was fitted to part of the samples.
pub const FITTED: &str = "dermis, fitted";
/// Name of the preset as it is shipped.
pub const PRESET: &str = "dermis, preset";
/// Name of the model that predicts no change.
pub const NULL: &str = "null";
/// Name of the table of the mean shape.
pub const MEAN_SHAPE: &str = "mean shape";
