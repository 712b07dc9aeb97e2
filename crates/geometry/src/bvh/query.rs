//! Overlap queries: items that may intersect a box and slabs.

use super::{Bvh, EMPTY, HEURISTIC_DEPTH, Lanes};
use crate::{Bounds, Vec3};
use glam::Vec4;

/// A region in the frame of the lanes, in `f32`.
struct Region {
    min: [f32; 3],
    max: [f32; 3],
}

impl Region {
    fn new(bvh: &Bvh, query: &Bounds) -> Self {
        let center = bvh.bounds.center();
        // The padding of the lanes exceeds the rounding error as long as the query is not far larger than the
        // hierarchy.
        let limit = bvh.bounds.size() + Vec3::splat(bvh.pad);
        let (low, high) = ((query.min - center).max(-limit), (query.max - center).min(limit));
        Self { min: low.to_array().map(|c| (c as f32).next_down()), max: high.to_array().map(|c| (c as f32).next_up()) }
    }

    /// One bit for each lane that overlaps the region.
    #[inline]
    fn meets(&self, lanes: &Lanes) -> u32 {
        let mut met = u32::MAX;
        for axis in 0..3 {
            let (low, high) = (Vec4::from_array(lanes.min[axis]), Vec4::from_array(lanes.max[axis]));
            met &= (low.cmple(Vec4::splat(self.max[axis])) & high.cmpge(Vec4::splat(self.min[axis]))).bitmask();
        }
        met
    }
}

/// The region between two parallel planes: `low` ≤ `normal`·x ≤ `high`. With `low` = `high` it is a plane.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Slab {
    /// Unit normal of the planes.
    pub normal: Vec3,
    /// Offset of the lower plane along the normal (m).
    pub low: f64,
    /// Offset of the upper plane along the normal (m).
    pub high: f64,
}

/// A slab in the frame of the lanes, in `f32`, widened by the rounding error.
#[derive(Clone, Copy)]
struct Cut {
    /// Positive and negative parts of the normal; along each axis one of them is zero.
    rising: [f32; 3],
    falling: [f32; 3],
    low: f32,
    high: f32,
}

impl Cut {
    fn new(bvh: &Bvh, slab: &Slab) -> Self {
        let size = bvh.reach;
        let middle = slab.normal.dot(bvh.bounds.center());
        let slack = 2e-6 * size + 4.0 * bvh.pad;
        // A plane far outside stays outside when its offset is clamped.
        let near = |height: f64| (height - middle).clamp(-4.0 * size, 4.0 * size);
        Self {
            rising: slab.normal.to_array().map(|c| (c as f32).max(0.0)),
            falling: slab.normal.to_array().map(|c| (c as f32).min(0.0)),
            low: (near(slab.low) - slack) as f32,
            high: (near(slab.high) + slack) as f32,
        }
    }

    /// One bit for each lane that overlaps the slab.
    #[inline]
    fn meets(&self, lanes: &Lanes) -> u32 {
        let (mut low, mut high) = (Vec4::ZERO, Vec4::ZERO);
        for axis in 0..3 {
            let (near, far) = (Vec4::from_array(lanes.min[axis]), Vec4::from_array(lanes.max[axis]));
            low += near * self.rising[axis] + far * self.falling[axis];
            high += far * self.rising[axis] + near * self.falling[axis];
        }
        (low.cmple(Vec4::splat(self.high)) & high.cmpge(Vec4::splat(self.low))).bitmask()
    }
}

impl Bvh {
    /// Visits all items whose box overlaps `query`, and possibly a few more: positions in [`Bvh::order`].
    pub fn overlapping(&self, query: &Bounds, visit: impl FnMut(usize)) {
        if !self.bounds.padded(self.pad).overlaps(query) {
            return;
        }
        let region = Region::new(self, query);
        self.walk(|lanes| region.meets(lanes), visit);
    }

    /// Visits all items whose box overlaps `query` and every slab, and possibly a few more: positions in
    /// [`Bvh::order`]. One slab bounds a large, slanted triangle; three slabs form an oriented box.
    pub fn within<const N: usize>(&self, query: &Bounds, slabs: &[Slab; N], visit: impl FnMut(usize)) {
        if !self.bounds.padded(self.pad).overlaps(query) {
            return;
        }
        let region = Region::new(self, query);
        let cuts = slabs.map(|slab| Cut::new(self, &slab));
        self.walk(
            |lanes| {
                let mut met = region.meets(lanes);
                for cut in &cuts {
                    if met == 0 {
                        break;
                    }
                    met &= cut.meets(lanes);
                }
                met
            },
            visit,
        );
    }

    /// Visits all items of overlapping leaves, in an order that depends only on the hierarchy.
    fn walk(&self, meets: impl Fn(&Lanes) -> u32, mut visit: impl FnMut(usize)) {
        if self.nodes.is_empty() {
            return;
        }
        let mut stack = [0u32; 3 * (HEURISTIC_DEPTH + 34) / 2 + 4];
        let mut top = 1;
        while top > 0 {
            top -= 1;
            let node = &self.nodes[stack[top] as usize];
            let mut met = meets(&node.lanes) & 0b1111;
            while met != 0 {
                let lane = met.trailing_zeros() as usize;
                met &= met - 1;
                if node.child[lane] == EMPTY {
                    continue;
                }
                let first = node.child[lane];
                if node.count[lane] > 0 {
                    (first..first + node.count[lane]).for_each(|position| visit(position as usize));
                } else {
                    stack[top] = first;
                    top += 1;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Random;

    /// The query visits every item that an exhaustive search finds, once.
    #[test]
    fn nothing_is_missed() {
        let mut random = Random::new(11);
        let mut point = |scale: f64| Vec3::new(random.uniform(), random.uniform(), random.uniform()) * scale;
        let boxes: Vec<Bounds> = (0..500)
            .map(|_| {
                let corner = point(1.0);
                Bounds { min: corner, max: corner + point(0.05) }
            })
            .collect();
        let bvh = Bvh::over(&boxes);
        for _ in 0..200 {
            let corner = point(1.2) - Vec3::splat(0.1);
            let query = Bounds { min: corner, max: corner + point(0.4) };
            let normal = (point(2.0) - Vec3::ONE).normalize();
            let offset = normal.dot(query.center());
            let cut = |b: &Bounds| {
                let (c, h) = (b.center(), b.size() * 0.5);
                (normal.dot(c) - offset).abs() <= normal.abs().dot(h)
            };
            let mut found = vec![0; boxes.len()];
            bvh.overlapping(&query, |position| found[bvh.order()[position] as usize] += 1);
            assert!((0..500).all(|i| !boxes[i].overlaps(&query) || found[i] == 1));
            assert!(found.iter().all(|&n| n <= 1));
            let mut crossed = vec![0; boxes.len()];
            let plane = Slab { normal, low: offset, high: offset };
            bvh.within(&query, &[plane], |position| crossed[bvh.order()[position] as usize] += 1);
            assert!((0..500).all(|i| !(boxes[i].overlaps(&query) && cut(&boxes[i])) || crossed[i] == 1));
            assert!(crossed.iter().sum::<i32>() <= found.iter().sum::<i32>());
        }
    }
}
