//! `dermis validate`: our numbers against those of others.

use crate::console::{say, say_json};
use clap::Subcommand;
use dermis::validate::hydroelastic;
use std::path::PathBuf;

/// Compare results with a file that another program has computed.
#[derive(clap::Args)]
pub struct Arguments {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    /// Contact surfaces of pairs of bodies: force, torque, area and centroids, as relative errors.
    Hydroelastic {
        /// The golden file; its meshes lie beside it, in the folder that it names.
        #[arg(value_name = "FILE.json")]
        file: PathBuf,
        /// Print one JSON document.
        #[arg(long)]
        json: bool,
    },
}

pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let What::Hydroelastic { file, json } = &arguments.what;
    let report = hydroelastic::run(file)?;
    if *json {
        return say_json(&report);
    }
    let line = |id: &str, errors: [f64; 4]| {
        let [force, torque, area, centroid] = errors;
        say(format!("{id:<32} {force:>9.1e} {torque:>9.1e} {area:>9.1e} {centroid:>9.1e}"));
    };
    say(format!("{:<32} {:>9} {:>9} {:>9} {:>9}", "relative error of", "force", "torque", "area", "centroid"));
    for case in &report.cases {
        line(&case.id, [case.force_rel, case.torque_rel, case.area_rel, case.centroid_rel]);
    }
    let worst = report.worst;
    line("worst", [worst.force_rel, worst.torque_rel, worst.area_rel, worst.centroid_rel]);
    Ok(())
}
