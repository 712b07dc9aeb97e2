//! Text in Inter, an open font (`fonts/OFL.txt`) that is part of the program.
//!
//! Glyphs are rasterised with exact coverage. The x-height is fitted to whole pixel rows, so that small letters have sharp
//! tops and feet.

use crate::canvas::{Canvas, Ink};
use ab_glyph_rasterizer::{Point, Rasterizer, point};
use dermis_geometry::Vec2;
use font::characters::Character;
use font::glyph::{Glyph, Segment};
use std::collections::HashMap;
use std::io::Cursor;
use std::sync::LazyLock;

static REGULAR: LazyLock<Face> = LazyLock::new(|| Face::embedded(include_bytes!("../fonts/Inter-Regular.ttf")));
static BOLD: LazyLock<Face> = LazyLock::new(|| Face::embedded(include_bytes!("../fonts/Inter-SemiBold.ttf")));

/// Units of the font per size.
const UNITS: f64 = 2048.0;

/// Height of a lower-case x and of a capital, in units of the size.
const X_HEIGHT: f64 = 1118.0 / UNITS;
const CAP_HEIGHT: f64 = 1490.0 / UNITS;

/// The glyphs of one weight.
struct Face(HashMap<char, Glyph>);

impl Face {
    fn embedded(bytes: &'static [u8]) -> Self {
        Self::read(bytes).expect("the embedded font is a font")
    }

    fn read(bytes: &'static [u8]) -> std::io::Result<Self> {
        let mut file = font::File::read(Cursor::new(bytes))?;
        let face = &mut file.fonts[0];
        let mut glyphs = HashMap::new();
        for part in face.characters()? {
            let characters = match part {
                Character::Scalar(one) => one..=one,
                Character::Range((first, last)) => first..=last,
            };
            for character in characters {
                glyphs.extend(face.glyph(character)?.map(|glyph| (character, glyph)));
            }
        }
        Ok(Self(glyphs))
    }

    /// The glyph of the character; a box where the font has none.
    fn glyph(&self, character: char) -> &Glyph {
        self.0.get(&character).unwrap_or_else(|| &self.0[&'□'])
    }
}

/// Horizontal alignment of a text at its position.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Anchor {
    /// The text begins at the position.
    #[default]
    Left,
    /// The text is centred on the position.
    Middle,
    /// The text ends at the position.
    Right,
}

/// Font size, weight, alignment and direction of a text.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Font {
    /// Size (px): the height of a capital is about 0.73 of it.
    pub size_px: f64,
    /// Whether the text is bold.
    pub bold: bool,
    /// Alignment at the position.
    pub anchor: Anchor,
    /// Whether the text runs upwards, rotated 90° counter-clockwise.
    pub upwards: bool,
}

impl Font {
    /// Normal weight, starting at the position.
    pub fn new(size_px: f64) -> Self {
        Self { size_px, bold: false, anchor: Anchor::Left, upwards: false }
    }

    /// The same in bold.
    pub fn bold(self) -> Self {
        Self { bold: true, ..self }
    }

    /// The same, centred on the position.
    pub fn middle(self) -> Self {
        Self { anchor: Anchor::Middle, ..self }
    }

    /// The same, ending at the position.
    pub fn right(self) -> Self {
        Self { anchor: Anchor::Right, ..self }
    }

    /// The same running upwards.
    pub fn upwards(self) -> Self {
        Self { upwards: true, ..self }
    }

    /// Width (px) of the text.
    pub fn width(&self, text: &str) -> f64 {
        let (face, scale) = (self.face(), self.scale());
        text.chars().map(|character| f64::from(face.glyph(character).advance_width * scale.x)).sum()
    }

    /// Breaks the text between words into lines no wider than `width_px`; a longer word has its own line.
    pub fn wrap(&self, text: &str, width_px: f64) -> Vec<String> {
        let mut lines: Vec<String> = Vec::new();
        for word in text.split_whitespace() {
            match lines.last_mut() {
                Some(line) if self.width(&format!("{line} {word}")) <= width_px => {
                    line.push(' ');
                    line.push_str(word);
                }
                _ => lines.push(word.to_owned()),
            }
        }
        lines
    }

    /// Height (px) of a capital letter above the baseline.
    pub fn cap_height(&self) -> f64 {
        CAP_HEIGHT / X_HEIGHT * self.x_height()
    }

    fn x_height(&self) -> f64 {
        (X_HEIGHT * self.size_px).round().max(1.0)
    }

    fn face(&self) -> &'static Face {
        if self.bold { &BOLD } else { &REGULAR }
    }

    /// Pixels per unit of the font, rightwards and upwards.
    fn scale(&self) -> Point {
        point((self.size_px / UNITS) as f32, (self.x_height() / X_HEIGHT / UNITS) as f32)
    }
}

impl Canvas<'_> {
    /// Writes `text` with its baseline through `at`. Unknown characters show as a box.
    pub fn text(&mut self, at: Vec2, text: &str, font: Font, ink: impl Into<Ink>) {
        if !(at.is_finite() && font.size_px > 0.0 && font.size_px < 4000.0) {
            return;
        }
        let (face, scale, ink) = (font.face(), font.scale(), ink.into());
        let mut x = match font.anchor {
            Anchor::Left => 0.0,
            Anchor::Middle => -(font.width(text) / 2.0).round(),
            Anchor::Right => -font.width(text),
        } as f32;
        let (left, baseline) = (at.x.round() as i64, at.y.round() as i64);
        for glyph in text.chars().map(|character| face.glyph(character)) {
            fill(glyph, scale, x, |right, down, coverage| {
                let (x, y) = if font.upwards { (down, -right - 1) } else { (right, down) };
                // In 24 steps, which look the same and keep figures below the 256 colours of a palette.
                self.blend(left + x, baseline + y, f64::from((coverage * 24.0).round() / 24.0), ink);
            });
            x += glyph.advance_width * scale.x;
        }
    }
}

/// Calls `paint` with every pixel, right of and below the origin, and how much of it the glyph that begins at `x` covers.
fn fill(glyph: &Glyph, scale: Point, x: f32, mut paint: impl FnMut(i64, i64, f32)) {
    if glyph.contours.is_empty() {
        return;
    }
    let (min_x, min_y, max_x, max_y) = glyph.bounding_box;
    let (left, right) = ((min_x * scale.x + x).floor(), (max_x * scale.x + x).ceil());
    let (top, bottom) = ((-max_y * scale.y).floor(), (-min_y * scale.y).ceil());
    let mut raster = Rasterizer::new((right - left) as usize, (bottom - top) as usize);
    let corner = point(left - x, top);
    for contour in &glyph.contours {
        // In units of the font: each point of a segment is given relative to the one before.
        let mut pen = contour.position;
        let pixels = |at: font::Offset| point(at.0 * scale.x, -at.1 * scale.y) - corner;
        for segment in &contour.segments {
            let begin = pen;
            let mut next = |step| {
                pen += step;
                pixels(pen)
            };
            match *segment {
                Segment::Linear(a) => raster.draw_line(pixels(begin), next(a)),
                Segment::Quadratic(a, b) => raster.draw_quad(pixels(begin), next(a), next(b)),
                Segment::Cubic(a, b, c) => raster.draw_cubic(pixels(begin), next(a), next(b), next(c)),
            }
        }
    }
    raster.for_each_pixel_2d(|column, row, coverage| {
        paint(left as i64 + i64::from(column), top as i64 + i64::from(row), coverage);
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Image;

    #[test]
    fn every_character_of_figures_has_a_glyph() {
        for face in [&*REGULAR, &*BOLD] {
            let latin = (' '..='~').chain('¡'..='¬').chain('®'..='ÿ').chain('α'..='ω');
            for character in latin.chain("ΔΣΩ°µμ·×±√–−→≤≥≈∞ẋ²³⁻¹⁰⁴⁵⁶⁷⁸⁹₀₁₂₉½…".chars())
            {
                assert!(face.0.contains_key(&character), "{character:?} is missing");
            }
        }
    }

    #[test]
    fn figures_are_equally_wide_and_width_adds_up() {
        let font = Font::new(14.0);
        for figure in '0'..='9' {
            assert_eq!(font.width(&figure.to_string()), font.width("0"));
        }
        assert!((font.width("01") + font.width("ab") - font.width("01ab")).abs() < 1e-9);
        assert!(font.bold().width("force") > font.width("force"));
    }

    #[test]
    fn anchors_and_direction_put_the_ink_where_asked() {
        let ink_box = |font: Font| {
            let mut image = Image::new(200, 200, [255; 3]);
            Canvas::new(&mut image).text(Vec2::splat(100.0), "HHH", font, [0; 3]);
            let dark = |i: &usize| image.pixels()[*i][0] < 100;
            let at: Vec<usize> = (0..200 * 200).filter(dark).collect();
            let columns = at.iter().map(|i| i % 200);
            let rows = at.iter().map(|i| i / 200);
            (columns.clone().min().unwrap(), columns.max().unwrap(), rows.clone().min().unwrap(), rows.max().unwrap())
        };
        // Capitals of 14 px reach 10.7 rows above the baseline at 100.
        let (left, _, top, bottom) = ink_box(Font::new(14.0));
        assert!(left >= 100 && bottom == 99 && top == 89, "{left} {top} {bottom}");
        let (_, right, ..) = ink_box(Font::new(14.0).right());
        assert!(right < 100, "{right}");
        let (left, right, top, bottom) = ink_box(Font::new(14.0).middle().upwards());
        assert!(right == 99 && left == 89 && top < 90 && bottom > 110, "{left} {right} {top} {bottom}");
    }
}
