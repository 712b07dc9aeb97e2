//! Validated tetrahedral meshes.

use crate::mesh::{check_coordinates, check_indices};
use crate::{Bounds, MeshError, Pose, TriMesh, Vec3};
use std::collections::HashMap;

/// A tetrahedral mesh with finite vertices, valid indices and positive volumes: seen from vertex 3, vertices 0, 1, 2
/// are counter-clockwise.
#[derive(Clone, Debug, PartialEq)]
pub struct TetMesh {
    name: String,
    vertices: Vec<Vec3>,
    tets: Vec<[u32; 4]>,
}

/// Corner indices of the faces of a tetrahedron: face i is opposite to corner i and counter-clockwise seen from
/// outside.
pub(crate) const FACES: [[usize; 3]; 4] = [[1, 2, 3], [0, 3, 2], [0, 1, 3], [0, 2, 1]];

impl TetMesh {
    /// Checks vertices (m) and tetrahedra; reorders inverted tetrahedra. Every error names the mesh `name`.
    pub fn new(name: impl Into<String>, vertices: Vec<Vec3>, mut tets: Vec<[u32; 4]>) -> Result<Self, MeshError> {
        let mesh = name.into();
        if tets.is_empty() {
            return Err(MeshError::Empty { mesh, elements: "tetrahedra", vertices: vertices.len() });
        }
        check_coordinates(&mesh, &vertices)?;
        check_indices(&mesh, "tetrahedron", &tets, vertices.len())?;
        for (tet, corners) in tets.iter_mut().enumerate() {
            let [a, b, c, d] = corners.map(|i| vertices[i as usize]);
            let six_volumes = (b - a).cross(c - a).dot(d - a);
            let edges = [b - a, c - a, d - a, c - b, d - b, d - c];
            let longest = edges.iter().map(|e| e.length_squared()).fold(0.0, f64::max);
            if six_volumes.abs() <= 1e-15 * longest * longest.sqrt() || six_volumes == 0.0 {
                return Err(MeshError::NoVolume { mesh, tet, corners: *corners });
            }
            if six_volumes < 0.0 {
                corners.swap(0, 1);
            }
        }
        Ok(Self { name: mesh, vertices, tets })
    }

    /// The name for messages.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Vertices (m).
    pub fn vertices(&self) -> &[Vec3] {
        &self.vertices
    }

    /// Vertex indices of the tetrahedra.
    pub fn tets(&self) -> &[[u32; 4]] {
        &self.tets
    }

    /// The four corners (m) of a tetrahedron.
    pub fn corners(&self, tet: usize) -> [Vec3; 4] {
        self.tets[tet].map(|i| self.vertices[i as usize])
    }

    /// Volume (m³) of a tetrahedron.
    pub fn tet_volume_m3(&self, tet: usize) -> f64 {
        let [a, b, c, d] = self.corners(tet);
        (b - a).cross(c - a).dot(d - a) / 6.0
    }

    /// Total volume (m³) of all tetrahedra.
    pub fn volume_m3(&self) -> f64 {
        (0..self.tets.len()).map(|t| self.tet_volume_m3(t)).sum()
    }

    /// Smallest axis-aligned box around all vertices.
    pub fn bounds(&self) -> Bounds {
        Bounds::around(self.vertices.iter().copied())
    }

    /// The faces that belong to one tetrahedron only, oriented outwards, in the order of the tetrahedra. All vertices
    /// are kept, so that indices are those of this mesh.
    pub fn boundary(&self) -> Result<TriMesh, MeshError> {
        TriMesh::new(format!("surface of {}", self.name), self.vertices.clone(), self.boundary_faces())
    }

    /// Per vertex, whether it lies on the boundary.
    pub fn on_boundary(&self) -> Vec<bool> {
        let mut on = vec![false; self.vertices.len()];
        self.boundary_faces().into_iter().flatten().for_each(|v| on[v as usize] = true);
        on
    }

    fn boundary_faces(&self) -> Vec<[u32; 3]> {
        let key = |mut face: [u32; 3]| {
            face.sort_unstable();
            face
        };
        let mut times: HashMap<[u32; 3], u32> = HashMap::with_capacity(2 * self.tets.len());
        let faces = || self.tets.iter().flat_map(|tet| FACES.map(|face| face.map(|corner| tet[corner])));
        faces().for_each(|face| *times.entry(key(face)).or_default() += 1);
        faces().filter(|&face| times[&key(face)] == 1).collect()
    }

    /// The mesh after a rigid transform.
    pub fn transformed(&self, to_from_mesh: &Pose) -> Self {
        Self { vertices: self.vertices.iter().map(|&v| to_from_mesh.transform_point(v)).collect(), ..self.clone() }
    }
}
