//! Fits a model to bench data of a known sensor.
//!
//! The model can represent this sensor exactly, so the fit must recover all parameters closely; the experiment
//! `kappassov-calibration` covers a sensor that it cannot represent.

use dermis_geometry::quantity::{Force, Time};
use dermis_sensor::calibration::{Estimate, FitError, SensorFit, TaxelFit, TaxelLoads, fit_sensor};
use dermis_sensor::characterise::{Bench, BenchError, Protocol, characterise};
use dermis_sensor::response::{Creep, Gain, Hysteresis, Noise, PerTaxel, Threshold, ThresholdKind};
use dermis_sensor::{ResponseSpec, Sensor, SensorSpec, Spread, SurfaceSpec};

/// A small array with all stages that can be fitted.
fn device() -> SensorSpec {
    let mut spec = SensorSpec::find("wts0614").unwrap().0;
    spec.name = "small".into();
    spec.contact_points = Some(1);
    let SurfaceSpec::Grid { rows, cols, .. } = &mut spec.surface else { panic!("a grid") };
    (*rows, *cols) = (5, 4);
    spec.response.spread = Some(Spread::gaussian(0.55, 3));
    spec.response.hysteresis = Some(Hysteresis { fraction: 0.1, width: Force::new(0.0) });
    spec.response.creep = vec![Creep { amplitude: 0.15, time: Time::new(1.0) }];
    spec.response.gain = Some(Gain { gain_sd: 0.1, seed: 4, ..Gain::default() });
    spec.response.threshold = Some(Threshold { force: PerTaxel::All(Force::new(0.08)), kind: ThresholdKind::DeadBand });
    spec.response.noise = Some(Noise { sd: Force::new(1e-3), relative: 0.0, seed: 5 });
    spec
}

fn measured(sensor: &Sensor) -> Bench {
    let protocol = Protocol {
        depths_m: (1..=10).map(|i| f64::from(i) * 0.2e-3).collect(),
        rest_s: 5.0,
        creep_taxels: vec![5, 9],
        ..Protocol::default()
    };
    characterise(sensor, &protocol, |_| true).unwrap()
}

fn fit(sensor: &Sensor, bench: &Bench) -> Result<SensorFit, FitError> {
    let known = ResponseSpec::from(*sensor.response());
    fit_sensor(&TaxelLoads::new(sensor, bench, Protocol::default().indenter_m)?, &known, 3)
}

#[test]
fn a_device_that_the_model_can_be_comes_back() {
    let spec = device();
    let sensor = spec.build(None).unwrap();
    let bench = measured(&sensor);
    assert_eq!(bench.presses.len(), 20 * 3 * 20);
    let fit = fit(&sensor, &bench).unwrap();
    let close = |found: f64, truth: f64| assert!((found / truth - 1.0).abs() < 0.02, "{found}, not {truth}");
    close(fit.spread.as_ref().unwrap().sigma_taxels.value, 0.55);
    close(fit.hysteresis.value, 0.1);
    let creep = fit.creep.as_ref().unwrap().terms[0];
    close(creep.amplitude.value, 0.15);
    close(creep.time_s.value, 1.0);
    close(fit.stiffness.through_zero_newton_per_m.value, 2000.0);
    let lines = spec.response.gain.as_ref().unwrap().lines(sensor.taxels().len()).unwrap();
    for (found, truth) in fit.taxels.gains().into_iter().zip(lines.gain()) {
        close(found, *truth);
    }
    for found in fit.taxels.thresholds_newton() {
        assert!((found - 0.08).abs() < 0.004, "{found}");
    }
    let again = SensorSpec { response: fit.response(true), ..spec };
    SensorSpec::parse("fitted", &again.to_toml()).unwrap().build(None).unwrap();
}

/// A bench that records no rows between its presses, and a sensor that creeps and rests between them: the creep was carried across
/// the rests, so that hysteresis was found where there is none and no threshold was covered. `rest_s` says how long it rested.
#[test]
fn creep_was_carried_across_rests_that_were_not_recorded() {
    let mut spec = device();
    spec.response.hysteresis = None;
    let sensor = spec.build(None).unwrap();
    let mut bench = measured(&sensor);
    bench.presses.retain(|row| row.force_newton > 0.0);
    let unrecorded = fit(&sensor, &bench).unwrap();
    let doubts = unrecorded.warnings.join("; ");
    assert!(doubts.contains("59 presses begin") && doubts.contains("`rest_s`"), "{doubts}");
    let mut last = None;
    for row in &mut bench.presses {
        let is_first = last.replace((row.taxel, row.press)) != Some((row.taxel, row.press));
        row.rest_s = Some(if is_first { 5.0 } else { 0.0 });
    }
    let fitted = fit(&sensor, &bench).unwrap();
    assert_eq!(fitted.warnings, Vec::<String>::new());
    let covered = |fit: &SensorFit| {
        let gains = fit.taxels.gains();
        let is_covered = |(taxel, gain): (&TaxelFit, &f64)| {
            let Estimate { value, ci95 } = taxel.threshold_newton;
            (gain * value - 0.08).abs() <= gain * ci95
        };
        fit.taxels.taxels.iter().zip(&gains).filter(|pair| is_covered(*pair)).count()
    };
    let (before, after) = (covered(&unrecorded), covered(&fitted));
    println!("{:?} {before}; {:?} {after}", unrecorded.hysteresis, fitted.hysteresis);
    assert!(after >= 17 && before < 10, "{before} and {after} of 20 thresholds");
    assert!(fitted.hysteresis.value <= fitted.hysteresis.ci95, "{:?}", fitted.hysteresis);
    assert!(fitted.response(true).hysteresis.is_none());
    // Presses of one reading each do not tell the hysteresis.
    let mut single = bench.clone();
    single.presses.retain(|row| row.depth_m > 0.5e-3);
    single.presses.iter_mut().enumerate().for_each(|(i, row)| (row.press, row.rest_s) = (i, Some(60.0)));
    assert!(fit(&sensor, &single).unwrap().hysteresis.ci95.is_infinite());
    // The table has the column.
    let table = bench.presses_csv();
    assert!(
        table.starts_with("taxel,press,rest_s,held_s,depth_mm,force_N,raw_0_counts") && table.contains("\n0,1,5,0.1,")
    );
}

#[test]
fn tables_carry_their_units() {
    let mut bench = measured(&device().build(None).unwrap());
    bench.presses.truncate(2);
    let (presses, creep) = (bench.presses_csv(), bench.creep_csv());
    assert!(presses.starts_with("taxel,press,held_s,depth_mm,force_N,raw_0_counts,"));
    assert_eq!(presses.lines().count(), 3);
    assert!(presses.lines().all(|line| line.split(',').count() == 25));
    assert!(creep.starts_with("taxel,time_s,force_N,raw_counts\n"));
}

#[test]
fn benches_and_data_that_say_nothing_are_refused() {
    let sensor = SensorSpec { contact_points: Some(4), ..device() }.build(None).unwrap();
    let protocol = Protocol { indenter_m: 1e-3, ..Protocol::default() };
    let error = characterise(&sensor, &protocol, |_| true).unwrap_err();
    assert!(matches!(error, BenchError::TouchesNothing { .. }), "{error}");
    let falling = Protocol { depths_m: vec![2e-3, 1e-3], ..Protocol::default() };
    assert!(characterise(&sensor, &falling, |_| true).is_err());
    let sensor = device().build(None).unwrap();
    let bench = measured(&sensor);
    let fit = |bench: &Bench| fit(&sensor, bench);
    assert!(matches!(fit(&Bench::default()), Err(FitError::TooFew { .. })));
    let without_creep = Bench { creep: Vec::new(), ..bench.clone() };
    assert!(matches!(fit(&without_creep), Err(FitError::TooFew { .. })));
    let mut single = bench.clone();
    single.presses.retain(|row| row.depth_m == 0.0 || (row.depth_m - 1e-3).abs() < 1e-9);
    assert!(matches!(fit(&single), Err(FitError::NoSpread { .. })));
    let mut broken = bench;
    broken.presses[3].force_newton = f64::NAN;
    assert!(matches!(fit(&broken), Err(FitError::NotFinite { .. })));
}
