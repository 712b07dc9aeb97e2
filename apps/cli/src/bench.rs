//! `dermis bench`: every claim of speed, measured here and now.

use crate::console::{say, say_json, short};
use anyhow::Context;
use dermis::bench::{ALL, Bench, find, gel_with_feats};
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Measure the speed of things on this machine.
#[derive(clap::Args)]
pub struct Arguments {
    /// Which benchmarks; all without one.
    #[arg(value_name = "NAME")]
    names: Vec<String>,
    /// For `gel`: also compare with the data of `dermis validate feats DIR`, at the same cells and in the same run.
    #[arg(long, value_name = "DIR")]
    feats: Option<PathBuf>,
    /// Print one JSON document: an object for one benchmark, an array for several.
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Report {
    name: &'static str,
    #[serde(flatten)]
    numbers: BTreeMap<String, f64>,
}

pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let known = || ALL.iter().map(|bench| bench.name).collect::<Vec<_>>().join(", ");
    let named =
        |name: &String| find(name).with_context(|| format!("there is no benchmark {name:?}; there are {}", known()));
    let chosen: Vec<&'static Bench> = if arguments.names.is_empty() {
        ALL.iter().collect()
    } else {
        arguments.names.iter().map(named).collect::<Result<_, _>>()?
    };
    if arguments.feats.is_some() && chosen.iter().all(|bench| bench.name != "gel") {
        anyhow::bail!("--feats is for the benchmark \"gel\": name it too, or leave it out");
    }
    let mut reports = Vec::new();
    for bench in chosen {
        if !arguments.json {
            say(format!("{}: {}", bench.name, bench.title));
        }
        let numbers = match &arguments.feats {
            Some(folder) if bench.name == "gel" => gel_with_feats(folder)?,
            _ => bench.run(),
        };
        let report = Report { name: bench.name, numbers };
        if !arguments.json {
            report.numbers.iter().for_each(|(name, number)| say(format!("  {name:<48} {}", short(*number))));
        }
        reports.push(report);
    }
    match (arguments.json, &reports[..]) {
        (true, [single]) => say_json(single),
        (true, several) => say_json(&several),
        _ => Ok(()),
    }
}
