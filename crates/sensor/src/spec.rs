//! A sensor as a file describes it: plain data, every number with its unit.

use crate::hydroelastic_spec::{AreaFrictionSpec, Field, bad_key};
use crate::optics::{CameraSpec, LightSpec, MarkersSpec, Optics, OpticsError, OpticsSpec};
use crate::surface::BuiltSurface;
use crate::urdf::UrdfError;
use crate::{
    GelSpec, ImprintSpec, LayerSpec, ReadingSpec, ResponseError, ResponseSpec, Sensor, SurfaceSpec, TomlError,
    parse_toml,
};
use dermis_geometry::MeshError;
use dermis_geometry::files::FileError;
use dermis_geometry::quantity::{
    AreaDamping, AreaStiffness, Damping as DampingQuantity, Force, InverseSpeed, Length, Pressure, Speed, Stiffness,
};
use dermis_geometry::shapes::ShapeError;
use dermis_geometry::tets::TetsError;
use dermis_skin::{
    Coulomb, Damping, Elasticity, Friction, Hydroelastic, Law, Lugre, SkinError, SpringParameters, Springs, Table,
};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// Why a description is not a sensor.
#[derive(Clone, Debug, thiserror::Error)]
pub enum SensorError {
    /// The text is not the TOML that is expected.
    #[error(transparent)]
    Toml(#[from] TomlError),
    /// The file cannot be read.
    #[error("{path}: cannot be read: {reason}")]
    Unreadable {
        /// The file.
        path: String,
        /// The system's reason.
        reason: String,
    },
    /// A name that no preset has.
    #[error("there is no sensor {name:?}; the presets are {known}, or give the path of a .toml file")]
    Unknown {
        /// The name asked for.
        name: String,
        /// The names there are.
        known: String,
    },
    /// No texels, or too many.
    #[error("sensor {sensor:?}: a grid needs 1 to {most} texels, got rows = {rows}, cols = {cols}")]
    BadCount {
        /// Name of the sensor.
        sensor: String,
        /// Rows.
        rows: usize,
        /// Columns.
        cols: usize,
        /// Most that is allowed.
        most: usize,
    },
    /// A grid without size.
    #[error("sensor {sensor:?}: `pitch` must be a positive length, got {got_mm} mm: a sensor needs area")]
    BadPitch {
        /// Name of the sensor.
        sensor: String,
        /// The value (mm).
        got_mm: f64,
    },
    /// A vertex whose faces cancel.
    #[error("sensor {sensor:?}: vertex {vertex} of its mesh has no normal, because its faces look opposite ways")]
    NoNormal {
        /// Name of the sensor.
        sensor: String,
        /// The vertex.
        vertex: usize,
    },
    /// Two ways or no way to say one thing.
    #[error("sensor {sensor:?}: give exactly one of {keys}, found {found}")]
    OneOf {
        /// Name of the sensor.
        sensor: String,
        /// The keys.
        keys: &'static str,
        /// How many of them were there.
        found: usize,
    },
    /// A response that cannot be.
    #[error("sensor {sensor:?}: response: {error}")]
    BadResponse {
        /// Name of the sensor.
        sensor: String,
        /// What is wrong.
        error: ResponseError,
    },
    /// The skin's parameters mean nothing.
    #[error("sensor {sensor:?}: {error}")]
    Skin {
        /// Name of the sensor.
        sensor: String,
        /// What is wrong.
        error: SkinError,
    },
    /// A camera, light or markers that cannot be.
    #[error("sensor {sensor:?}: {error}")]
    Optics {
        /// Name of the sensor.
        sensor: String,
        /// What is wrong.
        error: OpticsError,
    },
    /// A key that breaks a rule.
    #[error("sensor {sensor:?}: `{key}` {rule}")]
    BadKey {
        /// Name of the sensor.
        sensor: String,
        /// The key.
        key: &'static str,
        /// What is asked of it.
        rule: String,
    },
    /// A taxel that reads by rays and has none.
    #[error(
        "sensor {sensor:?}: taxel {taxel} at ({x_mm:.3}, {y_mm:.3}, {z_mm:.3}) mm feels no point of the skin: give `reading` a larger `radius` or `cone`, or a smaller `spacing`"
    )]
    Blind {
        /// Name of the sensor.
        sensor: String,
        /// The taxel.
        taxel: usize,
        /// Where it is (mm).
        x_mm: f64,
        /// Where it is (mm).
        y_mm: f64,
        /// Where it is (mm).
        z_mm: f64,
    },
    /// The body of the skin cannot be cut into tetrahedra.
    #[error("sensor {sensor:?}: body of the hydroelastic skin: {error}")]
    Body {
        /// Name of the sensor.
        sensor: String,
        /// What is wrong.
        error: TetsError,
    },
    /// The generator refused the shape.
    #[error(transparent)]
    Shape(ShapeError),
    /// The mesh file was refused.
    #[error(transparent)]
    File(FileError),
    /// The surface is no mesh.
    #[error(transparent)]
    Mesh(MeshError),
    /// The taxels of a robot description were refused.
    #[error(transparent)]
    Urdf(UrdfError),
}

/// A sensor: its surface, skin and response.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SensorSpec {
    /// What it is called.
    pub name: String,
    /// What it is, and where its numbers come from.
    #[serde(default)]
    pub description: String,
    /// Where its texels are.
    pub surface: SurfaceSpec,
    /// Contact points along a side of a texel (a grid's cell has the square of it; a mesh's triangle too).
    #[serde(default = "one")]
    pub contact_points: usize,
    /// How its cover answers.
    pub skin: SkinSpec,
    /// How its taxels read the skin.
    #[serde(default, skip_serializing_if = "ReadingSpec::is_exact")]
    pub reading: ReadingSpec,
    /// How it reports.
    #[serde(default)]
    pub response: ResponseSpec,
    /// The camera behind the skin of an optical sensor.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub camera: Option<CameraSpec>,
    /// How the camera's gel is lit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub light: Option<LightSpec>,
    /// Dots on the gel.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub markers: Option<MarkersSpec>,
}

fn one() -> usize {
    1
}

/// How the cover answers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum SkinSpec {
    /// Independent spring-dampers (Moisio 2013). Give one of `stiffness`, `stiffness_per_area`, `force_table`,
    /// `pressure_table`, and at most one of `damping`, `damping_per_area`.
    Springs {
        /// k of one texel.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        stiffness: Option<Stiffness>,
        /// k of a unit of area.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        stiffness_per_area: Option<AreaStiffness>,
        /// Force of one texel against depth.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        force_table: Option<TableSpec<Force>>,
        /// Pressure against depth.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pressure_table: Option<TableSpec<Pressure>>,
        /// c of one texel.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        damping: Option<DampingQuantity>,
        /// c of a unit of area.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        damping_per_area: Option<AreaDamping>,
        /// How deep an object can press before it passes the skin.
        max_penetration: Length,
        /// How depth becomes force on slanted faces.
        #[serde(default)]
        law: LawSpec,
        /// What resists sliding.
        #[serde(default)]
        friction: FrictionSpec,
    },
    /// A pressure field in the sensor's body ([`Hydroelastic`]). Over a grid the body is a pad; the other surfaces bound
    /// one of their own: a sphere, a finger's phalanx, a closed mesh.
    Hydroelastic {
        /// Pressure where the body is deepest.
        modulus: Pressure,
        /// d of Hunt and Crossley.
        #[serde(default = "no_dissipation")]
        dissipation: InverseSpeed,
        /// How thick the pad over a grid is.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        thickness: Option<Length>,
        /// How fine a curved body is cut; a sixteenth of its least extent without it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cell: Option<Length>,
        /// What resists sliding.
        #[serde(default)]
        friction: AreaFrictionSpec,
    },
    /// An elastic layer bonded to a rigid base ([`dermis_skin::Layer`]), under a grid.
    Layer(LayerSpec),
    /// The object's own shape with smoothed surroundings ([`dermis_skin::Imprint`]): a baseline, on any surface.
    Imprint(ImprintSpec),
    /// A gel that deforms by as much as it must ([`dermis_skin::Gel`]): a block under a grid, or the body that another surface bounds.
    Gel(GelSpec),
}

fn no_dissipation() -> InverseSpeed {
    InverseSpeed::new(0.0)
}

/// Which law: see [`Law`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LawSpec {
    /// Keeps energy.
    #[default]
    Conservative,
    /// As printed in the paper.
    Paper,
}

/// A load against depth, as two lists of equal length.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, bound = "L: Serialize + serde::de::DeserializeOwned")]
pub struct TableSpec<L> {
    /// Depths, rising from 0.
    pub depth: Vec<Length>,
    /// Loads, from 0.
    pub load: Vec<L>,
}

/// What resists sliding; per texel, as in the paper.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum FrictionSpec {
    /// Nothing.
    #[default]
    None,
    /// Bristles.
    Lugre {
        /// σ₀.
        sigma0: Stiffness,
        /// σ₁.
        sigma1: DampingQuantity,
        /// c_t.
        viscous: DampingQuantity,
        /// μ_s.
        mu_static: f64,
        /// μ_d.
        mu_dynamic: f64,
        /// v_s.
        stribeck_speed: Speed,
    },
    /// Coulomb friction without memory.
    Coulomb {
        /// μ.
        mu: f64,
        /// v₀.
        regularisation_speed: Speed,
    },
}

impl FrictionSpec {
    /// The friction law.
    pub fn build(&self) -> Friction {
        match *self {
            Self::None => Friction::None,
            Self::Lugre { sigma0, sigma1, viscous, mu_static, mu_dynamic, stribeck_speed } => Friction::Lugre(Lugre {
                stiffness_newton_per_m: sigma0.si(),
                damping_newton_s_per_m: sigma1.si(),
                viscous_newton_s_per_m: viscous.si(),
                mu_static,
                mu_dynamic,
                stribeck_m_per_s: stribeck_speed.si(),
            }),
            Self::Coulomb { mu, regularisation_speed } => {
                Friction::Coulomb(Coulomb { mu, regularisation_m_per_s: regularisation_speed.si() })
            }
        }
    }
}

impl SkinSpec {
    /// The parameters of the springs, if it is springs.
    pub fn spring_parameters(&self, sensor: &str) -> Result<SpringParameters, SensorError> {
        let Self::Springs {
            stiffness,
            stiffness_per_area,
            force_table,
            pressure_table,
            damping,
            damping_per_area,
            max_penetration,
            law,
            friction,
        } = self
        else {
            return Err(bad_key(sensor, "kind", "must be \"springs\" here"));
        };
        let one_of = |keys, found| SensorError::OneOf { sensor: sensor.to_owned(), keys, found };
        let elasticities: Vec<Elasticity> = [
            stiffness.map(|k| Elasticity::PerTexel(k.si())),
            stiffness_per_area.map(|k| Elasticity::PerArea(k.si())),
            force_table.as_ref().map(|t| Elasticity::TexelTable(t.build(|force| force.si()))),
            pressure_table.as_ref().map(|t| Elasticity::AreaTable(t.build(|pressure| pressure.si()))),
        ]
        .into_iter()
        .flatten()
        .collect();
        let [elasticity] = <[Elasticity; 1]>::try_from(elasticities)
            .map_err(|all| one_of("`stiffness`, `stiffness_per_area`, `force_table`, `pressure_table`", all.len()))?;
        let damping = match (damping, damping_per_area) {
            (Some(c), None) => Damping::PerTexel(c.si()),
            (None, Some(c)) => Damping::PerArea(c.si()),
            (None, None) => Damping::PerTexel(0.0),
            (Some(_), Some(_)) => return Err(one_of("`damping`, `damping_per_area`", 2)),
        };
        Ok(SpringParameters {
            elasticity,
            damping,
            max_penetration_m: max_penetration.si(),
            law: match law {
                LawSpec::Conservative => Law::Conservative,
                LawSpec::Paper => Law::Paper,
            },
            friction: friction.build(),
        })
    }
}

impl SkinSpec {
    fn hydroelastic(
        &self,
        sensor: &str,
        spec: &SurfaceSpec,
        surface: &BuiltSurface,
    ) -> Result<Hydroelastic, SensorError> {
        let Self::Hydroelastic { modulus, dissipation, thickness, cell, friction } = self else {
            return Err(bad_key(sensor, "kind", "must be \"hydroelastic\" here"));
        };
        let field = Field {
            sensor,
            modulus: *modulus,
            dissipation: *dissipation,
            thickness: *thickness,
            cell: *cell,
            friction,
        };
        field.build(spec, surface)
    }
}

impl<L: Copy> TableSpec<L> {
    fn build(&self, si: impl Fn(L) -> f64) -> Table {
        Table {
            depth_m: self.depth.iter().map(|depth| depth.si()).collect(),
            load: self.load.iter().map(|&load| si(load)).collect(),
        }
    }
}

impl SensorSpec {
    /// A surface under a skin, with one contact point a texel, that reports newtons.
    pub fn new(name: impl Into<String>, surface: SurfaceSpec, skin: SkinSpec) -> Self {
        Self {
            name: name.into(),
            description: String::new(),
            surface,
            contact_points: 1,
            skin,
            reading: ReadingSpec::default(),
            response: ResponseSpec::default(),
            camera: None,
            light: None,
            markers: None,
        }
    }

    /// Reads a description; `file` is what messages call it.
    pub fn parse(file: &str, text: &str) -> Result<Self, SensorError> {
        Ok(parse_toml(file, text)?)
    }

    /// A preset by name, or a description by path (anything that ends in `.toml` or holds a separator).
    pub fn find(name: &str) -> Result<(Self, Option<&Path>), SensorError> {
        if name.ends_with(".toml") || name.contains(['/', '\\']) {
            let text = std::fs::read_to_string(name)
                .map_err(|error| SensorError::Unreadable { path: name.to_owned(), reason: error.to_string() })?;
            return Ok((Self::parse(name, &text)?, Path::new(name).parent()));
        }
        Ok((crate::presets::find(name)?, None))
    }

    /// Builds the sensor. `folder` is where relative files are looked for.
    pub fn build(&self, folder: Option<&Path>) -> Result<Sensor, SensorError> {
        if matches!(self.reading, ReadingSpec::Gaussian { .. }) && !matches!(self.skin, SkinSpec::Springs { .. }) {
            let rule = "of kind \"gaussian\" is for springs; a layer and a gel spread loads by themselves, and a hydroelastic skin takes a `spread` of its response";
            return Err(crate::hydroelastic_spec::bad_key(&self.name, "reading", rule));
        }
        let sensor = self.reading.of(self.build_touch(folder)?)?;
        let refuse = |error| SensorError::Optics { sensor: self.name.clone(), error };
        Ok(match self.optics().map_err(refuse)? {
            Some(spec) => sensor.with_optics(Optics::new(&spec, folder).map_err(refuse)?),
            None => sensor,
        })
    }

    /// The camera with its light and markers, if it has one.
    pub fn optics(&self) -> Result<Option<OpticsSpec>, OpticsError> {
        let Some(camera) = self.camera.clone() else {
            return match (&self.light, &self.markers) {
                (Some(_), _) => Err(OpticsError::NoCamera { table: "light" }),
                (None, Some(_)) => Err(OpticsError::NoCamera { table: "markers" }),
                (None, None) => Ok(None),
            };
        };
        let light = self.light.clone().unwrap_or_default();
        Ok(Some(OpticsSpec { camera, light, markers: self.markers.clone() }))
    }

    fn build_touch(&self, folder: Option<&Path>) -> Result<Sensor, SensorError> {
        let surface = self.surface.build(&self.name, self.contact_points.max(1), folder)?;
        let chain = self
            .response
            .build(&surface.taxels, Some(&surface.mesh))
            .map_err(|error| SensorError::BadResponse { sensor: self.name.clone(), error })?;
        let name = self.name.clone();
        match &self.skin {
            SkinSpec::Springs { .. } => {
                let parameters = self.skin.spring_parameters(&self.name)?;
                let skin = Springs::new(surface.sites, parameters)
                    .map_err(|error| SensorError::Skin { sensor: self.name.clone(), error })?;
                Ok(Sensor::new(name, skin, surface.taxels, chain, surface.mesh))
            }
            SkinSpec::Hydroelastic { .. } => {
                let skin = self.skin.hydroelastic(&self.name, &self.surface, &surface)?;
                Ok(Sensor::new(name, skin, surface.taxels, chain, surface.mesh))
            }
            SkinSpec::Layer(layer) => {
                let skin = layer.build(&self.name, &self.surface)?;
                Ok(Sensor::new(name, skin, surface.taxels, chain, surface.mesh))
            }
            SkinSpec::Imprint(imprint) => {
                let skin = imprint.build(&self.name, &self.surface, &surface.mesh)?;
                Ok(Sensor::new(name, skin, surface.taxels, chain, surface.mesh))
            }
            SkinSpec::Gel(gel) => gel.build(name, &self.surface, surface, chain, folder),
        }
    }

    /// The description as TOML.
    pub fn to_toml(&self) -> String {
        toml::to_string(self).unwrap_or_default()
    }
}
