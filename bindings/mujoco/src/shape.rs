//! Geoms as things that can be touched.

use crate::PluginError;
use crate::layout::table;
use crate::model::Model;
use dermis::geometry::{Pose, Primitive, TriMesh, Vec3};
use dermis::skin::Object;
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// How far (m) a plane reaches; MuJoCo's are endless.
const PLANE_HALF_M: f64 = 1e3;
/// How deep (m) a plane's solid is.
const PLANE_DEPTH_M: f64 = 1.0;
/// Edges of the triangles that stand for a round shape, as a part of its size.
const EDGE_OF_SIZE: f64 = 1.0 / 24.0;

/// A geom's surface, and where its frame is in the geom's.
#[derive(Clone, Debug)]
pub struct Shape {
    /// The surface.
    pub object: Arc<Object>,
    /// Where it is.
    pub geom_from_object: Pose,
}

/// What a geom is made of: equal things are built once.
#[derive(PartialEq)]
enum Matter<'a> {
    Primitive(Primitive),
    Mesh { vertices: &'a [f32], triangles: &'a [i32] },
    HeightField { rows: usize, cols: usize, size_m: [f64; 4], heights: &'a [f32] },
}

static BUILT: Mutex<Option<HashMap<[u64; 2], Weak<Object>>>> = Mutex::new(None);

impl Shape {
    /// The shape of a geom.
    pub fn of(model: &Model<'_>, geom: usize) -> Result<Self, PluginError> {
        let size = model.geom_size(geom);
        let bad = |reason: String| PluginError::BadGeom { geom: model.geom_name(geom), reason };
        let data = || model.geom_data(geom).ok_or_else(|| bad("it has no mesh or height field".into()));
        let mut geom_from_object = Pose::IDENTITY;
        let matter = match model.geom_type(geom) {
            table::GEOM_SPHERE => Matter::Primitive(Primitive::Sphere { radius_m: size.x }),
            table::GEOM_ELLIPSOID => Matter::Primitive(Primitive::Ellipsoid { semi_axes_m: size }),
            table::GEOM_BOX => Matter::Primitive(Primitive::Cuboid { half_m: size }),
            table::GEOM_CYLINDER => Matter::Primitive(Primitive::Cylinder { radius_m: size.x, half_length_m: size.y }),
            table::GEOM_CAPSULE => Matter::Primitive(Primitive::Capsule { radius_m: size.x, half_length_m: size.y }),
            table::GEOM_PLANE => {
                geom_from_object.translation.z = -0.5 * PLANE_DEPTH_M;
                let half_m = Vec3::new(PLANE_HALF_M, PLANE_HALF_M, 0.5 * PLANE_DEPTH_M);
                Matter::Primitive(Primitive::Cuboid { half_m })
            }
            table::GEOM_MESH | table::GEOM_SDF => {
                let (vertices, triangles) = model.mesh(data()?);
                Matter::Mesh { vertices, triangles }
            }
            table::GEOM_HFIELD => {
                let (rows, cols, size_m, heights) = model.height_field(data()?);
                Matter::HeightField { rows, cols, size_m, heights }
            }
            other => return Err(bad(format!("its type {other} has no surface of its own"))),
        };
        Ok(Self { object: matter.shared(&model.geom_name(geom))?, geom_from_object })
    }
}

impl Matter<'_> {
    /// The object, built unless an equal one is alive. Many mjData of a model, or many models, then share it.
    fn shared(&self, name: &str) -> Result<Arc<Object>, PluginError> {
        let key = [0u8, 1].map(|salt| self.digest(salt));
        let mut built = BUILT.lock().unwrap_or_else(PoisonError::into_inner);
        let built = built.get_or_insert_default();
        if let Some(object) = built.get(&key).and_then(Weak::upgrade) {
            return Ok(object);
        }
        let object = Arc::new(self.build(name)?);
        built.retain(|_, object| object.strong_count() > 0);
        built.insert(key, Arc::downgrade(&object));
        Ok(object)
    }

    fn digest(&self, salt: u8) -> u64 {
        let mut hasher = DefaultHasher::new();
        salt.hash(&mut hasher);
        match self {
            Self::Primitive(primitive) => format!("{primitive:?}").hash(&mut hasher),
            Self::Mesh { vertices, triangles } => {
                vertices.iter().for_each(|v| v.to_bits().hash(&mut hasher));
                triangles.hash(&mut hasher);
            }
            Self::HeightField { rows, cols, size_m, heights } => {
                (rows, cols, size_m.map(f64::to_bits)).hash(&mut hasher);
                heights.iter().for_each(|h| h.to_bits().hash(&mut hasher));
            }
        }
        hasher.finish()
    }

    fn build(&self, name: &str) -> Result<Object, PluginError> {
        match self {
            Self::Primitive(primitive) => {
                let edge_m = primitive.bounds().size().max_element() * EDGE_OF_SIZE;
                Object::of_primitive(*primitive, edge_m).map_err(|error| PluginError::bad_shape(name, &error))
            }
            Self::Mesh { vertices, triangles } => {
                let vertices = vertices.chunks_exact(3).map(|v| Vec3::from_array([v[0], v[1], v[2]].map(f64::from)));
                let triangles = triangles.chunks_exact(3).map(|t| [t[0] as u32, t[1] as u32, t[2] as u32]);
                mesh(name, vertices.collect(), triangles.collect())
            }
            Self::HeightField { rows, cols, size_m, heights } => {
                let (vertices, triangles) = terrain(*rows, *cols, size_m, heights);
                mesh(name, vertices, triangles)
            }
        }
    }
}

fn mesh(name: &str, vertices: Vec<Vec3>, triangles: Vec<[u32; 3]>) -> Result<Object, PluginError> {
    let mesh =
        TriMesh::without_degenerates(name, vertices, triangles).map_err(|error| PluginError::bad_mesh(name, &error))?;
    Ok(Object::new(mesh))
}

/// A solid under a height field: its top, its bottom and the four sides. Row 0 is at −y, column 0 at −x.
fn terrain(rows: usize, cols: usize, [x, y, top, bottom]: &[f64; 4], heights: &[f32]) -> (Vec<Vec3>, Vec<[u32; 3]>) {
    let at = |row: usize, col: usize, z: f64| {
        let part = |index: usize, count: usize| 2.0 * index as f64 / (count.max(2) - 1) as f64 - 1.0;
        Vec3::new(x * part(col, cols), y * part(row, rows), z)
    };
    let cells = || (0..rows).flat_map(move |row| (0..cols).map(move |col| (row, col)));
    let mut vertices: Vec<Vec3> =
        cells().map(|(row, col)| at(row, col, top * f64::from(heights[row * cols + col]))).collect();
    vertices.extend(cells().map(|(row, col)| at(row, col, -bottom)));
    let under = (rows * cols) as u32;
    let index = |row: usize, col: usize| (row * cols + col) as u32;
    let mut triangles = Vec::new();
    for row in 0..rows.saturating_sub(1) {
        for col in 0..cols.saturating_sub(1) {
            let [a, b, c, d] = [index(row, col), index(row, col + 1), index(row + 1, col), index(row + 1, col + 1)];
            triangles.extend([[a, b, d], [a, d, c]]);
            triangles.extend([[a, d, b], [a, c, d]].map(|t| t.map(|i| i + under)));
        }
    }
    let mut side = |a: u32, b: u32| triangles.extend([[a + under, b + under, b], [a + under, b, a]]);
    for col in 0..cols.saturating_sub(1) {
        side(index(0, col), index(0, col + 1));
        side(index(rows - 1, col + 1), index(rows - 1, col));
    }
    for row in 0..rows.saturating_sub(1) {
        side(index(row, cols - 1), index(row + 1, cols - 1));
        side(index(row + 1, 0), index(row, 0));
    }
    (vertices, triangles)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A ramp over 2 × 4 m, from 0 to 1 m, on 0.5 m of ground: volume 8 m² · (0.5 + 0.5) m.
    #[test]
    fn a_height_field_is_a_closed_solid() {
        let heights: Vec<f32> = (0..5).flat_map(|_| [0.0, 0.25, 0.5, 0.75, 1.0]).collect();
        let (vertices, triangles) = terrain(5, 5, &[1.0, 2.0, 1.0, 0.5], &heights);
        let mesh = TriMesh::new("ramp", vertices, triangles).unwrap();
        assert_eq!(mesh.check_closed(), Ok(()));
        assert!((mesh.volume_m3() - 8.0).abs() < 1e-12, "{}", mesh.volume_m3());
    }

    #[test]
    fn equal_geoms_share_one_object() {
        let ball = || Matter::Primitive(Primitive::Sphere { radius_m: 0.0123 }).shared("ball").unwrap();
        let first = ball();
        assert!(Arc::ptr_eq(&first, &ball()));
        let other = Matter::Primitive(Primitive::Sphere { radius_m: 0.0124 }).shared("ball").unwrap();
        assert!(!Arc::ptr_eq(&first, &other));
    }
}
