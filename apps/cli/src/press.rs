//! `dermis press`: presses an object on a sensor.

use crate::console::{Overwrite, say, say_json, say_verbose, short};
use crate::sensor::SensorArguments;
use dermis::camera_frame;
use dermis::geometry::files::LengthUnit;
use dermis::geometry::quantity::{Angle, Force, Length};
use dermis::gpu::{Choice, GelSkin};
use dermis::image;
use dermis::magnetic_figure;
use dermis::object::{ObjectSpec, RoughnessSpec};
use dermis::output::Output;
use dermis::prelude::*;
use dermis::sensor::Pressed;
use dermis::sensor::magnetic::Magnetics;
use serde_json::{Value, json};
use std::fmt::Write;
use std::path::PathBuf;
use std::str::FromStr;

/// Press an object on a sensor and report the reading.
#[derive(clap::Args)]
#[command(group = clap::ArgGroup::new("goal").required(true).args(["depth", "force"]))]
#[command(
    after_help = "Examples:\n  dermis press --sensor wts0614 --object sphere:radius=10mm --force 3N\n  dermis press --sensor gelsight --object indenter:moon --depth 0.5mm --out out"
)]
pub struct Arguments {
    #[command(flatten)]
    sensor: SensorArguments,
    /// A shape (`sphere:radius=10mm`, `cuboid:size=20mm,20mm,10mm`, `indenter:moon`, or a bare name), points with a radius
    /// (`points:scan.xyz,radius=0.2mm`) or a mesh file.
    #[arg(long, value_name = "SHAPE|FILE")]
    object: String,
    /// Unit of the file: m, cm, mm or in.
    #[arg(long)]
    unit: Option<LengthUnit>,
    /// Surface roughness of the object, such as rms=20um,wavelength=0.5mm,scratches=5,seed=1; smooth by default.
    #[arg(long, value_name = "KEY=VALUE,…")]
    roughness: Option<RoughnessSpec>,
    /// Depth past first contact, such as 1mm.
    #[arg(long, allow_hyphen_values = true)]
    depth: Option<Length>,
    /// Normal force, such as 3N.
    #[arg(long, allow_hyphen_values = true)]
    force: Option<Force>,
    /// Position on the sensor, such as 5mm,-3mm; by default its centre.
    #[arg(long, value_name = "X,Y", value_parser = pair::<Length>, allow_hyphen_values = true)]
    at: Option<(Length, Length)>,
    /// Tilt about the sensor's x axis and then its y axis, such as 5deg,0deg.
    #[arg(long, value_name = "X[,Y]", value_parser = pair_or_one, allow_hyphen_values = true)]
    tilt: Option<(Angle, Angle)>,
    /// Rotation about the sensor's z axis.
    #[arg(long, allow_hyphen_values = true)]
    yaw: Option<Angle>,
    /// Tangential displacement after the press, such as 0.5mm,0mm: friction shears the skin.
    #[arg(long, value_name = "X,Y", value_parser = pair::<Length>, allow_hyphen_values = true)]
    shear: Option<(Length, Length)>,
    /// Compute device for a gel: cuda (an NVIDIA GPU), cpu, or auto (a GPU if there is one). Single presses of other skins run on the
    /// CPU only; Python's `press_batch` runs batches on a GPU.
    #[arg(long, value_name = "auto|cpu|cuda", default_value_t = Choice::Auto)]
    device: Choice,
    /// Write tactile.png, scene.png, reading.json and taxels.csv into this folder; for an optical sensor also rgb.png, depth.png and
    /// .npy, normals.png and .npy, flow.npy, markers.csv and .npy, and camera.png; for a sensor with magnets also magnetometers.csv and
    /// magnetic.png.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    #[command(flatten)]
    overwrite: Overwrite,
    /// Print one JSON document.
    #[arg(long)]
    json: bool,
}

pub fn pair<T: FromStr<Err: std::fmt::Display>>(text: &str) -> Result<(T, T), String> {
    let (x, y) = text.split_once(',').ok_or("two values with a comma between them are needed")?;
    Ok((x.parse().map_err(|e: T::Err| e.to_string())?, y.parse().map_err(|e: T::Err| e.to_string())?))
}

fn pair_or_one(text: &str) -> Result<(Angle, Angle), String> {
    if text.contains(',') {
        return pair(text);
    }
    Ok((text.parse().map_err(|e| format!("{e}"))?, Angle::new(0.0)))
}

pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let folder = arguments.overwrite.open(arguments.out.as_deref())?;
    let sensor = on_device(arguments.sensor.build()?, arguments.device)?;
    let object =
        ObjectSpec::parse_flag(&arguments.object, arguments.unit)?.object(None, arguments.roughness.as_ref())?;
    let (x, y) = arguments.at.unwrap_or((Length::new(0.0), Length::new(0.0)));
    let (tilt_x, tilt_y) = arguments.tilt.unwrap_or((Angle::new(0.0), Angle::new(0.0)));
    let aim = Aim {
        at_m: [x.si(), y.si()],
        tilt_rad: [tilt_x.si(), tilt_y.si()],
        yaw_rad: arguments.yaw.map_or(0.0, Angle::si),
    };
    let goal = match (arguments.depth, arguments.force) {
        (Some(depth), _) => Goal::Depth(depth.si()),
        (None, Some(force)) => Goal::Force(force.si()),
        (None, None) => anyhow::bail!("give --depth or --force"),
    };
    let mut pressed = press(&sensor, &object, &aim, goal)?;
    if let Some((x, y)) = arguments.shear {
        pressed = pressed.sheared(&sensor, &object, [x.si(), y.si()], goal)?;
    }
    // Renders only what is to be written; for a skin without a surface that is an error.
    let written = sensor.optics().filter(|_| arguments.out.is_some());
    let seen = written.map(|optics| Ok::<_, anyhow::Error>((optics, sensor.render(&pressed.touch, 0)?))).transpose()?;
    let mut warnings = pressed.touch.warning_texts();
    warnings.extend(match &seen {
        Some((optics, frame)) => optics.warning(&frame.relief),
        None => sensor.camera_warning(&pressed.touch),
    });
    let mut report = as_json(&sensor, &arguments.object, &pressed);
    report["warnings"] = json!(warnings);
    if arguments.json {
        say_json(&report)?;
    } else {
        tell(&sensor, &arguments.object, &pressed);
        warnings.iter().for_each(|warning| say(format!("  warning     {warning}")));
    }
    if let Some(folder) = folder {
        let mut output = Output::new();
        let title = format!("{} N at {} mm", short(-pressed.touch.on_sensor.force.z), short(pressed.depth_m * 1e3));
        let heading = format!("{} on {}: {title}", arguments.object, sensor.name());
        let (mesh, pose) = (object.surface.mesh(), &pressed.sensor_from_object);
        output.add_image("tactile.png", &image::load_and_report(&sensor, &pressed.reading, &title));
        output.add_image("scene.png", &image::press_view(&sensor, &pressed.reading, mesh, pose, &heading));
        output.add("reading.json", serde_json::to_string_pretty(&report)? + "\n");
        output.add("taxels.csv", taxels_csv(&sensor, &pressed.reading));
        if let (Some(magnetics), Some(field)) = (sensor.magnetics(), &pressed.reading.magnetic_tesla) {
            output.add("magnetometers.csv", magnetometers_csv(magnetics, field));
            output.add_image(
                "magnetic.png",
                &magnetic_figure::cut(magnetics, &pressed.touch, &[(mesh, *pose)], &heading),
            );
        }
        if let (Some((_, frame)), Ok((optics, surface))) = (&seen, sensor.camera_view(&pressed.touch)) {
            camera_frame::add(&mut output, optics, &surface, frame, &heading);
        }
        folder.commit(output, arguments.json)?;
    }
    Ok(())
}

/// Moves the gel of a sensor to a GPU, if requested and available.
fn on_device(sensor: Sensor, choice: Choice) -> anyhow::Result<Sensor> {
    let gel = match (GelSkin::of(&sensor), choice) {
        (_, Choice::Cpu) | (None, Choice::Auto) => return Ok(sensor),
        (None, Choice::Cuda) => anyhow::bail!(
            "sensor {:?} has no gel; single presses of other skins run on the CPU only: omit `--device cuda`, or use press_batch in \
             Python for batches",
            sensor.name()
        ),
        (Some(gel), _) => gel,
    };
    let Some(gpu) = choice.gpu(|error| say_verbose(format!("{error}; the gel runs on the CPU")))? else {
        return Ok(sensor);
    };
    Ok(gel.on(&gpu, &sensor)?)
}

fn peak(reading: &Reading) -> (usize, f64) {
    let better = |best: (usize, f64), (i, &value): (usize, &f64)| if value > best.1 { (i, value) } else { best };
    reading.values_newton.iter().enumerate().fold((0, 0.0), better)
}

fn as_json(sensor: &Sensor, object: &str, pressed: &Pressed) -> Value {
    let Pressed { reading, touch, .. } = pressed;
    let mut report = json!({
        "sensor": sensor.name(),
        "object": object,
        "depth_m": pressed.depth_m,
        "force_n": -touch.on_sensor.force.z,
        "sum_n": reading.sum_newton,
        "on_sensor_n": touch.on_sensor.force.to_array(),
        "active": reading.active(),
        "peak_n": peak(reading).1,
        "reported_active": reading.reporting(),
        "reported_sum_n": reading.reported_newton.iter().sum::<f64>(),
        "reported_n": reading.reported_newton,
        "area_m2": touch.area_m2(),
        "saturated": reading.saturated,
        "kinetic_by_strain_energy": touch.energy.map(|energy| energy.ratio()),
        "strain_energy_j": touch.energy.map(|energy| energy.strain_j),
        "outside_n": reading.outside_newton.to_array(),
        "values_n": reading.values_newton,
        "raw": reading.raw,
        "size": reading.size.map(|(rows, cols)| [rows, cols]),
    });
    if let (Some(magnetics), Some(field)) = (sensor.magnetics(), &reading.magnetic_tesla) {
        let microtesla = |field: &[Vec3]| json!(field.iter().map(|b| (*b * 1e6).to_array()).collect::<Vec<_>>());
        report["magnetic_ut"] = microtesla(field);
        report["magnetic_rest_ut"] = microtesla(magnetics.rest());
    }
    report
}

fn tell(sensor: &Sensor, object: &str, pressed: &Pressed) {
    let Pressed { reading, touch, .. } = pressed;
    let (index, value) = peak(reading);
    let place = match reading.size {
        Some((_, cols)) => format!("taxel {index} (row {}, column {})", index / cols, index % cols),
        None => format!("taxel {index}"),
    };
    let at = sensor.taxels().centers().get(index).copied().unwrap_or_default() * 1e3;
    let load = touch.on_sensor.force;
    let reported: f64 = reading.reported_newton.iter().sum();
    let report = match reading.reporting() {
        0 => "0 N: no taxel exceeds the threshold of the sensor".to_owned(),
        1 => format!("{} N on 1 taxel", short(reported)),
        count => format!("{} N on {count} taxels", short(reported)),
    };
    say(format!("{object} on {}", sensor.name()));
    say(format!("  force       {} N (taxels sum to {} N)", short(-load.z), short(reading.sum_newton)));
    for difference in differences(reading, -load.z) {
        say(format!("              {difference}"));
    }
    if load.truncate().length() > 1e-3 * load.z.abs() {
        let [x, y] = [load.x, load.y].map(|part| short(if part.abs() < 1e-4 * load.length() { 0.0 } else { part }));
        say(format!("  tangential  fx {x} N, fy {y} N on the sensor"));
    }
    say(format!("  depth       {} mm", short(pressed.depth_m * 1e3)));
    say(format!(
        "  contact     {} mm²; {} of {} taxels active (at least 1 % of the peak)",
        short(touch.area_m2() * 1e6),
        reading.active(),
        sensor.taxels().len()
    ));
    if reading.active() > 0 {
        say(format!("  peak        {} N at {place}, x {} mm, y {} mm", short(value), short(at.x), short(at.y)));
    }
    say(format!("  reported    {report}"));
    if let (Some(magnetics), Some(field)) = (sensor.magnetics(), &reading.magnetic_tesla) {
        for (chip, (b, rest)) in field.iter().zip(magnetics.rest()).enumerate() {
            let text = |b: Vec3| (b * 1e6).to_array().map(short).join(", ");
            say(format!("  chip {chip:<6} {} µT; change from rest {} µT", text(*b), text(*b - *rest)));
        }
    }
    if let Some(energy) = touch.energy {
        let ratio = if energy.kinetic_j > 0.0 { short(energy.ratio()) } else { "0 (at rest)".to_owned() };
        say(format!("  energy      {} µJ of strain; kinetic by strain {ratio}", short(energy.strain_j * 1e6)));
    }
}

/// Relative difference between the force on a sensor and the sum of its taxels that has an explanation.
const DIFFERENCE: f64 = 2e-3;

/// Why the taxels do not sum to the force along −z of the sensor: each reads the load along its own normal, and a part of the load may
/// act beside all taxels.
fn differences(reading: &Reading, force_newton: f64) -> Vec<String> {
    let mut texts = Vec::new();
    if (reading.sum_newton - force_newton).abs() <= DIFFERENCE * force_newton.abs() {
        return texts;
    }
    let on_taxels: f64 = reading.forces_newton.iter().map(|force| force.length()).sum();
    if (on_taxels - reading.sum_newton).abs() > DIFFERENCE * on_taxels {
        texts.push(format!(
            "of {} N on the taxels, {} N ({} %) are normal to them, which is what they read; the force above is along −z of the sensor",
            short(on_taxels),
            short(reading.sum_newton),
            short(100.0 * reading.sum_newton / on_taxels)
        ));
    } else {
        texts.push("each taxel reads the load along its own normal; the force is along −z of the sensor".to_owned());
    }
    let beside = -reading.outside_newton.z;
    if beside.abs() > DIFFERENCE * force_newton.abs() {
        texts.push(format!("{} N act beside the taxels", short(beside)));
    }
    texts
}

fn taxels_csv(sensor: &Sensor, reading: &Reading) -> String {
    let mut text = String::from("taxel,x_m,y_m,z_m,fx_n,fy_n,fz_n,value_n,raw,reported_n\n");
    for (i, (at, force)) in sensor.taxels().centers().iter().zip(&reading.forces_newton).enumerate() {
        let (value, raw, reported) = (reading.values_newton[i], reading.raw[i], reading.reported_newton[i]);
        let _ = writeln!(
            text,
            "{i},{},{},{},{},{},{},{value},{raw},{reported}",
            at.x, at.y, at.z, force.x, force.y, force.z
        );
    }
    text
}

fn magnetometers_csv(magnetics: &Magnetics, field: &[Vec3]) -> String {
    let mut text = String::from("chip,x_m,y_m,z_m,bx_ut,by_ut,bz_ut,rest_bx_ut,rest_by_ut,rest_bz_ut\n");
    for (chip, ((at, field), rest)) in magnetics.chips().zip(field).zip(magnetics.rest()).enumerate() {
        let values =
            [at, *field * 1e6, *rest * 1e6].map(|vector| vector.to_array().map(|part| part.to_string()).join(","));
        let _ = writeln!(text, "{chip},{}", values.join(","));
    }
    text
}
