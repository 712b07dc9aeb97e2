//! The description of a sensor's skin in a file, and its conversion into another kind.

use crate::surface::BuiltSurface;
use crate::{
    Chain, GelSpec, HydroelasticSpec, ImprintSpec, LayerSpec, Sensor, SensorError, SensorSpec, SpringsSpec, SurfaceSpec,
};
use dermis_geometry::quantity::{AreaStiffness, Pressure};
use dermis_skin::Springs;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// A skin: the deformation model of a sensor's cover.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum SkinSpec {
    /// Independent spring-dampers ([`Springs`]), on any surface.
    Springs(SpringsSpec),
    /// A pressure field in the sensor's body ([`dermis_skin::Hydroelastic`]), on any surface.
    Hydroelastic(HydroelasticSpec),
    /// An elastic layer bonded to a rigid base ([`dermis_skin::Layer`]), under a grid.
    Layer(LayerSpec),
    /// The imprint of the object's shape with smoothed surroundings ([`dermis_skin::Imprint`]): a baseline, on any
    /// surface.
    Imprint(ImprintSpec),
    /// A gel at large deformation ([`dermis_skin::Gel`]): a block under a grid, or the body bounded by another surface.
    Gel(GelSpec),
}

/// The kinds of skin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SkinKind {
    /// Independent spring-dampers.
    Springs,
    /// A pressure field.
    Hydroelastic,
    /// An elastic layer on a rigid base.
    Layer,
    /// The imprint of the object's shape with smoothed surroundings.
    Imprint,
    /// A gel of particles.
    Gel,
}

/// Error for a name that is not a kind of skin.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no skin {name:?}; the skins are {}", SkinKind::NAMES.join(", "))]
pub struct UnknownSkin {
    /// The name.
    pub name: String,
}

impl SkinKind {
    /// All kinds.
    pub const ALL: [Self; 5] = [Self::Springs, Self::Hydroelastic, Self::Layer, Self::Imprint, Self::Gel];
    /// Names of all kinds in files and flags.
    pub const NAMES: [&str; 5] = ["springs", "hydroelastic", "layer", "imprint", "gel"];

    /// Name of the kind in files and flags.
    pub fn name(self) -> &'static str {
        Self::NAMES[self as usize]
    }
}

impl std::fmt::Display for SkinKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.name())
    }
}

impl std::str::FromStr for SkinKind {
    type Err = UnknownSkin;

    fn from_str(name: &str) -> Result<Self, UnknownSkin> {
        Self::ALL.into_iter().find(|kind| kind.name() == name).ok_or_else(|| UnknownSkin { name: name.to_owned() })
    }
}

impl SkinSpec {
    /// Kind of the skin.
    pub fn kind(&self) -> SkinKind {
        match self {
            Self::Springs(_) => SkinKind::Springs,
            Self::Hydroelastic(_) => SkinKind::Hydroelastic,
            Self::Layer(_) => SkinKind::Layer,
            Self::Imprint(_) => SkinKind::Imprint,
            Self::Gel(_) => SkinKind::Gel,
        }
    }

    pub(crate) fn file_mut(&mut self) -> Option<&mut std::path::PathBuf> {
        if let Self::Gel(gel) = self { gel.held.as_mut().map(|held| &mut held.file) } else { None }
    }

    /// Multiplies the stiffness of the skin by a factor. Returns false for a skin whose force is not proportional to one
    /// parameter.
    pub fn scale_stiffness(&mut self, factor: f64) -> bool {
        match self {
            Self::Springs(springs) => springs.scale_stiffness(factor),
            Self::Imprint(imprint) => {
                imprint.stiffness_per_area = AreaStiffness::new(factor * imprint.stiffness_per_area.si());
            }
            Self::Layer(layer) => {
                layer.young = Pressure::new(factor * layer.young.si());
                if let Some(coating) = &mut layer.coating {
                    coating.young = Pressure::new(factor * coating.young.si());
                }
            }
            Self::Hydroelastic(_) | Self::Gel(_) => return false,
        }
        true
    }

    /// Builds a sensor without reading and optics. Relative file names are resolved against `folder`.
    pub(crate) fn build(
        &self,
        name: &str,
        spec: &SurfaceSpec,
        surface: BuiltSurface,
        chain: Chain,
        folder: Option<&Path>,
    ) -> Result<Sensor, SensorError> {
        let BuiltSurface { sites, taxels, mesh } = surface;
        Ok(match self {
            Self::Springs(springs) => {
                let skin = Springs::new(sites, springs.parameters(name)?).map_err(SensorError::skin(name))?;
                Sensor::new(name, skin, taxels, chain, mesh)
            }
            Self::Hydroelastic(body) => Sensor::new(name, body.build(name, spec, &mesh)?, taxels, chain, mesh),
            Self::Layer(layer) => Sensor::new(name, layer.build(name, spec)?, taxels, chain, mesh),
            Self::Imprint(imprint) => Sensor::new(name, imprint.build(name, spec, &mesh)?, taxels, chain, mesh),
            Self::Gel(gel) => match gel.build_tacchi(name, spec)? {
                Some(skin) => Sensor::new(name, skin, taxels, chain, mesh),
                None => Sensor::new(name, gel.build(name, spec, &mesh, folder)?, taxels, chain, mesh),
            },
        })
    }
}

impl SensorSpec {
    /// The same sensor with its skin replaced by the closest skin of another kind; a skin that already has this kind is
    /// unchanged. The documentation of each skin's description lists the skins that it can replace, and the conversion.
    pub fn with_skin(&self, kind: SkinKind) -> Result<Self, SensorError> {
        let skin = match kind {
            _ if self.skin.kind() == kind => self.skin.clone(),
            SkinKind::Springs => {
                let rule = format!("= \"springs\" cannot replace a skin of kind {:?}", self.skin.kind().name());
                return Err(SensorError::bad_key(&self.name, "kind", rule));
            }
            SkinKind::Hydroelastic => SkinSpec::Hydroelastic(HydroelasticSpec::replacing(self)?),
            SkinKind::Layer => SkinSpec::Layer(LayerSpec::replacing(self)?),
            SkinKind::Imprint => SkinSpec::Imprint(ImprintSpec::replacing(self)?),
            SkinKind::Gel => SkinSpec::Gel(GelSpec::replacing(self)?),
        };
        Ok(Self { skin, ..self.clone() })
    }
}

/// Properties of a skin when all of it is pressed, for a replacement with the same stiffness and depth.
pub(crate) struct FullyPressed {
    /// Normal stiffness per unit of area (Pa/m).
    pub stiffness_pa_per_m: f64,
    /// Maximum depth (m).
    pub max_depth_m: f64,
}

impl FullyPressed {
    /// Properties of springs on a grid. `kind` is the kind of skin that will replace them.
    pub fn springs_on_grid(spec: &SensorSpec, kind: SkinKind) -> Result<(Self, &SpringsSpec, f64), SensorError> {
        let (SkinSpec::Springs(springs), SurfaceSpec::Grid { pitch, .. }) = (&spec.skin, &spec.surface) else {
            let rule = format!("= {:?} can replace springs on a grid only; describe the skin in a file", kind.name());
            return Err(SensorError::bad_key(&spec.name, "kind", rule));
        };
        let sensor = spec.without_optics().build(None)?;
        let area_m2 = sensor.taxels().areas_m2().iter().sum();
        Ok((Self::of(&sensor, area_m2), springs, pitch.si() * pitch.si()))
    }

    /// Properties of a sensor whose stiffness is spread over an area (m²).
    pub fn of(sensor: &Sensor, area_m2: f64) -> Self {
        let stiffness: f64 = sensor.skin().fully_pressed().iter().map(|support| support.tangent.stiffness_normal).sum();
        Self { stiffness_pa_per_m: stiffness / area_m2, max_depth_m: sensor.skin().max_depth_m() }
    }
}
