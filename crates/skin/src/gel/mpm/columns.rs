//! Particle state as structure of arrays, in the order of the blocks.

use super::blocks::{Blocks, NONE, OccupiedBlock};
use super::particles::ParticleState;
use super::transfer::{BLOCK, BlockParticles, Prescribed};
use dermis_geometry::Mat3;

/// One column per component of the particle state, indexed by slot. Padding slots repeat the previous slot with volume
/// fraction 0.
#[derive(Clone, Debug, Default)]
pub(super) struct Columns {
    /// Particle in each slot, and slot of each particle.
    pub particle: Vec<u32>,
    pub slot: Vec<u32>,
    /// Positions (cells) relative to the corner of the slot's block.
    pub position: [Vec<f32>; 3],
    pub velocity: [Vec<f32>; 3],
    pub affine: [Vec<f32>; 9],
    pub deformation: [Vec<f32>; 9],
    pub volume_fraction: Vec<f32>,
    pub prescribed: Vec<u8>,
}

impl Columns {
    /// Copies particles at positions `cells` (cells) into the slots of their blocks.
    pub fn new(state: &ParticleState, cells: &[[f64; 3]], particle: Vec<u32>) -> Self {
        let mut columns = Self::default();
        columns.assign_slots(particle, cells.len());
        for axis in 0..3 {
            columns.position[axis] = columns.per_slot(|p| {
                let block = (cells[p][axis].floor() as i32).div_euclid(BLOCK as i32) * BLOCK as i32;
                (cells[p][axis] - f64::from(block)) as f32
            });
            columns.velocity[axis] = columns.per_slot(|p| state.velocity[p][axis]);
        }
        for i in 0..9 {
            columns.affine[i] = columns.per_slot(|p| state.affine[p][i]);
            columns.deformation[i] = columns.per_slot(|p| state.deformation[p][i]);
        }
        columns.volume_fraction = columns.per_slot(|p| state.volume_fraction[p]);
        columns.prescribed = columns.indices(|p| state.prescribed[p]);
        columns.clear_padding();
        columns
    }

    /// Number of particles.
    pub fn len(&self) -> usize {
        self.slot.len()
    }

    /// Cell of every particle, and the shift (cells) of its position when it moves to its new block.
    pub fn cells(&self, blocks: &Blocks) -> (Vec<[i32; 3]>, Vec<[f32; 3]>) {
        let mut whole = vec![[0i32; 3]; self.len()];
        let mut shift = vec![[0f32; 3]; self.len()];
        for occupied in &blocks.occupied {
            let base = blocks.corner(occupied);
            for slot in occupied.first..occupied.first + occupied.slots {
                let p = self.particle[slot];
                if p != NONE {
                    for axis in 0..3 {
                        let cell = base[axis] + self.position[axis][slot].floor() as i32;
                        whole[p as usize][axis] = cell;
                        shift[p as usize][axis] = (base[axis] - cell.div_euclid(BLOCK as i32) * BLOCK as i32) as f32;
                    }
                }
            }
        }
        (whole, shift)
    }

    /// Moves every particle to its slot in `particle`.
    pub fn rearrange(&mut self, particle: Vec<u32>, shift: &[[f32; 3]]) {
        let old = std::mem::take(&mut self.slot);
        self.assign_slots(particle, old.len());
        let moved = |values: &[f32], columns: &Self| columns.per_slot(|p| values[old[p] as usize]);
        for axis in 0..3 {
            let at = std::mem::take(&mut self.position[axis]);
            self.position[axis] = self.per_slot(|p| at[old[p] as usize] + shift[p][axis]);
            self.velocity[axis] = moved(&self.velocity[axis], self);
        }
        for i in 0..9 {
            self.affine[i] = moved(&self.affine[i], self);
            self.deformation[i] = moved(&self.deformation[i], self);
        }
        self.volume_fraction = moved(&self.volume_fraction, self);
        self.prescribed = self.indices(|p| self.prescribed[old[p] as usize]);
        self.clear_padding();
    }

    /// Mutable columns of each block, for parallel transfers.
    pub fn by_block<'a>(
        &'a mut self,
        occupied: &[OccupiedBlock],
        prescribed_velocities: Option<&'a [[f32; 3]]>,
    ) -> Vec<BlockParticles<'a>> {
        let (mut position, mut velocity) = (split(&mut self.position, occupied), split(&mut self.velocity, occupied));
        let (mut affine, mut deformation) = (split(&mut self.affine, occupied), split(&mut self.deformation, occupied));
        let block = |block: &OccupiedBlock| {
            let range = block.first..block.first + block.slots;
            Some(BlockParticles {
                position: position.next()?,
                velocity: velocity.next()?,
                affine: affine.next()?,
                deformation: deformation.next()?,
                volume_fraction: &self.volume_fraction[range.clone()],
                prescribed: prescribed_velocities
                    .map(|velocities| Prescribed { index: &self.prescribed[range], velocities }),
            })
        };
        occupied.iter().map_while(block).collect()
    }

    /// Deformation gradient of the particle in a slot.
    pub fn gradient(&self, slot: usize) -> Mat3 {
        let f = |i: usize| f64::from(self.deformation[i][slot]);
        Mat3::from_cols_array(&[f(0), f(3), f(6), f(1), f(4), f(7), f(2), f(5), f(8)])
    }

    /// Allocated memory (bytes).
    pub fn bytes(&self) -> usize {
        let floats = self.position.iter().chain(&self.velocity).chain(&self.affine).chain(&self.deformation);
        let floats = floats.map(Vec::len).sum::<usize>() + self.volume_fraction.len();
        (floats + self.particle.len() + self.slot.len()) * 4 + self.prescribed.len()
    }

    fn assign_slots(&mut self, particle: Vec<u32>, count: usize) {
        self.slot = vec![NONE; count];
        for (slot, &p) in particle.iter().enumerate() {
            if p != NONE {
                self.slot[p as usize] = slot as u32;
            }
        }
        self.particle = particle;
    }

    fn per_slot(&self, of: impl Fn(usize) -> f32) -> Vec<f32> {
        let mut last = 0.0;
        let mut out = Vec::with_capacity(self.particle.len());
        for &p in &self.particle {
            if p != NONE {
                last = of(p as usize);
            }
            out.push(last);
        }
        out
    }

    fn indices(&self, of: impl Fn(usize) -> u8) -> Vec<u8> {
        self.particle.iter().map(|&p| if p == NONE { 0 } else { of(p as usize) }).collect()
    }

    fn clear_padding(&mut self) {
        for (slot, &p) in self.particle.iter().enumerate() {
            if p == NONE {
                self.volume_fraction[slot] = 0.0;
            }
        }
    }
}

/// The parts of columns that belong to each block, in order.
fn split<'a, const N: usize>(
    columns: &'a mut [Vec<f32>; N],
    occupied: &[OccupiedBlock],
) -> impl Iterator<Item = [&'a mut [f32]; N]> {
    let mut rest = columns.each_mut().map(Vec::as_mut_slice);
    occupied.iter().map(move |block| rest.each_mut().map(|rest| rest.split_off_mut(..block.slots).unwrap_or_default()))
}
