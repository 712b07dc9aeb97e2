//! Reproductions of published experiments.

use crate::error::{Error, IntoPyErr};
use crate::threads::{Job, interruptible_job};
use dermis_research::experiments::{self, Options};
use pyo3::prelude::*;
use serde_json::json;
use std::path::PathBuf;

/// Name and title of every experiment, and whether it needs measurements that are not included in dermis.
#[pyfunction]
pub fn experiment_list() -> Vec<(&'static str, &'static str, bool)> {
    experiments::ALL.iter().map(|experiment| (experiment.name, experiment.title, experiment.needs_data)).collect()
}

/// Runs an experiment and returns its result as JSON. Figures and tables are written to the folder `out`, if given.
#[pyfunction]
pub fn run_experiment(
    py: Python<'_>,
    name: &str,
    full: bool,
    data: Option<PathBuf>,
    skin: Option<String>,
    out: Option<PathBuf>,
) -> PyResult<String> {
    let experiment = experiments::find(name).into_py_err()?;
    let options = Options { full, data, skin, out: None };
    let work = move |job: &Job| experiment.run(&options, &mut |_| job.goes_on());
    let outcome = interruptible_job(py, work, |_| Ok(()))?.into_py_err()?;
    let verdicts: Vec<_> = outcome
        .verdicts
        .iter()
        .map(|verdict| {
            let expected = &verdict.expectation;
            json!({
                "metric": expected.metric, "what": expected.what, "paper": expected.paper,
                "min": expected.min, "max": expected.max, "one_sided": expected.one_sided, "ours": verdict.ours, "passed": verdict.passed,
            })
        })
        .collect();
    let report = json!({
        "name": outcome.name, "passed": outcome.passed(), "metrics": outcome.metrics,
        "verdicts": verdicts, "notes": outcome.notes, "partial": outcome.partial,
    });
    if let Some(out) = out {
        outcome.files.commit(&out).map_err(|error| Error::new_err(error.to_string()))?;
    }
    Ok(report.to_string())
}
