//! Heat maps of grids of values.

use crate::axis::number;
use crate::bar::{Bar, colour_bar_methods};
use crate::canvas::{Canvas, Ink};
use crate::colour::{ColourMap, INK, PAPER, SOFT, lightness};
use crate::map_axes::{FOOT, MapAxes};
use crate::rect::Rect;
use crate::text::Font;
use crate::{Image, Rgb};
use dermis_geometry::Vec2;

/// Values of `rows × cols` cells, row 0 at the top and column 0 at the left.
#[derive(Clone, Debug)]
pub struct HeatMap {
    rows: usize,
    cols: usize,
    values: Vec<f64>,
    title: String,
    unit: String,
    map: ColourMap,
    range: Option<(f64, f64)>,
    axes: Option<MapAxes>,
    decimals: Option<usize>,
    arrows: Vec<Vec2>,
    arrow_full: Option<f64>,
    cell_px: Option<usize>,
    bare: bool,
}

impl HeatMap {
    /// Creates a map of values given row by row. Missing values are NaN.
    pub fn new(rows: usize, cols: usize, values: &[f64]) -> Self {
        let (rows, cols) = (rows.max(1), cols.max(1));
        let mut values = values.to_vec();
        values.resize(rows * cols, f64::NAN);
        Self {
            rows,
            cols,
            values,
            title: String::new(),
            unit: String::new(),
            map: ColourMap::default(),
            range: None,
            axes: None,
            decimals: None,
            arrows: Vec::new(),
            arrow_full: None,
            cell_px: None,
            bare: false,
        }
    }

    colour_bar_methods!();

    /// Shows axes in millimetres: the cells span `x` from left to right and `y` from bottom to top, so that row 0 is at
    /// the largest y.
    pub fn extent_mm(mut self, x: (f64, f64), y: (f64, f64)) -> Self {
        self.axes = Some(MapAxes::mm(x, y));
        self
    }

    /// Writes each value into its cell with the given number of decimals, if it fits.
    pub fn cell_values(mut self, decimals: usize) -> Self {
        self.decimals = Some(decimals);
        self
    }

    /// Draws an arrow per cell, row by row: `x` along the columns (right), `y` along the rows (down).
    pub fn arrows(mut self, arrows: &[Vec2]) -> Self {
        self.arrows = arrows.to_vec();
        self
    }

    /// Sets the arrow length that spans a cell; by default that of the longest arrow.
    pub fn arrow_full(mut self, length: f64) -> Self {
        self.arrow_full = Some(length);
        self
    }

    /// Sets the side of a cell (px); the default depends on the number of cells.
    pub fn cell_px(mut self, side: usize) -> Self {
        self.cell_px = Some(side);
        self
    }

    /// Draws only the cells: no colour bar, title, axes or margin.
    pub fn bare(mut self) -> Self {
        self.bare = true;
        self
    }

    fn side(&self) -> f64 {
        let fitting = (640 / self.cols).min(480 / self.rows).clamp(2, 46);
        self.cell_px.unwrap_or(fitting).max(1) as f64
    }

    fn bar(&self) -> Bar {
        Bar::spanning(self.map, &self.values, self.range, &self.unit)
    }

    /// Upper left corner of the cells in the image.
    fn origin(&self) -> Vec2 {
        if self.bare {
            return Vec2::ZERO;
        }
        let top = if self.title.is_empty() { 16.0 } else { 44.0 };
        let left = self.axes.as_ref().map_or(16.0, |axes| axes.left(self.side() * self.rows as f64));
        Vec2::new(left, top)
    }

    /// Rectangle of a cell in the image (px).
    pub fn cell_rect(&self, row: usize, col: usize) -> Rect {
        let (corner, side) = (self.origin(), self.side());
        let (left, top) = (corner.x + col as f64 * side, corner.y + row as f64 * side);
        Rect::new(left, top, left + side, top + side)
    }

    /// Pixel of a point of the plane (mm) in the image; `None` without [`HeatMap::extent_mm`].
    pub fn pixel_of_mm(&self, point: Vec2) -> Option<Vec2> {
        self.axes.as_ref().map(|axes| axes.place(self.body(), point))
    }

    /// Area of all cells in the image (px).
    fn body(&self) -> Rect {
        let (first, last) = (self.cell_rect(0, 0), self.cell_rect(self.rows - 1, self.cols - 1));
        Rect::new(first.left, first.top, last.right, last.bottom)
    }

    /// Colour of a cell that has a value.
    pub fn cell_colour(&self, row: usize, col: usize) -> Rgb {
        let (bar, value) = (self.bar(), self.values[row * self.cols + col]);
        if self.bare { bar.colour(value) } else { bar.step_colour(value) }
    }

    /// Draws the map.
    pub fn render(&self) -> Image {
        let (side, body, bar) = (self.side(), self.body(), self.bar());
        if self.bare {
            let mut image = Image::new(body.right as usize, body.bottom as usize, PAPER);
            let mut canvas = Canvas::new(&mut image);
            self.draw_cells(&mut canvas, side);
            canvas.frame(Rect::new(0.5, 0.5, body.right - 0.5, body.bottom - 0.5), 1.0, [190, 194, 200]);
            return image;
        }
        let title_font = Font::new(17.0).bold();
        let foot = if self.axes.is_some() { FOOT } else { 16.0 };
        let width = (body.right + bar.room(body.height()) + 14.0).max(title_font.width(&self.title) + 32.0);
        let mut image = Image::new(width.ceil() as usize, (body.bottom + foot) as usize, PAPER);
        let mut canvas = Canvas::new(&mut image);
        self.draw_cells(&mut canvas, side);
        canvas.frame(Rect::new(body.left - 0.5, body.top - 0.5, body.right + 0.5, body.bottom + 0.5), 1.0, SOFT);
        bar.draw(&mut canvas, body.right, body.top, body.bottom);
        canvas.text(Vec2::new(body.left - 2.0, 29.0), &self.title, title_font, INK);
        if let Some(axes) = &self.axes {
            axes.draw(&mut canvas, body);
        }
        image
    }

    fn draw_cells(&self, canvas: &mut Canvas, side: f64) {
        let cells = || (0..self.rows).flat_map(|row| (0..self.cols).map(move |col| (row, col)));
        for (row, col) in cells() {
            let (rect, value) = (self.cell_rect(row, col), self.values[row * self.cols + col]);
            if value.is_nan() {
                hatch(canvas, rect);
            } else {
                canvas.rect(rect, self.cell_colour(row, col));
            }
            if side >= 9.0 {
                let line = Ink::new([96, 104, 116], 0.22);
                canvas.rect(Rect::new(rect.right - 1.0, rect.top, rect.right, rect.bottom), line);
                canvas.rect(Rect::new(rect.left, rect.bottom - 1.0, rect.right - 1.0, rect.bottom), line);
            }
        }
        for (row, col) in cells() {
            self.draw_value(canvas, row, col);
        }
        let longest = self.arrows.iter().map(|a| a.length()).filter(|l| l.is_finite()).fold(0.0, f64::max);
        let full = self.arrow_full.unwrap_or(longest);
        for ((row, col), arrow) in cells().zip(&self.arrows) {
            let rect = self.cell_rect(row, col);
            let middle = Vec2::new((rect.left + rect.right) / 2.0, (rect.top + rect.bottom) / 2.0);
            let half = *arrow / full * (0.46 * side);
            if half.is_finite() && half.length() > 1.5 {
                let light = lightness(self.cell_colour(row, col)) > 0.5;
                let ink = if light { INK } else { PAPER };
                canvas.arrow(middle - half, middle + half, (side / 16.0).clamp(1.2, 3.0), ink);
            }
        }
    }

    fn draw_value(&self, canvas: &mut Canvas, row: usize, col: usize) {
        let (rect, value) = (self.cell_rect(row, col), self.values[row * self.cols + col]);
        let Some(decimals) = self.decimals.filter(|_| value.is_finite()) else { return };
        let text = number(value, decimals);
        let font = Font::new((rect.width() * 0.36).clamp(9.0, 15.0)).middle();
        if font.width(&text) > rect.width() {
            return;
        }
        let ink = if lightness(self.cell_colour(row, col)) > 0.55 { INK } else { PAPER };
        let baseline = (rect.top + rect.bottom + font.cap_height()) / 2.0;
        canvas.text(Vec2::new((rect.left + rect.right) / 2.0, baseline), &text, font, ink);
    }
}

/// Draws a cell without a value: pale, with diagonal lines.
fn hatch(canvas: &mut Canvas, rect: Rect) {
    canvas.rect(rect, [238, 238, 238]);
    let (side, gap) = (rect.width(), 6.0);
    let count = (2.0 * side / gap) as usize;
    for i in 1..=count {
        let d = i as f64 * gap;
        let from = Vec2::new(rect.left + d.min(side), rect.top + (d - side).max(0.0));
        let to = Vec2::new(rect.left + (d - side).max(0.0), rect.top + d.min(side));
        canvas.line(from, to, 1.0, [196, 198, 202]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn middle(rect: Rect) -> (usize, usize) {
        (((rect.left + rect.right) / 2.0) as usize, ((rect.top + rect.bottom) / 2.0) as usize)
    }

    #[test]
    fn cells_have_their_colours_with_row_zero_on_top_and_column_zero_left() {
        let values = [0.0, 1.0, 2.0, 3.0, 4.0, 5.0];
        for bare in [false, true] {
            let mut map =
                HeatMap::new(2, 3, &values).map(ColourMap::Grey).title("cells").extent_mm((-6.0, 6.0), (-4.0, 4.0));
            map.bare = bare;
            let image = map.render();
            let mut places = Vec::new();
            for row in 0..2 {
                for col in 0..3 {
                    let (x, y) = middle(map.cell_rect(row, col));
                    let grey = 255.0 * (1.0 - values[row * 3 + col] / 5.0);
                    // A figure has steps of 1/96 of its scale, bare cells all 256 greys.
                    let tolerance = if bare { 0.5 } else { 1.5 };
                    assert!((f64::from(image.pixel(x, y)[0]) - grey).abs() <= tolerance, "row {row} col {col}");
                    places.push((x, y));
                    let mm = Vec2::new(col as f64 * 4.0 - 4.0, 2.0 - row as f64 * 4.0);
                    let named = map.pixel_of_mm(mm).unwrap();
                    assert_eq!((named.x as usize, named.y as usize), (x, y), "x to the right, y up");
                }
            }
            assert!(places[0].0 < places[1].0 && places[0].1 == places[1].1);
            assert!(places[0].1 < places[3].1 && places[0].0 == places[3].0);
        }
    }

    #[test]
    fn fixed_maximum_holds_and_missing_values_are_no_colour_of_the_map() {
        let map = HeatMap::new(1, 2, &[1.0]).map(ColourMap::Grey).max(2.0);
        let image = map.render();
        let (x, y) = middle(map.cell_rect(0, 0));
        assert!(image.pixel(x, y)[0].abs_diff(128) <= 1);
        let (x, y) = middle(map.cell_rect(0, 1));
        assert!(image.pixel(x, y)[0] >= 190);
    }

    #[test]
    fn odd_values_do_not_panic_and_the_same_map_gives_the_same_bytes() {
        let odd = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 0.0, -1.0, 1e308];
        let arrows = [Vec2::NAN, Vec2::INFINITY, Vec2::ZERO, Vec2::X, -Vec2::Y, Vec2::ONE];
        for values in [&odd[..], &[], &[f64::NAN; 6], &[0.0; 6]] {
            let map = HeatMap::new(2, 3, values)
                .arrows(&arrows)
                .cell_values(2)
                .extent_mm((0.0, 0.0), (0.0, f64::NAN))
                .max(f64::NAN);
            assert_eq!(map.render().encode_png(), map.render().encode_png());
        }
        HeatMap::new(0, 0, &[]).render();
    }
}
