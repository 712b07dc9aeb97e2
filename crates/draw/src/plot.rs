//! Plots of curves and points.

use crate::axis::{Scale, Ticks};
use crate::canvas::{Canvas, Ink};
use crate::colour::{FAINT, INK, PALETTE, PAPER, SOFT};
use crate::legend;
use crate::marker::draw_marker;
use crate::rect::Rect;
use crate::series::{LineStyle, Series};
use crate::text::Font;
use crate::{Image, Rgb};
use dermis_geometry::Vec2;

/// A plot of several series. A [`FigurePage`](crate::FigurePage) combines several plots.
#[derive(Clone, Debug)]
pub struct Plot {
    title: String,
    labels: (String, String),
    scales: (Scale, Scale),
    x_range: Option<(f64, f64)>,
    y_range: Option<(f64, f64)>,
    series: Vec<Series>,
    size: (usize, usize),
    with_legend: bool,
}

impl Default for Plot {
    fn default() -> Self {
        Self::new()
    }
}

/// One axis with its limits.
struct Axis {
    scale: Scale,
    low: f64,
    high: f64,
    ticks: Ticks,
}

impl Axis {
    fn new(scale: Scale, range: Option<(f64, f64)>, values: impl Iterator<Item = f64>, about: usize) -> Self {
        let fits = |&(low, high): &(f64, f64)| scale.shows(low) && scale.shows(high) && low < high;
        let (low, high) = range.filter(fits).unwrap_or_else(|| scale.limits(values));
        Self { scale, low, high, ticks: scale.ticks(low, high, about) }
    }

    fn place(&self, value: f64) -> Option<f64> {
        // Clamped, so that lines to points far outside stay short.
        self.scale.place(value, self.low, self.high).map(|p| p.clamp(-40.0, 40.0))
    }
}

impl Plot {
    /// An empty plot, 720 × 460 px.
    pub fn new() -> Self {
        Self {
            title: String::new(),
            labels: Default::default(),
            scales: Default::default(),
            x_range: None,
            y_range: None,
            series: Vec::new(),
            size: (720, 460),
            with_legend: true,
        }
    }

    /// Sets the heading of the plot.
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.title = title.into();
        self
    }

    /// Sets the label of the x axis with its unit, such as `Time (s)`.
    pub fn x_label(mut self, label: impl Into<String>) -> Self {
        self.labels.0 = label.into();
        self
    }

    /// Sets the label of the y axis with its unit.
    pub fn y_label(mut self, label: impl Into<String>) -> Self {
        self.labels.1 = label.into();
        self
    }

    /// Makes the x axis logarithmic.
    pub fn log_x(mut self) -> Self {
        self.scales.0 = Scale::Log;
        self
    }

    /// Makes the y axis logarithmic.
    pub fn log_y(mut self) -> Self {
        self.scales.1 = Scale::Log;
        self
    }

    /// Sets the limits of the x axis; invalid limits are ignored.
    pub fn x_range(mut self, low: f64, high: f64) -> Self {
        self.x_range = Some((low, high));
        self
    }

    /// Sets the limits of the y axis; invalid limits are ignored.
    pub fn y_range(mut self, low: f64, high: f64) -> Self {
        self.y_range = Some((low, high));
        self
    }

    /// Adds a series; later ones are drawn over earlier ones.
    pub fn series(mut self, series: Series) -> Self {
        self.series.push(series);
        self
    }

    /// Sets the size of the image (px).
    pub fn size(mut self, width: usize, height: usize) -> Self {
        self.size = (width.max(160), height.max(120));
        self
    }

    /// Omits the legend.
    pub fn without_legend(mut self) -> Self {
        self.with_legend = false;
        self
    }

    /// Draws the plot.
    pub fn render(&self) -> Image {
        let mut image = Image::new(self.size.0, self.size.1, PAPER);
        let (width, height) = (self.size.0 as f64, self.size.1 as f64);
        let points = || self.series.iter().flat_map(|s| &s.points);
        let heights = self.series.iter().flat_map(Series::heights);
        let y_axis = Axis::new(self.scales.1, self.y_range, heights, (height / 62.0) as usize);
        let x_axis = Axis::new(self.scales.0, self.x_range, points().map(|p| p.x), (width / 95.0) as usize);
        let font = Font::new(13.0);
        let widest = y_axis.ticks.labels.iter().map(|l| font.width(l)).fold(0.0, f64::max);
        let y_factor = y_axis.ticks.factor();
        let left = widest + if self.labels.1.is_empty() && y_factor.is_empty() { 22.0 } else { 46.0 };
        let top = if self.title.is_empty() { 16.0 } else { 42.0 };
        let foot = if self.labels.0.is_empty() && x_axis.ticks.factor().is_empty() { 32.0 } else { 54.0 };
        let body = Rect::new(left.round(), top, (width - 22.0).round(), (height - foot).round());
        let mut canvas = Canvas::new(&mut image);
        let middle = (body.left + body.right) / 2.0;
        canvas.text(Vec2::new(middle, 27.0), &self.title, Font::new(17.0).bold().middle(), INK);
        self.draw_x_axis(&mut canvas, body, &x_axis);
        self.draw_y_axis(&mut canvas, body, &y_axis, widest);
        let place = |p: Vec2| match (x_axis.place(p.x), y_axis.place(p.y)) {
            (Some(x), Some(y)) => Vec2::new(body.left + x * body.width(), body.bottom - y * body.height()),
            _ => Vec2::NAN,
        };
        canvas.clip_to(Rect::new(body.left - 5.0, body.top - 5.0, body.right + 5.0, body.bottom + 5.0));
        for (series, colour) in self.coloured() {
            draw_band(&mut canvas, series, colour, body, &place);
        }
        for (series, colour) in self.coloured() {
            draw_series(&mut canvas, series, colour, body, &place);
        }
        canvas.unclip();
        let entries: Vec<_> = self.coloured().filter(|(series, _)| !series.label.is_empty()).collect();
        if self.with_legend && !entries.is_empty() {
            legend::draw(&mut canvas, body, &entries, &self.busy(&place));
        }
        image
    }

    fn coloured(&self) -> impl Iterator<Item = (&Series, Rgb)> {
        let own = |i: usize, series: &Series| series.colour.unwrap_or(PALETTE[i % PALETTE.len()]);
        self.series.iter().enumerate().map(move |(i, series)| (series, own(i, series)))
    }

    /// Pixels covered by the data.
    fn busy(&self, place: &impl Fn(Vec2) -> Vec2) -> Vec<Vec2> {
        let mut busy = Vec::new();
        for series in &self.series {
            let placed: Vec<Vec2> = series.points.iter().map(|&p| place(p)).collect();
            // An isolated marker counts more than a piece of a line.
            busy.extend(placed.iter().flat_map(|&p| [p; 3]));
            if series.style != LineStyle::None {
                for ends in placed.windows(2).filter(|ends| ends.iter().all(|p| p.is_finite())) {
                    let pieces = ((ends[1] - ends[0]).length() / 4.0).min(4000.0) as usize;
                    busy.extend((1..pieces).map(|i| ends[0].lerp(ends[1], i as f64 / pieces as f64)));
                }
            }
        }
        busy
    }

    fn draw_x_axis(&self, canvas: &mut Canvas, body: Rect, axis: &Axis) {
        let font = Font::new(13.0).middle();
        let column = |v: f64| axis.place(v).map(|p| (body.left + p * body.width()).round());
        for x in axis.ticks.minor.iter().filter_map(|&v| column(v)) {
            canvas.rect(Rect::new(x - 1.0, body.top, x, body.bottom), Ink::new(FAINT, 0.45));
        }
        for (x, label) in axis.ticks.at.iter().zip(&axis.ticks.labels).filter_map(|(&v, l)| Some((column(v)?, l))) {
            canvas.rect(Rect::new(x - 1.0, body.top, x, body.bottom), FAINT);
            canvas.rect(Rect::new(x - 1.0, body.bottom, x, body.bottom + 5.0), SOFT);
            canvas.text(Vec2::new(x, body.bottom + 20.0), label, font, INK);
        }
        canvas.rect(Rect::new(body.left - 1.0, body.bottom - 1.0, body.right, body.bottom), SOFT);
        let label = with_factor(&self.labels.0, &axis.ticks.factor());
        let middle = (body.left + body.right) / 2.0;
        canvas.text(Vec2::new(middle, body.bottom + 42.0), &label, Font::new(14.0).middle(), INK);
    }

    fn draw_y_axis(&self, canvas: &mut Canvas, body: Rect, axis: &Axis, widest: f64) {
        let font = Font::new(13.0).right();
        let row = |v: f64| axis.place(v).map(|p| (body.bottom - p * body.height()).round());
        for y in axis.ticks.minor.iter().filter_map(|&v| row(v)) {
            canvas.rect(Rect::new(body.left, y - 1.0, body.right, y), Ink::new(FAINT, 0.45));
        }
        for (y, label) in axis.ticks.at.iter().zip(&axis.ticks.labels).filter_map(|(&v, l)| Some((row(v)?, l))) {
            canvas.rect(Rect::new(body.left, y - 1.0, body.right, y), FAINT);
            canvas.rect(Rect::new(body.left - 5.0, y - 1.0, body.left, y), SOFT);
            let baseline = y + (font.cap_height() / 2.0).floor();
            canvas.text(Vec2::new(body.left - 7.0, baseline), label, font, INK);
        }
        canvas.rect(Rect::new(body.left - 1.0, body.top, body.left, body.bottom), SOFT);
        let label = with_factor(&self.labels.1, &axis.ticks.factor());
        let at = Vec2::new(body.left - widest - 18.0, (body.top + body.bottom) / 2.0);
        canvas.text(at, &label, Font::new(14.0).middle().upwards(), INK);
    }
}

fn with_factor(label: &str, factor: &str) -> String {
    if factor.is_empty() { label.to_owned() } else { format!("{label} {factor}").trim().to_owned() }
}

fn draw_band(canvas: &mut Canvas, series: &Series, colour: Rgb, body: Rect, place: &impl Fn(Vec2) -> Vec2) {
    let edge = |x: f64, y: f64| {
        let p = place(Vec2::new(x, y));
        Vec2::new(p.x, p.y.clamp(body.top - 5.0, body.bottom + 5.0))
    };
    let ends = series.points.iter().zip(&series.band);
    let edges: Vec<(Vec2, Vec2)> = ends.map(|(p, &(low, high))| (edge(p.x, low), edge(p.x, high))).collect();
    for run in edges.split(|(low, high)| !(low.is_finite() && high.is_finite())) {
        let outline: Vec<Vec2> = run.iter().map(|e| e.0).chain(run.iter().rev().map(|e| e.1)).collect();
        canvas.polygon(&outline, Ink::new(colour, 0.18));
    }
}

fn draw_series(canvas: &mut Canvas, series: &Series, colour: Rgb, body: Rect, place: &impl Fn(Vec2) -> Vec2) {
    let placed: Vec<Vec2> = series.points.iter().map(|&p| place(p)).collect();
    for run in placed.split(|p| !p.is_finite()).filter(|run| run.len() > 1) {
        legend::draw_styled(canvas, run, series.style, series.width, colour);
    }
    for (point, &error) in series.points.iter().zip(&series.errors) {
        let (low, high) = (place(*point - Vec2::Y * error), place(*point + Vec2::Y * error));
        // A bar that reaches zero on a logarithmic axis extends out of the image.
        let low = if low.is_finite() { low } else { Vec2::new(high.x, body.bottom + 10.0) };
        if !(low.is_finite() && high.is_finite()) {
            continue;
        }
        let cap = Vec2::new(4.0, 0.0);
        canvas.strokes(&[&[low, high], &[low - cap, low + cap], &[high - cap, high + cap]], 1.3, colour);
    }
    for &point in placed.iter().filter(|p| p.is_finite()) {
        draw_marker(canvas, point, series.marker, colour);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Marker;

    #[test]
    fn odd_data_do_not_panic_on_any_axis() {
        let (nan, inf) = (f64::NAN, f64::INFINITY);
        let data: [&[(f64, f64)]; 7] = [
            &[],
            &[(0.0, 0.0)],
            &[(1.0, 5.0), (2.0, 5.0), (3.0, 5.0)],
            &[(2.0, 1.0), (2.0, 2.0)],
            &[(0.0, -1.0), (-1.0, 0.0), (nan, 1.0), (1.0, inf), (-inf, nan)],
            &[(1e-300, 1e300), (1e300, 1e-300), (5.0, 5.0)],
            &[(nan, nan)],
        ];
        for points in data {
            for (log_x, log_y) in [(false, false), (true, false), (false, true), (true, true)] {
                let points = || points.iter().copied();
                let band = points().map(|(_, y)| (y - 1.0, y + 1.0));
                let mut plot = Plot::new()
                    .size(300, 200)
                    .series(Series::line("line", points()).errors([1.0, nan, inf]).band(band).marker(Marker::Ring))
                    .series(Series::line("dashed", points()).style(LineStyle::Dashed))
                    .series(Series::scatter("", points()).marker(Marker::Cross))
                    .x_range(nan, -1.0);
                plot.scales =
                    (if log_x { Scale::Log } else { Scale::Linear }, if log_y { Scale::Log } else { Scale::Linear });
                assert_eq!(plot.render().encode_png(), plot.render().encode_png());
            }
        }
        Plot::new().render();
    }

    #[test]
    fn a_point_lies_where_the_axes_say() {
        let colour = [200, 0, 0];
        let plot =
            Plot::new().series(Series::scatter("", [(5.0, 0.5)]).colour(colour)).x_range(0.0, 10.0).y_range(0.0, 1.0);
        let image = plot.render();
        let hits: Vec<(usize, usize)> =
            (0..720 * 460).map(|i| (i % 720, i / 720)).filter(|&(x, y)| image.pixel(x, y) == colour).collect();
        let mean = |v: Vec<usize>| v.iter().sum::<usize>() as f64 / v.len() as f64 + 0.5;
        let (x, y) = (mean(hits.iter().map(|h| h.0).collect()), mean(hits.iter().map(|h| h.1).collect()));
        let left = Font::new(13.0).width("0.0") + 22.0;
        assert!((x - (left + 698.0) / 2.0).abs() < 0.6 && (y - (16.0 + 428.0) / 2.0).abs() < 0.6, "{x} {y}");
    }
}
