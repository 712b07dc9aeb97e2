//! What a gel is made of and how it is solved.

use crate::{SkinError, require_not_negative, require_positive};
use serde::{Deserialize, Serialize};

/// How stress follows from deformation. All agree with linear elasticity at small strain.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Constitution {
    /// Ψ = μ/2 (tr FᵀF − 3) − μ ln J + λ/2 (J − 1)².
    #[default]
    NeoHookean,
    /// Ψ = μ ‖F − R‖² + λ/2 (J − 1)², R the rotation in F (Stomakhin et al. 2012), the elasticity of Chen et al. 2023.
    FixedCorotated,
    /// Small strains: Ψ = μ ‖ε‖² + λ/2 (tr ε)². Only where it rests in equilibrium; for comparison with closed forms.
    Linear,
}

/// What resists sliding on the gel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub enum GelFriction {
    /// Nothing.
    #[default]
    None,
    /// At most μ times the pressure.
    Coulomb {
        /// μ.
        mu: f64,
    },
    /// Whatever touches holds until it parts.
    Sticking,
}

impl GelFriction {
    /// μ, infinite where all sticks.
    pub fn mu(&self) -> f64 {
        match *self {
            Self::None => 0.0,
            Self::Coulomb { mu } => mu,
            Self::Sticking => f64::INFINITY,
        }
    }
}

/// What a gel is made of.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GelParameters {
    /// Young's modulus (Pa).
    pub young_pa: f64,
    /// Poisson's ratio, from 0 to below 0.5.
    pub poisson: f64,
    /// Mass of a volume (kg/m³).
    pub density_kg_per_m3: f64,
    /// How stress follows from deformation.
    pub constitution: Constitution,
    /// Edge of a cell of the grid (m), made a little smaller or larger so that cells fit a block. A cell holds eight particles.
    pub cell_m: f64,
    /// What resists sliding.
    pub friction: GelFriction,
    /// Rate (1/s) at which motion dies away: force −rate · mass · velocity, none at rest.
    pub damping_per_s: f64,
    /// By how much mass is multiplied while the gel moves, 1 for the true motion. Longer steps by its square root; what it costs is
    /// told by the kinetic energy ([`super::Energy`]).
    pub mass_scaling: f64,
}

impl Default for GelParameters {
    /// The elastomer of Chen et al. 2023 with the density of silicone, in cells of 0.4 mm.
    fn default() -> Self {
        Self {
            young_pa: 1.45e5,
            poisson: 0.45,
            density_kg_per_m3: 1070.0,
            constitution: Constitution::NeoHookean,
            cell_m: 0.4e-3,
            friction: GelFriction::None,
            damping_per_s: 0.0,
            mass_scaling: 1.0,
        }
    }
}

impl GelParameters {
    /// Refuses parameters that mean nothing.
    pub fn validate(&self) -> Result<(), SkinError> {
        require_positive("young", "Pa", self.young_pa)?;
        require_positive("density", "kg/m³", self.density_kg_per_m3)?;
        require_positive("cell", "m", self.cell_m)?;
        require_not_negative("damping", "1/s", self.damping_per_s)?;
        if !(0.0..=0.495).contains(&self.poisson) {
            return Err(SkinError::BadGel {
                key: "poisson",
                rule: format!("must be from 0 to 0.495: a gel is compressible, got {}", self.poisson),
            });
        }
        if !(self.mass_scaling >= 1.0 && self.mass_scaling <= 1e6) {
            return Err(SkinError::BadGel {
                key: "mass_scaling",
                rule: format!("must be from 1 (true mass) to 1e6, got {}", self.mass_scaling),
            });
        }
        match self.friction {
            GelFriction::Coulomb { mu } => require_not_negative("mu", "1", mu),
            GelFriction::None | GelFriction::Sticking => Ok(()),
        }
    }

    /// Lamé's λ and μ (Pa).
    pub fn lame_pa(&self) -> (f64, f64) {
        let (e, nu) = (self.young_pa, self.poisson);
        (e * nu / ((1.0 + nu) * (1.0 - 2.0 * nu)), e / (2.0 * (1.0 + nu)))
    }

    /// Stiffness (Pa) of a layer that cannot give sideways: λ + 2μ.
    pub fn confined_pa(&self) -> f64 {
        let (lambda, mu) = self.lame_pa();
        lambda + 2.0 * mu
    }
}
