//! Checks the metrics of an experiment against the bounds of its `expected.toml`.

use serde::Deserialize;
use std::collections::BTreeMap;

/// One bound of an `expected.toml`.
#[derive(Clone, Debug, PartialEq, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Expectation {
    /// Name of the metric.
    pub metric: String,
    /// Description of the metric, with its unit.
    pub what: String,
    /// The paper's value, if it gives one.
    pub paper: Option<String>,
    /// Lower bound.
    pub min: Option<f64>,
    /// Upper bound.
    pub max: Option<f64>,
    /// The reason why there is only one bound.
    pub one_sided: Option<String>,
}

/// The expected results of an experiment: `expected.toml`.
#[derive(Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
struct File {
    /// The bounds, one for each metric.
    expect: Vec<Expectation>,
}

/// The JSON Schema of an `expected.toml`.
pub fn schema() -> serde_json::Value {
    dermis::schema::schema::<File>("Experiment")
}

/// The result of checking one bound.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    /// The bound.
    pub expectation: Expectation,
    /// Our value, if the experiment reports it.
    pub ours: Option<f64>,
    /// Whether the value lies within the bound.
    pub passed: bool,
}

/// Checks the metrics against the bounds. An unreadable file gives one failed verdict.
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
                one_sided: None,
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
