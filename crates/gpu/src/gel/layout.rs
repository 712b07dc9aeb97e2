//! A gel in the memory of a GPU, as the kernels read it.

use super::body::{Body, Hold, Near, Spot, Way};
use super::pack::Pack;
use super::shape::Place;
use crate::cuda_struct::Plain;
use cudarc::driver::DeviceRepr;
use dermis_geometry::Vec3;

/// Cells that a block works on at once, as the kernels have it.
const WIDE: usize = 32;
/// Sums that blocks have parts of.
const SUMS: usize = 13;
/// Numbers that are kept of a particle's stiffness.
const KEPT: usize = 12;

/// The kernels' `Task`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Task {
    pub cells: [i32; 3],
    pub nodes: [i32; 3],
    pub all_cells: i32,
    pub padded: i32,
    pub all_nodes: i32,
    pub batches: i32,
    pub bonds: i32,
    pub constitution: i32,
    pub spots: i32,
    pub surface_cells: i32,
    pub objects: i32,
    pub loads: i32,
    pub per_edge: [f64; 3],
    pub lame: [f64; 2],
    pub volume: f64,
    pub contact: [f64; 2],
    pub friction: f64,
    pub reach: f64,
    pub rough: [f64; 2],
    pub fine: [f64; 2],
    pub fill: u64,
    pub diagonal: u64,
    pub spot_first: u64,
    pub spot_node: u64,
    pub spot_weight: u64,
    pub spot_rest: u64,
    pub spot_area: u64,
    pub spot_holding: u64,
    pub surface: u64,
    pub shapes: u64,
    pub places: u64,
    pub vectors: [u64; 9],
    pub inner: u64,
    pub contact_parts: u64,
    pub spot_force: u64,
    pub tangent: u64,
    pub spot_stiffness: u64,
    pub sums: u64,
    pub near: u64,
    pub holds: u64,
    pub planes: u64,
    pub outcome: u64,
    pub gate: u64,
}

// SAFETY: numbers without padding, laid out as the kernels' `Task`.
#[allow(unsafe_code)]
unsafe impl DeviceRepr for Task {}

/// The kernels' `Near`: distance, normal, place, press, rub, slip, two stiffnesses, and the thing.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct RawNear {
    pub distance: f64,
    pub normal: [f64; 3],
    pub at: [f64; 3],
    pub press: f64,
    pub rub: [f64; 3],
    pub slip: [f64; 3],
    pub stiffness: [f64; 2],
    pub object: i64,
}

/// The kernels' `Hold`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct RawHold {
    pub pressure: f64,
    pub anchor: [f64; 3],
    pub object: i64,
}

/// The kernels' `Plane`.
pub(super) type RawPlane = [f64; 7];

/// The kernels' `Outcome`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct RawOutcome {
    pub residual: f64,
    pub energy: f64,
    pub strain: f64,
    pub newton: i64,
    pub conjugate: i64,
    pub updates: i64,
    pub failed: i64,
}

// SAFETY: numbers of eight bytes; no padding.
#[allow(unsafe_code)]
unsafe impl Plain for RawNear {}
#[allow(unsafe_code)]
// SAFETY: as above.
unsafe impl Plain for RawHold {}
#[allow(unsafe_code)]
// SAFETY: as above.
unsafe impl Plain for RawOutcome {}

impl RawNear {
    pub fn told(&self, point: usize) -> Option<Near> {
        Some(Near {
            point: point as u32,
            object: u32::try_from(self.object).ok()?,
            distance_m: self.distance,
            normal: Vec3::from_array(self.normal),
            at: Vec3::from_array(self.at),
            press_newton: self.press,
            rub_newton: Vec3::from_array(self.rub),
        })
    }
}

impl RawHold {
    pub fn told(&self, point: usize) -> Option<Hold> {
        Some(Hold {
            point: point as u32,
            object: u32::try_from(self.object).ok()?,
            pressure_pa: self.pressure,
            anchor: Vec3::from_array(self.anchor),
        })
    }
}

impl Task {
    /// From places in a piece of memory to addresses.
    pub fn rebase(&mut self, base: u64) {
        let Self { vectors, .. } = self;
        vectors.iter_mut().for_each(|at| *at += base);
        for at in [
            &mut self.fill,
            &mut self.diagonal,
            &mut self.spot_first,
            &mut self.spot_node,
            &mut self.spot_weight,
            &mut self.spot_rest,
            &mut self.spot_area,
            &mut self.spot_holding,
            &mut self.surface,
            &mut self.inner,
            &mut self.contact_parts,
            &mut self.spot_force,
            &mut self.tangent,
            &mut self.spot_stiffness,
            &mut self.sums,
            &mut self.near,
            &mut self.holds,
            &mut self.planes,
            &mut self.outcome,
            &mut self.gate,
        ] {
            *at += base;
        }
    }
}

/// Where every thing is, load by load.
pub(super) fn places(way: &Way<'_>) -> Vec<Place> {
    way.poses
        .iter()
        .flat_map(|poses| way.surfaces.iter().zip(poses).map(|(surface, pose)| Place::new(surface, pose)))
        .collect()
}

pub(super) struct Laid {
    pub pack: Pack,
    pub task: Task,
    pub point: Vec<Option<u32>>,
    pub spot: Vec<u32>,
}

/// A spot with what it is: its number among the points, or its stiffness.
struct Sorted {
    pub cell: usize,
    pub spot: Spot,
    pub point: Option<u32>,
    pub holding: f64,
}

pub(super) fn laid_out(body: &Body, blocks: usize) -> Laid {
    let [cx, cy, cz] = body.cells;
    let nodes = body.cells.map(|count| count + 2);
    let (all_cells, all_nodes) = (cx * cy * cz, nodes.iter().product::<usize>());
    let padded = all_cells.next_multiple_of(WIDE);
    let number = |cell: [usize; 3]| (cell[2] * cy + cell[1]) * cx + cell[0];
    let points = body.points.iter().enumerate().map(|(i, point)| (point.spot, Some(i as u32), 0.0));
    let springs = body.springs.iter().map(|spring| (spring.spot, None, spring.newton_per_m));
    let mut sorted: Vec<Sorted> = points
        .chain(springs)
        .map(|(spot, point, holding)| Sorted { cell: number(spot.cell), spot, point, holding })
        .collect();
    sorted.sort_by_key(|sorted| sorted.cell);
    let spots = sorted.len();
    let mut first = vec![0i32; padded + 1];
    let mut surface = vec![-1i32; padded];
    let mut surface_cells = 0;
    for Sorted { cell, point, .. } in &sorted {
        first[cell + 1] += 1;
        if point.is_some() && surface[*cell] < 0 {
            surface[*cell] = surface_cells;
            surface_cells += 1;
        }
    }
    for cell in 0..padded {
        first[cell + 1] += first[cell];
    }
    let mut fill = vec![0f32; 8 * padded];
    for particle in 0..8 {
        fill[particle * padded..particle * padded + all_cells]
            .copy_from_slice(&body.fill[particle * all_cells..(particle + 1) * all_cells]);
    }
    let node = |spot: &Spot| ((spot.cell[2] * nodes[1] + spot.cell[1]) * nodes[0] + spot.cell[0]) as i32;
    let folded: Vec<[[f64; 3]; 3]> = sorted.iter().map(|sorted| folded(body, &sorted.spot)).collect();
    let weights: Vec<f64> = (0..9).flat_map(|i| folded.iter().map(move |weights| weights[i / 3][i % 3])).collect();
    let rest = |sorted: &Sorted| sorted.point.map_or(Vec3::ZERO, |point| body.points[point as usize].rest);
    let rests: Vec<f64> = (0..3).flat_map(|axis| sorted.iter().map(move |sorted| rest(sorted)[axis])).collect();
    let area = |sorted: &Sorted| sorted.point.map_or(0.0, |point| body.points[point as usize].area_m2);
    let mut pack = Pack::default();
    let mut task = Task {
        cells: body.cells.map(|count| count as i32),
        nodes: nodes.map(|count| count as i32),
        all_cells: all_cells as i32,
        padded: padded as i32,
        all_nodes: all_nodes as i32,
        batches: (padded / WIDE) as i32,
        bonds: (0..5).filter(|&face| body.bonded[face]).map(|face| 1 << face).sum(),
        constitution: body.constitution as i32,
        spots: spots as i32,
        surface_cells,
        per_edge: body.cell_m.recip().to_array(),
        lame: body.lame_pa,
        volume: body.cell_m.x * body.cell_m.y * body.cell_m.z / 8.0,
        contact: body.contact_pa_per_m,
        friction: body.friction,
        reach: body.reach_m,
        fill: pack.put(&fill),
        diagonal: pack.put(&body.diagonal),
        spot_first: pack.put(&first),
        spot_node: pack.put(&sorted.iter().map(|sorted| node(&sorted.spot)).collect::<Vec<_>>()),
        spot_weight: pack.put(&weights),
        spot_rest: pack.put(&rests),
        spot_area: pack.put(&sorted.iter().map(area).collect::<Vec<_>>()),
        spot_holding: pack.put(&sorted.iter().map(|sorted| sorted.holding).collect::<Vec<_>>()),
        surface: pack.put(&surface),
        ..Task::default()
    };
    task.vectors = std::array::from_fn(|_| pack.leave::<f64>(3 * all_nodes));
    task.inner = pack.leave::<f64>(81 * padded);
    task.contact_parts = pack.leave::<f64>(81 * surface_cells as usize);
    task.spot_force = pack.leave::<f64>(3 * spots);
    task.tangent = pack.leave::<f32>(KEPT * 8 * padded);
    task.spot_stiffness = pack.leave::<f32>(6 * spots);
    task.sums = pack.leave::<f64>(SUMS * blocks);
    task.near = pack.leave::<RawNear>(spots);
    task.holds = pack.leave::<RawHold>(spots);
    task.planes = pack.leave::<RawPlane>(spots);
    task.outcome = pack.leave::<RawOutcome>(1);
    task.gate = pack.leave::<u32>(1);
    let point: Vec<Option<u32>> = sorted.iter().map(|sorted| sorted.point).collect();
    let mut spot = vec![0; body.points.len()];
    for (at, point) in point.iter().enumerate() {
        if let Some(point) = point {
            spot[*point as usize] = at as u32;
        }
    }
    Laid { pack, task, point, spot }
}

/// The weights of a spot, those of nodes outside held faces taken from those inside: these move opposite to each other.
fn folded(body: &Body, spot: &Spot) -> [[f64; 3]; 3] {
    let mut weights = spot.weights;
    for (axis, w) in weights.iter_mut().enumerate() {
        let (low, high) = if axis == 2 { (4, None) } else { (2 * axis, Some(2 * axis + 1)) };
        if spot.cell[axis] == 0 && body.bonded[low] {
            (w[1], w[0]) = (w[1] - w[0], 0.0);
        }
        if high.is_some_and(|face| body.bonded[face]) && spot.cell[axis] + 1 == body.cells[axis] {
            (w[1], w[2]) = (w[1] - w[2], 0.0);
        }
    }
    weights
}
