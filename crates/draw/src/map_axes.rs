//! Axes around a map of a plane.

use crate::axis::{Scale, Ticks};
use crate::canvas::Canvas;
use crate::colour::{INK, SOFT};
use crate::rect::Rect;
use crate::text::Font;
use dermis_geometry::Vec2;

/// Limits and labels of the axes of a map: `x` from left to right, `y` from bottom to top.
#[derive(Clone, Debug)]
pub(crate) struct MapAxes {
    pub x: (f64, f64),
    pub y: (f64, f64),
    pub labels: (String, String),
}

/// Height (px) of the axis below a map.
pub(crate) const FOOT: f64 = 52.0;

impl MapAxes {
    /// Axes of a plane in millimetres.
    pub fn mm(x: (f64, f64), y: (f64, f64)) -> Self {
        Self { x, y, labels: ("x (mm)".into(), "y (mm)".into()) }
    }

    /// Pixel of a point of the plane when the map covers `body`.
    pub fn place(&self, body: Rect, point: Vec2) -> Vec2 {
        let share = |value: f64, (low, high): (f64, f64)| (value - low) / (high - low);
        Vec2::new(
            body.left + share(point.x, self.x) * body.width(),
            body.bottom - share(point.y, self.y) * body.height(),
        )
    }

    /// Width (px) of the axis to the left of a map of this height.
    pub fn left(&self, height: f64) -> f64 {
        (42.0 + widest(&self.y_ticks(height))).round()
    }

    fn y_ticks(&self, height: f64) -> Ticks {
        Scale::Linear.ticks(self.y.0, self.y.1, ((height / 50.0) as usize).clamp(1, 8))
    }

    /// Draws ticks and labels left of and below `body`.
    pub fn draw(&self, canvas: &mut Canvas, body: Rect) {
        let font = Font::new(13.0);
        let ticks = Scale::Linear.ticks(self.x.0, self.x.1, ((body.width() / 70.0) as usize).clamp(1, 8));
        for (&value, label) in ticks.at.iter().zip(&ticks.labels) {
            let x = self.place(body, Vec2::new(value, 0.0)).x.round();
            canvas.rect(Rect::new(x - 1.0, body.bottom + 1.0, x, body.bottom + 5.0), SOFT);
            canvas.text(Vec2::new(x, body.bottom + 20.0), label, font.middle(), INK);
        }
        let ticks = self.y_ticks(body.height());
        for (&value, label) in ticks.at.iter().zip(&ticks.labels) {
            let y = self.place(body, Vec2::new(0.0, value)).y.round();
            canvas.rect(Rect::new(body.left - 5.0, y - 1.0, body.left - 1.0, y), SOFT);
            let at = Vec2::new(body.left - 7.0, y + (font.cap_height() / 2.0).floor());
            canvas.text(at, label, font.right(), INK);
        }
        let label = Font::new(14.0).middle();
        let middle = Vec2::new((body.left + body.right) / 2.0, (body.top + body.bottom) / 2.0);
        canvas.text(Vec2::new(middle.x, body.bottom + 42.0), &self.labels.0, label, INK);
        let left = body.left - 17.0 - widest(&ticks);
        canvas.text(Vec2::new(left, middle.y), &self.labels.1, label.upwards(), INK);
    }
}

fn widest(ticks: &Ticks) -> f64 {
    ticks.labels.iter().map(|label| Font::new(13.0).width(label)).fold(0.0, f64::max)
}
