//! Particles and grid, step by step.

use super::blocks::{Blocks, NONE};
use super::body::Body;
use super::columns::Columns;
use super::grid::Grid;
use super::nodes::Nodes;
use super::pass::{Pass, Rules, TILE, Tile, pass};
use super::walls::{Wall, Walls};
use crate::gel::GelParameters;
use crate::{Simd, SkinError};
use dermis_geometry::{Mat3, Vec3};
use rayon::prelude::*;

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

/// The moving gel.
#[derive(Clone, Debug)]
pub(crate) struct Engine {
    settings: Settings,
    rules: Rules,
    blocks: Blocks,
    columns: Columns,
    led: bool,
    /// Velocities (m/s) of led particles.
    pub leads: Vec<[f32; 3]>,
    tiles: Vec<Tile>,
    pub(super) nodes: Nodes,
    walls: Walls,
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
        let cells: Vec<[f64; 3]> =
            body.at.iter().map(|at| ((*at - settings.origin) / settings.cell_m).to_array()).collect();
        let whole: Vec<[i32; 3]> = cells.iter().map(|cell| cell.map(|x| x.floor() as i32)).collect();
        let (blocks, particle) = Blocks::sort(&whole);
        let mut engine = Self {
            rules,
            blocks: Blocks::default(),
            columns: Columns::new(body, &cells, particle),
            led: body.kind.iter().any(|&kind| kind > 0),
            leads: Vec::new(),
            tiles: Vec::new(),
            nodes: Nodes::default(),
            walls: Walls::new(settings.walls.clone()),
            led_impulse: Vec3::ZERO,
            steps: 0,
            strayed: false,
            started: false,
            settings,
        };
        engine.surround(blocks);
        engine
    }

    /// How it is set up.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Tiles, nodes and walls for other blocks.
    fn surround(&mut self, blocks: Blocks) {
        self.tiles.resize(blocks.owned.len(), [0.0; TILE]);
        self.nodes.surround(&blocks);
        self.walls.find(&self.nodes);
        self.blocks = blocks;
    }

    /// Sorts anew: particles have left their blocks.
    fn sort(&mut self) {
        let (cells, shift) = self.columns.cells(&self.blocks);
        let (blocks, particle) = Blocks::sort(&cells);
        self.columns.rearrange(particle, &shift);
        self.surround(blocks);
        self.strayed = false;
    }

    /// One step. `push` may add impulses through [`Grid`] before walls act. Velocities are in the particles only after [`Self::stop`].
    pub fn step(&mut self, push: impl FnOnce(&mut Grid<'_>)) -> Result<(), SkinError> {
        self.advance(Pass::Go, push)?;
        self.started = true;
        if self.strayed {
            self.restart();
        }
        Ok(())
    }

    /// Ends a run of steps: the last one, after which particles have their velocities.
    pub fn stop(&mut self, push: impl FnOnce(&mut Grid<'_>)) -> Result<(), SkinError> {
        self.advance(Pass::Stop, push)?;
        self.started = false;
        if self.strayed {
            self.sort();
        }
        Ok(())
    }

    fn advance(&mut self, what: Pass, push: impl FnOnce(&mut Grid<'_>)) -> Result<(), SkinError> {
        if !self.started {
            self.sweep(Pass::Start)?;
        }
        let slow = (1.0 - self.settings.parameters.damping_per_s * self.settings.dt_s).max(0.0) as f32;
        self.nodes.sum(&self.blocks, &self.tiles, Some(slow));
        push(&mut Grid { engine: self });
        self.walls.hold(&mut self.nodes.values);
        self.sweep(what)?;
        self.steps += 1;
        Ok(())
    }

    /// After particles have strayed: what the tiles hold is what the particles would give, only sorting changes who owns it. So the
    /// momentum is added up on the nodes of the old blocks and cut out anew.
    fn restart(&mut self) {
        self.nodes.sum(&self.blocks, &self.tiles, None);
        let loaded = self.nodes.loaded();
        self.sort();
        for tile in &mut self.tiles {
            tile.fill(0.0);
        }
        self.nodes.hand_out(&self.blocks, &loaded, &mut self.tiles);
    }

    /// All particles through a pass.
    fn sweep(&mut self, what: Pass) -> Result<(), SkinError> {
        let (simd, rules, nodes) = (self.settings.simd, self.rules, &self.nodes);
        let owned = &self.blocks.owned;
        let slots = self.columns.by_block(owned, self.led.then_some(&self.leads));
        let work: Vec<_> = owned.iter().zip(&mut self.tiles).zip(slots).collect();
        let outcomes: Vec<_> = work
            .into_par_iter()
            .map_init(
                || Box::new([0f32; TILE]),
                |from, ((owned, tile), mut slots)| {
                    if what != Pass::Start {
                        nodes.fetch(owned.at, from);
                    }
                    if what != Pass::Stop {
                        tile.fill(0.0);
                    }
                    (owned.first, pass(simd, what, &rules, from, tile, &mut slots))
                },
            )
            .collect();
        self.led_impulse = Vec3::ZERO;
        for (first, outcome) in outcomes {
            self.led_impulse += Vec3::from_array(outcome.led.map(f64::from));
            self.strayed |= outcome.strayed;
            if let Some(slot) = outcome.inverted
                && self.columns.particle[first + slot] != NONE
            {
                return Err(SkinError::GelBroke {
                    particle: self.columns.particle[first + slot],
                    step: self.steps,
                    dt_us: self.settings.dt_s * 1e6,
                });
            }
        }
        Ok(())
    }

    /// The corner of a particle's block, and where it is from there (cells).
    pub(super) fn local(&self, particle: usize) -> ([i32; 3], [f64; 3]) {
        let slot = self.columns.slot[particle] as usize;
        let corner = self.blocks.corner(self.blocks.owner(slot));
        (corner, std::array::from_fn(|a| f64::from(self.columns.at[a][slot])))
    }

    /// Where a particle is (m) and how it is deformed.
    pub fn particle(&self, particle: usize) -> (Vec3, Mat3) {
        let (corner, local) = self.local(particle);
        let cells = Vec3::from_array(std::array::from_fn(|a| f64::from(corner[a]) + local[a]));
        let at = self.settings.origin + cells * self.settings.cell_m;
        (at, self.columns.gradient(self.columns.slot[particle] as usize))
    }

    /// The particles, by number; after [`Self::stop`].
    pub fn body(&self) -> Body {
        let columns = &self.columns;
        let slots = || columns.slot.iter().map(|&slot| slot as usize);
        Body {
            at: (0..self.len()).map(|particle| self.particle(particle).0).collect(),
            velocity: slots().map(|slot| std::array::from_fn(|a| columns.velocity[a][slot])).collect(),
            affine: slots().map(|slot| std::array::from_fn(|i| columns.affine[i][slot])).collect(),
            deformation: slots().map(|slot| std::array::from_fn(|i| columns.deformation[i][slot])).collect(),
            part: slots().map(|slot| columns.part[slot]).collect(),
            kind: slots().map(|slot| columns.kind[slot]).collect(),
        }
    }

    /// Impulses (in particle masses, m/s) that the gel has had from the wall that tells them apart.
    pub fn wall_impulses(&self) -> &[Vec3] {
        &self.walls.given
    }

    /// Mass (kg) of a whole particle, scaled.
    pub fn particle_kg(&self, particle_m3: f64) -> f64 {
        particle_m3 * f64::from(self.rules.density)
    }

    /// How many particles.
    pub fn len(&self) -> usize {
        self.columns.len()
    }

    /// Bytes held.
    pub fn bytes(&self) -> usize {
        self.columns.bytes() + self.nodes.values.len() * 4 + self.tiles.len() * TILE * 4 + self.walls.bytes()
    }
}

/// The longest stable step (s): a wave crosses `part` of a cell.
pub(crate) fn stable_step_s(parameters: &GelParameters, cell_m: Vec3, part: f64) -> f64 {
    let density = parameters.density_kg_per_m3 * parameters.mass_scaling;
    part * cell_m.min_element() / (parameters.confined_pa() / density).sqrt()
}
