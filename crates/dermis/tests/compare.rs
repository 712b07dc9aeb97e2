//! Differences between two recordings.

use dermis::compare::{Options, compare};
use dermis::record::{Log, SignalLog};

fn log(name: &str, times_s: impl Iterator<Item = f64>, value: impl Fn(f64) -> [f64; 2]) -> Log {
    let times_s: Vec<f64> = times_s.collect();
    let values = times_s.iter().flat_map(|t| value(*t)).collect();
    let signal = SignalLog { name: name.into(), width: 2, times_s, values };
    Log { source: format!("{name}.mcap"), signals: vec![signal], ..Log::default() }
}

/// Straight lines sampled at different times agree everywhere; a constant offset of 0.5 in one of two numbers gives a
/// mean of 0.25 and a root mean square of √⅛.
#[test]
fn differences_are_those_of_the_signals_not_of_their_times() {
    let a = log("x", (0..50).map(|i| f64::from(i) * 0.1), |t| [t, 1.0 - 2.0 * t]);
    let b = log("x", (0..70).map(|i| f64::from(i) * 0.07), |t| [t, 1.5 - 2.0 * t]);
    let found = compare(&a, &b, &Options::default()).unwrap();
    let signal = &found.signals[0];
    assert_eq!(signal.times, 49, "the last time of the first lies behind the last of the second");
    for (got, truth) in [(signal.mean_abs, 0.25), (signal.rms, 0.125f64.sqrt()), (signal.max_abs, 0.5)] {
        assert!((got - truth).abs() < 1e-12, "{got} {truth}");
    }
    let apart = log("x", (0..50).map(|i| 1e9 + f64::from(i) * 0.1), |t| [t - 1e9, 1.0 - 2.0 * (t - 1e9)]);
    let message = compare(&a, &apart, &Options::default()).unwrap_err().to_string();
    assert!(message.contains("--from-start"), "{message}");
    let aligned = compare(&a, &apart, &Options { from_start: true, ..Options::default() }).unwrap();
    assert!(aligned.signals[0].max_abs < 1e-5, "{}", aligned.signals[0].max_abs);
    let shifted = compare(&a, &b, &Options { shift_s: 0.25, ..Options::default() }).unwrap();
    let offs = [0, 1].map(|component| shifted.signals[0].traces[component].rows[10][3]);
    assert!((offs[0] + 0.25).abs() < 1e-9 && (offs[1] - 1.0).abs() < 1e-9, "{offs:?}");
}

#[test]
fn names_are_paired() {
    let (a, b) = (log("x", [0.0, 1.0].into_iter(), |t| [t, t]), log("y", [0.0, 1.0].into_iter(), |t| [t, t]));
    let message = compare(&a, &b, &Options::default()).unwrap_err().to_string();
    assert!(message.contains("the first has x, the second y"), "{message}");
    let pair = |a: &str, b: &str| Options { pairs: vec![(a.into(), b.into())], ..Options::default() };
    assert_eq!(compare(&a, &b, &pair("x", "y")).unwrap().signals[0].max_abs, 0.0);
    let message = compare(&a, &b, &pair("x", "z")).unwrap_err().to_string();
    assert!(message.contains("y.mcap has no \"z\"; it has y"), "{message}");
}

#[test]
fn a_vector_and_a_number_are_refused_with_the_reason() {
    let a = log("x", [0.0, 1.0].into_iter(), |t| [t, 2.0 * t]);
    let single = SignalLog { name: "x".into(), width: 1, times_s: vec![0.0, 1.0], values: vec![0.0, 2.0] };
    let b = Log { source: "b.csv".into(), signals: vec![single], ..Log::default() };
    let message = compare(&a, &b, &Options::default()).unwrap_err().to_string();
    assert!(message.contains("x has 2 and x 1 numbers per time"), "{message}");
    let component = Options { pairs: vec![("x.1".into(), "x".into())], ..Options::default() };
    assert_eq!(compare(&a, &b, &component).unwrap().signals[0].max_abs, 0.0);
}

/// A rotation by 1 rad/s and one that lags by 0.1 rad, whose quaternion changes sign on the way.
#[test]
fn orientations_are_compared_by_their_angle() {
    let turning = |lag: f64, flips: bool| {
        let times_s: Vec<f64> = (0..60).map(|i| 0.1 * f64::from(i)).collect();
        let row = |(i, t): (usize, &f64)| {
            let (sin, cos) = (0.5 * (t - lag)).sin_cos();
            let sign = if flips && i % 2 == 1 { -1.0 } else { 1.0 };
            [sign * cos, 0.0, 0.0, sign * sin]
        };
        let values = times_s.iter().enumerate().flat_map(row).collect();
        let signal = SignalLog { name: "pad/orientation_wxyz".into(), width: 4, times_s, values };
        Log { source: "a.mcap".into(), signals: vec![signal], ..Log::default() }
    };
    let found = compare(&turning(0.0, false), &turning(0.1, true), &Options { shift_s: 0.05, ..Options::default() });
    let signal = &found.unwrap().signals[0];
    assert_eq!((signal.unit, signal.traces.len()), ("deg", 1));
    // A shift of 0.05 s adds 0.05 rad to the lag.
    assert!((signal.max_abs - 0.15f64.to_degrees()).abs() < 0.01, "{}", signal.max_abs);
    assert!((signal.range - 180.0).abs() < 6.0, "{}", signal.range);
}

/// A rotation that differed by 7e-15° was reported as 58 % of a range that was rounding too.
#[test]
fn rounding_of_a_rotation_was_58_percent_of_its_range() {
    let turned = |offset: f64| {
        let times_s: Vec<f64> = (0..20).map(|i| f64::from(i) * 0.1).collect();
        let values = times_s.iter().flat_map(|t| [1.0, 1e-17 * t.sin() + offset, 0.0, 0.0]).collect();
        let signal = SignalLog { name: "ball/orientation_wxyz".into(), width: 4, times_s, values };
        Log { source: "x.mcap".into(), signals: vec![signal], ..Log::default() }
    };
    let part = |offset: f64| {
        let found = compare(&turned(0.0), &turned(offset), &Options::default()).unwrap();
        (found.signals[0].max_abs, found.signals[0].part_of_range())
    };
    let (off_deg, of_range) = part(6e-17);
    assert!(off_deg > 1e-15 && off_deg < 1e-13, "{off_deg}");
    assert_eq!(of_range, Some(0.0));
    // Any true difference from a constant is none of a part.
    assert_eq!(part(1e-9).1, None);
}

/// Of every kind of signal, differences by rounding are no part of the range, and a true one is.
#[test]
fn rounding_is_no_difference_of_any_signal() {
    let names =
        ["pad/force_n", "pad/torque_nm", "ball/position_m", "ball/velocity_m_per_s", "ball/spin_rad_per_s", "volts"];
    for (name, size) in names.into_iter().flat_map(|name| [(name, 1.0), (name, 1e-3), (name, 1e5)]) {
        let of = |part: f64| log(name, (0..30).map(|i| f64::from(i) * 0.1), |t| [size * t.sin() * (1.0 + part), size]);
        let part = |part: f64| compare(&of(0.0), &of(part), &Options::default()).unwrap().signals[0].part_of_range();
        assert_eq!(part(1e-15), Some(0.0), "{name} {size}");
        assert!(part(1e-3).is_some_and(|part| part > 1e-4 && part < 1e-3), "{name} {size}: {:?}", part(1e-3));
    }
    let constant = |value: f64| log("pad/force_n", (0..9).map(f64::from), move |_| [value, 1.0]);
    let units = compare(&constant(1.0), &constant(2.0), &Options::default()).unwrap();
    assert_eq!((units.signals[0].unit, units.signals[0].part_of_range()), ("N", None));
}
