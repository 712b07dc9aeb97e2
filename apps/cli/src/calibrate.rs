//! `dermis calibrate`: fits parameters to bench data.

use crate::console::{Overwrite, ResultFolder, say, say_json, short};
use crate::set::SetArguments;
use crate::table::{DEPTH, FORCE, VELOCITY, read_points};
use crate::{calibrate_array, calibrate_magnetic, calibrate_material, calibrate_optics};
use anyhow::{Context, bail};
use clap::Subcommand;
use dermis::draw::{Image, LineStyle, Marker, Plot, Series};
use dermis::geometry::quantity::{self, Area, Force, Length};
use dermis::output::Output;
use dermis::sensor::calibration::{
    Estimate, FrictionFit, StiffnessFit, fit_friction, fit_stiffness, simulated_stiffness, texel_stiffness_newton_per_m,
};
use dermis::sensor::{SensorSpec, SkinSpec};
use serde_json::json;
use std::path::PathBuf;

/// Fit a sensor's parameters to measurements.
#[derive(clap::Args)]
#[command(after_help = "Example:\n  dermis calibrate stiffness foam.csv --area \"804.25 mm^2\"")]
pub struct Arguments {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    /// Stiffness from force against compression (columns such as depth_mm,force_n or compression_mm,weight_g).
    #[command(after_help = "Example:\n  dermis calibrate stiffness foam.csv --area \"804.25 mm^2\"")]
    Stiffness(Stiffness),
    /// Friction from force against sliding velocity (columns such as velocity_m_per_s,force_n).
    #[command(after_help = "Example:\n  dermis calibrate friction sliding.csv --normal-force 5N")]
    Friction(Friction),
    /// Gain, threshold, curve and saturation of every taxel from force against counts.
    #[command(after_help = "Example:\n  dermis calibrate taxels bench/presses.csv --sensor wts0614 --out fit")]
    Taxels(calibrate_array::Taxels),
    /// Point spread from the readings of neighbours of pressed taxels.
    #[command(after_help = "Example:\n  dermis calibrate spread bench/presses.csv --sensor wts0614 --out fit")]
    Spread(calibrate_array::SpreadArguments),
    /// Creep from readings under a constant load.
    #[command(after_help = "Example:\n  dermis calibrate creep bench/creep.csv --sensor wts0614 --out fit")]
    Creep(calibrate_array::CreepArguments),
    /// All of the above from presses and creep.
    #[command(
        alias = "device",
        after_help = "Example:\n  dermis calibrate sensor bench/presses.csv bench/creep.csv --sensor wts0614 --out fit"
    )]
    Sensor(calibrate_array::ArrayArguments),
    /// The light of an optical sensor from images of a pressed ball.
    #[command(
        after_help = "Example:\n  dermis calibrate optics --background b.png --presses labels.csv --ball 4mm --pixel 0.03mm --out mine.toml"
    )]
    Optics(calibrate_optics::Arguments),
    /// The motion of the magnets of a lattice or foam from a recording of a probe and of the flux densities.
    #[command(
        after_help = "Example:\n  dermis calibrate magnetic probe.csv field.csv --sensor mine.toml --hysteresis 0.5mm --depths 12 --out fit"
    )]
    Magnetic(calibrate_magnetic::Arguments),
    /// Young's modulus, Poisson's ratio, thickness, friction and relaxation of a layer or gel from force against depth.
    #[command(
        after_help = "Example:\n  dermis calibrate material press.csv --sensor gelsight-mini --object sphere:radius=7.5mm --fit young,zero --out fit"
    )]
    Material(calibrate_material::Arguments),
}

#[derive(clap::Args)]
struct Stiffness {
    /// CSV file of measurements.
    data: PathBuf,
    /// Pressed area, such as "804.25 mm^2": gives the stiffness per area.
    #[arg(long)]
    area: Option<Area>,
    /// Area of the sensor: with --area and --texels, gives the stiffness per texel.
    #[arg(long, requires_all = ["area", "texels"])]
    sensor_area: Option<Area>,
    /// Number of texels.
    #[arg(long, requires_all = ["area", "sensor_area"])]
    texels: Option<usize>,
    /// Diameter of a flat, round indenter on the middle of a taxel: the stiffness of --sensor is scaled so that it gives the measured force
    /// under the same indenter. For springs, layers and imprints.
    #[arg(long, requires = "sensor", conflicts_with = "area")]
    indenter: Option<Length>,
    /// The pressed sensor: with --out, sensor.toml receives the fitted stiffness (per area with --area, scaled with --indenter; otherwise
    /// the indenter is assumed to press one texel completely).
    #[arg(long, value_name = "NAME|FILE", requires = "out")]
    sensor: Option<String>,
    #[command(flatten)]
    set: SetArguments,
    /// Write fit.png, fit.json and, with --sensor, sensor.toml into this folder.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    #[command(flatten)]
    overwrite: Overwrite,
    /// Print one JSON document.
    #[arg(long)]
    json: bool,
}

#[derive(clap::Args)]
struct Friction {
    /// CSV file of measurements.
    data: PathBuf,
    /// Normal force during the measurements, such as "0.08 N".
    #[arg(long)]
    normal_force: Force,
    /// Write fit.png and fit.json into this folder.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    #[command(flatten)]
    overwrite: Overwrite,
    /// Print one JSON document.
    #[arg(long)]
    json: bool,
}

pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    match &arguments.what {
        What::Stiffness(arguments) => stiffness(arguments),
        What::Friction(arguments) => friction(arguments),
        What::Taxels(arguments) => calibrate_array::taxels(arguments),
        What::Spread(arguments) => calibrate_array::spread(arguments),
        What::Creep(arguments) => calibrate_array::creep(arguments),
        What::Sensor(arguments) => calibrate_array::sensor(arguments),
        What::Optics(arguments) => calibrate_optics::run(arguments),
        What::Magnetic(arguments) => calibrate_magnetic::run(arguments),
        What::Material(arguments) => calibrate_material::run(arguments),
    }
}

fn scaled(estimate: Estimate, factor: f64) -> Estimate {
    Estimate { value: estimate.value * factor, ci95: estimate.ci95 * factor }
}

pub fn line(name: &str, estimate: Estimate, unit: &str) {
    let Estimate { value, ci95 } = estimate;
    say(format!("  {name:<22} {} ± {} {unit}", short(value), short(ci95)));
}

fn stiffness(arguments: &Stiffness) -> anyhow::Result<()> {
    if arguments.sensor.is_none() && !arguments.set.is_empty() {
        bail!("`--set` changes the description of the sensor: name it with `--sensor`");
    }
    let folder = arguments.overwrite.open(arguments.out.as_deref())?;
    let points = read_points(&arguments.data, ("compression", DEPTH), ("force", FORCE))?;
    let fit = fit_stiffness(&points).with_context(|| arguments.data.display().to_string())?;
    let slope = fit.through_zero_newton_per_m;
    let per_area = match arguments.area.map(Area::si) {
        Some(area) if area <= 0.0 => bail!("`--area` must be a positive area, got {} mm^2", area * 1e6),
        Some(area) => Some(scaled(slope, 1.0 / area)),
        None => None,
    };
    let per_texel = match (per_area, arguments.sensor_area, arguments.texels) {
        (Some(per_area), Some(area), Some(texels)) => {
            // Eq. (18) of Moisio 2013 with a compression of 1 m: pressure and compression cancel.
            let k = texel_stiffness_newton_per_m(per_area.value, area.si(), texels, 1.0)?;
            Some(scaled(per_area, k / per_area.value))
        }
        _ => None,
    };
    let report = json!({ "fit": fit, "per_area_pa_per_m": per_area, "per_texel_n_per_m": per_texel });
    if arguments.json {
        say_json(&report)?;
    } else {
        say(format!("stiffness from {} points (± is the half-width of a 95 % interval)", fit.points));
        line("through zero", slope, "N/m");
        line("free line", fit.free_newton_per_m, "N/m");
        say(format!("  play before contact    {} mm", short(fit.free_offset_m * 1e3)));
        say(format!("  residual               {} N rms", short(fit.rms_newton)));
        if let Some(estimate) = per_area {
            line("stiffness_per_area", estimate, "Pa/m");
        }
        if let Some(estimate) = per_texel {
            line("stiffness per texel", estimate, "N/m");
        }
    }
    let fitted = match &arguments.sensor {
        Some(name) => {
            let measured = Measured { points: &points, newton_per_m: slope.value, pa_per_m: per_area.map(|k| k.value) };
            Some(with_stiffness(name, &arguments.set, &measured, arguments.indenter.map(Length::si))?)
        }
        None => None,
    };
    write_fit(folder, arguments.json, &report, fitted, || stiffness_plot(&points, &fit))
}

struct Measured<'a> {
    points: &'a [(f64, f64)],
    newton_per_m: f64,
    pa_per_m: Option<f64>,
}

/// A sensor's description with the fitted stiffness: scaled if the indenter is known, otherwise per area or per texel.
fn with_stiffness(
    name: &str,
    set: &SetArguments,
    measured: &Measured<'_>,
    indenter_m: Option<f64>,
) -> anyhow::Result<SensorSpec> {
    let (mut spec, folder) = SensorSpec::find(name)?;
    if let Some(folder) = folder {
        spec = spec.with_files_in(folder);
    }
    spec = set.of_sensor(&spec)?;
    if let Some(indenter_m) = indenter_m {
        let depths_m: Vec<f64> = measured.points.iter().map(|point| point.0).collect();
        let simulated = simulated_stiffness(&spec.build(None)?, indenter_m, &depths_m)?.through_zero_newton_per_m;
        if !spec.skin.scale_stiffness(measured.newton_per_m / simulated.value) {
            bail!(
                "sensor {:?} has a skin of kind {:?}, whose stiffness cannot be scaled; `--indenter` works with springs, layers and imprints",
                spec.name,
                spec.skin.kind().name()
            );
        }
    } else {
        let SkinSpec::Springs(springs) = &mut spec.skin else {
            bail!(
                "sensor {:?} has no springs to set a stiffness of; give a sensor with a skin of kind \"springs\", or --indenter",
                spec.name
            );
        };
        (springs.force_table, springs.pressure_table) = (None, None);
        springs.stiffness = measured.pa_per_m.is_none().then(|| quantity::Stiffness::new(measured.newton_per_m));
        springs.stiffness_per_area = measured.pa_per_m.map(quantity::AreaStiffness::new);
    }
    spec.description = format!("{}, with its stiffness fitted to bench data", spec.name);
    spec.name = format!("{}-fitted", spec.name);
    spec.build(None).context("the fitted sensor")?;
    Ok(spec)
}

fn friction(arguments: &Friction) -> anyhow::Result<()> {
    let folder = arguments.overwrite.open(arguments.out.as_deref())?;
    let normal = arguments.normal_force.si();
    let points = read_points(&arguments.data, ("velocity", VELOCITY), ("force", FORCE))?;
    let fit = fit_friction(&points, normal).with_context(|| arguments.data.display().to_string())?;
    let report = json!({ "fit": fit, "normal_n": normal });
    if arguments.json {
        say_json(&report)?;
    } else {
        say(format!("friction from {} points (± is the half-width of a 95 % interval)", fit.points));
        line("mu_static", fit.mu_static, "");
        line("mu_dynamic", fit.mu_dynamic, "");
        line("stribeck_speed", fit.stribeck_m_per_s, "m/s");
        line("viscous", fit.viscous_newton_s_per_m, "N s/m");
        say(format!("  residual               {} N rms", short(fit.rms_newton)));
    }
    write_fit(folder, arguments.json, &report, None, || friction_plot(&points, &fit, normal))
}

/// Writes a fit to the output folder, if one is given: sensor.toml, fit.png and fit.json.
pub fn write_fit(
    folder: Option<ResultFolder>,
    json: bool,
    report: &serde_json::Value,
    sensor: Option<SensorSpec>,
    figure: impl FnOnce() -> Image,
) -> anyhow::Result<()> {
    let Some(folder) = folder else { return Ok(()) };
    let mut output = Output::new();
    if let Some(spec) = sensor {
        output.add("sensor.toml", spec.to_toml());
    }
    output.add_image("fit.png", &figure());
    output.add("fit.json", serde_json::to_string_pretty(report)? + "\n");
    folder.commit(output, json)
}

fn stiffness_plot(points: &[(f64, f64)], fit: &StiffnessFit) -> Image {
    let deepest = points.iter().map(|p| p.0).fold(0.0, f64::max);
    let depths: Vec<f64> = (0..=60).map(|i| f64::from(i) / 60.0 * deepest * 1.05).collect();
    let Estimate { value, ci95 } = fit.through_zero_newton_per_m;
    let free = fit.free_newton_per_m.value;
    let in_mm = |k: f64, offset: f64| depths.iter().map(move |d| (d * 1e3, (k * (d - offset)).max(0.0)));
    Plot::new()
        .title("Stiffness")
        .x_label("Compression (mm)")
        .y_label("Force (N)")
        .series(Series::scatter("measured", points.iter().map(|p| (p.0 * 1e3, p.1))).marker(Marker::Disc))
        .series(
            Series::line(format!("through zero: {} ± {} N/m", short(value), short(ci95)), in_mm(value, 0.0))
                .band(depths.iter().map(|d| ((value - ci95) * d, (value + ci95) * d))),
        )
        .series(
            Series::line(format!("free: {} N/m", short(free)), in_mm(free, fit.free_offset_m)).style(LineStyle::Dashed),
        )
        .size(860, 560)
        .render()
}

fn friction_plot(points: &[(f64, f64)], fit: &FrictionFit, normal: f64) -> Image {
    let (low, high) = points.iter().fold((0.0f64, 0.0f64), |(low, high), p| (low.min(p.0), high.max(p.0)));
    let curve = (0..=400).map(|i| low + (high - low) * f64::from(i) / 400.0).filter(|v| *v != 0.0);
    let label = format!("fit: μs {}, μd {}", short(fit.mu_static.value), short(fit.mu_dynamic.value));
    Plot::new()
        .title("Friction")
        .x_label("Sliding velocity (m/s)")
        .y_label("Force (N)")
        .series(Series::scatter("measured", points.iter().copied()).marker(Marker::Disc))
        .series(Series::line(label, curve.map(|v| (v, fit.force_newton(v, normal)))))
        .size(860, 560)
        .render()
}
