//! A vector field on a regular grid over the sensor's surface.

use dermis_geometry::Vec3;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Vectors at the cells of a grid, row 0 at +y: the displacement of a surface (m) or the stress vector on a plane (Pa).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SurfaceField {
    /// Number of rows.
    pub rows: usize,
    /// Number of columns.
    pub cols: usize,
    /// Edge of a cell (m).
    pub cell_m: f64,
    /// Centre of the grid, in the sensor's frame (m).
    pub center: Vec3,
    /// Vectors, row by row.
    pub values: Vec<Vec3>,
    /// Height (m) of the undeformed surface over the plane of `center` at each cell; `None` for a flat surface.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rest_heights_m: Option<Arc<[f64]>>,
}

impl SurfaceField {
    /// Position (m) of a cell's centre on the undeformed surface, in the sensor's frame.
    pub fn rest(&self, row: usize, col: usize) -> Vec3 {
        let along = |index: usize, count: usize| (index as f64 - 0.5 * (count as f64 - 1.0)) * self.cell_m;
        let height = self.rest_heights_m.as_ref().map_or(0.0, |heights| heights[row * self.cols + col]);
        self.center + Vec3::new(along(col, self.cols), -along(row, self.rows), height)
    }
}
