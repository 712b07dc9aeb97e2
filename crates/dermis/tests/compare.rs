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
    assert!((shifted.signals[0].over_time[10][3] - ((0.25f64.powi(2) + 1.0) / 2.0).sqrt()).abs() < 1e-9);
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
