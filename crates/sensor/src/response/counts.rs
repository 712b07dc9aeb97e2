//! Conversion from newtons to counts.

use serde::{Deserialize, Serialize};

/// The linear conversion of a digital array (Moisio 2013, section 4).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Response {
    /// Counts per newton on a taxel.
    pub counts_per_newton: f64,
    /// Bits of the converter: counts are clamped to 2^bits − 1.
    pub bits: u32,
}

impl Default for Response {
    /// 1000 counts per newton, 16 bits.
    fn default() -> Self {
        Self { counts_per_newton: 1000.0, bits: 16 }
    }
}

impl Response {
    /// Counts of a taxel under a normal force (N).
    pub fn counts(&self, newton: f64) -> u32 {
        let counts = (newton * self.counts_per_newton).round();
        if counts > 0.0 { (counts as u64).min(self.max()) as u32 } else { 0 }
    }

    /// The largest number of counts.
    pub(super) fn max(&self) -> u64 {
        (1u64 << self.bits.min(32)) - 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_linear_and_stop_at_full_scale() {
        let response = Response { counts_per_newton: 1.0 / 4.2e-4, bits: 12 };
        assert_eq!(response.counts(0.42), 1000);
        assert_eq!(response.counts(100.0), 4095);
        assert_eq!(response.counts(-1.0), 0);
        assert_eq!(response.counts(f64::NAN), 0);
    }
}
