//! Markers of data points.

use crate::Rgb;
use crate::canvas::Canvas;
use crate::colour::PAPER;
use crate::rect::Rect;
use crate::series::Marker;
use dermis_geometry::Vec2;

/// Draws a marker about 8 px wide.
pub(crate) fn draw_marker(canvas: &mut Canvas, at: Vec2, marker: Marker, colour: Rgb) {
    let around = |offsets: &[(f64, f64)]| offsets.iter().map(|&(x, y)| at + Vec2::new(x, y)).collect::<Vec<_>>();
    match marker {
        Marker::None => {}
        Marker::Disc => canvas.disc(at, 4.0, colour),
        Marker::Ring => {
            canvas.disc(at, 4.0, PAPER);
            canvas.circle(at, 3.6, 1.6, colour);
        }
        Marker::Square => canvas.rect(Rect::new(at.x - 3.5, at.y - 3.5, at.x + 3.5, at.y + 3.5), colour),
        Marker::Triangle => canvas.polygon(&around(&[(-4.4, 3.4), (4.4, 3.4), (0.0, -4.8)]), colour),
        Marker::Diamond => canvas.polygon(&around(&[(-4.8, 0.0), (0.0, 4.8), (4.8, 0.0), (0.0, -4.8)]), colour),
        Marker::Cross => {
            let (a, b) = (around(&[(-3.5, -3.5), (3.5, 3.5)]), around(&[(-3.5, 3.5), (3.5, -3.5)]));
            canvas.strokes(&[&a, &b], 1.8, colour);
        }
    }
}
