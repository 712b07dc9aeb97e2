//! A quantity known on a regular grid of the sensor's surface.

use dermis_geometry::Vec3;
use serde::{Deserialize, Serialize};

/// Vectors at the cells of a grid, row 0 at +y: a surface's displacement (m) or the stress vector on a plane (Pa).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Field {
    /// Number of rows.
    pub rows: usize,
    /// Number of columns.
    pub cols: usize,
    /// Edge of a cell (m).
    pub cell_m: f64,
    /// Middle of the grid, in the sensor's frame (m).
    pub center: Vec3,
    /// Row by row.
    pub values: Vec<Vec3>,
}
