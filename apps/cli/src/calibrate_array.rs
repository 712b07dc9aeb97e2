//! `dermis calibrate taxels | spread | creep | sensor`: fits the response of an array to bench data.

use crate::bench_data::{Presses, read_creep, read_presses};
use crate::calibrate::write_fit;
use crate::calibrate_figures as figures;
use crate::console::{Overwrite, ResultFolder, say, say_json, short};
use crate::set::SetArguments;
use anyhow::Context;
use dermis::draw::Image;
use dermis::geometry::quantity::Length;
use dermis::sensor::calibration::{
    CreepFit, CreepTermFit, Estimate, Residual, TaxelLoads, TaxelsFit, fit_creep_record, fit_lines, fit_neighbours,
    fit_sensor,
};
use dermis::sensor::characterise::Bench;
use dermis::sensor::{ResponseSpec, Sensor, SensorSpec, Spread};
use serde_json::json;
use std::path::{Path, PathBuf};

/// Common arguments.
#[derive(clap::Args)]
pub struct Common {
    /// The measured sensor, as far as known: taxels, bits and force per count.
    #[arg(long, value_name = "NAME|FILE")]
    sensor: String,
    #[command(flatten)]
    set: SetArguments,
    /// Write sensor.toml (usable like a preset), fit.png and fit.json into this folder.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    #[command(flatten)]
    overwrite: Overwrite,
    /// Print one JSON document.
    #[arg(long)]
    json: bool,
}

/// Gain, threshold, curve and saturation of every taxel.
#[derive(clap::Args)]
pub struct Taxels {
    /// CSV file of presses, in the format of `dermis characterise`.
    presses: PathBuf,
    /// Diameter of the flat, round indenter.
    #[arg(long, default_value = "2 mm")]
    indenter: Length,
    #[command(flatten)]
    common: Common,
}

/// Point spread.
#[derive(clap::Args)]
pub struct SpreadArguments {
    /// CSV file of presses, in the format of `dermis characterise`.
    presses: PathBuf,
    /// Diameter of the flat, round indenter.
    #[arg(long, default_value = "2 mm")]
    indenter: Length,
    /// Size of the kernel, in taxels.
    #[arg(long, default_value_t = 3)]
    kernel: usize,
    #[command(flatten)]
    common: Common,
}

/// Drift under a constant load.
#[derive(clap::Args)]
pub struct CreepArguments {
    /// CSV file of creep, in the format of `dermis characterise`.
    creep: PathBuf,
    /// Number of time constants: 1 or 2.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u8).range(1..=2))]
    terms: u8,
    #[command(flatten)]
    common: Common,
}

/// The whole response.
#[derive(clap::Args)]
pub struct ArrayArguments {
    /// CSV file of presses, in the format of `dermis characterise`.
    presses: PathBuf,
    /// Diameter of the flat, round indenter.
    #[arg(long, default_value = "2 mm")]
    indenter: Length,
    /// CSV file of readings under a constant load.
    creep: PathBuf,
    /// Size of the spread's kernel, in taxels.
    #[arg(long, default_value_t = 3)]
    kernel: usize,
    #[command(flatten)]
    common: Common,
}

/// The sensor before the fit.
struct Base {
    spec: SensorSpec,
    sensor: Sensor,
    folder: Option<ResultFolder>,
}

impl Base {
    fn find(common: &Common) -> anyhow::Result<Self> {
        let result_folder = common.overwrite.open(common.out.as_deref())?;
        let (mut spec, folder) = SensorSpec::find(&common.sensor)?;
        if let Some(folder) = folder {
            spec = spec.with_files_in(folder);
        }
        let spec = common.set.of_sensor(&spec)?;
        let sensor = spec.build(None)?;
        Ok(Self { spec, sensor, folder: result_folder })
    }

    /// Prints the result and writes the description with the fitted response, the figure and the numbers.
    fn finish(
        mut self,
        common: &Common,
        response: ResponseSpec,
        report: &serde_json::Value,
        lines: &[String],
        figure: impl FnOnce() -> Image,
    ) -> anyhow::Result<()> {
        if common.json {
            say_json(report)?;
        } else {
            lines.iter().for_each(say);
        }
        if self.folder.is_none() {
            return Ok(());
        }
        self.spec.description = format!("{}, with its response fitted to bench data", self.spec.name);
        self.spec.name = format!("{}-fitted", self.spec.name);
        self.spec.response = response;
        // The written description must load.
        self.spec.build(None).context("the fitted sensor")?;
        write_fit(self.folder, common.json, report, Some(self.spec), figure)
    }
}

fn pm(estimate: Estimate) -> String {
    format!("{} ± {}", short(estimate.value), short(estimate.ci95))
}

fn residual_line(residual: &Residual) -> String {
    format!(
        "  residual      {} counts rms at pressed taxels, {} at the others, when the written sensor is pressed alike",
        short(residual.pressed_counts),
        short(residual.neighbours_counts)
    )
}

/// Gain, threshold, curve and saturation.
fn taxel_lines(fit: &TaxelsFit) -> Vec<String> {
    let list = |values: Vec<f64>| {
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        let low = values.iter().copied().fold(f64::INFINITY, f64::min);
        format!("{} on average, from {} to {}", short(mean), short(low), short(values.into_iter().fold(0.0, f64::max)))
    };
    let gains = fit.taxels.iter().map(|taxel| taxel.gain_counts_per_newton.value).collect();
    let thresholds = fit.taxels.iter().map(|taxel| taxel.threshold_newton.value).collect();
    let mut lines = vec![
        format!("  gain          counts/N: {}", list(gains)),
        format!("  threshold     N: {}", list(thresholds)),
        format!("  curve         {:?}, explains {:.2} % of readings outside the fit", fit.shape, 100.0 * fit.explained),
        format!(
            "  saturation    {}",
            fit.saturation_counts.map_or("not reached".into(), |c| format!("{} counts", short(c)))
        ),
    ];
    let temperature = |change| format!("  temperature   {} of the gain per kelvin above the reference", pm(change));
    lines.extend(fit.gain_per_kelvin.map(temperature));
    lines
}

/// A bench without creep, and what is doubtful about it.
fn presses(path: &Path, sensor: &Sensor) -> anyhow::Result<(Bench, Vec<String>)> {
    let Presses { rows, warnings } = read_presses(path, sensor)?;
    Ok((Bench { presses: rows, ..Bench::default() }, warnings))
}

/// A doubt about rests, of a sensor that creeps.
fn doubt_of_rests(loads: &TaxelLoads<'_>, base: &Base) -> Option<String> {
    loads.doubt_of_rests().filter(|_| !base.spec.response.creep.is_empty())
}

fn warning_line(warning: &String) -> String {
    format!("  warning: {warning}")
}

pub fn taxels(arguments: &Taxels) -> anyhow::Result<()> {
    let base = Base::find(&arguments.common)?;
    let named = || arguments.presses.display().to_string();
    let (bench, mut warnings) = presses(&arguments.presses, &base.sensor)?;
    let loads = TaxelLoads::new(&base.sensor, &bench, arguments.indenter.si()).with_context(named)?;
    let fit = fit_lines(&loads, &base.spec.response, None).with_context(named)?;
    let response = fit.response(&base.spec.response);
    let residual = loads.residual(&response)?;
    let mut lines = vec![format!("{} taxels (± is the half-width of a 95 % interval)", fit.taxels.len())];
    lines.extend(taxel_lines(&fit));
    lines.push(residual_line(&residual));
    warnings.extend(doubt_of_rests(&loads, &base));
    lines.extend(warnings.iter().map(warning_line));
    // For the figure, against the force of the indenter.
    let alone = ResponseSpec { spread: None, ..base.spec.response.clone() };
    let direct = fit_lines(&loads, &alone, Some(fit.shape)).with_context(named)?;
    let report = json!({ "fit": fit, "residual": residual, "warnings": warnings });
    base.finish(&arguments.common, response, &report, &lines, || {
        figures::page(figures::of_taxels(&direct, &figures::by_force(&bench.presses, direct.taxels.len()), "Force (N)"))
    })
}

pub fn spread(arguments: &SpreadArguments) -> anyhow::Result<()> {
    let base = Base::find(&arguments.common)?;
    let named = || arguments.presses.display().to_string();
    let (bench, mut warnings) = presses(&arguments.presses, &base.sensor)?;
    let loads = TaxelLoads::new(&base.sensor, &bench, arguments.indenter.si()).with_context(named)?;
    let kept = ResponseSpec { spread: None, ..base.spec.response.clone() };
    let lines = fit_lines(&loads, &kept, None).with_context(named)?;
    let fit = fit_neighbours(&loads, &lines, &kept, arguments.kernel).with_context(named)?;
    let response = loads.with_spread(&base.spec.response, Spread::gaussian(fit.sigma_taxels.value, fit.kernel))?;
    let residual = loads.residual(&response)?;
    warnings.extend(doubt_of_rests(&loads, &base));
    let mut lines = vec![
        format!("spread from {} neighbours (± is the half-width of a 95 % interval)", fit.points),
        format!("  sigma         {} taxels, kernel {} × {}", pm(fit.sigma_taxels), fit.kernel, fit.kernel),
        format!("  residual      {} rms of the ratio to a direct press", short(fit.rms)),
        residual_line(&residual),
        "  (the gains are scaled so that a directly pressed taxel reads as before)".into(),
    ];
    lines.extend(warnings.iter().map(warning_line));
    let report = json!({ "fit": fit, "residual": residual, "warnings": warnings });
    base.finish(&arguments.common, response, &report, &lines, || figures::page([figures::of_spread(&fit)]))
}

const NO_CREEP: &str = "  creep         none found in the readings under a constant load";

pub fn creep(arguments: &CreepArguments) -> anyhow::Result<()> {
    let base = Base::find(&arguments.common)?;
    let rows = read_creep(&arguments.creep)?;
    let load_newton = base.spec.response.inverse(base.sensor.taxels().len())?;
    let fit = fit_creep_record(&rows, usize::from(arguments.terms), &load_newton)
        .with_context(|| arguments.creep.display().to_string())?;
    let creep = fit.as_ref().map(CreepFit::stages).unwrap_or_default();
    let response = ResponseSpec { creep, ..base.spec.response.clone() };
    let mut lines = vec![format!("creep from {} readings (± is the half-width of a 95 % interval)", rows.len())];
    match &fit {
        None => lines.push(NO_CREEP.into()),
        Some(fit) => {
            let term = |t: &CreepTermFit| {
                format!("  amplitude {} of the load, time constant {} s", pm(t.amplitude), pm(t.time_s))
            };
            lines.extend(fit.terms.iter().map(term));
            lines.push(format!("  residual  {} of the load, rms", short(fit.rms / fit.at_once.value)));
        }
    }
    base.finish(&arguments.common, response, &json!({ "fit": fit }), &lines, || {
        figures::page([figures::of_creep(&rows, fit.as_ref(), &load_newton)])
    })
}

pub fn sensor(arguments: &ArrayArguments) -> anyhow::Result<()> {
    let base = Base::find(&arguments.common)?;
    let (bench, mut warnings) = presses(&arguments.presses, &base.sensor)?;
    let bench = Bench { creep: read_creep(&arguments.creep)?, ..bench };
    let named = || format!("{} and {}", arguments.presses.display(), arguments.creep.display());
    let loads = TaxelLoads::new(&base.sensor, &bench, arguments.indenter.si()).with_context(named)?;
    let fit = fit_sensor(&loads, &base.spec.response, arguments.kernel).with_context(named)?;
    let mut lines = vec![format!(
        "sensor with {} taxels from {} rows (± is the half-width of a 95 % interval)",
        fit.taxels.taxels.len(),
        fit.rows
    )];
    lines.extend(taxel_lines(&fit.taxels));
    lines.extend([
        match (&fit.spread, fit.response(true).spread) {
            (Some(spread), _) => format!("  spread        sigma {} taxels", pm(spread.sigma_taxels)),
            (None, Some(_)) => "  spread        as before: the neighbours of the pressed taxels read nothing".into(),
            (None, None) => "  spread        none found beyond that of the skin".into(),
        },
        match fit.hysteresis {
            eta if eta.ci95.is_finite() => format!("  hysteresis    {} of the load", pm(eta)),
            _ => "  hysteresis    not determined: no row unloads".into(),
        },
        fit.creep.as_ref().map_or(NO_CREEP.into(), |creep| {
            let term = creep.terms[0];
            format!("  creep         {} of the load, time constant {} s", pm(term.amplitude), pm(term.time_s))
        }),
        format!("  noise         {} counts", pm(fit.noise_counts)),
        format!("  stiffness     {} N/m under the indenter", pm(fit.stiffness.newton_per_m)),
        residual_line(&fit.residual),
    ]);
    warnings.extend(fit.warnings.iter().cloned());
    lines.extend(warnings.iter().map(warning_line));
    let loops = fit.loop_points(&loads)?;
    let report = json!({ "fit": fit, "warnings": warnings });
    let response = fit.response(true);
    base.finish(&arguments.common, response, &report, &lines, || {
        figures::page(figures::of_sensor(&fit, &bench, &loops))
    })
}
