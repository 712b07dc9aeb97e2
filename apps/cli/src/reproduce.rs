//! `dermis reproduce`: runs the experiments of the papers.

use crate::console::{Interrupt, Overwrite, causes, commit, progress, say, say_aside, say_error, say_json, short};
use anyhow::{Context, bail};
use dermis::output::Output;
use dermis_research::experiments::{ALL, Expectation, Experiment, Options, Outcome, find};
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Instant;

/// Run the experiments of the papers and compare the numbers with ours.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  dermis reproduce --list\n  dermis reproduce moisio-grasps --out out")]
pub struct Arguments {
    /// Names of the experiments.
    #[arg(value_name = "NAME", required_unless_present_any = ["all", "list"])]
    names: Vec<String>,
    /// Run all experiments.
    #[arg(long, conflicts_with = "names")]
    all: bool,
    /// List the experiments.
    #[arg(long, conflicts_with_all = ["names", "all"])]
    list: bool,
    /// Run at the full length of the paper, where the default is shorter.
    #[arg(long)]
    full: bool,
    /// Folder of external measurements, for experiments that need them.
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// Another skin, for experiments that support several (tacchi-images: layer, gel, imprint).
    #[arg(long, value_name = "NAME")]
    skin: Option<String>,
    /// Write figures and tables into this folder, one subfolder per experiment, and a self-contained report, index.html.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    #[command(flatten)]
    overwrite: Overwrite,
    /// Print one JSON document: an object for one experiment, an array for several.
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Report {
    name: &'static str,
    passed: bool,
    metrics: BTreeMap<String, f64>,
    /// The part of the paper's experiment that was run, if not all of it.
    partial: Option<String>,
    wall_s: f64,
}

#[derive(Serialize)]
struct Listed {
    name: &'static str,
    title: &'static str,
}

pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    if arguments.list {
        let listed: Vec<Listed> = ALL.iter().map(|e| Listed { name: e.name, title: e.title }).collect();
        if arguments.json {
            return say_json(&listed);
        }
        listed.iter().for_each(|entry| say(format!("{:<24} {}", entry.name, entry.title)));
        return Ok(());
    }
    let chosen: Vec<&'static Experiment> = if arguments.all {
        ALL.iter().filter(|experiment| !experiment.needs_data || arguments.data.is_some()).collect()
    } else {
        arguments.names.iter().map(|name| find(name)).collect::<Result<_, _>>()?
    };
    let _folder = arguments.overwrite.open(arguments.out.as_deref())?;
    let interrupt = Interrupt::listen();
    let mut page = Page::new(arguments);
    let mut reports = Vec::new();
    for experiment in chosen {
        let report = reproduce(experiment, arguments, &interrupt, &mut page).with_context(|| experiment.name);
        // Rewritten after each experiment, so that an interruption keeps the results so far.
        page.write()?;
        match report {
            Ok(report) => reports.push(report),
            Err(error) if arguments.all && !interrupt.came() => {
                say_error(format!("dermis: {}", causes(&error)));
                reports.push(Report {
                    name: experiment.name,
                    passed: false,
                    metrics: BTreeMap::new(),
                    partial: None,
                    wall_s: 0.0,
                });
            }
            Err(error) => {
                interrupt.check(&format!("{} experiments are finished", reports.len()))?;
                return Err(error);
            }
        }
    }
    if let Some(path) = page.path() {
        let line = format!("wrote {}", path.display());
        if arguments.json { say_aside(line) } else { say(line) }
    }
    if arguments.json {
        match &reports[..] {
            [single] => say_json(single)?,
            several => say_json(&several)?,
        }
    }
    let failed: Vec<&str> = reports.iter().filter(|report| !report.passed).map(|report| report.name).collect();
    if !failed.is_empty() {
        bail!("{} of {} experiments did not hold: {}", failed.len(), reports.len(), failed.join(", "));
    }
    Ok(())
}

/// Runs one experiment, prints its result and writes its figures.
fn reproduce(
    experiment: &Experiment,
    arguments: &Arguments,
    interrupt: &Interrupt,
    page: &mut Page,
) -> anyhow::Result<Report> {
    let start = Instant::now();
    let bar = progress(experiment.name, 1000);
    let options = Options {
        full: arguments.full,
        data: arguments.data.clone(),
        out: arguments.out.as_ref().map(|folder| folder.join(experiment.name)),
        skin: arguments.skin.clone(),
    };
    let outcome = experiment.run(&options, &mut |done| {
        bar.set_position((done * 1000.0) as u64);
        !interrupt.came()
    });
    bar.finish_and_clear();
    let wall_s = start.elapsed().as_secs_f64();
    let outcome = match outcome {
        Ok(outcome) => outcome,
        Err(error) => {
            if !interrupt.came() {
                page.report.add_failure(experiment, error.to_string(), wall_s);
            }
            return Err(error.into());
        }
    };
    page.report.add(experiment, &outcome, wall_s);
    if !arguments.json {
        tell(experiment, &outcome, wall_s);
    }
    let passed = outcome.passed();
    let Outcome { name, metrics, files, partial, .. } = outcome;
    if let Some(folder) = &arguments.out {
        commit(files, &folder.join(name), arguments.json)?;
    }
    Ok(Report { name, passed, metrics, partial, wall_s })
}

/// The HTML report on disk, rewritten after each experiment.
struct Page {
    report: dermis_research::report::Report,
    folder: Option<PathBuf>,
}

impl Page {
    fn new(arguments: &Arguments) -> Self {
        let full = arguments.full.then(|| "--full".to_owned());
        let skin = arguments.skin.as_ref().map(|skin| format!("--skin {skin}"));
        let data = arguments.data.as_ref().map(|folder| format!("--data {}", folder.display()));
        let words: Vec<String> = [full, skin, data].into_iter().flatten().collect();
        Self { report: dermis_research::report::Report::new(words.join(" "), today()), folder: arguments.out.clone() }
    }

    fn path(&self) -> Option<PathBuf> {
        self.folder.as_ref().map(|folder| folder.join("index.html"))
    }

    fn write(&self) -> anyhow::Result<()> {
        let Some(folder) = &self.folder else { return Ok(()) };
        let mut output = Output::new();
        output.add("index.html", self.report.html());
        output.commit(folder)?;
        Ok(())
    }
}

/// The day in UTC, as 2026-01-31.
pub(crate) fn today() -> String {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    day((since.as_secs() / 86_400) as i64)
}

/// Converts days since 1970-01-01 to a Gregorian date. Years start in March, so that the leap day is the last day; 400 years have
/// 146,097 days.
fn day(since_1970: i64) -> String {
    let day = since_1970 + 719_468;
    let (era, day) = (day.div_euclid(146_097), day.rem_euclid(146_097));
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let (month, later) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    format!("{:04}-{month:02}-{day:02}", era * 400 + year + later)
}

fn tell(experiment: &Experiment, outcome: &Outcome, wall_s: f64) {
    let verdict = if outcome.passed() { "holds" } else { "DOES NOT HOLD" };
    say(format!("{}: {} ({verdict}, {wall_s:.1} s)", experiment.name, experiment.title));
    if let Some(part) = &outcome.partial {
        say(format!("  partial: {part}; --full runs all"));
    }
    for verdict in &outcome.verdicts {
        let bound = &verdict.expectation;
        let mark = if verdict.passed { "ok  " } else { "FAIL" };
        let ours = verdict.ours.map_or("missing".to_owned(), precise);
        let within = match (bound.min, bound.max) {
            (Some(min), Some(max)) => format!("{} … {}", precise(min), precise(max)),
            (Some(min), None) => format!("at least {}{}", short(min), because(bound)),
            (None, Some(max)) => format!("at most {}{}", short(max), because(bound)),
            (None, None) => "no bound".into(),
        };
        let paper = bound.paper.as_deref().map_or(String::new(), |paper| format!("; paper: {paper}"));
        say(format!("  {mark} {}: ours {ours} ({within}{paper})", bound.what));
    }
    outcome.notes.iter().for_each(|note| say(format!("  note: {note}")));
}

/// The reason for a single bound.
fn because(bound: &Expectation) -> String {
    bound.one_sided.as_deref().map_or(String::new(), |reason| format!(", {reason}"))
}

/// Formats a number with enough digits to distinguish 9.8 from 9.7999.
fn precise(value: f64) -> String {
    if value == 0.0 || (1e-3..1e5).contains(&value.abs()) {
        let text = format!("{value:.8}");
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        format!("{value:.3e}")
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn days_have_their_dates() {
        for (since_1970, date) in
            [(0, "1970-01-01"), (11_016, "2000-02-29"), (11_017, "2000-03-01"), (20_818, "2026-12-31")]
        {
            assert_eq!(super::day(since_1970), date);
        }
    }
}
