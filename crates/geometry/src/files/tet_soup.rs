//! Vertices and tetrahedra as a file has them.

use super::{FileError, LengthUnit};
use crate::{TetMesh, Vec3};

/// What a reader of tetrahedra hands on. Vertices that no tetrahedron uses are left out at the end.
pub(super) struct TetSoup {
    pub vertices: Vec<Vec3>,
    pub tets: Vec<[u32; 4]>,
}

impl TetSoup {
    /// Scales, drops unused vertices and checks.
    pub fn finish(self, file: &str, unit: LengthUnit) -> Result<TetMesh, FileError> {
        let mut place = vec![u32::MAX; self.vertices.len()];
        let mut vertices = Vec::new();
        let mut tets = self.tets;
        for index in tets.iter_mut().flatten() {
            // What is out of range stays so, and is refused below with its number.
            let Some(place) = place.get_mut(*index as usize) else { continue };
            if *place == u32::MAX {
                *place = vertices.len() as u32;
                vertices.push(unit.in_metres(self.vertices[*index as usize]));
            }
            *index = *place;
        }
        Ok(TetMesh::new(file, vertices, tets)?)
    }
}
