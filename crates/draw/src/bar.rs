//! The colour bar of a map.

use crate::Image;
use crate::axis::Scale;
use crate::canvas::Canvas;
use crate::colour::{ColourMap, INK, PAPER, SOFT};
use crate::rect::Rect;
use crate::text::Font;
use dermis_geometry::Vec2;

/// Number of colours in a figure with a colour bar.
const STEPS: f64 = 97.0;

/// A colour map with its range of values and their unit.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Bar {
    pub map: ColourMap,
    pub low: f64,
    pub high: f64,
    pub label: String,
}

impl Bar {
    /// Uses the range from zero to the largest value, or a symmetric range for a diverging map; `fixed` overrides both.
    pub fn spanning(map: ColourMap, values: &[f64], fixed: Option<(f64, f64)>, label: &str) -> Self {
        let finite = values.iter().copied().filter(|v| v.is_finite());
        let (least, most) = finite.fold((0.0_f64, 0.0_f64), |(l, m), v| (l.min(v), m.max(v)));
        let own = match map {
            ColourMap::Diverging => (-most.max(-least), most.max(-least)),
            _ => (least, most),
        };
        let (low, high) = fixed.filter(|(l, h)| l.is_finite() && h.is_finite() && l < h).unwrap_or(own);
        let (low, high) = if low < high { (low, high) } else { (low, low + 1.0) };
        Self { map, low, high, label: label.to_owned() }
    }

    /// The colour of a value.
    pub fn colour(&self, value: f64) -> crate::Rgb {
        self.map.colour((value - self.low) / (self.high - self.low))
    }

    /// The colour of a value, rounded to one of [`STEPS`]: a figure of few colours is a small file.
    pub fn step_colour(&self, value: f64) -> crate::Rgb {
        let last = STEPS - 1.0;
        self.map.colour(((value - self.low) / (self.high - self.low) * last).round() / last)
    }

    fn label(&self, factor: &str) -> String {
        if factor.is_empty() { self.label.clone() } else { format!("{factor} {}", self.label) }
    }

    /// Width (px) of the bar beside an image of this height, including the gap.
    pub fn room(&self, height: f64) -> f64 {
        let ticks = Scale::Linear.ticks(self.low, self.high, tick_count(height));
        let widest = ticks.labels.iter().map(|l| Font::new(13.0).width(l)).fold(0.0, f64::max);
        let label = if self.label(&ticks.factor()).is_empty() { 0.0 } else { 26.0 };
        18.0 + 16.0 + 8.0 + widest + label
    }

    /// Draws the bar from `top` to `bottom`, to the right of `left`.
    pub fn draw(&self, canvas: &mut Canvas, left: f64, top: f64, bottom: f64) {
        let (left, top, bottom) = (left.round(), top.round(), bottom.round());
        let body = Rect::new(left + 18.0, top, left + 34.0, bottom);
        let rows = (bottom - top).max(1.0) as usize;
        for row in 0..rows {
            let value = self.high - (row as f64 + 0.5) / rows as f64 * (self.high - self.low);
            let y = top + row as f64;
            canvas.rect(Rect::new(body.left, y, body.right, y + 1.0), self.step_colour(value));
        }
        canvas.frame(Rect::new(body.left - 0.5, top - 0.5, body.right + 0.5, bottom + 0.5), 1.0, SOFT);
        let ticks = Scale::Linear.ticks(self.low, self.high, tick_count(bottom - top));
        let font = Font::new(13.0);
        let mut widest: f64 = 0.0;
        for (value, label) in ticks.at.iter().zip(&ticks.labels) {
            let y = (bottom - (value - self.low) / (self.high - self.low) * (bottom - top)).round();
            canvas.rect(Rect::new(body.right, y - 1.0, body.right + 4.0, y), SOFT);
            canvas.text(Vec2::new(body.right + 7.0, y + (font.cap_height() / 2.0).floor()), label, font, INK);
            widest = widest.max(font.width(label));
        }
        let at = Vec2::new(body.right + 8.0 + widest + 20.0, (top + bottom) / 2.0);
        canvas.text(at, &self.label(&ticks.factor()), Font::new(14.0).middle().upwards(), INK);
    }
}

fn tick_count(height: f64) -> usize {
    ((height / 44.0) as usize).clamp(2, 8)
}

/// The image with a colour bar on its right: `map` from `low` to `high`, labelled with quantity and unit.
pub fn with_colour_bar(image: &Image, map: ColourMap, (low, high): (f64, f64), label: &str) -> Image {
    const MARGIN: usize = 14;
    let bar = Bar::spanning(map, &[], Some((low, high)), label);
    let (width, height) = (image.width() as f64, image.height() as f64);
    let mut figure =
        Image::new((width + bar.room(height)).ceil() as usize + MARGIN, image.height() + 2 * MARGIN, PAPER);
    figure.blit(image, 0, MARGIN as i64);
    bar.draw(&mut Canvas::new(&mut figure), width, MARGIN as f64, MARGIN as f64 + height);
    figure
}

/// Builder methods for the fields `title`, `unit`, `map` and `range` of a map with a colour bar.
macro_rules! colour_bar_methods {
    () => {
        /// Sets the title.
        pub fn title(mut self, title: impl Into<String>) -> Self {
            self.title = title.into();
            self
        }

        /// Sets the label of the colour bar: quantity and unit, such as `Pressure (kPa)`.
        pub fn unit(mut self, unit: impl Into<String>) -> Self {
            self.unit = unit.into();
            self
        }

        /// Sets the colour map.
        pub fn map(mut self, map: ColourMap) -> Self {
            self.map = map;
            self
        }

        /// Fixes the range of the colours to 0 … `max`, so that images can be compared.
        pub fn max(self, max: f64) -> Self {
            self.range(0.0, max)
        }

        /// Fixes the range of the colours: `low` has the first colour and `high` the last.
        pub fn range(mut self, low: f64, high: f64) -> Self {
            self.range = Some((low, high));
            self
        }
    };
}

pub(crate) use colour_bar_methods;
