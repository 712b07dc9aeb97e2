//! Anti-aliased shapes on an image, rasterised by tiny-skia.
//!
//! Coordinates are in pixels, `x` to the right and `y` down; integers lie on the borders between pixels: the centre of
//! the upper left pixel is (0.5, 0.5). Each shape is one path that is blended over the image once, so that a
//! translucent line is not darker where it crosses itself.

use crate::rect::Rect;
use crate::{Image, Rgb};
use dermis_geometry::Vec2;
use tiny_skia::{FillRule, LineCap, LineJoin, Mask, Path, PathBuilder, Stroke, StrokeDash, Transform};

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
        self.stroke(path_of(lines), width, ink);
    }

    /// Draws a dashed line; `pattern` holds lengths on, off, on, off … in pixels.
    pub fn dashed(&mut self, points: &[Vec2], width: f64, pattern: &[f64], ink: impl Into<Ink>) {
        let dash = StrokeDash::new(pattern.iter().map(|&length| length as f32).collect(), 0.0);
        let path = path_of(&[points]).and_then(|path| dash.map_or(Some(path.clone()), |dash| path.dash(&dash, 1.0)));
        self.stroke(path, width, ink);
    }

    /// Fills a polygon by the nonzero winding rule.
    pub fn polygon(&mut self, corners: &[Vec2], ink: impl Into<Ink>) {
        if corners.iter().all(|corner| corner.is_finite()) {
            self.fill(path_of(&[corners]), ink);
        }
    }

    /// Fills a disc.
    pub fn disc(&mut self, centre: Vec2, radius: f64, ink: impl Into<Ink>) {
        self.fill(PathBuilder::from_circle(centre.x as f32, centre.y as f32, radius as f32), ink);
    }

    /// Draws a circle as a line.
    pub fn circle(&mut self, centre: Vec2, radius: f64, width: f64, ink: impl Into<Ink>) {
        self.stroke(PathBuilder::from_circle(centre.x as f32, centre.y as f32, radius as f32), width, ink);
    }

    /// Fills a rectangle.
    pub fn rect(&mut self, rect: Rect, ink: impl Into<Ink>) {
        self.polygon(&corners(rect), ink);
    }

    /// Draws the border of a rectangle, centred on its sides.
    pub fn frame(&mut self, rect: Rect, width: f64, ink: impl Into<Ink>) {
        let [a, b, c, d] = corners(rect);
        self.polyline(&[a, b, c, d, a], width, ink);
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
        self.line(from, neck + along * (0.3 * head), width, ink);
        let side = across * (0.48 * head);
        self.polygon(&[to, neck + side, neck + along * (0.18 * head), neck - side], ink);
    }

    fn stroke(&mut self, path: Option<Path>, width: f64, ink: impl Into<Ink>) {
        let stroke =
            Stroke { width: width as f32, line_cap: LineCap::Round, line_join: LineJoin::Round, ..Stroke::default() };
        self.fill(path.and_then(|path| path.stroke(&stroke, 1.0)), ink);
    }

    /// Blends the inside of a path over the image; `None` is a path without extent.
    fn fill(&mut self, path: Option<Path>, ink: impl Into<Ink>) {
        let Some(path) = path else { return };
        let (ink, bounds) = (ink.into(), path.bounds());
        let left = f64::from(bounds.left()).floor().max(self.clip.left);
        let top = f64::from(bounds.top()).floor().max(self.clip.top);
        let right = f64::from(bounds.right()).ceil().min(self.clip.right);
        let bottom = f64::from(bounds.bottom()).ceil().min(self.clip.bottom);
        // `as` turns a negative size into zero, for which there is no mask.
        let Some(mut mask) = Mask::new((right - left) as u32, (bottom - top) as u32) else { return };
        let move_to_mask = Transform::from_translate(-left as f32, -top as f32);
        mask.fill_path(&path, FillRule::Winding, true, move_to_mask);
        let width = mask.width() as usize;
        for (i, &coverage) in mask.data().iter().enumerate().filter(|(_, coverage)| **coverage > 0) {
            let (x, y) = (left as i64 + (i % width) as i64, top as i64 + (i / width) as i64);
            self.blend(x, y, f64::from(coverage) / 255.0, ink);
        }
    }

    /// Blends `ink` over a share of one pixel; a pixel outside the clip is ignored.
    pub(crate) fn blend(&mut self, x: i64, y: i64, share: f64, ink: Ink) {
        let inside = |v: i64, low: f64, high: f64| v as f64 >= low && (v as f64) < high;
        if inside(x, self.clip.left, self.clip.right) && inside(y, self.clip.top, self.clip.bottom) {
            let (x, y, share) = (x as usize, y as usize, (share * ink.alpha).clamp(0.0, 1.0));
            let below = self.image.pixel(x, y);
            let mixed = |i: usize| f64::from(below[i]) * (1.0 - share) + f64::from(ink.colour[i]) * share;
            self.image.set(x, y, std::array::from_fn(|i| mixed(i).round() as u8));
        }
    }
}

/// One path of several lines; a line breaks where a coordinate is not finite.
fn path_of(lines: &[&[Vec2]]) -> Option<Path> {
    let mut path = PathBuilder::new();
    for run in lines.iter().flat_map(|line| line.split(|point| !point.is_finite())) {
        for (i, point) in run.iter().enumerate() {
            let (x, y) = (point.x as f32, point.y as f32);
            if i == 0 { path.move_to(x, y) } else { path.line_to(x, y) }
        }
    }
    path.finish()
}

fn corners(rect: Rect) -> [Vec2; 4] {
    [(rect.left, rect.top), (rect.right, rect.top), (rect.right, rect.bottom), (rect.left, rect.bottom)]
        .map(|(x, y)| Vec2::new(x, y))
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
