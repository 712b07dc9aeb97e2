//! `dermis validate`: comparisons with reference solutions and measurements.

mod inverse;
mod pose;
mod real;

use crate::console::{say, say_aside, say_json};
use clap::Subcommand;
use dermis::geometry::quantity::Length;
use dermis_research::validate::{eflesh, feats, gradients, hydroelastic, layer, magnetic};
use std::path::{Path, PathBuf};

/// Compare results with reference solutions or measurements.
#[derive(clap::Args)]
#[command(after_help = "Example:\n  dermis validate gradients --presses 5 --only hydroelastic")]
pub struct Arguments {
    #[command(subcommand)]
    what: What,
    /// Print one JSON document.
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Subcommand)]
enum What {
    /// Contact surfaces of pairs of bodies: force, torque, area and centroids, as relative errors.
    #[command(after_help = "Example:\n  dermis validate hydroelastic golden.json --time")]
    Hydroelastic {
        /// The golden file; its meshes are in the folder that it names.
        #[arg(value_name = "FILE.json")]
        file: PathBuf,
        /// Also measure the time of every case, on one thread.
        #[arg(long)]
        time: bool,
    },
    /// The gel of a GelSight Mini: forces against measurements, surfaces against finite elements.
    #[command(after_help = "Example:\n  dermis validate feats feats-gelsight-mini")]
    Feats {
        /// The folder with `measured_force_depth.csv` and `calculix_surface_d*.csv`.
        #[arg(value_name = "DIR")]
        folder: PathBuf,
        /// Cell size of the gel.
        #[arg(long, default_value = "0.5mm")]
        cell: Length,
    },
    /// Gradients of random presses against central differences, and their cost.
    #[command(after_help = "Example:\n  dermis validate gradients --presses 5 --only hydroelastic")]
    Gradients {
        /// Number of presses of every sensor and object.
        #[arg(long, value_name = "N", default_value_t = 40)]
        presses: usize,
        /// Only sensors and objects whose name contains this text, such as "layer" or "mesh".
        #[arg(long, value_name = "TEXT", default_value = "")]
        only: String,
    },
    /// Young's modulus and friction of a layer from simulated forces, and poses of the 21 indenters from simulated images, with noise.
    Inverse(inverse::Arguments),
    /// Real sensors: fits each to some samples of its measurements and predicts the others, beside null model and peers.
    Real(real::Arguments),
    /// Balls on real sensors: centre and radius estimated from single images, with lights fitted to the other images.
    Pose(pose::Arguments),
    /// Flux density of magnets: dipole, cylinder and cuboid, as relative errors.
    #[command(after_help = "Example:\n  dermis validate magnetic fields.json")]
    Magnetic {
        /// The golden file.
        #[arg(value_name = "FILE.json")]
        file: PathBuf,
    },
    /// Recordings of eFlesh, a real magnetic skin: flux densities and loads predicted by its presets, beside the null model.
    #[command(after_help = "Example:\n  dermis validate eflesh datasets --json")]
    Eflesh {
        /// The folder with normal-N-sensor.csv.gz, normal-N-states.csv.gz and the like.
        #[arg(value_name = "DIR")]
        folder: PathBuf,
    },
    /// A paraboloid on a bonded layer: force, contact radius, surface and stress on the base.
    #[command(after_help = "Example:\n  dermis validate layer paraboloid.json")]
    Layer {
        /// The golden file.
        #[arg(value_name = "FILE.json")]
        file: PathBuf,
        /// Cells along each side of a patch of eight contact radii.
        #[arg(long, value_name = "N", default_value_t = 256)]
        cells: usize,
    },
}

pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let json = arguments.json;
    match &arguments.what {
        What::Hydroelastic { file, time } => run_hydroelastic(file, *time, json),
        What::Feats { folder, cell } => run_feats(folder, *cell, json),
        What::Gradients { presses, only } => run_gradients(*presses, only, json),
        What::Inverse(arguments) => inverse::run(arguments, json),
        What::Layer { file, cells } => run_layer(file, *cells, json),
        What::Pose(arguments) => pose::run(arguments, json),
        What::Magnetic { file } => run_magnetic(file, json),
        What::Eflesh { folder } => run_eflesh(folder, json),
        What::Real(arguments) => real::run(arguments, json),
    }
}

fn run_hydroelastic(file: &Path, time: bool, json: bool) -> anyhow::Result<()> {
    let report = hydroelastic::run(file, time)?;
    if json {
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

fn run_magnetic(file: &Path, json: bool) -> anyhow::Result<()> {
    let report = magnetic::run(file)?;
    if json {
        return say_json(&report);
    }
    say(format!("{:<22} {:>7} {:>16} {:>12}", "shape", "places", "relative error", "ns a place"));
    for case in &report.cases {
        say(format!("{:<22} {:>7} {:>16.1e} {:>12.0}", case.name, case.places, case.worst_rel, case.ns_per_place));
    }
    Ok(())
}

fn run_eflesh(folder: &Path, json: bool) -> anyhow::Result<()> {
    let report = eflesh::run(folder)?;
    if json {
        return say_json(&report);
    }
    say(format!(
        "{:<12} {:<14} {:>8} {:>8} {:>6} {:>10} {:>10}",
        "run", "preset", "samples", "error", "null", "kept out", "force N"
    ));
    let number = |value: Option<f64>| value.map_or_else(String::new, |value| format!("{value:.3}"));
    for run in &report.runs {
        let (kept_out, force) = (number(run.kept_out_nrmse), number(run.force_rmse_n));
        let (name, preset, samples) = (&run.name, run.preset, run.samples);
        say(format!(
            "{name:<12} {preset:<14} {samples:>8} {:>8.3} {:>6.0} {kept_out:>10} {force:>10}",
            run.nrmse, run.null
        ));
    }
    Ok(())
}

fn run_gradients(presses: usize, only: &str, json: bool) -> anyhow::Result<()> {
    let report = gradients::run(presses, |name| name.contains(only), &|name| say_aside(format!("{name} …")))?;
    if report.errors.is_empty() {
        anyhow::bail!("`--only {only}`: no sensor and object has such a name; leave it out to see all");
    }
    if json {
        say_json(&report)?;
    } else {
        say_gradients(&report);
    }
    match report.failures().next() {
        Some(errors) => {
            anyhow::bail!("{}: the gradient by {} is not that of the differences", errors.case, errors.parameter)
        }
        None => Ok(()),
    }
}

fn say_gradients(report: &gradients::GradientReport) {
    say(format!("{:<38} {:<20} {:>7} {:>9} {:>14}", "press", "by", "presses", "excluded", "relative error"));
    for errors in &report.errors {
        let gradients::GradientErrors { case, parameter, presses, excluded, worst_rel, kinked, .. } = errors;
        let pixels =
            if *kinked > 0.0 { format!("; {:.1} % of the pixels left out", 100.0 * kinked) } else { String::new() };
        say(format!("{case:<38} {parameter:<20} {presses:>7} {excluded:>9} {worst_rel:>14.1e}{pixels}"));
    }
    say(format!("{:<38} {:>12} {:>12} {:>7}", "cost", "press µs", "gradient µs", "ratio"));
    for gradients::GradientCost { case, press_us, vjp_us, ratio, .. } in &report.costs {
        say(format!("{case:<38} {press_us:>12.1} {vjp_us:>12.1} {ratio:>7.2}"));
    }
}

fn run_layer(file: &Path, cells: usize, json: bool) -> anyhow::Result<()> {
    let report = layer::run(file, cells)?;
    if json {
        return say_json(&report);
    }
    say(format!("{:<10} {:>10} {:>14} {:>12} {:>12}", "case", "force", "radius/cell", "surface", "base"));
    let line = |id: &str, errors: &layer::LayerErrors| {
        let layer::LayerErrors { force_rel, radius_cells, surface_rel, base_rel } = errors;
        say(format!("{id:<10} {force_rel:>10.1e} {radius_cells:>14.3} {surface_rel:>12.1e} {base_rel:>12.1e}"));
    };
    for (index, errors) in report.cases.iter().enumerate() {
        line(&index.to_string(), errors);
    }
    line("worst", &report.worst);
    Ok(())
}

fn run_feats(folder: &Path, cell: Length, json: bool) -> anyhow::Result<()> {
    let report = feats::run(folder, cell.si())?;
    if json {
        return say_json(&report);
    }
    say(format!("{} particles", report.particles));
    say(format!("{:>9} {:>12} {:>9} {:>7}", "depth mm", "measured N", "ours N", "ratio"));
    for force in &report.forces {
        say(format!("{:>9.2} {:>12.3} {:>9.3} {:>7.3}", force.depth_mm, force.measured_n, force.ours_n, force.ratio));
    }
    say(format!("{:<32} {:>9} {:>14} {:>14}", "surface", "depth mm", "rms of depth", "worst"));
    for surface in &report.surfaces {
        say(format!(
            "{:<32} {:>9.3} {:>14.4} {:>14.4}",
            surface.file, surface.depth_mm, surface.rms_of_depth, surface.worst_of_depth
        ));
    }
    Ok(())
}
