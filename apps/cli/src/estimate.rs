//! `dermis estimate`: pose and size of an object from one reading.

mod near;

use crate::console::{Overwrite, ResultFolder, counter, say, say_json, short};
use crate::sensor::SensorArguments;
use anyhow::{Context, bail};
use clap::ValueEnum;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use dermis::estimate::{Estimate, Freedom, Measured, Placement, Unknown, estimate, press_at};
use dermis::geometry::Primitive;
use dermis::geometry::files::LengthUnit;
use dermis::geometry::limits::{MAX_IMAGE_BYTES, MAX_TABLE_BYTES};
use dermis::geometry::quantity::Angle;
use dermis::geometry::regular_file;
use dermis::image;
use dermis::object::ObjectSpec;
use dermis::output::Output;
use dermis::prelude::*;
use dermis::sensor::magnetic::{MagneticInverse, Magnetics};
use dermis::sensor::optics::FloatImage;
use dermis::sensor::{Pressed, calibration};
use serde_json::{Value, json};
use std::convert::Infallible;
use std::path::{Path, PathBuf};

/// Estimate where and how strongly an object touches a sensor, or its size, from one reading.
///
/// The simulated reading is fitted to the given one. The search starts where the reading shows a contact. The 95 % intervals follow from the
/// residuals of the fit and, of an image, from the error of a calibrated light; other errors of the sensor file come on top.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  dermis estimate pose --sensor gelsight --object indenter:moon --reading rgb.png --out out\n  dermis estimate pose --sensor gelsight --object indenter:moon --reading rgb.png --near 0.5mm,0mm,0.6mm,20deg\n  dermis estimate shape --sensor gelsight --object sphere:radius=3mm --reading rgb.png --json\n  dermis estimate contact --sensor anyskin --object sphere:radius=6mm --reading magnetometers.csv"
)]
pub struct Arguments {
    /// What is estimated besides position and depth.
    #[arg(value_parser = what())]
    what: What,
    /// Refused.
    #[arg(hide = true, value_parser = |_: &str| Err::<Infallible, _>("a reading is given as `--reading FILE`"))]
    _file: Option<Infallible>,
    #[command(flatten)]
    sensor: SensorArguments,
    /// The object, as for `dermis press`. A `contact` on a sensor with a measured `motion` of its magnets needs none.
    #[arg(long, value_name = "SHAPE|FILE")]
    object: Option<String>,
    /// Unit of the file: m, cm, mm or in.
    #[arg(long)]
    unit: Option<LengthUnit>,
    /// The reading: a PNG or JPEG image of the camera, or a CSV table with a column `value_n` (the force on the taxel before the response of the
    /// sensor) and a row for each taxel, or a CSV table with columns `bx_ut`, `by_ut`, `bz_ut` (µT, in the frame of the chip) and a row for
    /// each magnetometer, as `dermis press --out` writes them. Columns `taxel`, `chip`, `x_m` and `y_m` are checked; columns
    /// `rest_bx_ut`, `rest_by_ut`, `rest_bz_ut` are the reading at rest, by default that of the sensor file.
    #[arg(long, value_name = "FILE.png|FILE.jpg|FILE.csv")]
    reading: PathBuf,
    /// Also estimate the tilt.
    #[arg(long)]
    tilt: bool,
    /// The rotation about the sensor's z axis, if it is known.
    #[arg(long, allow_hyphen_values = true)]
    yaw: Option<Angle>,
    /// A press near that of the reading, such as 1mm,0mm,0.5mm,30deg,0deg,0deg, within about 1 mm and 10 degrees: all six freedoms of the
    /// pose are fitted from there. With `pose` only.
    #[arg(long, value_name = "X,Y,DEPTH[,YAW[,TILT_X,TILT_Y]]", allow_hyphen_values = true)]
    near: Option<near::Near>,
    /// Freedoms along or about the object's own axes that stay as `--near` has them, such as about-z of an object of revolution.
    #[arg(long, value_name = "FREEDOM,…", value_delimiter = ',', value_parser = near::freedom())]
    fixed: Vec<Freedom>,
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
    /// The rotation about the normal, unless the object is a sphere; with `--near` all six freedoms of the pose.
    Pose,
    /// The size: a factor for all lengths of the object; also the rotation, unless it is given or the object is a sphere.
    Shape,
    /// The tangential displacement after the press, and so the shear force, from magnetometers.
    Contact,
}

/// Reads what is estimated. Who looks for the material here is told where it is fitted.
fn what() -> impl TypedValueParser<Value = What> {
    let known = What::value_variants().iter().filter_map(What::to_possible_value);
    let names = PossibleValuesParser::new(known.chain([PossibleValue::new("material").hide(true)]));
    names.try_map(|name| {
        What::from_str(&name, false).map_err(|_| {
            "one reading does not tell it; `dermis calibrate material FILE.csv --sensor … --object …` fits it to depths and forces"
        })
    })
}

/// A reading from a file.
enum Read {
    Image(FloatImage),
    Taxels(Vec<f64>),
    /// Changes of the flux densities from rest (T).
    Chips(Vec<Vec3>),
}

pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    check_flags(arguments)?;
    let folder = arguments.overwrite.open(arguments.out.as_deref())?;
    let sensor = noiseless(arguments)?;
    let read = read(&arguments.reading, &sensor)?;
    let measured = match &read {
        Read::Image(image) => Measured::Image(image),
        Read::Taxels(forces) => Measured::Taxels(forces),
        Read::Chips(changes) => Measured::Magnetic(changes),
    };
    let table = sensor.magnetics().filter(|magnetics| magnetics.motion_table().is_some());
    if arguments.what == What::Contact {
        let Read::Chips(changes) = &read else {
            bail!("`contact` needs the flux densities of magnetometers: {} has none", arguments.reading.display());
        };
        if let Some(magnetics) = table {
            return contact_of_table(arguments, &sensor, magnetics, changes, folder);
        }
    }
    let Some(object) = &arguments.object else {
        bail!("`--object` is missing: only a contact on magnets with a measured `motion` needs none");
    };
    let object = ObjectSpec::parse_flag(object, arguments.unit)?.object(None, None)?;
    if let Some(near) = &arguments.near {
        return near::run(arguments, near, (&sensor, &object), (&read, measured), folder);
    }
    let known = Placement { yaw_rad: arguments.yaw.map_or(0.0, Angle::si), ..Placement::default() };
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
        tell_fit(arguments, (&sensor, &read), &rows(&found), found.rms, &found.warnings);
    }
    write(arguments, folder, &report, (&sensor, &read), || Ok(press_at(&sensor, &object, &found.placement)?))
}

/// Refuses flags that do not belong together.
fn check_flags(arguments: &Arguments) -> anyhow::Result<()> {
    let Some(_) = arguments.near else {
        anyhow::ensure!(
            arguments.fixed.is_empty(),
            "`--fixed` belongs to `--near`: give the press near that of the reading, such as `--near 1mm,0mm,0.5mm,30deg`"
        );
        return Ok(());
    };
    if arguments.what != What::Pose {
        bail!("`--near` belongs to `pose`: leave it out, or estimate the pose");
    }
    let other = [("tilt", arguments.tilt), ("yaw", arguments.yaw.is_some())].into_iter().find(|(_, given)| *given);
    if let Some((flag, _)) = other {
        bail!(
            "`--near` has its own angles and fits all of them: leave out `--{flag}`, write X,Y,DEPTH,YAW,TILT_X,TILT_Y, and hold what is known with `--fixed`"
        );
    }
    Ok(())
}

/// Writes the report and, of an image, a figure with the fitted press, where a folder is asked for.
fn write(
    arguments: &Arguments,
    folder: Option<ResultFolder>,
    report: &Value,
    (sensor, read): (&Sensor, &Read),
    fitted: impl FnOnce() -> anyhow::Result<Option<Pressed>>,
) -> anyhow::Result<()> {
    let Some(folder) = folder else { return Ok(()) };
    let mut output = Output::new();
    output.add("estimate.json", serde_json::to_string_pretty(report)? + "\n");
    if let Read::Image(measured) = read
        && let Some(pressed) = fitted()?
    {
        let fitted = sensor.render(&pressed.touch, 0)?.image;
        output.add_image("estimate.png", &image::measured_and_simulated(measured, &fitted, "fitted", 360));
    }
    folder.commit(output, arguments.json)
}

fn unknowns(arguments: &Arguments, object: &Object) -> Vec<Unknown> {
    let is_sphere = matches!(object.surface.primitive(), Some(Primitive::Sphere { .. }));
    let mut unknowns = vec![Unknown::X, Unknown::Y, Unknown::Depth];
    match arguments.what {
        What::Pose => (),
        What::Shape => unknowns.push(Unknown::Scale),
        What::Contact => unknowns.extend([Unknown::ShearX, Unknown::ShearY]),
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
        Some("png" | "jpg" | "jpeg") => {
            let bytes = regular_file::read(path, MAX_IMAGE_BYTES)
                .with_context(|| format!("{name}: the reading cannot be read"))?;
            Ok(Read::Image(FloatImage::from_png(&name, &bytes)?))
        }
        Some("csv") => {
            let text = regular_file::read_text(path, MAX_TABLE_BYTES)
                .with_context(|| format!("{name}: the reading cannot be read"))?;
            let heads = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
            if heads.split(',').any(|head| head.trim() == CHANNELS[0]) {
                return Ok(Read::Chips(chips(&name, &text, sensor)?));
            }
            Ok(Read::Taxels(taxels(&name, &text, sensor)?))
        }
        _ => bail!("`--reading` must be a .png or .jpg image or a .csv table, got {name}"),
    }
}

/// Columns of the flux density of a magnetometer, and of that at rest.
const CHANNELS: [&str; 3] = ["bx_ut", "by_ut", "bz_ut"];
const REST: [&str; 3] = ["rest_bx_ut", "rest_by_ut", "rest_bz_ut"];

fn taxels(name: &str, text: &str, sensor: &Sensor) -> anyhow::Result<Vec<f64>> {
    let table = Csv::new(name, text);
    let Some(column) = table.find("value_n") else {
        bail!("{name}: has no column `value_n` with the force on each taxel (N), nor `bx_ut` with a flux density (µT)");
    };
    let mut forces = Vec::new();
    for row in table.rows() {
        row.check("taxel", forces.len(), sensor.taxels().centers().get(forces.len()), sensor)?;
        forces.push(row.number(column)?);
    }
    Ok(forces)
}

/// The change of the flux density from rest (T) at each magnetometer.
fn chips(name: &str, text: &str, sensor: &Sensor) -> anyhow::Result<Vec<Vec3>> {
    let table = Csv::new(name, text);
    let find = |columns: [&str; 3]| -> anyhow::Result<[usize; 3]> {
        let find = |column: &str| table.find(column).with_context(|| format!("{name}: has no column `{column}`"));
        Ok([find(columns[0])?, find(columns[1])?, find(columns[2])?])
    };
    let (field, rest) = (find(CHANNELS)?, table.find(REST[0]).map(|_| find(REST)).transpose()?);
    let Some(magnetics) = sensor.magnetics() else {
        bail!(
            "{name}: has flux densities, but sensor {:?} has no magnetometers: give the sensor that was read",
            sensor.name()
        );
    };
    let places: Vec<Vec3> = magnetics.chips().collect();
    let mut changes = Vec::new();
    for row in table.rows() {
        let index = changes.len();
        row.check("chip", index, places.get(index), sensor)?;
        let vector = |[x, y, z]: [usize; 3]| {
            Ok::<_, anyhow::Error>(Vec3::new(row.number(x)?, row.number(y)?, row.number(z)?) * 1e-6)
        };
        let rest = match rest {
            Some(columns) => vector(columns)?,
            None => magnetics.rest().get(index).copied().unwrap_or_default(),
        };
        changes.push(vector(field)? - rest);
    }
    Ok(changes)
}

/// A table with heads.
struct Csv<'a> {
    name: &'a str,
    heads: Vec<&'a str>,
    lines: Vec<(usize, &'a str)>,
}

/// A row of a table.
struct Row<'a> {
    table: &'a Csv<'a>,
    index: usize,
    line: &'a str,
}

impl<'a> Csv<'a> {
    fn new(name: &'a str, text: &'a str) -> Self {
        let mut lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
        let heads = lines.next().map_or("", |(_, line)| line).split(',').map(str::trim).collect();
        Self { name, heads, lines: lines.collect() }
    }

    fn find(&self, column: &str) -> Option<usize> {
        self.heads.iter().position(|head| *head == column)
    }

    fn rows(&'a self) -> impl Iterator<Item = Row<'a>> {
        self.lines.iter().map(|(index, line)| Row { table: self, index: *index, line })
    }
}

impl Row<'_> {
    fn number(&self, column: usize) -> anyhow::Result<f64> {
        let got = self.line.split(',').nth(column).map_or("", str::trim);
        let value = got.parse::<f64>().ok().filter(|value| value.is_finite());
        let (name, key) = (self.table.name, self.table.heads[column]);
        value.with_context(|| format!("{name}, line {}: `{key}` must be a finite number, got {got:?}", self.index + 1))
    }

    /// Checks the number of a taxel or chip, and its place in the sensor (m).
    fn check(&self, what: &str, expected: usize, place: Option<&Vec3>, sensor: &Sensor) -> anyhow::Result<()> {
        let (name, line) = (self.table.name, self.index + 1);
        let value = |key: &str| self.table.find(key).map(|column| self.number(column)).transpose();
        if let Some(got) = value(what)?
            && got != expected as f64
        {
            bail!("{name}, line {line}: `{what}` must be {expected}, got {got}: order the rows");
        }
        for (key, axis) in [("x_m", 0), ("y_m", 1)] {
            if let (Some(at), Some(is)) = (value(key)?, place.map(|place| place[axis]))
                && (at - is).abs() > MAX_OFFSET_M
            {
                bail!(
                    "{name}, line {line}: `{key}` is {at}, but {what} {expected} of sensor {:?} is at {is}: give the sensor that was read",
                    sensor.name()
                );
            }
        }
        Ok(())
    }
}

/// The contact on magnets that move by a table, by the inverse of the table.
fn contact_of_table(
    arguments: &Arguments,
    sensor: &Sensor,
    magnetics: &Magnetics,
    changes: &[Vec3],
    folder: Option<ResultFolder>,
) -> anyhow::Result<()> {
    if let Some(object) = &arguments.object {
        bail!(
            "`--object {object}` is not used: the `motion` of sensor {:?} belongs to the probe that it was measured with",
            sensor.name()
        );
    }
    let found = MagneticInverse::new(magnetics).and_then(|inverse| inverse.estimate(changes)).with_context(|| {
        let (file, got, name) = (arguments.reading.display(), changes.len(), sensor.name());
        format!("{file}: has {got} magnetometers and sensor {name:?} has {}", magnetics.chips().len())
    })?;
    let presses = magnetics.motion_table().is_some_and(|table| table.along().z < -0.5);
    let force = if presses { "normal_force" } else { "shear_force" };
    let all = [
        ("x", Some(found.x_m), "mm", 1e3),
        ("y", Some(found.y_m), "mm", 1e3),
        ("depth", Some(found.travel_m), "mm", 1e3),
        ("side", Some(found.side), "", 1.0),
        (force, found.load_newton, "N", 1.0),
    ];
    let scaled = |(name, estimate, unit, factor): (_, Option<calibration::Estimate>, _, f64)| {
        estimate.map(|estimate| (name, estimate.value * factor, unit, estimate.ci95 * factor))
    };
    let rows: Vec<_> = all.into_iter().filter_map(scaled).collect();
    let report = json!({ "sensor": sensor.name(), "estimates": as_json(&rows), "misfit": found.misfit });
    if arguments.json {
        say_json(&report)?;
    } else {
        say(format!("contact on {}, from {}", sensor.name(), arguments.reading.display()));
        tell_rows(&rows);
        say(format!("  residual       {} standard deviations of the table; intervals of 95 %", short(found.misfit)));
    }
    let Some(folder) = folder else { return Ok(()) };
    let mut output = Output::new();
    output.add("estimate.json", serde_json::to_string_pretty(&report)? + "\n");
    folder.commit(output, arguments.json)
}

/// Name, value, unit and half width of the interval of a quantity, in the units of the command line. The half width is infinite if the
/// quantity is not determined, NaN if it is fixed, and −∞ if it has no interval.
type Quantity = (&'static str, f64, &'static str, f64);

/// All unknowns, and the force on the sensor.
fn rows(found: &Estimate) -> Vec<Quantity> {
    let Placement { at_m: [x, y], depth_m, tilt_rad: [tilt_x, tilt_y], yaw_rad, shear_m, scale } = found.placement;
    let row = |unknown: Unknown| match unknown {
        Unknown::X => ("x", x * 1e3, "mm", 1e3),
        Unknown::Y => ("y", y * 1e3, "mm", 1e3),
        Unknown::Depth => ("depth", depth_m * 1e3, "mm", 1e3),
        Unknown::TiltX => ("tilt_x", tilt_x.to_degrees(), "deg", 1f64.to_degrees()),
        Unknown::TiltY => ("tilt_y", tilt_y.to_degrees(), "deg", 1f64.to_degrees()),
        Unknown::Yaw => ("yaw", yaw_rad.to_degrees(), "deg", 1f64.to_degrees()),
        Unknown::ShearX => ("shear_x", shear_m[0] * 1e3, "mm", 1e3),
        Unknown::ShearY => ("shear_y", shear_m[1] * 1e3, "mm", 1e3),
        Unknown::Scale => ("scale", scale, "", 1.0),
    };
    let unknowns = found.standard_errors.iter().map(|(unknown, _)| *unknown);
    let values = unknowns.clone().map(|unknown| {
        let (name, value, unit, per_si) = row(unknown);
        let half = found.interval(unknown).map_or(f64::INFINITY, |[low, high]| 0.5 * (high - low) * per_si);
        (name, value, unit, half)
    });
    let sheared = unknowns.clone().any(|unknown| matches!(unknown, Unknown::ShearX | Unknown::ShearY));
    let forces = [("normal_force", 2, -1.0), ("shear_force_x", 0, 1.0), ("shear_force_y", 1, 1.0)];
    let force = |(name, axis, sign): (_, usize, f64)| {
        (name, sign * found.force_newton[axis], "N", found.quantile * found.force_errors_newton[axis])
    };
    values.chain(forces.into_iter().take(if sheared { 3 } else { 1 }).map(force)).collect()
}

fn as_json(rows: &[Quantity]) -> serde_json::Map<String, Value> {
    let entry = |&(name, value, unit, half): &Quantity| {
        let key = if unit.is_empty() { name.to_owned() } else { format!("{name}_{}", unit.to_lowercase()) };
        let interval = half.is_finite().then_some([value - half, value + half]);
        (key, json!({ "value": value, "interval_95": interval }))
    };
    rows.iter().map(entry).collect()
}

fn tell_rows(rows: &[Quantity]) {
    for (name, value, unit, half) in rows {
        let within = match *half {
            half if half.is_nan() => "(fixed)".to_owned(),
            half if half.is_finite() => format!("± {} {unit}", short(half)),
            f64::NEG_INFINITY => String::new(),
            _ => "(not determined)".to_owned(),
        };
        say(format!("  {:<14} {} {unit} {within}", name.replace('_', " "), short(*value)).trim_end());
    }
}

fn report(arguments: &Arguments, sensor: &Sensor, found: &Estimate) -> Value {
    json!({
        "sensor": sensor.name(),
        "object": arguments.object,
        "estimates": as_json(&rows(found)),
        "rms": found.rms,
        "explained": found.explained,
        "converged": found.converged,
        "warnings": found.warnings,
    })
}

fn tell_fit(arguments: &Arguments, (sensor, read): (&Sensor, &Read), rows: &[Quantity], rms: f64, warnings: &[String]) {
    let object = arguments.object.as_deref().unwrap_or_default();
    say(format!("{object} on {}, from {}", sensor.name(), arguments.reading.display()));
    tell_rows(rows);
    let (unit, from) = match read {
        Read::Image(_) if sensor.optics().is_some_and(|optics| optics.light_residual().is_some()) => {
            ("of 255", "the residuals of the fit and the error of the light")
        }
        Read::Image(_) => ("of 255", "the residuals of the fit"),
        Read::Taxels(_) => ("N", "the residuals of the fit"),
        Read::Chips(_) => ("µT", "the noise of the magnetometers, or the residuals where they are larger"),
    };
    say(format!("  residual       {} {unit} rms; intervals of 95 % from {from}", short(rms)));
    warnings.iter().for_each(|warning| say(format!("  warning        {warning}")));
}
