//! Builds the surfaces of geoms.

use crate::CouplingError;
use crate::layout::table;
use crate::model::Model;
use dermis_geometry::limits::check_mesh;
use dermis_geometry::shapes::{ShapeError, check_heights, terrain};
use dermis_geometry::{Pose, Primitive, TriMesh, Vec3};
use dermis_skin::Object;
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// Half extent (m) of the finite box that represents a plane; MuJoCo's planes are infinite.
const PLANE_HALF_M: f64 = 1e3;
/// Thickness (m) of that box.
const PLANE_DEPTH_M: f64 = 1.0;
/// Longest triangle edge of a round shape's mesh, as a fraction of its size.
const EDGE_OF_SIZE: f64 = 1.0 / 40.0;

/// The surface of a geom.
#[derive(Clone, Debug)]
pub struct Shape {
    /// The surface.
    pub object: Arc<Object>,
    /// Pose of the surface's frame in the geom's frame.
    pub geom_from_object: Pose,
}

/// The geometry of a geom. Geoms with equal geometry share one surface.
#[derive(PartialEq)]
enum Geometry<'a> {
    Primitive(Primitive),
    Mesh { vertices: &'a [f32], triangles: &'a [i32] },
    HeightField { rows: usize, cols: usize, size_m: [f64; 4], heights: &'a [f32] },
}

static BUILT: Mutex<Option<HashMap<[u64; 2], Weak<Object>>>> = Mutex::new(None);

impl Shape {
    /// Builds the surface of a geom.
    pub fn of(model: &Model<'_>, geom: usize) -> Result<Self, CouplingError> {
        let size = model.geom_size(geom);
        let bad = |reason: String| CouplingError::BadGeom { geom: model.geom_name(geom), reason };
        let data = || model.geom_data(geom).ok_or_else(|| bad("it has no mesh or height field".into()));
        let mut geom_from_object = Pose::IDENTITY;
        let geometry = match model.geom_type(geom) {
            table::GEOM_SPHERE => Geometry::Primitive(Primitive::Sphere { radius_m: size.x }),
            table::GEOM_ELLIPSOID => Geometry::Primitive(Primitive::Ellipsoid { semi_axes_m: size }),
            table::GEOM_BOX => Geometry::Primitive(Primitive::Cuboid { half_m: size }),
            table::GEOM_CYLINDER => {
                Geometry::Primitive(Primitive::Cylinder { radius_m: size.x, half_length_m: size.y })
            }
            table::GEOM_CAPSULE => Geometry::Primitive(Primitive::Capsule { radius_m: size.x, half_length_m: size.y }),
            table::GEOM_PLANE => {
                geom_from_object.translation.z = -0.5 * PLANE_DEPTH_M;
                let half_m = Vec3::new(PLANE_HALF_M, PLANE_HALF_M, 0.5 * PLANE_DEPTH_M);
                Geometry::Primitive(Primitive::Cuboid { half_m })
            }
            table::GEOM_MESH | table::GEOM_SDF => {
                let (vertices, triangles) = model.mesh(data()?);
                Geometry::Mesh { vertices, triangles }
            }
            table::GEOM_HFIELD => {
                let (rows, cols, size_m, heights) = model.height_field(data()?);
                Geometry::HeightField { rows, cols, size_m, heights }
            }
            other => return Err(bad(format!("its type {other} has no surface of its own"))),
        };
        Ok(Self { object: geometry.shared(&model.geom_name(geom))?, geom_from_object })
    }
}

impl Geometry<'_> {
    /// The surface; reuses an equal surface that is in use by other mjData, sensors or models.
    fn shared(&self, name: &str) -> Result<Arc<Object>, CouplingError> {
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

    fn build(&self, name: &str) -> Result<Object, CouplingError> {
        let object = match self {
            Self::Primitive(primitive) => {
                let edge_m = primitive.bounds().size().max_element() * EDGE_OF_SIZE;
                Object::of_primitive(*primitive, edge_m)
            }
            Self::Mesh { vertices, triangles } => {
                check_mesh(vertices.len() / 3, triangles.len() / 3)
                    .map_err(|error| CouplingError::bad_geom(name, error))?;
                let vertices = vertices.chunks_exact(3).map(|v| Vec3::from_array([v[0], v[1], v[2]].map(f64::from)));
                let triangles = triangles.chunks_exact(3).map(|t| [t[0] as u32, t[1] as u32, t[2] as u32]);
                TriMesh::without_degenerates(name, vertices.collect(), triangles.collect())
                    .map(Object::new)
                    .map_err(ShapeError::from)
            }
            Self::HeightField { rows, cols, size_m: [x, y, top, bottom], heights } => {
                // MuJoCo's row 0 is at −y, and its heights are fractions of the largest height.
                check_heights(*rows, *cols).map_err(|error| CouplingError::bad_geom(name, error))?;
                let heights: Vec<f64> = heights.chunks(*cols).rev().flatten().map(|&h| top * f64::from(h)).collect();
                terrain(*rows, *cols, [2.0 * x, 2.0 * y], *bottom, &heights).map(Object::new)
            }
        };
        object.map_err(|error| CouplingError::bad_geom(name, error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_geoms_share_one_object() {
        let ball = || Geometry::Primitive(Primitive::Sphere { radius_m: 0.0123 }).shared("ball").unwrap();
        let first = ball();
        assert!(Arc::ptr_eq(&first, &ball()));
        let other = Geometry::Primitive(Primitive::Sphere { radius_m: 0.0124 }).shared("ball").unwrap();
        assert!(!Arc::ptr_eq(&first, &other));
    }
}
