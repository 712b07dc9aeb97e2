//! Parameters of a layer.

use super::{Branch, Laminate, Ply};
use crate::shared_numbers::shared_numbers;
use crate::{SkinError, require_not_negative, require_positive};
use dermis_geometry::limits::{MAX_LAYER_CELLS, require_memory};
use dermis_geometry::{HeightGrid, Vec2};

/// Memory of a press for each cell (bytes): spectra of the padded grid, tractions, displacements.
const CELL_BYTES: f64 = 500.0;

/// Material, size and friction of a layer.
#[derive(Clone, Debug, PartialEq)]
pub struct LayerParameters {
    /// Plies, the uppermost first.
    pub plies: Vec<Ply>,
    /// Size of the layer along x and y (m), centred on the sensor's origin.
    pub size_m: [f64; 2],
    /// Edge of a cell (m).
    pub cell_m: f64,
    /// Contact with objects.
    pub contact: LayerContact,
    /// Couples normal and tangential tractions and displacements. Closed forms of friction hold without coupling.
    pub coupled: bool,
    /// Also computes tangential displacements and stresses for a frictionless layer. Without them a step takes half the
    /// time.
    pub lateral: bool,
    /// Maximum number of increments of a step whose shear depends on its path; 1 solves each step at once.
    pub max_increments: usize,
    /// Relaxation spectrum, in addition to the equilibrium modulus.
    pub relaxation: Vec<Branch>,
    /// Depth (m) at which stress is sensed; defaults to the base.
    pub sense_depth_m: Option<f64>,
}

shared_numbers! {
    /// Contact between a layer and an object.
    LayerContact: f64 {
        /// Friction coefficient μ for objects that do not define their own; zero is frictionless.
        mu,
        /// Maximum residual overlap or gap, relative to the maximum depth.
        tolerance,
    }
}

impl LayerContact {
    /// No friction, tolerance 1e-5.
    pub const FRICTIONLESS: Self = Self { mu: 0.0, tolerance: 1e-5 };

    /// The contact with an object that may define its own friction coefficient.
    pub fn with_object(&self, mu: Option<f64>) -> Self {
        Self { mu: mu.unwrap_or(self.mu), ..*self }
    }

    /// The same contact without friction.
    pub fn without_friction(&self) -> Self {
        Self { tolerance: self.tolerance, ..Self::FRICTIONLESS }
    }

    /// True if the contact transfers shear. `has_friction` in `friction.cu`.
    pub fn has_friction(&self) -> bool {
        self.mu > 0.0
    }

    /// Maximum shear traction (Pa) under a pressure (Pa): μp. `max_shear` in `friction.cu`.
    pub fn max_shear_pa(&self, pressure_pa: f64) -> f64 {
        self.mu * pressure_pa
    }

    fn validate(&self) -> Result<(), SkinError> {
        require_not_negative("mu", "1", self.mu)?;
        require_positive("tolerance", "1", self.tolerance)
    }
}

impl LayerParameters {
    /// One ply without friction or relaxation, tolerance 1e-5.
    pub fn new(ply: Ply, size_m: [f64; 2], cell_m: f64) -> Self {
        Self {
            plies: vec![ply],
            size_m,
            cell_m,
            contact: LayerContact::FRICTIONLESS,
            coupled: true,
            lateral: true,
            max_increments: 8,
            relaxation: Vec::new(),
            sense_depth_m: None,
        }
    }

    /// Checks the parameters and returns the laminate.
    pub fn validate(&self) -> Result<Laminate, SkinError> {
        let laminate = Laminate::new(self.plies.clone())?;
        require_positive("size", "m", self.size_m[0])?;
        require_positive("size", "m", self.size_m[1])?;
        require_positive("cell", "m", self.cell_m)?;
        let smallest_m = self.size_m[0].min(self.size_m[1]);
        if self.cell_m > 0.5 * smallest_m {
            return Err(SkinError::CoarseCells { cell_mm: self.cell_m * 1e3, size_mm: smallest_m * 1e3 });
        }
        self.contact.validate()?;
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
        require_memory(rows * cols * CELL_BYTES).map_err(|error| SkinError::NoMemory { rows, cols, error })?;
        Ok(HeightGrid { rows: rows as usize, cols: cols as usize, cell_m: self.cell_m, center: Vec2::ZERO })
    }
}
