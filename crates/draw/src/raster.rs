//! Rasterises triangles with a depth buffer.

use crate::camera::Camera;
use dermis_geometry::{Vec2, Vec3, cut};

/// Marks a sample without a triangle.
pub(crate) const NOTHING: u32 = u32::MAX;

/// Calls `visit(x, y, value)` for every sample of a `width × height` grid inside the triangle. Samples lie at the
/// centres of cells. `value` is given at the corners and linear over the image. Each sample belongs to exactly one of
/// two neighbouring triangles, because they evaluate their common edge identically.
pub(crate) fn scan(corners: [(Vec2, f64); 3], width: usize, height: usize, mut visit: impl FnMut(usize, usize, f64)) {
    let [(a, va), (b, vb), (c, vc)] = corners;
    let doubled_area = (b - a).perp_dot(c - a);
    if !doubled_area.is_finite() || doubled_area == 0.0 {
        return;
    }
    let by_x = ((vb - va) * (c.y - a.y) - (vc - va) * (b.y - a.y)) / doubled_area;
    let by_y = ((vc - va) * (b.x - a.x) - (vb - va) * (c.x - a.x)) / doubled_area;
    // A thin triangle seen edge-on has a steep gradient; its values still lie between those of its corners.
    let (least, most) = (va.min(vb).min(vc), va.max(vb).max(vc));
    let first = |v: f64, count: usize| (v - 0.5).ceil().clamp(0.0, count as f64) as usize;
    let rows = first(a.y.min(b.y).min(c.y), height)..first(a.y.max(b.y).max(c.y), height);
    for row in rows {
        let y = row as f64 + 0.5;
        let (mut left, mut right) = (f64::INFINITY, f64::NEG_INFINITY);
        for (p, q) in [(a, b), (b, c), (c, a)] {
            let (p, q) = if (p.y, p.x) < (q.y, q.x) { (p, q) } else { (q, p) };
            if p.y <= y && y < q.y {
                let x = p.x + (q.x - p.x) * ((y - p.y) / (q.y - p.y));
                (left, right) = (left.min(x), right.max(x));
            }
        }
        if left > right {
            continue;
        }
        for column in first(left, width)..first(right, width) {
            let value = va + by_x * (column as f64 + 0.5 - a.x) + by_y * (y - a.y);
            visit(column, row, value.clamp(least, most));
        }
    }
}

/// The nearest triangle at each sample, and the inverse of its depth (1/m).
pub(crate) struct Visible {
    pub width: usize,
    pub height: usize,
    pub triangle: Vec<u32>,
    pub nearness: Vec<f32>,
}

impl Visible {
    /// An empty buffer.
    pub fn new(width: usize, height: usize) -> Self {
        Self { width, height, triangle: vec![NOTHING; width * height], nearness: vec![0.0; width * height] }
    }

    /// Draws a triangle (m) where it is nearer than the depth buffer.
    pub fn add(&mut self, camera: &Camera, corners: [Vec3; 3], triangle: u32, near_m: f64) {
        let view = corners.map(|c| camera.view(c));
        let (width, height) = (self.width, self.height);
        let shape = in_front(view, near_m);
        let corner = |v: Vec3| (camera.pixel(v, width as f64, height as f64), 1.0 / v.z);
        for i in 2..shape.len() {
            let piece = [corner(shape[0]), corner(shape[i - 1]), corner(shape[i])];
            scan(piece, width, height, |x, y, nearness| {
                let sample = y * width + x;
                if nearness as f32 > self.nearness[sample] {
                    self.nearness[sample] = nearness as f32;
                    self.triangle[sample] = triangle;
                }
            });
        }
    }
}

/// Clips a triangle in view coordinates to depths of at least `near_m`: three or four corners, or none.
fn in_front(corners: [Vec3; 3], near_m: f64) -> Vec<Vec3> {
    let mut kept = corners.to_vec();
    cut(&mut kept, |corner| corner.z - near_m);
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A fan of triangles around a point covers every sample of the square exactly once.
    #[test]
    fn neighbours_share_no_sample_and_leave_none_out() {
        let middle = Vec2::new(13.5, 17.25);
        let rim = [(2.0, 2.5), (20.5, 2.5), (30.5, 2.5), (30.5, 30.5), (11.0, 30.5), (2.0, 30.5)];
        let rim = rim.map(|(x, y)| Vec2::new(x, y));
        let mut met = [[0; 32]; 32];
        for i in 0..rim.len() {
            let corners = [middle, rim[i], rim[(i + 1) % rim.len()]].map(|p| (p, 1.0));
            scan(corners, 32, 32, |x, y, _| met[y][x] += 1);
        }
        let inside = |v: usize, low: f64| v as f64 + 0.5 >= low && (v as f64 + 0.5) < 30.5;
        for (y, row) in met.iter().enumerate() {
            for (x, &count) in row.iter().enumerate() {
                assert_eq!(count, i32::from(inside(x, 2.0) && inside(y, 2.5)), "{x} {y}");
            }
        }
    }

    #[test]
    fn triangles_reaching_behind_the_eye_are_cut() {
        let cut = in_front([Vec3::new(0.0, 0.0, -1.0), Vec3::new(1.0, 0.0, 3.0), Vec3::new(0.0, 1.0, 3.0)], 0.1);
        assert_eq!(cut.len(), 4);
        assert!(cut.iter().all(|v| v.z > 0.1 - 1e-12));
        assert!(in_front([-Vec3::Z; 3], 0.1).is_empty());
    }
}
