//! A part of a polygon facet that keeps track of its edges.

use dermis_geometry::{Bounds, Vec3};
use dermis_skin::{Corner, PartEdge};

/// A convex part of a polygon: its corners (m), each with the edge from it to the next.
#[derive(Clone, Debug)]
pub(super) struct Part(pub Vec<(Vec3, PartEdge)>);

impl Part {
    /// The whole polygon.
    pub fn whole(corners: &[Corner]) -> Self {
        Self(corners.iter().enumerate().map(|(i, corner)| (corner.at, PartEdge::Facet(i))).collect())
    }

    pub fn is_empty(&self) -> bool {
        self.0.len() < 3
    }

    pub fn points(&self) -> impl Iterator<Item = Vec3> {
        self.0.iter().map(|corner| corner.0)
    }

    pub fn bounds(&self) -> Bounds {
        Bounds::around(self.points())
    }

    /// The part behind a plane through `on` with the unit normal `outward`.
    pub fn behind(self, on: Vec3, outward: Vec3) -> Self {
        let heights: Vec<f64> = self.points().map(|at| outward.dot(at - on)).collect();
        if heights.iter().all(|&height| height <= 0.0) {
            return self;
        }
        let mut kept = Vec::with_capacity(self.0.len() + 1);
        for (i, &(at, edge)) in self.0.iter().enumerate() {
            let next = (i + 1) % self.0.len();
            let (here, there) = (heights[i], heights[next]);
            let cut = || at.lerp(self.0[next].0, here / (here - there));
            match (here.total_cmp(&0.0), there > 0.0) {
                (std::cmp::Ordering::Less, true) => kept.extend([(at, edge), (cut(), PartEdge::Border(outward))]),
                (std::cmp::Ordering::Greater, _) if there < 0.0 => kept.push((cut(), edge)),
                (std::cmp::Ordering::Greater, _) => {}
                (std::cmp::Ordering::Equal, true) => kept.push((at, PartEdge::Border(outward))),
                _ => kept.push((at, edge)),
            }
        }
        Self(kept)
    }
}
