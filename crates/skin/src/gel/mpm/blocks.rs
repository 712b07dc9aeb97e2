//! Particles by blocks of cells, and the nodes around them.

use super::pass::{BATCH, BLOCK};

/// Where blocks are, and which slots of the particles they own.
#[derive(Clone, Debug, Default)]
pub(super) struct Blocks {
    /// The lowest block's coordinates.
    pub low: [i32; 3],
    /// Blocks along each axis.
    pub count: [usize; 3],
    /// Blocks with particles: where they are, their first slot and how many slots, in a fixed order.
    pub owned: Vec<Owned>,
    /// For every block its place in `owned`, or none.
    pub place: Vec<u32>,
}

/// A block with particles.
#[derive(Clone, Copy, Debug)]
pub(super) struct Owned {
    pub at: [usize; 3],
    pub first: usize,
    pub slots: usize,
}

/// No block, no slot, no node.
pub(super) const NONE: u32 = u32::MAX;

impl Blocks {
    /// Sorts particles that are in cells `cells` (by particle): the blocks, and the particle of each slot ([`NONE`] for empty ones).
    pub fn sort(cells: &[[i32; 3]]) -> (Self, Vec<u32>) {
        let mut low = [i32::MAX; 3];
        let mut high = [i32::MIN; 3];
        for cell in cells {
            for axis in 0..3 {
                let block = cell[axis].div_euclid(BLOCK as i32);
                low[axis] = low[axis].min(block);
                high[axis] = high[axis].max(block);
            }
        }
        if cells.is_empty() {
            return (Self::default(), Vec::new());
        }
        let count: [usize; 3] = std::array::from_fn(|axis| (high[axis] - low[axis] + 1) as usize);
        let mut order: Vec<(u64, u32)> = cells
            .iter()
            .enumerate()
            .map(|(particle, cell)| {
                let block: [u64; 3] = std::array::from_fn(|a| (cell[a].div_euclid(BLOCK as i32) - low[a]) as u64);
                let inner: [u64; 3] = std::array::from_fn(|a| cell[a].rem_euclid(BLOCK as i32) as u64);
                let block = (block[2] * count[1] as u64 + block[1]) * count[0] as u64 + block[0];
                (block * 64 + inner[2] * 16 + inner[1] * 4 + inner[0], particle as u32)
            })
            .collect();
        order.sort_unstable();
        let mut blocks = Self { low, count, owned: Vec::new(), place: vec![NONE; count.iter().product()] };
        let mut slots = Vec::with_capacity(order.len() + order.len() / 8);
        let mut start = 0;
        while start < order.len() {
            let block = (order[start].0 / 64) as usize;
            let end = start + order[start..].partition_point(|(key, _)| (key / 64) as usize == block);
            let first = slots.len();
            slots.extend(order[start..end].iter().map(|(_, particle)| *particle));
            slots.resize(slots.len().next_multiple_of(BATCH), NONE);
            blocks.place[block] = blocks.owned.len() as u32;
            let at = [block % count[0], block / count[0] % count[1], block / (count[0] * count[1])];
            blocks.owned.push(Owned { at, first, slots: slots.len() - first });
            start = end;
        }
        (blocks, slots)
    }

    /// The place in `owned` of a block, if it has particles.
    pub fn find(&self, at: [isize; 3]) -> Option<usize> {
        for axis in 0..3 {
            if at[axis] < 0 || at[axis] >= self.count[axis] as isize {
                return None;
            }
        }
        let index = (at[2] as usize * self.count[1] + at[1] as usize) * self.count[0] + at[0] as usize;
        Some(self.place[index]).filter(|&place| place != NONE).map(|place| place as usize)
    }

    /// The block that owns a slot.
    pub fn owner(&self, slot: usize) -> &Owned {
        &self.owned[self.owned.partition_point(|owned| owned.first <= slot) - 1]
    }

    /// The lowest cell of a block.
    pub fn corner(&self, owned: &Owned) -> [i32; 3] {
        std::array::from_fn(|a| (self.low[a] + owned.at[a] as i32) * BLOCK as i32)
    }

    /// Bricks of 4³ nodes along each axis: brick `b` holds the nodes of cells `4b − 2 … 4b + 1`, counted from the lowest block.
    pub fn bricks(&self) -> [usize; 3] {
        self.count.map(|count| count + 1)
    }
}
