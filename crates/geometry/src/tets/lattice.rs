//! Tetrahedral mesh of any closed surface on a lattice.

use super::{DepthTets, TetsError};
use crate::shapes::{check_count, check_length};
use crate::{Surface, TetMesh, Vec3};
use std::collections::HashMap;

/// The solid inside a closed surface on a body-centred lattice with cubes of `cell_m`: all tetrahedra with a vertex
/// inside, with e = −(signed distance)/(greatest depth) at their vertices.
///
/// Vertices outside have e < 0: the surface is the zero set of the linear e inside a tetrahedron, and users of the
/// field clip there. No vertex is moved, so no tetrahedron is a sliver (all dihedral angles are 60° or 90°). The error
/// of the surface is O(`cell_m`²) where it is smooth, and O(`cell_m`) at edges and corners.
pub fn from_surface(surface: &Surface, cell_m: f64) -> Result<DepthTets, TetsError> {
    const NAME: &str = "lattice";
    check_length(NAME, "cell_m", cell_m)?;
    surface.mesh().check_closed()?;
    let bounds = surface.bounds().padded(0.5 * cell_m);
    let size = (bounds.size() / cell_m).ceil();
    check_count(NAME, cell_m, 12.0 * size.x * size.y * size.z)?;
    let [nx, ny, nz] = size.to_array().map(|n| n as i32);
    let start = bounds.center() - size * (0.5 * cell_m);
    let mut lattice =
        Lattice { surface, start, cell_m, found: HashMap::new(), vertices: Vec::new(), extent: Vec::new() };
    // Two neighbouring cube centres and an edge of the square between them form a tetrahedron.
    let mut tets = Vec::new();
    for (x, y, z) in (0..nx).flat_map(|x| (0..ny).flat_map(move |y| (0..nz).map(move |z| (x, y, z)))) {
        let center = [2 * x + 1, 2 * y + 1, 2 * z + 1];
        for axis in 0..3 {
            let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
            let shifted = |mut at: [i32; 3], du: i32, dv: i32| {
                at[axis] += 1;
                at[u] += du;
                at[v] += dv;
                at
            };
            let mut beyond = center;
            beyond[axis] += 2;
            let square = [(-1, -1), (1, -1), (1, 1), (-1, 1)].map(|(du, dv)| shifted(center, du, dv));
            for k in 0..4 {
                tets.extend(lattice.tet([center, beyond, square[k], square[(k + 1) % 4]])?);
            }
            // The lattice ends in half octahedra on its lower sides.
            if center[axis] == 1 {
                let mut before = center;
                before[axis] -= 2;
                let square = square.map(|mut at| {
                    at[axis] -= 2;
                    at
                });
                for k in 0..4 {
                    tets.extend(lattice.tet([before, center, square[k], square[(k + 1) % 4]])?);
                }
            }
        }
    }
    let depth_m = lattice.extent.iter().copied().fold(0.0, f64::max);
    if depth_m <= 0.0 {
        return Err(TetsError::NoInside { mesh: surface.mesh().name().to_owned() });
    }
    let Lattice { vertices, mut extent, .. } = lattice;
    extent.iter_mut().for_each(|e| *e /= depth_m);
    Ok(DepthTets { mesh: TetMesh::new(surface.mesh().name(), vertices, tets)?, extent, depth_m })
}

struct Lattice<'a> {
    surface: &'a Surface,
    start: Vec3,
    cell_m: f64,
    found: HashMap<[i32; 3], u32>,
    vertices: Vec<Vec3>,
    /// Depths (m) of the vertices until the greatest is known.
    extent: Vec<f64>,
}

impl Lattice<'_> {
    fn vertex(&mut self, at: [i32; 3]) -> Result<u32, TetsError> {
        if let Some(&index) = self.found.get(&at) {
            return Ok(index);
        }
        let place = self.start + Vec3::from(at.map(f64::from)) * (0.5 * self.cell_m);
        self.extent.push(-self.surface.signed_distance(place)?);
        self.vertices.push(place);
        let index = self.vertices.len() as u32 - 1;
        self.found.insert(at, index);
        Ok(index)
    }

    /// Vertex indices of a tetrahedron; `None` if no vertex is inside.
    fn tet(&mut self, corners: [[i32; 3]; 4]) -> Result<Option<[u32; 4]>, TetsError> {
        let mut tet = [0; 4];
        for (index, corner) in tet.iter_mut().zip(corners) {
            *index = self.vertex(corner)?;
        }
        Ok(tet.iter().any(|&v| self.extent[v as usize] > 0.0).then_some(tet))
    }
}
