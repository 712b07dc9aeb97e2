//! `dermis characterise`: a virtual bench for any simulated sensor.

use crate::console::{Interrupt, Overwrite, progress, say, say_json};
use crate::sensor::SensorArguments;
use dermis::geometry::quantity::{Length, Time};
use dermis::output::Output;
use dermis::sensor::characterise::{Protocol, characterise};
use serde_json::json;
use std::path::PathBuf;

/// Measure a simulated sensor as on a bench: press a small indenter on every taxel, to increasing depths, several times.
#[derive(clap::Args)]
#[command(after_help = "Example:\n  dermis characterise --sensor wts0614 --out bench")]
pub struct Arguments {
    #[command(flatten)]
    sensor: SensorArguments,
    /// Diameter of the round indenter.
    #[arg(long, default_value = "2 mm")]
    indenter: Length,
    /// Maximum depth.
    #[arg(long, default_value = "1.4 mm")]
    depth: Length,
    /// Number of depth steps.
    #[arg(long, default_value_t = 7, value_parser = clap::value_parser!(u16).range(1..1000))]
    steps: u16,
    /// Presses per taxel.
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u16).range(1..1000))]
    presses: u16,
    /// Duration of the creep recording, on the middle taxel.
    #[arg(long, default_value = "10 s")]
    creep: Time,
    /// Write presses.csv and creep.csv into this folder.
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    #[command(flatten)]
    overwrite: Overwrite,
    /// Print the numbers of readings and the warnings as one JSON document.
    #[arg(long)]
    json: bool,
}

pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let folder = arguments.overwrite.folder(&arguments.out)?;
    let sensor = arguments.sensor.build()?;
    let steps = f64::from(arguments.steps);
    let depth_m = arguments.depth.si();
    let protocol = Protocol {
        indenter_m: arguments.indenter.si(),
        depths_m: (1..=arguments.steps).map(|i| depth_m * f64::from(i) / steps).collect(),
        presses: usize::from(arguments.presses),
        creep_taxels: vec![sensor.taxels().len() / 2],
        creep_depth_m: 0.6 * depth_m,
        creep_s: arguments.creep.si(),
        ..Protocol::default()
    };
    let interrupt = Interrupt::listen();
    let bar = progress("pressing every taxel", 1000);
    let bench = characterise(&sensor, &protocol, |done| {
        bar.set_position((done * 1000.0) as u64);
        !interrupt.came()
    });
    bar.finish_and_clear();
    interrupt.check("nothing is written")?;
    let bench = bench?;
    let (readings, taxels, creep) = (bench.presses.len(), sensor.taxels().len(), bench.creep.len());
    let warnings: Vec<String> = bench.warnings.iter().map(ToString::to_string).collect();
    if arguments.json {
        let sensor = sensor.name();
        let report = json!({ "sensor": sensor, "taxels": taxels, "readings": readings, "creep_readings": creep, "warnings": warnings });
        say_json(&report)?;
    } else {
        say(format!("{}: {readings} readings of {taxels} taxels, {creep} of creep", sensor.name()));
        warnings.iter().for_each(|warning| say(format!("  warning     {warning}")));
    }
    let mut output = Output::new();
    output.add("presses.csv", bench.presses_csv());
    output.add("creep.csv", bench.creep_csv());
    folder.commit(output, arguments.json)
}
