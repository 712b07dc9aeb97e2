//! Every bound in every experiment's `expected.toml` holds.
//!
//! With `DERMIS_OUT` set, figures and tables are written to a subfolder per experiment.

use dermis_research::experiments::{ALL, Options, find};

/// Experiments of more than five seconds: `cargo xtask validate experiments` runs them.
const LONG: [&str; 9] = [
    "kappassov-calibration",
    "kappassov-indenters",
    "kappassov-pan-tilt",
    "moisio-finger",
    "moisio-grasps",
    "moisio-tilt",
    "moisio-torque",
    "tacchi-errors",
    "tacchi-press",
];

/// Every second experiment, so that two tests keep two cores busy.
fn claims_hold(first: usize) {
    let folder = std::env::var_os("DERMIS_OUT");
    let short = ALL.iter().filter(|experiment| !experiment.needs_data && !LONG.contains(&experiment.name));
    for experiment in short.skip(first).step_by(2) {
        let start = std::time::Instant::now();
        let outcome = experiment.run(&Options::default(), &mut |_| true).expect(experiment.name);
        println!("{}: {:.1} s", experiment.name, start.elapsed().as_secs_f64());
        for verdict in &outcome.verdicts {
            assert!(verdict.passed, "{}: {verdict:?} of {:?}", experiment.name, outcome.metrics);
        }
        assert!(outcome.passed());
        assert!(outcome.files.names().any(|name| name.extension().is_some_and(|end| end == "png")));
        if let Some(folder) = &folder {
            outcome.files.commit(&std::path::Path::new(folder).join(experiment.name)).unwrap();
        }
    }
}

#[test]
fn every_claim_holds() {
    claims_hold(0);
}

#[test]
fn every_other_claim_holds() {
    claims_hold(1);
}

#[test]
fn an_experiment_stops_when_progress_returns_false() {
    let experiment = find("moisio-weights").expect("it is there");
    let outcome = experiment.run(&Options::default(), &mut |_| false);
    assert_eq!(outcome.expect_err("stopped").to_string(), "interrupted");
}

#[test]
fn an_experiment_without_its_measurements_says_where_to_get_them() {
    for experiment in ALL.iter().filter(|experiment| experiment.needs_data) {
        let refusal = experiment.run(&Options::default(), &mut |_| true).expect_err(experiment.name).to_string();
        assert!(
            refusal.contains("--data") && refusal.contains(&format!("validation/{}", experiment.name)),
            "{refusal}"
        );
    }
}
