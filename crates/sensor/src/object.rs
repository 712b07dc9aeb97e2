//! Objects that touch a sensor, as described in a scene or a flag.

mod flag;
mod roughness;

pub use roughness::RoughnessSpec;

use dermis_geometry::files::{FileError, Format, Import, LengthUnit, read, read_points};
use dermis_geometry::quantity::Length;
use dermis_geometry::shapes::{self, Fingertip, ShapeError};
use dermis_geometry::{Pose, Quat, RoughnessError, TriMesh, Vec3};
use dermis_skin::Object;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// Errors of an object.
#[derive(Clone, Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the message of each variant names its fields")]
pub enum ObjectError {
    /// An unknown shape.
    #[error(
        "there is no shape {name:?}; the shapes are {known}, or give points:FILE, or the path of a mesh file ({})",
        Format::extension_list()
    )]
    Unknown { name: String, known: String },
    /// A key that the shape does not have.
    #[error("object {given:?}: {shape} has no `{key}`; it has {known}")]
    UnknownKey { given: String, shape: &'static str, key: String, known: String },
    /// A value that is invalid for its key.
    #[error("object {given:?}: `{key}` of {shape}: {reason}; write for example {example:?}")]
    BadValue { given: String, shape: &'static str, key: String, reason: String, example: String },
    /// An error of the shape generator.
    #[error(transparent)]
    Shape(#[from] ShapeError),
    /// Invalid roughness.
    #[error(transparent)]
    Rough(#[from] RoughnessError),
    /// An error of the mesh file.
    #[error(transparent)]
    File(#[from] FileError),
    /// A cloud without a file, a unit or a radius.
    #[error("object {given:?}: points need {what}; write for example \"points:scan.xyz,radius=0.2mm\" and `--unit mm`")]
    Points { given: String, what: String },
    /// Roughness for a point cloud, which has no surface.
    #[error("points have no smooth surface to roughen: leave out `roughness`")]
    RoughPoints,
}

/// The surface of an object. Round shapes take an `edge`, the longest edge of their triangles; it defaults to a
/// fortieth of their size.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum ObjectSpec {
    /// A sphere centred at the origin; its mesh is rotated to rest on a face.
    Sphere {
        /// Radius.
        radius: Length,
        /// Longest edge.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        edge: Option<Length>,
    },
    /// An ellipsoid centred at the origin.
    Ellipsoid {
        /// Half the extent along x, y and z.
        semi_axes: [Length; 3],
        /// Longest edge.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        edge: Option<Length>,
    },
    /// A box centred at the origin.
    Cuboid {
        /// Extent along x, y and z.
        size: [Length; 3],
    },
    /// A cylinder along z, centred at the origin.
    Cylinder {
        /// Radius.
        radius: Length,
        /// Length along z.
        length: Length,
        /// Longest edge.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        edge: Option<Length>,
    },
    /// A cylinder along z with round ends, centred at the origin.
    Capsule {
        /// Radius.
        radius: Length,
        /// Length of the straight part.
        length: Length,
        /// Longest edge.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        edge: Option<Length>,
    },
    /// A cone with its base at the origin and its tip along +z.
    Cone {
        /// Radius of the base.
        radius: Length,
        /// Distance from base to tip.
        height: Length,
        /// Longest edge.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        edge: Option<Length>,
    },
    /// A ring about z.
    Torus {
        /// Distance from the axis to the centre of the tube.
        major: Length,
        /// Radius of the tube.
        minor: Length,
        /// Longest edge.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        edge: Option<Length>,
    },
    /// A regular prism along z, centred at the origin.
    Prism {
        /// Number of sides.
        sides: usize,
        /// Distance from the axis to the corners.
        radius: Length,
        /// Length along z.
        length: Length,
    },
    /// A trigger spray bottle, 250 mm tall, standing on z = 0.
    SprayBottle {
        /// Longest edge.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        edge: Option<Length>,
    },
    /// The last phalanx of an adult's index finger, its pad towards +z.
    Fingertip {
        /// Longest edge.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        edge: Option<Length>,
    },
    /// One of the indenters for optical gels ([`shapes::indenters`]), with its tip at the origin, pressed along −z.
    Indenter {
        /// Name of the indenter, such as `moon`.
        name: String,
    },
    /// A mesh file.
    Mesh {
        /// Mesh file; relative to the folder of the description.
        file: PathBuf,
        /// Length unit of the file. Required unless the format defines one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        unit: Option<LengthUnit>,
        /// Drops triangles without area instead of returning an error.
        #[serde(default)]
        repair: bool,
    },
    /// A cloud of points, each a ball. A gel is in contact with the balls, other skins with octahedra inscribed in
    /// them.
    Points {
        /// The file (`.xyz .txt .ply`); relative to the folder of the description.
        file: PathBuf,
        /// Length unit of the file.
        unit: LengthUnit,
        /// Radius of the balls: at least the spacing of the points, for a surface without holes.
        radius: Length,
    },
}

impl ObjectSpec {
    /// Name of the shape in files and flags.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Sphere { .. } => "sphere",
            Self::Ellipsoid { .. } => "ellipsoid",
            Self::Cuboid { .. } => "cuboid",
            Self::Cylinder { .. } => "cylinder",
            Self::Capsule { .. } => "capsule",
            Self::Cone { .. } => "cone",
            Self::Torus { .. } => "torus",
            Self::Prism { .. } => "prism",
            Self::SprayBottle { .. } => "spray-bottle",
            Self::Fingertip { .. } => "fingertip",
            Self::Indenter { .. } => "indenter",
            Self::Mesh { .. } => "mesh",
            Self::Points { .. } => "points",
        }
    }

    /// Parses a flag: a shape with its sizes (`sphere:radius=10mm`, `cuboid:size=20mm,20mm,10mm`), a shape alone
    /// (`sphere`: missing sizes default to about 10 mm), an indenter (`indenter:moon`), a cloud of points
    /// (`points:scan.xyz,radius=0.2mm`), or the path of a mesh file.
    pub fn parse_flag(text: &str, unit: Option<LengthUnit>) -> Result<Self, ObjectError> {
        flag::parse(text, unit)
    }

    /// Makes the mesh. Relative mesh files are resolved against `folder`.
    pub fn build(&self, folder: Option<&Path>) -> Result<TriMesh, ObjectError> {
        // A fortieth of the size. An invalid size is reported by the generator as a size, not as an edge.
        let edge = |edge: &Option<Length>, size_m: f64| match edge {
            Some(edge) => edge.si(),
            None if size_m > 0.0 && size_m.is_finite() => size_m / 40.0,
            None => 1e-3,
        };
        let mesh = match self {
            Self::Sphere { radius, edge: e } => shapes::sphere(radius.si(), edge(e, 2.0 * radius.si())).map(standing),
            Self::Ellipsoid { semi_axes, edge: e } => {
                let axes = vector(semi_axes);
                shapes::ellipsoid(axes, edge(e, 2.0 * axes.max_element()))
            }
            Self::Cuboid { size } => shapes::cuboid(vector(size)),
            Self::Cylinder { radius, length, edge: e } => {
                shapes::cylinder(radius.si(), length.si(), edge(e, length.si().max(2.0 * radius.si())))
            }
            Self::Capsule { radius, length, edge: e } => {
                shapes::capsule(radius.si(), length.si(), edge(e, length.si() + 2.0 * radius.si()))
            }
            Self::Cone { radius, height, edge: e } => {
                shapes::cone(radius.si(), height.si(), edge(e, height.si().max(2.0 * radius.si())))
            }
            Self::Torus { major, minor, edge: e } => {
                shapes::torus(major.si(), minor.si(), edge(e, major.si() + minor.si()))
            }
            Self::Prism { sides, radius, length } => shapes::prism(*sides, radius.si(), length.si()),
            Self::SprayBottle { edge: e } => shapes::spray_bottle(edge(e, 0.16)),
            Self::Fingertip { edge: e } => shapes::fingertip(&Fingertip::default(), edge(e, 0.025)),
            Self::Indenter { name } => return Ok(shapes::indenters::find(name)?),
            Self::Mesh { file, unit, repair } => {
                let path = folder.map_or_else(|| file.clone(), |folder| folder.join(file));
                return Ok(read(&path, &Import { unit: *unit, drop_degenerate: *repair, ..Import::default() })?);
            }
            Self::Points { file, unit, radius } => {
                return Ok(points(folder, file, *unit, *radius)?.surface.mesh().clone());
            }
        }?;
        Ok(mesh.named(self.kind()))
    }
}

impl ObjectSpec {
    /// Makes the mesh, with roughness if given.
    pub fn build_rough(
        &self,
        folder: Option<&Path>,
        roughness: Option<&RoughnessSpec>,
    ) -> Result<TriMesh, ObjectError> {
        let mesh = self.build(folder)?;
        roughness.map_or(Ok(mesh.clone()), |roughness| roughness.apply(self, &mesh))
    }
}

impl ObjectSpec {
    /// Makes the object, with roughness if given.
    pub fn object(&self, folder: Option<&Path>, roughness: Option<&RoughnessSpec>) -> Result<Object, ObjectError> {
        match (self, roughness) {
            (Self::Points { file, unit, radius }, None) => points(folder, file, *unit, *radius),
            (Self::Points { .. }, Some(_)) => Err(ObjectError::RoughPoints),
            _ => Ok(Object::new(self.build_rough(folder, roughness)?)),
        }
    }
}

fn points(folder: Option<&Path>, file: &Path, unit: LengthUnit, radius: Length) -> Result<Object, ObjectError> {
    let path = folder.map_or_else(|| file.to_owned(), |folder| folder.join(file));
    Ok(Object::of_points(read_points(&path, unit)?, radius.si())?)
}

/// Rotates a ball so that a face is lowest: a faceted ball that starts on a corner rolls away.
fn standing(ball: TriMesh) -> TriMesh {
    let normals = (0..ball.triangles().len()).map(|triangle| ball.face_normal(triangle));
    let lowest = normals.min_by(|a, b| a.z.total_cmp(&b.z)).unwrap_or(Vec3::NEG_Z);
    ball.transformed(&Pose::from_rotation(Quat::from_rotation_arc(lowest, Vec3::NEG_Z)))
}

fn vector(lengths: &[Length; 3]) -> Vec3 {
    Vec3::from_array(lengths.map(Length::si))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shape_has_a_default_that_is_closed() {
        for name in flag::names() {
            let spec = ObjectSpec::parse_flag(name, None).unwrap();
            assert_eq!(spec.kind(), name);
            let mesh = spec.build(None).unwrap();
            assert_eq!(mesh.check_closed(), Ok(()), "{name}");
            assert!((400..200_000).contains(&mesh.triangles().len()) || ["cuboid", "prism"].contains(&name), "{name}");
        }
    }

    #[test]
    fn indenters_go_by_name() {
        let moon = ObjectSpec::parse_flag("indenter:moon", None).unwrap();
        assert_eq!(moon, ObjectSpec::Indenter { name: "moon".into() });
        assert_eq!(moon.build(None).unwrap(), shapes::indenters::find("moon").unwrap());
        let message = ObjectSpec::parse_flag("indenter:mooon", None).unwrap_err().to_string();
        assert!(message.contains("\"mooon\"") && message.contains("pacman"), "{message}");
    }

    #[test]
    fn points_come_from_a_file_with_unit_and_radius() {
        let spec = ObjectSpec::parse_flag("points:scans/a.xyz,radius=0.2mm", Some(LengthUnit::Millimetre)).unwrap();
        let radius = Length::new(0.2e-3);
        let file = "scans/a.xyz".into();
        assert_eq!(spec, ObjectSpec::Points { file, unit: LengthUnit::Millimetre, radius });
        let message = |text: &str, unit| ObjectSpec::parse_flag(text, unit).unwrap_err().to_string();
        assert!(message("points:scans/a.xyz,radius=0.2mm", None).contains("`--unit`"));
        assert!(message("points:scans/a.xyz", Some(LengthUnit::Millimetre)).contains("a `radius`"));
        assert!(message("points:radius=1mm", Some(LengthUnit::Millimetre)).contains("a file"));
        assert!(message("points:a.xyz,radius=1", Some(LengthUnit::Millimetre)).contains("unit"));
        let folder = std::env::temp_dir().join(format!("dermis-points-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("a.xyz"), "# two points\n1 2 3 0 0 1\n4,5,6\n\n").unwrap();
        let spec = ObjectSpec::Points { file: "a.xyz".into(), unit: LengthUnit::Millimetre, radius };
        let object = spec.object(Some(&folder), None).unwrap();
        assert!((object.surface.nearest(Vec3::new(1e-3, 2e-3, 4e-3)).distance_m - 0.8e-3).abs() < 1e-15);
        assert_eq!(spec.build(Some(&folder)).unwrap().triangles().len(), 16);
        std::fs::write(folder.join("a.xyz"), "1 2 3\n4 five 6\n").unwrap();
        let message = spec.object(Some(&folder), None).unwrap_err().to_string();
        std::fs::remove_dir_all(&folder).unwrap();
        assert!(message.contains("a.xyz") && message.contains('2') && message.contains("five"), "{message}");
    }

    #[test]
    fn a_ball_stands_on_a_face() {
        let ball = ObjectSpec::parse_flag("sphere", None).unwrap().build(None).unwrap();
        let lowest = ball.bounds().min.z;
        let count = ball.vertices().iter().filter(|vertex| vertex.z < lowest + 1e-12).count();
        assert_eq!(count, 3);
        assert!((lowest + 0.01).abs() < 2e-5, "{lowest}");
    }

    #[test]
    fn a_shape_survives_being_written_and_read() {
        let spec = ObjectSpec::parse_flag("prism:sides=5,radius=8mm,length=3cm", None).unwrap();
        let text = serde_json::to_string(&spec).unwrap();
        assert_eq!(text, r#"{"prism":{"sides":5,"radius":"8 mm","length":"30 mm"}}"#);
        assert_eq!(serde_json::from_str::<ObjectSpec>(&text).unwrap(), spec);
    }
}
