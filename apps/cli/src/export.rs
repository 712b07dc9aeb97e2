//! `dermis export`: converts a recording to another format.

use crate::console::{fail_if_damaged, refuse_existing, say, say_json, tell_notes};
use clap::ValueEnum;
use dermis::record::{ExportFormat, export};
use std::path::PathBuf;

/// Convert a recording to another format, or repair a truncated MCAP file.
///
/// The name of OUT determines the format: `.parquet`, `.csv`, a folder (numpy arrays, images as PNG), or `.mcap` to repair an MCAP file.
#[derive(clap::Args)]
#[command(after_help = "Example:\n  dermis export run.mcap run.parquet")]
pub struct Arguments {
    /// The recording: an MCAP, Parquet or CSV file, or a folder written by `dermis run`.
    #[arg(value_name = "IN")]
    from: PathBuf,
    /// The output file or folder.
    #[arg(value_name = "OUT")]
    to: PathBuf,
    /// Content of a folder: arrays and images, or images only.
    #[arg(long, value_enum)]
    format: Option<FolderFormat>,
    /// Replace an existing file.
    #[arg(long)]
    overwrite: bool,
    /// Print one JSON document.
    #[arg(long)]
    json: bool,
}

/// Content of a folder.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum FolderFormat {
    /// numpy arrays, and images as PNG.
    Npy,
    /// Images as PNG.
    Png,
}

pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let by_name = ExportFormat::of_path(&arguments.to)?;
    let format = match (by_name, arguments.format) {
        (ExportFormat::Npy, Some(FolderFormat::Png)) => ExportFormat::Png,
        (ExportFormat::Npy, _) => ExportFormat::Npy,
        (_, Some(_)) => anyhow::bail!("`--format` is for folders; {} is a file", arguments.to.display()),
        (by_name, None) => by_name,
    };
    // Of folders, an export refuses those that are not empty.
    let file = Some(&arguments.to).filter(|to| to.is_file() && **to != arguments.from);
    refuse_existing(file.cloned(), arguments.overwrite)?;
    let made = export(&arguments.from, &arguments.to, format)?;
    let source = arguments.from.display().to_string();
    tell_notes(&source, made.cut, &made.notes);
    let path = made.path.display().to_string();
    if arguments.json {
        say_json(&serde_json::json!({
            "path": path,
            "signals": made.signals,
            "times": made.times,
            "images": made.images,
            "cut": made.cut,
            "damaged": made.damaged,
            "notes": made.notes,
        }))?;
        return fail_if_damaged(&source, made.damaged);
    }
    let (what, times) = if format == ExportFormat::Mcap { ("channels", "messages") } else { ("signals", "times") };
    let images = if made.images > 0 { format!(", {} images", made.images) } else { String::new() };
    say(format!("wrote {path}: {} {what}, {} {times}{images}", made.signals, made.times));
    fail_if_damaged(&source, made.damaged)
}
