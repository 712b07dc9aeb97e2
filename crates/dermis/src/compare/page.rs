//! Writes a comparison as figures and a table.

use super::{Comparison, ImageComparison, SignalComparison};
use crate::output::Output;
use dermis_draw::{FigurePage, Image, LineStyle, Plot, Series};
use dermis_record::Log;
use std::fmt::Write;

/// Maximum number of plots on a page; the table lists all signals.
const MAX_PLOTS: usize = 24;

/// Adds `compare.png`, the signals and scores over time, `errors.csv` and, where images were compared, the least
/// similar pair.
pub fn add(output: &mut Output, comparison: &Comparison, a: &Log, b: &Log) {
    let title = format!("{} (truth) and {}", file_name(&comparison.a), file_name(&comparison.b));
    let mut sheet = FigurePage::new(3).title(title);
    // Signals that are constant and equal, up to rounding, need no plot.
    let moves = |signal: &&SignalComparison| signal.range > signal.rounding || signal.max_abs > signal.rounding;
    for signal in comparison.signals.iter().filter(moves).take(MAX_PLOTS) {
        sheet = sheet.image(signal_plot(signal), "");
    }
    for images in comparison.images.iter().filter(|images| images.times > 0) {
        sheet = sheet.image(image_plot(images), "");
    }
    output.add_image("compare.png", &sheet.render());
    for images in &comparison.images {
        if let Some(pair) = pair(images, a, b) {
            output.add_image(format!("least-alike-{}.png", images.name.replace('/', "-")), &pair);
        }
    }
    output.add("errors.csv", csv(comparison));
}

fn file_name(path: &str) -> String {
    std::path::Path::new(path).file_name().map_or_else(|| path.to_owned(), |name| name.to_string_lossy().into_owned())
}

/// Components or angle of both recordings; for many numbers their root mean square.
fn signal_plot(signal: &SignalComparison) -> Image {
    let unit = if signal.unit.is_empty() { String::new() } else { format!(" ({})", signal.unit) };
    let label = match signal.traces.as_slice() {
        [only] if only.label == "angle" => format!("Angle from the start{unit}"),
        [only] if !only.label.is_empty() => format!("Root mean square{unit}"),
        _ => format!("Value{unit}"),
    };
    let mut plot = Plot::new().title(signal.name.clone()).x_label("Time (s)").y_label(label);
    for trace in &signal.traces {
        let line = |place: usize| trace.rows.iter().map(move |row| (row[0], row[place]));
        let is_component = signal.traces.len() > 1;
        let name = |which: &str| if is_component { format!("{which} {}", trace.label) } else { which.to_owned() };
        plot = plot
            .series(Series::line(name("first"), line(1)))
            .series(Series::line(name("second"), line(2)).style(LineStyle::Dashed));
        if !is_component {
            plot = plot.series(Series::line("difference", line(3)));
        }
    }
    plot.size(520, 360).render()
}

fn image_plot(images: &ImageComparison) -> Image {
    let scores = images.over_time.iter().map(|(time, score)| (*time, score.ssim));
    Plot::new()
        .title(images.name.clone())
        .x_label("Time (s)")
        .y_label("SSIM")
        .series(Series::line("SSIM", scores))
        .without_legend()
        .size(520, 360)
        .render()
}

/// The least similar pair, side by side.
fn pair(images: &ImageComparison, a: &Log, b: &Log) -> Option<Image> {
    let (i, j) = images.worst?;
    let (of_a, of_b) = (a.images(&images.name)?, b.images(&images.other_name)?);
    let image = |file: &[u8]| Image::decode_png(file).ok();
    let caption = |what: &str, time_s: f64| format!("{what}, {time_s:.3} s");
    let sheet = FigurePage::new(2)
        .title(format!("{}: least alike", images.name))
        .image(image(&of_a.files[i])?, caption("first", of_a.times_s[i]))
        .image(image(&of_b.files[j])?, caption("second", of_b.times_s[j]));
    Some(sheet.render())
}

/// One row per time and number: the first, the second and their difference; a component is named `force_n.x`, and
/// orientations are angles (deg). For images SSIM, PSNR (dB) and MAE.
pub fn csv(comparison: &Comparison) -> String {
    let quoted = |name: &str| {
        if name.contains([',', '"', '\n']) { format!("\"{}\"", name.replace('"', "\"\"")) } else { name.to_owned() }
    };
    let mut text = String::from("time_s,name,unit,first,second,difference,ssim,psnr_db,mae_255\n");
    for signal in &comparison.signals {
        for trace in &signal.traces {
            let name = match trace.label.as_str() {
                "" | "root mean square" | "angle" => quoted(&signal.name),
                label => quoted(&format!("{}.{label}", signal.name)),
            };
            let unit = signal.unit;
            for [time, first, second, off] in &trace.rows {
                let _ = writeln!(text, "{time},{name},{unit},{first},{second},{off},,,");
            }
        }
    }
    for images in &comparison.images {
        for (time, score) in &images.over_time {
            let _ = writeln!(
                text,
                "{time},{},,,,,{},{},{}",
                quoted(&images.name),
                score.ssim,
                score.psnr_db,
                score.mae_255
            );
        }
    }
    text
}
