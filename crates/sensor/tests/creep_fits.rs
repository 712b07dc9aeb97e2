//! Creep: fits to simulated readings under a constant load.

use dermis_geometry::Random;
use dermis_sensor::calibration::{FitError, fit_creep};

fn data(seconds: f64, noise: f64, seed: u64) -> Vec<(f64, f64)> {
    let mut random = Random::new(seed);
    (1..=600)
        .map(|i| seconds * f64::from(i) / 600.0)
        .map(|t| (t, 2.0 * (1.0 + 0.12 * (1.0 - (-t / 1.5f64).exp())) + noise * random.normal()))
        .collect()
}

/// Clean data reproduce the true values; intervals of noisy data contain them about 95 times in 100.
#[test]
fn one_relaxation_is_recovered() {
    let fit = fit_creep(&data(10.0, 0.0, 0), 1).unwrap().unwrap();
    assert!((fit.terms[0].amplitude.value - 0.12).abs() < 1e-4 && (fit.terms[0].time_s.value - 1.5).abs() < 2e-3);
    let held = (0..80)
        .filter(|&seed| {
            let time = fit_creep(&data(10.0, 0.01, seed), 1).unwrap().unwrap().terms[0].time_s;
            (time.value - 1.5).abs() <= time.ci95
        })
        .count();
    assert!((70..=79).contains(&held), "{held} of 80");
}

#[test]
fn two_relaxations_are_told_apart() {
    let points: Vec<(f64, f64)> = (1..=800)
        .map(|i| f64::from(i) * 0.05)
        .map(|t| (t, 1.0 + 0.1 * (1.0 - (-t / 0.5f64).exp()) + 0.06 * (1.0 - (-t / 9.0f64).exp())))
        .collect();
    let fit = fit_creep(&points, 2).unwrap().unwrap();
    for (term, (a, tau)) in fit.terms.iter().zip([(0.1, 0.5), (0.06, 9.0)]) {
        assert!((term.amplitude.value / a - 1.0).abs() < 0.03, "{:?}", fit.terms);
        assert!((term.time_s.value / tau - 1.0).abs() < 0.03, "{:?}", fit.terms);
    }
}

/// Constant readings, also with rounding errors or noise, have no creep.
#[test]
fn steady_readings_have_no_creep() {
    let mut random = Random::new(2);
    for noise in [0.0, 1e-15, 1e-3] {
        let steady: Vec<(f64, f64)> =
            (1..=1000).map(|i| (f64::from(i) * 0.01, 2.0 * (1.0 + noise * random.normal()))).collect();
        assert_eq!(fit_creep(&steady, 1).unwrap(), None, "{noise}");
    }
}

#[test]
fn what_says_nothing_of_creep_is_refused() {
    assert!(matches!(fit_creep(&data(10.0, 0.0, 0)[..3], 1), Err(FitError::TooFew { .. })));
    assert!(matches!(fit_creep(&data(0.01, 0.02, 0), 1), Err(FitError::Undetermined { .. })), "too short");
    assert!(matches!(fit_creep(&[(1.0, 2.0); 20], 1), Err(FitError::NoSpread { .. })));
    let mut bad = data(10.0, 0.0, 0);
    bad[7].1 = f64::NAN;
    assert!(matches!(fit_creep(&bad, 1), Err(FitError::NotFinite { row: 8, .. })));
}
