//! What a number must be, and whether it is.

use serde::Deserialize;
use std::collections::BTreeMap;

/// One bound of an `expected.toml`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expectation {
    /// Name of the metric.
    pub metric: String,
    /// What it is, in words, with its unit.
    pub what: String,
    /// What the paper says, where it says anything.
    #[serde(default)]
    pub paper: Option<String>,
    /// Least that passes.
    #[serde(default)]
    pub min: Option<f64>,
    /// Most that passes.
    #[serde(default)]
    pub max: Option<f64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    expect: Vec<Expectation>,
}

/// A bound held against a number.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    /// The bound.
    pub expectation: Expectation,
    /// Our number, if there is one.
    pub ours: Option<f64>,
    /// Whether it lies within.
    pub passed: bool,
}

/// Holds the metrics against the bounds. A file that does not read is a verdict that does not pass.
pub(super) fn judge(name: &str, text: &str, metrics: &BTreeMap<String, f64>) -> Vec<Verdict> {
    let file: File = match dermis::sensor::parse_toml(&format!("experiments/{name}/expected.toml"), text) {
        Ok(file) => file,
        Err(error) => {
            let expectation = Expectation {
                metric: "expected.toml".into(),
                what: error.to_string(),
                paper: None,
                min: None,
                max: None,
            };
            return vec![Verdict { expectation, ours: None, passed: false }];
        }
    };
    file.expect
        .into_iter()
        .map(|expectation| {
            let ours = metrics.get(&expectation.metric).copied();
            let bounded = expectation.min.is_some() || expectation.max.is_some();
            let within = |value: f64| {
                expectation.min.is_none_or(|min| value >= min) && expectation.max.is_none_or(|max| value <= max)
            };
            let passed = bounded && ours.is_some_and(within);
            Verdict { expectation, ours, passed }
        })
        .collect()
}
