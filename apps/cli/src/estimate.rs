//! `dermis estimate`: pose and size of an object from one reading.

use crate::console::{Overwrite, counter, say, say_json, short};
use crate::sensor::SensorArguments;
use anyhow::{Context, bail};
use clap::ValueEnum;
use dermis::estimate::{Estimate, Measured, Placement, Unknown, estimate, press_at};
use dermis::geometry::Primitive;
use dermis::geometry::files::LengthUnit;
use dermis::geometry::quantity::Angle;
use dermis::image;
use dermis::object::ObjectSpec;
use dermis::output::Output;
use dermis::prelude::*;
use dermis::sensor::optics::FloatImage;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// Estimate where an object touches a sensor, or its size, from one reading.
///
/// The simulated reading is fitted to the given one. The search starts where the reading shows a contact. The 95 % intervals follow from the
/// residuals of the fit; errors of the sensor file, such as those of its light, come on top (`dermis validate pose` measures them).
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  dermis estimate pose --sensor gelsight --object indenter:moon --reading rgb.png --out out\n  dermis estimate shape --sensor gelsight --object sphere:radius=3mm --reading rgb.png --json"
)]
pub struct Arguments {
    /// What is estimated besides position and depth.
    what: What,
    #[command(flatten)]
    sensor: SensorArguments,
    /// The object, as for `dermis press`.
    #[arg(long, value_name = "SHAPE|FILE")]
    object: String,
    /// Unit of the file: m, cm, mm or in.
    #[arg(long)]
    unit: Option<LengthUnit>,
    /// The reading: a PNG image of the camera, or a CSV table with a column `value_n` (the force on the taxel before the response of the
    /// sensor) and a row for each taxel, as `dermis press --out` writes them. Columns `taxel`, `x_m` and `y_m` are checked.
    #[arg(long, value_name = "FILE.png|FILE.csv")]
    reading: PathBuf,
    /// Also estimate the tilt.
    #[arg(long)]
    tilt: bool,
    /// The rotation about the sensor's z axis, if it is known.
    #[arg(long, allow_hyphen_values = true)]
    yaw: Option<Angle>,
    /// Write estimate.json and, for an image, estimate.png (measured, fitted, difference) into this folder.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    #[command(flatten)]
    overwrite: Overwrite,
    /// Print one JSON document.
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum What {
    /// The rotation about the normal, unless the object is a sphere.
    Pose,
    /// The size: a factor for all lengths of the object; also the rotation, unless it is given or the object is a sphere.
    Shape,
}

/// A reading from a file.
enum Read {
    Image(FloatImage),
    Taxels(Vec<f64>),
}

pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let folder = arguments.overwrite.open(arguments.out.as_deref())?;
    let sensor = noiseless(arguments)?;
    let object = ObjectSpec::parse_flag(&arguments.object, arguments.unit)?.object(None, None)?;
    let read = read(&arguments.reading, &sensor)?;
    let measured = match &read {
        Read::Image(image) => Measured::Image(image),
        Read::Taxels(forces) => Measured::Taxels(forces),
    };
    let yaw_rad = arguments.yaw.map_or(0.0, Angle::si);
    let known = Placement { at_m: [0.0; 2], depth_m: 0.0, tilt_rad: [0.0; 2], yaw_rad, scale: 1.0 };
    let bar = counter("simulated presses:");
    let found = estimate(&sensor, &object, measured, known, &unknowns(arguments, &object), &|presses| {
        bar.set_position(presses as u64);
    });
    bar.finish_and_clear();
    let found = found.with_context(|| arguments.reading.display().to_string())?;
    let report = report(arguments, &sensor, &found);
    if arguments.json {
        say_json(&report)?;
    } else {
        tell(arguments, &sensor, &found, &read);
    }
    let Some(folder) = folder else { return Ok(()) };
    let mut output = Output::new();
    output.add("estimate.json", serde_json::to_string_pretty(&report)? + "\n");
    if let (Read::Image(measured), Some(pressed)) = (&read, press_at(&sensor, &object, &found.placement)?) {
        output.add_image(
            "estimate.png",
            &image::measured_and_simulated(measured, &sensor.render(&pressed.touch, 0)?.image, "fitted", 360),
        );
    }
    folder.commit(output, arguments.json)
}

fn unknowns(arguments: &Arguments, object: &Object) -> Vec<Unknown> {
    let is_sphere = matches!(object.surface.primitive(), Some(Primitive::Sphere { .. }));
    let mut unknowns = vec![Unknown::X, Unknown::Y, Unknown::Depth];
    if arguments.what == What::Shape {
        unknowns.push(Unknown::Scale);
    }
    if !is_sphere && arguments.yaw.is_none() {
        unknowns.push(Unknown::Yaw);
    }
    if arguments.tilt && !is_sphere {
        unknowns.extend([Unknown::TiltX, Unknown::TiltY]);
    }
    unknowns
}

/// The sensor without the noise of its camera, which a fit does not predict.
fn noiseless(arguments: &Arguments) -> anyhow::Result<Sensor> {
    let (mut spec, folder) = arguments.sensor.spec()?;
    if let Some(camera) = &mut spec.camera {
        camera.noise = None;
    }
    Ok(spec.build(folder)?)
}

/// Distance (m) beyond which the taxels of a table are those of another sensor.
const MAX_OFFSET_M: f64 = 10e-6;

fn read(path: &Path, sensor: &Sensor) -> anyhow::Result<Read> {
    let name = path.display().to_string();
    match path.extension().and_then(|end| end.to_str()) {
        Some("png") => {
            let bytes = std::fs::read(path).with_context(|| format!("{name}: the reading cannot be read"))?;
            Ok(Read::Image(FloatImage::from_png(&name, &bytes)?))
        }
        Some("csv") => {
            let text = std::fs::read_to_string(path).with_context(|| format!("{name}: the reading cannot be read"))?;
            Ok(Read::Taxels(taxels(&name, &text, sensor)?))
        }
        _ => bail!("`--reading` must be a .png image or a .csv table, got {name}"),
    }
}

fn taxels(name: &str, text: &str, sensor: &Sensor) -> anyhow::Result<Vec<f64>> {
    let mut lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let heads: Vec<&str> = lines.next().map_or("", |(_, line)| line).split(',').map(str::trim).collect();
    let find = |column: &str| heads.iter().position(|head| *head == column);
    let Some(column) = find("value_n") else {
        bail!("{name}: has no column `value_n` with the force on each taxel (N)");
    };
    let mut forces = Vec::new();
    for (index, line) in lines {
        let number = |at: usize| {
            let got = line.split(',').nth(at).map_or("", str::trim);
            let value = got.parse::<f64>().ok().filter(|value| value.is_finite());
            let key = heads[at];
            value.with_context(|| format!("{name}, line {}: `{key}` must be a finite number, got {got:?}", index + 1))
        };
        if let Some(taxel) = find("taxel").map(number).transpose()?
            && taxel != forces.len() as f64
        {
            bail!("{name}, line {}: `taxel` must be {}, got {taxel}: order the rows", index + 1, forces.len());
        }
        let center = sensor.taxels().centers().get(forces.len());
        for (key, axis) in [("x_m", 0), ("y_m", 1)] {
            let (at, is) = (find(key).map(number).transpose()?, center.map(|center| center[axis]));
            if let (Some(at), Some(is)) = (at, is)
                && (at - is).abs() > MAX_OFFSET_M
            {
                bail!(
                    "{name}, line {}: `{key}` is {at}, but taxel {} of sensor {:?} is at {is}: give the sensor that was read",
                    index + 1,
                    forces.len(),
                    sensor.name()
                );
            }
        }
        forces.push(number(column)?);
    }
    Ok(forces)
}

/// Name, value, unit and half width of the interval of each unknown, in the units of the command line.
fn rows(found: &Estimate) -> Vec<(&'static str, f64, &'static str, f64)> {
    let Placement { at_m: [x, y], depth_m, tilt_rad: [tilt_x, tilt_y], yaw_rad, scale } = found.placement;
    let row = |unknown: Unknown| match unknown {
        Unknown::X => ("x", x * 1e3, "mm", 1e3),
        Unknown::Y => ("y", y * 1e3, "mm", 1e3),
        Unknown::Depth => ("depth", depth_m * 1e3, "mm", 1e3),
        Unknown::TiltX => ("tilt_x", tilt_x.to_degrees(), "deg", 1f64.to_degrees()),
        Unknown::TiltY => ("tilt_y", tilt_y.to_degrees(), "deg", 1f64.to_degrees()),
        Unknown::Yaw => ("yaw", yaw_rad.to_degrees(), "deg", 1f64.to_degrees()),
        Unknown::Scale => ("scale", scale, "", 1.0),
    };
    let unknowns = found.standard_errors.iter().map(|(unknown, _)| *unknown);
    unknowns
        .map(|unknown| {
            let (name, value, unit, per_si) = row(unknown);
            let half = found.interval(unknown).map_or(f64::INFINITY, |[low, high]| 0.5 * (high - low) * per_si);
            (name, value, unit, half)
        })
        .collect()
}

fn report(arguments: &Arguments, sensor: &Sensor, found: &Estimate) -> Value {
    let estimates: serde_json::Map<String, Value> = rows(found)
        .into_iter()
        .map(|(name, value, unit, half)| {
            let key = if unit.is_empty() { name.to_owned() } else { format!("{name}_{unit}") };
            let interval = half.is_finite().then_some([value - half, value + half]);
            (key, json!({ "value": value, "interval_95": interval }))
        })
        .collect();
    json!({
        "sensor": sensor.name(),
        "object": arguments.object,
        "estimates": estimates,
        "rms": found.rms,
        "explained": found.explained,
        "converged": found.converged,
        "warnings": found.warnings,
    })
}

fn tell(arguments: &Arguments, sensor: &Sensor, found: &Estimate, read: &Read) {
    say(format!("{} on {}, from {}", arguments.object, sensor.name(), arguments.reading.display()));
    for (name, value, unit, half) in rows(found) {
        let within =
            if half.is_finite() { format!("± {} {unit}", short(half)) } else { "(not determined)".to_owned() };
        say(format!("  {name:<10} {} {unit} {within}", short(value)));
    }
    let unit = if matches!(read, Read::Image(_)) { "of 255" } else { "N" };
    say(format!("  residual   {} {unit} rms; intervals of 95 % from the residuals of the fit", short(found.rms)));
    found.warnings.iter().for_each(|warning| say(format!("  warning    {warning}")));
}
