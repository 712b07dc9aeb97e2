//! `dermis bench`: runs the benchmarks.

use crate::console::{say, say_aside, say_json, short};
use anyhow::Context;
use dermis::gpu::Choice;
use dermis_research::bench::{ALL, Bench, find, gel_with_feats};
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Run benchmarks on this machine.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  dermis bench\n  dermis bench gel --device auto --json")]
pub struct Arguments {
    /// Names of the benchmarks; by default all.
    #[arg(value_name = "NAME")]
    names: Vec<String>,
    /// For `gel`: also compare with the data of `dermis validate feats DIR`, at the same cell size.
    #[arg(long, value_name = "DIR")]
    feats: Option<PathBuf>,
    /// Compute device: cpu; cuda (an NVIDIA GPU, for benchmarks that support it); auto (both, if a GPU is found).
    #[arg(long, value_name = "auto|cpu|cuda", default_value_t = Choice::Cpu)]
    device: Choice,
    /// Print one JSON document: an object for one benchmark, an array for several.
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Report {
    name: &'static str,
    /// The CPU, or the name of the GPU.
    device: String,
    #[serde(flatten)]
    numbers: BTreeMap<String, f64>,
}

impl Report {
    /// Creates a report and prints it unless `quiet`.
    fn of(bench: &Bench, device: &str, numbers: BTreeMap<String, f64>, quiet: bool) -> Self {
        if !quiet {
            say(format!(" on {device}"));
            numbers.iter().for_each(|(name, number)| say(format!("  {name:<56} {}", short(*number))));
        }
        Self { name: bench.name, device: device.to_owned(), numbers }
    }
}

pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let known = || ALL.iter().map(|bench| bench.name).collect::<Vec<_>>().join(", ");
    let named = |name: &String| {
        find(name).with_context(|| {
            let meant = dermis::sensor::did_you_mean(name, ALL.iter().map(|bench| bench.name));
            format!("unknown benchmark {name:?}; the benchmarks are {}{meant}", known())
        })
    };
    let chosen: Vec<&'static Bench> = if arguments.names.is_empty() {
        ALL.iter().collect()
    } else {
        arguments.names.iter().map(named).collect::<Result<_, _>>()?
    };
    if arguments.feats.is_some() && chosen.iter().all(|bench| bench.name != "gel") {
        anyhow::bail!("--feats is for the benchmark \"gel\": name it too, or leave it out");
    }
    let gpu = arguments.device.gpu(|error| say_aside(format!("{error}; running on the CPU only")))?;
    if arguments.device == Choice::Cuda && chosen.iter().all(|bench| !bench.has_gpu()) {
        let can = ALL.iter().filter(|bench| bench.has_gpu()).map(|bench| bench.name).collect::<Vec<_>>().join(", ");
        anyhow::bail!("none of these benchmarks runs on a GPU; {can} do");
    }
    let mut reports = Vec::new();
    for bench in chosen {
        if !arguments.json {
            say(format!("{}: {}", bench.name, bench.title));
        }
        if arguments.device != Choice::Cuda {
            let numbers = match &arguments.feats {
                Some(folder) if bench.name == "gel" => gel_with_feats(folder)?,
                _ => bench.run(),
            };
            reports.push(Report::of(bench, "the CPU", numbers, arguments.json));
        }
        if let Some(gpu) = gpu.as_ref().filter(|_| bench.has_gpu()) {
            let numbers = bench.run_on_gpu(gpu).with_context(|| format!("benchmark {:?}", bench.name))?;
            reports.push(Report::of(bench, gpu.name(), numbers, arguments.json));
        }
    }
    match (arguments.json, &reports[..]) {
        (true, [single]) => say_json(single),
        (true, several) => say_json(&several),
        _ => Ok(()),
    }
}
