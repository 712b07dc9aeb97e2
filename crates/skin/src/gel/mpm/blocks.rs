//! Sorting of particles into blocks of cells.

use super::transfer::{BATCH, BLOCK};

/// Blocks of 4³ cells, and the particle slots of each block.
#[derive(Clone, Debug, Default)]
pub(super) struct Blocks {
    /// Coordinates of the lowest block.
    pub low: [i32; 3],
    /// Blocks along each axis.
    pub count: [usize; 3],
    /// Blocks with particles, in a fixed order.
    pub occupied: Vec<OccupiedBlock>,
    /// Index in `occupied` of every block, or [`NONE`].
    pub place: Vec<u32>,
}

/// A block with particles.
#[derive(Clone, Copy, Debug)]
pub(super) struct OccupiedBlock {
    pub at: [usize; 3],
    pub first: usize,
    pub slots: usize,
}

/// Marks an empty slot or block.
pub(super) const NONE: u32 = u32::MAX;

impl Blocks {
    /// Sorts particles by cell. Returns the blocks and the particle of each slot ([`NONE`] for padding).
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
        let mut blocks = Self { low, count, occupied: Vec::new(), place: vec![NONE; count.iter().product()] };
        let mut slots = Vec::with_capacity(order.len() + order.len() / 8);
        let mut start = 0;
        while start < order.len() {
            let block = (order[start].0 / 64) as usize;
            let end = start + order[start..].partition_point(|(key, _)| (key / 64) as usize == block);
            let first = slots.len();
            slots.extend(order[start..end].iter().map(|(_, particle)| *particle));
            slots.resize(slots.len().next_multiple_of(BATCH), NONE);
            blocks.place[block] = blocks.occupied.len() as u32;
            let at = [block % count[0], block / count[0] % count[1], block / (count[0] * count[1])];
            blocks.occupied.push(OccupiedBlock { at, first, slots: slots.len() - first });
            start = end;
        }
        (blocks, slots)
    }

    /// Index in `occupied` of a block; `None` if it has no particles.
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
    pub fn owner(&self, slot: usize) -> &OccupiedBlock {
        &self.occupied[self.occupied.partition_point(|occupied| occupied.first <= slot) - 1]
    }

    /// The lowest cell of a block.
    pub fn corner(&self, occupied: &OccupiedBlock) -> [i32; 3] {
        std::array::from_fn(|a| (self.low[a] + occupied.at[a] as i32) * BLOCK as i32)
    }

    /// Bricks of 4³ nodes along each axis: brick `b` holds the nodes of cells `4b − 2 … 4b + 1`, counted from the
    /// lowest block.
    pub fn bricks(&self) -> [usize; 3] {
        self.count.map(|count| count + 1)
    }
}
