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
        /// Also time every case: one thread, the second body moved a little at every call.
        #[arg(long)]
        time: bool,
        /// Print one JSON document.
        #[arg(long)]
        json: bool,
    },
}

pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let What::Hydroelastic { file, time, json } = &arguments.what;
    let report = hydroelastic::run(file, *time)?;
    if *json {
        return say_json(&report);
    }
    let line = |id: &str, errors: [f64; 4], seconds: Option<f64>| {
        let [force, torque, area, centroid] = errors;
        let took = seconds.map_or_else(String::new, |seconds| format!(" {:>10.1} µs", seconds * 1e6));
        say(format!("{id:<32} {force:>9.1e} {torque:>9.1e} {area:>9.1e} {centroid:>9.1e}{took}"));
    };
    say(format!("{:<32} {:>9} {:>9} {:>9} {:>9}", "relative error of", "force", "torque", "area", "centroid"));
    for case in &report.cases {
        let errors = [case.force_rel, case.torque_rel, case.area_rel, case.centroid_rel];
        line(&case.id, errors, case.seconds_per_call);
    }
    let worst = report.worst;
    line("worst", [worst.force_rel, worst.torque_rel, worst.area_rel, worst.centroid_rel], None);
    Ok(())
}
