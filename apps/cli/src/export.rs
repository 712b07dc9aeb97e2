//! `dermis export`: a recording in another form.

use crate::console::{say, say_json};
use clap::ValueEnum;
use dermis::record::{ExportFormat, export};
use std::path::PathBuf;

/// Turn a recording into another form, or mend one whose writer was killed.
///
/// OUT decides by its name: `.parquet`, `.csv`, a folder (numpy arrays, images as PNG), or `.mcap` for a whole copy of an MCAP file that was cut off.
#[derive(clap::Args)]
pub struct Arguments {
    /// The recording: an MCAP, Parquet or CSV file, or a folder that `dermis run` has written.
    #[arg(value_name = "IN")]
    from: PathBuf,
    /// Where the other form goes.
    #[arg(value_name = "OUT")]
    to: PathBuf,
    /// What a folder is filled with: arrays and images, or images alone.
    #[arg(long, value_enum)]
    format: Option<FolderFormat>,
    /// Print one JSON document.
    #[arg(long)]
    json: bool,
}

/// What goes into a folder.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum FolderFormat {
    /// numpy's arrays, and images as PNG.
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
    let made = export(&arguments.from, &arguments.to, format)?;
    if made.cut {
        eprintln!("{}: its end is missing; what is there is used", arguments.from.display());
    }
    let path = made.path.display().to_string();
    if arguments.json {
        return say_json(&serde_json::json!({
            "path": path,
            "signals": made.signals,
            "times": made.times,
            "images": made.images,
            "cut": made.cut,
        }));
    }
    let (what, times) = if format == ExportFormat::Mcap { ("channels", "messages") } else { ("signals", "times") };
    let images = if made.images > 0 { format!(", {} images", made.images) } else { String::new() };
    say(format!("wrote {path}: {} {what}, {} {times}{images}", made.signals, made.times));
    Ok(())
}
