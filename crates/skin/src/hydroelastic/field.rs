//! An extent field that is linear on each tetrahedron.

use dermis_geometry::tets::DepthTets;
use dermis_geometry::{Bounds, Bvh, TetMesh, Vec3};

/// An extent field on tetrahedra with a bounding-volume hierarchy.
#[derive(Clone, Debug)]
pub struct TetField {
    solid: DepthTets,
    bvh: Bvh,
    /// Tetrahedra, in the order of the leaves of the hierarchy.
    cells: Vec<Cell>,
    /// True if the surface cuts through tetrahedra (some vertex has e < 0).
    cut: bool,
}

/// One tetrahedron and the extent e in it.
#[derive(Clone, Debug)]
pub struct Cell {
    /// Corners (m).
    pub corners: [Vec3; 4],
    /// Extent e at the corners.
    pub extent: [f64; 4],
    /// Gradient ∇e (1/m).
    pub gradient: Vec3,
    /// Magnitude |∇e| (1/m).
    pub slope: f64,
    /// Inward unit normals of the faces opposite to each corner. The two normals of a face shared by two tetrahedra are
    /// exactly opposite.
    pub inward: [Vec3; 4],
    /// Heights n·x (m) of those faces.
    pub height: [f64; 4],
    /// Minimum of e.
    pub min_extent: f64,
    /// Maximum of e.
    pub max_extent: f64,
}

impl TetField {
    /// Builds the hierarchy of tetrahedra with extents.
    pub fn new(solid: DepthTets) -> Self {
        let mesh = &solid.mesh;
        let boxes: Vec<Bounds> = (0..mesh.tets().len()).map(|t| Bounds::around(mesh.corners(t))).collect();
        let bvh = Bvh::over(&boxes);
        let cells = bvh.order().iter().map(|&t| Cell::new(mesh, &solid.extent, t as usize)).collect();
        let cut = solid.extent.iter().any(|&e| e < 0.0);
        Self { solid, bvh, cells, cut }
    }

    /// The tetrahedra and their extents.
    pub fn solid(&self) -> &DepthTets {
        &self.solid
    }

    /// Bounding box.
    pub fn bounds(&self) -> &Bounds {
        self.bvh.bounds()
    }

    pub(super) fn bvh(&self) -> &Bvh {
        &self.bvh
    }

    /// The tetrahedra, in the order of the hierarchy.
    pub fn cells(&self) -> &[Cell] {
        &self.cells
    }

    pub(super) fn cell(&self, position: usize) -> &Cell {
        &self.cells[position]
    }

    /// Index of the tetrahedron at a position of the hierarchy.
    pub fn name(&self, position: usize) -> u32 {
        self.bvh.order()[position]
    }

    /// True if the surface cuts through tetrahedra.
    pub fn is_cut(&self) -> bool {
        self.cut
    }

    /// Extent e and gradient ∇e (1/m) at a point; `None` outside.
    pub fn extent_at(&self, point: Vec3) -> Option<(f64, Vec3)> {
        let tolerance = 1e-12 * self.bounds().size().length();
        let mut found: Option<(f64, Vec3)> = None;
        self.bvh.overlapping(&Bounds { min: point, max: point }, |position| {
            let cell = &self.cells[position];
            if found.is_none() && (0..4).all(|k| cell.inward[k].dot(point) - cell.height[k] >= -tolerance) {
                let extent = cell.extent_at(point);
                found = (!self.cut || extent >= 0.0).then_some((extent, cell.gradient));
            }
        });
        found
    }
}

impl Cell {
    fn new(mesh: &TetMesh, extent: &[f64], tet: usize) -> Self {
        let indices = mesh.tets()[tet];
        let corners = mesh.corners(tet);
        let extent = indices.map(|v| extent[v as usize]);
        let mut inward = [Vec3::ZERO; 4];
        let mut height = [0.0; 4];
        for corner in 0..4 {
            // Starts at the vertex of lowest index, so that both tetrahedra of a face compute the same plane.
            let mut face: [usize; 3] = std::array::from_fn(|k| (corner + 1 + k) % 4);
            face.sort_unstable_by_key(|&k| indices[k]);
            let [a, b, c] = face.map(|k| corners[k]);
            let normal = (b - a).cross(c - a).normalize();
            let sign = if normal.dot(corners[corner] - a) >= 0.0 { 1.0 } else { -1.0 };
            inward[corner] = normal * sign;
            height[corner] = normal.dot(a) * sign;
        }
        // e = Σ eᵢ λᵢ and λᵢ = (nᵢ·x − hᵢ)/(nᵢ·xᵢ − hᵢ); since Σ ∇λᵢ = 0, only differences of e matter.
        let mut gradient = Vec3::ZERO;
        for corner in 1..4 {
            let reach = inward[corner].dot(corners[corner] - corners[(corner + 1) % 4]);
            gradient += inward[corner] * ((extent[corner] - extent[0]) / reach);
        }
        let min_extent = extent.iter().copied().fold(f64::INFINITY, f64::min);
        let max_extent = extent.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        Self { corners, extent, gradient, slope: gradient.length(), inward, height, min_extent, max_extent }
    }

    /// Extent e at a point, extrapolated linearly outside the tetrahedron.
    pub fn extent_at(&self, point: Vec3) -> f64 {
        self.extent[0] + self.gradient.dot(point - self.corners[0])
    }
}
