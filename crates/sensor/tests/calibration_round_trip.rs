//! Every calibrator writes a sensor that, characterised again, gives its own bench data within the stated residual.

use dermis_sensor::calibration::{
    CreepFit, FitError, Residual, TaxelLoads, fit_creep_record, fit_lines, fit_neighbours, fit_sensor, fit_stiffness,
    simulated_stiffness,
};
use dermis_sensor::characterise::{Bench, Protocol, characterise};
use dermis_sensor::{ResponseSpec, SensorSpec, Spread, SurfaceSpec, presets};
use std::sync::LazyLock;

/// The flat presets that are read in counts, each with an indenter (mm) that touches their contact points. Taxels of
/// curved presets face away from an indenter that moves along z.
const ARRAYS: [(&str, f64); 9] = [
    ("wts0614", 4.0),
    ("wts0614-layer", 1.0),
    ("capacitive-8x8", 3.5),
    ("digitacts-6x4", 4.0),
    ("uji-foam-14x6", 4.0),
    ("gelsight", 1.0),
    ("gelsight-dots", 1.0),
    ("gelsight-mini", 1.0),
    ("shadow-fingertip", 2.0),
];

/// The other presets, each with the reason why its taxels are not calibrated on a bench.
const NOT_CALIBRATED: [(&str, &str); 11] = [
    (
        "weiss-dsa",
        "a threshold and a sigmoid together, from weights on a stamp (`fit_loaded_array`), not from one indenter",
    ),
    ("reskin", "magnetometers without taxels, as the other three (`fit_magnetic`)"),
    ("anyskin", "as `reskin`"),
    ("uskin-4x4", "as `reskin`"),
    ("eflesh", "as `reskin`"),
    ("fingertip", "curved: an indenter along z touches no contact point of most taxels, which `characterise` refuses"),
    ("thumbtip", "curved, as `fingertip`"),
    ("spherical-patch", "curved, as `fingertip`"),
    ("finger-gel", "an imprint has no force to calibrate"),
    ("digit", "an optical layer without taxels of the device"),
    ("tacchi", "an optical gel in motion, without taxels of the device; a bench takes hours"),
];

#[test]
fn every_preset_is_calibrated_or_says_why_not() {
    let others = NOT_CALIBRATED.map(|(name, reason)| {
        assert!(reason.len() > 5, "{name}");
        name
    });
    let mut known: Vec<&str> = ARRAYS.iter().map(|(name, _)| *name).chain(others).collect();
    let mut all: Vec<&str> = presets::names().collect();
    known.sort_unstable();
    all.sort_unstable();
    assert_eq!(known, all);
}

/// A preset on at most 4 × 3 taxels, its bench protocol and its bench data.
struct Case {
    name: &'static str,
    spec: SensorSpec,
    protocol: Protocol,
    bench: Bench,
}

/// The cases, pressed once for all tests.
fn cases() -> &'static [Case] {
    static CASES: LazyLock<Vec<Case>> = LazyLock::new(|| ARRAYS.into_iter().map(case).collect());
    &CASES
}

fn case((name, indenter_mm): (&'static str, f64)) -> Case {
    let mut spec = presets::find(name).unwrap().without_optics();
    if let SurfaceSpec::Grid { rows, cols, .. } = &mut spec.surface {
        (*rows, *cols) = ((*rows).min(4), (*cols).min(3));
    }
    let deepest_m = spec.build(None).unwrap().skin().max_depth_m().min(2.2e-3) * 0.8;
    let protocol = Protocol {
        indenter_m: indenter_mm * 1e-3,
        depths_m: (1..=7).map(|i| deepest_m * f64::from(i) / 7.0).collect(),
        presses: 1,
        creep_depth_m: 0.6 * deepest_m,
        creep_s: 60.0,
        ..Protocol::default()
    };
    let bench = characterise(&spec.build(None).unwrap(), &protocol, |_| true).unwrap();
    Case { name, spec, protocol, bench }
}

impl Case {
    /// Presses a sensor with another response in the same way: root mean square difference at pressed taxels and at the
    /// others (counts).
    fn again(&self, response: ResponseSpec) -> (f64, f64) {
        let spec = SensorSpec { response, ..self.spec.clone() };
        let written = SensorSpec::parse("written", &spec.to_toml()).unwrap();
        let again = characterise(&written.build(None).unwrap(), &self.protocol, |_| true).unwrap();
        let (mut own, mut others) = ((0.0, 0), (0.0, 0));
        let rows = self.bench.presses.iter().zip(&again.presses).filter(|(row, _)| row.force_newton > 0.0);
        for (before, after) in rows {
            assert!((before.force_newton - after.force_newton).abs() < 1e-9);
            for taxel in 0..before.raw.len() {
                let sum = if taxel == before.taxel { &mut own } else { &mut others };
                sum.0 += (f64::from(before.raw[taxel]) - f64::from(after.raw[taxel])).powi(2);
                sum.1 += 1;
            }
        }
        let rms = |(sum, count): (f64, i32)| (sum / f64::from(count.max(1))).sqrt();
        (rms(own), rms(others))
    }

    /// Checks the residual that a calibrator states. Noise of the bench and of the written sensor add to it, and half a
    /// count of rounding.
    fn check(&self, what: &str, response: ResponseSpec, stated: &Residual) {
        let noise = self.spec.response.noise.map_or(0.0, |noise| noise.sd.si() / response.force_per_count.si());
        let allowed = |counts: f64| 1.1 * counts.hypot(noise) + 0.5;
        let (own, others) = self.again(response);
        let name = self.name;
        println!("{name}, {what}: {own:.2} ({others:.2}) counts, stated {stated:?}");
        assert!(own <= allowed(stated.pressed_counts), "{name}, {what}: {own} counts, stated {stated:?}");
        assert!(others <= allowed(stated.neighbours_counts), "{name}, {what}: {others} counts, stated {stated:?}");
        assert!(stated.explained > 0.99, "{name}, {what}: {stated:?}");
    }
}

/// Gains fitted without regard to the spread, hysteresis and creep that the sensor keeps would apply them twice.
#[test]
fn calibrated_taxels_read_their_own_bench_data() {
    for case in cases() {
        let sensor = case.spec.build(None).unwrap();
        let loads = TaxelLoads::new(&sensor, &case.bench, case.protocol.indenter_m).unwrap();
        let fit = fit_lines(&loads, &case.spec.response, None).unwrap_or_else(|error| panic!("{}: {error}", case.name));
        let response = fit.response(&case.spec.response);
        let stated = loads.residual(&response).unwrap();
        case.check("taxels", response, &stated);
    }
}

#[test]
fn a_calibrated_sensor_reads_its_own_bench_data() {
    for case in cases() {
        let sensor = case.spec.build(None).unwrap();
        let loads = TaxelLoads::new(&sensor, &case.bench, case.protocol.indenter_m).unwrap();
        let known = ResponseSpec { sampling: case.spec.response.sampling, ..(*sensor.response()).into() };
        let fit = fit_sensor(&loads, &known, 3).unwrap_or_else(|error| panic!("{}: {error}", case.name));
        case.check("sensor", fit.response(true), &fit.residual);
        let creeps = !case.spec.response.creep.is_empty();
        assert_eq!(fit.creep.is_some(), creeps, "{}: {:?}", case.name, fit.creep);
    }
}

/// A sensor whose gains include the spread gets a spread: a directly pressed taxel reads the same as before.
#[test]
fn a_calibrated_spread_keeps_the_reading_of_a_pressed_taxel() {
    let mut spread = 0;
    for case in cases() {
        let sensor = case.spec.build(None).unwrap();
        let loads = TaxelLoads::new(&sensor, &case.bench, case.protocol.indenter_m).unwrap();
        let kept = ResponseSpec { spread: None, ..case.spec.response.clone() };
        let lines = fit_lines(&loads, &kept, None).unwrap();
        let fit = match fit_neighbours(&loads, &lines, &kept, 3) {
            Err(FitError::TooFew { .. } | FitError::Undetermined { .. }) => {
                assert!(case.spec.response.spread.is_none(), "{}", case.name);
                continue;
            }
            fit => fit.unwrap(),
        };
        let response = loads.with_spread(&lines.response(&kept), Spread::gaussian(fit.sigma_taxels.value, 3)).unwrap();
        let stated = loads.residual(&response).unwrap();
        case.check("spread", response, &stated);
        spread += 1;
    }
    assert!(spread >= 3, "{spread} presets with a spread");
}

#[test]
fn a_calibrated_creep_reads_its_own_record() {
    for case in cases() {
        let sensor = case.spec.build(None).unwrap();
        let load_newton = case.spec.response.inverse(sensor.taxels().len()).unwrap();
        let fit = fit_creep_record(&case.bench.creep, 1, &load_newton).unwrap();
        let creep = fit.as_ref().map(CreepFit::stages).unwrap_or_default();
        assert_eq!(creep.len(), case.spec.response.creep.len().min(1), "{}", case.name);
        let spec = SensorSpec { response: ResponseSpec { creep, ..case.spec.response.clone() }, ..case.spec.clone() };
        let again = characterise(&spec.build(None).unwrap(), &case.protocol, |_| true).unwrap();
        let (mut squares, mut top) = (0.0, 0f64);
        for (before, after) in case.bench.creep.iter().zip(&again.creep) {
            squares += (f64::from(before.raw) - f64::from(after.raw)).powi(2);
            top = top.max(f64::from(before.raw));
        }
        let rms = (squares / case.bench.creep.len() as f64).sqrt();
        let stated = fit.map_or(0.0, |fit| fit.rms / fit.at_once.value) * top;
        assert!(rms <= 1.5 * stated + 1.0, "{}: {rms} counts of {top}, stated {stated}", case.name);
    }
}

/// From a sensor of half the stiffness, for every skin that can be scaled, whatever part of its contact points the
/// indenter meets.
#[test]
fn a_calibrated_stiffness_gives_its_own_force() {
    for case in cases() {
        let mut spec = case.spec.clone();
        if !spec.skin.scale_stiffness(0.5) {
            continue;
        }
        let points: Vec<(f64, f64)> = {
            let middle = spec.build(None).unwrap().taxels().len() / 2;
            let rows = case.bench.presses.iter().filter(|row| row.taxel == middle && row.depth_m > 0.0);
            rows.map(|row| (row.depth_m, row.force_newton)).collect()
        };
        let depths_m: Vec<f64> = points.iter().map(|point| point.0).collect();
        let slope = |spec: &SensorSpec| {
            let fit = simulated_stiffness(&spec.build(None).unwrap(), case.protocol.indenter_m, &depths_m).unwrap();
            fit.through_zero_newton_per_m.value
        };
        let measured = fit_stiffness(&points).unwrap().through_zero_newton_per_m.value;
        assert!(spec.skin.scale_stiffness(measured / slope(&spec)));
        let rel_error = slope(&spec) / measured - 1.0;
        assert!(rel_error.abs() < 1e-2, "{}: {rel_error:e}", case.name);
    }
}
