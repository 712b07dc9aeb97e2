//! Figures of the fits to an array: one plot for each fitted stage, with the measurements behind it.

use crate::calibrate::stiffness_plot;
use crate::console::short;
use dermis::draw::{FigurePage, Image, LineStyle, Marker, PALETTE, Plot, Series};
use dermis::sensor::calibration::{CreepFit, Estimate, LoopPoint, SensorFit, SpreadFit, TaxelFit, TaxelsFit};
use dermis::sensor::characterise::{Bench, CreepRow, PressRow};

/// Plots side by side.
pub fn page(plots: impl IntoIterator<Item = Image>) -> Image {
    let plots: Vec<Image> = plots.into_iter().collect();
    if let [plot] = plots.as_slice() {
        return plot.clone();
    }
    plots.into_iter().fold(FigurePage::new(2), |page, plot| page.image(plot, "")).render()
}

/// Loads (N) and counts of each pressed taxel.
type Readings = Vec<Vec<(f64, f64)>>;

/// Readings against the force of the indenter.
pub fn by_force(presses: &[PressRow], taxels: usize) -> Readings {
    let mut readings = vec![Vec::new(); taxels];
    for row in presses.iter().filter(|row| row.force_newton > 0.0) {
        readings[row.taxel].push((row.force_newton, f64::from(row.raw[row.taxel])));
    }
    readings
}

/// Readings against the load after hysteresis and creep, which the curve is fitted to.
fn by_load(points: &[LoopPoint], taxels: usize) -> Readings {
    let mut readings = vec![Vec::new(); taxels];
    for point in points {
        readings[point.taxel].push((point.load_newton + point.fitted_newton, point.counts));
    }
    readings
}

/// Curve, residuals, gains and thresholds. `label`: what the readings are against.
pub fn of_taxels(fit: &TaxelsFit, readings: &Readings, label: &str) -> Vec<Image> {
    let shown: Vec<usize> = [0, readings.len() / 3, 2 * readings.len() / 3].into_iter().collect();
    let (mut curves, mut residuals) = (
        Plot::new().title("Curve").x_label(label).y_label("Counts"),
        Plot::new().title("Residuals").x_label(label).y_label("Counts"),
    );
    for (&taxel, colour) in shown.iter().zip(PALETTE) {
        let model = |force: f64| fit.counts(taxel, force).max(0.0);
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
    let gains = of_each("Gains", "Gain (counts/N)", fit, |taxel| taxel.gain_counts_per_newton);
    let mut plots = vec![curves.render(), residuals.render(), gains];
    if fit.shape.has_threshold() {
        plots.push(of_each("Thresholds", "Threshold (N)", fit, |taxel| taxel.threshold_newton));
    }
    plots
}

/// A parameter of every taxel with its interval.
fn of_each(title: &str, label: &str, fit: &TaxelsFit, of: impl Fn(&TaxelFit) -> Estimate) -> Image {
    let values: Vec<Estimate> = fit.taxels.iter().map(of).collect();
    let points = values.iter().enumerate().map(|(taxel, estimate)| (taxel as f64, estimate.value));
    let errors = values.iter().map(|estimate| estimate.ci95);
    let series = Series::scatter("with 95 % intervals", points).errors(errors);
    Plot::new().title(title).x_label("Taxel").y_label(label).series(series).render()
}

/// The readings of neighbours against those of the fit.
pub fn of_spread(fit: &SpreadFit) -> Image {
    let ratios = || fit.ratios.iter();
    let most = ratios().map(|ratio| ratio.fitted.max(ratio.measured)).fold(0.0, f64::max);
    let label = format!("fitted: σ = {} ± {} taxels", short(fit.sigma_taxels.value), short(fit.sigma_taxels.ci95));
    Plot::new()
        .title("Point spread: neighbours by a direct press")
        .x_label("Fitted ratio of the readings")
        .y_label("Measured ratio")
        .series(Series::line(label, [(0.0, 0.0), (most, most)]).colour(PALETTE[1]))
        .series(
            Series::scatter("measured", ratios().map(|ratio| (ratio.fitted, ratio.measured)))
                .marker(Marker::Ring)
                .colour(PALETTE[0]),
        )
        .render()
}

/// Most points of a recording that are drawn.
const DRAWN: usize = 400;

/// Readings under a constant load over their force, and the fit.
pub fn of_creep(rows: &[CreepRow], fit: Option<&CreepFit>, load_newton: impl Fn(usize, f64) -> Option<f64>) -> Image {
    let point = |row: &CreepRow| Some((row.time_s, load_newton(row.taxel, f64::from(row.raw))? / row.force_newton));
    let points: Vec<(f64, f64)> = rows.iter().filter_map(point).collect();
    let mut plot = Plot::new()
        .title(if fit.is_some() { "Creep under a constant load" } else { "No creep under a constant load" })
        .x_label("Time (s)")
        .y_label("Reading over force")
        .series(Series::scatter("measured", thinned(&points)).marker(Marker::Ring));
    if let Some(fit) = fit {
        let last = points.iter().map(|point| point.0).fold(0.0, f64::max);
        let curve = (0..=200).map(|i| f64::from(i) / 200.0 * last).map(|t| (t, fit.at(t)));
        plot = plot.series(Series::line("fitted", curve));
    }
    plot.render()
}

fn thinned(points: &[(f64, f64)]) -> impl Iterator<Item = (f64, f64)> + '_ {
    points.iter().copied().step_by(points.len().div_ceil(DRAWN).max(1))
}

/// The part of the readings that loading and unloading differ by.
fn of_loop(fit: &SensorFit, points: &[LoopPoint]) -> Image {
    let measured = |unloads: bool| {
        let points = points.iter().filter(move |point| point.unloads == unloads);
        points.map(|point| (point.load_newton, point.measured_newton)).collect::<Vec<_>>()
    };
    let fitted: Vec<(f64, f64)> = points.iter().map(|point| (point.load_newton, point.fitted_newton)).collect();
    let (loading, unloading) = (measured(false), measured(true));
    let label = format!("fitted: {} ± {} of the load", short(fit.hysteresis.value), short(fit.hysteresis.ci95));
    Plot::new()
        .title("Hysteresis")
        .x_label("Load without hysteresis (N)")
        .y_label("Reading minus load (N)")
        .series(Series::scatter("loading", thinned(&loading)).marker(Marker::Ring))
        .series(Series::scatter("unloading", thinned(&unloading)).marker(Marker::Disc))
        .series(Series::scatter(label, thinned(&fitted)).marker(Marker::Cross))
        .render()
}

/// Deviations of readings from the mean of their neighbours in time, scaled to the size of the noise of one reading.
fn of_noise(noise: Estimate, rows: &[CreepRow]) -> Image {
    let deviation = |w: &[CreepRow]| {
        let is_one_record = w[0].taxel == w[2].taxel && w[0].time_s < w[2].time_s;
        let [before, here, after] = [0, 1, 2].map(|i| f64::from(w[i].raw));
        is_one_record.then(|| (w[1].time_s, (here - 0.5 * (before + after)) * (2.0f64 / 3.0).sqrt()))
    };
    let points: Vec<(f64, f64)> = rows.windows(3).filter_map(deviation).collect();
    let last = points.iter().map(|point| point.0).fold(0.0, f64::max);
    let limit = |name: String, level: f64| Series::line(name, [(0.0, level), (last, level)]).style(LineStyle::Dashed);
    Plot::new()
        .title("Noise")
        .x_label("Time (s)")
        .y_label("Deviation (counts)")
        .series(Series::scatter("measured", thinned(&points)).marker(Marker::Ring))
        .series(
            limit(format!("fitted: σ = {} ± {} counts", short(noise.value), short(noise.ci95)), noise.value)
                .colour(PALETTE[1]),
        )
        .series(limit(String::new(), -noise.value).colour(PALETTE[1]))
        .render()
}

/// Every stage of a fitted response.
pub fn of_sensor(fit: &SensorFit, bench: &Bench, loops: &[LoopPoint]) -> Vec<Image> {
    let readings = by_load(loops, fit.direct.taxels.len());
    let mut plots = of_taxels(&fit.direct, &readings, "Load after hysteresis and creep (N)");
    plots.extend(fit.spread.as_ref().map(of_spread));
    plots.extend(fit.hysteresis.ci95.is_finite().then(|| of_loop(fit, loops)));
    plots.push(of_creep(&bench.creep, fit.creep.as_ref(), |taxel, counts| fit.direct.force_newton(taxel, counts)));
    plots.push(of_noise(fit.noise_counts, &bench.creep));
    plots.push(stiffness_plot(&bench.force_against_depth(), &fit.stiffness).render());
    plots
}
