//! Which items may lie in a box, or where a plane cuts through it.

use super::{Bvh, EMPTY, HEURISTIC_DEPTH, Lanes};
use crate::{Bounds, Vec3};

/// A region in the frame of the lanes, in `f32`.
struct Region {
    min: [f32; 3],
    max: [f32; 3],
}

impl Region {
    fn new(bvh: &Bvh, query: &Bounds) -> Self {
        let center = bvh.bounds.center();
        // The lanes are padded by more than this rounding costs while the query is not far larger than they are.
        let limit = bvh.bounds.size() + Vec3::splat(bvh.pad);
        let (low, high) = ((query.min - center).max(-limit), (query.max - center).min(limit));
        Self { min: low.to_array().map(|c| (c as f32).next_down()), max: high.to_array().map(|c| (c as f32).next_up()) }
    }

    fn meets(&self, lanes: &Lanes) -> [bool; 4] {
        let mut met = [true; 4];
        for axis in 0..3 {
            for lane in 0..4 {
                met[lane] &= lanes.min[axis][lane] <= self.max[axis] && lanes.max[axis][lane] >= self.min[axis];
            }
        }
        met
    }
}

/// A plane n·x = d in the frame of the lanes, in `f32`.
struct Cut {
    normal: [f32; 3],
    offset: f32,
    slack: f32,
}

impl Cut {
    fn new(bvh: &Bvh, normal: Vec3, offset: f64) -> Self {
        let size = bvh.bounds.size().length();
        Self {
            normal: normal.to_array().map(|c| c as f32),
            // A plane far outside stays outside when it is brought nearer.
            offset: (offset - normal.dot(bvh.bounds.center())).clamp(-4.0 * size, 4.0 * size) as f32,
            slack: (1e-5 * size + 4.0 * bvh.pad) as f32,
        }
    }

    fn meets(&self, lanes: &Lanes) -> [bool; 4] {
        let (mut low, mut high) = ([-self.offset; 4], [-self.offset; 4]);
        for (axis, &n) in self.normal.iter().enumerate() {
            let (near, far) =
                if n >= 0.0 { (&lanes.min[axis], &lanes.max[axis]) } else { (&lanes.max[axis], &lanes.min[axis]) };
            for lane in 0..4 {
                low[lane] += n * near[lane];
                high[lane] += n * far[lane];
            }
        }
        let mut met = [false; 4];
        for lane in 0..4 {
            met[lane] = low[lane] <= self.slack && high[lane] >= -self.slack;
        }
        met
    }
}

impl Bvh {
    /// Visits all items whose box meets `query`, and perhaps a few more: positions in [`Bvh::order`].
    pub fn overlapping(&self, query: &Bounds, visit: impl FnMut(usize)) {
        if !self.bounds.padded(self.pad).overlaps(query) {
            return;
        }
        let region = Region::new(self, query);
        self.walk(|lanes| region.meets(lanes), visit);
    }

    /// Visits all items whose box meets `query` and the plane `normal`·x = `offset` (m; `normal` of length one), and
    /// perhaps a few more: positions in [`Bvh::order`]. What a large, slanted triangle needs.
    pub fn crossing(&self, query: &Bounds, normal: Vec3, offset: f64, visit: impl FnMut(usize)) {
        if !self.bounds.padded(self.pad).overlaps(query) {
            return;
        }
        let region = Region::new(self, query);
        let cut = Cut::new(self, normal, offset);
        self.walk(
            |lanes| {
                let (inside, cut) = (region.meets(lanes), cut.meets(lanes));
                [inside[0] & cut[0], inside[1] & cut[1], inside[2] & cut[2], inside[3] & cut[3]]
            },
            visit,
        );
    }

    /// All items, in an order that depends on the hierarchy alone.
    fn walk(&self, meets: impl Fn(&Lanes) -> [bool; 4], mut visit: impl FnMut(usize)) {
        if self.nodes.is_empty() {
            return;
        }
        let mut stack = [0u32; 3 * (HEURISTIC_DEPTH + 34) / 2 + 4];
        let mut top = 1;
        while top > 0 {
            top -= 1;
            let node = &self.nodes[stack[top] as usize];
            let met = meets(&node.lanes);
            for lane in 0..4 {
                if !met[lane] || node.child[lane] == EMPTY {
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

    /// Everything that trying all boxes finds is visited, once.
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
            bvh.crossing(&query, normal, offset, |position| crossed[bvh.order()[position] as usize] += 1);
            assert!((0..500).all(|i| !(boxes[i].overlaps(&query) && cut(&boxes[i])) || crossed[i] == 1));
            assert!(crossed.iter().sum::<i32>() <= found.iter().sum::<i32>());
        }
    }
}
