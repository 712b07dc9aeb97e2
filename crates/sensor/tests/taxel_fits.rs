//! Gains, thresholds, curve and saturation of taxels: fits to simulated benches.

use dermis_geometry::Random;
use dermis_sensor::calibration::{CurveShape, FitError, fit_taxels};
use dermis_sensor::{Response, ResponseSpec};

type Points = Vec<(f64, f64)>;

const TWELVE_BITS: Response = Response { counts_per_newton: 1.0 / 0.42e-3, bits: 12 };

/// Thirty taxels with gains about 2400 counts/N, thresholds about 0.2 N, a curve and saturation.
fn bench(noise: f64) -> (Vec<Points>, Points) {
    let mut random = Random::new(6);
    let truth: Vec<(f64, f64)> =
        (0..30).map(|_| (2400.0 * (1.0 + 0.1 * random.normal()), random.between(0.1, 0.3))).collect();
    let mut read = |gain: f64, threshold: f64, force: f64| {
        let u = gain * (force - threshold).max(0.0);
        let y = (u - 4e-5 * u * u + 2e-9 * u * u * u).min(3500.0) + noise * random.normal();
        (force, y.round().max(0.0))
    };
    let data = truth
        .iter()
        .map(|&(gain, threshold)| (1..=40).map(|i| read(gain, threshold, f64::from(i) * 0.06)).collect())
        .collect();
    (data, truth)
}

#[test]
fn gains_thresholds_curve_and_saturation_come_back() {
    let (data, truth) = bench(4.0);
    let fit = fit_taxels(&data, TWELVE_BITS, None).unwrap();
    let saturation = fit.saturation_counts.unwrap();
    assert!((saturation / 3500.0 - 1.0).abs() < 0.01, "{saturation}");
    for (taxel, (gain, threshold)) in fit.taxels.iter().zip(&truth) {
        assert!((taxel.gain_counts_per_newton.value / gain - 1.0).abs() < 0.02, "{taxel:?} {gain}");
        assert!((taxel.threshold_newton.value - threshold).abs() < 0.01, "{taxel:?} {threshold}");
    }
    let force = fit.force_newton(3, data[3][20].1).unwrap();
    assert!((force - data[3][20].0).abs() < 0.01);
    let straight = fit_taxels(&data, TWELVE_BITS, Some(CurveShape::Straight)).unwrap();
    assert!(straight.rms_counts > 3.0 * fit.rms_counts, "the curve is needed");
}

/// Readings of twenty taxels with gains about one, 40 loads up to 2.4 N, by a law in counts.
fn readings(law: impl Fn(f64) -> f64, noise: f64) -> Vec<Points> {
    let mut random = Random::new(8);
    let mut taxel = || {
        let gain = 1.0 + 0.1 * random.normal();
        let read = |i: u32| {
            let force = f64::from(i) * 0.06;
            (force, (law(gain * force) + noise * random.normal()).round().clamp(0.0, 4095.0))
        };
        (1..=40).map(read).collect()
    };
    (0..20).map(|_| taxel()).collect()
}

/// Laws of resistive sensors: a convex power, an S-shape, and a contact resistance in series with a fixed one.
#[test]
fn convex_and_saturating_curves_are_fitted_without_negative_thresholds() {
    let laws: [(&dyn Fn(f64) -> f64, CurveShape); 3] = [
        (&|f| 600.0 * f.powf(1.8), CurveShape::Power),
        (&|f| 3800.0 * f.powi(3) / (2.5 + f.powi(3)), CurveShape::Sigmoid),
        (&|f| 4000.0 * f / (0.8 + f), CurveShape::ContactResistance),
    ];
    for (law, shape) in laws {
        let data = readings(law, 15.0);
        let fit = fit_taxels(&data, TWELVE_BITS, None).unwrap();
        assert_eq!(fit.shape, shape);
        assert!(fit.rms_counts < 17.0 && fit.explained > 0.999, "{shape:?}: {} counts", fit.rms_counts);
        assert!(fit.taxels.iter().all(|taxel| taxel.threshold_newton.value >= 0.0));
        let response = fit.response(&ResponseSpec::from(TWELVE_BITS));
        response.validate(20).unwrap();
    }
}

#[test]
fn data_that_no_curve_explains_are_refused() {
    let bump = readings(|f| 3000.0 * (-(f - 1.2).powi(2) / 0.1).exp() + 100.0, 5.0);
    let error = fit_taxels(&bump, TWELVE_BITS, None).unwrap_err();
    assert!(matches!(error, FitError::Unexplained { .. }), "{error}");
    let scatter = readings(|_| 2000.0, 600.0);
    assert!(fit_taxels(&scatter, TWELVE_BITS, None).is_err());
}

#[test]
fn poor_data_are_refused_with_the_reason() {
    let (data, _) = bench(0.0);
    let few = vec![data[0][..3].to_vec()];
    assert!(matches!(fit_taxels(&few, TWELVE_BITS, None), Err(FitError::TooFew { .. })));
    let single = vec![vec![data[0][20]; 10]];
    assert!(matches!(fit_taxels(&single, TWELVE_BITS, None), Err(FitError::NoSpread { what: "force" })));
    let mut bad = data.clone();
    bad[0][5].1 = f64::NAN;
    assert!(matches!(fit_taxels(&bad, TWELVE_BITS, None), Err(FitError::NotFinite { row: 6, .. })));
    let dark = vec![(1..=10).map(|i| (f64::from(i) * 0.01, 0.0)).collect()];
    let message = fit_taxels(&dark, TWELVE_BITS, None).unwrap_err().to_string();
    assert!(message.contains("lit"), "{message}");
}
