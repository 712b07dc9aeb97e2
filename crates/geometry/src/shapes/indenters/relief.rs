//! Raised features under a plate, as one closed solid.

use super::outline::{Outline, rectangle};
use super::{PLATE_M, PLATE_THICKNESS_M, RELIEF_M};
use crate::shapes::ShapeError;
use crate::shapes::polygon::triangulate;
use crate::{TriMesh, Vec2, Vec3};

/// A plate whose lower face, [`RELIEF_M`] above z = 0, carries features that point downwards.
#[derive(Default)]
pub(super) struct Relief {
    vertices: Vec<Vec3>,
    triangles: Vec<[u32; 3]>,
    feet: Vec<Vec<u32>>,
}

impl Relief {
    /// Adds a feature with upright walls and a flat end at height `end_m`.
    pub fn extruded(self, outline: &Outline, end_m: f64) -> Self {
        self.stacked(&[(outline.clone(), RELIEF_M), (outline.clone(), end_m)])
    }

    /// Adds a feature of revolution about an upright axis: `profile` holds radii and heights (m), starting at the
    /// plate. It ends on the axis or in a flat face.
    pub fn revolved(self, middle: Vec2, around: usize, profile: &[(f64, f64)]) -> Self {
        let ring = |radius_m: f64| super::outline::regular(middle, radius_m, around, 0.0);
        let levels: Vec<_> = profile.iter().map(|&(r, z)| (if r > 0.0 { ring(r) } else { vec![middle] }, z)).collect();
        self.stacked(&levels)
    }

    /// Joins outlines with equal numbers of points, each at its height, to the next; the last is filled or is a point.
    fn stacked(mut self, levels: &[(Outline, f64)]) -> Self {
        let mut above = self.push(&levels[0].0, levels[0].1);
        self.feet.push(above.iter().rev().copied().collect());
        for (outline, z) in &levels[1..] {
            let below = self.push(outline, *z);
            let count = above.len();
            for (i, next) in (0..count).map(|i| (i, (i + 1) % count)) {
                if below.len() == 1 {
                    self.triangles.push([below[0], above[next], above[i]]);
                } else {
                    self.triangles.push([below[i], below[next], above[next]]);
                    self.triangles.push([below[i], above[next], above[i]]);
                }
            }
            above = below;
        }
        if above.len() > 1 {
            self.fill(&above, &[], true);
        }
        self
    }

    /// Adds the plate around the bases of the features.
    pub fn on_plate(mut self, name: &str) -> Result<TriMesh, ShapeError> {
        let square = rectangle(Vec2::ZERO, Vec2::splat(PLATE_M));
        let below = self.push(&square, RELIEF_M);
        let above = self.push(&square, RELIEF_M + PLATE_THICKNESS_M);
        let feet = std::mem::take(&mut self.feet);
        self.fill(&below, &feet, true);
        self.fill(&above, &[], false);
        for (i, next) in (0..4).map(|i| (i, (i + 1) % 4)) {
            self.triangles.push([below[i], below[next], above[next]]);
            self.triangles.push([below[i], above[next], above[i]]);
        }
        Ok(TriMesh::new(name, self.vertices, self.triangles)?)
    }

    fn push(&mut self, outline: &Outline, z: f64) -> Vec<u32> {
        let first = self.vertices.len() as u32;
        self.vertices.extend(outline.iter().map(|p| p.extend(z)));
        (first..self.vertices.len() as u32).collect()
    }

    fn fill(&mut self, outline: &[u32], holes: &[Vec<u32>], looks_down: bool) {
        let plane: Vec<Vec2> = self.vertices.iter().map(|v| v.truncate()).collect();
        let triangles = triangulate(&plane, outline, holes).into_iter();
        self.triangles.extend(triangles.map(|[a, b, c]| if looks_down { [a, c, b] } else { [a, b, c] }));
    }
}
