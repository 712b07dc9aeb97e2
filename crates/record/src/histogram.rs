//! A histogram of real numbers whose bins are fixed, so that histograms of parts add up exactly.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Bits of the mantissa that select a bin: 32 bins between powers of two.
const MANTISSA_BITS: u32 = 5;

/// Counts of values in bins with a relative width of at most 1/32.
///
/// A bin is the leading bits of the floating-point number, so the result does not depend on the order of values or on
/// the machine.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Histogram(BTreeMap<i64, u64>);

impl Histogram {
    /// Counts a value `count` times. Values that are not finite are left out.
    pub fn insert(&mut self, value: f64, count: u64) {
        if value.is_finite() {
            let bin = (value.abs().to_bits() >> (f64::MANTISSA_DIGITS - 1 - MANTISSA_BITS)) as i64;
            *self.0.entry(if value < 0.0 { -bin } else { bin }).or_default() += count;
        }
    }

    /// Adds the counts of another histogram.
    pub fn add(&mut self, other: &Self) {
        for (bin, count) in &other.0 {
            *self.0.entry(*bin).or_default() += count;
        }
    }

    /// The bound nearest zero of the bin that contains the quantile of a fraction from 0 to 1; 0 without values. Integers
    /// up to 63 are exact; other values are at most 1/32 too close to zero.
    pub fn quantile(&self, fraction: f64) -> f64 {
        let all: u64 = self.0.values().sum();
        let rank = (fraction * all as f64).ceil().max(1.0) as u64;
        let mut below = 0;
        for (&bin, count) in &self.0 {
            below += count;
            if below >= rank {
                let size = f64::from_bits(bin.unsigned_abs() << (f64::MANTISSA_DIGITS - 1 - MANTISSA_BITS));
                return if bin < 0 { -size } else { size };
            }
        }
        0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Quantiles of 1,001 numbers from −5 to 5 equal the sorted list's within the width of a bin, however they are
    /// divided into parts.
    #[test]
    fn quantiles_equal_those_of_the_sorted_list() {
        let values: Vec<f64> = (0..1001).map(|i| f64::from((i * 577) % 1001) / 100.0 - 5.0).collect();
        let mut sorted = values.clone();
        sorted.sort_by(f64::total_cmp);
        let (mut whole, mut parts) = (Histogram::default(), Histogram::default());
        for part in values.chunks(130) {
            let mut histogram = Histogram::default();
            for &value in part {
                whole.insert(value, 1);
                histogram.insert(value, 1);
            }
            parts.add(&histogram);
        }
        assert_eq!(whole, parts);
        for fraction in [0.01, 0.1, 0.5, 0.9, 0.99] {
            let exact = sorted[(fraction * 1001.0f64).ceil() as usize - 1];
            let found = whole.quantile(fraction);
            assert!((found - exact).abs() <= exact.abs() / 32.0, "{fraction}: {found} for {exact}");
        }
    }

    #[test]
    fn small_integers_are_exact_and_nothing_gives_zero() {
        let mut labels = Histogram::default();
        for label in 0..64 {
            labels.insert(f64::from(label), 3);
        }
        assert_eq!(labels.quantile(0.5), 31.0);
        assert_eq!(labels.quantile(1.0), 63.0);
        assert_eq!(Histogram::default().quantile(0.5), 0.0);
    }
}
