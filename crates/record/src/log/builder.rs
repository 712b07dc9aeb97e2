//! Collects the rows of a recording in the order of its file.

use super::{ImageLog, Log, SignalLog};
use std::collections::HashMap;

/// The rows read so far.
#[derive(Default)]
pub struct LogBuilder {
    signals: Named<SignalRows>,
    images: Named<ImageLog>,
}

/// Entries by name, in the order in which they first appear.
struct Named<T> {
    all: Vec<(String, T)>,
    places: HashMap<String, usize>,
}

impl<T> Default for Named<T> {
    fn default() -> Self {
        Self { all: Vec::new(), places: HashMap::new() }
    }
}

impl<T> Named<T> {
    fn entry(&mut self, name: &str, new: impl FnOnce() -> T) -> &mut T {
        let place = match self.places.get(name) {
            Some(place) => *place,
            None => {
                self.places.insert(name.to_owned(), self.all.len());
                self.all.push((name.to_owned(), new()));
                self.all.len() - 1
            }
        };
        &mut self.all[place].1
    }
}

/// Rows of any length.
#[derive(Default)]
struct SignalRows {
    times_s: Vec<f64>,
    lengths: Vec<usize>,
    values: Vec<f64>,
}

/// Limit on the numbers that pad rows of unequal length, as a multiple of the numbers that are there.
const MAX_PADDING: usize = 8;

impl LogBuilder {
    /// Adds a row at a time (s); an empty row has no place.
    pub fn push(&mut self, name: &str, time_s: f64, row: &[f64]) {
        if !row.is_empty() {
            let rows = self.signals.entry(name, SignalRows::default);
            rows.times_s.push(time_s);
            rows.lengths.push(row.len());
            rows.values.extend(row);
        }
    }

    /// Adds an image file at a time (s).
    pub fn push_image(&mut self, name: &str, time_s: f64, file: Vec<u8>) {
        let new = || ImageLog { name: name.to_owned(), times_s: Vec::new(), files: Vec::new() };
        let images = self.images.entry(name, new);
        images.times_s.push(time_s);
        images.files.push(file);
    }

    /// All rows in order of time. Rows of equal time keep their order; rows of unequal length are padded with NaN.
    pub fn finish(self) -> Log {
        let mut log = Log::default();
        for (name, rows) in self.signals.all {
            let signal = rows.finish(name, &mut log.notes);
            log.signals.push(signal);
        }
        for (name, mut images) in self.images.all {
            if let Some(order) = order(&images.times_s) {
                log.notes.push(format!("the times of {name} go back; its images were sorted by time"));
                images.times_s = order.iter().map(|i| images.times_s[*i]).collect();
                images.files = order.iter().map(|i| std::mem::take(&mut images.files[*i])).collect();
            }
            log.images.push(images);
        }
        log
    }
}

impl SignalRows {
    fn finish(self, name: String, notes: &mut Vec<String>) -> SignalLog {
        let (count, first) = (self.times_s.len(), self.lengths.first().copied().unwrap_or(1));
        let longest = self.lengths.iter().copied().max().unwrap_or(1);
        let others = self.lengths.iter().filter(|length| **length != longest).count();
        let is_padded = count.saturating_mul(longest) <= MAX_PADDING * self.values.len();
        let width = if is_padded { longest } else { first };
        let mut signal = SignalLog { name, width, times_s: Vec::with_capacity(count), values: Vec::new() };
        let mut at = 0;
        for (time_s, length) in self.times_s.iter().zip(&self.lengths) {
            if is_padded || *length == width {
                signal.times_s.push(*time_s);
                signal.values.extend(&self.values[at..at + length]);
                signal.values.resize(signal.times_s.len() * width, f64::NAN);
            }
            at += length;
        }
        if !is_padded {
            let left_out = count - signal.times_s.len();
            notes.push(format!(
                "{left_out} of {count} rows of {} were left out: their length is not {width}",
                signal.name
            ));
        } else if others > 0 {
            let name = &signal.name;
            notes
                .push(format!("{others} of {count} rows of {name} have fewer than {width} numbers; NaN fills them up"));
        }
        if let Some(order) = order(&signal.times_s) {
            notes.push(format!("the times of {} go back; its rows were sorted by time", signal.name));
            signal.values = order.iter().flat_map(|i| signal.row(*i)).copied().collect();
            signal.times_s = order.iter().map(|i| signal.times_s[*i]).collect();
        }
        signal
    }
}

/// The order of times, if they are not sorted.
fn order(times_s: &[f64]) -> Option<Vec<usize>> {
    if times_s.is_sorted() {
        return None;
    }
    let mut order: Vec<usize> = (0..times_s.len()).collect();
    order.sort_by(|a, b| times_s[*a].total_cmp(&times_s[*b]));
    Some(order)
}
