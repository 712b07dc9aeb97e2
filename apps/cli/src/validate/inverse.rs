//! `dermis validate inverse`: materials and poses from simulated readings with noise.

use crate::console::{progress, say, say_json};
use dermis_research::validate::inverse::{self, FitCounts, FittedMaterial, InverseReport};

#[derive(clap::Args)]
#[command(after_help = "Example:\n  dermis validate inverse --fits 5 --starts 1 --only moon")]
pub struct Arguments {
    /// Number of materials.
    #[arg(long, value_name = "N", default_value_t = 40)]
    fits: usize,
    /// Number of poses of each indenter, each with another start.
    #[arg(long, value_name = "N", default_value_t = 5)]
    starts: usize,
    /// Only indenters whose name contains this text, such as "lines".
    #[arg(long, value_name = "TEXT", default_value = "")]
    only: String,
}

pub fn run(arguments: &Arguments, json: bool) -> anyhow::Result<()> {
    let Arguments { fits, starts, only } = arguments;
    let counts = FitCounts { materials: *fits, starts: *starts, only };
    let bar = progress("fits", counts.sum() as u64);
    let report = inverse::run(counts, &|| bar.inc(1))?;
    bar.finish_and_clear();
    anyhow::ensure!(
        *starts == 0 || !report.indenters.is_empty(),
        "`--only {only}`: no indenter has such a name; leave it out to see all"
    );
    if json {
        say_json(&report)?;
    } else {
        say_materials(&report);
        say_poses(&report);
    }
    anyhow::ensure!(report.has_materials(), "fewer than 95 % of the fits are within 2 % of young and 5 % of mu");
    anyhow::ensure!(report.has_poses(), "fewer than 95 % of the poses are within 0.1 mm and 1 degree");
    Ok(())
}

fn say_materials(report: &InverseReport) {
    let (Some(young_share), Some(mu_share)) = (report.young_share, report.mu_share) else { return };
    say(format!("{:>10} {:>8} {:>6} {:>8}  both in 95 % intervals", "young kPa", "error %", "mu", "error %"));
    for FittedMaterial { young_pa, young_rel, mu, mu_rel, covered } in &report.fits {
        let errors = [young_rel, mu_rel].map(|rel| 1e2 * rel);
        say(format!("{:>10.1} {:>8.2} {mu:>6.3} {:>8.2}  {covered}", young_pa / 1e3, errors[0], errors[1]));
    }
    let [young, mu] = [young_share, mu_share].map(|share| 1e2 * share);
    say(format!("within 2 % of young: {young:.0} % of the fits; within 5 % of mu: {mu:.0} %"));
}

fn say_poses(report: &InverseReport) {
    let Some(pose_share) = report.pose_share else { return };
    say(format!(
        "{:<16} {:>7} {:>6} {:>8} {:>9} {:>13}",
        "indenter", "hidden", "poses", "share %", "worst mm", "worst degrees"
    ));
    for row in &report.indenters {
        let position = row.fits.iter().map(|fit| fit.position_mm).fold(0.0, f64::max);
        let orientation = row.fits.iter().map(|fit| fit.orientation_deg).fold(0.0, f64::max);
        let (name, hidden, poses, share) = (row.indenter, row.hidden, row.fits.len(), 1e2 * row.share);
        say(format!("{name:<16} {hidden:>7} {poses:>6} {share:>8.0} {position:>9.3} {orientation:>13.2}"));
    }
    say(format!("within 0.1 mm and 1 degree: {:.1} % of the poses", 1e2 * pose_share));
}
