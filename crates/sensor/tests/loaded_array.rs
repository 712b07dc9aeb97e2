//! Arrays under weights on a stamp: fits to simulated records of a known law.

use dermis_geometry::Random;
use dermis_sensor::calibration::{LoadRecord, LoadedArrayFit, fit_loaded_array};
use dermis_sensor::{Response, ResponseSpec};

const COUNTS: Response = Response { counts_per_newton: 1000.0, bits: 12 };
const TAXELS: usize = 6;
const PER_KELVIN: f64 = 0.02;

/// What all taxels share: exponent and limit (counts) of the sigmoid, amplitude and time (s) of the creep, drift (1/K).
type Law = [f64; 5];

const TRUTH: Law = [1.3, 6000.0, 0.4, 3.0, PER_KELVIN];

/// Counts of a taxel with a gain (1/N) and a threshold (counts) under a load (N) after a time (s), `rise` K above the reference.
fn counts([exponent, limit, creep, creep_s, per_kelvin]: Law, own: [f64; 2], [load, time_s, rise]: [f64; 3]) -> f64 {
    let crept = load * (1.0 + creep * (1.0 - (-time_s / creep_s).exp()));
    let driven = (own[0] * crept * (1.0 + per_kelvin * rise) - own[1]).max(0.0);
    let part = (driven / limit).powf(exponent);
    limit * part / (1.0 + part)
}

/// Six taxels and a dark one under a stamp; the repeatability of each taxel is a factor of its own in each record.
fn record(newton: f64, rise: f64, mut repeat: impl FnMut() -> f64) -> LoadRecord {
    let load = |i: usize| newton * (0.5 + 0.1 * i as f64);
    let factors: Vec<f64> = (0..TAXELS).map(|_| repeat()).collect();
    let frame = |k: u32| {
        let time_s = 0.1 * f64::from(k);
        let read = |(i, factor): (usize, &f64)| {
            let own = [900.0 + 120.0 * i as f64, 20.0 + 5.0 * (i % 4) as f64];
            (factor * counts(TRUTH, own, [load(i), time_s, rise])).round()
        };
        (time_s, factors.iter().enumerate().map(read).chain([0.0]).collect())
    };
    let load_newton = (0..=TAXELS).map(|i| if i < TAXELS { load(i) } else { 0.0 }).collect();
    LoadRecord { load_newton, rise_kelvin: rise, frames: (0..=120).map(frame).collect() }
}

/// The fitted counts of a taxel at the reference temperature.
fn fitted(fit: &LoadedArrayFit, taxel: usize, load: f64, time_s: f64) -> f64 {
    let law = [fit.exponent, fit.limit_counts, fit.creep, fit.creep_s, 0.0];
    counts(law, [fit.gain_counts_per_newton[taxel], fit.threshold_counts[taxel]], [load, time_s, 0.0])
}

/// The fit finds the law from two loads and predicts a third between them.
#[test]
fn weights_on_many_taxels_determine_law_gains_and_creep() {
    let at = |newton: f64| record(newton, 0.0, || 1.0);
    let fit = fit_loaded_array(&[at(1.0), at(4.0)], COUNTS).unwrap();
    assert!(fit.lit == TAXELS && fit.gain_per_kelvin.is_none());
    let unseen = at(2.5);
    let (mut worst, mut top) = (0.0f64, 0.0f64);
    for (time_s, counts) in unseen.frames.iter().filter(|frame| frame.0 >= 1.0) {
        for (i, reading) in counts.iter().enumerate().take(TAXELS) {
            worst = worst.max((fitted(&fit, i, unseen.load_newton[i], *time_s) - reading).abs());
            top = top.max(*reading);
        }
    }
    assert!(worst < 0.03 * top, "{worst} of {top}: {fit:?}");
    assert!(fit_loaded_array(&[at(1.0)], COUNTS).is_err(), "one load says nothing of the law");
}

/// Records at three temperatures whose taxels repeat to 3 %: the intervals of the coefficient hold the truth in about
/// 95 % of the benches. The written sensor has the coefficient.
#[test]
fn weights_at_several_temperatures_determine_the_drift() {
    const BENCHES: usize = 60;
    let mut held = 0;
    for seed in 0..BENCHES {
        let mut random = Random::new(seed as u64);
        let mut at = |newton: f64, rise: f64| record(newton, rise, || 1.0 + 0.03 * random.normal());
        let records: Vec<LoadRecord> =
            [0.0, 15.0, 30.0].iter().flat_map(|&rise| [1.0, 2.0, 4.0].map(|newton| at(newton, rise))).collect();
        let fit = fit_loaded_array(&records, COUNTS).unwrap();
        let found = fit.gain_per_kelvin.unwrap();
        assert!(found.ci95 < 0.25 * PER_KELVIN, "{found:?}");
        held += usize::from((found.value - PER_KELVIN).abs() <= found.ci95);
        let drift = fit.response(&ResponseSpec::default()).gain.unwrap().drift.unwrap();
        assert_eq!((drift.gain_per_kelvin, drift.rise.si()), (found.value, 0.0));
    }
    println!("{held} of {BENCHES} intervals hold the truth");
    assert!(held * 10 >= BENCHES * 9, "{held} of {BENCHES}");
    let same = [record(1.0, 12.0, || 1.0), record(4.0, 12.0, || 1.0)];
    assert!(fit_loaded_array(&same, COUNTS).unwrap().gain_per_kelvin.is_none());
}
