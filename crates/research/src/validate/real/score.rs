//! Errors of a model over samples: pooled, with an interval by bootstrap, median and worst sample.

use dermis::geometry::Random;
use serde::Serialize;

/// How the numbers of samples combine to one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Statistic {
    /// √(Σ squares / Σ weights): a root mean square error.
    Rms,
    /// 1 − Σ squares / Σ variation: the explained fraction of the variance (R²).
    Explained,
    /// The largest error of all samples.
    Largest,
}

/// One sample: its error, and what it is divided by.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    /// Sum of squared errors, or an error for [`Statistic::Largest`].
    pub error: f64,
    /// Number of terms, variation, or 1.
    pub weight: f64,
}

/// The score of one model.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Score {
    /// The model.
    pub model: String,
    /// Score over all samples.
    pub value: f64,
    /// 95 % interval by bootstrap over the samples; absent for a single sample and for other programs.
    pub interval: Option<[f64; 2]>,
    /// Median of the samples.
    pub median: Option<f64>,
    /// Worst sample.
    pub worst: Option<f64>,
    /// Number of samples.
    pub n: usize,
}

/// Number of bootstrap samples.
const RESAMPLED: usize = 1000;
/// Seed of the bootstrap.
pub const SEED: u64 = 21;

impl Statistic {
    /// True if a larger score is better.
    pub fn higher_is_better(self) -> bool {
        self == Self::Explained
    }

    fn of(self, samples: impl Iterator<Item = Sample> + Clone) -> f64 {
        let sum = |part: fn(&Sample) -> f64| samples.clone().map(|sample| part(&sample)).sum::<f64>();
        let ratio = || sum(|sample| sample.error) / sum(|sample| sample.weight).max(f64::MIN_POSITIVE);
        match self {
            Self::Rms => ratio().sqrt(),
            Self::Explained => 1.0 - ratio(),
            Self::Largest => samples.clone().map(|sample| sample.error / sample.weight).fold(0.0, f64::max),
        }
    }
}

impl Score {
    /// Combines the samples of a model.
    pub fn new(model: impl Into<String>, statistic: Statistic, samples: &[Sample]) -> Self {
        let n = samples.len();
        let mut single: Vec<f64> = samples.iter().map(|sample| statistic.of(std::iter::once(*sample))).collect();
        single.sort_by(f64::total_cmp);
        let worst = if statistic.higher_is_better() { single.first() } else { single.last() };
        Self {
            model: model.into(),
            value: statistic.of(samples.iter().copied()),
            interval: (n > 1).then(|| bootstrap(statistic, samples)),
            median: (n > 0).then(|| 0.5 * (single[(n - 1) / 2] + single[n / 2])),
            worst: worst.copied(),
            n,
        }
    }
}

fn bootstrap(statistic: Statistic, samples: &[Sample]) -> [f64; 2] {
    let mut random = Random::new(SEED);
    let mut values: Vec<f64> = (0..RESAMPLED)
        .map(|_| {
            let pick = |_| samples[((random.uniform() * samples.len() as f64) as usize).min(samples.len() - 1)];
            let drawn: Vec<Sample> = samples.iter().map(pick).collect();
            statistic.of(drawn.iter().copied())
        })
        .collect();
    values.sort_by(f64::total_cmp);
    let quantile = |part: f64| values[((RESAMPLED - 1) as f64 * part).round() as usize];
    [quantile(0.025), quantile(0.975)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_are_pooled_by_their_weights_and_the_interval_contains_the_score() {
        let samples: Vec<Sample> =
            (1..=20).map(|i| Sample { error: 4.0 * f64::from(i), weight: f64::from(i) }).collect();
        let score = Score::new("m", Statistic::Rms, &samples);
        assert!((score.value - 2.0).abs() < 1e-12 && score.median == Some(2.0) && score.worst == Some(2.0));
        let uneven: Vec<Sample> = (1..=20).map(|i| Sample { error: f64::from(i), weight: 1.0 }).collect();
        let score = Score::new("m", Statistic::Rms, &uneven);
        let [low, high] = score.interval.unwrap();
        assert!(low < score.value && score.value < high, "{score:?}");
        assert_eq!(score, Score::new("m", Statistic::Rms, &uneven), "the bootstrap is seeded");
        assert_eq!(Score::new("m", Statistic::Largest, &uneven).value, 20.0);
        let half = Score::new("m", Statistic::Explained, &[Sample { error: 1.0, weight: 2.0 }]);
        assert_eq!((half.value, half.interval), (0.5, None));
    }
}
