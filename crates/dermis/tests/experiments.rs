//! Every experiment holds what it claims. They share two cores, so they run one after the other.

use dermis::experiments::{ALL, Options};

#[test]
fn every_claim_holds() {
    for experiment in ALL.iter().filter(|experiment| !experiment.needs_data) {
        let start = std::time::Instant::now();
        let outcome = experiment.run(&Options::default(), &mut |_| true).expect(experiment.name);
        println!("{}: {:.1} s", experiment.name, start.elapsed().as_secs_f64());
        for verdict in &outcome.verdicts {
            assert!(verdict.passed, "{}: {verdict:?}", experiment.name);
        }
        assert!(outcome.passed());
        assert!(outcome.files.names().any(|name| name.extension().is_some_and(|end| end == "png")));
    }
}

#[test]
fn an_experiment_stops_when_it_is_told_to() {
    let experiment = dermis::experiments::find("moisio-weights").expect("it is there");
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
