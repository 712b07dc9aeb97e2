//! A bounding-volume hierarchy over triangles.
//!
//! A node has four children and is built top-down by the surface-area heuristic in 16 bins. The boxes are `f32`,
//! rounded outwards and padded, and stored as four lanes that the compiler tests with SIMD; the caller tests the items
//! of the leaves in `f64`. The caller drives the traversal: it supplies a lower bound on the distance of each box and a
//! function for the leaves.

mod flat;
mod query;

pub use flat::FlatNode;
pub use query::Slab;

use crate::{TriMesh, Vec3};

/// An axis-aligned box.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds {
    /// Smallest coordinates (m).
    pub min: Vec3,
    /// Largest coordinates (m).
    pub max: Vec3,
}

impl Bounds {
    /// The empty box.
    pub const EMPTY: Self = Self { min: Vec3::INFINITY, max: Vec3::NEG_INFINITY };

    /// Smallest box around the points.
    pub fn around(points: impl IntoIterator<Item = Vec3>) -> Self {
        points.into_iter().fold(Self::EMPTY, |bounds, p| Self { min: bounds.min.min(p), max: bounds.max.max(p) })
    }

    /// Smallest box around both boxes.
    pub fn union(&self, other: &Self) -> Self {
        Self { min: self.min.min(other.min), max: self.max.max(other.max) }
    }

    /// Centre (m).
    pub fn center(&self) -> Vec3 {
        (self.min + self.max) * 0.5
    }

    /// Edge lengths (m).
    pub fn size(&self) -> Vec3 {
        self.max - self.min
    }

    /// True when the two boxes share a point.
    pub fn overlaps(&self, other: &Self) -> bool {
        self.min.cmple(other.max).all() && other.min.cmple(self.max).all()
    }

    /// The box with `margin` (m) added on every side.
    pub fn padded(&self, margin: f64) -> Self {
        Self { min: self.min - Vec3::splat(margin), max: self.max + Vec3::splat(margin) }
    }

    /// True when a point is inside the box or on its surface.
    #[inline]
    pub fn contains(&self, point: Vec3) -> bool {
        let (low, high) = (self.min, self.max);
        low.x <= point.x
            && point.x <= high.x
            && low.y <= point.y
            && point.y <= high.y
            && low.z <= point.z
            && point.z <= high.z
    }

    /// Squared distance (m²) of a point from the box, zero inside.
    #[inline]
    pub fn distance_squared(&self, point: Vec3) -> f64 {
        (point.clamp(self.min, self.max) - point).length_squared()
    }

    fn half_area(&self) -> f64 {
        let s = self.size();
        s.x * s.y + s.y * s.z + s.z * s.x
    }
}

/// The boxes of four children, along each axis: `f32`, relative to the centre of the hierarchy, rounded outwards.
#[derive(Clone, Debug)]
pub(crate) struct Lanes {
    pub min: [[f32; 4]; 3],
    pub max: [[f32; 4]; 3],
}

#[derive(Clone, Debug)]
struct Node {
    lanes: Lanes,
    /// Index of the node of an inner child, or first position of a leaf in `order`; [`EMPTY`] without a child.
    child: [u32; 4],
    /// Zero for an inner child, else the number of items of the leaf.
    count: [u32; 4],
}

/// A bounding-volume hierarchy. Items are identified by their index in the input.
#[derive(Clone, Debug)]
pub struct Bvh {
    nodes: Vec<Node>,
    order: Vec<u32>,
    bounds: Bounds,
    pad: f64,
    /// Length (m) of the diagonal of `bounds`.
    reach: f64,
}

const LEAF: usize = 4;
const BINS: usize = 16;
/// Below this depth a node is split into halves, so that no input makes the tree deeper than `HEURISTIC_DEPTH + 32`.
const HEURISTIC_DEPTH: usize = 48;
/// A lane without a child.
const EMPTY: u32 = u32::MAX;

/// A range of the items while the tree is built.
struct Part {
    bounds: Bounds,
    first: usize,
    len: usize,
    depth: usize,
}

impl Bvh {
    /// Builds the hierarchy of a mesh.
    pub fn new(mesh: &TriMesh) -> Self {
        let boxes: Vec<Bounds> = (0..mesh.triangles().len()).map(|t| Bounds::around(mesh.corners(t))).collect();
        Self::over(&boxes)
    }

    /// Builds the hierarchy of arbitrary boxes; leaves then hold indices into `boxes`.
    pub fn over(boxes: &[Bounds]) -> Self {
        let bounds = boxes.iter().fold(Bounds::EMPTY, |all, next| all.union(next));
        // Several times the error of rounding a coordinate of a query or a box to f32.
        let reach = if boxes.is_empty() { 0.0 } else { bounds.size().length() };
        let pad = 1e-6 * reach;
        let mut bvh = Self { nodes: Vec::new(), order: (0..boxes.len() as u32).collect(), bounds, pad, reach };
        if !boxes.is_empty() {
            bvh.build(boxes, Part { bounds, first: 0, len: boxes.len(), depth: 0 });
        }
        bvh
    }

    /// Adds the node of a part and its subtree; returns its index.
    fn build(&mut self, boxes: &[Bounds], part: Part) -> u32 {
        let index = self.nodes.len();
        let empty = [[0.0; 4]; 3];
        self.nodes.push(Node { lanes: Lanes { min: empty, max: empty }, child: [EMPTY; 4], count: [0; 4] });
        for (lane, part) in self.quarter(boxes, part).into_iter().enumerate() {
            let (low, high) = (part.bounds.min - self.bounds.center(), part.bounds.max - self.bounds.center());
            for axis in 0..3 {
                self.nodes[index].lanes.min[axis][lane] = ((low[axis] - self.pad) as f32).next_down();
                self.nodes[index].lanes.max[axis][lane] = ((high[axis] + self.pad) as f32).next_up();
            }
            if part.len <= LEAF {
                self.nodes[index].child[lane] = part.first as u32;
                self.nodes[index].count[lane] = part.len as u32;
            } else {
                self.nodes[index].child[lane] = self.build(boxes, part);
            }
        }
        index as u32
    }

    /// Splits a part, and each half again, if it is larger than a leaf.
    fn quarter(&mut self, boxes: &[Bounds], part: Part) -> Vec<Part> {
        let mut parts = Vec::with_capacity(4);
        for half in self.halve(boxes, part) {
            parts.extend(self.halve(boxes, half));
        }
        parts
    }

    fn halve(&mut self, boxes: &[Bounds], part: Part) -> Vec<Part> {
        let Part { first, len, depth, .. } = part;
        if len <= LEAF {
            return vec![part];
        }
        let items = &mut self.order[first..first + len];
        let centers = Bounds::around(items.iter().map(|&i| boxes[i as usize].center()));
        let heuristic = if depth < HEURISTIC_DEPTH { best_split(boxes, items, &centers) } else { None };
        let split = match heuristic {
            Some((axis, threshold)) => {
                // The partition is stable, so that the order depends only on the input.
                let (left, right): (Vec<u32>, Vec<u32>) =
                    items.iter().partition(|&&i| boxes[i as usize].center()[axis] < threshold);
                items[..left.len()].copy_from_slice(&left);
                items[left.len()..].copy_from_slice(&right);
                left.len()
            }
            None => len / 2,
        };
        let around = |items: &[u32]| items.iter().fold(Bounds::EMPTY, |all, &i| all.union(&boxes[i as usize]));
        vec![
            Part { bounds: around(&items[..split]), first, len: split, depth: depth + 1 },
            Part { bounds: around(&items[split..]), first: first + split, len: len - split, depth: depth + 1 },
        ]
    }

    /// Bounding box of all items.
    pub fn bounds(&self) -> &Bounds {
        &self.bounds
    }

    /// Items in the order of the leaves.
    pub fn order(&self) -> &[u32] {
        &self.order
    }

    /// Padding (m) of the lanes' boxes.
    pub fn pad(&self) -> f64 {
        self.pad
    }

    /// Visits leaves, the nearest first. `distance` returns a lower bound on the distance of each lane
    /// ([`f32::INFINITY`] skips it); `visit` handles the positions `first..first + count` of [`Bvh::order`] and returns
    /// the distance beyond which lanes are skipped.
    pub(crate) fn visit(
        &self,
        mut limit: f32,
        distance: impl Fn(&Lanes) -> [f32; 4],
        mut visit: impl FnMut(usize, usize) -> f32,
    ) {
        if self.nodes.is_empty() {
            return;
        }
        // Every level of four-way nodes leaves at most three entries on the stack.
        let mut stack = [(0f32, 0u32); 3 * (HEURISTIC_DEPTH + 34) / 2 + 4];
        let mut top = 1;
        while top > 0 {
            top -= 1;
            let (near, index) = stack[top];
            if near > limit {
                continue;
            }
            let node = &self.nodes[index as usize];
            let distances = distance(&node.lanes);
            // Lanes within the limit, the nearest first.
            let mut lanes = [(f32::INFINITY, 0usize); 4];
            let mut count = 0;
            for (lane, &d) in distances.iter().enumerate() {
                if d <= limit && node.child[lane] != EMPTY {
                    let mut slot = count;
                    while slot > 0 && lanes[slot - 1].0 > d {
                        lanes[slot] = lanes[slot - 1];
                        slot -= 1;
                    }
                    lanes[slot] = (d, lane);
                    count += 1;
                }
            }
            for &(d, lane) in &lanes[..count] {
                if node.count[lane] > 0 && d <= limit {
                    limit = visit(node.child[lane] as usize, node.count[lane] as usize);
                }
            }
            for &(d, lane) in lanes[..count].iter().rev() {
                if node.count[lane] == 0 && d <= limit {
                    stack[top] = (d, node.child[lane]);
                    top += 1;
                }
            }
        }
    }
}

/// The axis and threshold with the lowest expected cost, or `None` when all centres coincide.
fn best_split(boxes: &[Bounds], part: &[u32], centers: &Bounds) -> Option<(usize, f64)> {
    let size = centers.size();
    let mut best: Option<(f64, usize, f64)> = None;
    for axis in 0..3 {
        // Skips an axis whose extent is so small that the edges of the first and last bin round to the same number.
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
