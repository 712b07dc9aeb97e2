//! Particles and grid, step by step.

use super::blocks::{Blocks, NONE};
use super::pass::{BLOCK, Led, Pass, Rules, Slots, TILE, TILE_EDGE, Tile, pass};
use crate::SkinError;
use crate::gel::{GelParameters, Simd};
use dermis_geometry::{Mat3, Vec3};
use rayon::prelude::*;

/// Numbers in a brick of 4³ nodes: velocity (m/s) and mass (in particles) of each.
const BRICK: usize = BLOCK * BLOCK * BLOCK * 4;

/// A border of the gel that is still: the plane between two layers of nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Wall {
    /// 0, 1, 2 for x, y, z.
    pub axis: usize,
    /// Cells before the plane.
    pub plane: i32,
    /// The gel is behind it (at larger coordinates) or before it.
    pub above: bool,
}

/// How an engine is set up.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    pub parameters: GelParameters,
    /// Corner of the grid (m) and edges of a cell (m).
    pub origin: Vec3,
    pub cell_m: Vec3,
    pub walls: Vec<Wall>,
    pub dt_s: f64,
    pub simd: Simd,
}

/// Particles as they are kept between runs, by number.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Body {
    /// Places (m).
    pub at: Vec<Vec3>,
    pub velocity: Vec<[f32; 3]>,
    pub affine: Vec<[f32; 9]>,
    pub deformation: Vec<[f32; 9]>,
    /// The part of a whole particle that each is.
    pub part: Vec<f32>,
    /// 0: free; else led by one of the velocities, from 1.
    pub kind: Vec<u8>,
}

impl Body {
    /// Particles at rest.
    pub fn at_rest(at: Vec<Vec3>, part: Vec<f32>) -> Self {
        let n = at.len();
        Self {
            at,
            velocity: vec![[0.0; 3]; n],
            affine: vec![[0.0; 9]; n],
            deformation: vec![[1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0]; n],
            part,
            kind: vec![0; n],
        }
    }
}

/// The moving gel.
#[derive(Clone, Debug)]
pub(crate) struct Engine {
    settings: Settings,
    rules: Rules,
    blocks: Blocks,
    /// The particle in each slot, and the slot of each particle.
    particle: Vec<u32>,
    slot: Vec<u32>,
    at: [Vec<f32>; 3],
    velocity: [Vec<f32>; 3],
    affine: [Vec<f32>; 9],
    deformation: [Vec<f32>; 9],
    part: Vec<f32>,
    kind: Vec<u8>,
    led: bool,
    /// Velocities (m/s) of led particles.
    pub leads: Vec<[f32; 3]>,
    tiles: Vec<Tile>,
    /// Mass and velocity of the nodes, brick by brick.
    nodes: Vec<f32>,
    /// Pairs of nodes beside walls: outer, inner.
    pairs: Vec<(u32, u32)>,
    /// What the led particles took in the last step (in particle masses, m/s).
    pub led_impulse: Vec3,
    /// Steps so far.
    pub steps: u64,
    strayed: bool,
    started: bool,
}

impl Engine {
    pub fn new(settings: Settings, body: &Body) -> Self {
        let parameters = &settings.parameters;
        let (lambda, mu) = parameters.lame_pa();
        let rules = Rules {
            constitution: parameters.constitution,
            lambda_pa: lambda as f32,
            mu_pa: mu as f32,
            dt_s: settings.dt_s as f32,
            edge_m: settings.cell_m.to_array().map(|edge| edge as f32),
            density: (parameters.density_kg_per_m3 * parameters.mass_scaling) as f32,
        };
        let mut engine = Self {
            rules,
            blocks: Blocks::default(),
            particle: Vec::new(),
            slot: Vec::new(),
            at: Default::default(),
            velocity: Default::default(),
            affine: Default::default(),
            deformation: Default::default(),
            part: Vec::new(),
            kind: Vec::new(),
            led: body.kind.iter().any(|&kind| kind > 0),
            leads: Vec::new(),
            tiles: Vec::new(),
            nodes: Vec::new(),
            pairs: Vec::new(),
            led_impulse: Vec3::ZERO,
            steps: 0,
            strayed: false,
            started: false,
            settings,
        };
        let n = body.at.len();
        let cells: Vec<[f64; 3]> =
            body.at.iter().map(|at| ((*at - engine.settings.origin) / engine.settings.cell_m).to_array()).collect();
        let whole: Vec<[i32; 3]> = cells.iter().map(|cell| cell.map(|x| x.floor() as i32)).collect();
        let (blocks, particle) = Blocks::sort(&whole);
        engine.place(blocks, particle, n);
        for axis in 0..3 {
            engine.at[axis] = engine.per_slot(|p| {
                let block = whole[p][axis].div_euclid(BLOCK as i32) * BLOCK as i32;
                (cells[p][axis] - f64::from(block)) as f32
            });
            engine.velocity[axis] = engine.per_slot(|p| body.velocity[p][axis]);
        }
        for i in 0..9 {
            engine.affine[i] = engine.per_slot(|p| body.affine[p][i]);
            engine.deformation[i] = engine.per_slot(|p| body.deformation[p][i]);
        }
        engine.part = engine.per_slot(|p| body.part[p]);
        engine.kind = engine.particle.iter().map(|&p| if p == NONE { 0 } else { body.kind[p as usize] }).collect();
        engine.empty_slots();
        engine
    }

    /// A number of every slot's particle; empty slots take that of the slot before.
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

    fn empty_slots(&mut self) {
        for (slot, &p) in self.particle.iter().enumerate() {
            if p == NONE {
                self.part[slot] = 0.0;
                self.kind[slot] = 0;
            }
        }
    }

    fn place(&mut self, blocks: Blocks, particle: Vec<u32>, count: usize) {
        self.slot = vec![NONE; count];
        for (slot, &p) in particle.iter().enumerate() {
            if p != NONE {
                self.slot[p as usize] = slot as u32;
            }
        }
        self.tiles.resize(blocks.owned.len(), [0.0; TILE]);
        let bricks = blocks.bricks();
        self.nodes.clear();
        self.nodes.resize(bricks.iter().product::<usize>() * BRICK, 0.0);
        self.particle = particle;
        self.blocks = blocks;
        self.pairs = self.settings.walls.iter().flat_map(|wall| self.wall_pairs(wall)).collect();
    }

    /// Where a node is among the numbers of all; its coordinates are those of the cell it is the middle of.
    fn node(&self, cell: [i32; 3]) -> Option<usize> {
        let bricks = self.blocks.bricks();
        let (mut brick, mut inner) = ([0usize; 3], [0usize; 3]);
        for axis in 0..3 {
            let local = cell[axis] - self.blocks.low[axis] * BLOCK as i32 + 2;
            if local < 0 || local >= (bricks[axis] * BLOCK) as i32 {
                return None;
            }
            (brick[axis], inner[axis]) = (local as usize / BLOCK, local as usize % BLOCK);
        }
        let brick = (brick[2] * bricks[1] + brick[1]) * bricks[0] + brick[0];
        Some(brick * BRICK + ((inner[2] * BLOCK + inner[1]) * BLOCK + inner[0]) * 4)
    }

    fn wall_pairs(&self, wall: &Wall) -> Vec<(u32, u32)> {
        let bricks = self.blocks.bricks();
        let range = |axis: usize| {
            let low = self.blocks.low[axis] * BLOCK as i32 - 2;
            low..low + (bricks[axis] * BLOCK) as i32
        };
        let (a, b) = ((wall.axis + 1) % 3, (wall.axis + 2) % 3);
        let (outer, inner) = if wall.above { (wall.plane - 1, wall.plane) } else { (wall.plane, wall.plane - 1) };
        let mut pairs = Vec::new();
        for i in range(a) {
            for j in range(b) {
                let mut cell = [0; 3];
                (cell[a], cell[b], cell[wall.axis]) = (i, j, outer);
                let ghost = self.node(cell);
                cell[wall.axis] = inner;
                if let (Some(ghost), Some(inner)) = (ghost, self.node(cell)) {
                    pairs.push((ghost as u32, inner as u32));
                }
            }
        }
        pairs
    }

    /// Sorts anew: particles have left their blocks.
    fn sort(&mut self) {
        let count = self.slot.len();
        let mut whole = vec![[0i32; 3]; count];
        let mut shift = vec![[0f32; 3]; count];
        for owned in &self.blocks.owned {
            let base: [i32; 3] = std::array::from_fn(|a| (self.blocks.low[a] + owned.at[a] as i32) * BLOCK as i32);
            for slot in owned.first..owned.first + owned.slots {
                let p = self.particle[slot];
                if p != NONE {
                    for axis in 0..3 {
                        let local = self.at[axis][slot].floor() as i32;
                        let cell = base[axis] + local;
                        whole[p as usize][axis] = cell;
                        shift[p as usize][axis] = (base[axis] - cell.div_euclid(BLOCK as i32) * BLOCK as i32) as f32;
                    }
                }
            }
        }
        let (blocks, particle) = Blocks::sort(&whole);
        let old = std::mem::take(&mut self.slot);
        self.place(blocks, particle, count);
        let moved = |values: &[f32], engine: &Self| engine.per_slot(|p| values[old[p] as usize]);
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
        let kinds: Vec<u8> =
            self.particle.iter().map(|&p| if p == NONE { 0 } else { self.kind[old[p as usize] as usize] }).collect();
        self.kind = kinds;
        self.empty_slots();
        self.strayed = false;
    }

    /// One step. `push` may add impulses through [`Grid`] before walls act. Velocities are in the particles only after [`Self::stop`].
    pub fn step(&mut self, push: impl FnOnce(&mut Grid<'_>)) -> Result<(), SkinError> {
        if !self.started {
            self.sweep(Pass::Start)?;
            self.started = true;
        }
        self.add_tiles();
        push(&mut Grid { engine: self });
        self.still_walls();
        self.sweep(Pass::Go)?;
        self.steps += 1;
        if self.strayed {
            // Particles change blocks with their velocities: these are taken from the grid first.
            self.restart();
        }
        Ok(())
    }

    /// Ends a run of steps: the last one, after which particles have their velocities.
    pub fn stop(&mut self, push: impl FnOnce(&mut Grid<'_>)) -> Result<(), SkinError> {
        if !self.started {
            self.sweep(Pass::Start)?;
        }
        self.add_tiles();
        push(&mut Grid { engine: self });
        self.still_walls();
        self.sweep(Pass::Stop)?;
        self.steps += 1;
        self.started = false;
        if self.strayed {
            self.sort();
        }
        Ok(())
    }

    /// After particles have strayed: tiles are of the old blocks, so the last step's momentum, which is on them, is added up on the
    /// nodes of the old blocks and cut out anew.
    fn restart(&mut self) {
        // What the tiles hold is what the particles would give: only sorting changes who owns it.
        let mut sums: Vec<([i32; 3], [f32; 4])> = Vec::new();
        let bricks = self.blocks.bricks();
        self.sum_bricks(false);
        for brick in 0..bricks.iter().product::<usize>() {
            let at = [brick % bricks[0], brick / bricks[0] % bricks[1], brick / (bricks[0] * bricks[1])];
            for node in 0..BLOCK * BLOCK * BLOCK {
                let from = brick * BRICK + node * 4;
                let values: [f32; 4] = std::array::from_fn(|i| self.nodes[from + i]);
                if values[3] > 0.0 {
                    let inner = [node % BLOCK, node / BLOCK % BLOCK, node / (BLOCK * BLOCK)];
                    let cell = std::array::from_fn(|a| {
                        (self.blocks.low[a] + at[a] as i32) * BLOCK as i32 + inner[a] as i32 - 2
                    });
                    sums.push((cell, values));
                }
            }
        }
        self.sort();
        for tile in &mut self.tiles {
            tile.fill(0.0);
        }
        // Any one tile that holds the node will do: tiles are only ever added.
        for (cell, values) in sums {
            let brick: [isize; 3] = std::array::from_fn(|a| {
                ((cell[a] - self.blocks.low[a] * BLOCK as i32 + 2) as isize).div_euclid(BLOCK as isize)
            });
            let mut found = None;
            for octant in 0..8isize {
                let shift = [octant & 1, (octant >> 1) & 1, (octant >> 2) & 1];
                let block = std::array::from_fn(|a| brick[a] - shift[a]);
                if let Some(owned) = self.blocks.find(block) {
                    found = Some((owned, shift));
                    break;
                }
            }
            let Some((owned, shift)) = found else { continue };
            let inner: [usize; 3] = std::array::from_fn(|a| {
                (cell[a] - self.blocks.low[a] * BLOCK as i32 + 2).rem_euclid(BLOCK as i32) as usize
                    + shift[a] as usize * BLOCK
            });
            let to = ((inner[2] * TILE_EDGE + inner[1]) * TILE_EDGE + inner[0]) * 4;
            for (i, value) in values.iter().enumerate() {
                self.tiles[owned][to + i] += value;
            }
        }
    }

    fn add_tiles(&mut self) {
        self.sum_bricks(true);
    }

    /// Adds the tiles up on the bricks in a fixed order; as velocity and mass, or as momentum and mass.
    fn sum_bricks(&mut self, as_velocity: bool) {
        let bricks = self.blocks.bricks();
        let slow = (1.0 - self.settings.parameters.damping_per_s * self.settings.dt_s).max(0.0) as f32;
        let (blocks, tiles) = (&self.blocks, &self.tiles);
        self.nodes.par_chunks_mut(BRICK).enumerate().for_each(|(brick, nodes)| {
            let at = [brick % bricks[0], brick / bricks[0] % bricks[1], brick / (bricks[0] * bricks[1])];
            nodes.fill(0.0);
            let mut any = false;
            for octant in 0..8usize {
                let shift = [octant & 1, (octant >> 1) & 1, (octant >> 2) & 1];
                let block = std::array::from_fn(|a| at[a] as isize - shift[a] as isize);
                let Some(owned) = blocks.find(block) else { continue };
                any = true;
                let tile = &tiles[owned];
                for z in 0..BLOCK {
                    for y in 0..BLOCK {
                        let from = (((z + BLOCK * shift[2]) * TILE_EDGE + y + BLOCK * shift[1]) * TILE_EDGE
                            + BLOCK * shift[0])
                            * 4;
                        let to = (z * BLOCK + y) * BLOCK * 4;
                        for (to, from) in nodes[to..to + BLOCK * 4].iter_mut().zip(&tile[from..from + BLOCK * 4]) {
                            *to += from;
                        }
                    }
                }
            }
            if any && as_velocity {
                for node in nodes.chunks_exact_mut(4) {
                    let scale = if node[3] > 0.0 { slow / node[3] } else { 0.0 };
                    node[0] *= scale;
                    node[1] *= scale;
                    node[2] *= scale;
                }
            }
        });
    }

    /// Of all velocities that keep the wall still, the one nearest in kinetic energy.
    fn still_walls(&mut self) {
        for &(ghost, inner) in &self.pairs {
            let (ghost, inner) = (ghost as usize, inner as usize);
            let (m, n) = (self.nodes[ghost + 3], self.nodes[inner + 3]);
            let total = m + n;
            if total > 0.0 {
                for c in 0..3 {
                    let v = (n * self.nodes[inner + c] - m * self.nodes[ghost + c]) / total;
                    self.nodes[inner + c] = v;
                    self.nodes[ghost + c] = -v;
                }
            }
        }
    }

    /// All particles through a pass.
    fn sweep(&mut self, what: Pass) -> Result<(), SkinError> {
        let bricks = self.blocks.bricks();
        let (simd, rules, nodes, blocks) = (self.settings.simd, self.rules, &self.nodes, &self.blocks);
        let mut rest = Columns {
            at: self.at.each_mut().map(|v| v.as_mut_slice()),
            velocity: self.velocity.each_mut().map(|v| v.as_mut_slice()),
            affine: self.affine.each_mut().map(|v| v.as_mut_slice()),
            deformation: self.deformation.each_mut().map(|v| v.as_mut_slice()),
        };
        let (led, leads) = (self.led, self.leads.as_slice());
        let mut work = Vec::with_capacity(blocks.owned.len());
        for (owned, tile) in blocks.owned.iter().zip(&mut self.tiles) {
            let (mine, others) = rest.split(owned.slots);
            rest = others;
            let range = owned.first..owned.first + owned.slots;
            let slots = Slots {
                at: mine.at,
                velocity: mine.velocity,
                affine: mine.affine,
                deformation: mine.deformation,
                part: &self.part[range.clone()],
                led: led.then(|| Led { kind: &self.kind[range], velocities: leads }),
            };
            work.push((owned, tile, slots));
        }
        let outcomes: Vec<_> = work
            .into_par_iter()
            .map_init(
                || Box::new([0f32; TILE]),
                |from, (owned, tile, mut slots)| {
                    if what != Pass::Start {
                        fetch(nodes, bricks, owned.at, from);
                    }
                    if what != Pass::Stop {
                        tile.fill(0.0);
                    }
                    let outcome = pass(simd, what, &rules, from, tile, &mut slots);
                    (owned.first, outcome)
                },
            )
            .collect();
        self.led_impulse = Vec3::ZERO;
        for (first, outcome) in outcomes {
            self.led_impulse += Vec3::from_array(outcome.led.map(f64::from));
            self.strayed |= outcome.strayed;
            if let Some(slot) = outcome.inverted
                && self.particle[first + slot] != NONE
            {
                return Err(SkinError::GelBroke {
                    particle: self.particle[first + slot],
                    step: self.steps,
                    dt_us: self.settings.dt_s * 1e6,
                });
            }
        }
        Ok(())
    }

    /// Where a particle is (m) and how it is deformed.
    pub fn particle(&self, particle: usize) -> (Vec3, Mat3) {
        let slot = self.slot[particle] as usize;
        (self.position(slot), self.gradient(slot))
    }

    fn position(&self, slot: usize) -> Vec3 {
        let owned = self.blocks.owned[self.blocks.owned.partition_point(|owned| owned.first <= slot) - 1];
        let cell = |a: usize| {
            f64::from((self.blocks.low[a] + owned.at[a] as i32) * BLOCK as i32) + f64::from(self.at[a][slot])
        };
        self.settings.origin + Vec3::new(cell(0), cell(1), cell(2)) * self.settings.cell_m
    }

    fn gradient(&self, slot: usize) -> Mat3 {
        let f = |i: usize| f64::from(self.deformation[i][slot]);
        Mat3::from_cols(Vec3::new(f(0), f(3), f(6)), Vec3::new(f(1), f(4), f(7)), Vec3::new(f(2), f(5), f(8)))
    }

    /// The particles, by number; after [`Self::stop`].
    pub fn body(&self) -> Body {
        let slots = || self.slot.iter().map(|&slot| slot as usize);
        Body {
            at: slots().map(|slot| self.position(slot)).collect(),
            velocity: slots().map(|slot| std::array::from_fn(|a| self.velocity[a][slot])).collect(),
            affine: slots().map(|slot| std::array::from_fn(|i| self.affine[i][slot])).collect(),
            deformation: slots().map(|slot| std::array::from_fn(|i| self.deformation[i][slot])).collect(),
            part: slots().map(|slot| self.part[slot]).collect(),
            kind: slots().map(|slot| self.kind[slot]).collect(),
        }
    }

    /// Mass (kg) of a whole particle, scaled.
    pub fn particle_kg(&self, particle_m3: f64) -> f64 {
        particle_m3 * f64::from(self.rules.density)
    }

    /// How many particles.
    pub fn len(&self) -> usize {
        self.slot.len()
    }

    /// Bytes held.
    pub fn bytes(&self) -> usize {
        let floats = self.at.iter().chain(&self.velocity).chain(&self.affine).chain(&self.deformation);
        floats.map(Vec::len).sum::<usize>() * 4
            + self.part.len() * 4
            + self.kind.len()
            + (self.particle.len() + self.slot.len()) * 4
            + self.nodes.len() * 4
            + self.tiles.len() * TILE * 4
            + self.pairs.len() * 8
    }
}

/// All slots' numbers, to be handed out block by block.
struct Columns<'a> {
    at: [&'a mut [f32]; 3],
    velocity: [&'a mut [f32]; 3],
    affine: [&'a mut [f32]; 9],
    deformation: [&'a mut [f32]; 9],
}

impl<'a> Columns<'a> {
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

/// The nodes around a block, from the bricks that hold them.
fn fetch(nodes: &[f32], bricks: [usize; 3], block: [usize; 3], tile: &mut Tile) {
    for octant in 0..8usize {
        let shift = [octant & 1, (octant >> 1) & 1, (octant >> 2) & 1];
        let at: [usize; 3] = std::array::from_fn(|a| block[a] + shift[a]);
        let brick = ((at[2] * bricks[1] + at[1]) * bricks[0] + at[0]) * BRICK;
        for z in 0..BLOCK {
            for y in 0..BLOCK {
                let to =
                    (((z + BLOCK * shift[2]) * TILE_EDGE + y + BLOCK * shift[1]) * TILE_EDGE + BLOCK * shift[0]) * 4;
                let from = brick + (z * BLOCK + y) * BLOCK * 4;
                tile[to..to + BLOCK * 4].copy_from_slice(&nodes[from..from + BLOCK * 4]);
            }
        }
    }
}

/// The grid between two passes, for those who push.
pub(crate) struct Grid<'a> {
    engine: &'a mut Engine,
}

impl Grid<'_> {
    /// Where a particle is (m) and how it is deformed.
    pub fn particle(&self, particle: usize) -> (Vec3, Mat3) {
        self.engine.particle(particle)
    }

    /// Gives an impulse (in particle masses, m/s) to the gel at `arm` (m) from a particle: spread so that its first moment is kept.
    pub fn push(&mut self, particle: usize, arm: Vec3, impulse: Vec3) {
        let engine = &mut *self.engine;
        let slot = engine.slot[particle] as usize;
        let owned = engine.blocks.owned[engine.blocks.owned.partition_point(|owned| owned.first <= slot) - 1];
        let (mut cell, mut weights, mut lean) = ([0i32; 3], [[0f64; 3]; 3], [[0f64; 3]; 3]);
        for a in 0..3 {
            let local = f64::from(engine.at[a][slot]);
            let floor = local.floor();
            cell[a] = (engine.blocks.low[a] + owned.at[a] as i32) * BLOCK as i32 + floor as i32;
            let xi = local - floor - 0.5;
            weights[a] = [0.5 * (0.5 - xi) * (0.5 - xi), 0.75 - xi * xi, 0.5 * (0.5 + xi) * (0.5 + xi)];
            for (node, lean) in lean[a].iter_mut().enumerate() {
                *lean = 4.0 * (node as f64 - 1.0 - xi) * arm[a] / engine.settings.cell_m[a];
            }
        }
        for k in 0..3 {
            for j in 0..3 {
                for i in 0..3 {
                    let at = [cell[0] + i as i32 - 1, cell[1] + j as i32 - 1, cell[2] + k as i32 - 1];
                    let Some(node) = engine.node(at) else { continue };
                    let mass = f64::from(engine.nodes[node + 3]);
                    if mass > 0.0 {
                        let weight = weights[0][i] * weights[1][j] * weights[2][k];
                        let share = weight * (1.0 + lean[0][i] + lean[1][j] + lean[2][k]) / mass;
                        for c in 0..3 {
                            engine.nodes[node + c] += (impulse[c] * share) as f32;
                        }
                    }
                }
            }
        }
    }
}

/// The longest stable step (s): a wave crosses `part` of a cell.
pub(crate) fn stable_step_s(parameters: &GelParameters, cell_m: Vec3, part: f64) -> f64 {
    let density = parameters.density_kg_per_m3 * parameters.mass_scaling;
    part * cell_m.min_element() / (parameters.confined_pa() / density).sqrt()
}
