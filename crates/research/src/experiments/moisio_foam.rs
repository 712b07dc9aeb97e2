//! Moisio 2013, eq. (18), Figs 6 and 7: parameters from bench data.

use super::{ExperimentError, Findings, Options, Progress, report_progress};
use dermis::draw::{LineStyle, Plot, Series};
use dermis::geometry::Random;
use dermis::sensor::calibration::{fit_friction, fit_stiffness, texel_stiffness_newton_per_m};
use dermis::skin::Lugre;

/// The paper's weight area (m²), and the pressure (Pa) and compression (m) of its fitted line.
const WEIGHT_AREA: f64 = 804.25e-6;
const PRESSURE: f64 = 9810.0;
const COMPRESSION: f64 = 2.5e-3;
/// Its fitted friction curve (section 3.4.2).
const NORMAL_NEWTON: f64 = 0.08;
const FRICTION: Lugre = Lugre {
    stiffness_newton_per_m: 1.0,
    damping_newton_s_per_m: 0.1,
    viscous_newton_s_per_m: 0.01,
    mu_static: 0.435,
    mu_dynamic: 0.23,
    stribeck_m_per_s: 0.3,
};

pub(super) fn run(_: &Options, progress: Progress<'_>) -> Result<Findings, ExperimentError> {
    let mut findings = Findings::default();
    stiffness(&mut findings)?;
    report_progress(progress, 0.2)?;
    friction(&mut findings, progress)?;
    Ok(findings)
}

/// Ten weights on foam of the paper's stiffness, with 2 % noise, reproduce eq. (18).
fn stiffness(findings: &mut Findings) -> Result<(), ExperimentError> {
    let printed = texel_stiffness_newton_per_m(PRESSURE, 1.25e-3, 84, COMPRESSION)?;
    findings.metric("k_eq18_n_per_m", printed);
    let slope = PRESSURE * WEIGHT_AREA / COMPRESSION;
    let mut random = Random::new(2013);
    let points: Vec<(f64, f64)> = (1..=10)
        .map(|i| f64::from(i) * 0.4e-3)
        .map(|depth| (depth, slope * depth + 0.02 * slope * COMPRESSION * random.normal()))
        .collect();
    let fit = fit_stiffness(&points)?;
    let foam = fit.through_zero_newton_per_m;
    let k = texel_stiffness_newton_per_m(foam.value * COMPRESSION / WEIGHT_AREA, 1.25e-3, 84, COMPRESSION)?;
    findings.metric("k_fitted_n_per_m", k);
    findings.metric("k_fitted_relative_error", (k / printed - 1.0).abs());
    findings.metric("weight_g_at_2.5mm", PRESSURE * WEIGHT_AREA / 9.81 * 1e3);
    findings.note(format!(
        "Eq. (18) with the paper's own numbers, 9810 Pa · 1250 mm² / (84 · 2.5 mm), is {printed:.2} N/m; it prints 58.5, a rounding error. 1 % of it is 0.58, not the 0.0585 or 0.0583 that it prints; 9810 Pa on 804.25 mm² weigh 804 g, not 304."
    ));
    let line = |k: f64| [(0.0, 0.0), (4.2, k * 4.2e-3)];
    let plot = Plot::new()
        .title("Foam under weights (Fig. 6)")
        .x_label("Compression (mm)")
        .y_label("Force (N)")
        .series(Series::scatter("bench data, 2 % noise", points.iter().map(|(d, f)| (d * 1e3, *f))))
        .series(Series::line("fitted through zero", line(foam.value)))
        .series(Series::line("the paper's line", line(slope)).style(LineStyle::Dashed));
    findings.files.add_image("foam-stiffness.png", &plot.render());
    Ok(())
}

/// Fits noisy friction curves of the paper's parameters and compares the result with the truth.
fn friction(findings: &mut Findings, progress: Progress<'_>) -> Result<(), ExperimentError> {
    let truth = |v: f64| FRICTION.steady_newton(v, NORMAL_NEWTON) + FRICTION.viscous_newton_s_per_m * v;
    let noise = 0.01 * truth(0.0);
    let curve = |seed: u64| -> Vec<(f64, f64)> {
        let mut random = Random::new(seed);
        (1..=400).map(|i| f64::from(i) * 0.004).map(|v| (v, truth(v) + noise * random.normal())).collect()
    };
    let measured = curve(7);
    let fit = fit_friction(&measured, NORMAL_NEWTON)?;
    let mut worst = 0.0f64;
    for (name, estimate, value) in [
        ("mu_static", fit.mu_static, FRICTION.mu_static),
        ("mu_dynamic", fit.mu_dynamic, FRICTION.mu_dynamic),
        ("stribeck_m_per_s", fit.stribeck_m_per_s, FRICTION.stribeck_m_per_s),
        ("viscous_n_s_per_m", fit.viscous_newton_s_per_m, FRICTION.viscous_newton_s_per_m),
    ] {
        findings.metric(name, estimate.value);
        findings.metric(format!("{name}_ci95"), estimate.ci95);
        worst = worst.max((estimate.value / value - 1.0).abs());
    }
    findings.metric("friction_worst_relative_error", worst);
    // The 95 % intervals must contain the truth in about 95 % of the runs.
    let runs = 100;
    let mut held = 0;
    for seed in 0..runs {
        let fit = fit_friction(&curve(1000 + seed), NORMAL_NEWTON)?;
        held += u64::from((fit.mu_static.value - FRICTION.mu_static).abs() <= fit.mu_static.ci95);
        report_progress(progress, 0.2 + 0.8 * seed as f64 / runs as f64)?;
    }
    findings.metric("ci95_coverage", held as f64 / runs as f64);
    findings.note("Friction from 400 points with noise of 1 % of the static force. A steady-state curve does not determine σ₀ and σ₁, which act only while friction changes; the paper's 1 N/m and 0.1 N s/m are kept. Its F_n = 0.08 N is used, though 588 g over 84 texels are 0.069 N; c_t = 0.01 is below σ₁(μ_s − μ_d)/μ_d = 0.089, so its set is not provably passive.");
    let v = |i: u32| f64::from(i) * 0.008;
    let plot = Plot::new()
        .title("Friction against sliding velocity (Fig. 7)")
        .x_label("Velocity (m/s)")
        .y_label("Force of a texel (N)")
        .series(Series::scatter("bench data, 1 % noise", measured.iter().copied().step_by(5)))
        .series(Series::line("fitted", (1..=200).map(|i| (v(i), fit.force_newton(v(i), NORMAL_NEWTON)))))
        .series(Series::line("truth", (1..=200).map(|i| (v(i), truth(v(i))))).style(LineStyle::Dashed));
    findings.files.add_image("foam-friction.png", &plot.render());
    Ok(())
}
