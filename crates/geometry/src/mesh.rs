//! Validated triangle meshes.

use crate::limits::MAX_SIZE_M;
use crate::topology::{TopologyError, check_closed};
use crate::{Bounds, Mat3, Pose, Vec3};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// Error in vertices, triangles or tetrahedra of a mesh. Each error names the mesh and the element.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages describe the fields")]
pub enum MeshError {
    /// The mesh has no triangles or tetrahedra.
    #[error("{mesh}: the mesh is empty ({vertices} vertices, no {elements})")]
    Empty { mesh: String, elements: &'static str, vertices: usize },
    /// A coordinate is NaN or infinite.
    #[error("{mesh}: vertex {vertex} is ({x}, {y}, {z}); every coordinate must be a finite number")]
    NotFinite { mesh: String, vertex: usize, x: f64, y: f64, z: f64 },
    /// A coordinate is beyond [`TriMesh::MAX_COORDINATE_M`].
    #[error(
        "{mesh}: vertex {vertex} is ({x:e}, {y:e}, {z:e}) m; coordinates lie within 1e6 m of the origin, so check the unit and the exporter"
    )]
    OutOfRange { mesh: String, vertex: usize, x: f64, y: f64, z: f64 },
    /// All vertices lie within [`TriMesh::MIN_SIZE_M`].
    #[error("{mesh}: the mesh is {size_m:e} m large; at least 1e-9 m are needed, so check the unit and the exporter")]
    TooSmall { mesh: String, size_m: f64 },
    /// An element refers to a vertex that does not exist.
    #[error("{mesh}: {element} {number} refers to vertex {index}, but there are only {vertices} vertices")]
    IndexOutOfRange { mesh: String, element: &'static str, number: usize, index: i64, vertices: usize },
    /// A triangle has no area.
    #[error(
        "{mesh}: triangle {triangle} has no area (vertices {a}, {b}, {c}); repair the mesh, or ask for such triangles to be dropped"
    )]
    ZeroArea { mesh: String, triangle: usize, a: u32, b: u32, c: u32 },
    /// A tetrahedron has no volume.
    #[error("{mesh}: tetrahedron {tet} has no volume (vertices {corners:?}); mesh the solid again or remove it")]
    NoVolume { mesh: String, tet: usize, corners: [u32; 4] },
}

/// Refuses vertices that are not finite or out of range, and meshes that are too small: lengths to the fifth power, as
/// in inertias, must neither overflow nor vanish.
pub(crate) fn check_coordinates(mesh: &str, vertices: &[Vec3]) -> Result<(), MeshError> {
    let in_range = |v: &Vec3| v.abs().max_element() <= TriMesh::MAX_COORDINATE_M;
    if let Some(vertex) = vertices.iter().position(|v| !(v.is_finite() && in_range(v))) {
        let (Vec3 { x, y, z }, mesh) = (vertices[vertex], mesh.into());
        return Err(match vertices[vertex].is_finite() {
            true => MeshError::OutOfRange { mesh, vertex, x, y, z },
            false => MeshError::NotFinite { mesh, vertex, x, y, z },
        });
    }
    let size_m = Bounds::around(vertices.iter().copied()).size().max_element();
    if size_m < TriMesh::MIN_SIZE_M {
        return Err(MeshError::TooSmall { mesh: mesh.into(), size_m });
    }
    Ok(())
}

/// Refuses elements that refer to vertices that do not exist.
pub(crate) fn check_indices<const N: usize>(
    mesh: &str,
    element: &'static str,
    elements: &[[u32; N]],
    vertices: usize,
) -> Result<(), MeshError> {
    for (number, indices) in elements.iter().enumerate() {
        if let Some(&index) = indices.iter().find(|&&i| i as usize >= vertices) {
            return Err(MeshError::IndexOutOfRange {
                mesh: mesh.into(),
                element,
                number,
                index: index.into(),
                vertices,
            });
        }
    }
    Ok(())
}

/// A triangle mesh with finite vertices, valid indices and no degenerate triangles. Triangles are counter-clockwise
/// seen from outside.
///
/// ```
/// use dermis_geometry::{TriMesh, Vec3};
/// let corners = vec![Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z];
/// let tetrahedron = TriMesh::new("corner", corners, vec![[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]])?;
/// assert!(tetrahedron.check_closed().is_ok());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct TriMesh {
    name: String,
    vertices: Vec<Vec3>,
    triangles: Vec<[u32; 3]>,
}

/// Volume integrals of a closed mesh of uniform density.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct MassProperties {
    /// Mass (kg).
    pub mass_kg: f64,
    /// Centre of mass (m).
    pub center_m: Vec3,
    /// Inertia about the centre of mass, along the mesh's own axes (kg m²).
    pub inertia_kg_m2: Mat3,
}

impl TriMesh {
    /// Largest coordinate of a mesh (m).
    pub const MAX_COORDINATE_M: f64 = MAX_SIZE_M;
    /// Smallest extent of a mesh (m).
    pub const MIN_SIZE_M: f64 = 1e-9;

    /// Validates vertices (m) and triangles. Every error names the mesh `name`.
    pub fn new(name: impl Into<String>, vertices: Vec<Vec3>, triangles: Vec<[u32; 3]>) -> Result<Self, MeshError> {
        let mesh = Self { name: name.into(), vertices, triangles };
        mesh.check()?;
        Ok(mesh)
    }

    /// As [`TriMesh::new`], but drops triangles without area instead of refusing them.
    pub fn without_degenerates(
        name: impl Into<String>,
        vertices: Vec<Vec3>,
        triangles: Vec<[u32; 3]>,
    ) -> Result<Self, MeshError> {
        let mut mesh = Self { name: name.into(), vertices, triangles };
        mesh.check_elements()?;
        let kept = (0..mesh.triangles.len()).filter(|&t| mesh.has_area(t)).map(|t| mesh.triangles[t]).collect();
        mesh.triangles = kept;
        mesh.check()?;
        Ok(mesh)
    }

    fn check(&self) -> Result<(), MeshError> {
        if self.triangles.is_empty() {
            return Err(MeshError::Empty {
                mesh: self.name.clone(),
                elements: "triangles",
                vertices: self.vertices.len(),
            });
        }
        self.check_elements()?;
        if let Some(triangle) = (0..self.triangles.len()).find(|&t| !self.has_area(t)) {
            let [a, b, c] = self.triangles[triangle];
            return Err(MeshError::ZeroArea { mesh: self.name.clone(), triangle, a, b, c });
        }
        Ok(())
    }

    /// Checks that every vertex is in range and every index exists.
    fn check_elements(&self) -> Result<(), MeshError> {
        check_coordinates(&self.name, &self.vertices)?;
        check_indices(&self.name, "triangle", &self.triangles, self.vertices.len())
    }

    /// A triangle is degenerate if twice its area is below 1e-12 of its longest edge squared.
    fn has_area(&self, triangle: usize) -> bool {
        let [a, b, c] = self.corners(triangle);
        let longest = (b - a).length_squared().max((c - b).length_squared()).max((a - c).length_squared());
        let doubled = (b - a).cross(c - a).length();
        doubled > 1e-12 * longest && doubled > 0.0
    }

    /// The name for messages: the path of a file, or the name of a generated shape.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The same mesh under another name.
    pub fn named(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// Vertices (m).
    pub fn vertices(&self) -> &[Vec3] {
        &self.vertices
    }

    /// Vertex indices, counter-clockwise seen from outside.
    pub fn triangles(&self) -> &[[u32; 3]] {
        &self.triangles
    }

    /// The three corners (m) of a triangle.
    pub fn corners(&self, triangle: usize) -> [Vec3; 3] {
        self.triangles[triangle].map(|i| self.vertices[i as usize])
    }

    /// Area (m²) times the unit normal of a triangle.
    pub fn area_vector(&self, triangle: usize) -> Vec3 {
        let [a, b, c] = self.corners(triangle);
        (b - a).cross(c - a) * 0.5
    }

    /// Outward unit normal of a triangle.
    pub fn face_normal(&self, triangle: usize) -> Vec3 {
        self.area_vector(triangle).normalize()
    }

    /// Per vertex, the normalised sum of the unit normals of its triangles (Moisio 2013, section 3.1). Zero for a
    /// vertex without triangles or whose normals cancel.
    pub fn vertex_normals(&self) -> Vec<Vec3> {
        let mut normals = vec![Vec3::ZERO; self.vertices.len()];
        for (t, indices) in self.triangles.iter().enumerate() {
            let normal = self.face_normal(t);
            for &i in indices {
                normals[i as usize] += normal;
            }
        }
        normals.iter().map(|n| n.normalize_or_zero()).collect()
    }

    /// Per vertex, a third of the area (m²) of its triangles.
    pub fn vertex_areas_m2(&self) -> Vec<f64> {
        let mut areas = vec![0.0; self.vertices.len()];
        for (t, indices) in self.triangles.iter().enumerate() {
            let third = self.area_vector(t).length() / 3.0;
            for &i in indices {
                areas[i as usize] += third;
            }
        }
        areas
    }

    /// Surface area (m²).
    pub fn area_m2(&self) -> f64 {
        (0..self.triangles.len()).map(|t| self.area_vector(t).length()).sum()
    }

    /// Enclosed volume (m³); negative when the faces point inwards, undefined when the mesh is open.
    pub fn volume_m3(&self) -> f64 {
        let origin = self.bounds().center();
        (0..self.triangles.len())
            .map(|t| {
                let [a, b, c] = self.corners(t).map(|v| v - origin);
                a.dot(b.cross(c)) / 6.0
            })
            .sum()
    }

    /// Mass, centre of mass and inertia of the enclosed solid of uniform density with mass `mass_kg`.
    pub fn mass_properties(&self, mass_kg: f64) -> Result<MassProperties, TopologyError> {
        self.check_closed()?;
        // Each triangle and the origin form a tetrahedron; its moments have a closed form.
        let origin = self.bounds().center();
        let (mut volume, mut first, mut second) = (0.0, Vec3::ZERO, Mat3::ZERO);
        for t in 0..self.triangles.len() {
            let [a, b, c] = self.corners(t).map(|v| v - origin);
            let v = a.dot(b.cross(c)) / 6.0;
            let sum = a + b + c;
            volume += v;
            first += sum * (v / 4.0);
            let outer = |p: Vec3| Mat3::from_cols(p * p.x, p * p.y, p * p.z);
            second += (outer(a) + outer(b) + outer(c) + outer(sum)) * (v / 20.0);
        }
        let center = first / volume;
        let density = mass_kg / volume;
        let outer = Mat3::from_cols(center * center.x, center * center.y, center * center.z);
        let about_center = second - outer * volume;
        let trace = about_center.x_axis.x + about_center.y_axis.y + about_center.z_axis.z;
        Ok(MassProperties {
            mass_kg,
            center_m: center + origin,
            inertia_kg_m2: (Mat3::from_diagonal(Vec3::splat(trace)) - about_center) * density,
        })
    }

    /// Smallest axis-aligned box around all vertices.
    pub fn bounds(&self) -> Bounds {
        Bounds::around(self.vertices.iter().copied())
    }

    /// Refuses a mesh that does not bound a solid with outward faces.
    pub fn check_closed(&self) -> Result<(), TopologyError> {
        check_closed(self)
    }

    /// A mesh of the same name with other elements, which must satisfy the checks of [`TriMesh::new`].
    pub(crate) fn with_elements(&self, vertices: Vec<Vec3>, triangles: Vec<[u32; 3]>) -> Self {
        Self { name: self.name.clone(), vertices, triangles }
    }

    /// The mesh after a rigid transform.
    pub fn transformed(&self, to_from_mesh: &Pose) -> Self {
        Self {
            name: self.name.clone(),
            vertices: self.vertices.iter().map(|&v| to_from_mesh.transform_point(v)).collect(),
            triangles: self.triangles.clone(),
        }
    }

    /// The same surface with every triangle divided into four at the midpoints of its edges.
    pub fn subdivided(&self) -> Result<Self, MeshError> {
        let mut vertices = self.vertices.clone();
        let mut middles: HashMap<(u32, u32), u32> = HashMap::with_capacity(self.triangles.len() * 3 / 2);
        let mut triangles = Vec::with_capacity(4 * self.triangles.len());
        for &[a, b, c] in &self.triangles {
            let [ab, bc, ca] = [(a, b), (b, c), (c, a)].map(|(p, q)| {
                *middles.entry((p.min(q), p.max(q))).or_insert_with(|| {
                    vertices.push((self.vertices[p as usize] + self.vertices[q as usize]) * 0.5);
                    vertices.len() as u32 - 1
                })
            });
            triangles.extend([[a, ab, ca], [ab, b, bc], [ca, bc, c], [ab, bc, ca]]);
        }
        Self::new(self.name.clone(), vertices, triangles)
    }

    /// The mesh scaled along its axes; all factors must be positive.
    pub fn stretched(&self, factors: Vec3) -> Self {
        Self {
            name: self.name.clone(),
            vertices: self.vertices.iter().map(|&v| v * factors).collect(),
            triangles: self.triangles.clone(),
        }
    }

    /// Combines both meshes into one.
    pub fn joined(&self, other: &Self) -> Self {
        let offset = self.vertices.len() as u32;
        let mut joined = self.clone();
        joined.vertices.extend_from_slice(&other.vertices);
        joined.triangles.extend(other.triangles.iter().map(|t| t.map(|i| i + offset)));
        joined
    }
}
