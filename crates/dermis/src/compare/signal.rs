//! Compares one signal of two recordings.

use dermis_geometry::Quat;
use dermis_record::SignalLog;
use serde::Serialize;

/// The comparison of one signal, at the sample times of the first recording. Orientations are compared by the angle
/// between them.
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
/// let sum = &compare(&real, &simulated, &Options::default())?.signals[0];
/// assert_eq!((sum.unit, sum.max_abs, sum.max_time_s), ("N", 0.5, 0.2));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Serialize)]
pub struct SignalComparison {
    /// Its name in the first recording.
    pub name: String,
    /// Its name in the second recording.
    pub other_name: String,
    /// Unit of the differences; empty if the name has none.
    pub unit: &'static str,
    /// Numbers per sample.
    pub width: usize,
    /// Number of compared samples.
    pub times: usize,
    /// Mean absolute difference.
    pub mean_abs: f64,
    /// Root mean square difference.
    pub rms: f64,
    /// Largest absolute difference.
    pub max_abs: f64,
    /// Time of the largest difference (s).
    pub max_time_s: f64,
    /// Largest minus smallest number of the first recording.
    pub range: f64,
    /// Differences up to this size are rounding errors: 1e-12 of the largest number, or of 180°, and 1e-15 of a known unit.
    pub rounding: f64,
    /// The signal over time.
    #[serde(skip)]
    pub traces: Vec<Trace>,
}

/// One number over time.
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
/// let trace = &compare(&real, &simulated, &Options::default())?.signals[0].traces[0];
/// assert_eq!(trace.rows.last(), Some(&[0.2, 2.0, 2.5, 0.5]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Trace {
    /// The component of a vector, `angle`, or `root mean square`; empty for a single number.
    pub label: String,
    /// Time (s), the number in the first and in the second recording, and its difference.
    pub rows: Vec<[f64; 4]>,
}

impl SignalComparison {
    /// The root mean square difference as a part of the range of the first recording; 0 where the two differ by rounding only. `None`
    /// where they differ and the first is constant.
    pub fn part_of_range(&self) -> Option<f64> {
        if self.max_abs <= self.rounding {
            return Some(0.0);
        }
        Some(self.rms / self.range).filter(|_| self.range > self.rounding)
    }
}

/// Rounding errors of a computation, relative to the largest number of a signal.
const ROUNDING: f64 = 1e-12;
/// A number in SI units that is nothing.
const NOTHING: f64 = 1e-15;
/// The largest angle (deg).
const HALF_TURN_DEG: f64 = 180.0;

/// Signals with more numbers are shown by their root mean square.
const MAX_COMPONENTS: usize = 6;

/// Compares signals of equal width; `None` without common times.
pub fn compare_signal(a: &SignalLog, b: &SignalLog) -> Option<SignalComparison> {
    let is_rotation = a.width == 4 && [a, b].iter().all(|signal| signal.name.ends_with("orientation_wxyz"));
    let (times_s, rows) = common_rows(a, b, is_rotation);
    let (start, _) = rows.first()?;
    let traces = if is_rotation {
        let between = |a: &[f64], b: &[f64]| angle_deg(a, b);
        let row = |(a, b): &(Vec<f64>, Vec<f64>)| [between(start, a), between(start, b), between(a, b)];
        vec![trace("angle", &times_s, rows.iter().map(row))]
    } else if a.width <= MAX_COMPONENTS {
        let label = |place: usize| match a.width {
            1 => String::new(),
            3 => ["x", "y", "z"][place].into(),
            _ => place.to_string(),
        };
        let row = |place: usize| move |(a, b): &(Vec<f64>, Vec<f64>)| [a[place], b[place], b[place] - a[place]];
        (0..a.width).map(|place| trace(&label(place), &times_s, rows.iter().map(row(place)))).collect()
    } else {
        let mean = |values: &mut dyn Iterator<Item = f64>| (values.map(|v| v * v).sum::<f64>() / a.width as f64).sqrt();
        let row = |(a, b): &(Vec<f64>, Vec<f64>)| {
            let off = mean(&mut a.iter().zip(b).map(|(a, b)| b - a));
            [mean(&mut a.iter().copied()), mean(&mut b.iter().copied()), off]
        };
        vec![trace("root mean square", &times_s, rows.iter().map(row))]
    };
    // The differences of all numbers, or the angles.
    let offs: Vec<(f64, f64)> = if is_rotation {
        traces[0].rows.iter().map(|row| (row[0], row[3])).collect()
    } else {
        let each = |(time_s, (a, b)): (&f64, &(Vec<f64>, Vec<f64>))| {
            let time_s = *time_s;
            a.iter().zip(b).map(|(a, b)| (time_s, b - a)).collect::<Vec<_>>()
        };
        times_s.iter().zip(&rows).flat_map(each).collect()
    };
    let firsts = || -> Box<dyn Iterator<Item = f64>> {
        if is_rotation {
            Box::new(traces[0].rows.iter().map(|row| row[1]))
        } else {
            Box::new(rows.iter().flat_map(|(a, _)| a.iter().copied()))
        }
    };
    let largest = match is_rotation {
        true => HALF_TURN_DEG,
        false => {
            rows.iter().flat_map(|(a, b)| a.iter().chain(b)).fold(0.0, |largest: f64, value| largest.max(value.abs()))
        }
    };
    let unit = if is_rotation { "deg" } else { unit(&a.name) };
    let rounding = if unit.is_empty() { ROUNDING * largest } else { (ROUNDING * largest).max(NOTHING) };
    let count = offs.len() as f64;
    let worst = offs.iter().copied().reduce(|a, b| if b.1.abs() > a.1.abs() { b } else { a })?;
    Some(SignalComparison {
        name: a.name.clone(),
        other_name: b.name.clone(),
        unit,
        width: a.width,
        times: rows.len(),
        mean_abs: offs.iter().map(|(_, off)| off.abs()).sum::<f64>() / count,
        rms: (offs.iter().map(|(_, off)| off * off).sum::<f64>() / count).sqrt(),
        max_abs: worst.1.abs(),
        max_time_s: worst.0,
        range: firsts().fold(f64::NEG_INFINITY, f64::max) - firsts().fold(f64::INFINITY, f64::min),
        rounding,
        traces,
    })
}

/// A row of each of two signals.
type RowPair = (Vec<f64>, Vec<f64>);

/// The times of the first signal where both have all numbers, and the rows of both.
fn common_rows(a: &SignalLog, b: &SignalLog, is_rotation: bool) -> (Vec<f64>, Vec<RowPair>) {
    let mut b = b.clone();
    if is_rotation {
        // q and −q are the same rotation: between them lies no other.
        for row in 1..b.times_s.len() {
            let dot: f64 = b.row(row - 1).iter().zip(b.row(row)).map(|(a, b)| a * b).sum();
            if dot < 0.0 {
                b.values[4 * row..4 * row + 4].iter_mut().for_each(|value| *value = -*value);
            }
        }
    }
    let both =
        a.times_s.iter().enumerate().filter_map(|(i, time_s)| Some((*time_s, (a.row(i).to_vec(), b.at(*time_s)?))));
    both.filter(|(_, (a, b))| a.iter().zip(b).all(|(a, b)| !(b - a).is_nan())).unzip()
}

fn trace(label: &str, times_s: &[f64], rows: impl Iterator<Item = [f64; 3]>) -> Trace {
    let rows = times_s.iter().zip(rows).map(|(time_s, [a, b, off])| [*time_s, a, b, off]).collect();
    Trace { label: label.to_owned(), rows }
}

/// The angle (deg) between two rotations, given as w, x, y, z.
fn angle_deg(a: &[f64], b: &[f64]) -> f64 {
    let rotation = |q: &[f64]| Quat::from_xyzw(q[1], q[2], q[3], q[0]).normalize();
    // More precise for small angles than the cosine.
    let between = rotation(a).inverse() * rotation(b);
    let sine = between.to_array()[..3].iter().map(|part| part * part).sum::<f64>().sqrt();
    2.0 * sine.atan2(between.w.abs()).to_degrees()
}

/// The unit that ends a name such as `force_n`.
fn unit(name: &str) -> &'static str {
    for (end, unit) in [("_m_per_s", "m/s"), ("_rad_per_s", "rad/s")] {
        if name.ends_with(end) {
            return unit;
        }
    }
    let end = name.rsplit('_').next().map(|end| end.split('.').next().unwrap_or(end));
    match end {
        Some("n") => "N",
        Some("nm") => "N m",
        Some("m") => "m",
        Some("s") => "s",
        Some("pa") => "Pa",
        _ => "",
    }
}
