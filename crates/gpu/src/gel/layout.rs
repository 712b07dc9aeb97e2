//! The memory layout of the equilibrium problem for the kernels.
//!
//! Cells are numbered along x first, then y, then z, and padded to whole warps; nodes are numbered in the same order
//! without padding. Nodal vectors are stored component by component.

use super::arena::Arena;
use crate::GpuError;
use crate::cuda_struct::{Plain, Ptr, PtrMut, cuda_struct};
use crate::object::ObjectView;
use crate::program::{COMMON, Program};
use dermis_geometry::{Bounds, Mat3, Pose, Surface, Vec3};
use dermis_skin::gel::{Coefficients, EquilibriumProblem, Face, FixedFaces, ReferenceGrid, Stencil};

/// Cells that a warp processes at once.
const CELLS_PER_BATCH: usize = 32;
/// Number of grid-wide sums.
const REDUCE_SLOTS: usize = 13;
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
    include_str!("grid.cu"),
    include_str!("distance.cu"),
    include_str!("elasticity.cu"),
    include_str!("contact.cu"),
    include_str!("equilibrium.cu"),
];

/// The kernel `solve_equilibrium`.
pub(super) fn program() -> Program {
    Program::new("gel-equilibrium", SOURCE, &[&format!("-DREDUCE_SLOTS={REDUCE_SLOTS}")])
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
    /// The argument of `solve_equilibrium`.
    #[derive(Default)]
    pub(super) struct EquilibriumTask {
        cells: [i32; 3],
        nodes: [i32; 3],
        pub all_cells: i32,
        /// Cells rounded up to whole batches.
        padded: i32,
        all_nodes: i32,
        batches: i32,
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
        pub step: PtrMut<f64>,
        preconditioner: PtrMut<f64>,
        cg_r: PtrMut<f64>,
        cg_p: PtrMut<f64>,
        cg_s: PtrMut<f64>,
        cg_z: PtrMut<f64>,
        cg_w: PtrMut<f64>,
        /// Forces of each cell on its 27 nodes: 81 columns of cells.
        cell_force: PtrMut<f64>,
        contact_force: PtrMut<f64>,
        stencil_force: PtrMut<f64>,
        /// F⁻ᵀ, V μ, V α, V β of each particle: twelve columns.
        tangent: PtrMut<f32>,
        stencil_stiffness: PtrMut<f32>,
        /// Grid-wide sums: one partial sum per block of the grid.
        sums: PtrMut<f64>,
        pub points: PtrMut<ContactPoint>,
        pub states: PtrMut<ContactState>,
        planes: PtrMut<ContactPlane>,
        pub outcome: PtrMut<Outcome>,
        pub barrier: PtrMut<u32>,
    }
}

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

/// Uploads a problem; also returns the index of the stencil of each surface point. `blocks` is the size of the launch.
pub(super) fn upload(
    arena: &mut Arena,
    problem: &EquilibriumProblem<'_>,
    blocks: usize,
) -> Result<(EquilibriumTask, Vec<usize>), GpuError> {
    let grid = problem.grid;
    let cells @ [cx, cy, cz] = grid.cells;
    let nodes = cells.map(|count| count + 2);
    let (all_cells, all_nodes) = (cx * cy * cz, nodes.iter().product::<usize>());
    let padded = all_cells.next_multiple_of(CELLS_PER_BATCH);
    let number = |cell: [usize; 3]| (cell[2] * cy + cell[1]) * cx + cell[0];
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
    for i in 0..8 * all_cells {
        let (particle, cell) = (i / all_cells, i % all_cells);
        fill[particle * padded + cell] = grid.fill([cell % cx, cell / cx % cy, cell / (cx * cy)], particle);
    }
    let diagonal: Vec<f64> = node_order(grid).map(|at| problem.diagonal[at]).collect();
    let weights: Vec<[[f64; 3]; 3]> = sorted.iter().map(|s| folded_weights(grid.fixed_faces, cells, s)).collect();
    let by_stencil = |of: &dyn Fn(&SortedStencil) -> f64| -> Vec<f64> { sorted.iter().map(of).collect() };
    let columns = |count: usize, of: &dyn Fn(usize, usize) -> f64| -> Vec<f64> {
        (0..count).flat_map(|column| (0..stencils).map(move |at| of(column, at))).collect()
    };
    let node = |s: &SortedStencil| ((s.cell[2] * nodes[1] + s.cell[1]) * nodes[0] + s.cell[0]) as i32;
    let nodal = 3 * all_nodes;
    let task = EquilibriumTask {
        cells: cells.map(|count| count as i32),
        nodes: nodes.map(|count| count as i32),
        all_cells: all_cells as i32,
        padded: padded as i32,
        all_nodes: all_nodes as i32,
        batches: (padded / CELLS_PER_BATCH) as i32,
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
        displacement: arena.zeros(nodal)?,
        residual: arena.zeros(nodal)?,
        step: arena.zeros(nodal)?,
        preconditioner: arena.zeros(nodal)?,
        cg_r: arena.zeros(nodal)?,
        cg_p: arena.zeros(nodal)?,
        cg_s: arena.zeros(nodal)?,
        cg_z: arena.zeros(nodal)?,
        cg_w: arena.zeros(nodal)?,
        cell_force: arena.zeros(81 * padded)?,
        contact_force: arena.zeros(81 * surface_cells as usize)?,
        stencil_force: arena.zeros(3 * stencils)?,
        tangent: arena.zeros(TANGENT_VALUES * 8 * padded)?,
        stencil_stiffness: arena.zeros(6 * stencils)?,
        sums: arena.zeros(REDUCE_SLOTS * blocks)?,
        points: arena.zeros(stencils)?,
        states: arena.zeros(stencils)?,
        planes: arena.zeros(stencils)?,
        outcome: arena.zeros(1)?,
        barrier: arena.zeros(1)?,
        ..EquilibriumTask::default()
    };
    Ok((task, stencil_of_point))
}

/// GPU memory (bytes) of a problem without its stencils: nodal vectors and diagonal, forces and tangents of cells.
pub(super) fn bytes_needed(grid: &ReferenceGrid) -> usize {
    let cells: usize = grid.cells.iter().product();
    let nodes: usize = grid.cells.iter().map(|count| count + 2).product();
    8 * 10 * 3 * nodes + (8 * 81 + 4 * 8 * (TANGENT_VALUES + 1)) * cells
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
