//! The legend of a plot, placed where it hides the least data.

use crate::Rgb;
use crate::canvas::{Canvas, Ink};
use crate::colour::{INK, PAPER};
use crate::marker::draw_marker;
use crate::rect::Rect;
use crate::series::{LineStyle, Series};
use crate::text::Font;
use dermis_geometry::Vec2;

const ROW: f64 = 21.0;
const SWATCH: f64 = 28.0;

/// Draws the legend of the labelled series inside `body`; `busy` holds the pixels of the data.
pub(crate) fn draw(canvas: &mut Canvas, body: Rect, entries: &[(&Series, Rgb)], busy: &[Vec2]) {
    let font = Font::new(13.0);
    let widest = entries.iter().map(|(series, _)| font.width(&series.label)).fold(0.0, f64::max);
    let (width, height) = (SWATCH + widest + 24.0, ROW * entries.len() as f64 + 8.0);
    let rect = place(body, width, height, busy);
    canvas.rect(rect, Ink::new(PAPER, 0.85));
    for (row, &(series, colour)) in entries.iter().enumerate() {
        let y = (rect.top + 4.0 + (row as f64 + 0.5) * ROW).round() - 0.5;
        let (from, to) = (Vec2::new(rect.left + 8.0, y), Vec2::new(rect.left + 8.0 + SWATCH, y));
        if !series.band.is_empty() {
            canvas.rect(Rect::new(from.x, y - 6.0, to.x, y + 6.0), Ink::new(colour, 0.18));
        }
        draw_styled(canvas, &[from, to], series.style, series.width, colour);
        draw_marker(canvas, (from + to) / 2.0, series.marker, colour);
        let baseline = y + 0.5 + (font.cap_height() / 2.0).floor();
        canvas.text(Vec2::new(to.x + 7.0, baseline), &series.label, font, INK);
    }
}

/// Draws a line in its style.
pub(crate) fn draw_styled(canvas: &mut Canvas, points: &[Vec2], style: LineStyle, width: f64, colour: Rgb) {
    match style {
        LineStyle::Solid => canvas.polyline(points, width, colour),
        LineStyle::Dashed => canvas.dashed(points, width, &[3.4 * width, 2.8 * width], colour),
        LineStyle::Dotted => canvas.dashed(points, width, &[0.1, 2.2 * width], colour),
        LineStyle::None => {}
    }
}

/// The one of nine positions with the least data behind it; upper corners are preferred.
fn place(body: Rect, width: f64, height: f64, busy: &[Vec2]) -> Rect {
    let gap = 8.0;
    let middle_x = (body.left + body.right - width) / 2.0;
    let middle_y = (body.top + body.bottom - height) / 2.0;
    let (left, right) = (body.left + gap, body.right - gap - width);
    let (top, bottom) = (body.top + gap, body.bottom - gap - height);
    let corners = [
        (right, top),
        (left, top),
        (right, bottom),
        (left, bottom),
        (middle_x, top),
        (right, middle_y),
        (left, middle_y),
        (middle_x, bottom),
        (middle_x, middle_y),
    ];
    let rects = corners.map(|(x, y)| {
        let (x, y) = (x.round(), y.round());
        Rect::new(x, y, x + width, y + height)
    });
    let hidden = |rect: &Rect| busy.iter().filter(|&&p| rect.contains(p)).count();
    rects.into_iter().min_by_key(hidden).expect("there are nine places")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn legend_avoids_the_data() {
        let body = Rect::new(0.0, 0.0, 400.0, 300.0);
        let falling: Vec<Vec2> = (0..400).map(|x| Vec2::new(f64::from(x), 0.75 * f64::from(x))).collect();
        assert_eq!(place(body, 100.0, 60.0, &falling).left, 292.0);
        assert_eq!(place(body, 100.0, 60.0, &falling).top, 8.0);
        let rising: Vec<Vec2> = falling.iter().map(|p| Vec2::new(p.x, 300.0 - p.y)).collect();
        assert_eq!(place(body, 100.0, 60.0, &rising).left, 8.0);
    }
}
