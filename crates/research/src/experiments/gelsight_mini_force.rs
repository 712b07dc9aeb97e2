//! Force against depth of a GelSight Mini: measured, layer, Hertz.

use super::setting::frictionless;
use super::{ExperimentError, Findings, Options, Progress, report_progress};
use dermis::draw::{LineStyle, Plot, Series};
use dermis::geometry::shapes::sphere;
use dermis::sensor::{Aim, Goal, presets, press};
use dermis::skin::Object;

/// Depth (mm) and force (N) as measured under a hemisphere of 7.5 mm.
const MEASURED: [(f64, f64); 4] = [(0.5, 1.650), (1.0, 5.964), (1.5, 13.526), (2.0, 23.253)];
const RADIUS_M: f64 = 7.5e-3;
/// Plane-strain modulus of the preset: E/(1 − ν²) with E = 435 kPa, ν = 0.48.
const PLANE_STRAIN_PA: f64 = 4.35e5 / (1.0 - 0.48 * 0.48);

pub(super) fn run(_: &Options, progress: Progress<'_>) -> Result<Findings, ExperimentError> {
    let mut findings = Findings::default();
    let spec = presets::find("gelsight-mini")?;
    let sensor = spec.build(None)?;
    let without_friction = frictionless(spec).build(None)?;
    let ball = Object::new(sphere(RADIUS_M, 0.3e-3)?);
    let hertz = |depth_m: f64| 4.0 / 3.0 * PLANE_STRAIN_PA * RADIUS_M.sqrt() * depth_m.powf(1.5);
    let mut table = String::from("depth_mm,measured_n,layer_n,layer_frictionless_n,hertz_n\n");
    let (mut by_layer, mut by_hertz) = (Vec::new(), Vec::new());
    for (done, (depth_mm, measured)) in MEASURED.into_iter().enumerate() {
        let force = |sensor| -> Result<f64, ExperimentError> {
            Ok(-press(sensor, &ball, &Aim::default(), Goal::Depth(depth_mm * 1e-3))?.touch.on_sensor.force.z)
        };
        let (sticking, free, bare) = (force(&sensor)?, force(&without_friction)?, hertz(depth_mm * 1e-3));
        findings.metric(format!("layer_over_measured_{depth_mm}mm"), sticking / measured);
        findings.metric(format!("frictionless_layer_over_measured_{depth_mm}mm"), free / measured);
        findings.metric(format!("hertz_over_measured_{depth_mm}mm"), bare / measured);
        table += &format!("{depth_mm},{measured},{sticking:.4},{free:.4},{bare:.4}\n");
        by_layer.push((depth_mm, sticking));
        by_hertz.push((depth_mm, bare));
        report_progress(progress, (done + 1) as f64 / MEASURED.len() as f64)?;
    }
    let worst = |prefix: &str, metrics: &std::collections::BTreeMap<String, f64>| {
        let off = metrics.iter().filter(|(name, _)| name.starts_with(prefix)).map(|(_, ratio)| (ratio - 1.0).abs());
        off.fold(0.0, f64::max)
    };
    let (layer, bare) = (worst("layer_over", &findings.metrics), worst("hertz_over", &findings.metrics));
    findings.metric("worst_error_layer", layer);
    findings.metric("worst_error_hertz", bare);
    findings.files.add("force-depth.csv", table);
    let plot = Plot::new()
        .title("GelSight Mini under a hemisphere of 7.5 mm")
        .x_label("Depth (mm)")
        .y_label("Force (N)")
        .series(Series::scatter("measured", MEASURED))
        .series(Series::line("layer of 4 mm", by_layer))
        .series(Series::line("Hertz, no base", by_hertz).style(LineStyle::Dashed));
    findings.files.add_image("force-depth.png", &plot.render());
    findings.note("The modulus was fitted by its authors to these four points with their own model, so the test is the shape of the curve, not its scale. A depth of half the thickness exceeds the range of linear elasticity; the layer reports a warning.");
    Ok(findings)
}
