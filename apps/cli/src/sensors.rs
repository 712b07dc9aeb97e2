//! `dermis sensors`: lists the built-in sensors.

use crate::console::{say, say_document, say_json, short};
use dermis::sensor::{Sensor, SensorSpec, presets};
use serde_json::{Value, json};
use std::path::Path;

/// List the built-in sensors, or show one as TOML.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  dermis sensors\n  dermis sensors wts0614 > my-sensor.toml")]
pub struct Arguments {
    /// The sensor to show.
    name: Option<String>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    match &arguments.name {
        Some(name) => one(name, arguments.json),
        None => all(arguments.json),
    }
}

fn one(name: &str, json: bool) -> anyhow::Result<()> {
    if name.ends_with(".toml") {
        SensorSpec::read(Path::new(name))?;
        anyhow::bail!(
            "{name}: is a sensor file and reads well; `dermis sensors` shows presets, `dermis press --sensor {name}` presses it"
        );
    }
    let spec = presets::find(name)?;
    if json {
        return say_json(&spec);
    }
    say_document(presets::text(name).unwrap_or_default().trim_end());
    Ok(())
}

fn all(json: bool) -> anyhow::Result<()> {
    let built: Vec<(SensorSpec, Sensor)> = presets::names()
        .map(|name| -> anyhow::Result<_> {
            let spec = presets::find(name)?;
            let sensor = spec.build(None)?;
            Ok((spec, sensor))
        })
        .collect::<Result<_, _>>()?;
    if json {
        let rows: Vec<Value> = built.iter().map(|(spec, sensor)| as_json(spec, sensor)).collect();
        return say_json(&rows);
    }
    say(format!("{:<16} {:>6}  {:<16} {:<12} {}", "name", "taxels", "size (mm)", "stiffness", "description"));
    for (spec, sensor) in &built {
        let size = sensor.surface().bounds().size() * 1e3;
        let size = if size.z > 0.01 {
            format!("{:.0} × {:.0} × {:.0}", size.x, size.y, size.z)
        } else {
            format!("{:.1} × {:.1}", size.x, size.y)
        };
        let (name, taxels, what) = (&spec.name, sensor.taxels().len(), headline(&spec.description));
        say(format!("{name:<16} {taxels:>6}  {size:<16} {:<12} {what}", stiffness(sensor)));
    }
    say("\n`dermis sensors NAME` shows one; copy it to a .toml file to change it.");
    Ok(())
}

/// Stiffness (N/m) of the whole sensor under a flat object that covers it.
fn stiffness_newton_per_m(sensor: &Sensor) -> f64 {
    sensor.skin().fully_pressed().iter().map(|support| support.tangent.stiffness_normal).sum()
}

fn stiffness(sensor: &Sensor) -> String {
    format!("{} N/mm", short(stiffness_newton_per_m(sensor) * 1e-3))
}

/// The description up to the first full stop, colon or source.
fn headline(description: &str) -> String {
    let text = description.split_whitespace().collect::<Vec<_>>().join(" ");
    // The stop of an abbreviation does not end a sentence.
    let full_stop = |(at, _): &(usize, &str)| !["et al", "e.g", "i.e"].iter().any(|short| text[..*at].ends_with(short));
    let sentence = text.match_indices(". ").find(full_stop).map(|(at, _)| at);
    let end = [": ", ", as ", " (Moisio"].iter().filter_map(|stop| text.find(stop)).chain(sentence).min();
    text[..end.unwrap_or(text.len())].trim_end_matches('.').to_owned()
}

fn as_json(spec: &SensorSpec, sensor: &Sensor) -> Value {
    let size = sensor.surface().bounds().size();
    json!({
        "name": spec.name,
        "taxels": sensor.taxels().len(),
        "grid": sensor.taxels().size().map(|(rows, cols)| [rows, cols]),
        "size_m": [size.x, size.y, size.z],
        "area_m2": sensor.taxels().areas_m2().iter().sum::<f64>(),
        "max_depth_m": sensor.skin().max_depth_m(),
        "stiffness_n_per_m": stiffness_newton_per_m(sensor),
        "description": spec.description.split_whitespace().collect::<Vec<_>>().join(" "),
    })
}
