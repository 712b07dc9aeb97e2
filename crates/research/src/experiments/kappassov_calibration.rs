//! Kappassov 2020, section III, Figs 5 and 6: a sensor is characterised from bench data alone.

use super::kappassov_reference::{
    ANGLES_DEG, LOADS_G, SITES, Truth, difference, fitted, indenters, nominal, reference, sample_image, weigh,
};
use super::setting::median;
use super::{ExperimentError, Findings, Options, Progress, report_progress};
use dermis::draw::{LineStyle, PALETTE, Plot, Series};
use dermis::sensor::calibration::{Estimate, SensorFit};
use dermis::sensor::characterise::Bench;
use dermis::sensor::{Sensor, SensorSpec};
use dermis::skin::Object;

pub(super) fn run(_: &Options, progress: Progress<'_>) -> Result<Findings, ExperimentError> {
    let mut findings = Findings::default();
    let (sensor, truth) = reference()?;
    let (bench, fit, spec) = fitted(&sensor, &mut |done| progress(0.5 * done))?;
    report_progress(progress, 0.6)?;
    parameters(&mut findings, &fit, &truth);
    // The written description must load as a sensor.
    let text = spec.to_toml();
    let again = SensorSpec::parse("fitted.toml", &text)?;
    let model = again.build(None)?;
    findings.files.add("fitted.toml", text);
    findings.files.add("bench-presses.csv", bench.presses_csv());
    findings.files.add("bench-creep.csv", bench.creep_csv());
    let without_spread = SensorSpec { response: fit.response(false), ..again }.build(None)?;
    images(&mut findings, &sensor, &model, &without_spread, progress)?;
    figures(&mut findings, &bench, &fit);
    findings.note("The reference sensor differs from the preset in every stage. Its spread (a narrow Gaussian with exponential tails, wider along the array than across it) and its response curve (exponential) cannot be represented exactly by the fitted Gaussian and cubic; the fitted σ is compared with that of the closest Gaussian. The bench's force sensor has a noise of 3 mN and its stage one of 10 µm. A tactel counts as loaded above three times the sensor's noise.");
    Ok(findings)
}

/// Compares each fitted parameter with the truth, as a relative error.
fn parameters(findings: &mut Findings, fit: &SensorFit, truth: &Truth) {
    let errors = |found: &[f64], truth: &[f64]| -> Vec<f64> {
        found.iter().zip(truth).map(|(a, b)| (a / b - 1.0).abs()).collect()
    };
    let gains = errors(&fit.taxels.gains(), &truth.gains);
    let thresholds = errors(&fit.taxels.thresholds_newton(), &truth.thresholds_newton);
    let top = |values: &[f64]| values.iter().copied().fold(0.0, f64::max);
    findings.metric("gain_median_relative_error", median(gains.clone()));
    findings.metric("gain_worst_relative_error", top(&gains));
    findings.metric("threshold_median_relative_error", median(thresholds.clone()));
    findings.metric("threshold_worst_relative_error", top(&thresholds));
    let nothing = Estimate { value: f64::NAN, ci95: f64::NAN };
    let (amplitude, time_s) = fit.creep.as_ref().map_or((nothing, nothing), |creep| {
        let term = creep.terms[0];
        (term.amplitude, term.time_s)
    });
    let sigma_taxels = fit.spread.as_ref().map_or(nothing, |spread| spread.sigma_taxels);
    let newton_per_count = 0.42e-3;
    for (name, value, ci95, truth) in [
        ("sigma_taxels", sigma_taxels.value, sigma_taxels.ci95, truth.sigma_taxels),
        ("hysteresis", fit.hysteresis.value, fit.hysteresis.ci95, truth.hysteresis),
        ("creep_amplitude", amplitude.value, amplitude.ci95, truth.creep.0),
        ("creep_time_s", time_s.value, time_s.ci95, truth.creep.1),
        (
            "noise_newton",
            fit.noise_counts.value * newton_per_count,
            fit.noise_counts.ci95 * newton_per_count,
            truth.noise_newton,
        ),
        (
            "stiffness_n_per_m",
            SITES * fit.stiffness.through_zero_newton_per_m.value,
            SITES * fit.stiffness.through_zero_newton_per_m.ci95,
            truth.stiffness_newton_per_m,
        ),
        (
            "saturation_newton",
            fit.taxels.saturation_counts.unwrap_or(f64::NAN) * newton_per_count,
            0.0,
            truth.saturation_newton,
        ),
    ] {
        findings.metric(format!("{name}_fitted"), value);
        findings.metric(format!("{name}_ci95"), ci95);
        findings.metric(format!("{name}_relative_error"), (value / truth - 1.0).abs());
    }
}

/// Compares images of unseen indenters with the fitted model and with simpler models.
fn images(
    findings: &mut Findings,
    sensor: &Sensor,
    model: &Sensor,
    without_spread: &Sensor,
    progress: Progress<'_>,
) -> Result<(), ExperimentError> {
    let unfitted = nominal()?.build(None)?;
    let models = [("", model), ("_without_spread", without_spread), ("_unfitted", &unfitted)];
    let mut found: [Vec<f64>; 3] = Default::default();
    let shapes = indenters()?;
    let mut table = String::from("shape,angle_deg,load_g,fitted,without_spread,unfitted,blank\n");
    for (done, (name, mesh)) in shapes.iter().enumerate() {
        let object = Object::new(mesh.clone());
        for angle in ANGLES_DEG {
            for load in LOADS_G {
                let truth = sample_image(sensor, &weigh(sensor, &object, angle, load)?)?;
                // The models with and without spread share a skin.
                let (known, unknown) = (weigh(model, &object, angle, load)?, weigh(&unfitted, &object, angle, load)?);
                let touches = [&known, &known, &unknown];
                let mut row = format!("{name},{angle},{load}");
                for ((list, (_, model)), touch) in found.iter_mut().zip(&models).zip(touches) {
                    let d = difference(&truth, &sample_image(model, touch)?);
                    list.push(d);
                    row += &format!(",{d:.4}");
                }
                table += &format!("{row},1\n");
            }
        }
        report_progress(progress, 0.6 + 0.4 * (done + 1) as f64 / shapes.len() as f64)?;
    }
    let medians = found.map(median);
    for ((name, _), median) in models.iter().zip(medians) {
        findings.metric(format!("median_image_difference{name}"), median);
    }
    // A blank image has a difference of 1 by definition.
    findings.metric("median_image_difference_blank", 1.0);
    findings.metric("ratio_to_best_null", medians[0] / medians[1].min(medians[2]).min(1.0));
    findings.files.add("image-differences.csv", table);
    Ok(())
}

fn figures(findings: &mut Findings, bench: &Bench, fit: &SensorFit) {
    let mut responses =
        Plot::new().title("Raw output against force (Fig. 5)").x_label("Force (N)").y_label("Raw output (counts)");
    for (taxel, colour) in [0, 20, 39].into_iter().zip(PALETTE) {
        let up = bench.presses.iter().filter(|row| row.taxel == taxel && row.press == 0 && row.force_newton > 0.0);
        let points: Vec<(f64, f64)> = up.map(|row| (row.force_newton, f64::from(row.raw[taxel]))).collect();
        let fitted = (0..=120).map(|i| f64::from(i) * 0.028).map(|force| (force, fit.direct.counts(taxel, force)));
        responses = responses
            .series(Series::scatter(format!("tactel {taxel}, loading and unloading"), points).colour(colour))
            .series(
                Series::line(format!("tactel {taxel}, fitted curve"), fitted).style(LineStyle::Dashed).colour(colour),
            );
    }
    findings.files.add_image("responses.png", &responses.render());
    let record = bench.creep.iter().filter(|row| row.taxel == 39).step_by(10);
    let points: Vec<(f64, f64)> = record
        .filter_map(|row| {
            fit.direct.force_newton(39, f64::from(row.raw)).map(|force| (row.time_s, force / row.force_newton))
        })
        .collect();
    let creep = Plot::new()
        .title("Creep of tactel 39 under a steady force")
        .x_label("Time (s)")
        .y_label("Reading over force")
        .series(Series::scatter("bench", points))
        .series(Series::line(
            "fitted",
            fit.creep.iter().flat_map(|creep| (0..=150).map(|i| (f64::from(i) * 0.1, creep.at(f64::from(i) * 0.1)))),
        ));
    findings.files.add_image("creep.png", &creep.render());
    let k = fit.stiffness.through_zero_newton_per_m.value;
    let depths: Vec<(f64, f64)> =
        bench.force_against_depth().into_iter().step_by(37).map(|(d, f)| (d * 1e3, f)).collect();
    let stiffness = Plot::new()
        .title("Force against indentation (Fig. 6 b)")
        .x_label("Depth (mm)")
        .y_label("Force (N)")
        .series(Series::scatter("bench", depths))
        .series(Series::line(format!("{:.2} N/mm", k * 1e-3), [(0.0, 0.0), (1.8, k * 1.8e-3)]));
    findings.files.add_image("stiffness.png", &stiffness.render());
}
