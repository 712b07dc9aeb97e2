//! The particles' numbers, column by column, in the order of the blocks.

use super::blocks::{Blocks, NONE, Owned};
use super::body::Body;
use super::pass::{BLOCK, Led, Slots};
use dermis_geometry::Mat3;

/// A number of every kind for every slot; empty slots are copies of the one before, without a part.
#[derive(Clone, Debug, Default)]
pub(super) struct Columns {
    /// The particle in each slot, and the slot of each particle.
    pub particle: Vec<u32>,
    pub slot: Vec<u32>,
    /// Places in cells from the corner of the slot's block.
    pub at: [Vec<f32>; 3],
    pub velocity: [Vec<f32>; 3],
    pub affine: [Vec<f32>; 9],
    pub deformation: [Vec<f32>; 9],
    pub part: Vec<f32>,
    pub kind: Vec<u8>,
}

impl Columns {
    /// Takes a body's particles, which lie in `cells`, into the slots of their blocks.
    pub fn new(body: &Body, cells: &[[f64; 3]], particle: Vec<u32>) -> Self {
        let mut columns = Self::default();
        columns.give_slots(particle, cells.len());
        for axis in 0..3 {
            columns.at[axis] = columns.per_slot(|p| {
                let block = (cells[p][axis].floor() as i32).div_euclid(BLOCK as i32) * BLOCK as i32;
                (cells[p][axis] - f64::from(block)) as f32
            });
            columns.velocity[axis] = columns.per_slot(|p| body.velocity[p][axis]);
        }
        for i in 0..9 {
            columns.affine[i] = columns.per_slot(|p| body.affine[p][i]);
            columns.deformation[i] = columns.per_slot(|p| body.deformation[p][i]);
        }
        columns.part = columns.per_slot(|p| body.part[p]);
        columns.kind = columns.kinds(|p| body.kind[p]);
        columns.empty_slots();
        columns
    }

    /// How many particles.
    pub fn len(&self) -> usize {
        self.slot.len()
    }

    /// The cell of every particle, now that it has moved, and by how much its place must be shifted once its block owns it.
    pub fn cells(&self, blocks: &Blocks) -> (Vec<[i32; 3]>, Vec<[f32; 3]>) {
        let mut whole = vec![[0i32; 3]; self.len()];
        let mut shift = vec![[0f32; 3]; self.len()];
        for owned in &blocks.owned {
            let base = blocks.corner(owned);
            for slot in owned.first..owned.first + owned.slots {
                let p = self.particle[slot];
                if p != NONE {
                    for axis in 0..3 {
                        let cell = base[axis] + self.at[axis][slot].floor() as i32;
                        whole[p as usize][axis] = cell;
                        shift[p as usize][axis] = (base[axis] - cell.div_euclid(BLOCK as i32) * BLOCK as i32) as f32;
                    }
                }
            }
        }
        (whole, shift)
    }

    /// Moves every particle to another slot.
    pub fn rearrange(&mut self, particle: Vec<u32>, shift: &[[f32; 3]]) {
        let old = std::mem::take(&mut self.slot);
        self.give_slots(particle, old.len());
        let moved = |values: &[f32], columns: &Self| columns.per_slot(|p| values[old[p] as usize]);
        for axis in 0..3 {
            let at = std::mem::take(&mut self.at[axis]);
            self.at[axis] = self.per_slot(|p| at[old[p] as usize] + shift[p][axis]);
            self.velocity[axis] = moved(&self.velocity[axis], self);
        }
        for i in 0..9 {
            self.affine[i] = moved(&self.affine[i], self);
            self.deformation[i] = moved(&self.deformation[i], self);
        }
        self.part = moved(&self.part, self);
        self.kind = self.kinds(|p| self.kind[old[p] as usize]);
        self.empty_slots();
    }

    /// The slots of each block, to be worked on side by side.
    pub fn by_block<'a>(&'a mut self, owned: &[Owned], leads: Option<&'a [[f32; 3]]>) -> Vec<Slots<'a>> {
        let mut rest = Views {
            at: self.at.each_mut().map(|v| v.as_mut_slice()),
            velocity: self.velocity.each_mut().map(|v| v.as_mut_slice()),
            affine: self.affine.each_mut().map(|v| v.as_mut_slice()),
            deformation: self.deformation.each_mut().map(|v| v.as_mut_slice()),
        };
        let mut all = Vec::with_capacity(owned.len());
        for owned in owned {
            let (mine, others) = rest.split(owned.slots);
            rest = others;
            let range = owned.first..owned.first + owned.slots;
            all.push(Slots {
                at: mine.at,
                velocity: mine.velocity,
                affine: mine.affine,
                deformation: mine.deformation,
                part: &self.part[range.clone()],
                led: leads.map(|velocities| Led { kind: &self.kind[range], velocities }),
            });
        }
        all
    }

    /// How the particle in a slot is deformed.
    pub fn gradient(&self, slot: usize) -> Mat3 {
        let f = |i: usize| f64::from(self.deformation[i][slot]);
        Mat3::from_cols_array(&[f(0), f(3), f(6), f(1), f(4), f(7), f(2), f(5), f(8)])
    }

    /// Bytes held.
    pub fn bytes(&self) -> usize {
        let floats = self.at.iter().chain(&self.velocity).chain(&self.affine).chain(&self.deformation);
        let floats = floats.map(Vec::len).sum::<usize>() + self.part.len();
        (floats + self.particle.len() + self.slot.len()) * 4 + self.kind.len()
    }

    fn give_slots(&mut self, particle: Vec<u32>, count: usize) {
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

    fn kinds(&self, of: impl Fn(usize) -> u8) -> Vec<u8> {
        self.particle.iter().map(|&p| if p == NONE { 0 } else { of(p as usize) }).collect()
    }

    fn empty_slots(&mut self) {
        for (slot, &p) in self.particle.iter().enumerate() {
            if p == NONE {
                self.part[slot] = 0.0;
            }
        }
    }
}

/// What is not handed out yet.
struct Views<'a> {
    at: [&'a mut [f32]; 3],
    velocity: [&'a mut [f32]; 3],
    affine: [&'a mut [f32]; 9],
    deformation: [&'a mut [f32]; 9],
}

impl Views<'_> {
    fn split(self, count: usize) -> (Self, Self) {
        let (at, at_rest) = halves(self.at, count);
        let (velocity, velocity_rest) = halves(self.velocity, count);
        let (affine, affine_rest) = halves(self.affine, count);
        let (deformation, deformation_rest) = halves(self.deformation, count);
        (
            Self { at, velocity, affine, deformation },
            Self { at: at_rest, velocity: velocity_rest, affine: affine_rest, deformation: deformation_rest },
        )
    }
}

fn halves<const N: usize>(columns: [&mut [f32]; N], count: usize) -> ([&mut [f32]; N], [&mut [f32]; N]) {
    let mut tails: [&mut [f32]; N] = std::array::from_fn(|_| Default::default());
    let mut tail = tails.iter_mut();
    let heads = columns.map(|column| {
        let (head, rest) = column.split_at_mut(count);
        if let Some(tail) = tail.next() {
            *tail = rest;
        }
        head
    });
    (heads, tails)
}
