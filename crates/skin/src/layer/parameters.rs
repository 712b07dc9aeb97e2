//! Parameters of a layer.

use super::{Branch, Laminate, Ply};
use crate::{SkinError, require_not_negative, require_positive};
use dermis_geometry::limits::MAX_LAYER_CELLS;
use dermis_geometry::{HeightGrid, Vec2};

/// Material, size and friction of a layer.
#[derive(Clone, Debug, PartialEq)]
pub struct LayerParameters {
    /// Plies, the uppermost first.
    pub plies: Vec<Ply>,
    /// Size of the layer along x and y (m), centred on the sensor's origin.
    pub size_m: [f64; 2],
    /// Edge of a cell (m).
    pub cell_m: f64,
    /// Friction coefficient μ for objects that do not define their own; zero is frictionless.
    pub mu: f64,
    /// Couples normal and tangential tractions and displacements. Closed forms of friction hold without coupling.
    pub coupled: bool,
    /// Also computes tangential displacements and stresses for a frictionless layer. Without them a step takes half the
    /// time.
    pub lateral: bool,
    /// Relaxation spectrum, in addition to the equilibrium modulus.
    pub relaxation: Vec<Branch>,
    /// Depth (m) at which stress is sensed; defaults to the base.
    pub sense_depth_m: Option<f64>,
    /// Maximum residual overlap or gap, relative to the maximum depth.
    pub tolerance: f64,
}

impl LayerParameters {
    /// One ply without friction or relaxation, tolerance 1e-5.
    pub fn new(ply: Ply, size_m: [f64; 2], cell_m: f64) -> Self {
        Self {
            plies: vec![ply],
            size_m,
            cell_m,
            mu: 0.0,
            coupled: true,
            lateral: true,
            relaxation: Vec::new(),
            sense_depth_m: None,
            tolerance: 1e-5,
        }
    }

    /// Names of the numbers that solvers use per cell. GPU kernels access them as a struct of these fields.
    pub const NUMBERS: [&str; 2] = ["mu", "tolerance"];

    /// The values of [`LayerParameters::NUMBERS`].
    pub fn numbers(&self) -> [f64; Self::NUMBERS.len()] {
        [self.mu, self.tolerance]
    }

    /// Checks the parameters and returns the laminate.
    pub fn validate(&self) -> Result<Laminate, SkinError> {
        let laminate = Laminate::new(self.plies.clone())?;
        require_positive("size", "m", self.size_m[0])?;
        require_positive("size", "m", self.size_m[1])?;
        require_positive("cell", "m", self.cell_m)?;
        require_not_negative("mu", "1", self.mu)?;
        require_positive("tolerance", "1", self.tolerance)?;
        self.relaxation.iter().try_for_each(Branch::validate)?;
        if let Some(depth_m) = self.sense_depth_m {
            require_positive("sense_depth", "m", depth_m)?;
            if depth_m > laminate.thickness_m() {
                let (depth_mm, max_mm) = (depth_m * 1e3, laminate.thickness_m() * 1e3);
                return Err(SkinError::SensesBelowBase { depth_mm, max_mm });
            }
        }
        Ok(laminate)
    }

    pub(super) fn sense_depth_m(&self, laminate: &Laminate) -> f64 {
        self.sense_depth_m.unwrap_or_else(|| laminate.thickness_m())
    }

    /// The grid, with its size rounded to whole cells.
    pub(super) fn grid(&self) -> Result<HeightGrid, SkinError> {
        let [cols, rows] = self.size_m.map(|size_m| (size_m / self.cell_m).round().max(1.0));
        if rows * cols > MAX_LAYER_CELLS {
            return Err(SkinError::TooManyCells { rows, cols, max: MAX_LAYER_CELLS });
        }
        Ok(HeightGrid { rows: rows as usize, cols: cols as usize, cell_m: self.cell_m, center: Vec2::ZERO })
    }
}
