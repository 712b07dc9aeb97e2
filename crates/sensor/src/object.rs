//! Objects that touch a sensor, as described in a scene or a flag.

mod flag;
mod roughness;

pub use roughness::RoughnessSpec;

use dermis_geometry::files::{FileError, Format, Import, LengthUnit, read, read_points};
use dermis_geometry::quantity::Length;
use dermis_geometry::shapes::{self, Fingertip, ShapeError};
use dermis_geometry::{Primitive, RoughnessError, TriMesh, Vec3};
use dermis_skin::Object;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// Errors of an object.
#[derive(Clone, Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the message of each variant names its fields")]
pub enum ObjectError {
    /// An unknown shape.
    #[error(
        "there is no shape {name:?}; the shapes are {known}, or give points:FILE, or the path of a mesh file ({}){meant}",
        Format::extension_list()
    )]
    Unknown { name: String, meant: String, known: String },
    /// A key that the shape does not have.
    #[error("object {given:?}: {shape} has no `{key}`; it has {known}{meant}")]
    UnknownKey { given: String, shape: &'static str, key: String, meant: String, known: String },
    /// A value that is invalid for its key.
    #[error("object {given:?}: `{key}` of {shape}: {reason}; write for example {example:?}")]
    BadValue { given: String, shape: &'static str, key: String, reason: String, example: String },
    /// A length unit for a shape, whose sizes have theirs.
    #[error(
        "object {given:?}: a unit belongs to a file, and the sizes of a shape carry their own, as in {example:?}; leave out the unit"
    )]
    UnitOfShape { given: String, example: String },
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

/// Largest deviation (m) of the facets of a generated mesh from the shape it stands for, where no `edge` is given.
const MAX_DEVIATION_M: f64 = 4e-6;

/// The surface of an object. Spheres, ellipsoids, cuboids, cylinders and capsules are exact in contact. Round shapes take
/// an `edge`, the longest edge of their triangles: of an exact shape for drawing only (default: a fortieth of its size), of
/// others and of rough ones for contact (default: fine enough that facets deviate by at most 4 µm).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(remote = "Self", rename_all = "kebab-case", deny_unknown_fields)]
pub enum ObjectSpec {
    /// A sphere centred at the origin.
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

crate::through_value::deserialize_through_value!(ObjectSpec);

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

    /// The exact shape, if it has one.
    pub fn primitive(&self) -> Option<Primitive> {
        Some(match *self {
            Self::Sphere { radius, .. } => Primitive::Sphere { radius_m: radius.si() },
            Self::Ellipsoid { ref semi_axes, .. } => Primitive::Ellipsoid { semi_axes_m: vector(semi_axes) },
            Self::Cuboid { ref size } => Primitive::Cuboid { half_m: vector(size) * 0.5 },
            Self::Cylinder { radius, length, .. } => {
                Primitive::Cylinder { radius_m: radius.si(), half_length_m: 0.5 * length.si() }
            }
            Self::Capsule { radius, length, .. } => {
                Primitive::Capsule { radius_m: radius.si(), half_length_m: 0.5 * length.si() }
            }
            _ => return None,
        })
    }

    /// The given `edge` (m).
    pub fn edge_m(&self) -> Option<f64> {
        match self {
            Self::Sphere { edge, .. }
            | Self::Ellipsoid { edge, .. }
            | Self::Cylinder { edge, .. }
            | Self::Capsule { edge, .. }
            | Self::Cone { edge, .. }
            | Self::Torus { edge, .. }
            | Self::SprayBottle { edge }
            | Self::Fingertip { edge } => edge.map(Length::si),
            Self::Cuboid { .. }
            | Self::Prism { .. }
            | Self::Indenter { .. }
            | Self::Mesh { .. }
            | Self::Points { .. } => None,
        }
    }

    /// Makes the mesh. Relative mesh files are resolved against `folder`.
    pub fn build(&self, folder: Option<&Path>) -> Result<TriMesh, ObjectError> {
        // An invalid size is reported by the generator as a size, not as an edge.
        let edge = |size_m: f64, radius_m: f64| match self.edge_m() {
            Some(edge_m) => edge_m,
            None if size_m > 0.0 && size_m.is_finite() && radius_m > 0.0 => {
                (size_m / 40.0).min((8.0 * radius_m * MAX_DEVIATION_M).sqrt())
            }
            None => 1e-3,
        };
        let mesh = match self {
            Self::Sphere { .. }
            | Self::Ellipsoid { .. }
            | Self::Cuboid { .. }
            | Self::Cylinder { .. }
            | Self::Capsule { .. } => {
                let Some(primitive) = self.primitive() else { unreachable!("these shapes are primitives") };
                let size = primitive.bounds().size();
                primitive.mesh(edge(size.max_element(), 0.5 * size.min_element()))
            }
            Self::Cone { radius, height, .. } => {
                shapes::cone(radius.si(), height.si(), edge(height.si().max(2.0 * radius.si()), radius.si()))
            }
            Self::Torus { major, minor, .. } => {
                shapes::torus(major.si(), minor.si(), edge(major.si() + minor.si(), minor.si()))
            }
            Self::Prism { sides, radius, length } => shapes::prism(*sides, radius.si(), length.si()),
            Self::SprayBottle { .. } => shapes::spray_bottle(edge(0.16, 0.5)),
            // The pad of a finger.
            Self::Fingertip { .. } => shapes::fingertip(&Fingertip::default(), edge(0.025, 0.008)),
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

    /// Makes the object, with roughness if given. This is the one way by which the command line, scenes, datasets, Python
    /// and the page make objects.
    pub fn object(&self, folder: Option<&Path>, roughness: Option<&RoughnessSpec>) -> Result<Object, ObjectError> {
        match (self, self.primitive(), roughness) {
            (Self::Points { file, unit, radius }, _, None) => points(folder, file, *unit, *radius),
            (Self::Points { .. }, _, Some(_)) => Err(ObjectError::RoughPoints),
            (_, Some(primitive), None) => {
                Ok(Object::of_primitive(primitive, self.edge_m().unwrap_or(primitive.default_edge_m()))?)
            }
            (_, _, Some(roughness)) => Ok(Object::new(roughness.apply(self, &self.build(folder)?)?)),
            _ => Ok(Object::new(self.build(folder)?)),
        }
    }
}

fn points(folder: Option<&Path>, file: &Path, unit: LengthUnit, radius: Length) -> Result<Object, ObjectError> {
    let path = folder.map_or_else(|| file.to_owned(), |folder| folder.join(file));
    Ok(Object::of_points(read_points(&path, unit)?, radius.si())?)
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
    fn a_shape_survives_being_written_and_read() {
        let spec = ObjectSpec::parse_flag("prism:sides=5,radius=8mm,length=3cm", None).unwrap();
        let text = serde_json::to_string(&spec).unwrap();
        assert_eq!(text, r#"{"prism":{"sides":5,"radius":"8 mm","length":"30 mm"}}"#);
        assert_eq!(serde_json::from_str::<ObjectSpec>(&text).unwrap(), spec);
    }
}
