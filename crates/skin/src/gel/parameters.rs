//! Material and numerical parameters of a gel, and the coefficients that solvers derive from them.

use crate::shared_numbers::shared_numbers;
use crate::{SkinError, require_not_negative, require_positive};
use dermis_geometry::Vec3;
use serde::{Deserialize, Serialize};

/// Stress–strain law. All agree with linear elasticity at small strain.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Constitution {
    /// Ψ = μ/2 (tr FᵀF − 3) − μ ln J + λ/2 (J − 1)².
    #[default]
    NeoHookean,
    /// Ψ = μ ‖F − R‖² + λ/2 (J − 1)², R the rotation in F (Stomakhin et al. 2012), the elasticity of Chen et al. 2023.
    FixedCorotated,
    /// Small strains: Ψ = μ ‖ε‖² + λ/2 (tr ε)². For equilibrium only; for comparison with closed forms.
    Linear,
}

/// Friction between gel and objects.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub enum GelFriction {
    /// Frictionless.
    #[default]
    None,
    /// Coulomb friction: the shear traction is at most μ times the pressure.
    Coulomb {
        /// Friction coefficient μ.
        mu: f64,
    },
    /// No slip while in contact.
    Sticking,
}

impl GelFriction {
    /// Friction coefficient; infinite for [`Self::Sticking`].
    pub fn mu(&self) -> f64 {
        match *self {
            Self::None => 0.0,
            Self::Coulomb { mu } => mu,
            Self::Sticking => f64::INFINITY,
        }
    }
}

/// Material and resolution of a gel.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GelParameters {
    /// Young's modulus (Pa).
    pub young_pa: f64,
    /// Poisson's ratio, from 0 to below 0.5.
    pub poisson: f64,
    /// Density (kg/m³).
    pub density_kg_per_m3: f64,
    /// Stress–strain law.
    pub constitution: Constitution,
    /// Edge of a grid cell (m), adjusted so that an integer number of cells fits a block. A cell holds eight particles.
    pub cell_m: f64,
    /// Friction.
    pub friction: GelFriction,
    /// Mass-proportional damping rate (1/s): force = −rate · mass · velocity.
    pub damping_per_s: f64,
    /// Factor on the mass while the gel moves; 1 gives the true dynamics. Stable steps grow with its square root. The
    /// kinetic energy ([`super::Energy`]) measures the error.
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

/// Largest Poisson's ratio of a gel.
pub const MAX_POISSON: f64 = 0.495;

impl GelParameters {
    /// Checks the ranges of all parameters.
    pub fn validate(&self) -> Result<(), SkinError> {
        require_positive("young", "Pa", self.young_pa)?;
        require_positive("density", "kg/m³", self.density_kg_per_m3)?;
        require_positive("cell", "m", self.cell_m)?;
        require_not_negative("damping", "1/s", self.damping_per_s)?;
        if !(0.0..=MAX_POISSON).contains(&self.poisson) {
            return Err(SkinError::BadGel {
                key: "poisson",
                rule: format!("must be from 0 to {MAX_POISSON}: a gel is compressible, got {}", self.poisson),
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

    /// Lamé parameters λ and μ (Pa).
    pub fn lame_pa(&self) -> (f64, f64) {
        let (e, nu) = (self.young_pa, self.poisson);
        (e * nu / ((1.0 + nu) * (1.0 - 2.0 * nu)), e / (2.0 * (1.0 + nu)))
    }

    /// Derivatives of the Lamé parameters λ and μ (Pa) by Poisson's ratio.
    pub(super) fn lame_by_poisson_pa(&self) -> (f64, f64) {
        let (e, nu) = (self.young_pa, self.poisson);
        let (one, two) = (1.0 + nu, 1.0 - 2.0 * nu);
        (e * (1.0 + 2.0 * nu * nu) / (one * one * two * two), -e / (2.0 * one * one))
    }

    /// P-wave modulus λ + 2μ (Pa): stiffness in confined compression.
    pub fn confined_pa(&self) -> f64 {
        let (lambda, mu) = self.lame_pa();
        lambda + 2.0 * mu
    }

    /// Coefficients of the equilibrium problem on a grid with the given cell edges (m).
    pub fn coefficients(&self, cell_m: Vec3) -> Coefficients {
        let (lambda_pa, mu_pa) = self.lame_pa();
        let edge = cell_m.min_element();
        let contact_normal = CONTACT_BY_CONFINED * self.confined_pa() / edge;
        Coefficients {
            lambda_pa,
            mu_pa,
            contact_normal,
            contact_tangential: TANGENTIAL_BY_NORMAL * contact_normal,
            friction: self.friction.mu(),
            reach_m: edge,
        }
    }

    /// Constants of an MPM step of `dt_s` (s), in single precision.
    pub fn step_constants(&self, dt_s: f64) -> StepConstants {
        let (lambda, mu) = self.lame_pa();
        StepConstants {
            lambda_pa: lambda as f32,
            mu_pa: mu as f32,
            dt_s: dt_s as f32,
            density: (self.density_kg_per_m3 * self.mass_scaling) as f32,
            damping_factor: (1.0 - self.damping_per_s * dt_s).max(0.0) as f32,
        }
    }
}

/// Contact stiffness at equilibrium divided by that of a confined cell. The augmented Lagrangian removes the remaining
/// penetration.
const CONTACT_BY_CONFINED: f64 = 2.0;
/// Tangential contact stiffness divided by the normal one.
const TANGENTIAL_BY_NORMAL: f64 = 6.0;

shared_numbers! {
    /// Coefficients of the equilibrium problem.
    Coefficients: f64 {
        /// Lamé parameter λ (Pa).
        lambda_pa,
        /// Lamé parameter μ (Pa).
        mu_pa,
        /// Normal contact stiffness (Pa/m).
        contact_normal,
        /// Tangential contact stiffness (Pa/m).
        contact_tangential,
        /// Friction coefficient; infinite for no slip.
        friction,
        /// Distance (m) from an object within which a point is tested for contact.
        reach_m,
    }
}

/// Normal contact stiffness of derivatives, by that of the augmented Lagrangian: the penetration under a pressure of a
/// tenth of the modulus is 1/600 of a cell.
const RIGID_BY_CONTACT: f64 = 30.0;

impl Coefficients {
    /// The same with a contact so stiff that its penetration is small without an augmented Lagrangian.
    pub(super) fn rigid(self) -> Self {
        Self { contact_normal: RIGID_BY_CONTACT * self.contact_normal, ..self }
    }
}

shared_numbers! {
    /// Constants of an MPM step.
    StepConstants: f32 {
        /// Lamé parameter λ (Pa).
        lambda_pa,
        /// Lamé parameter μ (Pa).
        mu_pa,
        /// Length of a step (s).
        dt_s,
        /// Density (kg/m³), including mass scaling.
        density,
        /// Damping factor on the grid velocities in a step.
        damping_factor,
    }
}
