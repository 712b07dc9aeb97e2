//! `dermis calibrate`: fits parameters to bench data.

use crate::console::{Overwrite, ResultFolder, say, say_json, short};
use crate::set::SetArguments;
use crate::table::{DEPTH, FORCE, Table, VELOCITY};
use crate::{calibrate_array, calibrate_magnetic, calibrate_material, calibrate_optics, depth_unit};
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
    let table = Table::read(&arguments.data)?;
    let points = table.points(("compression", DEPTH), ("force", FORCE))?;
    let spec = arguments.sensor.as_deref().map(|name| pressed_sensor(name, &arguments.set)).transpose()?;
    let max_m = spec.as_ref().map(|spec| spec.build(None)).transpose()?.map(|sensor| sensor.skin().max_depth_m());
    let depths_m: Vec<f64> = points.iter().map(|point| point.0).collect();
    let warnings: Vec<String> =
        depth_unit::doubt(&table, ("compression", DEPTH), &depths_m, max_m)?.into_iter().collect();
    let fit = fit_stiffness(&points).with_context(|| arguments.data.display().to_string())?;
    let slope = fit.newton_per_m;
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
    let report =
        json!({ "fit": fit, "per_area_pa_per_m": per_area, "per_texel_n_per_m": per_texel, "warnings": warnings });
    if arguments.json {
        say_json(&report)?;
    } else {
        tell_stiffness(&fit);
        if let Some(estimate) = per_area {
            line("stiffness_per_area", estimate, "Pa/m");
        }
        if let Some(estimate) = per_texel {
            line("stiffness per texel", estimate, "N/m");
        }
        warnings.iter().for_each(|warning| say(format!("  warning: {warning}")));
    }
    let fitted = match spec {
        Some(spec) => {
            let measured = Measured { depths_m: &depths_m, fit: &fit, pa_per_m: per_area.map(|k| k.value) };
            Some(with_stiffness(spec, &measured, arguments.indenter.map(Length::si))?)
        }
        None => None,
    };
    write_fit(folder, arguments.json, &report, fitted, || stiffness_plot(&points, &fit).size(860, 560).render())
}

/// Prints the stiffness first: the free line where its offset is significant, else the line through the origin.
fn tell_stiffness(fit: &StiffnessFit) {
    say(format!("stiffness from {} points (± is the half-width of a 95 % interval)", fit.points));
    let lines = [("through zero", fit.through_zero_newton_per_m), ("free line", fit.free_newton_per_m)];
    let order = if fit.has_offset { [1, 0] } else { [0, 1] };
    order.into_iter().for_each(|i| line(lines[i].0, lines[i].1, "N/m"));
    line("force at zero", fit.offset_newton, "N");
    say(format!("  free line reaches zero {} mm", short(fit.free_offset_m * 1e3)));
    say(format!("  residual               {} N rms", short(fit.rms_newton)));
    if fit.has_offset {
        say(
            "  (the force at zero compression is not zero: an offset of the load cell, a play or a bent curve; the free line is the stiffness)",
        );
    }
}

/// The description of the pressed sensor.
fn pressed_sensor(name: &str, set: &SetArguments) -> anyhow::Result<SensorSpec> {
    let (mut spec, folder) = SensorSpec::find(name)?;
    if let Some(folder) = folder {
        spec = spec.with_files_in(folder);
    }
    set.of_sensor(&spec)
}

struct Measured<'a> {
    depths_m: &'a [f64],
    fit: &'a StiffnessFit,
    pa_per_m: Option<f64>,
}

/// A sensor's description with the fitted stiffness: scaled if the indenter is known, otherwise per area or per texel.
fn with_stiffness(
    mut spec: SensorSpec,
    measured: &Measured<'_>,
    indenter_m: Option<f64>,
) -> anyhow::Result<SensorSpec> {
    let stiffness = measured.fit.newton_per_m.value;
    if let Some(indenter_m) = indenter_m {
        let simulated = simulated_stiffness(&spec.build(None)?, indenter_m, measured.depths_m)?;
        // The same line through both, because the force of a skin may bend.
        let line =
            if measured.fit.has_offset { simulated.free_newton_per_m } else { simulated.through_zero_newton_per_m };
        if !spec.skin.scale_stiffness(stiffness / line.value) {
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
        springs.stiffness = measured.pa_per_m.is_none().then(|| quantity::Stiffness::new(stiffness));
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
    let points = Table::read(&arguments.data)?.points(("velocity", VELOCITY), ("force", FORCE))?;
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

/// Measured forces, and both lines with the interval of the one that is the stiffness.
pub fn stiffness_plot(points: &[(f64, f64)], fit: &StiffnessFit) -> Plot {
    let deepest = points.iter().map(|p| p.0).fold(0.0, f64::max);
    let depths: Vec<f64> = (0..=60).map(|i| f64::from(i) / 60.0 * deepest * 1.05).collect();
    let Estimate { value, ci95 } = fit.newton_per_m;
    let label = |name: &str, k: Estimate| format!("{name}: {} ± {} N/m", short(k.value), short(k.ci95));
    let curve = |k: f64, force: f64| depths.iter().map(move |d| (d * 1e3, force + k * d));
    let through_zero = (label("through zero", fit.through_zero_newton_per_m), fit.through_zero_newton_per_m.value, 0.0);
    let free = (label("free line", fit.free_newton_per_m), fit.free_newton_per_m.value, fit.offset_newton.value);
    let [used, other] = if fit.has_offset { [free, through_zero] } else { [through_zero, free] };
    // The interval of a slope turns the line about the middle of the points, or about the origin.
    let fixed = if fit.has_offset { points.iter().map(|p| p.0).sum::<f64>() / points.len() as f64 } else { 0.0 };
    let band = depths.iter().map(|d| {
        let (middle, half) = (used.2 + value * d, ci95 * (d - fixed).abs());
        (middle - half, middle + half)
    });
    Plot::new()
        .title("Stiffness")
        .x_label("Compression (mm)")
        .y_label("Force (N)")
        .series(Series::scatter("measured", points.iter().map(|p| (p.0 * 1e3, p.1))).marker(Marker::Disc))
        .series(Series::line(used.0, curve(used.1, used.2)).band(band))
        .series(Series::line(other.0, curve(other.1, other.2)).style(LineStyle::Dashed))
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
