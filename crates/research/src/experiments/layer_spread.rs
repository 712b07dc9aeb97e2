//! The point spread of a layer compared with the Gaussian that Kappassov et al. 2020 fitted.

use super::setting::frictionless;
use super::{ExperimentError, Findings, Options, Progress, report_progress};
use dermis::draw::{LineStyle, Plot, Series};
use dermis::geometry::quantity::Length;
use dermis::geometry::shapes::cylinder;
use dermis::sensor::{Aim, Goal, Pressed, SensorSpec, SkinSpec, presets, press};
use dermis::skin::Object;

/// σ of the paper (tactels).
const PAPER_SIGMA: f64 = 0.5;
/// The pressed tactel, at the centre of the array.
const ROW: usize = 7;
const COL: usize = 3;
/// Compared tactels on each side of it.
const AROUND: i32 = 2;

pub(super) fn run(_: &Options, progress: Progress<'_>) -> Result<Findings, ExperimentError> {
    let mut findings = Findings::default();
    let spec = presets::find("wts0614-layer")?;
    let pressed = point_press(&spec)?;
    let shares = shares(&pressed);
    let sigma = best_sigma(&shares);
    findings.metric("best_sigma_taxels", sigma);
    findings.metric("paper_sigma_taxels", PAPER_SIGMA);
    findings.metric("share_of_pressed_tactel", shares[12]);
    findings.metric("worst_share_error_at_best_sigma", worst_error(&shares, sigma));
    findings.metric("worst_share_error_at_paper_sigma", worst_error(&shares, PAPER_SIGMA));
    let stiffness = -pressed.touch.on_sensor.force.z / pressed.depth_m * 1e-3;
    findings.metric("stiffness_n_per_mm", stiffness);
    report_progress(progress, 0.4)?;
    // The thickness at which a layer has the paper's σ.
    let mut table = String::from("thickness_mm,best_sigma_tactels\n");
    let mut curve = Vec::new();
    for half_mm in 2..=10 {
        let thickness_mm = 0.5 * f64::from(half_mm);
        let sigma = best_sigma(&self::shares(&point_press(&of_thickness(&spec, thickness_mm * 1e-3))?));
        table += &format!("{thickness_mm},{sigma:.4}\n");
        curve.push((thickness_mm, sigma));
        report_progress(progress, 0.4 + 0.06 * f64::from(half_mm))?;
    }
    let crossing = curve.windows(2).find(|pair| pair[0].1 <= PAPER_SIGMA && pair[1].1 > PAPER_SIGMA);
    let thickness = crossing.map_or(f64::NAN, |pair| {
        pair[0].0 + (PAPER_SIGMA - pair[0].1) / (pair[1].1 - pair[0].1) * (pair[1].0 - pair[0].0)
    });
    findings.metric("thickness_mm_with_paper_sigma", thickness);
    findings.files.add("sigma-against-thickness.csv", table);
    findings.files.add_image("spread.png", &figure(&pressed, sigma));
    findings.note(format!(
        "A flat indenter of 1 mm on a layer of 3 mm (assumed) spreads like a Gaussian with σ = {sigma:.2} tactels; the paper fitted {PAPER_SIGMA}, which corresponds to a layer of {thickness:.1} mm. The stress on the base is narrower than either; a tactel integrates it over its width."
    ));
    Ok(findings)
}

fn of_thickness(spec: &SensorSpec, thickness_m: f64) -> SensorSpec {
    let mut spec = frictionless(spec.clone());
    if let SkinSpec::Layer(layer) = &mut spec.skin {
        layer.thickness = Length::new(thickness_m);
    }
    spec
}

/// Presses the paper's 1 mm indenter on the centre of a tactel.
fn point_press(spec: &SensorSpec) -> Result<Pressed, ExperimentError> {
    let sensor = spec.build(None)?;
    let pin = Object::new(cylinder(0.5e-3, 4e-3, 0.1e-3)?);
    let middle = sensor.taxels().centers()[ROW * 6 + COL];
    let aim = Aim { at_m: [middle.x, middle.y], ..Aim::default() };
    Ok(press(&sensor, &pin, &aim, Goal::Depth(0.2e-3))?)
}

/// Fractions of the load on the 5 × 5 tactels around the pressed one.
fn shares(pressed: &Pressed) -> Vec<f64> {
    let value = |i: i32, j: i32| {
        let (row, col) = (ROW as i32 + i, COL as i32 + j);
        // The array has six columns: beyond its border, the value follows from symmetry.
        let col = if (0..6).contains(&col) { col } else { 2 * COL as i32 - col };
        pressed.reading.values_newton[(row * 6 + col) as usize]
    };
    let values: Vec<f64> = around().map(|(i, j)| value(i, j)).collect();
    let sum: f64 = values.iter().sum();
    values.iter().map(|value| value / sum).collect()
}

fn around() -> impl Iterator<Item = (i32, i32)> {
    (-AROUND..=AROUND).flat_map(|i| (-AROUND..=AROUND).map(move |j| (i, j)))
}

fn gaussian(sigma: f64) -> Vec<f64> {
    let weights: Vec<f64> = around().map(|(i, j)| (-f64::from(i * i + j * j) / (2.0 * sigma * sigma)).exp()).collect();
    let sum: f64 = weights.iter().sum();
    weights.iter().map(|weight| weight / sum).collect()
}

/// σ of the Gaussian with the least squared difference.
fn best_sigma(shares: &[f64]) -> f64 {
    let squares = |sigma: f64| -> f64 { gaussian(sigma).iter().zip(shares).map(|(a, b)| (a - b).powi(2)).sum() };
    let sigmas = (0..1500).map(|i| 0.2 + f64::from(i) * 1e-3);
    sigmas.min_by(|a, b| squares(*a).total_cmp(&squares(*b))).unwrap_or(PAPER_SIGMA)
}

fn worst_error(shares: &[f64], sigma: f64) -> f64 {
    gaussian(sigma).iter().zip(shares).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

/// The pressure on the base along a line through the press, normalised to its peak, and the Gaussians.
fn figure(pressed: &Pressed, sigma: f64) -> dermis::draw::Image {
    let mut line = Vec::new();
    if let Some(base) = &pressed.touch.base {
        let middle = pressed.sensor_from_object.translation;
        let rows = (0..base.rows).min_by(|&a, &b| {
            let off = |row: usize| (base.rest(row, 0).y - middle.y).abs();
            off(a).total_cmp(&off(b))
        });
        let row = rows.unwrap_or(0);
        let peak = (0..base.cols).map(|col| -base.values[row * base.cols + col].z).fold(1e-12, f64::max);
        for col in 0..base.cols {
            let at = (base.rest(row, col).x - middle.x) / 3.4e-3;
            if at.abs() <= 2.5 {
                line.push((at, -base.values[row * base.cols + col].z / peak));
            }
        }
    }
    let shares = shares(pressed);
    let tactels = (-AROUND..=AROUND).map(|j| (f64::from(j), shares[(12 + j) as usize] / shares[12]));
    let bell = |sigma: f64| {
        (-50..=50).map(move |i| {
            let x = f64::from(i) * 0.05;
            (x, (-x * x / (2.0 * sigma * sigma)).exp())
        })
    };
    Plot::new()
        .title("Stress on the base under a 1 mm indenter, WTS 0614 as a layer")
        .x_label("Distance (tactels of 3.4 mm)")
        .y_label("Fraction of the peak")
        .series(Series::line("layer of 3 mm, at points", line))
        .series(Series::scatter("the same, on tactels", tactels))
        .series(Series::line(format!("Gaussian, σ = {sigma:.2} (best)"), bell(sigma)).style(LineStyle::Dashed))
        .series(Series::line("Gaussian, σ = 0.5 (paper)", bell(PAPER_SIGMA)).style(LineStyle::Dashed))
        .render()
}
