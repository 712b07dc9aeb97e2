//! `dermis calibrate taxels | spread | creep | sensor`: fits the response of an array to bench data.

use crate::bench_data::{read_creep, read_presses};
use crate::calibrate::write_fit;
use crate::console::{probe, say, say_json, short};
use anyhow::Context;
use dermis::draw::{FigurePage, Image, Marker, PALETTE, Plot, Series};
use dermis::geometry::quantity::{Force, Time};
use dermis::sensor::calibration::{
    Estimate, TaxelsFit, fit_creep, fit_lines, fit_neighbours, fit_sensor, own_readings,
};
use dermis::sensor::characterise::Bench;
use dermis::sensor::response::{Creep, Gain, PerTaxel, Saturation, Stage, Threshold, ThresholdKind};
use dermis::sensor::{ResponseSpec, Sensor, SensorSpec, Spread};
use serde_json::json;
use std::path::PathBuf;

/// Common arguments.
#[derive(clap::Args)]
pub struct Common {
    /// The measured sensor, as far as known: taxels, bits and force per count.
    #[arg(long, value_name = "NAME|FILE")]
    sensor: String,
    /// Write sensor.toml (usable like a preset), fit.png and fit.json into this folder.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Print one JSON document.
    #[arg(long)]
    json: bool,
}

/// Gain, threshold, curve and saturation of every taxel.
#[derive(clap::Args)]
pub struct Taxels {
    /// CSV file of presses, in the format of `dermis characterise`.
    presses: PathBuf,
    #[command(flatten)]
    common: Common,
}

/// Point spread.
#[derive(clap::Args)]
pub struct SpreadArguments {
    /// CSV file of presses, in the format of `dermis characterise`.
    presses: PathBuf,
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
}

impl Base {
    fn find(common: &Common) -> anyhow::Result<Self> {
        probe(common.out.as_deref())?;
        let (spec, folder) = SensorSpec::find(&common.sensor)?;
        let sensor = spec.build(folder)?;
        Ok(Self { spec, sensor })
    }

    fn newton_per_count(&self) -> f64 {
        self.spec.response.force_per_count.si()
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
        if common.out.is_none() {
            return Ok(());
        }
        self.spec.description = format!("{}, with its response fitted to bench data", self.spec.name);
        self.spec.name = format!("{}-fitted", self.spec.name);
        self.spec.response = response;
        // The written description must load.
        self.spec.build(None).context("the fitted sensor")?;
        write_fit(&common.out, common.json, report, Some(self.spec), figure)
    }
}

fn pm(estimate: Estimate) -> String {
    format!("{} ± {}", short(estimate.value), short(estimate.ci95))
}

pub fn taxels(arguments: &Taxels) -> anyhow::Result<()> {
    let base = Base::find(&arguments.common)?;
    let named = || arguments.presses.display().to_string();
    let bench = Bench { presses: read_presses(&arguments.presses)?, creep: Vec::new() };
    let counts = *base.sensor.response();
    let fit = fit_lines(&bench, base.sensor.taxels(), counts).with_context(named)?;
    let readings = own_readings(&bench, base.sensor.taxels())?;
    let unit = base.newton_per_count();
    let gains: Vec<f64> = fit.taxels.iter().map(|t| t.gain_counts_per_newton.value * unit).collect();
    let top = bench.presses.iter().map(|row| row.force_newton).fold(0.0, f64::max);
    let response = ResponseSpec {
        gain: Some(Gain { gain: PerTaxel::Each(gains.clone()), ..Gain::default() }),
        threshold: Some(Threshold {
            force: PerTaxel::Each(
                fit.taxels
                    .iter()
                    .zip(&gains)
                    .map(|(t, g)| Force::new((g * t.threshold_newton.value).max(0.0)))
                    .collect(),
            ),
            kind: ThresholdKind::DeadBand,
        }),
        curve: Some(fit.rising_curve(unit, top * gains.iter().copied().fold(0.0, f64::max)))
            .filter(|curve| curve.validate(1).is_ok()),
        saturation: fit.saturation_counts.map(|c| Saturation { force: PerTaxel::All(Force::new(c * unit)) }),
        quantised: true,
        ..base.spec.response.clone()
    };
    let mean = |f: &dyn Fn(usize) -> f64| (0..fit.taxels.len()).map(f).sum::<f64>() / fit.taxels.len() as f64;
    let lines = [
        format!("{} taxels (± is the half-width of a 95 % interval)", fit.taxels.len()),
        format!(
            "  gain          {} counts/N on average, from {} to {}",
            short(mean(&|i| gains[i] / unit)),
            short(gains.iter().copied().fold(f64::INFINITY, f64::min) / unit),
            short(gains.iter().copied().fold(0.0, f64::max) / unit)
        ),
        format!("  threshold     {} N on average", short(mean(&|i| fit.taxels[i].threshold_newton.value))),
        format!(
            "  saturation    {}",
            fit.saturation_counts.map_or("not reached".into(), |c| format!("{} counts", short(c)))
        ),
        format!("  residual      {} counts rms", short(fit.rms_counts)),
    ];
    base.finish(&arguments.common, response, &json!({ "fit": fit }), &lines, || taxels_figure(&fit, &readings))
}

fn taxels_figure(fit: &TaxelsFit, readings: &[Vec<(f64, f64)>]) -> Image {
    let shown: Vec<usize> = [0, readings.len() / 3, 2 * readings.len() / 3].into_iter().collect();
    let (mut curves, mut residuals) = (
        Plot::new().title("Counts against force").x_label("Force (N)").y_label("Counts"),
        Plot::new().title("Residuals").x_label("Force (N)").y_label("Counts"),
    );
    for (&taxel, colour) in shown.iter().zip(PALETTE) {
        let TaxelsFit { taxels, curve: [c2, c3], saturation_counts, .. } = fit;
        let max_counts = saturation_counts.unwrap_or(f64::INFINITY);
        let model = |force: f64| {
            let line = &taxels[taxel];
            let u = (line.gain_counts_per_newton.value * (force - line.threshold_newton.value)).max(0.0);
            (u * (1.0 + u * (c2 + c3 * u))).min(max_counts)
        };
        let max_force = readings[taxel].iter().map(|p| p.0).fold(0.0, f64::max);
        curves = curves
            .series(
                Series::scatter(format!("taxel {taxel}"), readings[taxel].iter().copied())
                    .marker(Marker::Ring)
                    .colour(colour),
            )
            .series(
                Series::line("", (0..=80).map(|i| f64::from(i) / 80.0 * max_force).map(|f| (f, model(f))))
                    .colour(colour),
            );
        residuals = residuals.series(
            Series::scatter(format!("taxel {taxel}"), readings[taxel].iter().map(|(f, c)| (*f, c - model(*f))))
                .marker(Marker::Ring)
                .colour(colour),
        );
    }
    FigurePage::new(2).image(curves.render(), "").image(residuals.render(), "").render()
}

pub fn spread(arguments: &SpreadArguments) -> anyhow::Result<()> {
    let base = Base::find(&arguments.common)?;
    let named = || arguments.presses.display().to_string();
    let bench = Bench { presses: read_presses(&arguments.presses)?, creep: Vec::new() };
    let taxels = base.sensor.taxels();
    let gains = fit_lines(&bench, taxels, *base.sensor.response()).with_context(named)?;
    let fit = fit_neighbours(&bench, taxels, &gains, arguments.kernel).with_context(named)?;
    let response = ResponseSpec {
        spread: Some(Spread::gaussian(fit.sigma_taxels.value, fit.kernel)),
        ..base.spec.response.clone()
    };
    let lines = [
        format!("spread from {} neighbours (± is the half-width of a 95 % interval)", fit.points),
        format!("  sigma         {} taxels, kernel {} × {}", pm(fit.sigma_taxels), fit.kernel, fit.kernel),
        format!("  residual      {} rms of the ratio to a direct press", short(fit.rms)),
    ];
    let sigma = fit.sigma_taxels.value;
    base.finish(&arguments.common, response, &json!({ "fit": fit }), &lines, || {
        let weight = |r: f64| (-0.5 * (r / sigma).powi(2)).exp();
        Plot::new()
            .title("Point spread")
            .x_label("Distance (taxels)")
            .y_label("Weight, relative")
            .series(Series::line(
                format!("Gaussian, σ = {}", short(sigma)),
                (0..=100).map(|i| f64::from(i) * 0.03).map(|r| (r, weight(r))),
            ))
            .render()
    })
}

pub fn creep(arguments: &CreepArguments) -> anyhow::Result<()> {
    let base = Base::find(&arguments.common)?;
    let rows = read_creep(&arguments.creep)?;
    let points: Vec<(f64, f64)> = rows.iter().map(|row| (row.time_s, f64::from(row.raw))).collect();
    let fit =
        fit_creep(&points, usize::from(arguments.terms)).with_context(|| arguments.creep.display().to_string())?;
    let response = ResponseSpec {
        creep: fit
            .terms
            .iter()
            .map(|t| Creep { amplitude: t.amplitude.value, time: Time::new(t.time_s.value) })
            .collect(),
        ..base.spec.response.clone()
    };
    let mut lines = vec![format!("creep from {} readings (± is the half-width of a 95 % interval)", fit.points)];
    lines.extend(
        fit.terms
            .iter()
            .map(|t| format!("  amplitude {} of the reading, time constant {} s", pm(t.amplitude), pm(t.time_s))),
    );
    let curve: Vec<(f64, f64)> = points.iter().map(|(t, _)| (*t, fit.at(*t))).collect();
    base.finish(&arguments.common, response, &json!({ "fit": fit }), &lines, || {
        Plot::new()
            .title("Creep under a constant load")
            .x_label("Time (s)")
            .y_label("Counts")
            .series(Series::scatter("measured", points.iter().copied().step_by((points.len() / 200).max(1))))
            .series(Series::line("fitted", curve))
            .render()
    })
}

pub fn sensor(arguments: &ArrayArguments) -> anyhow::Result<()> {
    let base = Base::find(&arguments.common)?;
    let bench = Bench { presses: read_presses(&arguments.presses)?, creep: read_creep(&arguments.creep)? };
    let named = || format!("{} and {}", arguments.presses.display(), arguments.creep.display());
    let fit =
        fit_sensor(&bench, base.sensor.taxels(), *base.sensor.response(), arguments.kernel).with_context(named)?;
    let readings = own_readings(&bench, base.sensor.taxels())?;
    let lines = [
        format!(
            "sensor with {} taxels from {} rows (± is the half-width of a 95 % interval)",
            fit.taxels.taxels.len(),
            fit.rows
        ),
        format!("  spread        sigma {} taxels", pm(fit.spread.sigma_taxels)),
        format!("  hysteresis    {} of the load", pm(fit.hysteresis)),
        format!("  noise         {} counts", pm(fit.noise_counts)),
        format!("  stiffness     {} N/m under the indenter", pm(fit.stiffness.through_zero_newton_per_m)),
        format!("  residual      {} counts rms", short(fit.taxels.rms_counts)),
    ];
    let response = fit.response(true);
    base.finish(&arguments.common, response, &json!({ "fit": fit }), &lines, || taxels_figure(&fit.taxels, &readings))
}
