//! Coverage masks for anti-aliasing.

use crate::rect::Rect;
use dermis_geometry::Vec2;

/// Coverage of a pixel at distance `d` from the centre line of a band of half width `half`.
pub(crate) fn band_coverage(d: f64, half: f64) -> f64 {
    ((d + 0.5).min(half) - (d - 0.5).max(-half)).clamp(0.0, 1.0)
}

/// Coverage of each pixel of a part of the image.
pub(crate) struct Mask {
    pub left: usize,
    pub top: usize,
    pub width: usize,
    pub height: usize,
    pub coverage: Vec<f32>,
}

impl Mask {
    /// A mask for shapes around `points` with a margin of `margin` pixels; `None` if it lies outside `clip`.
    pub fn around(points: impl IntoIterator<Item = Vec2>, margin: f64, clip: Rect) -> Option<Self> {
        let finite = points.into_iter().filter(|p| p.is_finite());
        let (low, high) = finite.fold((Vec2::INFINITY, Vec2::NEG_INFINITY), |(low, high), p| (low.min(p), high.max(p)));
        let left = (low.x - margin).floor().max(clip.left);
        let top = (low.y - margin).floor().max(clip.top);
        let right = (high.x + margin).ceil().min(clip.right);
        let bottom = (high.y + margin).ceil().min(clip.bottom);
        if !(margin.is_finite() && right > left && bottom > top) {
            return None;
        }
        let (width, height) = ((right - left) as usize, (bottom - top) as usize);
        Some(Self { left: left as usize, top: top as usize, width, height, coverage: vec![0.0; width * height] })
    }

    /// Raises the coverage to that of another shape where it is larger.
    pub fn add(&mut self, coverage: impl Fn(Vec2) -> f64) {
        self.add_within(0..self.width, 0..self.height, coverage);
    }

    fn add_within(
        &mut self,
        columns: std::ops::Range<usize>,
        rows: std::ops::Range<usize>,
        coverage: impl Fn(Vec2) -> f64,
    ) {
        for row in rows {
            for column in columns.clone() {
                let middle = Vec2::new((self.left + column) as f64 + 0.5, (self.top + row) as f64 + 0.5);
                let cell = &mut self.coverage[row * self.width + column];
                *cell = cell.max(coverage(middle) as f32);
            }
        }
    }

    /// Adds all points within `half` of a segment.
    pub fn add_capsule(&mut self, from: Vec2, to: Vec2, half: f64) {
        if !(from.is_finite() && to.is_finite()) {
            return;
        }
        let (along, reach) = (to - from, half + 1.0);
        let scale = 1.0 / along.length_squared().max(1e-12);
        let coverage = |point: Vec2| {
            let nearest = from + along * ((point - from).dot(along) * scale).clamp(0.0, 1.0);
            band_coverage((point - nearest).length(), half)
        };
        let cells = |low: f64, high: f64, start: usize, count: usize| {
            let clamp = |v: f64| (v - start as f64).clamp(0.0, count as f64) as usize;
            clamp((low - reach).floor())..clamp((high + reach).ceil())
        };
        let rows = cells(from.y.min(to.y), from.y.max(to.y), self.top, self.height);
        // A long slanted line covers few columns of its bounding box: each row visits only the columns near it.
        for row in rows {
            let y = (self.top + row) as f64 + 0.5;
            let (mut low, mut high) = (from.x.min(to.x), from.x.max(to.x));
            if along.y.abs() > 1e-9 {
                let at = |y: f64| from.x + along.x * (y - from.y) / along.y;
                let (a, b) = (at(y - reach), at(y + reach));
                (low, high) = (low.max(a.min(b)), high.min(a.max(b)));
            }
            let columns = cells(low, high, self.left, self.width);
            self.add_within(columns, row..row + 1, coverage);
        }
    }

    /// Adds a polygon, with sixteen scan lines per pixel row and exact ends of each.
    pub fn add_polygon(&mut self, corners: &[Vec2]) {
        const LINES: usize = 16;
        let mut row_coverage = vec![0.0_f64; self.width];
        for row in 0..self.height {
            row_coverage.fill(0.0);
            for line in 0..LINES {
                let y = (self.top + row) as f64 + (line as f64 + 0.5) / LINES as f64;
                for (from, to) in inside_spans(corners, y) {
                    let from = (from - self.left as f64).clamp(0.0, self.width as f64);
                    let to = (to - self.left as f64).clamp(0.0, self.width as f64);
                    for (column, cell) in
                        row_coverage.iter_mut().enumerate().take(to.ceil() as usize).skip(from as usize)
                    {
                        *cell += ((to.min(column as f64 + 1.0) - from.max(column as f64)) / LINES as f64).max(0.0);
                    }
                }
            }
            for (column, &share) in row_coverage.iter().enumerate() {
                let cell = &mut self.coverage[row * self.width + column];
                *cell = cell.max(share as f32);
            }
        }
    }
}

/// The intervals of the line at height `y` inside the polygon.
fn inside_spans(corners: &[Vec2], y: f64) -> Vec<(f64, f64)> {
    let mut crossings: Vec<(f64, i32)> = Vec::new();
    for (i, &a) in corners.iter().enumerate() {
        let b = corners[(i + 1) % corners.len()];
        if (a.y <= y) != (b.y <= y) {
            let x = a.x + (b.x - a.x) * (y - a.y) / (b.y - a.y);
            crossings.push((x, if b.y > a.y { 1 } else { -1 }));
        }
    }
    crossings.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (mut spans, mut winding, mut start) = (Vec::new(), 0, 0.0);
    for (x, turn) in crossings {
        if winding == 0 {
            start = x;
        }
        winding += turn;
        if winding == 0 {
            spans.push((start, x));
        }
    }
    spans
}
