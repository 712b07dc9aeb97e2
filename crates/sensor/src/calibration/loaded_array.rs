//! Fits an array to weights on a stamp that covers many taxels at once.

use super::least_squares::simplex;
use super::{FitError, require_positive};
use crate::ResponseSpec;
use crate::response::{Creep, Curve, Gain, PerTaxel, Response, Threshold, ThresholdKind};
use dermis_geometry::quantity::{Force, Time};

/// Counts of all taxels over time under a constant load.
#[derive(Clone, Debug, PartialEq)]
pub struct LoadRecord {
    /// Load of every taxel (N), from the skin under the stamp.
    pub load_newton: Vec<f64>,
    /// Time since contact (s) and the counts of every taxel.
    pub frames: Vec<(f64, Vec<f64>)>,
}

/// The response of an array: counts = curve(gain · creep(t) · load − threshold).
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct LoadedArrayFit {
    /// Counts per newton of every taxel, before the curve.
    pub gain_counts_per_newton: Vec<f64>,
    /// Threshold of every taxel (counts, before the curve).
    pub threshold_counts: Vec<f64>,
    /// Exponent p of the sigmoid; 1 is a contact resistance in series with a fixed one, R = R_s/F + R_i.
    pub exponent: f64,
    /// Limit of the sigmoid (counts). Far above the readings, the curve is a power of the load.
    pub limit_counts: f64,
    /// Creep: amplitude, of the load.
    pub creep: f64,
    /// Creep: time constant (s).
    pub creep_s: f64,
    /// Taxels that read something. The others have the median gain and threshold.
    pub lit: usize,
    /// Root mean square of the residuals of lit taxels (counts).
    pub rms_counts: f64,
    newton_per_count: f64,
}

/// Frames before this time (s) belong to the placing of the weight.
const SETTLED_S: f64 = 0.5;
/// Maximum number of frames per record.
const MAX_FRAMES: usize = 10;
/// Readings up to this fraction of the top reading count as noise.
const DARK: f64 = 0.01;
/// Standard deviations of the logarithms of gain and threshold about their typical values: wide, only for taxels that the
/// records do not determine.
const GAIN_SPREAD: f64 = 5.0;
const THRESHOLD_SPREAD: f64 = 3.0;
/// Typical threshold and standard deviation of a reading, as fractions of the top reading.
const THRESHOLD: f64 = 0.03;
const NOISE: f64 = 0.05;

/// One taxel: load (N), time (s) and reading (counts) of all frames.
struct TaxelPoints {
    points: Vec<[f64; 3]>,
    typical_gain: f64,
}

/// Curve and creep, which all taxels share, in counts.
#[derive(Clone, Copy)]
struct Shared {
    exponent: f64,
    limit: f64,
    creep: f64,
    creep_s: f64,
    threshold: f64,
    noise: f64,
}

/// Fits gain and threshold of every taxel, and one curve and one creep for all, to records under at least two loads.
pub fn fit_loaded_array(records: &[LoadRecord], counts: Response) -> Result<LoadedArrayFit, FitError> {
    let taxels = check(records)?;
    let top = records.iter().flat_map(|r| &r.frames).flat_map(|f| &f.1).copied().fold(0.0, f64::max);
    require_positive("the largest reading (counts)", top)?;
    let strongest = records.iter().flat_map(|r| &r.load_newton).copied().fold(0.0, f64::max);
    require_positive("the largest load of a taxel (N)", strongest)?;
    let frames: Vec<(usize, usize)> = records.iter().enumerate().flat_map(|(r, record)| chosen(r, record)).collect();
    if frames.len() < 4 {
        return Err(FitError::TooFew { what: "an array under weights (frames)", got: frames.len(), needed: 4 });
    }
    let noise = NOISE * top * (frames.len() as f64 / records.len() as f64).sqrt();
    let typical_gain = top / strongest;
    let points = |taxel: usize| {
        let point = |&(r, f): &(usize, usize)| {
            let frame = &records[r].frames[f];
            [records[r].load_newton[taxel].max(1e-3 * strongest), frame.0, frame.1[taxel]]
        };
        TaxelPoints { points: frames.iter().map(point).collect(), typical_gain }
    };
    let all: Vec<TaxelPoints> = (0..taxels).map(points).collect();
    let lit = |taxel: &&TaxelPoints| taxel.points.iter().any(|point| point[2] > DARK * top);
    let shared = |v: &[f64]| Shared {
        exponent: v[0].exp(),
        limit: v[1].exp() * top,
        creep: v[2].exp() - 1.0,
        creep_s: v[3].exp(),
        threshold: THRESHOLD * top,
        noise,
    };
    let cost = |v: &[f64]| {
        // Weak: exponents around 1.3, limits of a few times the top reading, creep of seconds.
        let prior = (v[0] - 0.26).powi(2) + (v[1] - 1.2).powi(2) / 4.0 + v[2].powi(2) + (v[3] - 1.4).powi(2) / 4.0;
        prior + all.iter().filter(lit).map(|taxel| taxel.fit(&shared(v)).1).sum::<f64>()
    };
    let best = simplex(cost, &[0.26, 1.2, 0.3, 1.4], &[0.3, 0.5, 0.15, 0.4], 600);
    let shared = shared(&best);
    let fits: Vec<Option<[f64; 2]>> = all.iter().map(|taxel| lit(&taxel).then(|| taxel.fit(&shared).0)).collect();
    let median = |part: usize| {
        let mut values: Vec<f64> = fits.iter().flatten().map(|fit| fit[part]).collect();
        values.sort_by(f64::total_cmp);
        values[values.len() / 2]
    };
    let typical = [median(0), median(1)];
    let mut squares = (0.0, 0);
    for (taxel, fit) in all.iter().zip(&fits) {
        if let Some(fit) = fit {
            let off = |point: &[f64; 3]| (shared.counts(*fit, point[0], point[1]) - point[2]).powi(2);
            squares = (squares.0 + taxel.points.iter().map(off).sum::<f64>(), squares.1 + taxel.points.len());
        }
    }
    let part = |part: usize| fits.iter().map(|fit| fit.unwrap_or(typical)[part]).collect();
    Ok(LoadedArrayFit {
        gain_counts_per_newton: part(0),
        threshold_counts: part(1),
        exponent: shared.exponent,
        limit_counts: shared.limit,
        creep: shared.creep,
        creep_s: shared.creep_s,
        lit: fits.iter().flatten().count(),
        rms_counts: (squares.0 / squares.1.max(1) as f64).sqrt(),
        newton_per_count: 1.0 / counts.counts_per_newton,
    })
}

/// Number of taxels of valid records.
fn check(records: &[LoadRecord]) -> Result<usize, FitError> {
    const NEEDED: usize = 2;
    let mut totals: Vec<f64> = records.iter().map(|record| record.load_newton.iter().sum()).collect();
    totals.dedup();
    if totals.len() < NEEDED {
        let what = "an array under weights (different loads)";
        return Err(FitError::TooFew { what, got: totals.len(), needed: NEEDED });
    }
    let taxels = records[0].load_newton.len();
    for (row, record) in records.iter().enumerate() {
        let lengths = std::iter::once(record.load_newton.len()).chain(record.frames.iter().map(|frame| frame.1.len()));
        if let Some(found) = lengths.into_iter().find(|found| *found != taxels) {
            return Err(FitError::OtherSensor { row: row + 1, found, taxels });
        }
        let values = record.frames.iter().flat_map(|frame| frame.1.iter().chain(std::iter::once(&frame.0)));
        if let Some(bad) = values.chain(&record.load_newton).find(|value| !value.is_finite()) {
            return Err(FitError::NotFinite { row: row + 1, x: *bad, y: *bad });
        }
    }
    Ok(taxels)
}

/// Frames of a record at times in geometric progression.
fn chosen(index: usize, record: &LoadRecord) -> Vec<(usize, usize)> {
    let end = record.frames.iter().map(|frame| frame.0).fold(0.0, f64::max);
    let start = (2.0 * SETTLED_S).min(0.5 * end);
    let mut frames: Vec<usize> = (0..MAX_FRAMES)
        .filter_map(|i| {
            let time = start * (end / start).powf(i as f64 / (MAX_FRAMES - 1) as f64);
            let off = |frame: usize| (record.frames[frame].0 - time).abs();
            (0..record.frames.len()).min_by(|&a, &b| off(a).total_cmp(&off(b)))
        })
        .filter(|&frame| record.frames[frame].0 >= SETTLED_S.min(0.5 * end))
        .collect();
    frames.dedup();
    frames.into_iter().map(|frame| (index, frame)).collect()
}

impl Shared {
    fn counts(&self, [gain, threshold]: [f64; 2], load: f64, time_s: f64) -> f64 {
        let crept = load * (1.0 - self.creep * (-time_s / self.creep_s).exp_m1());
        self.curve(gain * crept - threshold).0
    }

    /// The sigmoid and its slope.
    fn curve(&self, u: f64) -> (f64, f64) {
        if u <= 0.0 {
            return (0.0, 0.0);
        }
        let h = (u / self.limit).powf(self.exponent);
        (self.limit * h / (1.0 + h), self.exponent * h * self.limit / (u * (1.0 + h) * (1.0 + h)))
    }
}

impl TaxelPoints {
    /// Gain and threshold with the smallest cost, and the cost: Levenberg's method in their logarithms.
    fn fit(&self, shared: &Shared) -> ([f64; 2], f64) {
        let of = |v: [f64; 2]| [self.typical_gain * v[0].exp(), shared.threshold * v[1].exp()];
        let cost = |v: [f64; 2]| {
            let off = |p: &[f64; 3]| ((shared.counts(of(v), p[0], p[1]) - p[2]) / shared.noise).powi(2);
            let prior = (v[0] / GAIN_SPREAD).powi(2) + (v[1] / THRESHOLD_SPREAD).powi(2);
            self.points.iter().map(off).sum::<f64>() + prior
        };
        let (mut v, mut damping) = ([0.0; 2], 1e-3);
        let mut now = cost(v);
        for _ in 0..20 {
            let [gain, threshold] = of(v);
            let mut matrix = [[GAIN_SPREAD.powi(-2), 0.0], [0.0, THRESHOLD_SPREAD.powi(-2)]];
            let mut right = [-v[0] * matrix[0][0], -v[1] * matrix[1][1]];
            for &[load, time_s, reading] in &self.points {
                let driven = gain * load * (1.0 - shared.creep * (-time_s / shared.creep_s).exp_m1());
                let (value, slope) = shared.curve(driven - threshold);
                let by = [slope * driven / shared.noise, -slope * threshold / shared.noise];
                for i in 0..2 {
                    right[i] += by[i] * (reading - value) / shared.noise;
                    (0..2).for_each(|j| matrix[i][j] += by[i] * by[j]);
                }
            }
            let [[a, b], [_, d]] = matrix;
            let (a, d) = (a * (1.0 + damping), d * (1.0 + damping));
            let determinant = a * d - b * b;
            let step = [(d * right[0] - b * right[1]) / determinant, (a * right[1] - b * right[0]) / determinant];
            // A step of more than an e-fold leaves the range of the linearisation.
            let next = [v[0] + step[0].clamp(-1.0, 1.0), v[1] + step[1].clamp(-1.0, 1.0)];
            let then = cost(next);
            if then < now {
                let done = now - then < 1e-9 * now;
                (v, now, damping) = (next, then, (0.3 * damping).max(1e-9));
                if done {
                    break;
                }
            } else {
                damping *= 8.0;
                if damping > 1e6 {
                    break;
                }
            }
        }
        (of(v), now)
    }
}

impl LoadedArrayFit {
    /// A response with the fitted stages, and the other stages of `kept`.
    pub fn response(&self, kept: &ResponseSpec) -> ResponseSpec {
        let newton = self.newton_per_count;
        let gains = self.gain_counts_per_newton.iter().map(|gain| gain * newton).collect();
        let thresholds = self.threshold_counts.iter().map(|counts| Force::new(counts * newton)).collect();
        ResponseSpec {
            quantised: true,
            creep: vec![Creep { amplitude: self.creep, time: Time::new(self.creep_s) }],
            gain: Some(Gain { gain: PerTaxel::Each(gains), ..Gain::default() }),
            threshold: Some(Threshold { force: PerTaxel::Each(thresholds), kind: ThresholdKind::DeadBand }),
            curve: Some(Curve::Sigmoid { exponent: self.exponent, limit: Force::new(self.limit_counts * newton) }),
            saturation: None,
            ..kept.clone()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Records of a known law: the fit finds it from two loads and predicts a third between them.
    #[test]
    fn weights_on_many_taxels_determine_law_gains_and_creep() {
        let truth = Shared { exponent: 1.3, limit: 6000.0, creep: 0.4, creep_s: 3.0, threshold: 0.0, noise: 1.0 };
        let taxels: Vec<[f64; 2]> =
            (0..12).map(|i| [900.0 + 60.0 * f64::from(i), 20.0 + 5.0 * f64::from(i % 4)]).collect();
        let record = |newton: f64| LoadRecord {
            load_newton: (0..13).map(|i| if i < 12 { newton * (0.5 + 0.05 * f64::from(i)) } else { 0.0 }).collect(),
            frames: (0..=120)
                .map(|k| {
                    let time_s = 0.1 * f64::from(k);
                    let read = |(i, taxel): (usize, &[f64; 2])| {
                        truth.counts(*taxel, newton * (0.5 + 0.05 * i as f64), time_s).round()
                    };
                    (time_s, taxels.iter().enumerate().map(read).chain([0.0]).collect())
                })
                .collect(),
        };
        let counts = Response { counts_per_newton: 1000.0, bits: 12 };
        let fit = fit_loaded_array(&[record(1.0), record(4.0)], counts).unwrap();
        assert_eq!(fit.lit, 12);
        let shared =
            Shared { exponent: fit.exponent, limit: fit.limit_counts, creep: fit.creep, creep_s: fit.creep_s, ..truth };
        let unseen = record(2.5);
        let (mut worst, mut top) = (0.0f64, 0.0f64);
        for (time_s, counts) in unseen.frames.iter().filter(|frame| frame.0 >= 1.0) {
            for (i, reading) in counts.iter().enumerate().take(12) {
                let own = [fit.gain_counts_per_newton[i], fit.threshold_counts[i]];
                worst = worst.max((shared.counts(own, unseen.load_newton[i], *time_s) - reading).abs());
                top = top.max(*reading);
            }
        }
        assert!(worst < 0.03 * top, "{worst} of {top}: {fit:?}");
        assert!(fit_loaded_array(&[record(1.0)], counts).is_err(), "one load says nothing of the law");
    }
}
