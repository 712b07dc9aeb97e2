//! Every experiment holds what it claims. They share two cores, so they run one after the other.

use dermis::experiments::{ALL, Options};

#[test]
fn every_claim_holds() {
    for experiment in &ALL {
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
