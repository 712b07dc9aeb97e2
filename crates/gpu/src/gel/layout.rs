//! The memory layout of the equilibrium problem for the kernels.
//!
//! Cells are numbered by tiles of 4 × 4 × 2 cells, along x first, then y, then z, in a tile as among tiles; tiles reach
//! beyond the grid where it is not a multiple. Nodes are numbered along x, y, z. Nodal vectors are stored component by
//! component.

use super::arena::Arena;
use crate::GpuError;
use crate::cuda_struct::{Plain, Ptr, PtrMut, cuda_struct};
use crate::object::ObjectView;
use crate::program::{COMMON, Program};
use dermis_geometry::{Bounds, Mat3, Pose, Surface, Vec3};
use dermis_skin::gel::{Coefficients, EquilibriumProblem, Face, FixedFaces, ReferenceGrid, Stencil};

/// Cells of a tile along x, y, z: one per lane of a warp.
const TILE: [usize; 3] = [4, 4, 2];
const TILE_CELLS: usize = TILE[0] * TILE[1] * TILE[2];
/// Nodal components of a tile.
const TILE_VALUES: usize = 3 * (TILE[0] + 2) * (TILE[1] + 2) * (TILE[2] + 2);
/// Rows of partial sums.
const REDUCE_SLOTS: usize = 12;
/// Threads per block.
pub(super) const THREADS: usize = 288;
/// Blocks that a multiprocessor holds at once, for one press and for several.
pub(super) const BLOCKS: [usize; 2] = [2, 3];
/// Maximum number of presses of a launch: as many tasks fit into the arguments of a kernel.
pub(super) const MAX_PRESSES: usize = 8;
/// Numbers stored per particle for its tangent.
const TANGENT_VALUES: usize = 12;
/// The face of each bit of `EquilibriumTask::fixed_faces`.
const FACES: [Face; 5] = [Face::LowX, Face::HighX, Face::LowY, Face::HighY, Face::Bottom];

const SOURCE: &[&str] = &[
    COMMON,
    ObjectView::CUDA,
    Coefficients::CUDA,
    IndenterPose::CUDA,
    ContactPoint::CUDA,
    ContactState::CUDA,
    ContactPlane::CUDA,
    Outcome::CUDA,
    EquilibriumTask::CUDA,
    Presses::CUDA,
    include_str!("grid.cu"),
    include_str!("distance.cu"),
    include_str!("elasticity.cu"),
    include_str!("contact.cu"),
    include_str!("sums.cu"),
    include_str!("conjugate.cu"),
    include_str!("equilibrium.cu"),
];

/// The kernel `solve_equilibrium`, for a number of blocks per multiprocessor: two solve one press fastest, with more registers;
/// three solve most presses per second.
pub(super) fn program(blocks: usize) -> Program {
    let slots = format!("-DREDUCE_SLOTS={REDUCE_SLOTS}");
    let option = format!("-DBLOCKS_PER_MULTIPROCESSOR={blocks}");
    Program::new(format!("gel-equilibrium-{blocks}"), SOURCE, &[&slots, &option])
}

// SAFETY: `repr(C)`, all fields are `f64`, and any bytes are valid; CUDA's declaration has the same fields in the same
// order.
unsafe impl Plain for Coefficients {}

cuda_struct! {
    /// Pose of an object: rotation by rows and translation (m), in both directions, and its bounding box in the
    /// sensor's frame (m).
    pub(super) struct IndenterPose {
        sensor_from_object: [f64; 12],
        object_from_sensor: [f64; 12],
        low: [f64; 3],
        high: [f64; 3],
    }
}

cuda_struct! {
    /// `dermis_skin::gel::ContactPoint`; `object` is −1 if no object is near.
    pub(super) struct ContactPoint {
        pub distance: f64,
        pub normal: Vec3,
        pub at: Vec3,
        pub normal_force: f64,
        pub friction: Vec3,
        pub slip: Vec3,
        pub plane_stiffness: f64,
        pub slip_stiffness: f64,
        pub object: i64,
    }
}

cuda_struct! {
    /// `dermis_skin::gel::ContactState`; `object` is −1 without contact.
    pub(super) struct ContactState {
        pub pressure: f64,
        pub anchor: Vec3,
        pub object: i64,
    }
}

cuda_struct! {
    /// A tangent plane that a point may not cross; `object` is −1 for none.
    pub(super) struct ContactPlane {
        foot: Vec3,
        normal: Vec3,
        object: i64,
    }
}

cuda_struct! {
    /// The result of all load steps.
    pub(super) struct Outcome {
        pub residual: f64,
        pub strain_j: f64,
        pub newton: i64,
        pub conjugate: i64,
        pub updates: i64,
        /// Nonzero if the initial state has an inverted particle.
        pub failed: i64,
    }
}

cuda_struct! {
    /// A press for `solve_equilibrium`.
    #[derive(Default)]
    pub(super) struct EquilibriumTask {
        cells: [i32; 3],
        nodes: [i32; 3],
        /// Tiles along each axis.
        tiles: [i32; 3],
        all_tiles: i32,
        /// Cells of all tiles.
        padded: i32,
        all_nodes: i32,
        /// Nodal components in units of the threads of a block.
        chunks: i32,
        /// Length of a row of partial sums.
        parts: i32,
        /// Bits: low x, high x, low y, high y, bottom.
        fixed_faces: i32,
        constitution: i32,
        /// Stencils in the order of their cells: surface points, and interfaces to held parts, which have a positive
        /// `stencil_spring`.
        stencils: i32,
        /// Number of cells with surface points.
        surface_cells: i32,
        pub objects: i32,
        pub loads: i32,
        /// The blocks of the launch that solve this press.
        pub first_block: i32,
        pub blocks: i32,
        coefficients: Coefficients,
        /// Inverse edge lengths of a cell (1/m).
        per_edge: [f64; 3],
        /// Volume of a full particle (m³).
        volume: f64,
        /// Residual relative to the load, and mean gap (m): for all load steps but the last, and for the last.
        pub path_precision: [f64; 2],
        pub final_precision: [f64; 2],
        /// Volume fraction of each particle, by particle, then by cell.
        fill: Ptr<f32>,
        diagonal: Ptr<f64>,
        /// First stencil of each cell; the last entry is the number of stencils.
        stencil_first: Ptr<i32>,
        stencil_node: Ptr<i32>,
        /// Weights along x, y, z of three nodes: nine columns.
        stencil_weight: Ptr<f64>,
        stencil_rest: Ptr<f64>,
        stencil_area: Ptr<f64>,
        /// Spring stiffness (N/m) of an interface, 0 for a surface point.
        stencil_spring: Ptr<f64>,
        /// Index of each cell among those with surface points, or −1.
        surface: Ptr<i32>,
        pub shapes: Ptr<ObjectView>,
        pub poses: Ptr<IndenterPose>,
        pub displacement: PtrMut<f64>,
        pub residual: PtrMut<f64>,
        step: PtrMut<f32>,
        preconditioner: PtrMut<f32>,
        /// Two vectors each for `cg_r` and `cg_s`.
        cg_r: PtrMut<f32>,
        cg_s: PtrMut<f32>,
        cg_p: PtrMut<f32>,
        cg_w: PtrMut<f32>,
        /// Forces of each tile on its nodes.
        tile_force: PtrMut<f32>,
        /// Forces of each cell on its 27 nodes: 81 columns of cells.
        cell_force: PtrMut<f64>,
        /// Forces of the surface points of each cell with such points on its nodes, and their diagonal stiffnesses.
        contact_force: PtrMut<f64>,
        contact_diagonal: PtrMut<f32>,
        stencil_force: PtrMut<f64>,
        stencil_energy: PtrMut<f64>,
        /// F⁻ᵀ, V μ, V α, V β of each particle: twelve columns of particles for each tile.
        tangent: PtrMut<f32>,
        stencil_stiffness: PtrMut<f32>,
        /// Partial sums, one row per sum.
        sums: PtrMut<f64>,
        pub points: PtrMut<ContactPoint>,
        pub states: PtrMut<ContactState>,
        planes: PtrMut<ContactPlane>,
        /// The nearest triangle of a mesh at the last search for each stencil, or −1.
        nearest_triangle: PtrMut<i32>,
        pub outcome: PtrMut<Outcome>,
        pub barrier: PtrMut<u32>,
    }
}

cuda_struct! {
    /// The argument of `solve_equilibrium`.
    #[derive(Default)]
    pub(super) struct Presses {
        pub press: [EquilibriumTask; 8],
    }
}
const _: () =
    assert!(size_of::<Presses>() == MAX_PRESSES * size_of::<EquilibriumTask>() && size_of::<Presses>() <= 4096);

impl IndenterPose {
    pub fn new(surface: &Surface, sensor_from_object: &Pose) -> Self {
        let Bounds { min, max } = *surface.bounds();
        let corner = |i: usize| {
            Vec3::from_array(std::array::from_fn(|axis| if i >> axis & 1 == 1 { max[axis] } else { min[axis] }))
        };
        let around = Bounds::around((0..8).map(|i| sensor_from_object.transform_point(corner(i))));
        Self {
            sensor_from_object: rows(sensor_from_object),
            object_from_sensor: rows(&sensor_from_object.inverse()),
            low: around.min.to_array(),
            high: around.max.to_array(),
        }
    }
}

/// Rotation matrix by rows, then translation.
fn rows(pose: &Pose) -> [f64; 12] {
    let rotation = Mat3::from_quat(pose.rotation);
    std::array::from_fn(|i| if i < 9 { rotation.col(i % 3)[i / 3] } else { pose.translation[i - 9] })
}

/// For every number of a nodal vector on the GPU, in order, its index in a nodal vector of `grid`.
pub(super) fn node_order(grid: &ReferenceGrid) -> impl Iterator<Item = usize> {
    let [nx, ny, nz] = grid.cells.map(|count| count + 2);
    (0..3 * nz * ny * nx).map(move |i| {
        let (x, y, z, c) = (i % nx, i / nx % ny, i / (nx * ny) % nz, i / (nx * ny * nz));
        grid.node([x, y, z]) + c * grid.component()
    })
}

/// A surface point (by its index) or an interface (by its spring stiffness), with its cell.
struct SortedStencil {
    cell: [usize; 3],
    stencil: Stencil,
    rest: Vec3,
    area_m2: f64,
    spring: f64,
    point: Option<usize>,
}

/// Uploads a problem; also returns the index of the stencil of each surface point.
pub(super) fn upload(
    arena: &mut Arena,
    problem: &EquilibriumProblem<'_>,
) -> Result<(EquilibriumTask, Vec<usize>), GpuError> {
    let grid = problem.grid;
    let cells @ [cx, cy, cz] = grid.cells;
    let nodes = cells.map(|count| count + 2);
    let tiles: [usize; 3] = std::array::from_fn(|axis| cells[axis].div_ceil(TILE[axis]));
    let (all_tiles, all_nodes) = (tiles.iter().product::<usize>(), nodes.iter().product::<usize>());
    let padded = all_tiles * TILE_CELLS;
    let number = |[x, y, z]: [usize; 3]| {
        let tile = (z / TILE[2] * tiles[1] + y / TILE[1]) * tiles[0] + x / TILE[0];
        tile * TILE_CELLS + (z % TILE[2] * TILE[1] + y % TILE[1]) * TILE[0] + x % TILE[0]
    };
    let sorted = sorted_stencils(problem, number);
    let stencils = sorted.len();
    let mut first = vec![0i32; padded + 1];
    let mut surface = vec![-1i32; padded];
    let mut surface_cells = 0;
    let mut stencil_of_point = vec![0; problem.points.len()];
    for (at, sorted) in sorted.iter().enumerate() {
        let cell = number(sorted.cell);
        first[cell + 1] += 1;
        let Some(point) = sorted.point else { continue };
        stencil_of_point[point] = at;
        if surface[cell] < 0 {
            surface[cell] = surface_cells;
            surface_cells += 1;
        }
    }
    for cell in 0..padded {
        first[cell + 1] += first[cell];
    }
    let mut fill = vec![0f32; 8 * padded];
    for i in 0..8 * cx * cy * cz {
        let (particle, cell) = (i % 8, i / 8);
        let cell = [cell % cx, cell / cx % cy, cell / (cx * cy)];
        fill[particle * padded + number(cell)] = grid.fill(cell, particle);
    }
    let diagonal: Vec<f64> = node_order(grid).map(|at| problem.diagonal[at]).collect();
    let weights: Vec<[[f64; 3]; 3]> = sorted.iter().map(|s| folded_weights(grid.fixed_faces, cells, s)).collect();
    let by_stencil = |of: &dyn Fn(&SortedStencil) -> f64| -> Vec<f64> { sorted.iter().map(of).collect() };
    let columns = |count: usize, of: &dyn Fn(usize, usize) -> f64| -> Vec<f64> {
        (0..count).flat_map(|column| (0..stencils).map(move |at| of(column, at))).collect()
    };
    let node = |s: &SortedStencil| ((s.cell[2] * nodes[1] + s.cell[1]) * nodes[0] + s.cell[0]) as i32;
    let chunks = (3 * all_nodes).div_ceil(THREADS);
    let task = EquilibriumTask {
        cells: cells.map(|count| count as i32),
        nodes: nodes.map(|count| count as i32),
        tiles: tiles.map(|count| count as i32),
        all_tiles: all_tiles as i32,
        padded: padded as i32,
        all_nodes: all_nodes as i32,
        chunks: chunks as i32,
        parts: all_tiles.max(chunks).max(stencils.div_ceil(THREADS)) as i32,
        fixed_faces: (0..).zip(FACES).map(|(bit, face)| i32::from(grid.fixed_faces.has(face)) << bit).sum(),
        constitution: problem.constitution as i32,
        stencils: stencils as i32,
        surface_cells,
        coefficients: problem.coefficients,
        per_edge: grid.cell_m.recip().to_array(),
        volume: grid.particle_m3(),
        fill: arena.upload(&fill)?,
        diagonal: arena.upload(&diagonal)?,
        stencil_first: arena.upload(&first)?,
        stencil_node: arena.upload(&sorted.iter().map(node).collect::<Vec<_>>())?,
        stencil_weight: arena.upload(&columns(9, &|i, at| weights[at][i / 3][i % 3]))?,
        stencil_rest: arena.upload(&columns(3, &|axis, at| sorted[at].rest[axis]))?,
        stencil_area: arena.upload(&by_stencil(&|s| s.area_m2))?,
        stencil_spring: arena.upload(&by_stencil(&|s| s.spring))?,
        surface: arena.upload(&surface)?,
        ..EquilibriumTask::default()
    };
    Ok((task, stencil_of_point))
}

impl EquilibriumTask {
    /// The task with buffers of its own for a press.
    pub fn with_buffers(self, arena: &mut Arena) -> Result<Self, GpuError> {
        let (nodal, tiles) = (3 * self.all_nodes as usize, self.all_tiles as usize);
        let (padded, stencils) = (self.padded as usize, self.stencils as usize);
        Ok(Self {
            displacement: arena.zeros(nodal)?,
            residual: arena.zeros(nodal)?,
            step: arena.zeros(nodal)?,
            preconditioner: arena.zeros(nodal)?,
            cg_r: arena.zeros(2 * nodal)?,
            cg_s: arena.zeros(2 * nodal)?,
            cg_p: arena.zeros(nodal)?,
            cg_w: arena.zeros(nodal)?,
            tile_force: arena.zeros(TILE_VALUES * tiles)?,
            cell_force: arena.zeros(81 * padded)?,
            contact_force: arena.zeros(81 * self.surface_cells as usize)?,
            contact_diagonal: arena.zeros(81 * self.surface_cells as usize)?,
            stencil_force: arena.zeros(3 * stencils)?,
            stencil_energy: arena.zeros(stencils)?,
            tangent: arena.zeros(TANGENT_VALUES * 8 * padded)?,
            stencil_stiffness: arena.zeros(6 * stencils)?,
            sums: arena.zeros(REDUCE_SLOTS * self.parts as usize)?,
            points: arena.zeros(stencils)?,
            states: arena.zeros(stencils)?,
            planes: arena.zeros(stencils)?,
            nearest_triangle: arena.zeros(stencils)?,
            outcome: arena.zeros(1)?,
            barrier: arena.zeros(1)?,
            ..self
        })
    }
}

/// GPU memory (bytes) of a press without its stencils: nodal vectors and diagonal, forces and tangents of cells.
pub(super) fn bytes_needed(grid: &ReferenceGrid) -> usize {
    let tiles: usize = (0..3).map(|axis| grid.cells[axis].div_ceil(TILE[axis])).product();
    let nodes: usize = grid.cells.iter().map(|count| count + 2).product();
    let of_cell = 8 * 81 + 4 * 8 * (TANGENT_VALUES + 1);
    (3 * 8 + 8 * 4) * 3 * nodes + (of_cell * TILE_CELLS + 4 * TILE_VALUES) * tiles
}

fn sorted_stencils(problem: &EquilibriumProblem<'_>, number: impl Fn([usize; 3]) -> usize) -> Vec<SortedStencil> {
    let entry = |stencil: Stencil, rest, area_m2, spring, point| SortedStencil {
        cell: problem.grid.stencil_cell(&stencil),
        stencil,
        rest,
        area_m2,
        spring,
        point,
    };
    let points = problem.points.iter().enumerate().map(|(i, p)| entry(p.stencil, p.rest, p.area_m2, 0.0, Some(i)));
    let interfaces = problem.interfaces.iter();
    let springs = interfaces.map(|i| entry(i.stencil, Vec3::ZERO, 0.0, i.stiffness_newton_per_m, None));
    let mut sorted: Vec<SortedStencil> = points.chain(springs).collect();
    sorted.sort_by_key(|sorted| number(sorted.cell));
    sorted
}

/// Weights of a stencil. The weights of ghost nodes outside fixed faces are subtracted from those of their mirror
/// nodes.
fn folded_weights(faces: FixedFaces, cells: [usize; 3], sorted: &SortedStencil) -> [[f64; 3]; 3] {
    let mut weights = sorted.stencil.weights;
    for (axis, w) in weights.iter_mut().enumerate() {
        let (low, high) = if axis == 2 { (FACES[4], None) } else { (FACES[2 * axis], Some(FACES[2 * axis + 1])) };
        if sorted.cell[axis] == 0 && faces.has(low) {
            (w[1], w[0]) = (w[1] - w[0], 0.0);
        }
        if high.is_some_and(|face| faces.has(face)) && sorted.cell[axis] + 1 == cells[axis] {
            (w[1], w[2]) = (w[1] - w[2], 0.0);
        }
    }
    weights
}
