//! The explicit MPM solver: P2G, grid update with walls and contact impulses, G2P.

use super::blocks::{Blocks, NONE};
use super::columns::Columns;
use super::impulses::GridImpulses;
use super::nodes::Nodes;
use super::particles::{MpmSetup, ParticleState};
use super::transfer::{StepSetup, TILE, Tile, Transfer, transfer_block};
use super::walls::Walls;
use crate::SkinError;
use crate::gel::GelParameters;
use crate::threads::parallel;
use dermis_geometry::{Mat3, Vec3};
use rayon::prelude::*;

/// Particles and grid of a moving gel. State between steps: particles sorted into blocks, and a tile of nodes per
/// block.
#[derive(Clone, Debug)]
pub(crate) struct MpmSolver {
    setup: MpmSetup,
    step: StepSetup,
    blocks: Blocks,
    columns: Columns,
    prescribed: bool,
    tiles: Vec<Tile>,
    pub(super) nodes: Nodes,
    walls: Walls,
    /// Impulse that moving prescribed particles received in the last step (in full-particle masses, m/s).
    pub prescribed_impulse: Vec3,
    /// Number of steps done.
    pub steps: u64,
    /// True if a particle has left the margin of its block: sort before the next transfer.
    strayed: bool,
}

impl MpmSolver {
    pub fn new(setup: MpmSetup, particles: &ParticleState) -> Self {
        let step = StepSetup {
            constitution: setup.parameters.constitution,
            constants: setup.parameters.step_constants(setup.dt_s),
            edge_m: setup.cell_m.to_array().map(|edge| edge as f32),
        };
        let cells: Vec<[f64; 3]> =
            particles.position.iter().map(|at| ((*at - setup.origin) / setup.cell_m).to_array()).collect();
        let whole: Vec<[i32; 3]> = cells.iter().map(|cell| cell.map(|x| x.floor() as i32)).collect();
        let (blocks, particle) = Blocks::sort(&whole);
        let mut solver = Self {
            step,
            blocks: Blocks::default(),
            columns: Columns::new(particles, &cells, particle),
            prescribed: particles.prescribed.iter().any(|&index| index > 0),
            tiles: Vec::new(),
            nodes: Nodes::default(),
            walls: Walls::new(setup.walls.clone()),
            prescribed_impulse: Vec3::ZERO,
            steps: 0,
            strayed: false,
            setup,
        };
        solver.set_blocks(blocks);
        solver
    }

    /// Material, grid and time step.
    pub fn setup(&self) -> &MpmSetup {
        &self.setup
    }

    /// Allocates tiles, nodes and walls for a new set of blocks.
    fn set_blocks(&mut self, blocks: Blocks) {
        self.tiles.resize(blocks.occupied.len(), [0.0; TILE]);
        self.nodes.cover(&blocks);
        self.walls.find(&self.nodes);
        self.blocks = blocks;
    }

    /// Sorts particles into their current blocks.
    fn sort(&mut self) {
        let (cells, shift) = self.columns.cells(&self.blocks);
        let (blocks, particle) = Blocks::sort(&cells);
        self.columns.rearrange(particle, &shift);
        self.set_blocks(blocks);
        self.strayed = false;
    }

    /// Runs `count` steps. In each step, calls `push` with the step number after the grid velocities are known and
    /// before walls act; it may add impulses to the grid. Afterwards [`Self::particles`] holds positions and velocities
    /// at the same time.
    pub fn run(&mut self, count: usize, mut push: impl FnMut(usize, &mut GridImpulses<'_>)) -> Result<(), SkinError> {
        let damping = self.step.constants.damping_factor;
        if count > 0 {
            self.transfer(Transfer::P2G)?;
        }
        for step in 0..count {
            let last = step + 1 == count;
            self.nodes.sum(&self.blocks, &self.tiles, Some(damping));
            push(step, &mut GridImpulses { solver: self });
            self.walls.apply(&mut self.nodes.values);
            self.transfer(if last { Transfer::G2P } else { Transfer::G2P2G })?;
            self.steps += 1;
            match (self.strayed, last) {
                (true, true) => self.sort(),
                (true, false) => self.sort_between_steps(),
                (false, _) => {}
            }
        }
        Ok(())
    }

    /// Sorts particles after G2P2G, when the tiles already hold the mass and momentum of the next step. Sorting changes
    /// only the block that owns the share of a node: the shares are summed on the nodes of the old blocks and
    /// distributed to tiles of the new ones.
    fn sort_between_steps(&mut self) {
        self.nodes.sum(&self.blocks, &self.tiles, None);
        let loaded = self.nodes.loaded();
        self.sort();
        for tile in &mut self.tiles {
            tile.fill(0.0);
        }
        self.nodes.distribute(&self.blocks, &loaded, &mut self.tiles);
    }

    /// Runs one transfer for all particles, block by block.
    fn transfer(&mut self, kind: Transfer) -> Result<(), SkinError> {
        let (simd, step, nodes) = (self.setup.simd, self.step, &self.nodes);
        let occupied = &self.blocks.occupied;
        let slots = self.columns.by_block(occupied, self.prescribed.then_some(&self.setup.prescribed_velocities[..]));
        let work: Vec<_> = occupied.iter().zip(&mut self.tiles).zip(slots).collect();
        let blocks = work.into_par_iter().map_init(
            || Box::new([0f32; TILE]),
            |from, ((occupied, tile), mut slots)| {
                if kind != Transfer::P2G {
                    nodes.fetch(occupied.at, from);
                }
                if kind != Transfer::G2P {
                    tile.fill(0.0);
                }
                (occupied.first, transfer_block(simd, kind, &step, from, tile, &mut slots))
            },
        );
        let outcomes: Vec<_> = parallel(|| blocks.collect());
        self.prescribed_impulse = Vec3::ZERO;
        for (first, outcome) in outcomes {
            self.prescribed_impulse += Vec3::from_array(outcome.prescribed.map(f64::from));
            self.strayed |= outcome.strayed;
            if let Some(slot) = outcome.failed
                && self.columns.particle[first + slot] != NONE
            {
                return Err(SkinError::GelBroke {
                    particle: self.columns.particle[first + slot],
                    step: self.steps,
                    dt_us: self.setup.dt_s * 1e6,
                });
            }
        }
        Ok(())
    }

    /// Lowest cell of a particle's block, and the particle's position relative to it (cells).
    pub(super) fn local(&self, particle: usize) -> ([i32; 3], [f64; 3]) {
        let slot = self.columns.slot[particle] as usize;
        let corner = self.blocks.corner(self.blocks.owner(slot));
        (corner, std::array::from_fn(|a| f64::from(self.columns.position[a][slot])))
    }

    /// Position (m) and deformation gradient of a particle.
    pub fn particle(&self, particle: usize) -> (Vec3, Mat3) {
        let (corner, local) = self.local(particle);
        let cells = Vec3::from_array(std::array::from_fn(|a| f64::from(corner[a]) + local[a]));
        let at = self.setup.origin + cells * self.setup.cell_m;
        (at, self.columns.gradient(self.columns.slot[particle] as usize))
    }

    /// State of all particles, by particle number.
    pub fn particles(&self) -> ParticleState {
        let columns = &self.columns;
        let slots = || columns.slot.iter().map(|&slot| slot as usize);
        ParticleState {
            position: (0..self.len()).map(|particle| self.particle(particle).0).collect(),
            velocity: slots().map(|slot| std::array::from_fn(|a| columns.velocity[a][slot])).collect(),
            affine: slots().map(|slot| std::array::from_fn(|i| columns.affine[i][slot])).collect(),
            deformation: slots().map(|slot| std::array::from_fn(|i| columns.deformation[i][slot])).collect(),
            volume_fraction: slots().map(|slot| columns.volume_fraction[slot]).collect(),
            prescribed: slots().map(|slot| columns.prescribed[slot]).collect(),
        }
    }

    /// Impulses (in full-particle masses, m/s) of the recorded wall on the gel, by node column.
    pub fn wall_impulses(&self) -> &[Vec3] {
        &self.walls.impulses
    }

    /// Mass (kg) of a full particle, including mass scaling.
    pub fn particle_kg(&self, particle_m3: f64) -> f64 {
        particle_m3 * f64::from(self.step.constants.density)
    }

    /// Number of particles.
    pub fn len(&self) -> usize {
        self.columns.len()
    }

    /// Allocated memory (bytes).
    pub fn bytes(&self) -> usize {
        self.columns.bytes() + self.nodes.values.len() * 4 + self.tiles.len() * TILE * 4 + self.walls.bytes()
    }
}

/// Length of a step (s) in which a pressure wave crosses the fraction `courant` of a cell.
pub(crate) fn stable_step_s(parameters: &GelParameters, cell_m: Vec3, courant: f64) -> f64 {
    let density = parameters.density_kg_per_m3 * parameters.mass_scaling;
    courant * cell_m.min_element() / (parameters.confined_pa() / density).sqrt()
}
