//! What a reader hands on: positions and triangles as the file has them, not yet checked.

use super::{FileError, Place};
use crate::{MeshError, Vec3};

pub(super) const MAX_TRIANGLES: usize = 50_000_000;
pub(super) const MAX_VERTICES: usize = 3 * MAX_TRIANGLES;

/// Positions in the file's unit and triangles in the file's numbering.
#[derive(Debug)]
pub(super) struct Soup {
    pub vertices: Vec<Vec3>,
    pub triangles: Vec<[u32; 3]>,
    pub origins: Origins,
}

/// Where in the file the elements of a soup stand.
#[derive(Debug)]
pub(super) enum Origins {
    Unknown,
    /// The line of each vertex and triangle.
    Lines {
        of_vertex: Vec<u32>,
        of_triangle: Vec<u32>,
    },
    /// Facets of 50 bytes behind a header of 84.
    BinaryStl,
    /// In the order of their first elements.
    Primitives(Vec<Part>),
}

/// The stretch of a soup that came from one primitive of a glTF file.
#[derive(Debug)]
pub(super) struct Part {
    pub first_vertex: usize,
    pub first_triangle: usize,
    pub mesh: usize,
    pub primitive: usize,
}

impl Soup {
    pub fn new(origins: Origins) -> Self {
        Self { vertices: Vec::new(), triangles: Vec::new(), origins }
    }

    pub fn of_lines() -> Self {
        Self::new(Origins::Lines { of_vertex: Vec::new(), of_triangle: Vec::new() })
    }

    pub fn push_vertex(&mut self, file: &str, vertex: Vec3, place: Place) -> Result<(), FileError> {
        check_count(file, place, "vertices", self.vertices.len() + 1)?;
        self.vertices.push(vertex);
        if let (Origins::Lines { of_vertex, .. }, Place::Line(line)) = (&mut self.origins, place) {
            of_vertex.push(line as u32);
        }
        Ok(())
    }

    /// Cuts a polygon into triangles around its first corner; it has at least three.
    pub fn push_polygon(&mut self, file: &str, corners: &[u32], place: Place) -> Result<(), FileError> {
        if corners.len() < 3 {
            return Err(FileError::FaceCorners { file: file.into(), place, corners: corners.len() });
        }
        check_count(file, place, "triangles", self.triangles.len() + corners.len() - 2)?;
        for pair in corners[1..].windows(2) {
            self.triangles.push([corners[0], pair[0], pair[1]]);
            if let (Origins::Lines { of_triangle, .. }, Place::Line(line)) = (&mut self.origins, place) {
                of_triangle.push(line as u32);
            }
        }
        Ok(())
    }
}

/// Refuses more vertices or triangles than are read.
pub(super) fn check_count(file: &str, place: Place, what: &'static str, count: usize) -> Result<(), FileError> {
    let limit = if what == "vertices" { MAX_VERTICES } else { MAX_TRIANGLES };
    if count > limit {
        return Err(FileError::TooLarge { file: file.into(), place, what, claimed: count as u64, limit: limit as u64 });
    }
    Ok(())
}

impl Origins {
    /// Adds the place of the element that the error is about.
    pub fn locate(&self, error: MeshError) -> FileError {
        let place = match error {
            MeshError::Empty { .. } => None,
            MeshError::NotFinite { vertex, .. } => self.of_vertex(vertex),
            MeshError::IndexOutOfRange { triangle, .. } | MeshError::ZeroArea { triangle, .. } => {
                self.of_triangle(triangle)
            }
        };
        FileError::Mesh { error, place }
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

impl Part {
    pub fn place(&self) -> Place {
        Place::Primitive { mesh: self.mesh, primitive: self.primitive }
    }
}
