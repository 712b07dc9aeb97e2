//! `dermis dataset`: generates data sets of labelled touches.

use crate::console::{Interrupt, progress_target, say, say_aside, say_document, say_json, short};
use anyhow::bail;
use clap::Subcommand;
use dermis::dataset::{Dataset, Estimate, MakeSummary, Share, check};
use dermis::geometry::limits::MAX_DESCRIPTION_BYTES;
use dermis::geometry::regular_file;
use dermis::sensor::did_you_mean;
use dermis_research::bench::cpu_clock::program_s;
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::json;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Generate data sets of touches from one description: reproducible, resumable, on all cores or many machines.
///
/// Start with `dermis dataset example array > array.toml`. Episode k depends only on the description and on k, so a run can be interrupted
/// and resumed, or split over machines with CPUs of one instruction set (`--shard`), with the same bytes as a result.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  dermis dataset example array > array.toml\n  dermis dataset make array.toml --out array"
)]
pub struct Arguments {
    #[command(subcommand)]
    command: Task,
}

#[derive(Subcommand)]
enum Task {
    Plan(PlanArguments),
    Make(MakeArguments),
    Check(CheckArguments),
    Example(ExampleArguments),
}

/// Estimate the number of episodes, their size and the time to make them, from a few trial episodes.
#[derive(clap::Args)]
#[command(after_help = "Example:\n  dermis dataset plan array.toml")]
struct PlanArguments {
    /// The description.
    spec: PathBuf,
    /// Print one JSON document.
    #[arg(long)]
    json: bool,
}

/// Make the data set, or continue an interrupted run.
#[derive(clap::Args)]
#[command(after_help = "Example:\n  dermis dataset make array.toml --out array")]
struct MakeArguments {
    /// The description.
    spec: PathBuf,
    /// Output folder: empty, or that of an earlier run.
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Make only share i of n, such as 3/16, for job arrays that write to the same folder. The last share completes the set.
    #[arg(long, value_name = "I/N")]
    shard: Option<String>,
    /// Print one JSON document.
    #[arg(long)]
    json: bool,
}

/// Compare every file of a finished data set with its hash.
#[derive(clap::Args)]
#[command(after_help = "Example:\n  dermis dataset check array")]
struct CheckArguments {
    /// The folder.
    folder: PathBuf,
}

/// Print an annotated example description; without a name, list the examples.
#[derive(clap::Args)]
#[command(after_help = "Example:\n  dermis dataset example array > array.toml")]
struct ExampleArguments {
    /// Name of the example.
    name: Option<String>,
}

const EXAMPLES: &[(&str, &str)] = &[
    ("array", include_str!("../datasets/array.toml")),
    ("indenters", include_str!("../datasets/indenters.toml")),
    ("slides", include_str!("../datasets/slides.toml")),
    ("grasps", include_str!("../datasets/grasps.toml")),
];

pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    match &arguments.command {
        Task::Plan(arguments) => plan(arguments),
        Task::Make(arguments) => make(arguments),
        Task::Check(arguments) => {
            let files = check(&arguments.folder)?;
            say(format!("{}: {files} files match their hashes", arguments.folder.display()));
            Ok(())
        }
        Task::Example(arguments) => example(arguments.name.as_deref()),
    }
}

fn example(name: Option<&str>) -> anyhow::Result<()> {
    let Some(name) = name else {
        for (name, text) in EXAMPLES {
            say(format!("{name:<12} {}", text.lines().next().unwrap_or_default().trim_start_matches("# ")));
        }
        return Ok(());
    };
    let Some((_, text)) = EXAMPLES.iter().find(|(known, _)| *known == name) else {
        let known: Vec<&str> = EXAMPLES.iter().map(|(name, _)| *name).collect();
        let meant = did_you_mean(name, known.iter().copied());
        bail!("unknown example {name:?}; the examples are {}{meant}", known.join(", "));
    };
    say_document(text.trim_end());
    Ok(())
}

fn plan(arguments: &PlanArguments) -> anyhow::Result<()> {
    let set = Dataset::open(&arguments.spec)?;
    let folder = std::env::temp_dir().join(format!("dermis-plan-{}", std::process::id()));
    let threads = dermis::skin::threads::count();
    let plan = set.estimate(&folder, threads);
    // Also after an error.
    let _ = std::fs::remove_dir_all(&folder);
    let Estimate { episodes, frames, shards, tried, episode_s, wall_s, bytes } = plan?;
    if arguments.json {
        return say_json(&json!({
            "name": set.spec.name, "format": set.spec.format.name(), "scenario": set.spec.scenario.name(),
            "episodes": episodes, "frames": frames, "shards": shards, "labels": set.labels,
            "episode_cpu_s": episode_s, "wall_s": wall_s, "threads": threads, "bytes": bytes,
        }));
    }
    say(format!("{}: {} as {}", set.spec.name, set.spec.scenario.name(), set.spec.format.name()));
    say(format!("  episodes    {episodes} of {} frames, in {shards} shards of {}", set.frames(), set.shard_len()));
    say(format!("  labels      {} ({})", set.labels.len(), set.labels.join(", ")));
    say(format!("  size        about {}", size(bytes)));
    say(format!(
        "  time        about {} on {threads} threads ({} ms per episode on one core, from {tried} trials)",
        duration(wall_s),
        short(episode_s * 1e3)
    ));
    Ok(())
}

fn make(arguments: &MakeArguments) -> anyhow::Result<()> {
    let share = arguments.shard.as_deref().map_or(Ok(Share::ALL), str::parse)?;
    let set = Dataset::open(&arguments.spec)?;
    let interrupt = Interrupt::listen();
    let mut bar = Bar::new();
    let made = set.make(&arguments.out, share, dermis::skin::threads::count(), &mut |progress| {
        bar.update(progress.made, progress.wanted);
        !interrupt.came()
    });
    bar.clear();
    tell(&set, &arguments.out, &made?, arguments.json)?;
    interrupt.check("the finished shards are kept: the same command continues")
}

fn tell(set: &Dataset, out: &Path, made: &MakeSummary, as_json: bool) -> anyhow::Result<()> {
    let rate = made.episodes as f64 / made.wall_s.max(1e-9);
    let cpu_s = program_s();
    if as_json {
        return say_json(&json!({
            "name": set.spec.name, "out": out.display().to_string(), "episodes": made.episodes, "found": made.found,
            "wall_s": made.wall_s, "cpu_s": cpu_s, "episodes_per_s": rate, "threads": made.threads, "bytes": made.bytes,
            "peak_memory_bytes": peak_memory(), "complete": made.complete,
            "warnings": made.warnings.iter().map(ToString::to_string).collect::<Vec<_>>(),
        }));
    }
    let found = if made.found > 0 { format!(", {} found", made.found) } else { String::new() };
    say(format!("{}: {} episodes made{found}, {}", out.display(), made.episodes, size(made.bytes)));
    let cpu = cpu_s.map_or_else(String::new, |cpu_s| format!(", {} of CPU", duration(cpu_s)));
    let memory = peak_memory().map_or_else(String::new, |bytes| format!(", peak memory {}", size(bytes)));
    say(format!(
        "  {} on {} threads{cpu}{memory}: {} episodes/s, {} frames/s",
        duration(made.wall_s),
        made.threads,
        short(rate),
        short(rate * set.frames() as f64)
    ));
    say(if made.complete {
        "  complete; SHA256SUMS lists its files"
    } else {
        "  not complete: other shares are missing"
    });
    made.warnings.iter().for_each(|warning| say(format!("  warning     {warning}")));
    Ok(())
}

/// Progress: a bar on a terminal, otherwise a line every 10 s.
struct Bar {
    bar: ProgressBar,
    is_terminal: bool,
    start: Instant,
    said_s: f64,
}

impl Bar {
    fn new() -> Self {
        let is_terminal = std::io::stderr().is_terminal();
        let bar = ProgressBar::with_draw_target(None, progress_target());
        if let Ok(style) = ProgressStyle::with_template("{wide_bar} {pos}/{len} {per_sec} {eta}") {
            bar.set_style(style);
        }
        Self { bar, is_terminal, start: Instant::now(), said_s: 0.0 }
    }

    fn update(&mut self, made: usize, wanted: usize) {
        self.bar.set_length(wanted as u64);
        self.bar.set_position(made as u64);
        let seconds = self.start.elapsed().as_secs_f64();
        if !self.is_terminal && seconds - self.said_s > 10.0 && made > 0 && made < wanted {
            self.said_s = seconds;
            let rate = made as f64 / seconds;
            let left = duration((wanted - made) as f64 / rate);
            say_aside(format!("{made} of {wanted} episodes, {} per second, {left} left", short(rate)));
        }
    }

    fn clear(&self) {
        self.bar.finish_and_clear();
    }
}

fn duration(seconds: f64) -> String {
    match seconds {
        s if s < 99.5 => format!("{} s", short(s)),
        s if s < 5940.0 => format!("{} min", short(s / 60.0)),
        s => format!("{} h", short(s / 3600.0)),
    }
}

fn size(bytes: u64) -> String {
    match bytes as f64 {
        b if b < 1e6 => format!("{} kB", short(b / 1e3)),
        b if b < 1e9 => format!("{} MB", short(b / 1e6)),
        b => format!("{} GB", short(b / 1e9)),
    }
}

/// Peak memory of this program (bytes), on Linux.
fn peak_memory() -> Option<u64> {
    let text = regular_file::read_text(Path::new("/proc/self/status"), MAX_DESCRIPTION_BYTES).ok()?;
    let line = text.lines().find(|line| line.starts_with("VmHWM:"))?;
    line.split_whitespace().nth(1)?.parse::<u64>().ok().map(|kilobytes| kilobytes * 1024)
}
