//! The description of a gel skin in a file.

use crate::surface::read_mesh;
use crate::{FrictionSpec, LayerSpec, SensorError, SensorSpec, SkinSpec, SurfaceSpec};
use dermis_geometry::files::LengthUnit;
use dermis_geometry::quantity::{Density, Frequency, Length, Pressure, Speed, Time};
use dermis_geometry::shapes::{self, Fingertip};
use dermis_geometry::{Pose, Surface, TriMesh, Vec3};
use dermis_skin::gel::{Face, FixedFaces, TacchiGel, TacchiParameters};
use dermis_skin::{Constitution, Gel, GelParameters};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// A block of gel over a grid of taxels, which measure the stress at its bottom, or a body of gel bounded by another
/// surface and bonded at its lowest plane.
///
/// A change of the kind of skin alone derives it from a layer, with the same thickness and material; springs are first replaced
/// by a layer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GelSpec {
    /// Young's modulus.
    pub young: Pressure,
    /// Poisson's ratio, from 0 to 0.495.
    pub poisson: f64,
    /// Density; defaults to that of silicone.
    #[serde(default = "silicone")]
    pub density: Density,
    /// Constitutive law.
    #[serde(default)]
    pub constitution: Constitution,
    /// Thickness of the block under a grid.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thickness: Option<Length>,
    /// Size of the block along x and y; defaults to that of the grid of taxels.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<[Length; 2]>,
    /// Edge of a cell, which holds eight particles; defaults to a tenth of the thickness.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cell: Option<Length>,
    /// Friction: `none`, `coulomb` (with `mu` only) or `sticking`.
    #[serde(default)]
    pub friction: FrictionSpec,
    /// Faces of the gel's bounding box at which it is fixed.
    #[serde(default = "at_the_bottom")]
    pub bonded: Vec<Face>,
    /// Also fixes the gel inside and near a mesh, such as the bone of a finger.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub held: Option<HeldSpec>,
    /// Damping rate of the gel's motion.
    #[serde(default = "no_damping")]
    pub damping: Frequency,
    /// Factor on the mass while the gel moves; 1 gives the true dynamics.
    #[serde(default = "one")]
    pub mass_scaling: f64,
    /// Uses the solver of Chen et al. 2023, for comparison.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub paper: Option<TacchiSpec>,
}

/// A mesh inside and near which the gel is fixed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HeldSpec {
    /// Mesh file, in the sensor's frame; relative to the folder of the description.
    pub file: PathBuf,
    /// Length unit of the file. Required unless the format defines one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<LengthUnit>,
    /// The gel is fixed inside the mesh and within this distance of its surface.
    pub within: Length,
}

/// Parameters of the method of Chen et al. 2023.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TacchiSpec {
    /// Particles along x, y, z.
    pub particles: [usize; 3],
    /// Edge of the grid.
    pub grid_edge: Length,
    /// Nodes along an edge of the grid.
    pub grid_nodes: usize,
    /// Length of a step.
    pub step: Time,
    /// Speed of the indenter.
    pub speed: Speed,
    /// Number of particles of the indenter.
    pub indenter_particles: usize,
    /// Seed of the positions of these particles.
    #[serde(default)]
    pub seed: u64,
}

fn silicone() -> Density {
    Density::new(1070.0)
}

fn no_damping() -> Frequency {
    Frequency::new(0.0)
}

fn one() -> f64 {
    1.0
}

fn at_the_bottom() -> Vec<Face> {
    vec![Face::Bottom]
}

/// Default number of cells over the thickness.
const CELLS_DEEP: f64 = 10.0;

impl GelSpec {
    pub(crate) fn build(
        &self,
        sensor: &str,
        spec: &SurfaceSpec,
        mesh: &TriMesh,
        folder: Option<&Path>,
    ) -> Result<Gel, SensorError> {
        let bonds = FixedFaces::at(&self.bonded);
        if bonds.is_none() && self.held.is_none() {
            let rule = "must name a face, such as [\"bottom\"], unless `held` holds the gel";
            return Err(SensorError::bad_key(sensor, "bonded", rule));
        }
        let skin = match self.block(sensor, spec)? {
            Some(size_m) => Gel::block(size_m, bonds, self.parameters(sensor, size_m.z)?),
            None => {
                let (body, floor_m) = self.body(spec, mesh)?;
                let thickness_m = body.bounds().max.z - floor_m;
                Gel::solid(&body, floor_m, bonds, self.parameters(sensor, thickness_m)?)
            }
        }
        .map_err(SensorError::skin(sensor))?;
        let Some(held) = &self.held else { return Ok(skin) };
        let bone = Surface::new(read_mesh(&held.file, held.unit, folder)?);
        let within_m = held.within.si();
        skin.fixed_where(|at| bone.nearest(at).distance_m <= within_m).map_err(SensorError::skin(sensor))
    }

    /// The gel with the solver of Chen et al. 2023, if `paper` is given.
    pub(crate) fn build_tacchi(&self, sensor: &str, spec: &SurfaceSpec) -> Result<Option<TacchiGel>, SensorError> {
        let Some(paper) = &self.paper else { return Ok(None) };
        let Some(size_m) = self.block(sensor, spec)? else {
            return Err(SensorError::bad_key(sensor, "paper", "needs a grid: the paper's gel is a block"));
        };
        let parameters = TacchiParameters {
            material: GelParameters {
                cell_m: paper.grid_edge.si() / paper.grid_nodes.max(1) as f64,
                ..self.parameters(sensor, size_m.z)?
            },
            size_m,
            particles: paper.particles,
            grid_edge_m: paper.grid_edge.si(),
            grid_nodes: paper.grid_nodes,
            step_s: paper.step.si(),
            speed_m_per_s: paper.speed.si(),
            indenter_particles: paper.indenter_particles,
            seed: paper.seed,
        };
        TacchiGel::new(parameters).map(Some).map_err(SensorError::skin(sensor))
    }

    /// Size of the block under a grid (m); `None` for other surfaces.
    fn block(&self, sensor: &str, spec: &SurfaceSpec) -> Result<Option<Vec3>, SensorError> {
        let SurfaceSpec::Grid { rows, cols, pitch } = spec else {
            return match (self.thickness, self.size) {
                (None, None) => Ok(None),
                (Some(_), _) => {
                    Err(SensorError::bad_key(sensor, "thickness", "is for the block under a grid; a body has its own"))
                }
                (None, Some(_)) => {
                    Err(SensorError::bad_key(sensor, "size", "is for the block under a grid; a body has its own"))
                }
            };
        };
        let own = [*cols, *rows].map(|count| count as f64 * pitch.si());
        let [x, y] = self.size.map_or(own, |size| size.map(Length::si));
        match self.thickness {
            Some(thickness) => Ok(Some(Vec3::new(x, y, thickness.si()))),
            None => Err(SensorError::bad_key(sensor, "thickness", "is needed by a gel under a grid, such as \"4 mm\"")),
        }
    }

    /// The closed body bounded by a surface other than a grid, and the height (m) at which it is bonded: the rim of a
    /// cap, the bone in the middle of a fingertip, the lowest plane of a mesh.
    fn body(&self, spec: &SurfaceSpec, mesh: &TriMesh) -> Result<(TriMesh, f64), SensorError> {
        match spec {
            SurfaceSpec::SphericalPatch { radius, half_angle, .. } => {
                let edge_m = self.cell.map_or(radius.si() / 16.0, Length::si);
                let ball = shapes::sphere(radius.si(), edge_m).map_err(SensorError::Shape)?;
                let rim_m = radius.si() * (half_angle.si().min(std::f64::consts::FRAC_PI_2).cos() - 1.0);
                Ok((ball.transformed(&Pose::from_translation(Vec3::NEG_Z * radius.si())), rim_m))
            }
            SurfaceSpec::Fingertip { length, width, thickness, spacing } => {
                let size = Fingertip { length_m: length.si(), width_m: width.si(), thickness_m: thickness.si() };
                let body = shapes::fingertip(&size, spacing.si()).map_err(SensorError::Shape)?;
                Ok((body, -0.5 * size.thickness_m))
            }
            SurfaceSpec::Grid { .. }
            | SurfaceSpec::Mesh { .. }
            | SurfaceSpec::Points { .. }
            | SurfaceSpec::Urdf { .. } => Ok((mesh.clone(), mesh.bounds().min.z)),
        }
    }

    /// Edge of a cell (m) in a gel of the given thickness (m).
    pub fn cell_m(&self, thickness_m: f64) -> f64 {
        self.cell.map_or(thickness_m / CELLS_DEEP, Length::si)
    }

    /// Parameters of a gel of the given thickness (m). Errors name `sensor`.
    pub fn parameters(&self, sensor: &str, thickness_m: f64) -> Result<GelParameters, SensorError> {
        Ok(GelParameters {
            young_pa: self.young.si(),
            poisson: self.poisson,
            density_kg_per_m3: self.density.si(),
            constitution: self.constitution,
            cell_m: self.cell_m(thickness_m),
            friction: self.friction.build_gel(sensor)?,
            damping_per_s: self.damping.si(),
            mass_scaling: self.mass_scaling,
        })
    }

    /// The gel that replaces a layer, or the layer that replaces springs.
    pub(crate) fn replacing(spec: &SensorSpec) -> Result<Self, SensorError> {
        let refused = |rule| SensorError::bad_key(&spec.name, "kind", rule);
        let layer = match &spec.skin {
            SkinSpec::Layer(layer) => layer.clone(),
            SkinSpec::Springs(_) => LayerSpec::replacing(spec)?,
            _ => {
                return Err(refused(
                    "= \"gel\" can replace a layer, or springs on a grid; describe the skin in a file",
                ));
            }
        };
        if layer.coating.is_some() {
            let rule = "= \"gel\" cannot replace a coated layer: a gel is of one material; describe it in a file";
            return Err(refused(rule));
        }
        let friction = match layer.mu > 0.0 {
            true => FrictionSpec::Coulomb { mu: layer.mu, regularisation_speed: None },
            false => FrictionSpec::None,
        };
        Ok(Self {
            young: layer.young,
            poisson: layer.poisson.unwrap_or(NEARLY_INCOMPRESSIBLE).min(NEARLY_INCOMPRESSIBLE),
            density: silicone(),
            constitution: Constitution::default(),
            thickness: Some(layer.thickness),
            size: layer.size,
            cell: None,
            friction,
            bonded: at_the_bottom(),
            held: None,
            damping: no_damping(),
            mass_scaling: 1.0,
            paper: None,
        })
    }
}

/// ν of a gel that replaces an incompressible layer.
const NEARLY_INCOMPRESSIBLE: f64 = 0.49;
