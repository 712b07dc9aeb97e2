//! Ticks and labels of an axis.

/// The scale of an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Scale {
    /// Linear.
    #[default]
    Linear,
    /// Logarithmic; shows only positive values.
    Log,
}

impl Scale {
    /// Position of `value` between `low` (0) and `high` (1); `None` if the scale cannot show it.
    pub fn place(self, value: f64, low: f64, high: f64) -> Option<f64> {
        let place = match self {
            Self::Linear => (value - low) / (high - low),
            Self::Log if value > 0.0 => (value.log10() - low.log10()) / (high.log10() - low.log10()),
            Self::Log => return None,
        };
        place.is_finite().then_some(place)
    }

    /// Whether the scale can show a value.
    pub fn shows(self, value: f64) -> bool {
        value.is_finite() && (self == Self::Linear || value > 0.0)
    }

    /// Limits that contain all values that the scale can show, rounded outwards to a tick if that takes little space.
    pub fn limits(self, values: impl IntoIterator<Item = f64>) -> (f64, f64) {
        let shown = values.into_iter().filter(|&v| self.shows(v));
        let (low, high) = shown.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| (l.min(v), h.max(v)));
        match self {
            _ if low > high => (if self == Self::Log { 0.1 } else { 0.0 }, 1.0),
            Self::Log => log_limits(low, high),
            Self::Linear => linear_limits(low, high),
        }
    }

    /// Ticks from `low` to `high`; their number is close to `about`.
    pub fn ticks(self, low: f64, high: f64, about: usize) -> Ticks {
        if !(low.is_finite() && high.is_finite() && low < high) {
            return Ticks::default();
        }
        match self {
            Self::Log if low > 0.0 && high / low >= 10.0 => log_ticks(low, high, about),
            _ => linear_ticks(low, high, about),
        }
    }
}

/// Positions and labels of the ticks of an axis.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Ticks {
    /// Values at the ticks.
    pub at: Vec<f64>,
    /// Labels, in units of ten to the power of `exponent`.
    pub labels: Vec<String>,
    /// Exponent of the common factor of the labels; usually zero.
    pub exponent: i32,
    /// Values at minor ticks, without labels.
    pub minor: Vec<f64>,
}

impl Ticks {
    /// The common factor for the end of the axis: empty, or for example `×10⁻³`.
    pub fn factor(&self) -> String {
        if self.exponent == 0 { String::new() } else { format!("×{}", power_of_ten(self.exponent)) }
    }
}

/// Adds a margin of 4 % on both sides, or half the value if all values are equal.
fn linear_limits(low: f64, high: f64) -> (f64, f64) {
    let span = high - low;
    let smallest = 1e-9 * low.abs().max(high.abs());
    if !span.is_finite() {
        return (low / 2.0, high / 2.0);
    }
    if span <= smallest || span == 0.0 {
        let room = if low == 0.0 { 1.0 } else { 0.5 * low.abs() };
        return (low - room, high + room);
    }
    let (padded_low, padded_high) = (low - 0.04 * span, high + 0.04 * span);
    let step = nice_step(span, 6);
    let (outer_low, outer_high) = ((low / step + 1e-9).floor() * step, (high / step - 1e-9).ceil() * step);
    let near = 0.35 * step;
    let low = if low - outer_low <= near { outer_low } else { padded_low };
    let high = if outer_high - high <= near { outer_high } else { padded_high };
    (low, high)
}

/// Whole decades if they take little space, else a margin on both sides.
fn log_limits(low: f64, high: f64) -> (f64, f64) {
    let (low, high) = (low.log10().clamp(-300.0, 300.0), high.log10().clamp(-300.0, 300.0));
    let span = (high - low).max(0.3);
    let (outer_low, outer_high) = ((low + 1e-9).floor(), (high - 1e-9).ceil());
    let near = (0.12 * span).max(0.02);
    let low = if low - outer_low <= near { outer_low } else { low - 0.05 * span };
    let high = if outer_high - high <= near { outer_high } else { high + 0.05 * span };
    if high - low < 1e-6 {
        (10f64.powf(low - 0.5), 10f64.powf(high + 0.5))
    } else {
        (10f64.powf(low), 10f64.powf(high))
    }
}

/// The step of 1, 2 or 5 times a power of ten that divides `span` into about `about` steps.
fn nice_step(span: f64, about: usize) -> f64 {
    let rough = span / about.max(1) as f64;
    let decade = 10f64.powf(rough.log10().floor());
    // The thresholds are the geometric means of neighbouring steps.
    let nice = match rough / decade {
        m if m < 2f64.sqrt() => 1.0,
        m if m < 10f64.sqrt() => 2.0,
        m if m < 50f64.sqrt() => 5.0,
        _ => 10.0,
    };
    nice * decade
}

fn linear_ticks(low: f64, high: f64, about: usize) -> Ticks {
    let step = nice_step(high - low, about);
    let (first, last) = ((low / step - 1e-6).ceil(), (high / step + 1e-6).floor());
    if !(step > 0.0 && first.is_finite() && last - first < 1000.0) {
        return Ticks::default();
    }
    let count = (last - first).max(0.0) as usize + 1;
    // Adding zero turns −0 into 0.
    let at: Vec<f64> = (0..count).map(|i| (first + i as f64) * step + 0.0).collect();
    let largest = at.iter().fold(0.0_f64, |m, v| m.max(v.abs()));
    let size = if largest > 0.0 { largest.log10().floor() as i32 } else { 0 };
    let exponent = if (-2..5).contains(&size) { 0 } else { size.div_euclid(3) * 3 };
    let decimals = (exponent - (step.log10() + 1e-9).floor() as i32).clamp(0, 12) as usize;
    let labels = at.iter().map(|v| number(v / 10f64.powi(exponent), decimals)).collect();
    Ticks { at, labels, exponent, minor: Vec::new() }
}

fn log_ticks(low: f64, high: f64, about: usize) -> Ticks {
    let first = (low.log10() - 1e-6).ceil() as i32;
    let last = (high.log10() + 1e-6).floor() as i32;
    let every = ((last - first) as usize / about.max(1) + 1) as i32;
    let decades: Vec<i32> = (first..=last).filter(|d| d.rem_euclid(every) == 0).collect();
    let plain = decades.iter().all(|d| (-2..=3).contains(d));
    let label = |d: i32| if plain { number(10f64.powi(d), (-d).max(0) as usize) } else { power_of_ten(d) };
    let minor = match every {
        1 => (first - 1..=last)
            .flat_map(|d| (2..10).map(move |k| f64::from(k) * 10f64.powi(d)))
            .filter(|v| (low..=high).contains(v))
            .collect(),
        _ => (first..=last).filter(|d| d.rem_euclid(every) != 0).map(|d| 10f64.powi(d)).collect(),
    };
    Ticks {
        at: decades.iter().map(|&d| 10f64.powi(d)).collect(),
        labels: decades.iter().map(|&d| label(d)).collect(),
        exponent: 0,
        minor,
    }
}

/// Formats a number with a typographic minus sign.
pub(crate) fn number(value: f64, decimals: usize) -> String {
    let text = format!("{value:.decimals$}");
    match text.strip_prefix('-') {
        Some(digits) if digits.bytes().any(|b| (b'1'..=b'9').contains(&b)) => format!("−{digits}"),
        Some(digits) => digits.to_owned(),
        None => text,
    }
}

/// Formats `10` with a superscript exponent.
fn power_of_ten(exponent: i32) -> String {
    const RAISED: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
    let raise = |c: char| c.to_digit(10).map_or('⁻', |d| RAISED[d as usize]);
    format!("10{}", exponent.to_string().chars().map(raise).collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_one_two_five() {
        assert_eq!(Scale::Linear.ticks(0.0, 10.0, 5).at, [0.0, 2.0, 4.0, 6.0, 8.0, 10.0]);
        assert_eq!(Scale::Linear.ticks(0.0, 10.0, 5).labels, ["0", "2", "4", "6", "8", "10"]);
        assert_eq!(Scale::Linear.ticks(-0.5, 0.5, 4).labels, ["−0.4", "−0.2", "0.0", "0.2", "0.4"]);
        assert_eq!(Scale::Linear.ticks(0.0, 1.0, 2).labels, ["0.0", "0.5", "1.0"]);
        assert_eq!(Scale::Linear.ticks(0.0, 2.5e5, 3).labels, ["0", "100", "200"]);
        assert_eq!(Scale::Linear.ticks(0.0, 2.5e5, 3).factor(), "×10³");
        assert_eq!(Scale::Linear.ticks(0.0, 2e-5, 2).factor(), "×10⁻⁶");
    }

    #[test]
    fn log_ticks_are_decades() {
        let ticks = Scale::Log.ticks(0.1, 100.0, 6);
        assert_eq!(ticks.labels, ["0.1", "1", "10", "100"]);
        assert_eq!(ticks.minor.len(), 24);
        assert_eq!(Scale::Log.ticks(1e-6, 1.0, 3).labels, ["10⁻⁶", "10⁻³", "10⁰"]);
        // A range below one decade holds at most one power of ten: linear ticks are used.
        assert_eq!(Scale::Log.ticks(2.0, 6.0, 4).at, [2.0, 3.0, 4.0, 5.0, 6.0]);
    }

    #[test]
    fn limits_hold_the_data_whatever_they_are() {
        let (nan, inf) = (f64::NAN, f64::INFINITY);
        for scale in [Scale::Linear, Scale::Log] {
            for values in [
                vec![],
                vec![nan, inf, -inf],
                vec![0.0; 3],
                vec![-7.0],
                vec![5.0, 5.0],
                vec![1e-300, 1e300],
                vec![-1e308, 1e308],
            ] {
                let (low, high) = scale.limits(values.iter().copied());
                assert!(low.is_finite() && high.is_finite() && low < high, "{scale:?} {values:?}: {low} {high}");
                assert!(scale.ticks(low, high, 6).at.len() < 100);
            }
        }
        assert_eq!(Scale::Linear.limits([0.0, 9.9]), (0.0, 10.0));
        assert_eq!(Scale::Log.limits([0.0, -3.0, 0.001, 1.0]), (0.001, 1.0));
    }
}
