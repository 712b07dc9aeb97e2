//! Particles of a moving gel, stepped on the GPU.

use super::pack::Pack;
use crate::cuda_struct::{Plain, bytes_of, values_of};
use crate::program::Program;
use crate::{Gpu, GpuError};
use cudarc::driver::{CudaFunction, CudaSlice, DevicePtr, DeviceRepr, LaunchConfig, PushKernelArg};
use dermis_geometry::Vec3;
use std::sync::Arc;

pub(super) fn program() -> Program {
    Program::new("gel steps", &[include_str!("steps.cu")], &[])
}
/// Threads of a block, as the kernels have them.
const THREADS: u32 = 128;
/// Cells along an edge of a block, and nodes in a tile.
const BLOCK: i32 = 4;
const TILE: usize = 512;
/// Blocks around those with particles: as far as these may go.
const AROUND: i32 = 2;
/// Slots of a block begin at multiples of this.
const ROW: usize = 8;
/// A particle's mass, and a cell a step, as whole numbers.
const MASS_UNIT: f32 = (1 << 22) as f32;
const SPEED_UNIT: f32 = (1 << 24) as f32;
/// What is led takes impulses in finer units.
const LED_UNIT: f64 = 256.0;
/// Velocities that particles can be led with.
const LEADS: usize = 4;

/// How particles move.
#[derive(Clone, Debug, PartialEq)]
pub struct Rules {
    /// Fixed corotated, else neo-Hookean.
    pub corotated: bool,
    /// Lamé's λ and μ (Pa).
    pub lame_pa: [f64; 2],
    /// Density (kg/m³), scaled.
    pub density_kg_per_m3: f64,
    /// Length of a step (s).
    pub dt_s: f64,
    /// What is left of velocities after a step.
    pub slow: f64,
    /// Corner of the grid and edges of a cell (m).
    pub origin: Vec3,
    /// Edges of a cell (m).
    pub cell_m: Vec3,
    /// The cell above a plane across z at which the gel is held.
    pub floor: Option<i32>,
    /// Velocities (m/s) of led particles, the first of those that are held still.
    pub leads: Vec<[f32; 3]>,
}

/// Particles, by number.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Swarm {
    /// Places (m).
    pub at: Vec<Vec3>,
    /// Velocities (m/s).
    pub velocity: Vec<[f32; 3]>,
    /// Affine velocities (1/s).
    pub affine: Vec<[f32; 9]>,
    /// Deformation gradients.
    pub deformation: Vec<[f32; 9]>,
    /// The part of a whole particle that each is.
    pub part: Vec<f32>,
    /// 0: free; else led by one of the velocities, from 1.
    pub kind: Vec<u8>,
}

/// How a run of steps went.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ran {
    /// What the GPU took (s), without copies.
    pub gpu_s: f64,
    /// How often particles were handed over to other blocks so far.
    pub sorts: usize,
    /// What led particles, but not those held still, took in the last step (in particle masses, m/s).
    pub led_impulse: Vec3,
    /// The first particle that was turned inside out or lost, and the step.
    pub broke: Option<(u32, u64)>,
}

/// The kernels' `Slots`: places, deformations, parts, particles, kinds.
type Slots = [u64; 5];

/// The kernels' `Run`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
struct Run {
    steps: i32,
    slots: i32,
    corotated: i32,
    walled: i32,
    blocks: [i32; 3],
    low: [i32; 3],
    wall_axis: i32,
    wall_plane: i32,
    turn: i32,
    unused: i32,
    lame: [f32; 2],
    dt: f32,
    density: f32,
    slow: f32,
    mass_unit: f32,
    speed_unit: f32,
    edge: [f32; 3],
    leads: [[f32; 3]; LEADS],
    of: [Slots; 2],
    velocity: u64,
    affine: u64,
    owned: [u64; 2],
    place: [u64; 2],
    bricks: u64,
    active: u64,
    counts: u64,
    rank: u64,
    to_block: u64,
    first_of: u64,
    nodes: u64,
    tiles: u64,
    tally: u64,
}

// SAFETY: numbers without padding, laid out as the kernels' `Run`.
#[allow(unsafe_code)]
unsafe impl DeviceRepr for Run {}

/// The kernels' `Tally`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    owned: [u32; 2],
    slots: u32,
    bricks: u32,
    strayed: u32,
    turn: u32,
    gate: u32,
    sorts: u32,
    broke: u64,
    led: [i64; 3],
}

// SAFETY: numbers; those of eight bytes begin at multiples of eight; no padding.
#[allow(unsafe_code)]
unsafe impl Plain for Tally {}

/// A block with particles: which, its first slot, how many slots, nothing.
type Owned = [i32; 4];

/// Particles that stay on the GPU while they move.
#[derive(Debug)]
pub struct Steps {
    gpu: Arc<Gpu>,
    kernel: CudaFunction,
    grid: u32,
    memory: CudaSlice<u8>,
    run: Run,
    rules: Rules,
    swarm: Swarm,
}

impl Steps {
    /// Puts particles on the GPU.
    pub fn new(gpu: &Arc<Gpu>, rules: Rules, swarm: Swarm) -> Result<Self, GpuError> {
        if rules.leads.len() > LEADS || swarm.at.is_empty() {
            let what = format!("{} particles led with {} velocities", swarm.at.len(), rules.leads.len());
            let why = format!("there must be some, and at most {LEADS} velocities");
            return Err(GpuError::Unsupported { what, why });
        }
        gpu.context.bind_to_thread()?;
        let kernel = gpu.kernel(&program(), "steps")?;
        let beside = kernel.occupancy_max_active_blocks_per_multiprocessor(THREADS, 0, None)?;
        let (pack, mut run) = laid_out(&rules, &swarm);
        let what = || format!("a gel of {} particles", swarm.at.len());
        gpu.require_free(pack.len, what, |_| "use larger cells, or fewer particles".to_owned())?;
        let mut memory = gpu.stream.alloc_zeros::<u8>(pack.len)?;
        gpu.stream.memcpy_htod(&pack.bytes, &mut memory.slice_mut(..pack.bytes.len()))?;
        run.rebase(memory.device_ptr(&gpu.stream).0);
        let grid = beside.max(1) * gpu.multiprocessors() as u32;
        Ok(Self { gpu: Arc::clone(gpu), kernel, grid, memory, run, rules, swarm })
    }

    /// Some steps; particles have their velocities after the last.
    pub fn run(&mut self, steps: usize) -> Result<Ran, GpuError> {
        let mut tally = self.tally()?;
        (tally.gate, tally.led, tally.broke) = (0, [0; 3], u64::MAX);
        self.write(self.run.tally, bytes_of(&[tally]))?;
        let run = Run { steps: steps as i32, turn: tally.turn as i32, ..self.run };
        let shape = LaunchConfig { grid_dim: (self.grid, 1, 1), block_dim: (THREADS, 1, 1), shared_mem_bytes: 0 };
        let timer = self.gpu.timer()?;
        // SAFETY: the run is laid out as the kernel's, its addresses are in `memory`, and all blocks fit on the GPU at once.
        #[allow(unsafe_code)]
        unsafe {
            self.gpu.stream.launch_builder(&self.kernel).arg(&run).launch_cooperative(shape)?;
        }
        let gpu_s = timer.stop()?;
        let tally = self.tally()?;
        Ok(tally.ran(&self.run, gpu_s))
    }

    /// The particles, after a run.
    pub fn swarm(&self) -> Result<Swarm, GpuError> {
        let tally = self.tally()?;
        let turn = tally.turn as usize;
        let slots = self.run.slots as usize;
        let owned: Vec<Owned> =
            values_of(&self.read(self.run.owned[turn], tally.owned[turn] as usize * size_of::<Owned>())?);
        let numbers = |at: u64, columns: usize| -> Result<Vec<f32>, GpuError> {
            Ok(values_of(&self.read(at, 4 * columns * slots)?))
        };
        let of = self.run.of[turn];
        let particle: Vec<u32> = values_of(&self.read(of[3], 4 * slots)?);
        let columns =
            [numbers(of[0], 3)?, numbers(of[1], 9)?, numbers(self.run.velocity, 3)?, numbers(self.run.affine, 9)?];
        Ok(taken(&self.run, &self.rules, &self.swarm, &owned, &particle, &columns))
    }

    fn tally(&self) -> Result<Tally, GpuError> {
        Ok(values_of(&self.read(self.run.tally, size_of::<Tally>())?)[0])
    }

    fn read(&self, at: u64, len: usize) -> Result<Vec<u8>, GpuError> {
        self.gpu.context.bind_to_thread()?;
        let stream = &self.gpu.stream;
        let first = (at - self.memory.device_ptr(stream).0) as usize;
        Ok(stream.clone_dtoh(&self.memory.slice(first..first + len))?)
    }

    fn write(&mut self, at: u64, bytes: &[u8]) -> Result<(), GpuError> {
        let stream = &self.gpu.stream;
        let first = (at - self.memory.device_ptr(stream).0) as usize;
        Ok(stream.memcpy_htod(bytes, &mut self.memory.slice_mut(first..first + bytes.len()))?)
    }
}

impl Tally {
    fn ran(&self, run: &Run, gpu_s: f64) -> Ran {
        let led = self.led.map(|led| led as f64 / (f64::from(run.speed_unit) * LED_UNIT));
        let broke = (self.broke != u64::MAX).then_some((self.broke as u32, self.broke >> 32));
        Ran { gpu_s, sorts: self.sorts as usize, led_impulse: Vec3::from_array(led), broke }
    }
}

impl Run {
    /// From places in a piece of memory to addresses.
    fn rebase(&mut self, base: u64) {
        self.of.iter_mut().flatten().for_each(|at| *at += base);
        self.owned.iter_mut().chain(&mut self.place).for_each(|at| *at += base);
        for at in [
            &mut self.velocity,
            &mut self.affine,
            &mut self.bricks,
            &mut self.active,
            &mut self.counts,
            &mut self.rank,
            &mut self.to_block,
            &mut self.first_of,
            &mut self.nodes,
            &mut self.tiles,
            &mut self.tally,
        ] {
            *at += base;
        }
    }
}

/// Where particles are in cells, and in which block.
struct Placed {
    cells: Vec<[f64; 3]>,
    low: [i32; 3],
    blocks: [i32; 3],
    block: Vec<u32>,
}

impl Placed {
    fn new(rules: &Rules, swarm: &Swarm) -> Self {
        let cells: Vec<[f64; 3]> = swarm.at.iter().map(|at| ((*at - rules.origin) / rules.cell_m).to_array()).collect();
        let of = |cell: &[f64; 3]| cell.map(|x| (x.floor() as i32).div_euclid(BLOCK));
        let (mut low, mut high) = ([i32::MAX; 3], [i32::MIN; 3]);
        for block in cells.iter().map(of) {
            for axis in 0..3 {
                (low[axis], high[axis]) = (low[axis].min(block[axis]), high[axis].max(block[axis]));
            }
        }
        let low = low.map(|low| low - AROUND);
        let blocks: [i32; 3] = std::array::from_fn(|axis| high[axis] + AROUND + 1 - low[axis]);
        let number = |block: [i32; 3]| {
            let [x, y, z] = std::array::from_fn(|axis| block[axis] - low[axis]);
            ((z * blocks[1] + y) * blocks[0] + x) as u32
        };
        let block = cells.iter().map(|cell| number(of(cell))).collect();
        Self { cells, low, blocks, block }
    }

    /// The corner (cells) of a block.
    fn corner(low: [i32; 3], blocks: [i32; 3], block: i32) -> [i32; 3] {
        let at = [block % blocks[0], block / blocks[0] % blocks[1], block / (blocks[0] * blocks[1])];
        std::array::from_fn(|axis| (low[axis] + at[axis]) * BLOCK)
    }

    /// Blocks with their particles, one from every cell in turn: neighbours in a warp then seldom add to the same node.
    fn owned(&self) -> (Vec<Owned>, Vec<(usize, u32)>, usize) {
        let mut order: Vec<u32> = (0..self.cells.len() as u32).collect();
        let inner = |p: u32| {
            let [x, y, z] = self.cells[p as usize].map(|x| (x.floor() as i32).rem_euclid(BLOCK));
            (z * BLOCK + y) * BLOCK + x
        };
        order.sort_by_key(|&p| (self.block[p as usize], inner(p)));
        let (mut owned, mut slots, mut first) = (Vec::new(), Vec::with_capacity(order.len()), 0);
        for group in order.chunk_by(|&a, &b| self.block[a as usize] == self.block[b as usize]) {
            let mut ranked = Vec::with_capacity(group.len());
            for cell in group.chunk_by(|&a, &b| inner(a) == inner(b)) {
                ranked.extend(cell.iter().enumerate().map(|(rank, &p)| (rank, p)));
            }
            ranked.sort_by_key(|&(rank, _)| rank);
            owned.push([self.block[group[0] as usize] as i32, first as i32, group.len() as i32, 0]);
            slots.extend(ranked.iter().enumerate().map(|(i, &(_, p))| (first + i, p)));
            first = (first + group.len()).next_multiple_of(ROW);
        }
        (owned, slots, first)
    }
}

fn laid_out(rules: &Rules, swarm: &Swarm) -> (Pack, Run) {
    let placed = Placed::new(rules, swarm);
    let (owned, slots, used) = placed.owned();
    let all: usize = placed.blocks.iter().map(|&count| count as usize).product();
    let bricks: usize = placed.blocks.iter().map(|&count| count as usize + 1).product();
    let most = all.min(swarm.at.len());
    let room = (swarm.at.len() + (ROW - 1) * most).next_multiple_of(ROW);
    let column = |of: &dyn Fn(usize) -> f32| {
        let mut column = vec![0f32; room];
        slots.iter().for_each(|&(slot, p)| column[slot] = of(p as usize));
        column
    };
    let whole = |of: &dyn Fn(usize) -> u32| {
        let mut column = vec![0u32; room];
        slots.iter().for_each(|&(slot, p)| column[slot] = of(p as usize));
        column
    };
    let local = |p: usize, axis: usize| {
        let corner = Placed::corner(placed.low, placed.blocks, placed.block[p] as i32);
        (placed.cells[p][axis] - f64::from(corner[axis])) as f32
    };
    let mut place = vec![-1i32; all];
    owned.iter().enumerate().for_each(|(i, owned)| place[owned[0] as usize] = i as i32);
    let (active, list) = near(placed.blocks, &place);
    let tally = Tally {
        owned: [owned.len() as u32, 0],
        slots: used as u32,
        bricks: list.len() as u32,
        broke: u64::MAX,
        ..Tally::default()
    };
    let columns = |count: usize, of: &dyn Fn(usize, usize) -> f32| -> Vec<f32> {
        (0..count).flat_map(|i| column(&|p| of(p, i))).collect()
    };
    let mut owned = owned;
    owned.resize(most, [0; 4]);
    let mut listed = list;
    listed.resize(bricks, 0);
    let mut pack = Pack::default();
    let mut leads = [[0.0; 3]; LEADS];
    leads[..rules.leads.len()].copy_from_slice(&rules.leads);
    let edge = rules.cell_m.to_array();
    let mut run = Run {
        slots: room as i32,
        corotated: i32::from(rules.corotated),
        walled: i32::from(rules.floor.is_some()),
        blocks: placed.blocks,
        low: placed.low.map(|low| low * BLOCK),
        wall_axis: 2,
        wall_plane: rules.floor.unwrap_or(0),
        lame: rules.lame_pa.map(|lame| lame as f32),
        dt: rules.dt_s as f32,
        density: rules.density_kg_per_m3 as f32,
        slow: rules.slow as f32,
        mass_unit: MASS_UNIT,
        speed_unit: SPEED_UNIT * (rules.dt_s / rules.cell_m.max_element()) as f32,
        edge: edge.map(|edge| edge as f32),
        leads,
        velocity: pack.put(&columns(3, &|p, i| swarm.velocity[p][i])),
        affine: pack.put(&columns(9, &|p, i| swarm.affine[p][i])),
        active: pack.put(&active),
        bricks: pack.put(&listed),
        tally: pack.put(&[tally]),
        ..Run::default()
    };
    run.of[0] = [
        pack.put(&columns(3, &|p, axis| local(p, axis))),
        pack.put(&columns(9, &|p, i| swarm.deformation[p][i])),
        pack.put(&column(&|p| swarm.part[p])),
        pack.put(&whole(&|p| p as u32)),
        pack.put(&whole(&|p| u32::from(swarm.kind[p]))),
    ];
    run.owned[0] = pack.put(&owned);
    run.place[0] = pack.put(&place);
    run.of[1] = [3, 9, 1, 1, 1].map(|columns| pack.leave::<f32>(columns * room));
    run.owned[1] = pack.leave::<Owned>(most);
    run.place[1] = pack.leave::<i32>(all);
    run.counts = pack.leave::<u32>(all);
    run.first_of = pack.leave::<i32>(all);
    run.rank = pack.leave::<u32>(room);
    run.to_block = pack.leave::<u32>(room);
    run.nodes = pack.leave::<[f32; 4]>(64 * bricks);
    run.tiles = pack.leave::<[f32; 4]>(TILE * most);
    (pack, run)
}

/// The bricks of nodes that are near blocks with particles: whether each is, and a list.
fn near(blocks: [i32; 3], place: &[i32]) -> (Vec<i32>, Vec<i32>) {
    let [wide, deep, high] = blocks.map(|count| count + 1);
    let mut active = vec![0; (wide * deep * high) as usize];
    for (block, _) in place.iter().enumerate().filter(|(_, place)| **place >= 0) {
        let block = block as i32;
        let at = [block % blocks[0], block / blocks[0] % blocks[1], block / (blocks[0] * blocks[1])];
        for octant in 0..8 {
            let [x, y, z] = [at[0] + (octant & 1), at[1] + (octant >> 1 & 1), at[2] + (octant >> 2)];
            active[((z * deep + y) * wide + x) as usize] = 1;
        }
    }
    let list = (0..active.len() as i32).filter(|&brick| active[brick as usize] == 1).collect();
    (active, list)
}

/// Particles from their slots: places, deformations, velocities and affine velocities, column by column.
fn taken(run: &Run, rules: &Rules, first: &Swarm, owned: &[Owned], particle: &[u32], columns: &[Vec<f32>; 4]) -> Swarm {
    let mut swarm = first.clone();
    let slots = run.slots as usize;
    let [at, deformation, velocity, affine] = columns;
    for &[block, first, count, _] in owned {
        let low = run.low.map(|low| low.div_euclid(BLOCK));
        let corner = Placed::corner(low, run.blocks, block);
        for slot in first as usize..(first + count) as usize {
            let p = particle[slot] as usize;
            let cells: [f64; 3] = std::array::from_fn(|k| f64::from(corner[k]) + f64::from(at[k * slots + slot]));
            swarm.at[p] = rules.origin + Vec3::from_array(cells) * rules.cell_m;
            swarm.deformation[p] = std::array::from_fn(|k| deformation[k * slots + slot]);
            swarm.velocity[p] = std::array::from_fn(|k| velocity[k * slots + slot]);
            swarm.affine[p] = std::array::from_fn(|k| affine[k * slots + slot]);
        }
    }
    swarm
}
