//! `dermis validate real`: the scoreboard of real sensors.

use crate::console::{say, say_aside, say_json, short};
use crate::reproduce::today;
use anyhow::{Context, bail};
use dermis_research::validate::real::{Measure, Options, Peer, Row, Scoreboard, Status, check, run as compare};
use std::path::{Path, PathBuf};

#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  dermis validate real data --out report\n  dermis validate real data/my-sensor --fit 10 --json\n  dermis validate real --new data/my-sensor"
)]
pub struct Arguments {
    /// Folders of measurements with `dataset.toml`, or folders that contain such folders. Public data sets are recognised by
    /// their files.
    #[arg(value_name = "DIR")]
    folders: Vec<PathBuf>,
    /// Write one self-contained page: this file if it ends in .html, else index.html in this folder.
    #[arg(long, value_name = "FILE|DIR")]
    out: Option<PathBuf>,
    /// Number of samples to fit in every row, distributed evenly; the others are kept out. 0 scores the presets alone.
    #[arg(long, value_name = "N")]
    fit: Option<usize>,
    /// Scores of other programs on the same samples: a list of objects with row, measure, model, value and n.
    #[arg(long, value_name = "FILE.json")]
    peers: Option<PathBuf>,
    /// Check the folder of a new data set and say what is missing.
    #[arg(long, value_name = "DIR", conflicts_with_all = ["folders", "out", "fit", "peers"])]
    new: Option<PathBuf>,
}

pub fn run(arguments: &Arguments, json: bool) -> anyhow::Result<()> {
    if let Some(folder) = &arguments.new {
        return check_new(folder, json);
    }
    let peers = arguments.peers.as_deref().map_or_else(|| Ok(Vec::new()), Peer::read)?;
    let options = Options { fit: arguments.fit, peers };
    let board = compare(&arguments.folders, &options, &mut |row| say_aside(format!("{row} …")))?;
    if json {
        say_json(&board)?;
    } else {
        board.rows.iter().for_each(tell);
    }
    if let Some(out) = &arguments.out {
        let page = page_path(out);
        write_page(&board, &page).with_context(|| page.display().to_string())?;
        say_aside(format!("wrote {}", page.display()));
    }
    let failed: Vec<&str> =
        board.rows.iter().filter(|row| row.status == Status::Failed).map(|row| row.name.as_str()).collect();
    if !failed.is_empty() {
        bail!("rows that failed: {}", failed.join(", "));
    }
    Ok(())
}

fn check_new(folder: &Path, json: bool) -> anyhow::Result<()> {
    let findings = check::check(folder)?;
    if json {
        say_json(&findings)?;
    } else {
        findings
            .iter()
            .for_each(|finding| say(format!("{} {}", if finding.ok { "ok     " } else { "missing" }, finding.text)));
    }
    match findings.iter().filter(|finding| !finding.ok).count() {
        0 => Ok(()),
        count => bail!("{}: {count} missing", folder.display()),
    }
}

fn page_path(out: &Path) -> PathBuf {
    if out.extension().is_some_and(|end| end == "html") { out.to_owned() } else { out.join("index.html") }
}

fn write_page(board: &Scoreboard, page: &Path) -> std::io::Result<()> {
    if let Some(folder) = page.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        std::fs::create_dir_all(folder)?;
    }
    dermis::record::atomic_file::write(page, board.html(&today()).as_bytes()).map(drop)
}

fn tell(row: &Row) {
    let state = match row.status {
        Status::Scored => format!("{} samples, fitted: {}", row.comparison.samples, row.comparison.fitted),
        Status::NoData => "no data".into(),
        Status::NoModel => "no model".into(),
        Status::Failed => "failed".into(),
    };
    say(format!("{} ({}): {state}", row.name, row.sensor));
    if let Some(reason) = &row.reason {
        say(format!("  {reason}"));
    }
    row.comparison.measures.iter().for_each(tell_measure);
    row.comparison.notes.iter().for_each(|note| say(format!("  {note}")));
}

fn tell_measure(measure: &Measure) {
    let verdict = match (measure.bar, measure.holds) {
        (Some(bar), Some(true)) => format!(", bar {}: holds", short(bar)),
        (Some(bar), Some(false)) => format!(", bar {}: fails", short(bar)),
        _ => String::new(),
    };
    say(format!("  {}{verdict}", measure.what));
    for score in &measure.scores {
        let interval =
            score.interval.map_or_else(String::new, |[low, high]| format!(" [{}, {}]", short(low), short(high)));
        let spread = score
            .median
            .zip(score.worst)
            .map_or_else(String::new, |(median, worst)| format!(", median {}, worst {}", short(median), short(worst)));
        say(format!("    {:<28} {:>8}{interval}{spread}, n = {}", score.model, short(score.value), score.n));
    }
}
