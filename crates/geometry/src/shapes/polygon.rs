//! Triangulation of planar polygons.

use crate::Vec2;

/// Triangulates a simple polygon with holes into counter-clockwise triangles by ear clipping, the best-shaped ear
/// first.
///
/// `outline` runs counter-clockwise and each hole clockwise, as indices into `points`; they must not touch each other.
/// No vertex is added. A self-intersecting polygon leaves a gap, which the check for a closed mesh detects.
pub(super) fn triangulate(points: &[Vec2], outline: &[u32], holes: &[Vec<u32>]) -> Vec<[u32; 3]> {
    let mut ring = Bridging { points, ring: outline.to_vec(), waiting: holes.to_vec() }.into_one_ring();
    let mut ears: Vec<Option<f64>> = (0..ring.len()).map(|i| ear(points, &ring, i)).collect();
    let mut triangles = Vec::with_capacity(ring.len());
    while ring.len() > 3 {
        let best = |ears: &[Option<f64>]| {
            let found = ears.iter().enumerate().filter_map(|(i, &quality)| Some((i, quality?)));
            found.max_by(|a, b| a.1.total_cmp(&b.1).then(b.0.cmp(&a.0))).map(|(i, _)| i)
        };
        let Some(i) = best(&ears).or_else(|| {
            // Corners that were blocked may have become free since they were tested.
            ears = (0..ring.len()).map(|i| ear(points, &ring, i)).collect();
            best(&ears)
        }) else {
            return triangles;
        };
        triangles.push(corner(&ring, i));
        ring.remove(i);
        ears.remove(i);
        for beside in [(i + ring.len() - 1) % ring.len(), i % ring.len()] {
            ears[beside] = ear(points, &ring, beside);
        }
    }
    triangles.push([ring[0], ring[1], ring[2]]);
    triangles
}

fn corner(ring: &[u32], i: usize) -> [u32; 3] {
    [ring[(i + ring.len() - 1) % ring.len()], ring[i], ring[(i + 1) % ring.len()]]
}

/// Twice the area of a triangle, positive when counter-clockwise.
fn orientation(a: Vec2, b: Vec2, c: Vec2) -> f64 {
    (b - a).perp_dot(c - a)
}

/// Quality of corner `i` as an ear, from 0 (a sliver) to 1; `None` if it is reflex or contains a vertex.
fn ear(points: &[Vec2], ring: &[u32], i: usize) -> Option<f64> {
    let [a, b, c] = corner(ring, i).map(|v| points[v as usize]);
    let sides = a.distance_squared(b) + b.distance_squared(c) + c.distance_squared(a);
    // 2 √3 · doubled area / sum of squared sides is 1 for an equilateral triangle.
    let quality = 12f64.sqrt() * orientation(a, b, c) / sides;
    let covered = |&v: &u32| {
        let p = points[v as usize];
        let inside = orientation(a, b, p) >= 0.0 && orientation(b, c, p) >= 0.0 && orientation(c, a, p) >= 0.0;
        inside && p != a && p != b && p != c
    };
    (quality > 1e-9 && !ring.iter().any(covered)).then_some(quality)
}

/// Holes that are still to be joined to the outline by a bridge, which the ring follows in both directions.
struct Bridging<'a> {
    points: &'a [Vec2],
    ring: Vec<u32>,
    waiting: Vec<Vec<u32>>,
}

impl Bridging<'_> {
    fn into_one_ring(mut self) -> Vec<u32> {
        while let Some((from, hole, to)) = self.shortest_bridge() {
            let hole = self.waiting.swap_remove(hole);
            let around = (0..=hole.len()).map(|k| hole[(to + k) % hole.len()]).chain([self.ring[from]]);
            let around: Vec<u32> = around.collect();
            self.ring.splice(from + 1..from + 1, around);
        }
        self.ring
    }

    /// Position in the ring, hole, and position in the hole of the shortest bridge that intersects no edge.
    fn shortest_bridge(&self) -> Option<(usize, usize, usize)> {
        let at = |v: u32| self.points[v as usize];
        let mut ways = Vec::new();
        for (i, &from) in self.ring.iter().enumerate() {
            for (hole, loop_) in self.waiting.iter().enumerate() {
                ways.extend(loop_.iter().enumerate().map(|(k, &to)| (at(from).distance_squared(at(to)), i, hole, k)));
            }
        }
        ways.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let free = |&&(_, i, hole, k): &&(f64, usize, usize, usize)| {
            let (a, b) = (at(self.ring[i]), at(self.waiting[hole][k]));
            self.leaves_inwards(i, b) && !self.edges().any(|(c, d)| segments_intersect(a, b, c, d))
        };
        ways.iter().find(free).map(|&(_, i, hole, k)| (i, hole, k))
    }

    /// Whether the segment from ring position `i` to `b` starts inside the polygon's corner there. A vertex with a
    /// bridge occurs in the ring more than once, each time with a different corner.
    fn leaves_inwards(&self, i: usize, b: Vec2) -> bool {
        let [before, here, after] = corner(&self.ring, i).map(|v| self.points[v as usize]);
        let (left_of_in, left_of_out) = (orientation(before, here, b) > 0.0, orientation(here, after, b) > 0.0);
        if orientation(before, here, after) >= 0.0 { left_of_in && left_of_out } else { left_of_in || left_of_out }
    }

    fn edges(&self) -> impl Iterator<Item = (Vec2, Vec2)> + '_ {
        let at = |v: u32| self.points[v as usize];
        let loops = std::iter::once(&self.ring).chain(&self.waiting);
        loops.flat_map(move |l| (0..l.len()).map(move |i| (at(l[i]), at(l[(i + 1) % l.len()]))))
    }
}

/// Whether segments `ab` and `cd` have a point in common that is not an end of both.
fn segments_intersect(a: Vec2, b: Vec2, c: Vec2, d: Vec2) -> bool {
    let shared = |p: Vec2| p == a || p == b;
    match (shared(c), shared(d)) {
        (true, true) => false,
        (true, false) => on_segment(d, a, b),
        (false, true) => on_segment(c, a, b),
        (false, false) => {
            orientation(a, b, c) * orientation(a, b, d) <= 0.0
                && orientation(c, d, a) * orientation(c, d, b) <= 0.0
                && a.min(b).cmple(c.max(d)).all()
                && c.min(d).cmple(a.max(b)).all()
        }
    }
}

fn on_segment(p: Vec2, a: Vec2, b: Vec2) -> bool {
    orientation(a, b, p) == 0.0 && (p - a).dot(p - b) < 0.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f64::consts::TAU;

    fn regular(middle: Vec2, radius: f64, corners: usize, phase: f64) -> Vec<Vec2> {
        (0..corners).map(|k| middle + radius * Vec2::from_angle(phase + TAU * k as f64 / corners as f64)).collect()
    }

    fn area(points: &[Vec2]) -> f64 {
        (0..points.len()).map(|i| 0.5 * points[i].perp_dot(points[(i + 1) % points.len()])).sum()
    }

    /// Triangles cover the polygon exactly once if they are all counter-clockwise, their number follows Euler's formula
    /// and their areas sum to that of the polygon.
    fn check(outline: Vec<Vec2>, holes: &[Vec<Vec2>]) {
        let mut points = outline.clone();
        let mut loops = Vec::new();
        for hole in holes {
            let first = points.len() as u32;
            points.extend(hole.iter().rev());
            loops.push((first..points.len() as u32).collect());
        }
        let order: Vec<u32> = (0..outline.len() as u32).collect();
        let triangles = triangulate(&points, &order, &loops);
        assert_eq!(triangles.len(), points.len() + 2 * holes.len() - 2);
        let areas = triangles.iter().map(|t| t.map(|v| points[v as usize])).map(|[a, b, c]| 0.5 * orientation(a, b, c));
        let areas: Vec<f64> = areas.collect();
        assert!(areas.iter().all(|&a| a > 0.0));
        let wanted = area(&outline) - holes.iter().map(|h| area(h)).sum::<f64>();
        assert!((areas.iter().sum::<f64>() / wanted - 1.0).abs() < 1e-12);
    }

    #[test]
    fn polygons_are_covered_once() {
        let square = regular(Vec2::ZERO, 6.0, 4, 0.3);
        check(square.clone(), &[]);
        check(square.clone(), &[regular(Vec2::ZERO, 1.0, 40, 0.0)]);
        // Holes aligned with each other and with the sides.
        let aligned = [Vec2::new(-6.0, -6.0), Vec2::new(6.0, -6.0), Vec2::new(6.0, 6.0), Vec2::new(-6.0, 6.0)];
        let dots: Vec<_> = (0..16)
            .map(|i| regular(Vec2::new(f64::from(i % 4) * 3.0 - 4.5, f64::from(i / 4) * 3.0 - 4.5), 1.0, 24, 0.0))
            .collect();
        check(aligned.to_vec(), &dots);
        // A comb, most of whose corners are reflex or straight.
        let comb = (0..12).flat_map(|i| {
            let x = f64::from(i);
            [Vec2::new(-x, 5.0), Vec2::new(-x - 0.5, 5.0), Vec2::new(-x - 0.5, 1.0), Vec2::new(-x - 1.0, 1.0)]
        });
        check([Vec2::new(-12.0, 0.0), Vec2::ZERO].into_iter().chain(comb).collect(), &[]);
    }
}
