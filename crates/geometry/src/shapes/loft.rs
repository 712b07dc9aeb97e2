//! Surfaces through rings or rows of points, each joined to the next by triangles.

use super::{ShapeError, check_count, check_length};
use crate::{TriMesh, Vec3};

/// Spacing of the rings and of their points, as a fraction of the longest edge: slightly below 1/√2, so that the
/// diagonal of a square cell does not exceed the edge.
const STEP: f64 = 0.7;
const FEWEST_IN_RING: usize = 6;
/// Number of samples along and around one segment for measuring lengths.
const ALONG: usize = 96;
const AROUND: usize = 96;
/// Maximum lead of one line over the other while joining them, as a fraction of their length. Without it a coarse ring
/// could be joined completely in one go, and its closing edge used twice.
const MAX_AHEAD: f64 = 0.2;

/// A tube-like surface: `surface(s, t)` for a station `s` and a fraction `t` of a revolution, right-handed about the
/// direction of increasing `s`. A ring without extent becomes a pole.
pub(super) struct Loft<'a, F: Fn(f64, f64) -> Vec3> {
    pub name: &'static str,
    pub surface: F,
    /// First and last station, and every station in between that needs a ring of its own because of a crease.
    pub breaks: &'a [f64],
    pub edge_m: f64,
}

impl<F: Fn(f64, f64) -> Vec3> Loft<'_, F> {
    /// Builds the mesh. It is closed when both ends are poles.
    pub fn mesh(&self) -> Result<TriMesh, ShapeError> {
        check_length(self.name, "edge_m", self.edge_m)?;
        let area = self.area_m2();
        // The step is no larger than the shape itself, so that a small ring is distinguished from a pole.
        let step = (STEP * self.edge_m).min(area.sqrt());
        let segments = self.segments();
        // A thin shape has more triangles than its area has squares: those of the smallest rings, two a point.
        let rings: f64 = segments.iter().map(|segment| (segment.length() / step).ceil().max(1.0)).sum();
        check_count(self.name, self.edge_m, 2.0 * area / (step * step) + (2 * FEWEST_IN_RING) as f64 * rings)?;
        let mut strips = StripMesh::default();
        for s in stations(&segments, step) {
            strips.ring(&self.ring(s, step));
        }
        Ok(TriMesh::new(self.name, strips.vertices, strips.triangles)?)
    }

    fn area_m2(&self) -> f64 {
        let mut area = 0.0;
        for segment in self.breaks.windows(2) {
            let at = |i: usize, j: usize| {
                (self.surface)(mix(segment[0], segment[1], i as f64 / ALONG as f64), j as f64 / AROUND as f64)
            };
            for (i, j) in (0..ALONG).flat_map(|i| (0..AROUND).map(move |j| (i, j))) {
                area += 0.5 * (at(i + 1, j + 1) - at(i, j)).cross(at(i + 1, j) - at(i, j + 1)).length();
            }
        }
        area
    }

    /// The distance that the fastest point of the outline travels along each segment.
    fn segments(&self) -> Vec<Arc> {
        let travel = |a: f64, b: f64| {
            let moved =
                (0..AROUND).map(|j| j as f64 / AROUND as f64).map(|t| (self.surface)(b, t) - (self.surface)(a, t));
            moved.map(|d| d.length()).fold(0.0, f64::max)
        };
        self.breaks.windows(2).map(|segment| Arc::measure(segment[0], segment[1], ALONG, travel)).collect()
    }

    fn ring(&self, s: f64, step: f64) -> Vec<Vec3> {
        let chord = |a: f64, b: f64| ((self.surface)(s, b) - (self.surface)(s, a)).length();
        let rough = Arc::measure(0.0, 1.0, AROUND, chord).length();
        if rough < 1e-6 * step {
            return vec![(self.surface)(s, 0.0)];
        }
        let count = ((rough / step).ceil() as usize).max(FEWEST_IN_RING);
        let table = Arc::measure(0.0, 1.0, AROUND.max(2 * count), chord);
        (0..count).map(|k| (self.surface)(s, table.at(k as f64 / count as f64))).collect()
    }
}

/// Stations of the rings, evenly spaced along each segment.
fn stations(segments: &[Arc], step: f64) -> Vec<f64> {
    let mut stations = vec![segments[0].from];
    for segment in segments {
        let count = (segment.length() / step).ceil().max(1.0) as usize;
        stations.extend((1..count).map(|k| segment.at(k as f64 / count as f64)));
        stations.push(segment.to);
    }
    stations
}

/// The tabulated arc length of a curve, for dividing it evenly.
pub(super) struct Arc {
    from: f64,
    to: f64,
    lengths: Vec<f64>,
}

impl Arc {
    pub fn measure(from: f64, to: f64, samples: usize, distance: impl Fn(f64, f64) -> f64) -> Self {
        let mut lengths = vec![0.0];
        let at = |i: usize| mix(from, to, i as f64 / samples as f64);
        for i in 0..samples {
            lengths.push(lengths[i] + distance(at(i), at(i + 1)));
        }
        Self { from, to, lengths }
    }

    pub fn length(&self) -> f64 {
        self.lengths[self.lengths.len() - 1]
    }

    /// The parameter at a fraction (0 to 1) of the length.
    pub fn at(&self, part: f64) -> f64 {
        let samples = self.lengths.len() - 1;
        let wanted = part * self.length();
        let after = self.lengths.partition_point(|&l| l < wanted).clamp(1, samples);
        let (low, high) = (self.lengths[after - 1], self.lengths[after]);
        let inside = if high > low { (wanted - low) / (high - low) } else { 0.0 };
        mix(self.from, self.to, (after as f64 - 1.0 + inside) / samples as f64)
    }
}

/// Vertices and triangles of a surface that is built ring by ring or row by row.
#[derive(Default)]
pub(super) struct StripMesh {
    pub vertices: Vec<Vec3>,
    pub triangles: Vec<[u32; 3]>,
    last: Vec<u32>,
}

impl StripMesh {
    /// Adds a closed ring, or a pole if there is a single point.
    pub fn ring(&mut self, points: &[Vec3]) {
        let mut next = self.push(points);
        if next.len() > 1 {
            next.push(next[0]);
        }
        self.zip(next);
    }

    /// Adds an open row.
    pub fn row(&mut self, points: &[Vec3]) {
        let next = self.push(points);
        self.zip(next);
    }

    fn push(&mut self, points: &[Vec3]) -> Vec<u32> {
        let first = self.vertices.len() as u32;
        self.vertices.extend_from_slice(points);
        (first..self.vertices.len() as u32).collect()
    }

    /// Joins the last line of vertices to the next by triangles, always with the shorter diagonal.
    fn zip(&mut self, next: Vec<u32>) {
        let last = std::mem::replace(&mut self.last, next);
        let next = &self.last;
        if last.is_empty() {
            return;
        }
        let apart = |a: u32, b: u32| self.vertices[a as usize].distance_squared(self.vertices[b as usize]);
        let (mut i, mut j) = (0, 0);
        while i + 1 < last.len() || j + 1 < next.len() {
            // Lead of the last line over the next, as a fraction of the whole.
            let ahead = || (i + 1) as f64 / (last.len() - 1) as f64 - (j + 1) as f64 / (next.len() - 1) as f64;
            let on_last = if i + 1 == last.len() || j + 1 == next.len() {
                j + 1 == next.len()
            } else if ahead().abs() > MAX_AHEAD {
                ahead() < 0.0
            } else {
                apart(last[i + 1], next[j]) < apart(last[i], next[j + 1])
            };
            if on_last {
                self.triangles.push([last[i], last[i + 1], next[j]]);
                i += 1;
            } else {
                self.triangles.push([last[i], next[j + 1], next[j]]);
                j += 1;
            }
        }
    }
}

/// Linear interpolation from `a` at 0 to `b` at 1, exact at both ends.
pub(super) fn mix(a: f64, b: f64, part: f64) -> f64 {
    a * (1.0 - part) + b * part
}
