//! `dermis validate pose`: balls estimated from real images.

use crate::console::{say, say_aside, say_json, short};
use dermis_research::validate::real::pose;
use std::path::PathBuf;

#[derive(clap::Args)]
#[command(after_help = "Example:\n  dermis validate pose data/gelsight-ball --json")]
pub struct Arguments {
    /// Folders of measurements, as for `dermis validate real`; their images of balls are used.
    #[arg(value_name = "DIR", required = true)]
    folders: Vec<PathBuf>,
}

pub fn run(arguments: &Arguments, json: bool) -> anyhow::Result<()> {
    let report = pose::run(&arguments.folders, &|image| say_aside(format!("{image} …")))?;
    if json {
        return say_json(&report);
    }
    let line = |name: &str, figures: &pose::PoseFigures| {
        say(format!(
            "{name}: {} images; median error of the centre {} mm from the labels and {} mm from the point about which the image changes oddly (labels: {} mm), of the radius {} %; intervals cover {} % (those of the fits alone {} %)",
            figures.n,
            short(figures.centre_mm_median),
            short(figures.odd_point_mm_median),
            short(figures.labels_odd_point_mm_median),
            short(100.0 * figures.radius_rel_median),
            short(100.0 * figures.coverage),
            short(100.0 * figures.coverage_of_fit)
        ));
    };
    for row in &report.rows {
        line(&row.name, &row.figures);
    }
    line("all", &report.figures);
    Ok(())
}
