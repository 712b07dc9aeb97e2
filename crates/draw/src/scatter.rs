//! Maps of values at points of a plane, such as the taxels of curved sensors seen from above.

use crate::bar::{Bar, colour_bar_methods};
use crate::canvas::{Canvas, Ink};
use crate::colour::{ColourMap, INK, PAPER, SOFT};
use crate::map_axes::{FOOT, MapAxes};
use crate::rect::Rect;
use crate::text::Font;
use crate::{Image, Rgb};
use dermis_geometry::Vec2;

/// Colour of a point without a value.
const NO_VALUE: Rgb = [238, 238, 238];

/// Values at points (mm), drawn as discs of equal size with axes and a colour bar: `x` to the right, `y` up.
#[derive(Clone, Debug)]
pub struct ScatterMap {
    points: Vec<Vec2>,
    values: Vec<f64>,
    title: String,
    unit: String,
    map: ColourMap,
    range: Option<(f64, f64)>,
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
            long_side_px: 460.0,
        }
    }

    colour_bar_methods!();

    /// Sets the longer side (px) of the area of points.
    pub fn long_side_px(mut self, side: f64) -> Self {
        self.long_side_px = side.clamp(40.0, 4000.0);
        self
    }

    /// Axes, area in the image (px) and radius of the discs (px).
    fn layout(&self) -> (MapAxes, Rect, f64) {
        let empty = (Vec2::INFINITY, Vec2::NEG_INFINITY);
        let (low, high) = self.points.iter().fold(empty, |(low, high), &p| (low.min(p), high.max(p)));
        let (low, high) = if self.points.is_empty() { (Vec2::ZERO, Vec2::ONE) } else { (low, high) };
        let longest = (high - low).max_element();
        let px_per_mm = if longest > 0.0 { self.long_side_px / longest } else { 1.0 };
        let radius = (0.48 * self.typical_gap(high - low) * px_per_mm).clamp(2.5, 30.0);
        let size = (((high - low) * px_per_mm).max(Vec2::new(60.0, 120.0)) + 2.0 * radius + 12.0).round();
        let (middle, half) = ((low + high) / 2.0, size / (2.0 * px_per_mm));
        let axes = MapAxes::mm((middle.x - half.x, middle.x + half.x), (middle.y - half.y, middle.y + half.y));
        let (left, top) = (axes.left(size.y), if self.title.is_empty() { 16.0 } else { 44.0 });
        (axes, Rect::new(left, top, left + size.x, top + size.y), radius)
    }

    /// Pixel of a point (mm) in the image.
    pub fn pixel_of_mm(&self, point: Vec2) -> Vec2 {
        let (axes, body, _) = self.layout();
        axes.place(body, point)
    }

    /// Draws the map.
    pub fn render(&self) -> Image {
        let (axes, body, radius) = self.layout();
        let bar = Bar::spanning(self.map, &self.values, self.range, &self.unit);
        let title_font = Font::new(17.0).bold();
        let width = (body.right + bar.room(body.height()) + 14.0).max(title_font.width(&self.title) + 32.0);
        let mut image = Image::new(width.ceil() as usize, (body.bottom + FOOT) as usize, PAPER);
        let mut canvas = Canvas::new(&mut image);
        canvas.text(Vec2::new(14.0, 29.0), &self.title, title_font, INK);
        canvas.frame(Rect::new(body.left - 0.5, body.top - 0.5, body.right + 0.5, body.bottom + 0.5), 1.0, SOFT);
        for (&point, &value) in self.points.iter().zip(&self.values) {
            let (at, fill) = (axes.place(body, point), if value.is_nan() { NO_VALUE } else { bar.step_colour(value) });
            canvas.disc(at, radius, fill);
            canvas.circle(at, radius - 0.5, 1.0, Ink::new([96, 104, 116], 0.35));
        }
        axes.draw(&mut canvas, body);
        bar.draw(&mut canvas, body.right, body.top, body.bottom);
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

    fn pixel(map: &ScatterMap, image: &Image, point: Vec2) -> Rgb {
        let at = map.pixel_of_mm(point);
        image.pixel(at.x as usize, at.y as usize)
    }

    #[test]
    fn disc_has_the_colour_of_its_value_at_its_place() {
        let points = [Vec2::new(0.0, 0.0), Vec2::new(1.0, 0.0), Vec2::new(0.0, 1.0)];
        let map = ScatterMap::new(&points, &[1.0, 0.5, 0.0]).map(ColourMap::Grey).long_side_px(200.0);
        let image = map.render();
        assert_eq!(points.map(|point| pixel(&map, &image, point)[0]), [0, 128, 255]);
        let [origin, right, up] = points.map(|point| map.pixel_of_mm(point));
        assert!((right - origin - Vec2::new(200.0, 0.0)).length() < 1e-9, "{right}");
        assert!((up - origin - Vec2::new(0.0, -200.0)).length() < 1e-9, "{up}");
    }

    /// Points that are not finite are dropped, missing values are pale, and an empty map is an empty frame.
    #[test]
    fn missing_points_and_values_are_shown_as_missing() {
        let discs = |image: &Image| image.pixels().iter().filter(|pixel| **pixel == NO_VALUE).count();
        let empty = ScatterMap::new(&[], &[]).render();
        assert!(empty.width() > 60 && empty.height() > 120 && discs(&empty) == 0);
        let one = ScatterMap::new(&[Vec2::NAN, Vec2::ZERO], &[1.0, 0.5]).map(ColourMap::Grey).max(1.0).title("one");
        assert_eq!(one.points.len(), 1);
        assert_eq!(pixel(&one, &one.render(), Vec2::ZERO)[0], 128, "the value of the point that is kept");
        let pale = ScatterMap::new(&[Vec2::ZERO, Vec2::X], &[1.0]);
        let image = pale.render();
        assert_eq!(pixel(&pale, &image, Vec2::X), NO_VALUE);
        assert_ne!(pixel(&pale, &image, Vec2::ZERO), NO_VALUE);
        let stacked = ScatterMap::new(&[Vec2::ONE; 4], &[f64::NAN; 4]);
        assert_eq!(pixel(&stacked, &stacked.render(), Vec2::ONE), NO_VALUE);
    }
}
