//! Maps of values at points of a plane, such as the unwrapped taxels of curved sensors.

use crate::bar::{Bar, colour_bar_methods};
use crate::canvas::{Canvas, Ink};
use crate::colour::{ColourMap, INK, PAPER, SOFT};
use crate::rect::Rect;
use crate::text::Font;
use crate::{Image, Rgb};
use dermis_geometry::Vec2;

/// Values at points, drawn as discs of equal size with a colour bar. `y` grows upwards.
#[derive(Clone, Debug)]
pub struct ScatterMap {
    points: Vec<Vec2>,
    values: Vec<f64>,
    title: String,
    unit: String,
    map: ColourMap,
    range: Option<(f64, f64)>,
    scale_bar: Option<(f64, String)>,
    long_side_px: f64,
}

impl ScatterMap {
    /// `values[i]` is at `points[i]`. Points that are not finite are dropped; missing values are NaN.
    pub fn new(points: &[Vec2], values: &[f64]) -> Self {
        let value = |i: usize| values.get(i).copied().unwrap_or(f64::NAN);
        let kept = points.iter().enumerate().filter(|(_, p)| p.is_finite()).map(|(i, &p)| (p, value(i)));
        let (points, values) = kept.unzip();
        Self {
            points,
            values,
            title: String::new(),
            unit: String::new(),
            map: ColourMap::default(),
            range: None,
            scale_bar: None,
            long_side_px: 460.0,
        }
    }

    colour_bar_methods!();

    /// Adds a scale bar of this length, in the units of the points, with its label: `5.0, "5 mm"`.
    pub fn scale_bar(mut self, length: f64, label: impl Into<String>) -> Self {
        self.scale_bar = Some((length, label.into()));
        self
    }

    /// Sets the longer side (px) of the area of points.
    pub fn long_side_px(mut self, side: f64) -> Self {
        self.long_side_px = side.clamp(40.0, 4000.0);
        self
    }

    /// Draws the map.
    pub fn render(&self) -> Image {
        let empty = (Vec2::INFINITY, Vec2::NEG_INFINITY);
        let (low, high) = self.points.iter().fold(empty, |(low, high), &p| (low.min(p), high.max(p)));
        let (low, high) = if self.points.is_empty() { (Vec2::ZERO, Vec2::ONE) } else { (low, high) };
        let size = high - low;
        let longest = size.max_element();
        let px_per_unit = if longest > 0.0 { self.long_side_px / longest } else { 1.0 };
        let radius = (0.48 * self.typical_gap(size) * px_per_unit).clamp(2.5, 30.0);
        let margin = 16.0 + radius;
        let top = if self.title.is_empty() { margin } else { 34.0 + radius };
        let foot = if self.scale_bar.is_some() { 34.0 } else { 0.0 };
        let body = (size * px_per_unit).max(Vec2::new(60.0, 120.0)).round();
        let bar = Bar::spanning(self.map, &self.values, self.range, &self.unit);
        let title_font = Font::new(17.0).bold();
        let width = (body.x + 2.0 * margin + bar.room(body.y) + 2.0).max(title_font.width(&self.title) + 32.0);
        let mut image = Image::new(width.ceil() as usize, (top + body.y + margin + foot) as usize, PAPER);
        let mut canvas = Canvas::new(&mut image);
        canvas.text(Vec2::new(14.0, 27.0), &self.title, title_font, INK);
        let place = |p: Vec2| {
            let offset = (p - (low + high) / 2.0) * px_per_unit;
            Vec2::new(margin + body.x / 2.0 + offset.x, top + body.y / 2.0 - offset.y)
        };
        for (&point, &value) in self.points.iter().zip(&self.values) {
            let fill: Rgb = if value.is_nan() { [238, 238, 238] } else { bar.colour(value) };
            canvas.disc(place(point), radius, fill);
            canvas.circle(place(point), radius - 0.5, 1.0, Ink::new([96, 104, 116], 0.35));
        }
        bar.draw(&mut canvas, body.x + 2.0 * margin - 10.0, top, top + body.y);
        if let Some((length, label)) = &self.scale_bar {
            let (left, y) = (margin, (top + body.y + radius + 18.0).round());
            let right = (left + length * px_per_unit).round();
            canvas.rect(Rect::new(left.round(), y - 1.0, right, y + 1.0), SOFT);
            canvas.text(Vec2::new(right + 8.0, y + 5.0), label, Font::new(13.0), INK);
        }
        image
    }

    /// Median distance of a point to its nearest neighbour, found on a grid of about one point per cell.
    fn typical_gap(&self, size: Vec2) -> f64 {
        let count = self.points.len();
        if count < 2 || size.max_element() <= 0.0 {
            return size.max_element() / 8.0;
        }
        let mut by_x = self.points.clone();
        by_x.sort_by(|a, b| a.x.total_cmp(&b.x).then(a.y.total_cmp(&b.y)));
        let mut gaps: Vec<f64> = (0..count)
            .map(|i| {
                let mut best = f64::INFINITY;
                let mut look = |j: usize| {
                    best = best.min((by_x[j] - by_x[i]).length());
                    (by_x[j].x - by_x[i].x).abs() < best
                };
                (i + 1..count).take_while(|&j| look(j)).for_each(drop);
                (0..i).rev().take_while(|&j| look(j)).for_each(drop);
                best
            })
            .collect();
        gaps.sort_by(f64::total_cmp);
        gaps[count / 2]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn disc_has_the_colour_of_its_value() {
        let points = [Vec2::new(0.0, 0.0), Vec2::new(1.0, 0.0), Vec2::new(0.0, 1.0)];
        let map = ScatterMap::new(&points, &[1.0, 0.5, 0.0]).map(ColourMap::Grey).long_side_px(200.0);
        let image = map.render();
        // Radius 30, margin 46: the first point is 200 px below the third.
        assert_eq!(image.pixel(46, 246), [0; 3]);
        assert_eq!(image.pixel(246, 246), [128; 3]);
        assert_eq!(image.pixel(46, 46), [255; 3]);
    }

    #[test]
    fn odd_input_does_not_panic() {
        ScatterMap::new(&[], &[]).render();
        ScatterMap::new(&[Vec2::NAN, Vec2::ZERO], &[1.0]).title("one").render();
        ScatterMap::new(&[Vec2::ONE; 4], &[f64::NAN; 4]).scale_bar(1.0, "1 mm").render();
    }
}
