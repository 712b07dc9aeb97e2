//! Objects that touch sensors.

use crate::array::{Numbers, Unread, array, positive, vector};
use crate::error::{Error, IntoPyErr};
use crate::pose::vectors;
use crate::threads::interruptible;
use dermis::geometry::files::{Import, LengthUnit, read};
use dermis::geometry::limits::{MAX_FILE_TRIANGLES, MAX_FILE_VERTICES, check_mesh};
use dermis::geometry::shapes::{check_heights, terrain};
use dermis::geometry::{Primitive, TriMesh, Vec3};
use dermis::object::{ObjectError, ObjectSpec};
use dermis::skin;
use numpy::PyArrayDyn;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyType};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::sync::Arc;

/// A rigid object that can touch sensors, in its own frame.
///
/// ``Object("sphere:radius=10mm")`` takes the notation of the command line: a shape with its sizes and units, a shape
/// alone, an indenter (``"indenter:moon"``), or the path of a mesh file with its ``unit`` ("m", "cm", "mm" or "in").
/// The constructors below take metres. Objects are immutable; they can be shared, copied and pickled.
#[pyclass(frozen, module = "dermis")]
pub struct Object {
    pub definition: Definition,
    pub object: Arc<skin::Object>,
}

/// The definition of an object, for pickles.
#[derive(Clone, Serialize, Deserialize)]
pub struct Definition {
    name: String,
    shape: Shape,
    mu: Option<f64>,
}

#[derive(Clone, Serialize, Deserialize)]
enum Shape {
    Primitive { primitive: Primitive, edge_m: f64 },
    Points { centers_m: Arc<Vec<[f64; 3]>>, radius_m: f64 },
    Mesh { vertices_m: Arc<Vec<[f64; 3]>>, triangles: Arc<Vec<[u32; 3]>> },
}

impl Shape {
    fn of_mesh(mesh: &TriMesh) -> Self {
        Self::Mesh { vertices_m: numbers(mesh.vertices()), triangles: Arc::new(mesh.triangles().to_vec()) }
    }

    /// The shape of an object of [`ObjectSpec`], independent of its files.
    fn of_spec(spec: &ObjectSpec) -> Result<Self, ObjectError> {
        let surface = spec.object(None, None)?.surface;
        Ok(match (surface.primitive(), surface.balls()) {
            (Some(&primitive), _) => {
                Self::Primitive { primitive, edge_m: spec.edge_m().unwrap_or(primitive.default_edge_m()) }
            }
            (_, Some(balls)) => Self::Points { centers_m: numbers(balls.centers()), radius_m: balls.radius_m() },
            _ => Self::of_mesh(surface.mesh()),
        })
    }
}

impl Shape {
    /// The shape with another size: "scale", a factor on all sizes, or a size (m) of the constructor of its primitive. `None`
    /// if it has no such size.
    fn resized(&self, name: &str, values: &[f64]) -> Option<Self> {
        let resized = match (self, name, values) {
            (Self::Primitive { primitive, edge_m }, "scale", [factor]) => {
                return Some(Self::Primitive { primitive: primitive.scaled(*factor), edge_m: edge_m * factor });
            }
            (Self::Points { centers_m, radius_m }, "scale", [factor]) => {
                return Some(Self::Points { centers_m: scaled(centers_m, *factor), radius_m: radius_m * factor });
            }
            (Self::Mesh { vertices_m, triangles }, "scale", [factor]) => {
                return Some(Self::Mesh { vertices_m: scaled(vertices_m, *factor), triangles: triangles.clone() });
            }
            (Self::Mesh { vertices_m, triangles }, "vertices", values) if values.len() == 3 * vertices_m.len() => {
                let vertices = values.chunks_exact(3).map(|at| [at[0], at[1], at[2]]).collect();
                return Some(Self::Mesh { vertices_m: Arc::new(vertices), triangles: triangles.clone() });
            }
            (Self::Primitive { primitive, .. }, ..) => primitive.with_size(name, values)?,
            _ => return None,
        };
        Some(Self::Primitive { primitive: resized, edge_m: resized.default_edge_m() })
    }
}

fn scaled(points_m: &[[f64; 3]], factor: f64) -> Arc<Vec<[f64; 3]>> {
    Arc::new(points_m.iter().map(|point| point.map(|part| part * factor)).collect())
}

fn numbers(points: &[Vec3]) -> Arc<Vec<[f64; 3]>> {
    Arc::new(points.iter().map(|point| point.to_array()).collect())
}

impl Definition {
    /// Builds the object.
    pub fn build(&self) -> PyResult<skin::Object> {
        let vectors = |all: &[[f64; 3]]| all.iter().map(|&numbers| Vec3::from_array(numbers)).collect::<Vec<_>>();
        let object = match &self.shape {
            Shape::Primitive { primitive, edge_m } => skin::Object::of_primitive(*primitive, *edge_m).into_py_err()?,
            Shape::Points { centers_m, radius_m } => {
                skin::Object::of_points(vectors(centers_m), *radius_m).into_py_err()?
            }
            Shape::Mesh { vertices_m, triangles } => {
                let mesh = TriMesh::new(self.name.clone(), vectors(vertices_m), triangles.to_vec()).into_py_err()?;
                skin::Object::new(mesh)
            }
        };
        Ok(skin::Object { mu: self.mu, ..object })
    }
}

impl Object {
    fn make(py: Python<'_>, name: &str, shape: Shape, mu: Option<f64>) -> PyResult<Self> {
        if let Some(mu) = mu.filter(|mu| !(*mu >= 0.0 && mu.is_finite())) {
            return Err(Error::new_err(format!("`mu` must be zero or a positive number, got {mu}")));
        }
        let definition = Definition { name: name.to_owned(), shape, mu };
        Self::of_definition(py, definition)
    }

    fn of_definition(py: Python<'_>, definition: Definition) -> PyResult<Self> {
        let owned = definition.clone();
        let object = Arc::new(interruptible(py, move || owned.build())??);
        Ok(Self { definition, object })
    }

    fn of_mesh(py: Python<'_>, mesh: &TriMesh, mu: Option<f64>) -> PyResult<Self> {
        Self::make(py, mesh.name(), Shape::of_mesh(mesh), mu)
    }

    fn of_primitive(
        py: Python<'_>,
        name: &str,
        primitive: Primitive,
        edge: Option<f64>,
        mu: Option<f64>,
    ) -> PyResult<Self> {
        let edge_m = edge.map_or(Ok(primitive.default_edge_m()), |edge| positive(edge, "edge", "metres"))?;
        Self::make(py, name, Shape::Primitive { primitive, edge_m }, mu)
    }
}

/// Refuses arrays that are not rows of three.
fn triples<'py>(value: &Bound<'py, PyAny>, what: &str) -> PyResult<Unread<'py>> {
    let unread = Unread::of(value, what)?;
    match unread.shape.as_slice() {
        [_, 3] => Ok(unread),
        _ => Err(unread.wrong_shape(what, "(n, 3)")),
    }
}

fn unit_of(unit: Option<&str>) -> PyResult<Option<LengthUnit>> {
    unit.map(|text| text.parse::<LengthUnit>().map_err(|error| Error::new_err(error.to_string()))).transpose()
}

#[pymethods]
impl Object {
    #[new]
    #[pyo3(signature = (shape, *, unit=None, mu=None))]
    fn new(py: Python<'_>, shape: PathBuf, unit: Option<&str>, mu: Option<f64>) -> PyResult<Self> {
        let spec = ObjectSpec::parse_flag(&shape.to_string_lossy(), unit_of(unit)?).into_py_err()?;
        let owned = spec.clone();
        let shape = interruptible(py, move || Shape::of_spec(&owned))?.into_py_err()?;
        let name = match &spec {
            ObjectSpec::Mesh { file, .. } | ObjectSpec::Points { file, .. } => file.display().to_string(),
            ObjectSpec::Indenter { name } => name.clone(),
            _ => spec.kind().to_owned(),
        };
        Self::make(py, &name, shape, mu)
    }

    /// A sphere at the origin.
    ///
    /// radius: m. Every skin is in contact with the exact sphere. edge: longest triangle edge (m) of the mesh that is drawn;
    /// default: a fortieth of the diameter. mu: coefficient of friction (layers only); default: that of the skin.
    #[staticmethod]
    #[pyo3(signature = (*, radius, edge=None, mu=None))]
    fn sphere(py: Python<'_>, radius: f64, edge: Option<f64>, mu: Option<f64>) -> PyResult<Self> {
        let radius_m = positive(radius, "radius", "metres")?;
        Self::of_primitive(py, "sphere", Primitive::Sphere { radius_m }, edge, mu)
    }

    /// An ellipsoid at the origin.
    ///
    /// semi_axes: half extents along x, y and z (m), shape (3,). edge and mu: as for a sphere.
    #[staticmethod]
    #[pyo3(signature = (*, semi_axes, edge=None, mu=None))]
    fn ellipsoid(py: Python<'_>, semi_axes: &Bound<'_, PyAny>, edge: Option<f64>, mu: Option<f64>) -> PyResult<Self> {
        let semi_axes_m = vector::<3>(semi_axes, "semi_axes")?;
        for axis in semi_axes_m {
            positive(axis, "semi_axes", "metres")?;
        }
        let primitive = Primitive::Ellipsoid { semi_axes_m: Vec3::from_array(semi_axes_m) };
        Self::of_primitive(py, "ellipsoid", primitive, edge, mu)
    }

    /// An axis-aligned box at the origin.
    ///
    /// size: full extents along x, y and z (m), shape (3,). mu: as for a sphere.
    #[staticmethod]
    #[pyo3(name = "box", signature = (*, size, mu=None))]
    fn cuboid(py: Python<'_>, size: &Bound<'_, PyAny>, mu: Option<f64>) -> PyResult<Self> {
        let size = vector::<3>(size, "size")?;
        for extent in size {
            positive(extent, "size", "metres")?;
        }
        Self::of_primitive(py, "box", Primitive::Cuboid { half_m: Vec3::from_array(size) * 0.5 }, None, mu)
    }

    /// A cylinder along z at the origin.
    ///
    /// radius, length: metres. edge and mu: as for a sphere.
    #[staticmethod]
    #[pyo3(signature = (*, radius, length, edge=None, mu=None))]
    fn cylinder(py: Python<'_>, radius: f64, length: f64, edge: Option<f64>, mu: Option<f64>) -> PyResult<Self> {
        let (radius_m, length) = (positive(radius, "radius", "metres")?, positive(length, "length", "metres")?);
        Self::of_primitive(py, "cylinder", Primitive::Cylinder { radius_m, half_length_m: 0.5 * length }, edge, mu)
    }

    /// A capsule along z at the origin.
    ///
    /// radius: metres. length: length of the cylindrical part (m). edge and mu: as for a sphere.
    #[staticmethod]
    #[pyo3(signature = (*, radius, length, edge=None, mu=None))]
    fn capsule(py: Python<'_>, radius: f64, length: f64, edge: Option<f64>, mu: Option<f64>) -> PyResult<Self> {
        let (radius_m, length) = (positive(radius, "radius", "metres")?, positive(length, "length", "metres")?);
        Self::of_primitive(py, "capsule", Primitive::Capsule { radius_m, half_length_m: 0.5 * length }, edge, mu)
    }

    /// A solid plate whose top face is z = 0 of its frame.
    ///
    /// half_size: half extent along x and y (m). thickness: extent below z = 0 (m). mu: as for a sphere.
    #[staticmethod]
    #[pyo3(signature = (*, half_size=10.0, thickness=1.0, mu=None))]
    fn plane(py: Python<'_>, half_size: f64, thickness: f64, mu: Option<f64>) -> PyResult<Self> {
        let (half, deep) = (positive(half_size, "half_size", "metres")?, positive(thickness, "thickness", "metres")?);
        let corner = |i: usize| {
            let sign = |bit: usize| if i & bit == 0 { -half } else { half };
            Vec3::new(sign(1), sign(2), if i & 4 == 0 { -deep } else { 0.0 })
        };
        let sides = [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
        let triangles = sides.iter().flat_map(|&[a, b, c, d]| [[a, b, c], [a, c, d]]).collect();
        let mesh = TriMesh::new("plane", (0..8).map(corner).collect(), triangles).into_py_err()?;
        Self::of_mesh(py, &mesh, mu)
    }

    /// A triangle mesh.
    ///
    /// vertices: metres, shape (n, 3). triangles: vertex indices, shape (m, 3), counter-clockwise seen from outside.
    /// With a closed mesh, contacts deeper than the skin are detected too. mu: as for a sphere.
    #[staticmethod]
    #[pyo3(signature = (*, vertices, triangles, name="mesh", mu=None))]
    fn mesh(
        py: Python<'_>,
        vertices: &Bound<'_, PyAny>,
        triangles: &Bound<'_, PyAny>,
        name: &str,
        mu: Option<f64>,
    ) -> PyResult<Self> {
        let (vertices, triangles) = (triples(vertices, "vertices")?, triples(triangles, "triangles")?);
        check_mesh(vertices.shape[0], triangles.shape[0]).into_py_err()?;
        let vertices = vertices.read_at_most(3 * MAX_FILE_VERTICES, "vertices")?.finite("vertices")?;
        let triangles = triangles.read_at_most(3 * MAX_FILE_TRIANGLES, "triangles")?.finite("triangles")?;
        let vertices = vertices.values.as_chunks().0.iter().copied().map(Vec3::from_array).collect();
        let index = |value: f64| {
            let whole = value >= 0.0 && value <= f64::from(u32::MAX) && value.fract() == 0.0;
            whole.then_some(value as u32).ok_or_else(|| {
                Error::new_err(format!("`triangles` must be vertex indices, integers from 0, got {value}"))
            })
        };
        let triangle = |&[a, b, c]: &[f64; 3]| Ok([index(a)?, index(b)?, index(c)?]);
        let triangles = triangles.values.as_chunks().0.iter().map(triangle).collect::<PyResult<Vec<_>>>()?;
        let mesh = TriMesh::without_degenerates(name, vertices, triangles).into_py_err()?;
        Self::of_mesh(py, &mesh, mu)
    }

    /// A solid between a grid of heights and z = -base.
    ///
    /// heights: height over z = 0 of its frame (m), shape (rows, cols), row 0 at +y and column 0 at -x.
    /// size: full extent along x and y (m), shape (2,); the outermost heights lie on its rim.
    /// base: thickness below z = 0 (m). mu: as for a sphere.
    #[staticmethod]
    #[pyo3(signature = (heights, *, size, base=0.01, mu=None))]
    fn height_field(
        py: Python<'_>,
        heights: &Bound<'_, PyAny>,
        size: &Bound<'_, PyAny>,
        base: f64,
        mu: Option<f64>,
    ) -> PyResult<Self> {
        let unread = Unread::of(heights, "heights")?;
        let &[row_count, col_count] = unread.shape.as_slice() else {
            return Err(unread.wrong_shape("heights", "(rows, cols)"));
        };
        check_heights(row_count, col_count).into_py_err()?;
        let heights = unread.read("heights")?.finite("heights")?;
        let [width, depth] = vector::<2>(size, "size")?;
        positive(width, "size", "metres")?;
        positive(depth, "size", "metres")?;
        let base = positive(base, "base", "metres")?;
        if let Some(low) = heights.values.iter().find(|&&height| height <= -base) {
            return Err(Error::new_err(format!("`heights` must be above -base ({} m), got {low} m", -base)));
        }
        let mesh = terrain(row_count, col_count, [width, depth], base, &heights.values).into_py_err()?;
        Self::of_mesh(py, &mesh, mu)
    }

    /// A built-in indenter for optical gels, such as "moon". Its tip is at the origin; it presses along -z.
    #[staticmethod]
    #[pyo3(signature = (name, *, mu=None))]
    fn indenter(py: Python<'_>, name: &str, mu: Option<f64>) -> PyResult<Self> {
        let mesh = dermis::geometry::shapes::indenters::find(name).into_py_err()?;
        Self::of_mesh(py, &mesh, mu)
    }

    /// An object from a mesh file: STL, OBJ, PLY or glTF.
    ///
    /// unit: length unit of the file, "m", "cm", "mm" or "in"; required unless the format defines one. repair: drops
    /// triangles without area instead of refusing the file.
    #[staticmethod]
    #[pyo3(signature = (path, *, unit=None, repair=false, mu=None))]
    fn load(py: Python<'_>, path: PathBuf, unit: Option<&str>, repair: bool, mu: Option<f64>) -> PyResult<Self> {
        let import = Import { unit: unit_of(unit)?, drop_degenerate: repair, ..Import::default() };
        let mesh = interruptible(py, move || read(&path, &import))?.into_py_err()?;
        Self::of_mesh(py, &mesh, mu)
    }

    /// Name of the object in messages.
    #[getter]
    fn name(&self) -> &str {
        &self.definition.name
    }

    /// Coefficient of friction; None: that of the skin is used.
    #[getter]
    fn mu(&self) -> Option<f64> {
        self.definition.mu
    }

    /// Vertices of its mesh (m), shape (n, 3).
    #[getter]
    fn vertices<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        vectors(py, self.object.surface.mesh().vertices())
    }

    /// Vertex indices of its triangles, shape (m, 3).
    #[getter]
    fn triangles<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDyn<u32>>> {
        let triangles = self.object.surface.mesh().triangles();
        array(py, &[triangles.len(), 3], triangles.as_flattened())
    }

    /// Lower and upper corner of its bounding box (m), shape (2, 3).
    #[getter]
    fn bounds<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        let bounds = self.object.surface.bounds();
        vectors(py, &[bounds.min, bounds.max])
    }

    /// True if the surface encloses a solid.
    #[getter]
    fn closed(&self) -> bool {
        self.object.surface.is_closed()
    }

    /// The same object with another size: name is "scale", a factor on all sizes, or a size of its constructor (m):
    /// "radius", "semi_axes", "size" or "length". value: a number, or three for "semi_axes" and "size". Of a mesh also "vertices", (n, 3).
    /// Or with another "mu".
    fn resized(&self, py: Python<'_>, name: &str, value: &Bound<'_, PyAny>) -> PyResult<Self> {
        let values = Numbers::read(value, name)?.finite(name)?.values;
        if let ("mu", [mu]) = (name, values.as_slice()) {
            return Self::make(py, &self.definition.name, self.definition.shape.clone(), Some(*mu));
        }
        if let Some(value) = values.iter().find(|value| name != "vertices" && **value <= 0.0) {
            return Err(Error::new_err(format!("`{name}` must be positive, got {value}")));
        }
        let refuse = || {
            let count = values.len();
            Error::new_err(format!("{:?} has no size {name:?} of {count} numbers", self.definition.name))
        };
        let shape = self.definition.shape.resized(name, &values).ok_or_else(refuse)?;
        Self::make(py, &self.definition.name, shape, self.definition.mu)
    }

    fn __repr__(&self) -> String {
        let size = self.object.surface.bounds().size() * 1e3;
        format!("<dermis.Object {:?}, {:.4} x {:.4} x {:.4} mm>", self.definition.name, size.x, size.y, size.z)
    }

    fn __copy__(this: Py<Self>) -> Py<Self> {
        this
    }

    fn __deepcopy__(this: Py<Self>, _memo: &Bound<'_, PyAny>) -> Py<Self> {
        this
    }

    #[classmethod]
    fn _restore(_class: &Bound<'_, PyType>, py: Python<'_>, saved: &[u8]) -> PyResult<Self> {
        let definition: Definition =
            serde_json::from_slice(saved).map_err(|error| Error::new_err(error.to_string()))?;
        Self::of_definition(py, definition)
    }

    fn __reduce__<'py>(this: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        let saved = serde_json::to_vec(&this.get().definition).map_err(|error| Error::new_err(error.to_string()))?;
        Ok((this.get_type().getattr("_restore")?, (PyBytes::new(this.py(), &saved),)))
    }
}
