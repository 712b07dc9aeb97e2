//! Force of a texel as a function of its depth.

use crate::{SkinError, require_not_negative, require_positive};
use serde::{Deserialize, Serialize};

/// Elastic law of a texel.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Elasticity {
    /// Stiffness k of one texel (N/m), as in the paper: depends on the number of texels.
    PerTexel(f64),
    /// Stiffness k per unit of area (Pa/m): the same material at any resolution.
    PerArea(f64),
    /// Force of one texel (N) as a function of depth.
    TexelTable(Table),
    /// Pressure (Pa) as a function of depth.
    AreaTable(Table),
}

/// A monotone curve from (0, 0), linear between its points and beyond the last.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Table {
    /// Depths (m), increasing from 0.
    pub depth_m: Vec<f64>,
    /// Forces (N) or pressures (Pa), starting at 0, non-decreasing.
    pub load: Vec<f64>,
}

impl Table {
    fn validate(&self) -> Result<(), SkinError> {
        let rows = self.depth_m.len().min(self.load.len());
        let bad = |row: usize| SkinError::BadTable {
            row,
            depth_m: self.depth_m.get(row).copied().unwrap_or(f64::NAN),
            force: self.load.get(row).copied().unwrap_or(f64::NAN),
        };
        if rows < 2 || self.depth_m.len() != self.load.len() {
            return Err(bad(rows));
        }
        for row in 0..rows {
            let (depth, load) = (self.depth_m[row], self.load[row]);
            let fine = match row {
                0 => depth == 0.0 && load == 0.0,
                _ => depth > self.depth_m[row - 1] && load >= self.load[row - 1],
            };
            if !fine || !depth.is_finite() || !load.is_finite() {
                return Err(bad(row));
            }
        }
        Ok(())
    }

    /// Index of the segment that contains a depth.
    fn piece(&self, depth_m: f64) -> usize {
        self.depth_m.partition_point(|&d| d <= depth_m).clamp(1, self.depth_m.len() - 1) - 1
    }

    fn slope_of(&self, piece: usize) -> f64 {
        (self.load[piece + 1] - self.load[piece]) / (self.depth_m[piece + 1] - self.depth_m[piece])
    }

    fn load(&self, depth_m: f64) -> f64 {
        let piece = self.piece(depth_m);
        self.load[piece] + self.slope_of(piece) * (depth_m - self.depth_m[piece])
    }

    /// ∫ load dd from zero.
    fn integral(&self, depth_m: f64) -> f64 {
        let piece = self.piece(depth_m);
        let trapezoid = |from: f64, to: f64| 0.5 * (self.load(from) + self.load(to)) * (to - from);
        let whole: f64 = self.depth_m[..=piece].windows(2).map(|ends| trapezoid(ends[0], ends[1])).sum();
        whole + trapezoid(self.depth_m[piece], depth_m)
    }

    /// A depth of maximum slope.
    fn steepest(&self) -> f64 {
        let piece = (0..self.depth_m.len() - 1).max_by(|&a, &b| self.slope_of(a).total_cmp(&self.slope_of(b)));
        self.depth_m[piece.unwrap_or(0)]
    }
}

impl Elasticity {
    pub(crate) fn validate(&self) -> Result<(), SkinError> {
        match self {
            Self::PerTexel(k) => require_positive("stiffness", "N/m", *k),
            Self::PerArea(k) => require_positive("stiffness_per_area", "Pa/m", *k),
            Self::TexelTable(table) | Self::AreaTable(table) => table.validate(),
        }
    }

    /// The stiffness, if it does not depend on depth.
    #[inline(always)]
    pub(crate) fn linear(&self) -> Option<Per> {
        match *self {
            Self::PerTexel(k) => Some(Per::texel(k)),
            Self::PerArea(k) => Some(Per::area(k)),
            Self::TexelTable(_) | Self::AreaTable(_) => None,
        }
    }

    /// Force (N) and stiffness (N/m) at a depth (m) of a fraction `share` of a texel with an area.
    #[inline(always)]
    pub fn of_part(&self, depth_m: f64, share: f64, area_m2: f64) -> (f64, f64) {
        let (force, slope, part) = match self {
            Self::PerTexel(k) => (k * depth_m, *k, share),
            Self::PerArea(k) => (k * depth_m, *k, area_m2),
            Self::TexelTable(table) => (table.load(depth_m), table.slope_of(table.piece(depth_m)), share),
            Self::AreaTable(table) => (table.load(depth_m), table.slope_of(table.piece(depth_m)), area_m2),
        };
        (force * part, slope * part)
    }

    /// Force (N) at a depth (m) of a fraction `share` of a texel with an area, and energy (J) that it has taken.
    pub fn force_and_energy(&self, depth_m: f64, share: f64, area_m2: f64) -> (f64, f64) {
        let (force, _) = self.of_part(depth_m, share, area_m2);
        let energy = match self {
            Self::PerTexel(_) | Self::PerArea(_) => 0.5 * force * depth_m,
            Self::TexelTable(table) => table.integral(depth_m) * share,
            Self::AreaTable(table) => table.integral(depth_m) * area_m2,
        };
        (force, energy)
    }

    /// A depth (m), at most `max_m`, of maximum stiffness.
    pub fn steepest(&self, max_m: f64) -> f64 {
        match self {
            Self::PerTexel(_) | Self::PerArea(_) => max_m,
            Self::TexelTable(table) | Self::AreaTable(table) => table.steepest().min(max_m),
        }
    }
}

/// Damping law of a texel.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Damping {
    /// Damping c of one texel (N s/m).
    PerTexel(f64),
    /// Damping c per unit of area (Pa s/m).
    PerArea(f64),
}

impl Damping {
    pub(crate) fn validate(&self) -> Result<(), SkinError> {
        match self {
            Self::PerTexel(c) => require_not_negative("damping", "N s/m", *c),
            Self::PerArea(c) => require_not_negative("damping", "Pa s/m", *c),
        }
    }

    #[inline(always)]
    pub(crate) fn per(&self) -> Per {
        match *self {
            Self::PerTexel(c) => Per::texel(c),
            Self::PerArea(c) => Per::area(c),
        }
    }

    /// Damping c (N s/m) of a fraction `share` of a texel with an area.
    pub fn of_part(&self, share: f64, area_m2: f64) -> f64 {
        self.per().of(share, area_m2)
    }
}

/// A quantity per texel or per unit of area; the other is zero.
#[derive(Clone, Copy)]
pub(crate) struct Per {
    texel: f64,
    area: f64,
}

impl Per {
    #[inline(always)]
    fn texel(number: f64) -> Self {
        Self { texel: number, area: 0.0 }
    }

    #[inline(always)]
    fn area(number: f64) -> Self {
        Self { texel: 0.0, area: number }
    }

    /// The quantity for a fraction `share` of a texel with an area.
    #[inline(always)]
    pub fn of(self, share: f64, area_m2: f64) -> f64 {
        self.texel * share + self.area * area_m2
    }
}

/// Relation between depth along the ray and force along the contact normal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Law {
    /// The force is the derivative of the energy of the springs, hence conservative.
    #[default]
    Conservative,
    /// f_n = k d + c ḋ along the face normal, as printed. Gains energy on inclined faces.
    Paper,
}
