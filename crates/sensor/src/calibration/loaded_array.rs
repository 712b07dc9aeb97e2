//! Fits an array to weights on a stamp that covers many taxels at once.

use super::least_squares::{simplex, solve, student_975};
use super::{Estimate, FitError, require_positive};
use crate::ResponseSpec;
use crate::response::{Creep, Curve, Drift, Gain, PerTaxel, Response, Threshold, ThresholdKind};
use dermis_geometry::quantity::{Force, Time};

/// Counts of all taxels over time under a constant load.
#[derive(Clone, Debug, PartialEq)]
pub struct LoadRecord {
    /// Load of every taxel (N), from the skin under the stamp.
    pub load_newton: Vec<f64>,
    /// Temperature above the reference (K).
    pub rise_kelvin: f64,
    /// Time since contact (s) and the counts of every taxel.
    pub frames: Vec<(f64, Vec<f64>)>,
}

/// The response of an array: counts = curve(gain · (1 + a ΔT) · creep(t) · load − threshold).
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
    /// Relative change a of the gains per kelvin (1/K), if the records have different temperatures. Its interval takes the
    /// frames of a taxel in a record for dependent on each other.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gain_per_kelvin: Option<Estimate>,
    /// True for the taxels that read something. The others have the median gain and threshold.
    #[serde(skip)]
    pub reads: Vec<bool>,
    /// Number of taxels that read something.
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

/// One taxel: load (N), time (s), reading (counts) and temperature above the reference (K) of all frames.
struct TaxelPoints {
    points: Vec<[f64; 4]>,
    typical_gain: f64,
}

/// Curve, creep and drift, which all taxels share, in counts.
#[derive(Clone, Copy)]
struct Shared {
    per_kelvin: f64,
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
    let drifts = records.iter().any(|record| record.rise_kelvin != records[0].rise_kelvin);
    let rises = records.iter().map(|record| record.rise_kelvin);
    let farthest = rises.fold(0.0f64, |far, rise| if rise.abs() > far.abs() { rise } else { far });
    let noise = NOISE * top * (frames.len() as f64 / records.len() as f64).sqrt();
    let typical_gain = top / strongest;
    let points = |taxel: usize| {
        let point = |&(r, f): &(usize, usize)| {
            let frame = &records[r].frames[f];
            let rise = if drifts { records[r].rise_kelvin } else { 0.0 };
            [records[r].load_newton[taxel].max(1e-3 * strongest), frame.0, frame.1[taxel], rise]
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
        // The logarithm of the factor at the farthest temperature.
        per_kelvin: v.get(4).map_or(0.0, |factor_ln| factor_ln.exp_m1() / farthest),
        threshold: THRESHOLD * top,
        noise,
    };
    let cost = |v: &[f64]| {
        // Weak: exponents around 1.3, limits of a few times the top reading, creep of seconds.
        let prior = (v[0] - 0.26).powi(2) + (v[1] - 1.2).powi(2) / 4.0 + v[2].powi(2) + (v[3] - 1.4).powi(2) / 4.0;
        let prior = prior + v.get(4).map_or(0.0, |factor_ln| factor_ln.powi(2) / 4.0);
        prior + all.iter().filter(lit).map(|taxel| taxel.fit(&shared(v)).1).sum::<f64>()
    };
    let count = if drifts { 5 } else { 4 };
    let best = simplex(cost, &[0.26, 1.2, 0.3, 1.4, 0.0][..count], &[0.3, 0.5, 0.15, 0.4, 0.2][..count], 600);
    let residuals = |v: &[f64]| -> Vec<f64> {
        let shared = shared(v);
        all.iter().filter(lit).flat_map(|taxel| taxel.residuals(taxel.fit(&shared).0, &shared)).collect()
    };
    let gain_per_kelvin = drifts.then(|| {
        let record_of: Vec<usize> = frames.iter().map(|frame| frame.0).collect();
        let ci95 = last_ci95(residuals, &best, &record_of) * best[4].exp() / farthest.abs();
        Estimate { value: best[4].exp_m1() / farthest, ci95 }
    });
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
            let off: f64 = taxel.residuals(*fit, &shared).map(|off| off * off).sum();
            squares = (squares.0 + off, squares.1 + taxel.points.len());
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
        gain_per_kelvin,
        reads: fits.iter().map(Option::is_some).collect(),
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
        if let Some(bad) =
            values.chain(&record.load_newton).chain([&record.rise_kelvin]).find(|value| !value.is_finite())
        {
            return Err(FitError::NotFinite { row: row + 1, x: *bad, y: *bad });
        }
    }
    Ok(taxels)
}

/// Half-width of the 95 % interval of the last of the shared parameters `v`, from the slopes of the residuals (counts) of
/// all taxels, each with the frames of the records `record_of`. Residuals of a taxel in one record depend on each other and
/// may be of any size (the variance of White and Liang–Zeger); gain and threshold of the taxels are fitted anew.
fn last_ci95(residuals: impl Fn(&[f64]) -> Vec<f64>, v: &[f64], record_of: &[usize]) -> f64 {
    const STEP: f64 = 0.01;
    let by = |k: usize| {
        let moved = |step: f64| {
            let mut v = v.to_vec();
            v[k] += step;
            residuals(&v)
        };
        moved(STEP).into_iter().zip(moved(-STEP)).map(|(up, down)| (up - down) / (2.0 * STEP)).collect::<Vec<f64>>()
    };
    let columns: Vec<Vec<f64>> = (0..v.len()).map(by).collect();
    let off = residuals(v);
    let rows: Vec<Vec<f64>> = (0..off.len()).map(|i| columns.iter().map(|column| column[i]).collect()).collect();
    let Some(solution) = solve(&rows, &off) else { return f64::INFINITY };
    let weights: Vec<f64> = solution.inverse.row(v.len() - 1).iter().copied().collect();
    let (mut variance, mut groups, mut sum) = (0.0, 0, 0.0);
    for (i, (row, off)) in rows.iter().zip(&off).enumerate() {
        sum += off * row.iter().zip(&weights).map(|(by, weight)| by * weight).sum::<f64>();
        let frame = i % record_of.len();
        if record_of.get(frame + 1) != Some(&record_of[frame]) {
            (variance, groups, sum) = (variance + sum * sum, groups + 1, 0.0);
        }
    }
    let freedom = groups - 2 * (off.len() / record_of.len()) as i32 - v.len() as i32;
    student_975(freedom.max(0) as usize) * (variance * f64::from(groups) / f64::from(freedom.max(1))).sqrt()
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
    fn counts(&self, [gain, threshold]: [f64; 2], point: &[f64; 4]) -> f64 {
        self.curve(gain * self.drive(point) - threshold).0
    }

    /// The load of a point (N) after creep and drift.
    fn drive(&self, &[load, time_s, _, rise]: &[f64; 4]) -> f64 {
        load * (1.0 - self.creep * (-time_s / self.creep_s).exp_m1()) * (1.0 + self.per_kelvin * rise).max(0.01)
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
    /// Differences (counts) of the model from the readings.
    fn residuals(&self, own: [f64; 2], shared: &Shared) -> impl Iterator<Item = f64> {
        self.points.iter().map(move |point| shared.counts(own, point) - point[2])
    }

    /// Gain and threshold with the smallest cost, and the cost: Levenberg's method in their logarithms.
    fn fit(&self, shared: &Shared) -> ([f64; 2], f64) {
        let of = |v: [f64; 2]| [self.typical_gain * v[0].exp(), shared.threshold * v[1].exp()];
        let cost = |v: [f64; 2]| {
            let prior = (v[0] / GAIN_SPREAD).powi(2) + (v[1] / THRESHOLD_SPREAD).powi(2);
            self.residuals(of(v), shared).map(|off| (off / shared.noise).powi(2)).sum::<f64>() + prior
        };
        let (mut v, mut damping) = ([0.0; 2], 1e-3);
        let mut now = cost(v);
        for _ in 0..20 {
            let [gain, threshold] = of(v);
            let mut matrix = [[GAIN_SPREAD.powi(-2), 0.0], [0.0, THRESHOLD_SPREAD.powi(-2)]];
            let mut right = [-v[0] * matrix[0][0], -v[1] * matrix[1][1]];
            for point in &self.points {
                let driven = gain * shared.drive(point);
                let (value, slope) = shared.curve(driven - threshold);
                let by = [slope * driven / shared.noise, -slope * threshold / shared.noise];
                for i in 0..2 {
                    right[i] += by[i] * (point[2] - value) / shared.noise;
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
            gain: Some(Gain {
                gain: PerTaxel::Each(gains),
                drift: self.gain_per_kelvin.and_then(Drift::fitted),
                ..Gain::default()
            }),
            threshold: Some(Threshold { force: PerTaxel::Each(thresholds), kind: ThresholdKind::DeadBand }),
            curve: Some(Curve::Sigmoid { exponent: self.exponent, limit: Force::new(self.limit_counts * newton) }),
            saturation: None,
            ..kept.clone()
        }
    }
}
