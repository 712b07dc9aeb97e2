//! The description of a skin's friction in a file.

use crate::SensorError;
use dermis_geometry::quantity::{AreaDamping, AreaStiffness, Damping, Speed, Stiffness};
use dermis_skin::{Coulomb, Friction, GelFriction, Lugre};
use serde::{Deserialize, Serialize};

/// Friction between the skin and an object. Stiffness and damping are per texel for springs, as in the paper, and per
/// unit of contact area for a hydroelastic skin ([`AreaFrictionSpec`]). A gel supports `none`, `coulomb` (with `mu` only)
/// and `sticking`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum FrictionSpec<K = Stiffness, C = Damping> {
    /// No friction.
    #[default]
    None,
    /// LuGre bristles.
    Lugre {
        /// Bristle stiffness σ₀.
        sigma0: K,
        /// Bristle damping σ₁.
        sigma1: C,
        /// Viscous coefficient c_t.
        viscous: C,
        /// Static friction coefficient μ_s.
        mu_static: f64,
        /// Dynamic friction coefficient μ_d.
        mu_dynamic: f64,
        /// Stribeck velocity v_s.
        stribeck_speed: Speed,
    },
    /// Coulomb friction without memory.
    Coulomb {
        /// Friction coefficient μ.
        mu: f64,
        /// Speed v₀ below which the force is proportional to the speed. Required for springs and hydroelastic skins,
        /// not supported by a gel.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        regularisation_speed: Option<Speed>,
    },
    /// No sliding while in contact.
    Sticking,
}

/// Friction per unit of contact area.
pub type AreaFrictionSpec = FrictionSpec<AreaStiffness, AreaDamping>;

impl<K: Into<f64> + Copy, C: Into<f64> + Copy> FrictionSpec<K, C> {
    /// The friction law of springs (per texel) or of a hydroelastic skin (per square metre). Errors name `sensor`.
    pub fn build(&self, sensor: &str) -> Result<Friction, SensorError> {
        Ok(match *self {
            Self::None => Friction::None,
            Self::Lugre { sigma0, sigma1, viscous, mu_static, mu_dynamic, stribeck_speed } => Friction::Lugre(Lugre {
                stiffness_newton_per_m: sigma0.into(),
                damping_newton_s_per_m: sigma1.into(),
                viscous_newton_s_per_m: viscous.into(),
                mu_static,
                mu_dynamic,
                stribeck_m_per_s: stribeck_speed.si(),
            }),
            Self::Coulomb { mu, regularisation_speed: Some(speed) } => {
                Friction::Coulomb(Coulomb { mu, regularisation_m_per_s: speed.si() })
            }
            Self::Coulomb { regularisation_speed: None, .. } => {
                let rule = "of kind \"coulomb\" needs a `regularisation_speed`, such as \"1 mm/s\"";
                return Err(SensorError::bad_key(sensor, "friction", rule));
            }
            Self::Sticking => {
                return Err(SensorError::bad_key(sensor, "friction", "of kind \"sticking\" is for a gel only"));
            }
        })
    }

    /// The friction law of a gel. Errors name `sensor`.
    pub fn build_gel(&self, sensor: &str) -> Result<GelFriction, SensorError> {
        match *self {
            Self::None => Ok(GelFriction::None),
            Self::Coulomb { mu, regularisation_speed: None } => Ok(GelFriction::Coulomb { mu }),
            Self::Sticking => Ok(GelFriction::Sticking),
            Self::Coulomb { .. } => {
                Err(SensorError::bad_key(sensor, "regularisation_speed", "is not for a gel, whose friction sticks"))
            }
            Self::Lugre { .. } => {
                let rule = "of kind \"lugre\" is not for a gel: use \"none\", \"coulomb\" or \"sticking\"";
                Err(SensorError::bad_key(sensor, "friction", rule))
            }
        }
    }

    /// The coefficient of static friction.
    pub fn mu_static(&self) -> f64 {
        match *self {
            Self::None => 0.0,
            Self::Lugre { mu_static, .. } => mu_static,
            Self::Coulomb { mu, .. } => mu,
            Self::Sticking => f64::INFINITY,
        }
    }
}

impl FrictionSpec {
    /// The friction per unit of area of texels of `area_m2` each.
    pub(crate) fn per_area(&self, area_m2: f64) -> AreaFrictionSpec {
        match *self {
            Self::None => FrictionSpec::None,
            Self::Lugre { sigma0, sigma1, viscous, mu_static, mu_dynamic, stribeck_speed } => FrictionSpec::Lugre {
                sigma0: AreaStiffness::new(sigma0.si() / area_m2),
                sigma1: AreaDamping::new(sigma1.si() / area_m2),
                viscous: AreaDamping::new(viscous.si() / area_m2),
                mu_static,
                mu_dynamic,
                stribeck_speed,
            },
            Self::Coulomb { mu, regularisation_speed } => FrictionSpec::Coulomb { mu, regularisation_speed },
            Self::Sticking => FrictionSpec::Sticking,
        }
    }
}
