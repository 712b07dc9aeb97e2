//! The grid over the undeformed gel: cells, particles in them, nodes around them, and interpolation between nodes and
//! points.

use super::contact::SurfacePoint;
use super::fixed_faces::{Face, FixedFaces};
use super::parameters::GelParameters;
use crate::SkinError;
use dermis_geometry::limits::{MAX_GEL_CELLS, require_memory};
use dermis_geometry::{Bounds, Mat3, Surface, TriMesh, Vec3};

/// Memory of a press for each cell (bytes): fill and tangent of eight particles, vectors of a node.
const CELL_BYTES: f64 = 600.0;
/// Cells per vector.
pub(crate) const LANES: usize = 8;

/// A regular grid over the undeformed gel. A cell has 2 × 2 × 2 particles at ± a quarter of its edges; node `i` of an
/// axis is the centre of cell `i − 1`, so that the quadratic B-splines of nodes `i … i + 2` cover cell `i` and cell
/// faces are knots.
///
/// Nodal vectors are stored by y, component, z, x, so that a row of cells reads only three consecutive y-planes.
#[derive(Clone, Debug)]
pub struct ReferenceGrid {
    /// Corner of the first cell (m).
    pub origin: Vec3,
    /// Edges of a cell (m).
    pub cell_m: Vec3,
    /// Cells along x, y, z.
    pub cells: [usize; 3],
    /// Faces at which the gel is fixed.
    pub fixed_faces: FixedFaces,
    /// Cells along x, rounded up to whole vectors.
    pub(crate) padded: usize,
    /// Nodes from one z to the next.
    pub(crate) stride: usize,
    /// Filled fraction of each particle's eighth of a cell, by y, z, vector of cells, particle, lane.
    pub(crate) fill: Vec<f32>,
    /// Nodes outside fixed faces with their mirror nodes inside: u_ghost = −u_inner keeps the face between them at
    /// rest.
    ghost_pairs: Vec<(usize, usize)>,
}

/// Undeformed position (m) of a particle, and its volume divided by that of a full one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RestParticle {
    pub at: Vec3,
    pub volume_fraction: f32,
}

impl ReferenceGrid {
    /// The grid of a block with its upper face in z = 0.
    pub(crate) fn block(size_m: Vec3, faces: FixedFaces, parameters: &GelParameters) -> Result<Self, SkinError> {
        let counts = (size_m / parameters.cell_m).round().max(Vec3::ONE);
        let origin = Vec3::new(-0.5 * size_m.x, -0.5 * size_m.y, -size_m.z);
        let mut grid = Self::empty(origin, size_m / counts, counts, faces, parameters)?;
        for (cell, particle) in grid.all_particles() {
            let at = grid.fill_index(cell, particle);
            grid.fill[at] = 1.0;
        }
        Ok(grid)
    }

    /// The grid of the part of a closed mesh above a height.
    pub(crate) fn solid(
        surface: &Surface,
        floor_m: f64,
        faces: FixedFaces,
        parameters: &GelParameters,
    ) -> Result<Self, SkinError> {
        let Bounds { mut min, max } = *surface.bounds();
        min.z = min.z.max(floor_m);
        let counts = ((max - min) / parameters.cell_m).ceil().max(Vec3::ONE);
        let mut edge = Vec3::splat(parameters.cell_m);
        for axis in 0..2 {
            // Fixed sides lie on cell faces.
            if faces.has_side(axis, false) || faces.has_side(axis, true) {
                edge[axis] = (max - min)[axis] / counts[axis];
            }
        }
        let spare = counts * edge - (max - min);
        let origin = Vec3::new(min.x - 0.5 * spare.x, min.y - 0.5 * spare.y, min.z);
        let mut grid = Self::empty(origin, edge, counts, faces, parameters)?;
        for (cell, particle) in grid.all_particles() {
            let at = grid.fill_index(cell, particle);
            grid.fill[at] = filled(surface, grid.particle_position(cell, particle), edge * 0.5)?;
        }
        Ok(grid)
    }

    fn empty(
        origin: Vec3,
        cell_m: Vec3,
        counts: Vec3,
        fixed_faces: FixedFaces,
        parameters: &GelParameters,
    ) -> Result<Self, SkinError> {
        let (count, cell_mm) = (counts.x * counts.y * counts.z, parameters.cell_m * 1e3);
        let bad = |rule: String| SkinError::BadGel { key: "cell", rule };
        if count > MAX_GEL_CELLS as f64 {
            return Err(bad(format!(
                "of {cell_mm} mm makes more than {MAX_GEL_CELLS} cells in this gel: make it larger"
            )));
        }
        require_memory(count * CELL_BYTES).map_err(|error| {
            bad(format!("of {cell_mm} mm makes {count} cells, a press of which {error}: make it larger"))
        })?;
        let cells = counts.to_array().map(|count| count as usize);
        let padded = cells[0].next_multiple_of(LANES);
        let fill = vec![0.0; cells[1] * cells[2] * padded * 8];
        let (stride, ghost_pairs) = (padded + LANES, Vec::new());
        let mut grid = Self { origin, cell_m, cells, fixed_faces, padded, stride, fill, ghost_pairs };
        grid.ghost_pairs = grid.find_ghost_pairs();
        Ok(grid)
    }

    /// Cell and number (0 … 7, x first) of every particle, in the order of y, z, x, particle.
    pub(crate) fn all_particles(&self) -> impl Iterator<Item = ([usize; 3], usize)> + use<> {
        let [cx, cy, cz] = self.cells;
        (0..cx * cy * cz * 8).map(move |i| ([i / 8 % cx, i / (8 * cx * cz), i / (8 * cx) % cz], i % 8))
    }

    /// Filled fraction of a particle's (0 … 7, x first) eighth of a cell.
    pub fn fill(&self, cell: [usize; 3], particle: usize) -> f32 {
        self.fill[self.fill_index(cell, particle)]
    }

    pub(crate) fn fill_index(&self, [x, y, z]: [usize; 3], particle: usize) -> usize {
        (((y * self.cells[2] + z) * (self.padded / LANES) + x / LANES) * 8 + particle) * LANES + x % LANES
    }

    /// Cell and particle number at an index of half cells.
    pub(crate) fn half(at: [usize; 3]) -> ([usize; 3], usize) {
        (at.map(|half| half / 2), at[0] % 2 + 2 * (at[1] % 2) + 4 * (at[2] % 2))
    }

    /// Undeformed position (m) of a particle.
    pub(crate) fn particle_position(&self, cell: [usize; 3], particle: usize) -> Vec3 {
        let quarter = |axis: usize| cell[axis] as f64 + 0.25 + 0.5 * ((particle >> axis) & 1) as f64;
        self.origin + Vec3::new(quarter(0), quarter(1), quarter(2)) * self.cell_m
    }

    /// All particles with positive volume, in the order of [`Self::all_particles`].
    pub(crate) fn particles(&self) -> Vec<RestParticle> {
        let particle = |(cell, particle)| {
            let volume_fraction = self.fill(cell, particle);
            let at = self.particle_position(cell, particle);
            (volume_fraction > 0.0).then_some(RestParticle { at, volume_fraction })
        };
        self.all_particles().filter_map(particle).collect()
    }

    /// Volume (m³) of a full particle.
    pub fn particle_m3(&self) -> f64 {
        self.cell_m.x * self.cell_m.y * self.cell_m.z / 8.0
    }

    /// Length of a y-plane of a nodal vector.
    pub(crate) fn plane(&self) -> usize {
        3 * (self.cells[2] + 2) * self.stride
    }

    /// Length of a nodal vector, including padding.
    pub fn len(&self) -> usize {
        (self.cells[1] + 2) * self.plane()
    }

    /// False: a grid has at least one cell.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Index of component x of a node in a nodal vector; y and z follow at [`Self::component`].
    pub fn node(&self, [x, y, z]: [usize; 3]) -> usize {
        y * self.plane() + z * self.stride + x
    }

    /// Offset from one component of a node to the next.
    pub fn component(&self) -> usize {
        (self.cells[2] + 2) * self.stride
    }

    /// Sets ghost nodes to the displacements that keep fixed faces at rest.
    pub fn set_ghosts(&self, values: &mut [f64]) {
        self.each_ghost(false, |ghost, inner| values[ghost] = -values[inner]);
    }

    /// Folds forces on ghost nodes onto their mirror nodes: the transpose of [`Self::set_ghosts`].
    pub(crate) fn fold_ghosts(&self, values: &mut [f64]) {
        self.each_ghost(true, |ghost, inner| {
            values[inner] -= values[ghost];
            values[ghost] = 0.0;
        });
    }

    /// Adds the diagonal entries of ghost nodes to those of their mirror nodes.
    pub(crate) fn fold_diagonal(&self, diagonal: &mut [f64]) {
        self.each_ghost(true, |ghost, inner| {
            diagonal[inner] += diagonal[ghost];
            diagonal[ghost] = 0.0;
        });
    }

    /// Sets ghost nodes to zero.
    pub(crate) fn clear_ghosts(&self, values: &mut [f64]) {
        self.each_ghost(false, |ghost, _| values[ghost] = 0.0);
    }

    /// Visits all components of ghost nodes with those of their mirror nodes, face by face or in reverse.
    fn each_ghost(&self, reverse: bool, mut visit: impl FnMut(usize, usize)) {
        let mut pair = |&(ghost, inner): &(usize, usize)| {
            for c in 0..3 {
                visit(ghost + c * self.component(), inner + c * self.component());
            }
        };
        if reverse {
            self.ghost_pairs.iter().rev().for_each(&mut pair);
        } else {
            self.ghost_pairs.iter().for_each(&mut pair);
        }
    }

    fn find_ghost_pairs(&self) -> Vec<(usize, usize)> {
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
            if self.fixed_faces.has_side(axis, false) {
                face(axis, 0, 1);
            }
            if self.fixed_faces.has_side(axis, true) {
                face(axis, nodes[axis] - 1, nodes[axis] - 2);
            }
        }
        if self.fixed_faces.has(Face::Bottom) {
            face(2, 0, 1);
        }
        pairs
    }
}

/// Fraction of a small box inside the solid: exact away from the surface, from 4 × 4 × 4 samples near it.
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
        let offset = |shift: u32| f64::from((i >> shift) & 3) / 4.0 - 0.375;
        inside += u32::from(depth(center + Vec3::new(offset(0), offset(2), offset(4)) * edges)? < 0.0);
    }
    Ok(inside as f32 / 64.0)
}

/// Interpolation from the nodes at a point of the undeformed gel: index of the first of 3³ nodes, and quadratic
/// B-spline weights along x, y, z.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stencil {
    /// Index of the first node ([`ReferenceGrid::node`]).
    pub first: usize,
    /// Weights of three nodes along x, y, z.
    pub weights: [[f64; 3]; 3],
}

impl ReferenceGrid {
    /// The stencil of a point; outside the grid, that of the nearest cell, extrapolated.
    pub(crate) fn stencil(&self, point: Vec3) -> Stencil {
        let (cell, weights) = self.cell_and_weights(point);
        Stencil { first: self.node(cell), weights }
    }

    /// The cell that a stencil starts from.
    pub fn stencil_cell(&self, stencil: &Stencil) -> [usize; 3] {
        let in_plane = stencil.first % self.plane();
        [in_plane % self.stride, stencil.first / self.plane(), in_plane / self.stride]
    }

    /// The cell of a point (or the nearest one) and the weights of its nodes along each axis.
    pub(crate) fn cell_and_weights(&self, point: Vec3) -> ([usize; 3], [[f64; 3]; 3]) {
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

    /// Interpolates a nodal vector.
    pub(crate) fn at(&self, values: &[f64], stencil: &Stencil) -> Vec3 {
        let (plane, component) = (self.plane(), self.component());
        let [wx, wy, wz] = &stencil.weights;
        let mut sum = [0.0; 3];
        for (j, wy) in wy.iter().enumerate() {
            for (k, wz) in wz.iter().enumerate() {
                let row = stencil.first + j * plane + k * self.stride;
                for (c, sum) in sum.iter_mut().enumerate() {
                    let at = row + c * component;
                    *sum += wy * wz * (wx[0] * values[at] + wx[1] * values[at + 1] + wx[2] * values[at + 2]);
                }
            }
        }
        Vec3::from_array(sum)
    }

    /// Distributes a load to the nodes: the transpose of [`Self::at`].
    pub(crate) fn spread(&self, values: &mut [f64], stencil: &Stencil, load: Vec3) {
        let (plane, component) = (self.plane(), self.component());
        let [wx, wy, wz] = &stencil.weights;
        let load = load.to_array();
        for (j, wy) in wy.iter().enumerate() {
            for (k, wz) in wz.iter().enumerate() {
                let row = stencil.first + j * plane + k * self.stride;
                for (c, load) in load.iter().enumerate() {
                    let share = wy * wz * load;
                    for (a, wx) in wx.iter().enumerate() {
                        values[row + c * component + a] += wx * share;
                    }
                }
            }
        }
    }

    /// Displacement gradient ∂u/∂X at a point.
    pub(crate) fn gradient(&self, values: &[f64], point: Vec3) -> Mat3 {
        let local = ((point - self.origin) / self.cell_m).to_array();
        let stencil = self.stencil(point);
        let mut columns = [Vec3::ZERO; 3];
        for axis in 0..3 {
            let xi = local[axis] - local[axis].floor().clamp(0.0, self.cells[axis] as f64 - 1.0) - 0.5;
            let mut slope = stencil;
            slope.weights[axis] = [xi - 0.5, -2.0 * xi, xi + 0.5].map(|w| w / self.cell_m[axis]);
            columns[axis] = self.at(values, &slope);
        }
        Mat3::from_cols(columns[0], columns[1], columns[2])
    }

    /// Deformed divided by undeformed area at a point of the surface: |cof F N| (Nanson's formula).
    pub(crate) fn stretch(&self, u: &[f64], point: &SurfacePoint) -> f64 {
        let f = Mat3::IDENTITY + self.gradient(u, point.rest);
        let n = point.normal;
        (f.y_axis.cross(f.z_axis) * n.x + f.z_axis.cross(f.x_axis) * n.y + f.x_axis.cross(f.y_axis) * n.z).length()
    }

    /// Visits the nodes of a stencil: index, weight, and position relative to the point (m).
    pub(crate) fn each_node(&self, stencil: &Stencil, point: Vec3, mut visit: impl FnMut(usize, f64, Vec3)) {
        let cell = (point - self.origin) / self.cell_m;
        let [wx, wy, wz] = &stencil.weights;
        for (j, wy) in wy.iter().enumerate() {
            for (k, wz) in wz.iter().enumerate() {
                for (i, wx) in wx.iter().enumerate() {
                    let node = Vec3::new(i as f64 - 0.5, j as f64 - 0.5, k as f64 - 0.5) + cell.floor() - cell;
                    visit(stencil.first + j * self.plane() + k * self.stride + i, wx * wy * wz, node * self.cell_m);
                }
            }
        }
    }

    /// Adds stiffnesses along x, y, z at a point to the diagonal of the stiffness matrix.
    pub(crate) fn spread_squared(&self, values: &mut [f64], stencil: &Stencil, stiffness: Vec3) {
        let squared = Stencil { first: stencil.first, weights: stencil.weights.map(|axis| axis.map(|w| w * w)) };
        self.spread(values, &squared, stiffness);
    }

    /// Samples (position, normal, area) of a mesh's surface.
    pub(crate) fn surface_samples(mesh: &TriMesh, spacing_m: f64) -> Vec<(Vec3, Vec3, f64)> {
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
