//! The experiments of Kappassov 2020 that need no world: every bound of their `expected.toml` holds.
//!
//! With `DERMIS_OUT` set, figures and tables are written to a folder of that name for each experiment.

use dermis::experiments::{Options, find};

fn check(name: &str) {
    let outcome = find(name).unwrap().run(&Options::default(), &mut |_| true).unwrap();
    for (metric, value) in &outcome.metrics {
        println!("{metric} = {value:.5}");
    }
    let failed: Vec<String> = outcome
        .verdicts
        .iter()
        .filter(|verdict| !verdict.passed)
        .map(|verdict| format!("{} = {:?}", verdict.expectation.metric, verdict.ours))
        .collect();
    if let Some(folder) = std::env::var_os("DERMIS_OUT") {
        outcome.files.commit(&std::path::Path::new(&folder).join(name)).unwrap();
    }
    assert!(failed.is_empty(), "{name}: {}", failed.join(", "));
}

#[test]
fn a_device_is_characterised_from_its_bench_data() {
    check("kappassov-calibration");
}

#[test]
fn indenters_look_alike_on_device_and_model() {
    check("kappassov-indenters");
}

/// Prints both times; the bound is loose, because a machine that runs other tests is no place to measure.
#[test]
fn a_full_chain_costs_less_than_the_skin() {
    let numbers = dermis::bench::find("response").unwrap().run();
    for (name, value) in &numbers {
        println!("{name} = {value:.2}");
    }
    assert!(numbers["chain_over_springs_ratio"] < 1.0, "{numbers:?}");
}
