//! Explicit MPM steps of a gel on a GPU.

use super::arena::{Arena, CooperativeKernel};
use crate::cuda_struct::{Plain, PtrMut, cuda_struct};
use crate::program::{COMMON, Program};
use crate::{Gpu, GpuError};
use dermis_geometry::Vec3;
use dermis_skin::Constitution;
use dermis_skin::gel::{MpmSetup, MpmSteps, ParticleState, StepConstants};
use std::sync::Arc;

/// Threads per block, as in the kernel.
const THREADS: u32 = 128;
/// Cells along an edge of a block, and nodes per tile, as in the kernel.
const BLOCK: i32 = 4;
const TILE: usize = 512;
/// Number of empty blocks around those with particles, which bounds the travel of particles.
const MARGIN_BLOCKS: i32 = 2;
/// The first slot of a block is a multiple of this.
const ROW: usize = 8;
/// Fixed-point units of the mass of a full particle, and of a speed of one cell per step.
const MASS_UNIT: f32 = (1 << 22) as f32;
const SPEED_UNIT: f32 = (1 << 24) as f32;
/// Factor by which the fixed-point unit of recorded impulses is finer.
const IMPULSE_UNIT: u32 = 256;
/// Maximum number of prescribed velocities.
const MAX_PRESCRIBED: usize = 4;

const SOURCE: &[&str] = &[
    COMMON,
    StepConstants::CUDA,
    OccupiedBlock::CUDA,
    ParticleColumns::CUDA,
    MpmStatus::CUDA,
    MpmTask::CUDA,
    include_str!("grid.cu"),
    include_str!("mpm.cu"),
];

/// The kernel `run_mpm_steps`.
pub(super) fn program() -> Program {
    Program::new("gel-mpm", SOURCE, &[&format!("-DROW={ROW}"), &format!("-DIMPULSE_UNIT={IMPULSE_UNIT}")])
}

// SAFETY: `repr(C)`, all fields are `f32`, and any bytes are valid; CUDA's declaration has the same fields in the same
// order.
unsafe impl Plain for StepConstants {}

/// CUDA's vector of four `f32`: velocity or momentum, and mass.
#[allow(non_camel_case_types, reason = "the name in CUDA")]
type float4 = [f32; 4];

cuda_struct! {
    /// A block with particles: its index, its first slot, and its number of slots.
    struct OccupiedBlock {
        block: i32,
        first: i32,
        count: i32,
        unused: i32,
    }
}

cuda_struct! {
    /// Particle state by slot; a matrix has nine columns. Positions (cells) are relative to the corner of the slot's
    /// block.
    #[derive(Default)]
    struct ParticleColumns {
        position: PtrMut<f32>,
        deformation: PtrMut<f32>,
        volume_fraction: PtrMut<f32>,
        particle: PtrMut<u32>,
        prescribed: PtrMut<u32>,
    }
}

cuda_struct! {
    /// Progress of a run, in GPU memory.
    #[derive(Default)]
    struct MpmStatus {
        /// Number of blocks with particles in each of the two sets of columns.
        occupied: [u32; 2],
        slots: u32,
        /// Number of bricks of nodes near particles.
        bricks: u32,
        /// Nonzero if particles must be sorted.
        strayed: u32,
        /// Index of the set of columns in use.
        set: u32,
        barrier: u32,
        sorts: u32,
        /// Step (upper half) and index (lower half) of the first particle that was inverted or left its tile.
        failed: u64,
        /// Impulse on moving prescribed particles in the last step, in fixed point.
        impulse: [u64; 3],
    }
}

cuda_struct! {
    /// The argument of `run_mpm_steps`.
    #[derive(Default)]
    struct MpmTask {
        steps: i32,
        slots: i32,
        corotated: i32,
        has_wall: i32,
        /// Number of blocks along each axis, and the cell at their corner.
        blocks: [i32; 3],
        low: [i32; 3],
        wall_axis: i32,
        wall_plane: i32,
        /// Index of the set of columns in use.
        set: i32,
        unused: i32,
        constants: StepConstants,
        mass_unit: f32,
        speed_unit: f32,
        edge: [f32; 3],
        prescribed_velocities: [[f32; 3]; 4],
        columns: [ParticleColumns; 2],
        velocity: PtrMut<f32>,
        affine: PtrMut<f32>,
        occupied: [PtrMut<OccupiedBlock>; 2],
        /// Index of each block among those with particles, or −1.
        block_index: [PtrMut<i32>; 2],
        /// Bricks of 4³ nodes near particles: the list of bricks, and a flag for each brick.
        bricks: PtrMut<i32>,
        active: PtrMut<i32>,
        block_counts: PtrMut<u32>,
        block_first: PtrMut<i32>,
        target_block: PtrMut<u32>,
        target_rank: PtrMut<u32>,
        nodes: PtrMut<float4>,
        tiles: PtrMut<float4>,
        status: PtrMut<MpmStatus>,
    }
}

/// The result of a run of steps.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MpmRun {
    /// Kernel time (s).
    pub gpu_s: f64,
    /// Number of sorts since the upload.
    pub sorts: usize,
    /// Impulse on moving prescribed particles in the last step (full-particle masses times m/s).
    pub prescribed_impulse: Vec3,
    /// Index and step of the first particle that was inverted or lost.
    pub failed: Option<(u32, u64)>,
}

/// Particles in GPU memory that advance by MPM steps.
#[derive(Debug)]
pub struct GpuMpm {
    kernel: CooperativeKernel,
    arena: Arena,
    task: MpmTask,
    setup: MpmSetup,
    /// The state at the upload; its volume fractions and prescribed velocities do not change.
    initial: ParticleState,
}

impl GpuMpm {
    /// Uploads particles without running a step.
    pub fn new(gpu: &Arc<Gpu>, steps: &MpmSteps) -> Result<Self, GpuError> {
        let MpmSteps { setup, particles, .. } = steps;
        check_supported(setup, particles)?;
        let kernel = CooperativeKernel::new(gpu, &program(), "run_mpm_steps", THREADS)?;
        let sorted = SortedParticles::new(setup, particles);
        let what = || format!("a gel of {} particles", particles.position.len());
        gpu.require_free(sorted.bytes_needed(), what, |_| "use larger cells, or fewer particles".to_owned())?;
        let mut arena = Arena::new(gpu);
        let task = sorted.upload(&mut arena, setup, particles)?;
        Ok(Self { kernel, arena, task, setup: setup.clone(), initial: particles.clone() })
    }

    /// Runs `steps` steps.
    pub fn run(&mut self, steps: usize) -> Result<MpmRun, GpuError> {
        let before = self.status()?;
        let status = MpmStatus { barrier: 0, impulse: [0; 3], failed: u64::MAX, ..before };
        self.arena.write(self.task.status, &[status])?;
        let task = MpmTask { steps: steps as i32, set: status.set as i32, ..self.task };
        // SAFETY: the task belongs to the kernel, and its addresses are in `arena`.
        let gpu_s = unsafe { self.kernel.launch(&task, self.kernel.blocks)? };
        let status = self.status()?;
        let unit = f64::from(self.task.speed_unit) * f64::from(IMPULSE_UNIT);
        Ok(MpmRun {
            gpu_s,
            sorts: status.sorts as usize,
            prescribed_impulse: Vec3::from_array(status.impulse.map(|sum| sum as i64 as f64 / unit)),
            failed: (status.failed != u64::MAX).then_some((status.failed as u32, status.failed >> 32)),
        })
    }

    /// Downloads the particles.
    pub fn particles(&self) -> Result<ParticleState, GpuError> {
        let status = self.status()?;
        let (set, slots) = (status.set as usize, self.task.slots as usize);
        let columns = self.task.columns[set];
        let particle = self.arena.read(columns.particle, slots)?;
        let position = self.arena.read(columns.position, 3 * slots)?;
        let deformation = self.arena.read(columns.deformation, 9 * slots)?;
        let velocity = self.arena.read(self.task.velocity, 3 * slots)?;
        let affine = self.arena.read(self.task.affine, 9 * slots)?;
        let mut state = self.initial.clone();
        for owner in self.arena.read(self.task.occupied[set], status.occupied[set] as usize)? {
            let low = self.task.low.map(|low| low.div_euclid(BLOCK));
            let corner = corner(low, self.task.blocks, owner.block);
            for slot in owner.first as usize..(owner.first + owner.count) as usize {
                let p = particle[slot] as usize;
                let cells = std::array::from_fn(|k| f64::from(corner[k]) + f64::from(position[k * slots + slot]));
                state.position[p] = self.setup.origin + Vec3::from_array(cells) * self.setup.cell_m;
                state.deformation[p] = std::array::from_fn(|k| deformation[k * slots + slot]);
                state.velocity[p] = std::array::from_fn(|k| velocity[k * slots + slot]);
                state.affine[p] = std::array::from_fn(|k| affine[k * slots + slot]);
            }
        }
        Ok(state)
    }

    fn status(&self) -> Result<MpmStatus, GpuError> {
        Ok(self.arena.read(self.task.status, 1)?[0])
    }
}

fn check_supported(setup: &MpmSetup, particles: &ParticleState) -> Result<(), GpuError> {
    let unsupported = |what: String, why: String| Err(GpuError::Unsupported { what, why });
    if setup.parameters.constitution == Constitution::Linear {
        return unsupported("a moving gel of small strains".to_owned(), "it cannot rotate".to_owned());
    }
    if setup.walls.len() > 1 {
        return unsupported(format!("MPM with {} walls", setup.walls.len()), "the kernel takes one".to_owned());
    }
    let velocities = setup.prescribed_velocities.len();
    if velocities > MAX_PRESCRIBED || particles.position.is_empty() {
        let what = format!("MPM of {} particles with {velocities} prescribed velocities", particles.position.len());
        return unsupported(what, format!("there must be some, and at most {MAX_PRESCRIBED} velocities"));
    }
    Ok(())
}

/// Lowest cell of a block; `low` is the first block of the grid.
fn corner(low: [i32; 3], blocks: [i32; 3], block: i32) -> [i32; 3] {
    let at = [block % blocks[0], block / blocks[0] % blocks[1], block / (blocks[0] * blocks[1])];
    std::array::from_fn(|axis| (low[axis] + at[axis]) * BLOCK)
}

/// Particles sorted into blocks.
struct SortedParticles {
    /// Positions (cells).
    cells: Vec<[f64; 3]>,
    low: [i32; 3],
    blocks: [i32; 3],
    block: Vec<u32>,
    occupied: Vec<OccupiedBlock>,
    /// Slot and index of every particle.
    slots: Vec<(usize, u32)>,
    used_slots: usize,
}

impl SortedParticles {
    fn new(setup: &MpmSetup, particles: &ParticleState) -> Self {
        let to_cells = |at: &Vec3| ((*at - setup.origin) / setup.cell_m).to_array();
        let cells: Vec<[f64; 3]> = particles.position.iter().map(to_cells).collect();
        let of = |cell: &[f64; 3]| cell.map(|x| (x.floor() as i32).div_euclid(BLOCK));
        let (mut low, mut high) = ([i32::MAX; 3], [i32::MIN; 3]);
        for block in cells.iter().map(of) {
            for axis in 0..3 {
                (low[axis], high[axis]) = (low[axis].min(block[axis]), high[axis].max(block[axis]));
            }
        }
        let low = low.map(|low| low - MARGIN_BLOCKS);
        let blocks: [i32; 3] = std::array::from_fn(|axis| high[axis] + MARGIN_BLOCKS + 1 - low[axis]);
        let number = |block: [i32; 3]| {
            let [x, y, z] = std::array::from_fn(|axis| block[axis] - low[axis]);
            ((z * blocks[1] + y) * blocks[0] + x) as u32
        };
        let block = cells.iter().map(|cell| number(of(cell))).collect();
        let mut sorted = Self { cells, low, blocks, block, occupied: Vec::new(), slots: Vec::new(), used_slots: 0 };
        sorted.assign_slots();
        sorted
    }

    /// Orders the particles of a block so that neighbours in a warp lie in different cells and seldom add to the same
    /// node.
    fn assign_slots(&mut self) {
        let mut order: Vec<u32> = (0..self.cells.len() as u32).collect();
        let inner = |p: u32| {
            let [x, y, z] = self.cells[p as usize].map(|x| (x.floor() as i32).rem_euclid(BLOCK));
            (z * BLOCK + y) * BLOCK + x
        };
        order.sort_by_key(|&p| (self.block[p as usize], inner(p)));
        let mut first = 0;
        for group in order.chunk_by(|&a, &b| self.block[a as usize] == self.block[b as usize]) {
            let mut ranked = Vec::with_capacity(group.len());
            for cell in group.chunk_by(|&a, &b| inner(a) == inner(b)) {
                ranked.extend(cell.iter().enumerate().map(|(rank, &p)| (rank, p)));
            }
            ranked.sort_by_key(|&(rank, _)| rank);
            let block = self.block[group[0] as usize] as i32;
            self.occupied.push(OccupiedBlock { block, first: first as i32, count: group.len() as i32, unused: 0 });
            self.slots.extend(ranked.iter().enumerate().map(|(i, &(_, p))| (first + i, p)));
            first = (first + group.len()).next_multiple_of(ROW);
        }
        self.used_slots = first;
    }

    /// Number of blocks, of bricks of nodes, of blocks that can have particles at once, and of slots.
    fn counts(&self) -> (usize, usize, usize, usize) {
        let all = self.blocks.iter().map(|&count| count as usize).product();
        let bricks = self.blocks.iter().map(|&count| count as usize + 1).product();
        let max_occupied = self.cells.len().min(all);
        (all, bricks, max_occupied, (self.cells.len() + (ROW - 1) * max_occupied).next_multiple_of(ROW))
    }

    /// GPU memory (bytes).
    fn bytes_needed(&self) -> usize {
        let (all, bricks, max_occupied, slots) = self.counts();
        4 * (2 * 15 + 12 + 2) * slots + 16 * (all + 64 * bricks) + (16 * TILE + 32) * max_occupied + 8 * bricks
    }

    fn upload(&self, arena: &mut Arena, setup: &MpmSetup, particles: &ParticleState) -> Result<MpmTask, GpuError> {
        let (all, bricks, max_occupied, slots) = self.counts();
        let columns = |count: usize, of: &dyn Fn(usize, usize) -> f32| -> Vec<f32> {
            let mut all = vec![0.0; count * slots];
            for &(slot, p) in &self.slots {
                (0..count).for_each(|column| all[column * slots + slot] = of(p as usize, column));
            }
            all
        };
        let indices = |of: &dyn Fn(usize) -> u32| {
            let mut all = vec![0u32; slots];
            self.slots.iter().for_each(|&(slot, p)| all[slot] = of(p as usize));
            all
        };
        let local = |p: usize, axis: usize| {
            let corner = corner(self.low, self.blocks, self.block[p] as i32);
            (self.cells[p][axis] - f64::from(corner[axis])) as f32
        };
        let mut block_index = vec![-1i32; all];
        (0..).zip(&self.occupied).for_each(|(i, owner)| block_index[owner.block as usize] = i);
        let active = active_bricks(self.blocks, &self.occupied);
        let mut list: Vec<i32> = (0..bricks as i32).filter(|&brick| active[brick as usize] == 1).collect();
        let status = MpmStatus {
            occupied: [self.occupied.len() as u32, 0],
            slots: self.used_slots as u32,
            bricks: list.len() as u32,
            failed: u64::MAX,
            ..MpmStatus::default()
        };
        list.resize(bricks, 0);
        let mut occupied = self.occupied.clone();
        occupied.resize(max_occupied, OccupiedBlock { block: 0, first: 0, count: 0, unused: 0 });
        let mut prescribed_velocities = [[0.0; 3]; MAX_PRESCRIBED];
        prescribed_velocities[..setup.prescribed_velocities.len()].copy_from_slice(&setup.prescribed_velocities);
        let wall = setup.walls.first();
        Ok(MpmTask {
            slots: slots as i32,
            corotated: i32::from(setup.parameters.constitution == Constitution::FixedCorotated),
            has_wall: i32::from(wall.is_some()),
            blocks: self.blocks,
            low: self.low.map(|low| low * BLOCK),
            wall_axis: wall.map_or(0, |wall| wall.axis as i32),
            wall_plane: wall.map_or(0, |wall| wall.plane),
            constants: setup.parameters.step_constants(setup.dt_s),
            mass_unit: MASS_UNIT,
            speed_unit: SPEED_UNIT * (setup.dt_s / setup.cell_m.max_element()) as f32,
            edge: setup.cell_m.to_array().map(|edge| edge as f32),
            prescribed_velocities,
            columns: [
                ParticleColumns {
                    position: arena.upload_mut(&columns(3, &local))?,
                    deformation: arena.upload_mut(&columns(9, &|p, i| particles.deformation[p][i]))?,
                    volume_fraction: arena.upload_mut(&columns(1, &|p, _| particles.volume_fraction[p]))?,
                    particle: arena.upload_mut(&indices(&|p| p as u32))?,
                    prescribed: arena.upload_mut(&indices(&|p| u32::from(particles.prescribed[p])))?,
                },
                ParticleColumns {
                    position: arena.zeros(3 * slots)?,
                    deformation: arena.zeros(9 * slots)?,
                    volume_fraction: arena.zeros(slots)?,
                    particle: arena.zeros(slots)?,
                    prescribed: arena.zeros(slots)?,
                },
            ],
            velocity: arena.upload_mut(&columns(3, &|p, i| particles.velocity[p][i]))?,
            affine: arena.upload_mut(&columns(9, &|p, i| particles.affine[p][i]))?,
            occupied: [arena.upload_mut(&occupied)?, arena.zeros(max_occupied)?],
            block_index: [arena.upload_mut(&block_index)?, arena.zeros(all)?],
            bricks: arena.upload_mut(&list)?,
            active: arena.upload_mut(&active)?,
            block_counts: arena.zeros(all)?,
            block_first: arena.zeros(all)?,
            target_block: arena.zeros(slots)?,
            target_rank: arena.zeros(slots)?,
            nodes: arena.zeros(64 * bricks)?,
            tiles: arena.zeros(TILE * max_occupied)?,
            status: arena.upload_mut(&[status])?,
            ..MpmTask::default()
        })
    }
}

/// For every brick of nodes, 1 if it is next to a block with particles.
fn active_bricks(blocks: [i32; 3], occupied: &[OccupiedBlock]) -> Vec<i32> {
    let [wide, deep, high] = blocks.map(|count| count + 1);
    let mut active = vec![0; (wide * deep * high) as usize];
    for owner in occupied {
        let at = [owner.block % blocks[0], owner.block / blocks[0] % blocks[1], owner.block / (blocks[0] * blocks[1])];
        for octant in 0..8 {
            let [x, y, z] = [at[0] + (octant & 1), at[1] + (octant >> 1 & 1), at[2] + (octant >> 2)];
            active[((z * deep + y) * wide + x) as usize] = 1;
        }
    }
    active
}
