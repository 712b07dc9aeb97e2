//! Pressure laws and Hunt–Crossley dissipation.

use crate::{SkinError, require_not_negative, require_positive};
use serde::{Deserialize, Serialize};

/// Pressure (Pa) as a function of the extent e, the depth as a fraction of the maximum depth.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum PressureLaw {
    /// p = E e.
    Linear {
        /// E, the hydroelastic modulus (Pa).
        modulus_pa: f64,
    },
    /// Piecewise linear between given points, extrapolated beyond the last.
    Table {
        /// Extents, increasing from 0.
        extent: Vec<f64>,
        /// Pressures (Pa), increasing from 0.
        pressure_pa: Vec<f64>,
    },
}

/// An interval of extents with linear pressure: p = `at_pa` + `slope_pa` (e − `from`).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Piece {
    /// Extent at the start of the interval.
    pub from: f64,
    /// Extent at the end; infinite for the last interval.
    pub to: f64,
    /// Pressure (Pa) at the start.
    pub at_pa: f64,
    /// dp/de (Pa).
    pub slope_pa: f64,
}

impl Piece {
    /// Pressure (Pa) at an extent.
    pub fn pressure(&self, extent: f64) -> f64 {
        self.at_pa + self.slope_pa * (extent - self.from)
    }
}

impl PressureLaw {
    /// Checks the modulus or the table.
    pub fn validate(&self) -> Result<(), SkinError> {
        let (extent, pressure) = match self {
            Self::Linear { modulus_pa } => return require_positive("hydroelastic_modulus", "Pa", *modulus_pa),
            Self::Table { extent, pressure_pa } => (extent, pressure_pa),
        };
        let rows = extent.len().min(pressure.len());
        for row in 0..rows {
            let (e, p) = (extent[row], pressure[row]);
            let fine = match row {
                0 => e == 0.0 && p == 0.0,
                _ => e > extent[row - 1] && p > pressure[row - 1],
            };
            if !(fine && e.is_finite() && p.is_finite()) {
                return Err(SkinError::BadPressureTable { row, extent: e, pressure_pa: p });
            }
        }
        if rows < 2 || extent.len() != pressure.len() {
            return Err(SkinError::BadPressureTable { row: rows, extent: f64::NAN, pressure_pa: f64::NAN });
        }
        Ok(())
    }

    pub(super) fn pieces(&self) -> Vec<Piece> {
        match self {
            Self::Linear { modulus_pa } => {
                vec![Piece { from: 0.0, to: f64::INFINITY, at_pa: 0.0, slope_pa: *modulus_pa }]
            }
            Self::Table { extent, pressure_pa } => (0..extent.len() - 1)
                .map(|k| Piece {
                    from: extent[k],
                    to: if k + 2 < extent.len() { extent[k + 1] } else { f64::INFINITY },
                    at_pa: pressure_pa[k],
                    slope_pa: (pressure_pa[k + 1] - pressure_pa[k]) / (extent[k + 1] - extent[k]),
                })
                .collect(),
        }
    }

    /// Maximum of dp/de (Pa).
    pub fn steepest_pa(&self) -> f64 {
        self.pieces().iter().map(|piece| piece.slope_pa).fold(0.0, f64::max)
    }

    /// Effective modulus (Pa) for the dissipation of a pair: the pressure at e = 1.
    pub fn modulus_pa(&self) -> f64 {
        let pieces = self.pieces();
        let last = pieces.iter().rev().find(|piece| piece.from < 1.0).unwrap_or(&pieces[0]);
        last.pressure(1.0)
    }
}

/// Material of a compliant body.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Material {
    /// Pressure as a function of extent.
    pub law: PressureLaw,
    /// Hunt–Crossley dissipation d (s/m): an approach at speed v multiplies the pressure by 1 + d v.
    pub dissipation_s_per_m: f64,
}

impl Material {
    /// A material with p = E e, without dissipation.
    pub fn linear(modulus_pa: f64) -> Self {
        Self { law: PressureLaw::Linear { modulus_pa }, dissipation_s_per_m: 0.0 }
    }

    /// The hydroelastic modulus (Pa) with which a rigid ball of `radius_m` at the depth `indentation_m` has the force of
    /// Hertz on a half-space with Young's modulus `young_pa`. `depth_m` is the depth of the body at which its pressure
    /// is the modulus: the thickness of a pad, about half the thickness of a solid.
    ///
    /// The field is a bed of springs, F = π E_h R δ²/H; Hertz gives F = 4/3 E* √R δ^(3/2) with E* = E/(1 − ν²). They are
    /// equal for E_h = 4 E* H/(3π √(R δ)). At other depths the forces differ by the factor √(δ/δ₀). For a round body, R
    /// is the relative radius 1/(1/R₁ + 1/R₂).
    pub fn modulus_like_hertz_pa(
        young_pa: f64,
        poisson: f64,
        depth_m: f64,
        radius_m: f64,
        indentation_m: f64,
    ) -> Result<f64, SkinError> {
        require_positive("young", "Pa", young_pa)?;
        for (key, length) in [("depth", depth_m), ("radius", radius_m), ("indentation", indentation_m)] {
            require_positive(key, "m", length)?;
        }
        if !(poisson > -1.0 && poisson <= 0.5) {
            return Err(SkinError::BadPoisson { got: poisson });
        }
        let effective_pa = young_pa / (1.0 - poisson * poisson);
        Ok(4.0 * effective_pa * depth_m / (3.0 * std::f64::consts::PI * (radius_m * indentation_m).sqrt()))
    }

    /// The hydroelastic modulus (Pa) of a pad that is much thinner than its contacts are wide (a Winkler foundation): the
    /// modulus of confined compression, E(1 − ν)/((1 + ν)(1 − 2ν)).
    pub fn modulus_like_pad_pa(young_pa: f64, poisson: f64) -> Result<f64, SkinError> {
        require_positive("young", "Pa", young_pa)?;
        if !(poisson > -1.0 && poisson < 0.5) {
            return Err(SkinError::BadPoisson { got: poisson });
        }
        Ok(young_pa * (1.0 - poisson) / ((1.0 + poisson) * (1.0 - 2.0 * poisson)))
    }

    /// The same material with dissipation (s/m).
    pub fn with_dissipation(self, dissipation_s_per_m: f64) -> Self {
        Self { dissipation_s_per_m, ..self }
    }

    /// Checks the ranges of the parameters.
    pub fn validate(&self) -> Result<(), SkinError> {
        self.law.validate()?;
        require_not_negative("dissipation", "s/m", self.dissipation_s_per_m)
    }
}

/// d* = Σ (E*/Eᵢ) dᵢ with 1/E* = Σ 1/Eᵢ: the softer body, which deforms more, has the larger weight. A rigid body
/// (`None`) has infinite E and no weight.
pub(super) fn dissipation(a: Option<&Material>, b: Option<&Material>) -> f64 {
    match (a, b) {
        (Some(a), Some(b)) => {
            let (ea, eb) = (a.law.modulus_pa(), b.law.modulus_pa());
            (eb * a.dissipation_s_per_m + ea * b.dissipation_s_per_m) / (ea + eb)
        }
        (Some(one), None) | (None, Some(one)) => one.dissipation_s_per_m,
        (None, None) => 0.0,
    }
}
