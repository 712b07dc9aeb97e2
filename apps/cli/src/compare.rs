//! `dermis compare`: compares two recordings.

use crate::console::{Overwrite, fail_if_damaged, say, say_json, short, tell_notes};
use dermis::compare::{Comparison, Options, compare};
use dermis::geometry::quantity::Time;
use dermis::output::Output;
use dermis::record::Log;
use std::path::PathBuf;

/// Compare two recordings, of two runs or of a real sensor and a run: numbers and images over time.
#[derive(clap::Args)]
#[command(after_help = "Example:\n  dermis compare real.mcap run.mcap --from-start --out out")]
pub struct Arguments {
    /// The reference recording: an MCAP, Parquet or CSV file, or a folder written by `dermis run`.
    a: PathBuf,
    /// The recording to compare with it.
    b: PathBuf,
    /// Pair of signal names in the first and second recording, such as `touch/force=pad/force_n`; may be repeated.
    #[arg(long = "pair", value_name = "A=B", value_parser = pair)]
    pairs: Vec<(String, String)>,
    /// Shift both recordings to start at t = 0.
    #[arg(long)]
    from_start: bool,
    /// Time added to the second recording.
    #[arg(long, value_name = "TIME", default_value = "0s", allow_hyphen_values = true)]
    shift: Time,
    /// Write plots and a table of errors into this folder.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    #[command(flatten)]
    overwrite: Overwrite,
    /// Print one JSON document.
    #[arg(long)]
    json: bool,
}

fn pair(text: &str) -> Result<(String, String), String> {
    let both = text.split_once('=').filter(|(a, b)| !a.is_empty() && !b.is_empty());
    both.map(|(a, b)| (a.to_owned(), b.to_owned())).ok_or_else(|| "two names with `=` between them are needed".into())
}

pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let folder = arguments.overwrite.open(arguments.out.as_deref())?;
    let (a, b) = (Log::read(&arguments.a)?, Log::read(&arguments.b)?);
    for log in [&a, &b] {
        tell_notes(&log.source, log.cut, &log.notes);
    }
    let options =
        Options { pairs: arguments.pairs.clone(), from_start: arguments.from_start, shift_s: arguments.shift.si() };
    let comparison = compare(&a, &b, &options)?;
    if arguments.json {
        say_json(&comparison)?;
    } else {
        tell(&comparison);
    }
    if let Some(folder) = folder {
        let mut output = Output::new();
        dermis::compare::add(&mut output, &comparison, &a, &b);
        folder.commit(output, arguments.json)?;
    }
    fail_if_damaged(&a.source, a.damaged)?;
    fail_if_damaged(&b.source, b.damaged)
}

fn tell(comparison: &Comparison) {
    if !comparison.signals.is_empty() {
        let heads = ["times", "mean |error|", "RMS error", "largest", "at (s)", "of range"];
        let [times, mean, rms, max, at, range] = heads;
        say(format!("{:<32} {times:>6} {mean:>13} {rms:>10} {max:>10} {at:>8} {range:>9}", "signal"));
    }
    for signal in &comparison.signals {
        let (mean, rms, max) = (short(signal.mean_abs), short(signal.rms), short(signal.max_abs));
        let part = match signal.part_of_range().map(|part| 100.0 * part) {
            Some(percent) if percent > 1000.0 => "> 1000 %".into(),
            Some(percent) => format!("{} %", short(percent)),
            None => "-".into(),
        };
        let name = match signal.unit {
            "" => signal.name.clone(),
            unit => format!("{} ({unit})", signal.name),
        };
        let (times, at) = (signal.times, short(signal.max_time_s));
        say(format!("{name:<32} {times:>6} {mean:>13} {rms:>10} {max:>10} {at:>8} {part:>9}"));
    }
    if !comparison.images.is_empty() {
        say(format!(
            "{:<32} {:>6} {:>13} {:>10} {:>10} {:>18}",
            "images", "pairs", "SSIM", "PSNR (dB)", "MAE/255", "first alone: SSIM"
        ));
    }
    for images in &comparison.images {
        if let Some(score) = &images.score {
            let psnr = if score.psnr_db.is_finite() { format!("{:.2}", score.psnr_db) } else { "equal".into() };
            let null = images.null.map_or_else(|| "-".into(), |null| format!("{:.4}", null.ssim));
            let (name, times, mae) = (&images.name, images.times, short(score.mae_255));
            say(format!("{name:<32} {times:>6} {:>13.4} {psnr:>10} {mae:>10} {null:>18}", score.ssim));
        }
        if let Some(reason) = &images.left_out {
            say(format!("{:<32} some pairs were skipped: {reason}", images.name));
        }
    }
    for reason in &comparison.skipped {
        say(format!("not compared: {reason}"));
    }
    for (which, names) in [("first", &comparison.only_in_a), ("second", &comparison.only_in_b)] {
        if !names.is_empty() {
            say(format!("only in the {which}: {}", names.join(", ")));
        }
    }
}
