//! One HTML page with every claim of the papers and the result of its experiment.
//!
//! [`claims`] lists the claims and the experiments that check them, [`Report`] collects results, and [`Report::html`]
//! writes the page, with style and figures embedded.

pub mod claims;
mod page;

pub(crate) use page::{start as page_head, text as html_text};

use crate::experiments::{ALL, Experiment, Outcome, Verdict};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use claims::{Claim, Ground};
use std::collections::BTreeMap;

/// The results so far.
#[derive(Debug, Default)]
pub struct Report {
    entries: BTreeMap<&'static str, Entry>,
    /// Arguments of the experiments besides their name, such as `--full`.
    arguments: String,
    /// Date of the report.
    date: String,
}

/// One experiment that was run.
#[derive(Debug)]
struct Entry {
    /// The result, or the reason of the failure.
    result: Result<Shown, String>,
    wall_s: f64,
}

/// The parts of an [`Outcome`] that the page shows.
#[derive(Debug)]
struct Shown {
    verdicts: Vec<Verdict>,
    notes: Vec<String>,
    /// Name and data URI of each image.
    figures: Vec<(String, String)>,
}

/// The status of a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// Every number lies within its bounds.
    Holds,
    /// A number is out of bounds, or the experiment failed.
    Fails,
    /// The experiment was not run.
    NotRun,
    /// Another command checks it.
    Elsewhere,
    /// Needs data that are not available.
    OutOfReach,
}

impl Report {
    /// An empty report. `arguments` are those of the experiments.
    pub fn new(arguments: impl Into<String>, date: impl Into<String>) -> Self {
        Self { entries: BTreeMap::new(), arguments: arguments.into(), date: date.into() }
    }

    /// Adds the result of an experiment.
    pub fn add(&mut self, experiment: &Experiment, outcome: &Outcome, wall_s: f64) {
        let images = outcome.files.names().filter(|name| name.extension().is_some_and(|end| end == "png"));
        let figures =
            images.filter_map(|name| Some((name.display().to_string(), data_uri(outcome.files.get(name)?)))).collect();
        let partial = outcome.partial.iter().map(|part| format!("Partial run: {part}; `--full` runs all."));
        let notes = partial.chain(outcome.notes.iter().cloned()).collect();
        let findings = Shown { verdicts: outcome.verdicts.clone(), notes, figures };
        self.entries.insert(experiment.name, Entry { result: Ok(findings), wall_s });
    }

    /// Adds the failure of an experiment.
    pub fn add_failure(&mut self, experiment: &Experiment, reason: impl Into<String>, wall_s: f64) {
        self.entries.insert(experiment.name, Entry { result: Err(reason.into()), wall_s });
    }

    /// The status of a claim.
    pub fn standing(&self, claim: &Claim) -> Standing {
        match &claim.ground {
            Ground::OutOfReach { .. } => Standing::OutOfReach,
            Ground::CheckedBy { .. } => Standing::Elsewhere,
            Ground::Experiment { name, metrics, .. } => {
                match self.entries.get(name.as_str()).map(|entry| &entry.result) {
                    None => Standing::NotRun,
                    Some(Err(_)) => Standing::Fails,
                    Some(Ok(findings)) => {
                        let holds = |metric: &String| findings.verdict(metric).is_some_and(|verdict| verdict.passed);
                        if metrics.iter().all(holds) { Standing::Holds } else { Standing::Fails }
                    }
                }
            }
        }
    }

    /// The HTML page.
    pub fn html(&self) -> String {
        page::write(self, &claims::read())
    }

    fn experiments(&self) -> impl Iterator<Item = (&'static Experiment, Option<&Entry>)> {
        ALL.iter().map(|experiment| (experiment, self.entries.get(experiment.name)))
    }

    fn command(&self, experiment: &str) -> String {
        let gap = if self.arguments.is_empty() { "" } else { " " };
        format!("dermis reproduce {experiment}{gap}{} --out out", self.arguments)
    }
}

/// A PNG as a data URI (RFC 2397).
pub(crate) fn data_uri(png: &[u8]) -> String {
    format!("data:image/png;base64,{}", BASE64_STANDARD.encode(png))
}

impl Shown {
    fn verdict(&self, metric: &str) -> Option<&Verdict> {
        self.verdicts.iter().find(|verdict| verdict.expectation.metric == metric)
    }

    fn figure(&self, name: &str) -> Option<&str> {
        self.figures.iter().find(|(known, _)| known == name).map(|(_, uri)| uri.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiments::{Options, find};

    fn claim_of<'a>(claims: &'a claims::Claims, experiment: &str) -> &'a Claim {
        let belongs = |claim: &&Claim| matches!(&claim.ground, Ground::Experiment { name, .. } if name == experiment);
        claims.claim.iter().find(belongs).expect("a claim of it")
    }

    #[test]
    fn a_failing_claim_shows_as_failing() {
        let claims = claims::read();
        let experiment = find("moisio-weights").expect("it is there");
        let mut outcome = experiment.run(&Options::default(), &mut |_| true).expect("it runs");
        let claim = claim_of(&claims, experiment.name);
        let mut report = Report::new("", "today");
        assert_eq!(report.standing(claim), Standing::NotRun);
        report.add(experiment, &outcome, 1.0);
        assert_eq!(report.standing(claim), Standing::Holds);
        let page = report.html();
        assert!(page.contains("data:image/png;base64,"), "figures are inside");
        assert!(!page.contains("class=\"fails\""));

        outcome.verdicts[1].passed = false;
        report.add(experiment, &outcome, 1.0);
        assert_eq!(report.standing(claim), Standing::Fails);
        assert!(report.html().contains("class=\"fails\""));
        report.add_failure(experiment, "the <disk> is full", 1.0);
        assert_eq!(report.standing(claim), Standing::Fails);
        assert!(report.html().contains("the &lt;disk&gt; is full"), "text is text");
    }

    #[test]
    fn the_page_asks_for_nothing_from_outside_and_has_a_row_for_every_claim() {
        let page = Report::new("", "today").html();
        for word in ["src=\"http", "href=\"http", "url(http", "<script", "<link", "@import"] {
            assert!(!page.contains(word), "{word}");
        }
        assert_eq!(page.matches("<tr id=\"claim-").count(), claims::read().claim.len());
        assert!(page.contains("not available") && page.contains("not run"));
    }
}
