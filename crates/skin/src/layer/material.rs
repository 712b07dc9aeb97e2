//! Elastic material of a layer.

use crate::{SkinError, require_positive};
use serde::{Deserialize, Serialize};

/// Poisson's ratio of a material.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Poisson {
    /// Poisson's ratio ν, above −1 and below ½.
    Ratio(f64),
    /// Incompressible: ν = ½.
    Incompressible,
}

impl Poisson {
    /// Poisson's ratio ν.
    pub fn ratio(self) -> f64 {
        match self {
            Self::Ratio(nu) => nu,
            Self::Incompressible => 0.5,
        }
    }

    fn validate(self) -> Result<(), SkinError> {
        match self {
            Self::Ratio(nu) if nu > -1.0 && nu < 0.5 => Ok(()),
            Self::Ratio(got) => Err(SkinError::BadPoisson { got }),
            Self::Incompressible => Ok(()),
        }
    }
}

/// One homogeneous ply of a laminate.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ply {
    /// h: thickness (m).
    pub thickness_m: f64,
    /// E: Young's modulus (Pa).
    pub young_pa: f64,
    /// Poisson's ratio ν.
    pub poisson: Poisson,
}

impl Ply {
    /// Checks the ranges of the parameters.
    pub fn validate(&self) -> Result<(), SkinError> {
        require_positive("thickness", "m", self.thickness_m)?;
        require_positive("young", "Pa", self.young_pa)?;
        self.poisson.validate()
    }

    /// μ: shear modulus (Pa).
    pub fn shear_pa(&self) -> f64 {
        0.5 * self.young_pa / (1.0 + self.poisson.ratio())
    }

    /// E/(1 − ν²): plane-strain modulus (Pa).
    pub fn plane_strain_pa(&self) -> f64 {
        let nu = self.poisson.ratio();
        self.young_pa / (1.0 - nu * nu)
    }

    /// M = E(1 − ν)/((1 + ν)(1 − 2ν)): confined compression modulus (Pa); infinite at ν = ½.
    pub fn confined_pa(&self) -> f64 {
        let nu = self.poisson.ratio();
        self.young_pa * (1.0 - nu) / ((1.0 + nu) * (1.0 - 2.0 * nu))
    }
}
