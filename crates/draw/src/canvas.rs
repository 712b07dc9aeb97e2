//! Anti-aliased shapes on an image.
//!
//! Coordinates are in pixels, `x` to the right and `y` down; integers lie on the borders between pixels: the centre of
//! the upper left pixel is (0.5, 0.5). Each shape is first rendered to a coverage mask, which is then blended over the
//! image once, so that a translucent line is not darker where it crosses itself.

use crate::dash::dashes;
use crate::mask::{Mask, band_coverage};
use crate::rect::Rect;
use crate::{Image, Rgb};
use dermis_geometry::Vec2;

/// A colour with its opacity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ink {
    /// The colour.
    pub colour: Rgb,
    /// Opacity from 0 (invisible) to 1 (opaque).
    pub alpha: f64,
}

impl Ink {
    /// A colour with opacity `alpha` (0 to 1).
    pub fn new(colour: Rgb, alpha: f64) -> Self {
        Self { colour, alpha }
    }
}

impl From<Rgb> for Ink {
    fn from(colour: Rgb) -> Self {
        Self { colour, alpha: 1.0 }
    }
}

/// Draws shapes on an image.
pub struct Canvas<'a> {
    image: &'a mut Image,
    clip: Rect,
}

impl<'a> Canvas<'a> {
    /// Draws on the whole image.
    pub fn new(image: &'a mut Image) -> Self {
        let clip = Rect::new(0.0, 0.0, image.width() as f64, image.height() as f64);
        Self { image, clip }
    }

    /// Limits all further drawing to the pixels inside `rect`.
    pub fn clip_to(&mut self, rect: Rect) {
        self.clip = Rect::new(
            rect.left.round().max(0.0),
            rect.top.round().max(0.0),
            rect.right.round().min(self.image.width() as f64),
            rect.bottom.round().min(self.image.height() as f64),
        );
    }

    /// Removes the limit of [`Canvas::clip_to`].
    pub fn unclip(&mut self) {
        self.clip = Rect::new(0.0, 0.0, self.image.width() as f64, self.image.height() as f64);
    }

    /// Draws a line with round ends.
    pub fn line(&mut self, from: Vec2, to: Vec2, width: f64, ink: impl Into<Ink>) {
        self.polyline(&[from, to], width, ink);
    }

    /// Draws a line through all points, with round joints and ends. It breaks where a coordinate is not finite.
    pub fn polyline(&mut self, points: &[Vec2], width: f64, ink: impl Into<Ink>) {
        self.strokes(&[points], width, ink);
    }

    /// Draws several lines as one shape: overlaps are painted once.
    pub fn strokes(&mut self, lines: &[&[Vec2]], width: f64, ink: impl Into<Ink>) {
        let half = width.max(0.0) / 2.0;
        let points = lines.iter().flat_map(|line| line.iter().copied());
        let Some(mut mask) = Mask::around(points, half + 1.0, self.clip) else { return };
        for line in lines {
            match line {
                [point] => mask.add_capsule(*point, *point, half),
                _ => line.windows(2).for_each(|ends| mask.add_capsule(ends[0], ends[1], half)),
            }
        }
        self.lay(&mask, ink.into());
    }

    /// Draws a dashed line; `pattern` holds lengths on, off, on, off … in pixels.
    pub fn dashed(&mut self, points: &[Vec2], width: f64, pattern: &[f64], ink: impl Into<Ink>) {
        let period: f64 = pattern.iter().sum();
        if pattern.iter().any(|&p| p < 0.0) || period.is_nan() || period < 0.5 {
            return self.polyline(points, width, ink);
        }
        let reach =
            Rect::new(self.clip.left - width, self.clip.top - width, self.clip.right + width, self.clip.bottom + width);
        let dashes = dashes(points, pattern, reach);
        let lines: Vec<&[Vec2]> = dashes.iter().map(Vec::as_slice).collect();
        self.strokes(&lines, width, ink);
    }

    /// Fills a polygon by the nonzero winding rule.
    pub fn polygon(&mut self, corners: &[Vec2], ink: impl Into<Ink>) {
        if corners.len() < 3 || corners.iter().any(|c| !c.is_finite()) {
            return;
        }
        let Some(mut mask) = Mask::around(corners.iter().copied(), 1.0, self.clip) else { return };
        mask.add_polygon(corners);
        self.lay(&mask, ink.into());
    }

    /// Fills a disc.
    pub fn disc(&mut self, centre: Vec2, radius: f64, ink: impl Into<Ink>) {
        self.line(centre, centre, 2.0 * radius, ink);
    }

    /// Draws a circle as a line.
    pub fn circle(&mut self, centre: Vec2, radius: f64, width: f64, ink: impl Into<Ink>) {
        let Some(mut mask) = Mask::around([centre], radius + width / 2.0 + 1.0, self.clip) else { return };
        mask.add(|point| band_coverage(((point - centre).length() - radius).abs(), width / 2.0));
        self.lay(&mask, ink.into());
    }

    /// Fills a rectangle.
    pub fn rect(&mut self, rect: Rect, ink: impl Into<Ink>) {
        let corners = [Vec2::new(rect.left, rect.top), Vec2::new(rect.right, rect.bottom)];
        let Some(mut mask) = Mask::around(corners, 1.0, self.clip) else { return };
        let overlap = |middle: f64, low: f64, high: f64| ((middle + 0.5).min(high) - (middle - 0.5).max(low)).max(0.0);
        mask.add(|point| overlap(point.x, rect.left, rect.right) * overlap(point.y, rect.top, rect.bottom));
        self.lay(&mask, ink.into());
    }

    /// Draws the border of a rectangle, centred on its sides.
    pub fn frame(&mut self, rect: Rect, width: f64, ink: impl Into<Ink>) {
        let corner =
            [(rect.left, rect.top), (rect.right, rect.top), (rect.right, rect.bottom), (rect.left, rect.bottom)];
        let corner = corner.map(|(x, y)| Vec2::new(x, y));
        self.polyline(&[corner[0], corner[1], corner[2], corner[3], corner[0]], width, ink);
    }

    /// Draws an arrow with a filled head; an arrow shorter than its head is scaled down as a whole.
    pub fn arrow(&mut self, from: Vec2, to: Vec2, width: f64, ink: impl Into<Ink>) {
        let (ink, length) = (ink.into(), (to - from).length());
        if length.is_nan() || length < 1e-6 {
            return;
        }
        let along = (to - from) / length;
        let across = along.perp();
        let width = width.min(length / 3.0);
        let head = (4.2 * width).min(0.75 * length);
        let neck = to - along * head;
        let Some(mut mask) = Mask::around([from, to], head + width + 1.0, self.clip) else { return };
        mask.add_capsule(from, neck + along * (0.3 * head), width / 2.0);
        mask.add_polygon(&[
            to,
            neck + across * (0.48 * head),
            neck + along * (0.18 * head),
            neck - across * (0.48 * head),
        ]);
        self.lay(&mask, ink);
    }

    fn lay(&mut self, mask: &Mask, ink: Ink) {
        for row in 0..mask.height {
            for column in 0..mask.width {
                let share = f64::from(mask.coverage[row * mask.width + column]) * ink.alpha;
                if share <= 0.0 {
                    continue;
                }
                let (x, y) = (mask.left + column, mask.top + row);
                let below = self.image.pixel(x, y);
                self.image.set(x, y, mix(below, ink.colour, share));
            }
        }
    }
}

/// Blends `share` of `above` over `below`.
pub(crate) fn mix(below: Rgb, above: Rgb, share: f64) -> Rgb {
    let share = share.clamp(0.0, 1.0);
    std::array::from_fn(|i| (f64::from(below[i]) * (1.0 - share) + f64::from(above[i]) * share).round() as u8)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dark(image: &Image) -> f64 {
        image.pixels().iter().map(|p| 1.0 - f64::from(p[0]) / 255.0).sum()
    }

    /// The sum of the coverage equals the area of the shape at any subpixel position.
    #[test]
    fn coverage_adds_up_to_area() {
        let draw = |paint: &dyn Fn(&mut Canvas)| {
            let mut image = Image::new(60, 60, [255; 3]);
            paint(&mut Canvas::new(&mut image));
            dark(&image)
        };
        let at = Vec2::new;
        let disc = draw(&|c| c.disc(at(30.3, 29.6), 12.0, [0; 3]));
        assert!((disc / (std::f64::consts::PI * 144.0) - 1.0).abs() < 0.01, "{disc}");
        let rect = draw(&|c| c.rect(Rect::new(3.25, 4.5, 20.75, 9.0), [0; 3]));
        assert!((rect - 17.5 * 4.5).abs() < 0.2, "{rect}");
        let triangle = draw(&|c| c.polygon(&[at(5.2, 5.1), at(50.0, 12.0), at(21.0, 48.7)], [0; 3]));
        let area = 0.5 * ((50.0 - 5.2) * (48.7 - 5.1) - (21.0 - 5.2) * (12.0 - 5.1));
        assert!((triangle / area - 1.0).abs() < 0.01, "{triangle} {area}");
        let thin = draw(&|c| c.line(at(10.0, 20.5), at(50.0, 20.5), 0.5, [0; 3]));
        assert!((thin / 20.0 - 1.0).abs() < 0.05, "{thin}");
    }

    #[test]
    fn dashes_leave_gaps_and_translucent_crossings_stay_even() {
        let mut image = Image::new(40, 9, [255; 3]);
        let line = [Vec2::new(2.0, 4.5), Vec2::new(38.0, 4.5)];
        Canvas::new(&mut image).dashed(&line, 1.0, &[6.0, 6.0], [0; 3]);
        assert_eq!(image.pixel(5, 4), [0; 3]);
        assert_eq!(image.pixel(11, 4), [255; 3]);
        let mut image = Image::new(40, 40, [255; 3]);
        let there_and_back = [Vec2::new(5.0, 20.0), Vec2::new(35.0, 20.0), Vec2::new(5.0, 20.0)];
        Canvas::new(&mut image).polyline(&there_and_back, 6.0, Ink::new([0; 3], 0.5));
        assert_eq!(image.pixel(20, 20), [128; 3]);
    }

    #[test]
    fn wild_numbers_draw_nothing_and_do_not_panic() {
        let mut image = Image::new(10, 10, [255; 3]);
        let mut canvas = Canvas::new(&mut image);
        let (nan, far) = (Vec2::NAN, Vec2::splat(1e300));
        canvas.line(nan, far, 1.0, [0; 3]);
        canvas.dashed(&[nan, far, Vec2::INFINITY], 1.0, &[2.0, 2.0], [0; 3]);
        canvas.polygon(&[nan, far, -far], [0; 3]);
        canvas.disc(far, 3.0, [0; 3]);
        canvas.circle(nan, f64::NAN, 1.0, [0; 3]);
        canvas.arrow(nan, Vec2::ZERO, 1.0, [0; 3]);
        assert_eq!(image, Image::new(10, 10, [255; 3]));
    }
}
