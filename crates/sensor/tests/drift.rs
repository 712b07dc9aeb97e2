//! Taxels that drift with temperature: fits to simulated benches.

use dermis_geometry::Random;
use dermis_sensor::Response;
use dermis_sensor::calibration::{CurveShape, FitError, fit_drifting_taxels, fit_taxels};

/// Load (N), counts and temperature (K) above the reference.
type Reading = (f64, f64, f64);

const COUNTS: Response = Response { counts_per_newton: 1000.0, bits: 12 };

/// Five taxels under 15 loads at each temperature, by a law in counts, with noise of 6 counts.
fn readings(per_kelvin: f64, rises: &[f64], law: impl Fn(f64) -> f64, seed: u64) -> Vec<Vec<Reading>> {
    let mut random = Random::new(seed);
    let mut taxel = || {
        let gain = 1.0 + 0.1 * random.normal();
        let mut read = |rise: f64, i: u32| {
            let force = f64::from(i) * 0.1;
            let counts = law(gain * (1.0 + per_kelvin * rise) * force) + 6.0 * random.normal();
            (force, counts.round().clamp(0.0, 4095.0), rise)
        };
        rises.iter().flat_map(|&rise| (1..=15).map(|i| read(rise, i)).collect::<Vec<_>>()).collect()
    };
    (0..5).map(|_| taxel()).collect()
}

/// The intervals of many simulated benches hold the truth in about 95 % of them, for every shape of the curve.
#[test]
fn intervals_of_the_coefficient_hold_the_truth() {
    type Law = fn(f64) -> f64;
    let laws: [(Law, CurveShape, f64, u64); 4] = [
        (|u| 1200.0 * (u - 0.1).max(0.0), CurveShape::Straight, 0.015, 16),
        (|u| 700.0 * u.powf(1.6), CurveShape::Power, 0.03, 16),
        (|u| 4000.0 * u / (1.5 + u), CurveShape::ContactResistance, -0.008, 16),
        (|u| 3500.0 * u.powi(2) / (1.0 + u.powi(2)), CurveShape::Sigmoid, 0.01, 2),
    ];
    let (mut held, mut all) = (0, 0);
    for (law, shape, truth, benches) in laws {
        for seed in 0..benches {
            let data = readings(truth, &[0.0, 12.0, 25.0], law, seed);
            let fit = fit_drifting_taxels(&data, COUNTS, Some(shape).filter(|_| seed > 0)).unwrap();
            let found = fit.gain_per_kelvin.unwrap();
            assert!(found.ci95 < 0.05 * truth.abs(), "{shape:?}: {found:?} for {truth}");
            assert_eq!(fit.shape, shape);
            let drift = fit.response(&COUNTS.into()).gain.unwrap().drift.unwrap();
            assert_eq!((drift.gain_per_kelvin, drift.rise.si()), (found.value, 0.0));
            all += 1;
            held += usize::from((found.value - truth).abs() <= found.ci95);
        }
    }
    println!("{held} of {all} intervals hold the truth");
    assert!(held * 10 >= all * 9, "{held} of {all}");
}

/// At one temperature the fit is that of readings without temperatures; a tenth of a millikelvin tells nothing, and the
/// response has no drift.
#[test]
fn one_temperature_fits_no_coefficient() {
    let law = |u: f64| 700.0 * u.powf(1.6);
    let data = readings(0.02, &[12.0], law, 3);
    let shape = Some(CurveShape::Power);
    let cold: Vec<Vec<(f64, f64)>> =
        data.iter().map(|taxel| taxel.iter().map(|(load, counts, _)| (*load, *counts)).collect()).collect();
    let fit = fit_drifting_taxels(&data, COUNTS, shape).unwrap();
    assert_eq!(fit, fit_taxels(&cold, COUNTS, shape).unwrap());
    assert!(fit.gain_per_kelvin.is_none());
    let fit = fit_drifting_taxels(&readings(0.02, &[0.0, 1e-4], law, 3), COUNTS, shape).unwrap();
    assert!(fit.gain_per_kelvin.is_some_and(|found| found.ci95 > found.value.abs()));
    assert!(fit.response(&COUNTS.into()).gain.unwrap().drift.is_none());
    let mut damaged = data;
    damaged[1][2].2 = f64::NAN;
    assert!(matches!(fit_drifting_taxels(&damaged, COUNTS, shape), Err(FitError::NotFinite { row: 18, .. })));
}
