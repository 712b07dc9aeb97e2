//! Friction laws.

use crate::{Lugre, SkinError, require_not_negative, require_positive};
use dermis_geometry::Vec3;
use serde::{Deserialize, Serialize};

/// Friction at one texel.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Friction {
    /// Frictionless.
    None,
    /// Bristles with a state; supports sticking.
    Lugre(Lugre),
    /// Stateless friction that creeps under any load. For comparison.
    Coulomb(Coulomb),
}

/// Regularised Coulomb friction: F = μ f_n v / max(|v|, v₀).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Coulomb {
    /// Friction coefficient μ.
    pub mu: f64,
    /// v₀: below this speed (m/s) the force is proportional to the speed, so a steady load creeps.
    pub regularisation_m_per_s: f64,
}

impl Friction {
    /// Checks the ranges of the parameters.
    pub fn validate(&self) -> Result<(), SkinError> {
        match self {
            Self::None => Ok(()),
            Self::Lugre(lugre) => lugre.validate(),
            Self::Coulomb(coulomb) => {
                require_not_negative("mu", "1", coulomb.mu)?;
                require_positive("regularisation_speed", "m/s", coulomb.regularisation_m_per_s)
            }
        }
    }

    /// The friction with coefficients that are `factor` times as large.
    pub fn scaled(self, factor: f64) -> Self {
        match self {
            Self::None => Self::None,
            Self::Lugre(lugre) => Self::Lugre(Lugre {
                mu_static: lugre.mu_static * factor,
                mu_dynamic: lugre.mu_dynamic * factor,
                ..lugre
            }),
            Self::Coulomb(coulomb) => Self::Coulomb(Coulomb { mu: coulomb.mu * factor, ..coulomb }),
        }
    }

    /// Static coefficient of friction; `None` without friction.
    pub fn mu(&self) -> Option<f64> {
        match self {
            Self::None => None,
            Self::Lugre(lugre) => Some(lugre.mu_static),
            Self::Coulomb(coulomb) => Some(coulomb.mu),
        }
    }

    /// The friction with another static coefficient; the dynamic one stays in proportion.
    pub fn with_mu(self, mu: f64) -> Self {
        match self {
            Self::None => Self::None,
            Self::Lugre(lugre) if lugre.mu_static > 0.0 => self.scaled(mu / lugre.mu_static),
            Self::Lugre(lugre) => Self::Lugre(Lugre { mu_static: mu, mu_dynamic: mu, ..lugre }),
            Self::Coulomb(coulomb) => Self::Coulomb(Coulomb { mu, ..coulomb }),
        }
    }

    /// Advances a fraction `share` of a texel by one step: the new deflection (m) and the force on the sensor (N).
    #[inline(always)]
    pub fn step(&self, deflection_m: Vec3, velocity: Vec3, normal_newton: f64, share: f64, dt_s: f64) -> (Vec3, Vec3) {
        match self {
            Self::None => (Vec3::ZERO, Vec3::ZERO),
            Self::Lugre(lugre) => lugre.scaled(share).step(deflection_m, velocity, normal_newton, dt_s),
            Self::Coulomb(c) => {
                let speed = velocity.length().max(c.regularisation_m_per_s);
                (Vec3::ZERO, velocity * (c.mu * normal_newton.max(0.0) / speed))
            }
        }
    }

    /// Stiffness (N/m) and damping (N s/m) in the contact plane of a fraction `share` of a texel under `normal_newton`.
    #[inline(always)]
    pub fn tangent(&self, normal_newton: f64, share: f64) -> (f64, f64) {
        match self {
            Self::None => (0.0, 0.0),
            Self::Lugre(l) => {
                (l.stiffness_newton_per_m * share, (l.damping_newton_s_per_m + l.viscous_newton_s_per_m) * share)
            }
            Self::Coulomb(c) => (0.0, c.mu * normal_newton.max(0.0) / c.regularisation_m_per_s),
        }
    }
}
