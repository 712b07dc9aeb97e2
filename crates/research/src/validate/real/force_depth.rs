//! Force of a ball against its depth, with one modulus.

use super::row::{Comparison, FITTED, Figure, Measure, NULL, PRESET};
use super::score::{Sample, Statistic};
use super::split::Split;
use super::table::Table;
use super::{ForceAtDepth, RealError, Setting};
use dermis::draw::{Marker, Plot, Series};
use dermis::geometry::shapes::sphere;
use dermis::sensor::{Aim, Goal, press};
use dermis::skin::Object;
use std::path::Path;

/// A model and its forces (N) at all depths; NaN where it has none.
type Curve = (&'static str, Vec<f64>);

/// Factor between the moduli of preset and fit from which one of them is doubtful.
const FAR: f64 = 20.0;
/// Name of the peer without a layer.
const HERTZ: &str = "Hertz half-space, fitted";
/// Name of the authors' own simulation.
const FINITE_ELEMENTS: &str = "finite elements of the authors";

/// Fits one factor of the modulus to some depths and predicts the force at the others.
pub fn compare(
    setting: &Setting<'_>,
    table: &Path,
    ball_m: f64,
    finite_elements: &[ForceAtDepth],
) -> Result<Comparison, RealError> {
    let path = setting.folder.join(table);
    let table = Table::read(&path)?;
    let (depths_mm, measured) = (table.column("depth_mm")?, table.column("force_N")?);
    for (column, values) in [("depth_mm", &depths_mm), ("force_N", &measured)] {
        // Errors are relative to the force.
        if let Some(value) = values.iter().find(|value| **value <= 0.0) {
            let what = format!("{}, column `{column}`", path.display());
            let rule = format!("must be positive, got {value}: depths are past first contact, forces press the sensor");
            return Err(RealError::Bad { what, rule });
        }
    }
    let sensor = setting.spec()?.build(None)?;
    let ball = Object::new(sphere(0.5 * ball_m, ball_m / 100.0)?);
    let force = |depth_mm: &f64| {
        press(&sensor, &ball, &Aim::default(), Goal::Depth(1e-3 * depth_mm))
            .map(|pressed| -pressed.touch.on_sensor.force.z)
    };
    let ours = depths_mm.iter().map(force).collect::<Result<Vec<f64>, _>>()?;
    let samples = measured.len();
    let split = Split::even(samples, setting.fit.unwrap_or(0));
    let mut curves: Vec<Curve> = Vec::new();
    let factor = |forces: &[f64]| {
        let logs: Vec<f64> = split.fitted.iter().map(|&i| (measured[i] / forces[i]).ln()).collect();
        (logs.iter().sum::<f64>() / logs.len().max(1) as f64).exp()
    };
    let scaled = |forces: &[f64]| forces.iter().map(|force| force * factor(forces)).collect::<Vec<f64>>();
    let mut notes = Vec::new();
    if !split.fitted.is_empty() {
        curves.push((FITTED, scaled(&ours)));
        notes.push(format!("the modulus of the preset times {:.3}", factor(&ours)));
        if !(1.0 / FAR..=FAR).contains(&factor(&ours)) {
            notes.push(format!(
                "this modulus is far from that of the preset: check the sensor, and the units of `depth_mm` (up to {} mm) and `force_N` (up to {} N)",
                depths_mm.iter().copied().fold(0.0, f64::max),
                measured.iter().copied().fold(0.0, f64::max)
            ));
        }
    }
    curves.push((PRESET, ours.clone()));
    if !split.fitted.is_empty() {
        let hertz: Vec<f64> = depths_mm.iter().map(|depth| depth.powf(1.5)).collect();
        curves.push((HERTZ, scaled(&hertz)));
        let mean = split.fitted.iter().map(|&i| measured[i]).sum::<f64>() / split.fitted.len() as f64;
        curves.push((NULL, vec![mean; samples]));
    } else {
        curves.push((NULL, vec![0.0; samples]));
    }
    if !finite_elements.is_empty() {
        let at = |depth_mm: &f64| finite_elements.iter().find(|f| (1e3 * f.depth.si() - depth_mm).abs() < 1e-6);
        curves.push((
            FINITE_ELEMENTS,
            depths_mm.iter().map(|depth| at(depth).map_or(f64::NAN, |f| f.force.si())).collect(),
        ));
    }
    let mut measure = Measure::new("force", "force: largest error (%)", Statistic::Largest);
    for (model, forces) in &curves {
        let kept = if *model == FINITE_ELEMENTS { (0..samples).collect() } else { split.kept_out.clone() };
        let sample = |i: usize| Sample { error: 100.0 * (forces[i] / measured[i] - 1.0).abs(), weight: 1.0 };
        let all: Vec<Sample> = kept.into_iter().filter(|&i| forces[i].is_finite()).map(sample).collect();
        measure.add(*model, &all);
        let ratio =
            |i: usize| if forces[i].is_finite() { format!("{:.3}", forces[i] / measured[i]) } else { "–".into() };
        notes.push(format!("{model}, force by measured: {}", (0..samples).map(ratio).collect::<Vec<_>>().join(", ")));
    }
    let fitted_on = split.fitted.len();
    let fitted =
        if fitted_on == 0 { "nothing".into() } else { format!("one modulus on {fitted_on} of {samples} depths") };
    Ok(Comparison {
        samples,
        fitted_on,
        fitted,
        kept_out: split.kept_out.iter().map(|&i| format!("{} mm", depths_mm[i])).collect(),
        measures: vec![measure],
        notes,
        figures: vec![figure(&depths_mm, &measured, &curves)],
    })
}

fn figure(depths_mm: &[f64], measured: &[f64], curves: &[Curve]) -> Figure {
    let points = |values: &[f64]| {
        let finite = depths_mm.iter().copied().zip(values.to_vec()).filter(|point| point.1.is_finite());
        finite.collect::<Vec<_>>()
    };
    let mut plot = Plot::new().x_label("Depth (mm)").y_label("Force (N)").size(720, 460);
    plot = plot.series(Series::scatter("measured", points(measured)).marker(Marker::Disc));
    for (model, forces) in curves {
        plot = plot.series(Series::line(*model, points(forces)));
    }
    Figure { caption: "Force against depth".into(), image: plot.render() }
}
