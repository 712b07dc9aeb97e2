//! The hierarchy as plain arrays, for traversal on a GPU.

use super::{Bvh, EMPTY};

/// One node of a hierarchy: boxes and indices of four children.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C)]
pub struct FlatNode {
    /// Smallest coordinates (m) of each child along x, y and z, relative to the centre of [`Bvh::bounds`].
    pub min: [[f32; 4]; 3],
    /// Largest coordinates (m) of each child.
    pub max: [[f32; 4]; 3],
    /// Index of an inner child's node, or first position of a leaf's items in [`Bvh::order`]; [`FlatNode::NONE`]
    /// without a child.
    pub child: [u32; 4],
    /// Zero for an inner child, else the number of items of the leaf.
    pub count: [u32; 4],
}

impl FlatNode {
    /// Index that marks a missing child.
    pub const NONE: u32 = EMPTY;
}

impl Bvh {
    /// All nodes, the root first. Empty for a hierarchy without items.
    pub fn flat(&self) -> Vec<FlatNode> {
        let flat = |node: &super::Node| FlatNode {
            min: node.lanes.min,
            max: node.lanes.max,
            child: node.child,
            count: node.count,
        };
        self.nodes.iter().map(flat).collect()
    }

    /// Depth of the hierarchy in nodes. A depth-first traversal needs a stack of at most three entries per level.
    pub fn levels(&self) -> usize {
        // Children follow their parents.
        let mut level = vec![1usize; self.nodes.len()];
        for (index, node) in self.nodes.iter().enumerate() {
            for lane in 0..4 {
                if node.child[lane] != EMPTY && node.count[lane] == 0 {
                    level[node.child[lane] as usize] = level[index] + 1;
                }
            }
        }
        level.into_iter().max().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Bounds, Random, Vec3};

    /// A traversal visits every item once, and no path exceeds the depth.
    #[test]
    fn every_item_hangs_on_the_flat_tree_once() {
        let mut random = Random::new(4);
        let mut point = || Vec3::new(random.uniform(), random.uniform(), random.uniform());
        let boxes: Vec<Bounds> = (0..777).map(|_| Bounds::around([point(), point()])).collect();
        let bvh = Bvh::over(&boxes);
        let nodes = bvh.flat();
        let mut seen = vec![0; boxes.len()];
        let mut deepest = 0;
        let mut ways = vec![(0usize, 1usize)];
        while let Some((index, level)) = ways.pop() {
            deepest = deepest.max(level);
            for lane in 0..4 {
                let (child, count) = (nodes[index].child[lane], nodes[index].count[lane]);
                match (child, count) {
                    (FlatNode::NONE, _) => {}
                    (node, 0) => ways.push((node as usize, level + 1)),
                    (first, count) => (first..first + count).for_each(|position| {
                        seen[bvh.order()[position as usize] as usize] += 1;
                    }),
                }
            }
        }
        assert!(seen.iter().all(|&times| times == 1));
        assert_eq!(deepest, bvh.levels());
        assert_eq!((Bvh::over(&[]).flat().len(), Bvh::over(&[]).levels()), (0, 0));
    }
}
