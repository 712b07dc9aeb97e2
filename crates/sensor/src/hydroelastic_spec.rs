//! The description of a hydroelastic skin in a file.

use crate::skin_spec::FullyPressed;
use crate::{AreaFrictionSpec, SensorError, SensorSpec, SkinKind, SurfaceSpec};
use dermis_geometry::quantity::{InverseSpeed, Length, Pressure};
use dermis_geometry::shapes::{self, Fingertip};
use dermis_geometry::tets::{self, DepthTets, TetsError};
use dermis_geometry::{Pose, Surface, TetMesh, TriMesh, Vec3};
use dermis_skin::hydroelastic::{Compliance, Material, TetField};
use dermis_skin::{Hydroelastic, HydroelasticParameters};
use serde::{Deserialize, Serialize};

/// A pressure field in the sensor's body. Over a grid the body is a pad; other surfaces bound the body themselves: a
/// sphere, the phalanx of a finger, a closed mesh.
///
/// A change of the kind of skin alone derives it from springs on a grid: the pad is as thick as the springs are long and, fully
/// pressed, equally stiff (hydroelastic modulus = stiffness per area × thickness); friction is spread over the area of the texels.
/// The damping of the springs does not scale with the load; it has no counterpart and is omitted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
#[allow(clippy::manual_non_exhaustive, reason = "the private field refuses the former name of a key")]
pub struct HydroelasticSpec {
    /// Hydroelastic modulus: the pressure at the deepest point of the body. Not Young's modulus;
    /// `docs/hydroelastic.md` converts it.
    pub hydroelastic_modulus: Pressure,
    /// The former name, whose error names the new one.
    #[serde(default, skip_serializing, deserialize_with = "renamed")]
    #[schemars(skip)]
    modulus: (),
    /// Hunt–Crossley dissipation d.
    #[serde(default = "no_dissipation")]
    pub dissipation: InverseSpeed,
    /// Thickness of the pad over a grid.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thickness: Option<Length>,
    /// Edge of the cells of a curved body; defaults to a sixteenth of its smallest extent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cell: Option<Length>,
    /// Friction, per unit of contact area.
    #[serde(default)]
    pub friction: AreaFrictionSpec,
}

fn renamed<'de, D: serde::Deserializer<'de>>(_: D) -> Result<(), D::Error> {
    Err(serde::de::Error::custom(
        "`modulus` of a hydroelastic skin is called `hydroelastic_modulus`: it is the pressure at the deepest point of the \
         body, not Young's modulus (docs/hydroelastic.md converts)",
    ))
}

fn no_dissipation() -> InverseSpeed {
    InverseSpeed::new(0.0)
}

/// Default number of lattice cells across a curved body's smallest extent.
const CELLS_ACROSS: f64 = 16.0;

impl HydroelasticSpec {
    pub(crate) fn build(&self, sensor: &str, spec: &SurfaceSpec, mesh: &TriMesh) -> Result<Hydroelastic, SensorError> {
        let body = self.tets(sensor, spec, mesh)?;
        let material = Material::linear(self.hydroelastic_modulus.si()).with_dissipation(self.dissipation.si());
        let parameters = HydroelasticParameters { friction: self.friction.build(sensor)?, ..Default::default() };
        Compliance::tets(TetField::new(body), material)
            .and_then(|body| Hydroelastic::with_surface(body, Some(mesh), parameters))
            .map_err(SensorError::skin(sensor))
    }

    fn tets(&self, sensor: &str, spec: &SurfaceSpec, mesh: &TriMesh) -> Result<DepthTets, SensorError> {
        let bad = |error: TetsError| SensorError::Body { sensor: sensor.to_owned(), error };
        let bad_key = |key, rule: &str| SensorError::bad_key(sensor, key, rule);
        let positive = |key, length| SensorError::check_positive(sensor, key, length);
        if let SurfaceSpec::Grid { rows, cols, pitch } = spec {
            if self.cell.is_some() {
                return Err(bad_key("cell", "is for curved bodies; a pad over a grid has `thickness`"));
            }
            let needed = "is needed by a hydroelastic skin over a grid: how thick the pad is, such as \"2 mm\"";
            let thickness = self.thickness.ok_or_else(|| bad_key("thickness", needed))?;
            let [x, y] = [*cols, *rows].map(|count| 0.5 * count as f64 * pitch.si());
            return pad(x, y, positive("thickness", thickness)?).map_err(bad);
        }
        if self.thickness.is_some() {
            return Err(bad_key("thickness", "is for the pad over a grid; a curved body has its own"));
        }
        let cell_m = |across_m: f64| self.cell.map_or(Ok(across_m / CELLS_ACROSS), |cell| positive("cell", cell));
        let on_lattice = |closed: TriMesh| {
            let cell_m = cell_m(closed.bounds().size().min_element())?;
            tets::from_surface(&Surface::new(closed), cell_m).map_err(bad)
        };
        match spec {
            SurfaceSpec::SphericalPatch { radius, .. } => {
                let ball = tets::sphere(radius.si(), cell_m(2.0 * radius.si())?).map_err(bad)?;
                Ok(ball.transformed(&Pose::from_translation(Vec3::NEG_Z * radius.si())))
            }
            SurfaceSpec::Fingertip { length, width, thickness, .. } => {
                let size = Fingertip { length_m: length.si(), width_m: width.si(), thickness_m: thickness.si() };
                let edge_m = cell_m(size.thickness_m.min(size.width_m))?;
                on_lattice(shapes::fingertip(&size, edge_m).map_err(|error| bad(TetsError::Shape(error)))?)
            }
            SurfaceSpec::Grid { .. }
            | SurfaceSpec::Mesh { .. }
            | SurfaceSpec::Points { .. }
            | SurfaceSpec::Urdf { .. } => on_lattice(mesh.clone()),
        }
    }

    /// The pad that replaces springs on a grid.
    pub(crate) fn replacing(spec: &SensorSpec) -> Result<Self, SensorError> {
        let (pressed, springs, texel_m2) = FullyPressed::springs_on_grid(spec, SkinKind::Hydroelastic)?;
        Ok(Self {
            modulus: (),
            hydroelastic_modulus: Pressure::new(pressed.stiffness_pa_per_m * pressed.max_depth_m),
            dissipation: no_dissipation(),
            thickness: Some(Length::new(pressed.max_depth_m)),
            cell: None,
            friction: springs.friction.per_area(texel_m2),
        })
    }
}

/// A pad bonded to its base. The extent is e = −z/thickness in a box, up to its sides, so that p = E × depth/thickness
/// under the whole array and zero beside it.
fn pad(half_x_m: f64, half_y_m: f64, thickness_m: f64) -> Result<DepthTets, TetsError> {
    let corner = |k: u32| {
        let pick = |bit: u32, high: f64, low: f64| if k & bit != 0 { high } else { low };
        Vec3::new(pick(1, half_x_m, -half_x_m), pick(2, half_y_m, -half_y_m), pick(4, 0.0, -thickness_m))
    };
    let vertices: Vec<Vec3> = (0..8).map(corner).collect();
    let extent = vertices.iter().map(|v| if v.z < 0.0 { 1.0 } else { 0.0 }).collect();
    // Six tetrahedra around the diagonal from corner 0 to corner 7.
    let ring = [1, 3, 2, 6, 4, 5];
    let tets = (0..6).map(|k| [0, ring[k], ring[(k + 1) % 6], 7]).collect();
    Ok(DepthTets { mesh: TetMesh::new("pad", vertices, tets)?, extent, depth_m: thickness_m })
}
