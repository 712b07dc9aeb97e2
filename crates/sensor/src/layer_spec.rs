//! The description of a layer skin in a file.

use crate::skin_spec::FullyPressed;
use crate::{GelSpec, SensorError, SensorSpec, SkinKind, SkinSpec, SurfaceSpec};
use dermis_geometry::quantity::{Length, Pressure, Time};
use dermis_skin::gel::Face;
use dermis_skin::layer::{Branch, LayerContact, Ply, Poisson};
use dermis_skin::{Layer, LayerParameters};
use serde::{Deserialize, Serialize};

/// A flat elastic layer bonded to a rigid base, under a grid of taxels.
///
/// A change of the kind of skin alone derives it from springs on a grid: with the stiffness of the springs when all of it is
/// pressed, M/h = stiffness per area, and their maximum depth. Poisson's ratio is 0.2; friction
/// uses the static coefficient of the springs. From a block of gel that is bonded at its bottom it takes size, thickness,
/// material and friction; its cell is the default, because a layer resolves finer cells in less time. The layer is
/// linear: deep presses need less force than in the gel.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LayerSpec {
    /// Thickness, excluding the coating.
    pub thickness: Length,
    /// Young's modulus at rest.
    pub young: Pressure,
    /// Poisson's ratio, below 0.5. Give this or `incompressible`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub poisson: Option<f64>,
    /// Incompressible: Poisson's ratio is 0.5.
    #[serde(default, skip_serializing_if = "is_false")]
    pub incompressible: bool,
    /// Edge of a cell; defaults to a 128th of the longer side.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cell: Option<Length>,
    /// Size along x and y; defaults to that of the grid of taxels.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<[Length; 2]>,
    /// Ply on top of the layer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub coating: Option<CoatingSpec>,
    /// Coefficient of friction; defaults to 0.
    #[serde(default)]
    pub mu: f64,
    /// Relaxation spectrum of the stiffness.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub relaxation: Vec<BranchSpec>,
    /// Depth of the taxels below the surface; defaults to the base.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sense_depth: Option<Length>,
}

/// A ply on top of a layer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CoatingSpec {
    /// Thickness.
    pub thickness: Length,
    /// Young's modulus at rest.
    pub young: Pressure,
    /// Poisson's ratio, below 0.5. Give this or `incompressible`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub poisson: Option<f64>,
    /// Incompressible: Poisson's ratio is 0.5.
    #[serde(default, skip_serializing_if = "is_false")]
    pub incompressible: bool,
}

/// A branch of a relaxation spectrum: after a sudden press the stiffness is 1 + Σ ratio e^(−t/time) of that at rest.
///
/// Within a step of dt the deformation grows evenly from that of the step before, so a press in one step has 1 + Σ ratio (1 − e^(−dt/time)) time/dt of the force at rest: take a first step much shorter than `time` for a sudden press.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BranchSpec {
    /// Stiffness of the branch, divided by the stiffness at rest.
    pub ratio: f64,
    /// Relaxation time of the branch.
    pub time: Time,
}

fn is_false(value: &bool) -> bool {
    !value
}

/// Default number of cells along the longer side.
const CELLS: f64 = 128.0;

impl LayerSpec {
    pub(crate) fn build(&self, sensor: &str, surface: &SurfaceSpec) -> Result<Layer, SensorError> {
        Layer::new(self.parameters(sensor, surface)?).map_err(SensorError::skin(sensor))
    }

    /// Parameters of the layer on a surface, which must be a grid.
    pub fn parameters(&self, sensor: &str, surface: &SurfaceSpec) -> Result<LayerParameters, SensorError> {
        let SurfaceSpec::Grid { rows, cols, pitch } = surface else {
            return Err(SensorError::bad_key(sensor, "surface", "must be a grid under a layer, which is flat"));
        };
        let own = [*cols, *rows].map(|count| count as f64 * pitch.si());
        let size_m = self.size.map_or(own, |size| size.map(Length::si));
        let cell_m = self.cell.map_or(size_m[0].max(size_m[1]) / CELLS, Length::si);
        let poisson = |ratio, incompressible| poisson(sensor, ratio, incompressible);
        let mut plies = Vec::new();
        if let Some(coating) = &self.coating {
            plies.push(Ply {
                thickness_m: coating.thickness.si(),
                young_pa: coating.young.si(),
                poisson: poisson(coating.poisson, coating.incompressible)?,
            });
        }
        let ply = Ply {
            thickness_m: self.thickness.si(),
            young_pa: self.young.si(),
            poisson: poisson(self.poisson, self.incompressible)?,
        };
        plies.push(ply);
        let branch = |branch: &BranchSpec| Branch { ratio: branch.ratio, time_s: branch.time.si() };
        Ok(LayerParameters {
            plies,
            contact: LayerContact { mu: self.mu, ..LayerContact::FRICTIONLESS },
            relaxation: self.relaxation.iter().map(branch).collect(),
            sense_depth_m: self.sense_depth.map(Length::si),
            ..LayerParameters::new(ply, size_m, cell_m)
        })
    }
}

fn poisson(sensor: &str, ratio: Option<f64>, incompressible: bool) -> Result<Poisson, SensorError> {
    match (ratio, incompressible) {
        (Some(ratio), false) => Ok(Poisson::Ratio(ratio)),
        (None, true) => Ok(Poisson::Incompressible),
        (given, _) => Err(SensorError::OneOf {
            sensor: sensor.to_owned(),
            keys: "`poisson`, `incompressible = true`",
            found: if given.is_some() { 2 } else { 0 },
        }),
    }
}

/// Poisson's ratio assumed for a foam.
const FOAM_POISSON: f64 = 0.2;

impl LayerSpec {
    /// The layer that replaces springs on a grid, or a block of gel.
    pub(crate) fn replacing(spec: &SensorSpec) -> Result<Self, SensorError> {
        if let SkinSpec::Gel(gel) = &spec.skin {
            return Self::replacing_gel(spec, gel);
        }
        let (pressed, springs, _) = FullyPressed::springs_on_grid(spec, SkinKind::Layer)?;
        let thickness_m = pressed.max_depth_m / 0.8;
        let nu = FOAM_POISSON;
        let confined_pa = pressed.stiffness_pa_per_m * thickness_m;
        Ok(Self {
            thickness: Length::new(thickness_m),
            young: Pressure::new(confined_pa * (1.0 + nu) * (1.0 - 2.0 * nu) / (1.0 - nu)),
            poisson: Some(nu),
            incompressible: false,
            cell: None,
            size: None,
            coating: None,
            mu: springs.friction.mu_static(),
            relaxation: Vec::new(),
            sense_depth: None,
        })
    }

    fn replacing_gel(spec: &SensorSpec, gel: &GelSpec) -> Result<Self, SensorError> {
        let is_block = matches!(spec.surface, SurfaceSpec::Grid { .. })
            && gel.bonded == [Face::Bottom]
            && gel.held.is_none()
            && gel.paper.is_none();
        let (Some(thickness), true) = (gel.thickness, is_block) else {
            let rule = "= \"layer\" can replace a gel only if it is a block under a grid, bonded at its bottom; describe the skin in a file";
            return Err(SensorError::bad_key(&spec.name, "kind", rule));
        };
        Ok(Self {
            thickness,
            young: gel.young,
            poisson: Some(gel.poisson),
            incompressible: false,
            cell: None,
            size: gel.size,
            coating: None,
            mu: gel.friction.mu_static(),
            relaxation: Vec::new(),
            sense_depth: None,
        })
    }
}
