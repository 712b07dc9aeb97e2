//! `dermis calibrate magnetic`: fits the magnets of a sensor to a recording of a probe: a table of their motion, or with a known
//! probe the places of magnets and chips.

use crate::calibrate::line;
use crate::console::{Overwrite, ResultFolder, say, say_json, short};
use crate::set::SetArguments;
use anyhow::bail;
use clap::ValueEnum;
use dermis::geometry::Vec2;
use dermis::geometry::quantity::{Angle, Length};
use dermis::object::ObjectSpec;
use dermis::output::Output;
use dermis::sensor::SensorSpec;
use dermis::sensor::calibration::{
    GeometryPrior, MagneticFitSettings, MagneticSample, MagneticScore, fit_magnetic, fit_magnetic_geometry,
};
use dermis::sensor::magnetic::TableGrid;
use dermis_research::magnetic_recording::MagneticRecording;
use serde_json::json;
use std::path::{Path, PathBuf};

#[derive(clap::Args)]
pub struct Arguments {
    /// CSV table of the probe: time in s; x, y, z in mm (z up); optionally the load, in newtons in a column `load_n`, otherwise in grams.
    #[arg(value_name = "PROBE.csv")]
    states: PathBuf,
    /// CSV table of the flux densities: time in s; x, y, z of each chip in µT.
    #[arg(value_name = "FIELD.csv")]
    field: PathBuf,
    /// The measured sensor, with magnets and magnetometers.
    #[arg(long, value_name = "NAME|FILE")]
    sensor: String,
    #[command(flatten)]
    set: SetArguments,
    /// The probe, as for `dermis press`: fits the places of magnets and chips, the remanence, the rotations of the chips and the
    /// stiffness of a skin that moves the magnets (a layer or springs) instead of a table of motions.
    #[arg(long, value_name = "SHAPE|FILE")]
    object: Option<String>,
    /// With `--object`: standard deviation of the places in the sensor file.
    #[arg(long, value_name = "LENGTH", default_value = "0.5mm", requires = "object")]
    position_sd: Length,
    /// With `--object`: standard deviation of the rotations of the chips in the sensor file.
    #[arg(long, value_name = "ANGLE", default_value = "3deg", requires = "object")]
    rotation_sd: Angle,
    /// With `--object`: relative standard deviation of the remanence in the sensor file.
    #[arg(long, value_name = "PART", default_value_t = 0.2, requires = "object")]
    strength_sd: f64,
    /// Height of first contact in the recording; by default the largest z.
    #[arg(long, allow_hyphen_values = true)]
    contact: Option<Length>,
    /// Number of nodes along x and y; by default one for every 3 mm of the places.
    #[arg(long, value_name = "N")]
    nodes: Option<usize>,
    /// Number of nodes along the depth, besides 0.
    #[arg(long, value_name = "N", default_value_t = 3)]
    depths: usize,
    /// Direction of the travel: 0,0,-1 for a press, a tangential one for a shear.
    #[arg(long, value_name = "X,Y,Z", default_value = "0,0,-1", allow_hyphen_values = true)]
    along: String,
    /// Travel in which loading changes to unloading, half of it; without it the table has no hysteresis.
    #[arg(long, allow_hyphen_values = true)]
    hysteresis: Option<Length>,
    /// Part of the recording that is kept out of the fit.
    #[arg(long, value_enum, default_value = "cycles")]
    keep_out: KeepOut,
    /// Write sensor.toml and fit.json into this folder.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    #[command(flatten)]
    overwrite: Overwrite,
    /// Print one JSON document.
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum KeepOut {
    /// Every second cycle; a cycle begins when the probe leaves its largest z.
    Cycles,
    /// One colour of a checkerboard of the places.
    Places,
    /// Nothing.
    None,
}

/// Maximum number of nodes along x and y.
const MAX_NODES: usize = 64;
/// Weight of the smoothness of the table.
const SMOOTHNESS: f64 = 0.3;

pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let result_folder = arguments.overwrite.open(arguments.out.as_deref())?;
    if let Some(width) = arguments.hysteresis.filter(|width| width.si() <= 0.0) {
        bail!(
            "`--hysteresis` must be a positive travel, got {} mm; leave it out for a table without",
            width.si() * 1e3
        );
    }
    let recording = MagneticRecording::read(&arguments.states, &arguments.field)?;
    let (spec, folder) = SensorSpec::find(&arguments.sensor)?;
    let spec = arguments.set.of_sensor(&spec)?;
    let (low, high) = recording.extent();
    let (middle, half) = ((low + high).truncate() * 0.5, (high - low).truncate() * 0.5);
    let contact_m = arguments.contact.map_or(high.z, Length::si);
    let travel_m = contact_m - low.z;
    if travel_m <= 0.0 {
        bail!("the probe never moves below the height of first contact, {} mm", short(contact_m * 1e3));
    }
    let used: Vec<bool> = match arguments.keep_out {
        KeepOut::Cycles => recording.cycles().iter().map(|cycle| cycle % 2 == 1).collect(),
        KeepOut::Places => recording.checkerboard().iter().map(|odd| !odd).collect(),
        KeepOut::None => vec![true; recording.probe_m.len()],
    };
    let samples = recording.samples(middle, contact_m);
    if let Some(object) = &arguments.object {
        return geometry(arguments, object, &spec, folder, &samples, &used, result_folder);
    }
    let along: Vec<f64> = arguments.along.split(',').filter_map(|part| part.trim().parse().ok()).collect();
    let Ok(along) = <[f64; 3]>::try_from(along) else {
        bail!("`--along` must be three numbers with commas between them, got {:?}", arguments.along);
    };
    if arguments.depths == 0 || arguments.depths > 200 || arguments.nodes.is_some_and(|nodes| nodes > MAX_NODES) {
        bail!("`--depths` must be 1 to 200 and `--nodes` at most {MAX_NODES}");
    }
    let spread = |half: f64| -> anyhow::Result<Vec<f64>> {
        if half < 1e-4 {
            return Ok(vec![0.0]);
        }
        let count = arguments.nodes.unwrap_or((2.0 * half / 3e-3).round() as usize + 1).max(2);
        if count > MAX_NODES {
            bail!(
                "the places of {} extend over {} mm, which is more than {MAX_NODES} nodes of 3 mm; x, y and z are in mm, or give `--nodes`",
                arguments.states.display(),
                short(2e3 * half)
            );
        }
        Ok((0..count).map(|i| half * (2.0 * i as f64 / (count - 1) as f64 - 1.0)).collect())
    };
    let Vec2 { x, y } = half;
    let depth = (0..=arguments.depths).map(|i| travel_m * i as f64 / arguments.depths as f64).collect();
    let settings = MagneticFitSettings {
        grid: TableGrid { x: spread(x)?, y: spread(y)?, depth },
        along,
        play_m: arguments.hysteresis.map(Length::si),
        smoothness: SMOOTHNESS,
    };
    let fit = fit_magnetic(&spec, folder, &samples, &used, &settings)?;
    let report = json!({
        "sensor": spec.name,
        "fitted": fit.fitted,
        "kept_out": fit.kept_out,
        "largest_displacement_m": fit.largest_m,
        "deepest_load_n": fit.load_newton,
    });
    if arguments.json {
        say_json(&report)?;
    } else {
        say(format!("{} from {} samples", spec.name, samples.len()));
        tell("fitted", &fit.fitted);
        fit.kept_out.iter().for_each(|score| tell("kept out", score));
        line("largest displacement", scaled(fit.largest_m, 1e3), "mm");
        fit.load_newton.into_iter().for_each(|load| line("load at the end", load, "N"));
    }
    if let Some(folder) = result_folder {
        let mut output = Output::new();
        output.add("sensor.toml", fit.spec.to_toml());
        output.add("fit.json", serde_json::to_string_pretty(&report)? + "\n");
        folder.commit(output, arguments.json)?;
    }
    Ok(())
}

/// Fits places, remanence, rotations and stiffness with a known probe.
fn geometry(
    arguments: &Arguments,
    object: &str,
    spec: &SensorSpec,
    folder: Option<&Path>,
    samples: &[MagneticSample],
    used: &[bool],
    result_folder: Option<ResultFolder>,
) -> anyhow::Result<()> {
    let prior = GeometryPrior {
        position_m: arguments.position_sd.si(),
        rotation_rad: arguments.rotation_sd.si(),
        strength: arguments.strength_sd,
    };
    if [prior.position_m, prior.rotation_rad, prior.strength].iter().any(|sd| !(*sd > 0.0 && sd.is_finite())) {
        bail!(
            "`--position-sd`, `--rotation-sd` and `--strength-sd` must be positive: they bound the differences from the sensor file"
        );
    }
    let probe = ObjectSpec::parse_flag(object, None)?.object(None, None)?;
    let fit = fit_magnetic_geometry(spec, folder, &probe, samples, used, &prior)?;
    let report = json!({
        "sensor": spec.name,
        "object": object,
        "described": fit.described,
        "fitted": fit.fitted,
        "kept_out": fit.kept_out,
        "geometry": fit.geometry,
        "stiffness": fit.stiffness,
    });
    if arguments.json {
        say_json(&report)?;
    } else {
        say(format!("{} from {} samples", spec.name, samples.len()));
        tell("described", &fit.described);
        tell("fitted", &fit.fitted);
        fit.kept_out.iter().for_each(|score| tell("kept out", score));
        for (what, places) in [("magnet", &fit.geometry.magnets_m), ("chip", &fit.geometry.chips_m)] {
            for (index, place) in places.iter().enumerate() {
                for (axis, estimate) in ["x", "y", "z"].iter().zip(place) {
                    line(&format!("{what} {index}, {axis}"), scaled(*estimate, 1e3), "mm");
                }
            }
        }
        for (index, angles) in fit.geometry.misalignments_rad.iter().enumerate() {
            for (axis, estimate) in ["x", "y", "z"].iter().zip(angles) {
                line(&format!("chip {index}, about {axis}"), scaled(*estimate, 1f64.to_degrees()), "deg");
            }
        }
        line("remanence", fit.geometry.strength, "of the sensor file");
        fit.stiffness.into_iter().for_each(|stiffness| line("stiffness", stiffness, "of the sensor file"));
    }
    let Some(folder) = result_folder else { return Ok(()) };
    let mut output = Output::new();
    output.add("sensor.toml", fit.spec.to_toml());
    output.add("fit.json", serde_json::to_string_pretty(&report)? + "\n");
    folder.commit(output, arguments.json)
}

fn scaled(estimate: dermis::sensor::calibration::Estimate, factor: f64) -> dermis::sensor::calibration::Estimate {
    dermis::sensor::calibration::Estimate { value: estimate.value * factor, ci95: estimate.ci95 * factor }
}

fn tell(name: &str, score: &MagneticScore) {
    let MagneticScore { samples, nrmse, sd_tesla, load_rmse_newton, load_sd_newton, .. } = score;
    say(format!(
        "  {name:<9} {samples} samples: error {} of the standard deviation of the change, {} µT (null model: 1)",
        short(*nrmse),
        short(sd_tesla * 1e6)
    ));
    if let (Some(rmse), Some(sd)) = (load_rmse_newton, load_sd_newton) {
        say(format!("            load from the field: error {} N (null model: {} N)", short(*rmse), short(*sd)));
    }
}
