//! The claims of the papers: `experiments/claims.toml`.

use serde::Deserialize;

/// A paper that dermis implements.
#[derive(Clone, Debug, PartialEq, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Paper {
    /// Short name, used by its claims.
    pub key: String,
    /// Its title.
    pub title: String,
    /// Its authors.
    pub authors: String,
    /// Year of publication.
    pub year: u32,
    /// The skin that implements it.
    pub skin: String,
}

/// One claim of a paper.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(try_from = "Row")]
pub struct Claim {
    /// Key of the paper.
    pub paper: String,
    /// Section, figure, table or equation.
    pub place: String,
    /// The claim, in our words.
    pub says: String,
    /// The number that the paper gives.
    pub number: String,
    /// The check of the claim.
    pub ground: Ground,
    /// A remark on the comparison.
    pub beside: Option<String>,
}

/// The check of a claim.
#[derive(Clone, Debug, PartialEq)]
pub enum Ground {
    /// Metrics of an experiment.
    Experiment {
        /// Its name.
        name: String,
        /// The metrics that must lie within their bounds.
        metrics: Vec<String>,
        /// The figure that shows it.
        figure: String,
    },
    /// A command outside the report.
    CheckedBy {
        /// The command.
        command: String,
    },
    /// No check: the data are not available.
    OutOfReach {
        /// The reason.
        reason: String,
    },
}

/// The claims of the papers and how each is checked: `claims.toml`.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Claims {
    /// The papers, in order of appearance.
    pub paper: Vec<Paper>,
    /// Their claims, in the order of each paper.
    #[schemars(with = "Vec<Row>")]
    pub claim: Vec<Claim>,
}

/// A claim: `experiment` with `metrics` and `figure`, or `checked_by`, or `out_of_reach`.
#[derive(Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
struct Row {
    /// Key of the paper.
    paper: String,
    /// Section, figure, table or equation.
    place: String,
    /// The claim, in our words.
    says: String,
    /// The number that the paper gives.
    number: String,
    /// Name of the experiment that checks the claim.
    experiment: Option<String>,
    /// Metrics of the experiment that must lie within their bounds.
    #[serde(default)]
    metrics: Vec<String>,
    /// Figure of the experiment that shows it.
    figure: Option<String>,
    /// Command that checks the claim outside the report.
    checked_by: Option<String>,
    /// Reason why the claim cannot be checked.
    out_of_reach: Option<String>,
    /// A remark on the comparison.
    beside: Option<String>,
}

impl TryFrom<Row> for Claim {
    type Error = String;

    fn try_from(row: Row) -> Result<Self, String> {
        let Row { paper, place, says, number, experiment, metrics, figure, checked_by, out_of_reach, beside } = row;
        let ground = match (experiment, figure, checked_by, out_of_reach) {
            (Some(name), Some(figure), None, None) if !metrics.is_empty() => {
                Ground::Experiment { name, metrics, figure }
            }
            (None, None, Some(command), None) => Ground::CheckedBy { command },
            (None, None, None, Some(reason)) => Ground::OutOfReach { reason },
            _ => {
                return Err(format!(
                    "claim {says:?}: needs either `experiment` with `metrics` and `figure`, or `checked_by`, or `out_of_reach`"
                ));
            }
        };
        Ok(Self { paper, place, says, number, ground, beside })
    }
}

/// The built-in claims; a test checks that they parse.
pub fn read() -> Claims {
    let text = include_str!("../../experiments/claims.toml");
    dermis::sensor::parse_toml("experiments/claims.toml", text).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiments::{ALL, find};

    /// Our own experiments, which no paper claims.
    const OURS: [&str; 3] = ["real-balls", "gelsight-mini-force", "skins-compared"];

    #[test]
    fn every_claim_names_what_there_is() {
        let claims = read();
        assert!(!claims.claim.is_empty());
        for claim in &claims.claim {
            assert!(claims.paper.iter().any(|paper| paper.key == claim.paper), "{claim:?}");
            if let Ground::Experiment { name, metrics, figure } = &claim.ground {
                let bounded = find(name).expect("an experiment").expectations();
                assert!(metrics.iter().all(|metric| bounded.iter().any(|e| e.metric == *metric)), "{claim:?}");
                assert!(figure.ends_with(".png"), "{claim:?}");
            }
        }
    }

    #[test]
    fn every_experiment_has_a_claim_and_every_paper_something_out_of_reach() {
        let claims = read();
        let decided = |experiment: &str| {
            claims.claim.iter().any(|c| matches!(&c.ground, Ground::Experiment { name, .. } if name == experiment))
        };
        for experiment in ALL.iter().filter(|experiment| !OURS.contains(&experiment.name)) {
            assert!(decided(experiment.name), "{}", experiment.name);
        }
        for paper in &claims.paper {
            let closed = |c: &Claim| c.paper == paper.key && matches!(c.ground, Ground::OutOfReach { .. });
            assert!(claims.claim.iter().any(closed), "{}", paper.key);
        }
    }

    #[test]
    fn a_claim_without_ground_is_refused() {
        let text = "[[paper]]\nkey='p'\ntitle=''\nauthors=''\nyear=1\nskin=''\n[[claim]]\npaper='p'\nplace=''\nsays='it flies'\nnumber=''\n";
        let refusal = dermis::sensor::parse_toml::<Claims>("claims.toml", text).expect_err("no ground").to_string();
        assert!(refusal.contains("it flies") && refusal.contains("out_of_reach"), "{refusal}");
    }
}
