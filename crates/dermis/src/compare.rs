//! Compares the numbers and images of two recordings over time.

mod page;
mod signal;

pub use page::{add, csv};
pub use signal::{SignalComparison, Trace};

use dermis_record::{ImageLog, Log, SignalLog};
use dermis_sensor::metrics::{ChannelImage, Metrics, MetricsError, Ssim};
use serde::Serialize;
use signal::compare_signal;
use std::borrow::Cow;

/// An error in comparing recordings.
///
/// ```
/// use dermis::compare::{CompareError, Options, compare};
/// use dermis::record::Log;
/// let (a, b) = (Log { source: "a.csv".into(), ..Log::default() }, Log { source: "b.csv".into(), ..Log::default() });
/// let error = compare(&a, &b, &Options::default()).unwrap_err();
/// assert!(matches!(error, CompareError::NothingInCommon { .. }));
/// ```
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the message of each variant names its fields")]
pub enum CompareError {
    /// The recordings share no signal name.
    #[error(
        "{a} and {b} have no signal in common; the first has {in_a}, the second {in_b}; pair them with `--pair A=B`"
    )]
    NothingInCommon { a: String, b: String, in_a: String, in_b: String },
    /// The recordings do not overlap in time.
    #[error(
        "{a} and {b} have no time in common: {a_times} and {b_times}; `--from-start` shifts both to start at t = 0"
    )]
    NoCommonTime { a: String, b: String, a_times: String, b_times: String },
    /// Signals of equal name or of a pair differ in kind.
    #[error("{a} and {b} have nothing that can be compared: {reasons}")]
    Unlike { a: String, b: String, reasons: String },
    /// A pair names an unknown signal.
    #[error("`--pair {pair}`: {source_name} has no {name:?}; it has {known}")]
    BadPair { pair: String, source_name: String, name: String, known: String },
}

/// Options of a comparison.
///
/// ```
/// use dermis::compare::{Options, compare};
/// use dermis::record::{Log, SignalLog};
/// # let log = |source: &str, values: Vec<f64>| Log {
/// #     source: source.into(),
/// #     signals: vec![SignalLog { name: "pad/sum_n".into(), width: 1, times_s: vec![0.0, 0.1, 0.2], values }],
/// #     ..Log::default()
/// # };
/// # let (real, simulated) = (log("real.csv", vec![0.0, 1.0, 2.0]), log("simulated.csv", vec![0.0, 1.0, 2.5]));
/// let options = Options { shift_s: 0.1, ..Options::default() };
/// assert_eq!(compare(&real, &simulated, &options)?.signals[0].times, 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Pairs of names in the first and second recording to compare.
    pub pairs: Vec<(String, String)>,
    /// Shift both recordings to start at t = 0.
    pub from_start: bool,
    /// Time (s) added to the second recording.
    pub shift_s: f64,
}

/// The comparison of two recordings.
///
/// ```
/// use dermis::compare::{Options, compare};
/// use dermis::record::{Log, SignalLog};
/// # let log = |source: &str, values: Vec<f64>| Log {
/// #     source: source.into(),
/// #     signals: vec![SignalLog { name: "pad/sum_n".into(), width: 1, times_s: vec![0.0, 0.1, 0.2], values }],
/// #     ..Log::default()
/// # };
/// # let (real, simulated) = (log("real.csv", vec![0.0, 1.0, 2.0]), log("simulated.csv", vec![0.0, 1.0, 2.5]));
/// let comparison = compare(&real, &simulated, &Options::default())?;
/// assert_eq!((comparison.signals.len(), comparison.images.len()), (1, 0));
/// assert!(comparison.only_in_a.is_empty() && comparison.only_in_b.is_empty());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Serialize)]
pub struct Comparison {
    /// The first recording, used as the reference.
    pub a: String,
    /// The second recording.
    pub b: String,
    /// Compared signals.
    pub signals: Vec<SignalComparison>,
    /// Compared image sequences.
    pub images: Vec<ImageComparison>,
    /// Signals that could not be compared, with the reason.
    pub skipped: Vec<String>,
    /// Names in the first recording only.
    pub only_in_a: Vec<String>,
    /// Names in the second recording only.
    pub only_in_b: Vec<String>,
}

/// The comparison of one image sequence.
///
/// ```
/// use dermis::compare::{Options, compare};
/// use dermis::record::{ImageLog, Log};
/// let grey = |level| dermis::draw::Image::new(16, 16, [level; 3]).encode_png();
/// let log = |source: &str, level| Log {
///     source: source.into(),
///     images: vec![ImageLog { name: "gel/camera".into(), times_s: vec![0.0], files: vec![grey(level)] }],
///     ..Log::default()
/// };
/// let comparison = compare(&log("real", 100), &log("simulated", 103), &Options::default())?;
/// assert_eq!(comparison.images[0].score.map(|score| score.mae_255), Some(3.0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Serialize)]
pub struct ImageComparison {
    /// Its name in the first recording.
    pub name: String,
    /// Its name in the second recording.
    pub other_name: String,
    /// Number of compared pairs.
    pub times: usize,
    /// Mean scores.
    pub score: Option<Metrics>,
    /// Mean scores of the first image of the first recording against its compared images, as a baseline.
    pub null: Option<Metrics>,
    /// Reason for which a pair could not be compared.
    pub left_out: Option<String>,
    /// Time (s) and score of each pair.
    #[serde(skip)]
    pub over_time: Vec<(f64, Metrics)>,
    /// Indices of the least similar pair.
    #[serde(skip)]
    pub worst: Option<(usize, usize)>,
}

/// First and last time of a recording (s).
fn span(log: &Log) -> Option<(f64, f64)> {
    let signals = log.signals.iter().map(|signal| &signal.times_s);
    let all = signals.chain(log.images.iter().map(|images| &images.times_s));
    all.filter_map(|times| Some((*times.first()?, *times.last()?))).reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)))
}

/// Adds a time (s) to every sample.
fn shift(log: &mut Log, by_s: f64) {
    let signals = log.signals.iter_mut().map(|signal| &mut signal.times_s);
    let all = signals.chain(log.images.iter_mut().map(|images| &mut images.times_s));
    all.flatten().for_each(|time| *time += by_s);
}

fn names(log: &Log) -> Vec<String> {
    let signals = log.signals.iter().map(|signal| &signal.name);
    signals.chain(log.images.iter().map(|images| &images.name)).cloned().collect()
}

fn list(names: &[String]) -> String {
    match names.len() {
        0 => "nothing".into(),
        1..=12 => names.join(", "),
        more => format!("{} and {} more", names[..12].join(", "), more - 12),
    }
}

/// Compares the second recording with the first. Signals are interpolated at the times of the first; images are paired
/// by time.
pub fn compare(a: &Log, b: &Log, options: &Options) -> Result<Comparison, CompareError> {
    let (mut a, mut b) = (a.clone(), b.clone());
    if options.from_start {
        for log in [&mut a, &mut b] {
            let start = span(log).map_or(0.0, |(start, _)| start);
            shift(log, -start);
        }
    }
    shift(&mut b, options.shift_s);
    let (names_a, names_b) = (names(&a), names(&b));
    for (name_a, name_b) in &options.pairs {
        for (log, names, name) in [(&a, &names_a, name_a), (&b, &names_b, name_b)] {
            if !names.contains(name) && pick(log, name).is_none() {
                let (source_name, name, known) = (log.source.clone(), name.clone(), list(names));
                return Err(CompareError::BadPair { pair: format!("{name_a}={name_b}"), source_name, name, known });
            }
        }
    }
    // Pairs first; then equal names that no pair uses.
    let is_paired = |name: &String| options.pairs.iter().any(|(in_a, _)| in_a == name);
    let equal = names_a.iter().filter(|name| !is_paired(name) && names_b.contains(name));
    let common: Vec<(String, String)> =
        options.pairs.iter().cloned().chain(equal.map(|name| (name.clone(), name.clone()))).collect();
    if common.is_empty() {
        let (in_a, in_b) = (list(&names_a), list(&names_b));
        return Err(CompareError::NothingInCommon { a: a.source, b: b.source, in_a, in_b });
    }
    let (mut signals, mut skipped) = (Vec::new(), Vec::new());
    for (in_a, in_b) in &common {
        match (pick(&a, in_a), pick(&b, in_b)) {
            (Some(of_a), Some(of_b)) if of_a.width != of_b.width => skipped.push(format!(
                "{in_a} has {} and {in_b} {} numbers per time; `--pair {in_a}={in_b}.0` takes one of several",
                of_a.width, of_b.width
            )),
            (Some(of_a), Some(of_b)) => signals.extend(compare_signal(&of_a, &of_b)),
            (None, None) => (),
            _ => skipped.push(format!("of {in_a} and {in_b} one is a signal and one is a sequence of images")),
        }
    }
    // Heat maps show numbers that are compared as signals.
    let is_drawn = |name: &str| {
        let owner = name.strip_suffix("/tactile");
        owner.is_some_and(|owner| signals.iter().any(|signal| signal.name == format!("{owner}/taxels_n")))
    };
    let images: Vec<ImageComparison> = a
        .images
        .iter()
        .filter(|images| !is_drawn(&images.name))
        .filter_map(|images| {
            let (_, other) = common.iter().find(|(in_a, _)| *in_a == images.name)?;
            Some(compare_images(images, b.images(other)?))
        })
        .collect();
    if signals.is_empty() && images.iter().all(|images| images.times == 0 && images.left_out.is_none()) {
        if !skipped.is_empty() {
            return Err(CompareError::Unlike { a: a.source, b: b.source, reasons: skipped.join("; ") });
        }
        let times = |log: &Log| span(log).map_or("no times".into(), |(from, to)| format!("{from:.3} s to {to:.3} s"));
        let (a_times, b_times) = (times(&a), times(&b));
        return Err(CompareError::NoCommonTime { a: a.source, b: b.source, a_times, b_times });
    }
    let uses = |name: &str, used: &String| used == name || used.rsplit_once('.').is_some_and(|(of, _)| of == name);
    let only_in_a = names_a.into_iter().filter(|name| !common.iter().any(|(used, _)| uses(name, used))).collect();
    let only_in_b = names_b.into_iter().filter(|name| !common.iter().any(|(_, used)| uses(name, used))).collect();
    Ok(Comparison { a: a.source, b: b.source, signals, images, skipped, only_in_a, only_in_b })
}

/// A signal by name, or one number of it: `pad/force_n.2`.
fn pick<'a>(log: &'a Log, name: &str) -> Option<Cow<'a, SignalLog>> {
    if let Some(signal) = log.signal(name) {
        return Some(Cow::Borrowed(signal));
    }
    let (of, place) = name.rsplit_once('.')?;
    let (signal, place) = (log.signal(of)?, place.parse::<usize>().ok()?);
    let values = (place < signal.width).then(|| signal.values.iter().skip(place).step_by(signal.width).copied())?;
    let (name, times_s) = (name.to_owned(), signal.times_s.clone());
    Some(Cow::Owned(SignalLog { name, width: 1, times_s, values: values.collect() }))
}

/// The median time between images (s).
fn median_gap_s(times_s: &[f64]) -> f64 {
    let mut gaps: Vec<f64> = times_s.windows(2).map(|two| two[1] - two[0]).collect();
    gaps.sort_by(f64::total_cmp);
    gaps.get(gaps.len() / 2).copied().unwrap_or(0.0)
}

fn compare_images(a: &ImageLog, b: &ImageLog) -> ImageComparison {
    let near_s = 0.5 * median_gap_s(&a.times_s).max(median_gap_s(&b.times_s)) + 1e-9;
    let ssim = Ssim::default();
    let (mut over_time, mut nulls, mut left_out, mut worst) = (Vec::new(), Vec::new(), None, None);
    let mut worst_ssim = f64::INFINITY;
    let frame = |log: &ImageLog, i: usize| {
        ChannelImage::from_png(format!("{}, {:.3} s", log.name, log.times_s[i]), &log.files[i])
    };
    let first = if a.files.is_empty() { None } else { frame(a, 0).ok() };
    for (i, &time_s) in a.times_s.iter().enumerate() {
        let next = b.times_s.partition_point(|known| *known < time_s);
        let off = |j: &usize| (b.times_s[*j] - time_s).abs();
        let candidates = [next.checked_sub(1), (next < b.times_s.len()).then_some(next)];
        let nearest = candidates.into_iter().flatten().min_by(|x, y| off(x).total_cmp(&off(y)));
        let Some(j) = nearest.filter(|j| off(j) <= near_s) else { continue };
        let scored = || -> Result<(Metrics, Option<Metrics>), MetricsError> {
            let (truth, image) = (frame(a, i)?, frame(b, j)?);
            let null = first.as_ref().and_then(|first| Metrics::compare(&truth, first, None, &ssim).ok());
            Ok((Metrics::compare(&truth, &image, None, &ssim)?, null))
        };
        match scored() {
            Ok((score, null)) => {
                if score.ssim < worst_ssim {
                    (worst_ssim, worst) = (score.ssim, Some((i, j)));
                }
                over_time.push((time_s, score));
                nulls.extend(null);
            }
            Err(error) => left_out = left_out.or(Some(error.to_string())),
        }
    }
    let scores: Vec<Metrics> = over_time.iter().map(|(_, score)| *score).collect();
    ImageComparison {
        name: a.name.clone(),
        other_name: b.name.clone(),
        times: over_time.len(),
        score: mean(&scores),
        null: mean(&nulls),
        left_out,
        over_time,
        worst,
    }
}

/// Mean of each score. PSNR is computed from the mean squared error, so it is infinite only if all pairs are equal.
fn mean(scores: &[Metrics]) -> Option<Metrics> {
    let count = scores.len() as f64;
    let of = |value: fn(&Metrics) -> f64| scores.iter().map(value).sum::<f64>() / count;
    let mean_squared = of(|score| score.rmse_255 * score.rmse_255);
    Some(Metrics {
        ssim: of(|score| score.ssim),
        psnr_db: 10.0 * (255.0 * 255.0 / mean_squared).log10(),
        mae_255: of(|score| score.mae_255),
        rmse_255: mean_squared.sqrt(),
        pixels: scores.first()?.pixels,
    })
}
