//! The body of a hydroelastic skin: what the pressure field fills.

use crate::spec::SkinSpec;
use crate::surface::BuiltSurface;
use crate::{FrictionSpec, SensorError, SensorSpec, SurfaceSpec};
use dermis_geometry::quantity::{AreaDamping, AreaStiffness, InverseSpeed, Length, Pressure, Speed};
use dermis_geometry::shapes::{self, Fingertip};
use dermis_geometry::tets::{self, DepthTets, TetsError};
use dermis_geometry::{Pose, Surface, TetMesh, TriMesh, Vec3};
use dermis_skin::hydroelastic::{Compliance, Material, TetField};
use dermis_skin::{Coulomb, Friction, Hydroelastic, HydroelasticParameters, Lugre};
use serde::{Deserialize, Serialize};

/// Cells of the lattice across a curved body's least extent, unless `cell` says otherwise.
const CELLS_ACROSS: f64 = 16.0;

/// What resists sliding, of a unit of contact area.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum AreaFrictionSpec {
    /// Nothing.
    #[default]
    None,
    /// Bristles.
    Lugre {
        /// σ₀ per area.
        sigma0: AreaStiffness,
        /// σ₁ per area.
        sigma1: AreaDamping,
        /// c_t per area.
        viscous: AreaDamping,
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

impl AreaFrictionSpec {
    /// The friction law, of a square metre.
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

    /// The friction of texels of `area_m2` each, spread over their area.
    fn of_texels(friction: &FrictionSpec, area_m2: f64) -> Self {
        match *friction {
            FrictionSpec::None => Self::None,
            FrictionSpec::Lugre { sigma0, sigma1, viscous, mu_static, mu_dynamic, stribeck_speed } => Self::Lugre {
                sigma0: AreaStiffness::new(sigma0.si() / area_m2),
                sigma1: AreaDamping::new(sigma1.si() / area_m2),
                viscous: AreaDamping::new(viscous.si() / area_m2),
                mu_static,
                mu_dynamic,
                stribeck_speed,
            },
            FrictionSpec::Coulomb { mu, regularisation_speed } => Self::Coulomb { mu, regularisation_speed },
        }
    }
}

/// A hydroelastic skin, as [`SkinSpec::Hydroelastic`] says.
pub(crate) struct Field<'a> {
    pub sensor: &'a str,
    pub modulus: Pressure,
    pub dissipation: InverseSpeed,
    pub thickness: Option<Length>,
    pub cell: Option<Length>,
    pub friction: &'a AreaFrictionSpec,
}

impl Field<'_> {
    pub fn build(&self, spec: &SurfaceSpec, surface: &BuiltSurface) -> Result<Hydroelastic, SensorError> {
        let body = self.tets(spec, surface)?;
        let material = Material::linear(self.modulus.si()).with_dissipation(self.dissipation.si());
        let parameters = HydroelasticParameters { friction: self.friction.build(), ..Default::default() };
        Compliance::tets(TetField::new(body), material)
            .and_then(|body| Hydroelastic::with_surface(body, Some(&surface.mesh), parameters))
            .map_err(|error| SensorError::Skin { sensor: self.sensor.to_owned(), error })
    }

    fn tets(&self, spec: &SurfaceSpec, surface: &BuiltSurface) -> Result<DepthTets, SensorError> {
        let bad = |error: TetsError| SensorError::Body { sensor: self.sensor.to_owned(), error };
        let shape = |error| bad(TetsError::Shape(error));
        if let SurfaceSpec::Grid { rows, cols, pitch } = spec {
            self.must_not_have("cell", self.cell, "is for curved bodies; a pad over a grid has `thickness`")?;
            let [x, y] = [*cols, *rows].map(|count| 0.5 * count as f64 * pitch.si());
            return pad(x, y, self.positive("thickness", self.thickness)?).map_err(bad);
        }
        self.must_not_have("thickness", self.thickness, "is for the pad over a grid; a curved body has its own")?;
        let cell_m = |across_m: f64| match self.cell {
            Some(_) => self.positive("cell", self.cell),
            None => Ok(across_m / CELLS_ACROSS),
        };
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
                on_lattice(shapes::fingertip(&size, edge_m).map_err(shape)?)
            }
            SurfaceSpec::Grid { .. }
            | SurfaceSpec::Mesh { .. }
            | SurfaceSpec::Points { .. }
            | SurfaceSpec::Urdf { .. } => on_lattice(surface.mesh.clone()),
        }
    }

    fn positive(&self, key: &'static str, length: Option<Length>) -> Result<f64, SensorError> {
        let refused = |rule: &str| Err(bad_key(self.sensor, key, rule));
        match length.map(Length::si) {
            Some(length_m) if length_m > 0.0 => Ok(length_m),
            Some(length_m) => refused(&format!("must be a positive length, got {} mm", length_m * 1e3)),
            None => refused("is needed by a hydroelastic skin over a grid: how thick the pad is, such as \"2 mm\""),
        }
    }

    fn must_not_have(&self, key: &'static str, found: Option<Length>, rule: &str) -> Result<(), SensorError> {
        if found.is_some() { Err(bad_key(self.sensor, key, rule)) } else { Ok(()) }
    }
}

pub(crate) fn bad_key(sensor: &str, key: &'static str, rule: &str) -> SensorError {
    SensorError::BadKey { sensor: sensor.to_owned(), key, rule: rule.to_owned() }
}

/// A pad that is bonded below: e = −z/thickness in a box, up to its sides, so that p = E × depth/thickness under all of
/// the array and nothing beside it.
fn pad(half_x_m: f64, half_y_m: f64, thickness_m: f64) -> Result<DepthTets, TetsError> {
    let corner = |k: u32| {
        let pick = |bit: u32, high: f64, low: f64| if k & bit != 0 { high } else { low };
        Vec3::new(pick(1, half_x_m, -half_x_m), pick(2, half_y_m, -half_y_m), pick(4, 0.0, -thickness_m))
    };
    let vertices: Vec<Vec3> = (0..8).map(corner).collect();
    let extent = vertices.iter().map(|v| if v.z < 0.0 { 1.0 } else { 0.0 }).collect();
    // Six around the diagonal from corner 0 to corner 7.
    let ring = [1, 3, 2, 6, 4, 5];
    let tets = (0..6).map(|k| [0, ring[k], ring[(k + 1) % 6], 7]).collect();
    Ok(DepthTets { mesh: TetMesh::new("pad", vertices, tets)?, extent, depth_m: thickness_m })
}

impl SensorSpec {
    /// The same sensor with a hydroelastic skin. A grid of springs gets a pad as thick as its springs are long and, fully
    /// pressed, as stiff as they are: modulus = stiffness per area × thickness; friction is spread over the texels' area.
    /// Springs' damping, which no load multiplies, has no equal there and is left out. A hydroelastic skin stays.
    pub fn with_hydroelastic_skin(&self) -> Result<Self, SensorError> {
        let (SkinSpec::Springs { friction, .. }, SurfaceSpec::Grid { pitch, .. }) = (&self.skin, &self.surface) else {
            return match self.skin {
                SkinSpec::Hydroelastic { .. } => Ok(self.clone()),
                SkinSpec::Springs { .. } | SkinSpec::Layer(_) | SkinSpec::Gel(_) | SkinSpec::Imprint(_) => {
                    let rule = "= \"hydroelastic\" can stand for springs on a grid only; describe the skin in a file";
                    Err(bad_key(&self.name, "kind", rule))
                }
            };
        };
        let springs = self.build(None)?;
        let area_m2: f64 = springs.taxels().areas_m2().iter().sum();
        let stiffness: f64 =
            springs.skin().fully_pressed().iter().map(|support| support.tangent.stiffness_normal).sum();
        let thickness_m = springs.skin().max_depth_m();
        let skin = SkinSpec::Hydroelastic {
            modulus: Pressure::new(stiffness / area_m2 * thickness_m),
            dissipation: InverseSpeed::new(0.0),
            thickness: Some(Length::new(thickness_m)),
            cell: None,
            friction: AreaFrictionSpec::of_texels(friction, pitch.si() * pitch.si()),
        };
        Ok(Self { skin, ..self.clone() })
    }
}
