//! Grid nodes, stored in bricks of 4³.

use super::blocks::Blocks;
use super::transfer::{BLOCK, TILE_EDGE, Tile};
use crate::threads::parallel;
use rayon::prelude::*;
use std::ops::Range;

/// Floats in a brick of 4³ nodes: velocity (m/s) and mass (in full particles) of each.
const BRICK: usize = BLOCK * BLOCK * BLOCK * 4;

/// Velocity (m/s) and mass (in full particles) of all nodes around the blocks. A node at the centre of a cell has the
/// coordinates of that cell.
#[derive(Clone, Debug, Default)]
pub(super) struct Nodes {
    /// Coordinates of the lowest block.
    low: [i32; 3],
    bricks: [usize; 3],
    pub values: Vec<f32>,
}

/// Cell, momentum and mass of a node.
pub(super) type Loaded = ([i32; 3], [f32; 4]);

impl Nodes {
    /// Allocates empty nodes around a set of blocks.
    pub fn cover(&mut self, blocks: &Blocks) {
        self.low = blocks.low;
        self.bricks = blocks.bricks();
        self.values.clear();
        self.values.resize(self.bricks.iter().product::<usize>() * BRICK, 0.0);
    }

    /// Range of the nodes' cells along an axis.
    pub fn range(&self, axis: usize) -> Range<i32> {
        let low = self.low[axis] * BLOCK as i32 - 2;
        low..low + (self.bricks[axis] * BLOCK) as i32
    }

    /// Index in `values` of a node.
    pub fn find(&self, cell: [i32; 3]) -> Option<usize> {
        let (mut brick, mut inner) = ([0usize; 3], [0usize; 3]);
        for axis in 0..3 {
            let range = self.range(axis);
            if !range.contains(&cell[axis]) {
                return None;
            }
            let local = (cell[axis] - range.start) as usize;
            (brick[axis], inner[axis]) = (local / BLOCK, local % BLOCK);
        }
        let brick = (brick[2] * self.bricks[1] + brick[1]) * self.bricks[0] + brick[0];
        Some(brick * BRICK + ((inner[2] * BLOCK + inner[1]) * BLOCK + inner[0]) * 4)
    }

    /// Sums the tiles in a fixed order to momentum and mass or, with a damping factor, to damped velocity and mass.
    pub fn sum(&mut self, blocks: &Blocks, tiles: &[Tile], damping: Option<f32>) {
        let bricks = self.bricks;
        let sum = |(brick, nodes): (usize, &mut [f32])| {
            let at = [brick % bricks[0], brick / bricks[0] % bricks[1], brick / (bricks[0] * bricks[1])];
            nodes.fill(0.0);
            let mut any = false;
            for octant in 0..8usize {
                let shift = [octant & 1, (octant >> 1) & 1, (octant >> 2) & 1];
                let block = std::array::from_fn(|a| at[a] as isize - shift[a] as isize);
                let Some(occupied) = blocks.find(block) else { continue };
                any = true;
                for (to, from) in rows(shift) {
                    let tile = &tiles[occupied][from..from + BLOCK * 4];
                    for (to, from) in nodes[to..to + BLOCK * 4].iter_mut().zip(tile) {
                        *to += from;
                    }
                }
            }
            if let (true, Some(damping)) = (any, damping) {
                for node in nodes.chunks_exact_mut(4) {
                    let scale = if node[3] > 0.0 { damping / node[3] } else { 0.0 };
                    node[0] *= scale;
                    node[1] *= scale;
                    node[2] *= scale;
                }
            }
        };
        parallel(|| self.values.par_chunks_mut(BRICK).enumerate().for_each(sum));
    }

    /// Copies the nodes around a block into a tile.
    pub fn fetch(&self, block: [usize; 3], tile: &mut Tile) {
        for octant in 0..8usize {
            let shift = [octant & 1, (octant >> 1) & 1, (octant >> 2) & 1];
            let at: [usize; 3] = std::array::from_fn(|a| block[a] + shift[a]);
            let brick = ((at[2] * self.bricks[1] + at[1]) * self.bricks[0] + at[0]) * BRICK;
            for (from, to) in rows(shift) {
                let nodes = &self.values[brick + from..brick + from + BLOCK * 4];
                tile[to..to + BLOCK * 4].copy_from_slice(nodes);
            }
        }
    }

    /// All nodes that have mass, in a fixed order.
    pub fn loaded(&self) -> Vec<Loaded> {
        let mut all = Vec::new();
        for (index, values) in self.values.chunks_exact(4).enumerate() {
            if values[3] > 0.0 {
                let (brick, node) = (index * 4 / BRICK, index % (BRICK / 4));
                let at = [
                    brick % self.bricks[0],
                    brick / self.bricks[0] % self.bricks[1],
                    brick / (self.bricks[0] * self.bricks[1]),
                ];
                let inner = [node % BLOCK, node / BLOCK % BLOCK, node / (BLOCK * BLOCK)];
                let cell = std::array::from_fn(|a| self.range(a).start + (at[a] * BLOCK + inner[a]) as i32);
                all.push((cell, std::array::from_fn(|i| values[i])));
            }
        }
        all
    }

    /// Adds nodes to a tile that covers them. Tiles are only summed, so any covering tile is valid.
    pub fn distribute(&self, blocks: &Blocks, loaded: &[Loaded], tiles: &mut [Tile]) {
        for (cell, values) in loaded {
            let local: [isize; 3] = std::array::from_fn(|a| (cell[a] - self.range(a).start) as isize);
            for octant in 0..8isize {
                let shift = [octant & 1, (octant >> 1) & 1, (octant >> 2) & 1];
                let block = std::array::from_fn(|a| local[a].div_euclid(BLOCK as isize) - shift[a]);
                let Some(occupied) = blocks.find(block) else { continue };
                let inner: [usize; 3] =
                    std::array::from_fn(|a| local[a].rem_euclid(BLOCK as isize) as usize + shift[a] as usize * BLOCK);
                let to = ((inner[2] * TILE_EDGE + inner[1]) * TILE_EDGE + inner[0]) * 4;
                for (to, value) in tiles[occupied][to..to + 4].iter_mut().zip(values) {
                    *to += value;
                }
                break;
            }
        }
    }
}

/// Offsets of the rows of a brick in the brick and in the tile of which it is an octant.
#[inline(always)]
fn rows(shift: [usize; 3]) -> impl Iterator<Item = (usize, usize)> {
    (0..BLOCK * BLOCK).map(move |row| {
        let (y, z) = (row % BLOCK, row / BLOCK);
        let tile = ((z + BLOCK * shift[2]) * TILE_EDGE + y + BLOCK * shift[1]) * TILE_EDGE + BLOCK * shift[0];
        (row * BLOCK * 4, tile * 4)
    })
}
