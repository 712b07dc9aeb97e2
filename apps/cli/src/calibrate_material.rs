//! `dermis calibrate material`: fits the material of a layer or gel to force against depth.

use crate::calibrate::{line, write_fit};
use crate::console::{Overwrite, counter, say, say_json, short};
use crate::press::pair;
use crate::sensor::SensorArguments;
use crate::table::{DEPTH, FORCE, SHEAR, SHEAR_FORCE, TIME, Table};
use anyhow::Context;
use dermis::draw::{Image, Marker, Plot, Series};
use dermis::estimate::{MaterialError, MaterialFit, MaterialPoint, MaterialUnknown, fit_material};
use dermis::geometry::files::LengthUnit;
use dermis::geometry::quantity::Length;
use dermis::object::ObjectSpec;
use dermis::sensor::Aim;
use dermis::sensor::calibration::Estimate;
use serde_json::{Map, json};
use std::path::PathBuf;

#[derive(clap::Args)]
pub struct Arguments {
    /// CSV file of presses by one object at one place, in the order of time: depth (such as depth_mm) and force (such as force_n); for the
    /// friction also the displacement along x after the press (shear_mm) and the force along x (shear_force_n); for the relaxation the time
    /// (time_s), with a depth that is held or grows.
    data: PathBuf,
    #[command(flatten)]
    sensor: SensorArguments,
    /// The object, as for `dermis press`.
    #[arg(long, value_name = "SHAPE|FILE")]
    object: String,
    /// Unit of the object's file: m, cm, mm or in.
    #[arg(long)]
    unit: Option<LengthUnit>,
    /// Position on the sensor, such as 5mm,-3mm; by default its centre.
    #[arg(long, value_name = "X,Y", value_parser = pair::<Length>, allow_hyphen_values = true)]
    at: Option<(Length, Length)>,
    /// What is fitted, starting from the sensor file: young, poisson, thickness, friction, relaxation_ratio and relaxation_time (of its first
    /// branch), and zero, the depth at which the bench has its first contact.
    #[arg(long, value_name = "NAME,…", value_delimiter = ',', default_value = "young")]
    fit: Vec<MaterialUnknown>,
    /// Write sensor.toml, fit.png and fit.json into this folder.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    #[command(flatten)]
    overwrite: Overwrite,
    /// Print one JSON document.
    #[arg(long)]
    json: bool,
}

pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let folder = arguments.overwrite.open(arguments.out.as_deref())?;
    let table = Table::read(&arguments.data)?;
    let points = read(&table)?;
    let (spec, _) = arguments.sensor.spec()?;
    let object = ObjectSpec::parse_flag(&arguments.object, arguments.unit)?.object(None, None)?;
    let at_m = arguments.at.map_or([0.0; 2], |(x, y)| [x.si(), y.si()]);
    let bar = counter("simulated presses:");
    let fit = fit_material(&spec, &object, &Aim { at_m, ..Aim::default() }, &points, &arguments.fit, &|count| {
        bar.set_position(count as u64);
    });
    bar.finish_and_clear();
    let fit = match fit {
        Err(
            error @ (MaterialError::DepthUnit { .. } | MaterialError::Shallow { .. } | MaterialError::NoDepth { .. }),
        ) => {
            let column = table.name("depth", DEPTH)?;
            Err(error).with_context(|| format!("{}, column `{column}`", arguments.data.display()))
        }
        fit => fit.with_context(|| arguments.data.display().to_string()),
    }?;
    let values: Map<_, _> = fit.values.iter().map(|(name, value)| (name.name().to_owned(), json!(value))).collect();
    let report = json!({
        "sensor": spec.name,
        "points": points.len(),
        "values": values,
        "rms_n": fit.rms_newton,
        "explained": fit.explained,
        "converged": fit.converged,
        "at_bounds": fit.at_bounds,
        "predicted_n": fit.predicted_newton,
        "warnings": fit.warnings,
    });
    if arguments.json {
        say_json(&report)?;
    } else {
        say(format!("{} from {} measurements (± is the half-width of a 95 % interval)", spec.name, points.len()));
        for (unknown, estimate) in &fit.values {
            let (size, unit) = shown(*unknown);
            line(unknown.name(), Estimate { value: estimate.value / size, ci95: estimate.ci95 / size }, unit);
        }
        let part = 100.0 * fit.explained.max(0.0);
        say(format!(
            "  residual               {} N rms; {part:.2} % of the forces are explained",
            short(fit.rms_newton)
        ));
        fit.warnings.iter().for_each(|warning| say(format!("  warning: {warning}")));
    }
    write_fit(folder, arguments.json, &report, Some(fit.spec.clone()), || figure(&points, &fit))
}

/// The unit in which a quantity is printed, and its size in SI.
fn shown(unknown: MaterialUnknown) -> (f64, &'static str) {
    match unknown {
        MaterialUnknown::Young => (1e3, "kPa"),
        MaterialUnknown::Thickness | MaterialUnknown::Zero => (1e-3, "mm"),
        _ => (1.0, unknown.unit()),
    }
}

fn read(table: &Table) -> anyhow::Result<Vec<MaterialPoint>> {
    Ok(MaterialPoint::of_columns(
        &table.values("depth", DEPTH)?,
        &table.values("force", FORCE)?,
        table.optional_values("displacement along the surface", SHEAR)?.as_deref(),
        table.optional_values("force along the surface", SHEAR_FORCE)?.as_deref(),
        table.optional_values("time", TIME)?.as_deref(),
    ))
}

/// Measured and fitted forces against the depth, or against the time if there is one.
fn figure(points: &[MaterialPoint], fit: &MaterialFit) -> Image {
    let in_time = points.iter().any(|point| point.time_s != points[0].time_s);
    let x = |point: &MaterialPoint| if in_time { point.time_s } else { point.depth_m * 1e3 };
    let mut fitted: Vec<(f64, f64)> = points.iter().zip(&fit.predicted_newton).map(|(p, f)| (x(p), f[0])).collect();
    fitted.sort_by(|a, b| a.0.total_cmp(&b.0));
    let plot = Plot::new()
        .title("Force of the fitted material")
        .x_label(if in_time { "Time (s)" } else { "Depth (mm)" })
        .y_label("Force (N)")
        .series(Series::scatter("measured", points.iter().map(|p| (x(p), p.force_newton))).marker(Marker::Disc))
        .series(Series::line("fitted", fitted));
    let along: Vec<(f64, f64)> = points.iter().filter_map(|p| Some((x(p), p.shear_force_newton?))).collect();
    if along.is_empty() {
        return plot.size(860, 560).render();
    }
    let fitted = points.iter().zip(&fit.predicted_newton).map(|(p, f)| (x(p), f[1]));
    plot.series(Series::scatter("measured, along x", along).marker(Marker::Ring))
        .series(Series::scatter("fitted, along x", fitted).marker(Marker::Square))
        .size(860, 560)
        .render()
}
