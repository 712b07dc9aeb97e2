//! A bounding-volume hierarchy over triangles.
//!
//! Binary, built top-down by the surface-area heuristic in 16 bins, `f64` boxes so that no padding is needed,
//! both children's boxes in the parent so that a visit touches one node. Traversal is the caller's: it says
//! how far each box is and what to do with a leaf.

use crate::{TriMesh, Vec3};

/// A box along the axes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds {
    /// Smallest coordinates (m).
    pub min: Vec3,
    /// Largest coordinates (m).
    pub max: Vec3,
}

impl Bounds {
    /// Contains nothing.
    pub const EMPTY: Self = Self { min: Vec3::INFINITY, max: Vec3::NEG_INFINITY };

    /// Smallest box around the points.
    pub fn around(points: impl IntoIterator<Item = Vec3>) -> Self {
        points.into_iter().fold(Self::EMPTY, |bounds, p| Self { min: bounds.min.min(p), max: bounds.max.max(p) })
    }

    /// Smallest box around both.
    pub fn union(&self, other: &Self) -> Self {
        Self { min: self.min.min(other.min), max: self.max.max(other.max) }
    }

    /// Middle (m).
    pub fn center(&self) -> Vec3 {
        (self.min + self.max) * 0.5
    }

    /// Edge lengths (m).
    pub fn size(&self) -> Vec3 {
        self.max - self.min
    }

    /// True when the two share a point.
    pub fn overlaps(&self, other: &Self) -> bool {
        self.min.cmple(other.max).all() && other.min.cmple(self.max).all()
    }

    /// The box with `margin` (m) added on every side.
    pub fn padded(&self, margin: f64) -> Self {
        Self { min: self.min - Vec3::splat(margin), max: self.max + Vec3::splat(margin) }
    }

    /// Squared distance (m²) of a point from the box, zero inside.
    pub fn distance_squared(&self, point: Vec3) -> f64 {
        (point.clamp(self.min, self.max) - point).length_squared()
    }

    fn half_area(&self) -> f64 {
        let s = self.size();
        s.x * s.y + s.y * s.z + s.z * s.x
    }
}

#[derive(Clone, Copy, Debug)]
struct Node {
    bounds: [Bounds; 2],
    /// Inner child: index of its node. Leaf: first position in `order`.
    child: [u32; 2],
    /// Zero for an inner child, else the number of triangles.
    count: [u32; 2],
}

/// The hierarchy. Triangles are referred to by their index in the mesh.
#[derive(Clone, Debug)]
pub struct Bvh {
    nodes: Vec<Node>,
    order: Vec<u32>,
    bounds: Bounds,
}

const LEAF: usize = 4;
const BINS: usize = 16;
/// Below this depth parts are halved, so that no input makes the tree deeper than `HEURISTIC_DEPTH + 32`.
const HEURISTIC_DEPTH: usize = 48;

impl Bvh {
    /// Builds the hierarchy of a mesh.
    pub fn new(mesh: &TriMesh) -> Self {
        let boxes: Vec<Bounds> = (0..mesh.triangles().len()).map(|t| Bounds::around(mesh.corners(t))).collect();
        Self::over(&boxes)
    }

    /// Builds the hierarchy of any boxes; leaves then hold indices into `boxes`.
    pub fn over(boxes: &[Bounds]) -> Self {
        let mut bvh = Self { nodes: Vec::new(), order: (0..boxes.len() as u32).collect(), bounds: Bounds::EMPTY };
        if boxes.is_empty() {
            return bvh;
        }
        let root = bvh.build(boxes, 0, boxes.len(), 0);
        bvh.bounds = root.0;
        if root.2 > 0 {
            // A single leaf: give it a node whose second child is empty.
            bvh.nodes.push(Node { bounds: [root.0, Bounds::EMPTY], child: [root.1, 0], count: [root.2, 0] });
        }
        bvh
    }

    /// Returns (bounds, child, count) of the part `first..first + len`. The root's node, if any, is the last.
    fn build(&mut self, boxes: &[Bounds], first: usize, len: usize, depth: usize) -> (Bounds, u32, u32) {
        let part = &self.order[first..first + len];
        let bounds = part.iter().fold(Bounds::EMPTY, |all, &i| all.union(&boxes[i as usize]));
        if len <= LEAF {
            return (bounds, first as u32, len as u32);
        }
        let centers = Bounds::around(part.iter().map(|&i| boxes[i as usize].center()));
        let heuristic = if depth < HEURISTIC_DEPTH { best_split(boxes, part, &centers) } else { None };
        let split = match heuristic {
            Some((axis, threshold)) => {
                let part = &mut self.order[first..first + len];
                // Stable, so the order does not depend on anything but the input.
                let (left, right): (Vec<u32>, Vec<u32>) =
                    part.iter().partition(|&&i| boxes[i as usize].center()[axis] < threshold);
                part[..left.len()].copy_from_slice(&left);
                part[left.len()..].copy_from_slice(&right);
                left.len()
            }
            None => len / 2,
        };
        let left = self.build(boxes, first, split, depth + 1);
        let right = self.build(boxes, first + split, len - split, depth + 1);
        self.nodes.push(Node { bounds: [left.0, right.0], child: [left.1, right.1], count: [left.2, right.2] });
        (bounds, self.nodes.len() as u32 - 1, 0)
    }

    /// Box around everything.
    pub fn bounds(&self) -> &Bounds {
        &self.bounds
    }

    /// Visits leaves near first. `distance` says how far a box is, or `None` to skip it for good; `visit`
    /// handles a leaf's items and returns the limit beyond which boxes no longer matter.
    pub fn visit(
        &self,
        mut limit: f64,
        distance: impl Fn(&Bounds) -> Option<f64>,
        mut visit: impl FnMut(&[u32], f64) -> f64,
    ) {
        let Some(root) = self.nodes.len().checked_sub(1) else { return };
        let mut stack = [(0.0f64, 0u32); HEURISTIC_DEPTH + 34];
        stack[0] = (0.0, root as u32);
        let mut top = 1;
        while top > 0 {
            top -= 1;
            let (near, index) = stack[top];
            if near > limit {
                continue;
            }
            let node = &self.nodes[index as usize];
            let far_first = {
                let d0 = distance(&node.bounds[0]);
                let d1 = if node.bounds[1].min.x <= node.bounds[1].max.x { distance(&node.bounds[1]) } else { None };
                if d0 <= d1 && d0.is_some() { [(1, d1), (0, d0)] } else { [(0, d0), (1, d1)] }
            };
            // Inner children are stacked far first; leaves are handled at once, near first.
            for &(side, d) in far_first.iter().rev() {
                let Some(d) = d else { continue };
                if node.count[side] > 0 && d <= limit {
                    let first = node.child[side] as usize;
                    limit = visit(&self.order[first..first + node.count[side] as usize], limit);
                }
            }
            for (side, d) in far_first {
                let Some(d) = d else { continue };
                if node.count[side] == 0 && d <= limit {
                    stack[top] = (d, node.child[side]);
                    top += 1;
                }
            }
        }
    }
}

/// The axis and threshold with the least expected cost, or `None` when all centres coincide.
fn best_split(boxes: &[Bounds], part: &[u32], centers: &Bounds) -> Option<(usize, f64)> {
    let size = centers.size();
    let mut best: Option<(f64, usize, f64)> = None;
    for axis in 0..3 {
        // A width that would make the last bin's edge round onto the first is no width.
        if size[axis] <= f64::EPSILON * (1.0 + centers.max[axis].abs()) {
            continue;
        }
        let edge = |bin: usize| centers.min[axis] + size[axis] * bin as f64 / BINS as f64;
        let mut bins = [(Bounds::EMPTY, 0usize); BINS];
        for &i in part {
            let center = boxes[i as usize].center()[axis];
            // The same comparison as in the partition, so that counts agree exactly.
            let guess = ((center - centers.min[axis]) / size[axis] * BINS as f64) as usize;
            let mut bin = guess.min(BINS - 1);
            while bin > 0 && center < edge(bin) {
                bin -= 1;
            }
            while bin + 1 < BINS && center >= edge(bin + 1) {
                bin += 1;
            }
            bins[bin].0 = bins[bin].0.union(&boxes[i as usize]);
            bins[bin].1 += 1;
        }
        let mut right = [(0.0, 0usize); BINS];
        let mut all = (Bounds::EMPTY, 0);
        for bin in (1..BINS).rev() {
            all = (all.0.union(&bins[bin].0), all.1 + bins[bin].1);
            right[bin] = (all.0.half_area(), all.1);
        }
        let mut left = (Bounds::EMPTY, 0);
        for bin in 1..BINS {
            left = (left.0.union(&bins[bin - 1].0), left.1 + bins[bin - 1].1);
            if left.1 == 0 || right[bin].1 == 0 {
                continue;
            }
            let cost = left.0.half_area() * left.1 as f64 + right[bin].0 * right[bin].1 as f64;
            if best.is_none_or(|(least, ..)| cost < least) {
                best = Some((cost, axis, edge(bin)));
            }
        }
    }
    best.map(|(_, axis, threshold)| (axis, threshold))
}
