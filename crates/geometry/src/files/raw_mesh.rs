//! The output of the readers: positions and elements as in the file, not yet checked.

use super::{FileError, LengthUnit, Place, Problem};
use crate::limits::{MAX_FILE_TRIANGLES, MAX_FILE_VERTICES};
use crate::{MeshError, TetMesh, Vec3};

/// Positions in the file's unit and triangles in the file's numbering.
#[derive(Debug)]
pub(super) struct RawMesh {
    pub vertices: Vec<Vec3>,
    pub triangles: Vec<[u32; 3]>,
    pub origins: Origins,
}

/// Positions of the elements in the file.
#[derive(Debug)]
pub(super) enum Origins {
    Unknown,
    /// The line of each vertex and triangle.
    Lines {
        of_vertex: Vec<u32>,
        of_triangle: Vec<u32>,
    },
    /// Facets of 50 bytes after a header of 84 bytes.
    BinaryStl,
    /// glTF primitives, in the order of their first elements.
    Primitives(Vec<Part>),
}

/// The range of a mesh that belongs to one primitive of a glTF file.
#[derive(Debug)]
pub(super) struct Part {
    pub first_vertex: usize,
    pub first_triangle: usize,
    pub mesh: usize,
    pub primitive: usize,
}

impl RawMesh {
    pub fn new(origins: Origins) -> Self {
        Self { vertices: Vec::new(), triangles: Vec::new(), origins }
    }

    pub fn of_lines() -> Self {
        Self::new(Origins::Lines { of_vertex: Vec::new(), of_triangle: Vec::new() })
    }

    pub fn push_vertex(&mut self, vertex: Vec3, place: Place) -> Result<(), FileError> {
        check_count(place, "vertices", self.vertices.len() + 1)?;
        self.vertices.push(vertex);
        if let (Origins::Lines { of_vertex, .. }, Place::Line(line)) = (&mut self.origins, place) {
            of_vertex.push(line as u32);
        }
        Ok(())
    }

    /// Triangulates a polygon as a fan about its first corner.
    pub fn push_polygon(&mut self, corners: &[u32], place: Place) -> Result<(), FileError> {
        if corners.len() < 3 {
            return Err(Problem::FaceCorners { corners: corners.len() }.at(place));
        }
        check_count(place, "triangles", self.triangles.len() + corners.len() - 2)?;
        for pair in corners[1..].windows(2) {
            self.triangles.push([corners[0], pair[0], pair[1]]);
            if let (Origins::Lines { of_triangle, .. }, Place::Line(line)) = (&mut self.origins, place) {
                of_triangle.push(line as u32);
            }
        }
        Ok(())
    }
}

/// Refuses more vertices or triangles than the limit.
pub(super) fn check_count(place: Place, what: &'static str, count: usize) -> Result<(), FileError> {
    let limit = if what == "vertices" { MAX_FILE_VERTICES } else { MAX_FILE_TRIANGLES };
    if count > limit {
        return Err(Problem::TooLarge { what, claimed: count as u64, limit: limit as u64 }.at(place));
    }
    Ok(())
}

impl Origins {
    /// Adds the position of the element that the error names.
    pub fn locate(&self, error: MeshError) -> FileError {
        let place = match error {
            MeshError::Empty { .. } | MeshError::TooSmall { .. } | MeshError::NoVolume { .. } => None,
            MeshError::NotFinite { vertex, .. } | MeshError::OutOfRange { vertex, .. } => self.of_vertex(vertex),
            MeshError::IndexOutOfRange { number: triangle, .. } | MeshError::ZeroArea { triangle, .. } => {
                self.of_triangle(triangle)
            }
        };
        FileError { place, ..Problem::Mesh(error).into() }
    }

    fn of_vertex(&self, vertex: usize) -> Option<Place> {
        match self {
            Self::Unknown => None,
            Self::Lines { of_vertex, .. } => of_vertex.get(vertex).map(|&line| Place::Line(line as usize)),
            Self::BinaryStl => Some(Place::Byte(84 + 50 * (vertex / 3) + 12 * (1 + vertex % 3))),
            Self::Primitives(parts) => parts.iter().rev().find(|p| p.first_vertex <= vertex).map(Part::place),
        }
    }

    fn of_triangle(&self, triangle: usize) -> Option<Place> {
        match self {
            Self::Unknown => None,
            Self::Lines { of_triangle, .. } => of_triangle.get(triangle).map(|&line| Place::Line(line as usize)),
            Self::BinaryStl => Some(Place::Byte(84 + 50 * triangle)),
            Self::Primitives(parts) => parts.iter().rev().find(|p| p.first_triangle <= triangle).map(Part::place),
        }
    }
}

/// The error of a triangle that refers to a vertex that does not exist; the name of the mesh is added later.
pub(super) fn index_out_of_range(triangle: usize, index: i64, vertices: usize) -> Problem {
    Problem::Mesh(MeshError::IndexOutOfRange {
        mesh: String::new(),
        element: "triangle",
        number: triangle,
        index,
        vertices,
    })
}

impl Part {
    pub fn place(&self) -> Place {
        Place::Primitive { mesh: self.mesh, primitive: self.primitive }
    }
}

/// Positions and tetrahedra of a file. Unused vertices are dropped at the end.
pub(super) struct RawTets {
    pub vertices: Vec<Vec3>,
    pub tets: Vec<[u32; 4]>,
}

impl RawTets {
    /// Scales the positions, drops unused vertices and checks the mesh.
    pub fn finish(self, file: &str, unit: LengthUnit) -> Result<TetMesh, FileError> {
        let mut place = vec![u32::MAX; self.vertices.len()];
        let mut vertices = Vec::new();
        let mut tets = self.tets;
        for index in tets.iter_mut().flatten() {
            // Indices out of range are kept; the check below refuses them with their number.
            let Some(place) = place.get_mut(*index as usize) else { continue };
            if *place == u32::MAX {
                *place = vertices.len() as u32;
                vertices.push(unit.in_metres(self.vertices[*index as usize]));
            }
            *index = *place;
        }
        TetMesh::new(file, vertices, tets).map_err(|error| Problem::Mesh(error).in_file(file))
    }
}
