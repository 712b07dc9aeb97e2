//! The transpose of the distribution of loads over the taxels.

use super::{Layout, Taxels};
use dermis_geometry::Vec3;
use dermis_skin::{SurfaceField, Touch};

impl Taxels {
    /// Derivatives of a scalar by the force (1/N) of each contact point of a touch, from those by the force on each taxel.
    /// The position of a contact point on the undeformed skin does not change.
    pub(crate) fn by_point_forces(&self, touch: &Touch, by_forces: &[Vec3]) -> Vec<Vec3> {
        let Some(points) = touch.facets.points() else { return Vec::new() };
        let by_force = |(anchor, _): (Vec3, Vec3)| -> Vec3 {
            if self.spread_loads() {
                return self.shares(anchor).0.into_iter().map(|(taxel, share)| by_forces[taxel] * share).sum();
            }
            self.locate(anchor).map_or(Vec3::ZERO, |taxel| by_forces[taxel])
        };
        points.loads().map(by_force).collect()
    }

    /// Derivatives of a scalar by the stress (1/Pa) on each cell of the base, from those by the force on each taxel; `None`
    /// unless the taxels form a grid.
    pub(crate) fn by_base_stress(&self, base: &SurfaceField, by_forces: &[Vec3]) -> Option<Vec<Vec3>> {
        let Layout::Grid { cols, pitch_m, .. } = &self.layout else { return None };
        let [over_rows, over_cols] = self.overlaps(base)?;
        let mut by_stress = Vec::with_capacity(base.values.len());
        for down in &over_rows {
            for across in &over_cols {
                let mut sum = Vec3::ZERO;
                for &(taxel_row, height) in down {
                    for &(taxel_col, width) in across {
                        sum += by_forces[taxel_row * cols + taxel_col] * (height * width);
                    }
                }
                by_stress.push(sum * (pitch_m * pitch_m));
            }
        }
        Some(by_stress)
    }
}
