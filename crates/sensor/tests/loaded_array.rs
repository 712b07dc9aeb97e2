//! Arrays under weights: fits to records of a known law.

use dermis_geometry::Random;
use dermis_sensor::calibration::{LoadRecord, LoadedArrayFit, fit_loaded_array};
use dermis_sensor::{Response, ResponseSpec};

const COUNTS: Response = Response { counts_per_newton: 1000.0, bits: 12 };
const TAXELS: usize = 6;

/// What all taxels share.
struct Law {
    per_kelvin: f64,
    exponent: f64,
    limit: f64,
    creep: f64,
    creep_s: f64,
}

const TRUTH: Law = Law { per_kelvin: 0.02, exponent: 1.3, limit: 6000.0, creep: 0.4, creep_s: 3.0 };

impl Law {
    /// Counts of a taxel with a gain and a threshold, a time after a load (N) was put on, at a temperature.
    fn counts(&self, [gain, threshold]: [f64; 2], newton: f64, time_s: f64, rise_kelvin: f64) -> f64 {
        let crept = newton * (1.0 + self.creep * (1.0 - (-time_s / self.creep_s).exp()));
        let above = gain * crept * (1.0 + self.per_kelvin * rise_kelvin) - threshold;
        let part = (above.max(0.0) / self.limit).powf(self.exponent);
        self.limit * part / (1.0 + part)
    }
}

/// Six taxels and a dark one under a stamp; the repeatability of each taxel is a factor of its own in each record.
fn record(newton: f64, rise: f64, mut repeat: impl FnMut() -> f64) -> LoadRecord {
    let load = |i: usize| newton * (0.5 + 0.1 * i as f64);
    let factors: Vec<f64> = (0..TAXELS).map(|_| repeat()).collect();
    let frame = |k: u32| {
        let time_s = 0.1 * f64::from(k);
        let read = |(i, factor): (usize, &f64)| {
            let own = [900.0 + 120.0 * i as f64, 20.0 + 5.0 * (i % 4) as f64];
            (factor * TRUTH.counts(own, load(i), time_s, rise)).round()
        };
        (time_s, factors.iter().enumerate().map(read).chain([0.0]).collect())
    };
    let load_newton = (0..=TAXELS).map(|i| if i < TAXELS { load(i) } else { 0.0 }).collect();
    LoadRecord { load_newton, rise_kelvin: rise, frames: (0..=120).map(frame).collect() }
}

/// The fit finds the law from two loads and predicts a third between them.
#[test]
fn weights_on_many_taxels_determine_law_gains_and_creep() {
    let at = |newton: f64| record(newton, 0.0, || 1.0);
    let fit = fit_loaded_array(&[at(1.0), at(4.0)], COUNTS).unwrap();
    assert!(fit.lit == TAXELS && fit.gain_per_kelvin.is_none());
    let LoadedArrayFit { exponent, limit_counts: limit, creep, creep_s, .. } = fit;
    let found = Law { per_kelvin: 0.0, exponent, limit, creep, creep_s };
    let unseen = at(2.5);
    let (mut worst, mut top) = (0.0f64, 0.0f64);
    for (time_s, counts) in unseen.frames.iter().filter(|frame| frame.0 >= 1.0) {
        for (i, reading) in counts.iter().enumerate().take(TAXELS) {
            let own = [fit.gain_counts_per_newton[i], fit.threshold_counts[i]];
            worst = worst.max((found.counts(own, unseen.load_newton[i], *time_s, 0.0) - reading).abs());
            top = top.max(*reading);
        }
    }
    assert!(worst < 0.03 * top, "{worst} of {top}: {fit:?}");
    assert!(fit_loaded_array(&[at(1.0)], COUNTS).is_err(), "one load says nothing of the law");
}

/// Records at three temperatures whose taxels repeat to 3 %: the intervals of the coefficient hold the truth in about 95 %
/// of the benches. The written sensor has the coefficient.
#[test]
fn weights_at_several_temperatures_determine_the_drift() {
    let mut held = 0;
    const BENCHES: usize = 60;
    for seed in 0..BENCHES {
        let mut random = Random::new(seed as u64);
        let mut at = |newton: f64, rise: f64| record(newton, rise, || 1.0 + 0.03 * random.normal());
        let records: Vec<LoadRecord> =
            [0.0, 15.0, 30.0].iter().flat_map(|&rise| [1.0, 2.0, 4.0].map(|newton| at(newton, rise))).collect();
        let fit = fit_loaded_array(&records, COUNTS).unwrap();
        let found = fit.gain_per_kelvin.unwrap();
        assert!(found.ci95 < 0.25 * TRUTH.per_kelvin, "{found:?}");
        held += usize::from((found.value - TRUTH.per_kelvin).abs() <= found.ci95);
        let drift = fit.response(&ResponseSpec::default()).gain.unwrap().drift.unwrap();
        assert_eq!((drift.gain_per_kelvin, drift.rise.si()), (found.value, 0.0));
    }
    println!("{held} of {BENCHES} intervals hold the truth");
    assert!(held * 10 >= BENCHES * 9, "{held} of {BENCHES}");
    let same = [record(1.0, 12.0, || 1.0), record(4.0, 12.0, || 1.0)];
    assert!(fit_loaded_array(&same, COUNTS).unwrap().gain_per_kelvin.is_none());
}
