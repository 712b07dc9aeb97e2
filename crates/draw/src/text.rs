//! Text in a built-in stroke font.
//!
//! At small sizes the glyphs are fitted to the pixel grid: baseline, x-height and capital height fall on whole pixel
//! rows, and the outer strokes of every letter on whole columns, so that stems are sharp.

use crate::canvas::{Canvas, Ink};
use crate::glyphs::{FIGURE_ADVANCE, Side, glyph, script};
use dermis_geometry::Vec2;

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
    /// Size (px): the height of a capital is about 0.72 of it.
    pub size_px: f64,
    /// Thickness of the strokes relative to normal; 1.45 is bold.
    pub weight: f64,
    /// Alignment at the position.
    pub anchor: Anchor,
    /// Whether the text runs upwards, rotated 90° counter-clockwise.
    pub upwards: bool,
}

impl Font {
    /// Normal weight, starting at the position.
    pub fn new(size_px: f64) -> Self {
        Self { size_px, weight: 1.0, anchor: Anchor::Left, upwards: false }
    }

    /// The same in bold.
    pub fn bold(self) -> Self {
        Self { weight: 1.45, ..self }
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
        set(text, self).1
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
        Grid::new(self.size_px).row(10.0)
    }
}

impl Canvas<'_> {
    /// Writes `text` with its baseline through `at`. Unknown characters show as a box.
    pub fn text(&mut self, at: Vec2, text: &str, font: Font, ink: impl Into<Ink>) {
        self.write(at, text, font, pen_width(&font), ink.into());
    }

    /// The same with an outline of another colour, legible on any background.
    pub fn text_with_halo(&mut self, at: Vec2, text: &str, font: Font, ink: impl Into<Ink>, halo: impl Into<Ink>) {
        self.write(at, text, font, pen_width(&font) + 0.26 * font.size_px, halo.into());
        self.text(at, text, font, ink);
    }

    fn write(&mut self, at: Vec2, text: &str, font: Font, pen_px: f64, ink: Ink) {
        if !(at.is_finite() && font.size_px > 0.0 && font.size_px < 4000.0) {
            return;
        }
        let (strokes, width) = set(text, &font);
        let back = match font.anchor {
            Anchor::Left => 0.0,
            Anchor::Middle => (width / 2.0).round(),
            Anchor::Right => width,
        };
        // Strokes are centred on integers of the grid; pixel centres lie at half-integers.
        let origin = Vec2::new(at.x.round(), at.y.round());
        let place = |p: &Vec2| match font.upwards {
            false => Vec2::new(origin.x + p.x - back + 0.5, origin.y - p.y - 0.5),
            true => Vec2::new(origin.x - p.y - 0.5, origin.y - p.x + back - 0.5),
        };
        let placed: Vec<Vec<Vec2>> = strokes.iter().map(|stroke| stroke.iter().map(place).collect()).collect();
        let lines: Vec<&[Vec2]> = placed.iter().map(Vec::as_slice).collect();
        self.strokes(&lines, pen_px, ink);
    }
}

/// Pen width (px): thin enough to keep counters open, thick enough to be visible.
fn pen_width(font: &Font) -> f64 {
    (0.078 * font.size_px).max(1.08) * font.weight
}

/// The design grid fitted to the pixel grid at one size.
struct Grid {
    unit: f64,
    x_height: f64,
    cap_height: f64,
}

impl Grid {
    fn new(size_px: f64) -> Self {
        let unit = 0.072 * size_px;
        Self { unit, x_height: (7.0 * unit).round().max(3.0), cap_height: (10.0 * unit).round().max(4.0) }
    }

    /// Height (px) above the baseline for a height of the design.
    fn row(&self, y: f64) -> f64 {
        match y {
            y if y <= 0.0 => y * self.unit,
            y if y <= 7.0 => y / 7.0 * self.x_height,
            y => self.x_height + (y - 7.0) / 3.0 * (self.cap_height - self.x_height),
        }
    }
}

/// The strokes of a line of text, baseline at zero, `y` up, and its width; all in pixels.
fn set(text: &str, font: &Font) -> (Vec<Vec<Vec2>>, f64) {
    let grid = Grid::new(font.size_px);
    let dot = 0.35 * (pen_width(font) - 1.0).max(0.0).min(0.04 * font.size_px);
    let (mut strokes, mut x) = (Vec::new(), 0.0);
    for character in text.chars() {
        let (base, scale, raise) = match script(character) {
            Some((base, true)) => (base, 0.66, 0.36 * grid.cap_height / grid.unit),
            Some((base, false)) => (base, 0.66, -1.8),
            None => (character, 1.0, 0.0),
        };
        const UNKNOWN: (Side, Side, f64, &str) = (Side::Stem, Side::Stem, 5.0, "M0 0 5 0 5 10 0 10 0 0");
        let (left, right, width, path) =
            glyph(base).map_or(UNKNOWN, |design| (design.sides.0, design.sides.1, design.width, design.path));
        let unit = scale * grid.unit;
        let fitted = if width > 0.0 { (width * unit).round().max(1.0) / width } else { unit };
        let least = if scale < 1.0 { 1.0 } else { 0.0 };
        let before =
            (side_room(left, width) * unit).round().max(least) + ((font.weight - 1.0) * 0.05 * font.size_px).round();
        let after = (side_room(right, width) * unit).round().max(least);
        let row = |y: f64| if scale == 1.0 { grid.row(y) } else { (scale * y + raise) * grid.unit };
        for stroke in trace(path) {
            let mut points: Vec<Vec2> = stroke.iter().map(|p| Vec2::new(x + before + p.x * fitted, row(p.y))).collect();
            // Inner stems also lie on whole columns.
            for i in 1..stroke.len() {
                if stroke[i].x == stroke[i - 1].x && (stroke[i].y - stroke[i - 1].y).abs() > 3.0 {
                    let column = points[i].x.round();
                    (points[i - 1].x, points[i].x) = (column, column);
                }
            }
            if points.len() == 1 {
                // A dot is a little larger than the pen.
                points.extend([(1.0, 0.0), (0.0, 1.0), (-1.0, 0.0), (0.0, -1.0), (1.0, 0.0)].map(|(u, v)| {
                    let centre = Vec2::new(points[0].x, points[0].y);
                    centre + dot * Vec2::new(u, v)
                }));
            }
            strokes.push(points);
        }
        x += before + after + if width > 0.0 { fitted * width } else { 0.0 };
    }
    (strokes, x)
}

/// Space beside a letter, in design units.
fn side_room(side: Side, width: f64) -> f64 {
    match side {
        Side::Stem => 1.5,
        Side::Round => 1.15,
        Side::Slant => 0.75,
        Side::Figure => (FIGURE_ADVANCE - width) / 2.0,
    }
}

/// Follows a path in the syntax of [`crate::glyphs`] and returns its strokes as polylines.
fn trace(path: &str) -> Vec<Vec<Vec2>> {
    let mut strokes: Vec<Vec<Vec2>> = Vec::new();
    let mut rest = path;
    while let Some(command) = rest.chars().next() {
        let body = &rest[1..];
        let end = body.find(|c: char| c.is_ascii_uppercase()).unwrap_or(body.len());
        let numbers: Vec<f64> = body[..end].split_whitespace().filter_map(|n| n.parse().ok()).collect();
        rest = &body[end..];
        let points = |from: usize| numbers[from..].chunks_exact(2).map(|p| Vec2::new(p[0], p[1]));
        match (command, numbers.as_slice()) {
            ('M', _) => strokes.push(points(0).collect()),
            ('D', _) => {
                strokes.push(points(0).collect());
                strokes.push(Vec::new());
            }
            ('L', _) => pen(&mut strokes).extend(points(0)),
            ('C', &[ax, ay, bx, by, cx, cy]) => {
                let stroke = pen(&mut strokes);
                let from = stroke.last().copied().unwrap_or_default();
                let (a, b, c) = (Vec2::new(ax, ay), Vec2::new(bx, by), Vec2::new(cx, cy));
                stroke.extend((1..=12).map(|i| {
                    let t = f64::from(i) / 12.0;
                    let s = 1.0 - t;
                    from * (s * s * s) + a * (3.0 * s * s * t) + b * (3.0 * s * t * t) + c * (t * t * t)
                }));
            }
            ('A', &[cx, cy, rx, ry, start, end]) => {
                pen(&mut strokes).extend(round(Vec2::new(cx, cy), Vec2::new(rx, ry), start, end));
            }
            ('E', &[cx, cy, rx, ry]) => {
                strokes.push(round(Vec2::new(cx, cy), Vec2::new(rx, ry), 0.0, 360.0));
                strokes.push(Vec::new());
            }
            _ => debug_assert!(false, "glyph path {path:?}"),
        }
    }
    strokes.retain(|stroke| !stroke.is_empty());
    strokes
}

/// The current stroke.
fn pen(strokes: &mut Vec<Vec<Vec2>>) -> &mut Vec<Vec2> {
    if strokes.is_empty() {
        strokes.push(Vec::new());
    }
    strokes.last_mut().expect("one was just put there")
}

/// An arc of a superellipse, slightly squarer than an ellipse: it keeps counters open at small sizes.
fn round(centre: Vec2, radii: Vec2, start_deg: f64, end_deg: f64) -> Vec<Vec2> {
    const POWER: f64 = 2.0 / 2.25;
    let count = ((end_deg - start_deg).abs() / 7.5).ceil().max(1.0) as usize;
    let bent = |c: f64| if c.abs() < 1e-9 { 0.0 } else { c.signum() * c.abs().powf(POWER) };
    (0..=count)
        .map(|i| (start_deg + (end_deg - start_deg) * i as f64 / count as f64).to_radians())
        .map(|angle| centre + radii * Vec2::new(bent(angle.cos()), bent(angle.sin())))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Image;

    #[test]
    fn every_promised_character_has_a_glyph() {
        for character in (' '..='~').chain("°µμσ·×±√ω–−→≤≥ẋ".chars()) {
            let design = glyph(character).unwrap_or_else(|| panic!("{character:?} is missing"));
            for point in trace(design.path).concat() {
                assert!((-3.1..=11.5).contains(&point.y), "{character:?} {point}");
                assert!((-0.1..=design.width + 0.15).contains(&point.x), "{character:?} {point}");
            }
        }
        for character in "²³⁻¹⁰⁹₀₉".chars() {
            assert!(script(character).and_then(|(base, _)| glyph(base)).is_some(), "{character:?}");
        }
    }

    #[test]
    fn figures_are_equally_wide_and_width_adds_up() {
        let font = Font::new(14.0);
        for figure in '0'..='9' {
            assert_eq!(font.width(&figure.to_string()), font.width("0"));
        }
        assert_eq!(font.width("01") + font.width("ab"), font.width("01ab"));
    }

    #[test]
    fn anchors_and_turn_put_the_ink_where_asked() {
        let ink_box = |font: Font| {
            let mut image = Image::new(200, 200, [255; 3]);
            Canvas::new(&mut image).text(Vec2::splat(100.0), "HHH", font, [0; 3]);
            let dark = |i: &usize| image.pixels()[*i][0] < 100;
            let at: Vec<usize> = (0..200 * 200).filter(dark).collect();
            let columns = at.iter().map(|i| i % 200);
            let rows = at.iter().map(|i| i / 200);
            (columns.clone().min().unwrap(), columns.max().unwrap(), rows.clone().min().unwrap(), rows.max().unwrap())
        };
        let (left, _, top, bottom) = ink_box(Font::new(14.0));
        assert!(left >= 100 && bottom == 99 && top == 89, "{left} {top} {bottom}");
        let (_, right, ..) = ink_box(Font::new(14.0).right());
        assert!(right < 100, "{right}");
        let (left, right, top, bottom) = ink_box(Font::new(14.0).middle().upwards());
        assert!(right == 99 && left == 89 && top < 90 && bottom > 110, "{left} {right} {top} {bottom}");
    }
}
