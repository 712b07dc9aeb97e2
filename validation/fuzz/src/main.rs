//! Feeds damaged files to every reader of dermis: `cargo xtask fuzz`.
//!
//! [`targets`] lists the readers with their bounds, [`mutate`] damages inputs, [`worker`] reads them in a process that may
//! die, [`campaign`] starts the workers, [`report`] writes the table. The README says what is promised.

mod campaign;
mod corpus;
mod limits;
mod memory;
mod mutate;
mod record;
mod repair;
mod report;
mod targets;
mod worker;

use campaign::Campaign;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

#[global_allocator]
static MEMORY: memory::Counting = memory::Counting;

const HELP: &str = "\
dermis-fuzz [TARGET...] [--time 60s] [--processes N] [--seed N] [--corpus DIR] [--found DIR]

Reads the committed inputs of every target, and damaged ones for --time of CPU each (default 1s), on --processes at a time (default: one per CPU core). Findings go to --found, and the table to the file DERMIS_LOG.
--list prints the targets.";

#[derive(Default)]
struct Arguments {
    targets: Vec<&'static targets::Target>,
    worker: Option<&'static targets::Target>,
    time: Duration,
    processes: usize,
    seed: u64,
    skip: usize,
    corpus: Option<PathBuf>,
    found: Option<PathBuf>,
    folder: Option<PathBuf>,
}

fn arguments() -> Result<Option<Arguments>, String> {
    let processes = std::thread::available_parallelism().map_or(1, usize::from);
    let mut all = Arguments { time: Duration::from_secs(1), processes, seed: 1, ..Arguments::default() };
    let mut words = std::env::args().skip(1);
    let named =
        |name: &str| targets::find(name).ok_or_else(|| format!("there is no target {name:?}; `--list` prints them"));
    while let Some(word) = words.next() {
        let mut value = || words.next().ok_or_else(|| format!("`{word}` needs a value"));
        match word.as_str() {
            "--help" | "-h" => println!("{HELP}"),
            "--list" => targets::ALL.iter().for_each(|target| println!("{}", target.name)),
            "--worker" => all.worker = Some(named(&value()?)?),
            "--time" => all.time = duration(&value()?)?,
            "--processes" => all.processes = number(&value()?)?.max(1) as usize,
            "--seed" => all.seed = number(&value()?)?,
            "--skip" => all.skip = number(&value()?)? as usize,
            "--corpus" => all.corpus = Some(value()?.into()),
            "--found" => all.found = Some(value()?.into()),
            "--folder" => all.folder = Some(value()?.into()),
            name => all.targets.push(named(name)?),
        }
        if ["--help", "-h", "--list"].contains(&word.as_str()) {
            return Ok(None);
        }
    }
    Ok(Some(all))
}

fn number(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| format!("{text:?} is no whole number"))
}

/// A time such as `60s`, `5min` or `0.5s`.
fn duration(text: &str) -> Result<Duration, String> {
    let refuse = || format!("{text:?} is no time such as 60s or 5min");
    let (digits, unit) = match text.strip_suffix("min") {
        Some(digits) => (digits, 60.0),
        None => (text.strip_suffix('s').ok_or_else(refuse)?, 1.0),
    };
    let seconds = digits.trim().parse::<f64>().map_err(|_| refuse())? * unit;
    Duration::try_from_secs_f64(seconds).map_err(|_| refuse())
}

fn run() -> Result<bool, String> {
    let Some(arguments) = arguments()? else { return Ok(true) };
    let here = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let found = arguments.found.unwrap_or_else(|| std::env::temp_dir().join("dermis-fuzz-found"));
    let Arguments { time, processes, seed, skip, .. } = arguments;
    if let (Some(target), Some(corpus), Some(folder)) = (arguments.worker, &arguments.corpus, &arguments.folder) {
        let (corpus, folder) = (corpus.clone(), folder.clone());
        worker::Work { target, corpus, folder, found, time, seed, skip }.run();
        return Ok(true);
    }
    let corpus = arguments.corpus.unwrap_or_else(|| here.join("corpus"));
    let chosen: Vec<&'static targets::Target> =
        if arguments.targets.is_empty() { targets::ALL.iter().collect() } else { arguments.targets };
    let campaign = Campaign { corpus, found: found.clone(), time, processes, seed };
    let before = corpus::read(&found).len();
    let outcomes = campaign.run_all(&chosen, |outcome| println!("{}", report::line(outcome)))?;
    let findings = (corpus::read(&found).len() - before) / 2;
    let table = report::table(&outcomes, &campaign, findings);
    println!("{}", table.lines().last().unwrap_or_default());
    if let Some(log) = std::env::var_os("DERMIS_LOG").map(PathBuf::from) {
        std::fs::write(&log, table).map_err(|error| format!("{}: {error}", log.display()))?;
    }
    if findings > 0 {
        eprintln!("{findings} findings are in {}", found.display());
    }
    // Checks of accepted inputs would not be reached.
    let refused: Vec<&str> = outcomes.iter().filter(|all| all.counts.accepted == 0).map(|all| all.name).collect();
    if !refused.is_empty() {
        eprintln!("no input was accepted by {}: its corpus needs one", refused.join(", "));
    }
    Ok(findings == 0 && refused.is_empty())
}

fn main() -> ExitCode {
    match run() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(message) => {
            eprintln!("dermis-fuzz: {message}");
            ExitCode::from(2)
        }
    }
}
