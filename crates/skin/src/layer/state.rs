//! The history of a layer.

use super::product::Region;
use super::relaxation::Tractions;
use serde::{Deserialize, Serialize};

/// Largest traction (Pa) of a sound state: far above that of any material.
const MAX_PA: f64 = 1e15;

/// The history of a layer: its tractions, which are zero outside the region.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LayerState {
    /// Rows of the layer's grid.
    pub rows: usize,
    /// Columns of the layer's grid.
    pub cols: usize,
    /// The cells with tractions.
    pub region: Region,
    /// Tractions of the equilibrium modulus (Pa).
    pub lasting: Tractions,
    /// Tractions of each branch of the relaxation spectrum (Pa).
    pub held: Vec<Tractions>,
    /// Pressure (Pa) divided by the relative stiffness of the last step: the initial guess of the next.
    pub pressure: Vec<f64>,
}

impl LayerState {
    /// State without contact.
    pub fn rest(rows: usize, cols: usize, branches: usize) -> Self {
        Self { rows, cols, held: vec![Tractions::default(); branches], ..Self::default() }
    }

    /// True if the region lies on the grid and all tractions are finite and belong to it.
    pub(crate) fn is_sound(&self) -> bool {
        let Region { row, col, rows, cols } = self.region;
        let inside = |first: usize, count: usize, all: usize| first.checked_add(count).is_some_and(|end| end <= all);
        let fits = |part: &Vec<f64>| part.len() == self.region.len() && part.iter().all(|value| value.abs() <= MAX_PA);
        let tractions = std::iter::once(&self.lasting).chain(&self.held).flat_map(|tractions| &tractions.parts);
        inside(row, rows, self.rows) && inside(col, cols, self.cols) && tractions.chain([&self.pressure]).all(fits)
    }

    /// The same state on another region: cropped, and padded with zeros.
    pub fn on(&self, region: &Region) -> Self {
        let move_one = |part: &[f64]| moved(part, &self.region, region);
        let all = |tractions: &Tractions| Tractions { parts: tractions.parts.each_ref().map(|part| move_one(part)) };
        Self {
            region: *region,
            lasting: all(&self.lasting),
            held: self.held.iter().map(all).collect(),
            pressure: move_one(&self.pressure),
            ..*self
        }
    }
}

/// A field of one region on another: cropped, and padded with zeros.
pub fn moved(part: &[f64], from: &Region, to: &Region) -> Vec<f64> {
    let mut out = vec![0.0; to.len()];
    if part.is_empty() {
        return out;
    }
    let first = from.col.max(to.col);
    let last = (from.col + from.cols).min(to.col + to.cols);
    for row in from.row.max(to.row)..(from.row + from.rows).min(to.row + to.rows) {
        if first < last {
            let count = last - first;
            let source = (row - from.row) * from.cols + first - from.col;
            let target = (row - to.row) * to.cols + first - to.col;
            out[target..target + count].copy_from_slice(&part[source..source + count]);
        }
    }
    out
}
