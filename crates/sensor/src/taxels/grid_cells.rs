//! Distributes loads over the squares of a grid.

use super::Bins;
use crate::cells::{Piece, Triangle};
use dermis_geometry::Vec3;

/// The squares of a grid.
pub(super) struct GridCells {
    pub rows: usize,
    pub cols: usize,
    pub pitch_m: f64,
    /// Maximum distance (m) of a load above or below the surface, if bounded.
    pub height_m: Option<f64>,
}

impl GridCells {
    /// Adds a triangle. The parts of one that is as thin as the rounding of its corners do not sum to the whole: the largest
    /// part takes the rest.
    pub fn bin(&self, triangle: &Triangle, bins: &mut Bins) {
        let column = |p: Vec3| p.x / self.pitch_m + self.cols as f64 / 2.0;
        let row = |p: Vec3| self.rows as f64 / 2.0 - p.y / self.pitch_m;
        let whole = triangle.piece();
        let (mut rest, mut largest, mut size) = (whole.force(), None, 0.0);
        let mut add = |taxel: Option<usize>, force: Vec3| {
            bins.add(taxel, force);
            rest -= force;
            if force.length_squared() > size {
                (largest, size) = (taxel, force.length_squared());
            }
        };
        slice(whole, self.cols, column, |col, strip| match col {
            Some(col) => slice(strip, self.rows, row, |row, piece| {
                let (inside, above_or_below) = match self.height_m {
                    Some(height_m) => in_slab(piece, |p| p.z, height_m),
                    None => (piece, Vec3::ZERO),
                };
                add(None, above_or_below);
                add(row.map(|row| row * self.cols + col), inside.force());
            }),
            None => add(None, strip.force()),
        });
        bins.add(largest, rest);
    }
}

/// Cuts a piece where a linear function passes 0, 1, … `count`, and calls `part` with each part and its interval.
fn slice(piece: Piece, count: usize, along: impl Fn(Vec3) -> f64, mut part: impl FnMut(Option<usize>, Piece)) {
    let (low, high) = piece.points().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), p| {
        let at = along(p);
        (low.min(at), high.max(at))
    });
    // Saturates: a part off the array needs at most one line on either side.
    let first = low.floor().clamp(-1.0, count as f64) as i64;
    let last = high.floor().clamp(-1.0, count as f64) as i64;
    let mut rest = piece;
    for index in first..=last {
        let (here, beyond) = match index == last {
            true => (rest, None),
            false => {
                let (here, beyond) = rest.split(|p| along(p) - (index + 1) as f64);
                (here, Some(beyond))
            }
        };
        if !here.is_empty() {
            part(usize::try_from(index).ok().filter(|&i| i < count), here);
        }
        match beyond {
            Some(beyond) => rest = beyond,
            None => return,
        }
    }
}

/// The part of a piece with |height| ≤ `max`, and the force on the rest.
pub(super) fn in_slab(piece: Piece, height: impl Fn(Vec3) -> f64, max: f64) -> (Piece, Vec3) {
    let (rest, above) = piece.split(|p| height(p) - max);
    let (below, inside) = rest.split(|p| height(p) + max);
    (inside, above.force() + below.force())
}
