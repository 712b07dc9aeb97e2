//! The reference grid: cells, particles in them, nodes around them.

use super::bonds::{Bonds, Face};
use super::parameters::GelParameters;
use crate::SkinError;
use dermis_geometry::{Bounds, Mat3, Surface, TriMesh, Vec3};

/// Cells that are worked on side by side.
pub(crate) const LANES: usize = 8;
/// More cells than this are a slip of the unit.
const MAX_CELLS: usize = 20_000_000;

/// A regular grid over the undeformed gel. A cell has 2 × 2 × 2 particles at ± a quarter of its edges; node `i` of an axis is the
/// middle of cell `i − 1`, so that the quadratic B-splines of nodes `i … i + 2` cover cell `i` and faces of cells are knots.
///
/// Nodes lie y-plane by y-plane, in a plane component by component, then z, then x: three planes that follow each other are all
/// that a row of cells touches.
#[derive(Clone, Debug)]
pub(crate) struct Lattice {
    /// Corner of the first cell (m).
    pub origin: Vec3,
    /// Edges of a cell (m).
    pub cell_m: Vec3,
    /// Cells along x, y, z.
    pub cells: [usize; 3],
    /// Cells along x, rounded up to whole vectors.
    pub padded: usize,
    /// Nodes from one z to the next.
    pub stride: usize,
    /// The part of its eighth of a cell that each particle fills, by y, z, vector of cells, particle, lane.
    pub fill: Vec<f32>,
    /// Where the gel is held.
    pub bonds: Bonds,
}

/// Where a particle rests (m), and the part of a whole one that it is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    pub at: Vec3,
    pub part: f32,
}

impl Lattice {
    /// A block with its upper face in z = 0.
    pub fn block(size_m: Vec3, bonds: Bonds, parameters: &GelParameters) -> Result<Self, SkinError> {
        let counts = (size_m / parameters.cell_m).round().max(Vec3::ONE);
        let origin = Vec3::new(-0.5 * size_m.x, -0.5 * size_m.y, -size_m.z);
        let mut lattice = Self::empty(origin, size_m / counts, counts, parameters)?;
        lattice.bonds = bonds;
        for y in 0..lattice.cells[1] {
            for z in 0..lattice.cells[2] {
                for x in 0..lattice.cells[0] {
                    for particle in 0..8 {
                        let at = lattice.particle([x, y, z], particle);
                        lattice.fill[at] = 1.0;
                    }
                }
            }
        }
        Ok(lattice)
    }

    /// What of a closed mesh is above a height, bonded there.
    pub fn solid(surface: &Surface, floor_m: f64, bonds: Bonds, parameters: &GelParameters) -> Result<Self, SkinError> {
        let Bounds { mut min, max } = *surface.bounds();
        min.z = min.z.max(floor_m);
        let counts = ((max - min) / parameters.cell_m).ceil().max(Vec3::ONE);
        let mut edge = Vec3::splat(parameters.cell_m);
        for axis in 0..2 {
            // Held sides lie on faces of cells.
            if bonds.holds_side(axis, false) || bonds.holds_side(axis, true) {
                edge[axis] = (max - min)[axis] / counts[axis];
            }
        }
        let spare = counts * edge - (max - min);
        let origin = Vec3::new(min.x - 0.5 * spare.x, min.y - 0.5 * spare.y, min.z);
        let mut lattice = Self::empty(origin, edge, counts, parameters)?;
        lattice.bonds = bonds;
        for y in 0..lattice.cells[1] {
            for z in 0..lattice.cells[2] {
                for x in 0..lattice.cells[0] {
                    for particle in 0..8 {
                        let at = lattice.particle([x, y, z], particle);
                        lattice.fill[at] = filled(surface, lattice.place([x, y, z], particle), edge * 0.5)?;
                    }
                }
            }
        }
        Ok(lattice)
    }

    fn empty(origin: Vec3, cell_m: Vec3, counts: Vec3, parameters: &GelParameters) -> Result<Self, SkinError> {
        if counts.x * counts.y * counts.z > MAX_CELLS as f64 {
            return Err(SkinError::BadGel {
                key: "cell",
                rule: format!(
                    "of {} mm makes more than {MAX_CELLS} cells in this gel: make it larger",
                    parameters.cell_m * 1e3
                ),
            });
        }
        let cells = counts.to_array().map(|count| count as usize);
        let padded = cells[0].next_multiple_of(LANES);
        let fill = vec![0.0; cells[1] * cells[2] * padded * 8];
        Ok(Self { origin, cell_m, cells, padded, stride: padded + LANES, fill, bonds: Bonds::NONE })
    }

    /// Where a particle's fill is.
    pub fn particle(&self, [x, y, z]: [usize; 3], particle: usize) -> usize {
        (((y * self.cells[2] + z) * (self.padded / LANES) + x / LANES) * 8 + particle) * LANES + x % LANES
    }

    /// The cell of an eighth of a cell, counted along each axis, and which of its particles is there.
    pub fn half(at: [usize; 3]) -> ([usize; 3], usize) {
        (at.map(|half| half / 2), at[0] % 2 + 2 * (at[1] % 2) + 4 * (at[2] % 2))
    }

    /// Where a particle rests (m).
    pub fn place(&self, cell: [usize; 3], particle: usize) -> Vec3 {
        let quarter = |axis: usize| cell[axis] as f64 + 0.25 + 0.5 * ((particle >> axis) & 1) as f64;
        self.origin + Vec3::new(quarter(0), quarter(1), quarter(2)) * self.cell_m
    }

    /// All particles that fill anything, in a fixed order.
    pub fn particles(&self) -> Vec<Place> {
        let mut places = Vec::new();
        for y in 0..self.cells[1] {
            for z in 0..self.cells[2] {
                for x in 0..self.cells[0] {
                    for particle in 0..8 {
                        let part = self.fill[self.particle([x, y, z], particle)];
                        if part > 0.0 {
                            places.push(Place { at: self.place([x, y, z], particle), part });
                        }
                    }
                }
            }
        }
        places
    }

    /// Volume (m³) of a full particle.
    pub fn particle_m3(&self) -> f64 {
        self.cell_m.x * self.cell_m.y * self.cell_m.z / 8.0
    }

    /// Numbers in a y-plane of nodes.
    pub fn plane(&self) -> usize {
        3 * (self.cells[2] + 2) * self.stride
    }

    /// Numbers in a nodal vector.
    pub fn len(&self) -> usize {
        (self.cells[1] + 2) * self.plane()
    }

    /// Where component 0 of a node is; the others follow at [`Self::component`].
    pub fn node(&self, [x, y, z]: [usize; 3]) -> usize {
        y * self.plane() + z * self.stride + x
    }

    /// From one component of a node to the next.
    pub fn component(&self) -> usize {
        (self.cells[2] + 2) * self.stride
    }

    /// The bonded borders as pairs of nodes: the outer moves opposite to the inner, so that the border between them is still.
    pub fn bonded_pairs(&self) -> Vec<(usize, usize)> {
        let nodes = self.cells.map(|count| count + 2);
        let mut pairs = Vec::new();
        let mut face = |axis: usize, outer: usize, inner: usize| {
            let (a, b) = ((axis + 1) % 3, (axis + 2) % 3);
            for i in 0..nodes[a] {
                for j in 0..nodes[b] {
                    let mut at = [0; 3];
                    (at[a], at[b], at[axis]) = (i, j, outer);
                    let ghost = self.node(at);
                    at[axis] = inner;
                    pairs.push((ghost, self.node(at)));
                }
            }
        };
        for axis in 0..2 {
            if self.bonds.holds_side(axis, false) {
                face(axis, 0, 1);
            }
            if self.bonds.holds_side(axis, true) {
                face(axis, nodes[axis] - 1, nodes[axis] - 2);
            }
        }
        if self.bonds.holds(Face::Bottom) {
            face(2, 0, 1);
        }
        pairs
    }
}

/// The part of a small box that is in the solid, from 4 × 4 × 4 points where the surface passes near.
fn filled(surface: &Surface, center: Vec3, edges: Vec3) -> Result<f32, SkinError> {
    let depth = |point: Vec3| {
        surface.signed_distance(point).map_err(|error| SkinError::BadGel {
            key: "body",
            rule: format!("must be a closed mesh that can be filled: {error}"),
        })
    };
    let middle = depth(center)?;
    let reach = 0.5 * edges.length();
    if middle <= -reach {
        return Ok(1.0);
    }
    if middle >= reach {
        return Ok(0.0);
    }
    let mut inside = 0u32;
    for i in 0..64u32 {
        let part = |shift: u32| f64::from((i >> shift) & 3) / 4.0 - 0.375;
        inside += u32::from(depth(center + Vec3::new(part(0), part(2), part(4)) * edges)? < 0.0);
    }
    Ok(inside as f32 / 64.0)
}

/// A place in the undeformed gel, as the nodes see it: the first node and the weights along each axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Spot {
    pub first: usize,
    pub weights: [[f64; 3]; 3],
}

impl Lattice {
    /// The spot of a point; outside the grid, that of the nearest cell, continued.
    pub fn spot(&self, point: Vec3) -> Spot {
        let (cell, weights) = self.cell_and_weights(point);
        Spot { first: self.node(cell), weights }
    }

    /// The cell of a point, or the nearest, and the weights of its nodes along each axis.
    pub fn cell_and_weights(&self, point: Vec3) -> ([usize; 3], [[f64; 3]; 3]) {
        let local = ((point - self.origin) / self.cell_m).to_array();
        let mut cell = [0usize; 3];
        let mut weights = [[0.0; 3]; 3];
        for axis in 0..3 {
            let index = local[axis].floor().clamp(0.0, self.cells[axis] as f64 - 1.0);
            cell[axis] = index as usize;
            let xi = local[axis] - index - 0.5;
            weights[axis] = [0.5 * (0.5 - xi) * (0.5 - xi), 0.75 - xi * xi, 0.5 * (0.5 + xi) * (0.5 + xi)];
        }
        (cell, weights)
    }

    /// A nodal vector at a spot.
    pub fn at(&self, values: &[f64], spot: &Spot) -> Vec3 {
        let (plane, component) = (self.plane(), self.component());
        let [wx, wy, wz] = &spot.weights;
        let mut sum = [0.0; 3];
        for (j, wy) in wy.iter().enumerate() {
            for (k, wz) in wz.iter().enumerate() {
                let row = spot.first + j * plane + k * self.stride;
                for (c, sum) in sum.iter_mut().enumerate() {
                    let at = row + c * component;
                    *sum += wy * wz * (wx[0] * values[at] + wx[1] * values[at + 1] + wx[2] * values[at + 2]);
                }
            }
        }
        Vec3::from_array(sum)
    }

    /// Adds to the nodes what acts at a spot: the transpose of [`Self::at`].
    pub fn spread(&self, values: &mut [f64], spot: &Spot, load: Vec3) {
        let (plane, component) = (self.plane(), self.component());
        let [wx, wy, wz] = &spot.weights;
        let load = load.to_array();
        for (j, wy) in wy.iter().enumerate() {
            for (k, wz) in wz.iter().enumerate() {
                let row = spot.first + j * plane + k * self.stride;
                for (c, load) in load.iter().enumerate() {
                    let part = wy * wz * load;
                    for (a, wx) in wx.iter().enumerate() {
                        values[row + c * component + a] += wx * part;
                    }
                }
            }
        }
    }

    /// ∂u/∂X at a point.
    pub fn gradient(&self, values: &[f64], point: Vec3) -> Mat3 {
        let local = ((point - self.origin) / self.cell_m).to_array();
        let spot = self.spot(point);
        let mut columns = [Vec3::ZERO; 3];
        for axis in 0..3 {
            let xi = local[axis] - local[axis].floor().clamp(0.0, self.cells[axis] as f64 - 1.0) - 0.5;
            let mut slope = spot;
            slope.weights[axis] = [xi - 0.5, -2.0 * xi, xi + 0.5].map(|w| w / self.cell_m[axis]);
            columns[axis] = self.at(values, &slope);
        }
        Mat3::from_cols(columns[0], columns[1], columns[2])
    }

    /// Visits the nodes around a point: each one's place among the numbers, its weight, and where it is from the point (m).
    pub fn continue_from(&self, spot: &Spot, point: Vec3, mut visit: impl FnMut(usize, f64, Vec3)) {
        let cell = (point - self.origin) / self.cell_m;
        let [wx, wy, wz] = &spot.weights;
        for (j, wy) in wy.iter().enumerate() {
            for (k, wz) in wz.iter().enumerate() {
                for (i, wx) in wx.iter().enumerate() {
                    let node = Vec3::new(i as f64 - 0.5, j as f64 - 0.5, k as f64 - 0.5) + cell.floor() - cell;
                    visit(spot.first + j * self.plane() + k * self.stride + i, wx * wy * wz, node * self.cell_m);
                }
            }
        }
    }

    /// Adds to the diagonal of a matrix what stiffnesses along x, y, z at a spot do.
    pub fn spread_squared(&self, values: &mut [f64], spot: &Spot, stiffness: Vec3) {
        let squared = Spot { first: spot.first, weights: spot.weights.map(|axis| axis.map(|w| w * w)) };
        self.spread(values, &squared, stiffness);
    }

    /// The border of a block or solid as points with area: where it can be touched.
    pub fn sampled(mesh: &TriMesh, spacing_m: f64) -> Vec<(Vec3, Vec3, f64)> {
        let mut points = Vec::new();
        for triangle in 0..mesh.triangles().len() {
            let [a, b, c] = mesh.corners(triangle);
            let longest = (b - a).length().max((c - b).length()).max((a - c).length());
            let parts = (longest / spacing_m).ceil().max(1.0) as usize;
            let (normal, area) = (mesh.face_normal(triangle), mesh.area_vector(triangle).length());
            let step = 1.0 / parts as f64;
            for i in 0..parts {
                for j in 0..parts - i {
                    let mut add = |u: f64, v: f64| {
                        points.push((a + (b - a) * (u * step) + (c - a) * (v * step), normal, area * step * step));
                    };
                    add(i as f64 + 1.0 / 3.0, j as f64 + 1.0 / 3.0);
                    if i + j + 1 < parts {
                        add(i as f64 + 2.0 / 3.0, j as f64 + 2.0 / 3.0);
                    }
                }
            }
        }
        points
    }
}
