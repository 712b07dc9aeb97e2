//! A surface that takes the indenter's shape, with smoothed surroundings: an optical baseline without mechanics.

mod blur;

use crate::layer::IndenterHeightMap;
use crate::resolution::unresolved_on_grid;
use crate::{
    Facet, Load, Motion, Skin, SkinError, State, Support, SurfaceField, Tangent, Touch, require_not_negative,
    require_positive,
};
pub use blur::Blur;
use dermis_geometry::limits::MAX_LAYER_CELLS;
use dermis_geometry::{HeightGrid, Vec2, Vec3};
use std::sync::Arc;

/// Parameters of an imprint.
#[derive(Clone, Debug, PartialEq)]
pub struct ImprintParameters {
    /// Size along x and y (m).
    pub size_m: [f64; 2],
    /// Centre of the grid: x and y (m), in the sensor's frame.
    pub center_m: [f64; 2],
    /// Edge of a cell (m).
    pub cell_m: f64,
    /// Maximum indentation (m).
    pub thickness_m: f64,
    /// Pressure per unit of depth (Pa/m).
    pub stiffness_pa_per_m: f64,
    /// Standard deviation (m) of the narrow Gaussian, which pulls the surroundings down.
    pub narrow_m: f64,
    /// Standard deviation (m) of the wide Gaussian, which makes the surroundings bulge.
    pub wide_m: f64,
    /// Weight of the wide Gaussian, which is subtracted from the narrow one.
    pub bulge: f64,
    /// Heights (m) of the undeformed surface over z = 0, row by row; `None` for a flat one.
    pub rest_heights_m: Option<Arc<[f64]>>,
}

/// A baseline of optical tactile simulation (Gomes et al. 2021; Chen et al. 2023 compare with it).
///
/// In contact the surface has the shape of the object. Around it the depth is smoothed repeatedly by a difference of
/// Gaussians, (1 + b) G_n − b G_w, and clipped at the object. The pressure is that of independent springs; there is no
/// friction and no tangential displacement. Unlike the layer, it supports curved surfaces.
#[derive(Debug)]
pub struct Imprint {
    parameters: ImprintParameters,
    grid: HeightGrid,
    narrow: Blur,
    wide: Blur,
}

/// Number of smoothing passes.
const PASSES: usize = 6;

impl Imprint {
    /// Checks the parameters and builds the skin.
    pub fn new(parameters: ImprintParameters) -> Result<Self, SkinError> {
        let ImprintParameters { size_m, cell_m, narrow_m, wide_m, .. } = parameters;
        for (key, value) in
            [("size", size_m[0]), ("size", size_m[1]), ("cell", cell_m), ("narrow", narrow_m), ("wide", wide_m)]
        {
            require_positive(key, "m", value)?;
        }
        require_positive("thickness", "m", parameters.thickness_m)?;
        require_positive("stiffness_per_area", "Pa/m", parameters.stiffness_pa_per_m)?;
        require_not_negative("bulge", "1", parameters.bulge)?;
        let grid = Self::cells(size_m, parameters.center_m, cell_m);
        let (rows, cols) = (grid.rows as f64, grid.cols as f64);
        if rows * cols > MAX_LAYER_CELLS {
            return Err(SkinError::TooManyCells { rows, cols, max: MAX_LAYER_CELLS });
        }
        let expected = grid.rows * grid.cols;
        if let Some(got) =
            parameters.rest_heights_m.as_ref().map(|heights| heights.len()).filter(|got| *got != expected)
        {
            return Err(SkinError::StateMismatch { got, expected });
        }
        let (narrow, wide) = (Blur::new(narrow_m / cell_m), Blur::new(wide_m / cell_m));
        Ok(Self { parameters, grid, narrow, wide })
    }

    /// The grid of an imprint of this size.
    pub fn cells(size_m: [f64; 2], center_m: [f64; 2], cell_m: f64) -> HeightGrid {
        let [cols, rows] = size_m.map(|size| (size / cell_m).round().max(2.0) as usize);
        HeightGrid { rows, cols, cell_m, center: Vec2::from_array(center_m) }
    }

    /// Grid of the imprint.
    pub fn grid(&self) -> HeightGrid {
        self.grid
    }

    /// Indenter height map relative to the rest surface; depths are negative at cells without contact.
    fn overlap(&self, motion: &Motion<'_>) -> IndenterHeightMap {
        let mut indenter = IndenterHeightMap::of_motion(self.grid, motion, f64::INFINITY);
        if let Some(heights) = &self.parameters.rest_heights_m {
            indenter.depth_m.iter_mut().zip(heights.iter()).for_each(|(depth, height)| *depth += height);
        }
        indenter
    }

    /// Downward displacement (m) of each cell.
    fn displacements(&self, indenter: &IndenterHeightMap) -> Vec<f64> {
        // Under the rim of an object, the mean over the cell.
        let overlap_m: Vec<f64> =
            indenter.depth_m.iter().zip(&indenter.covered).map(|(depth, covered)| depth * covered).collect();
        let mut down_m: Vec<f64> = overlap_m.iter().map(|depth| depth.max(0.0)).collect();
        if down_m.iter().all(|depth| *depth == 0.0) {
            return down_m;
        }
        let bulge = self.parameters.bulge;
        for _ in 0..PASSES {
            let near = self.narrow.apply(&down_m, self.grid.cols);
            let far = self.wide.apply(&down_m, self.grid.cols);
            for (i, down) in down_m.iter_mut().enumerate() {
                let free = overlap_m[i] <= 0.0;
                let smooth = if free { (1.0 + bulge) * near[i] - bulge * far[i] } else { near[i] };
                // A cell without contact may rise, but not into the object.
                *down = smooth.max(overlap_m[i]);
            }
        }
        down_m
    }

    /// Outward normal of the undeformed surface at a cell.
    fn normal(&self, row: usize, col: usize) -> Vec3 {
        let Some(heights) = &self.parameters.rest_heights_m else { return Vec3::Z };
        let HeightGrid { rows, cols, cell_m, .. } = self.grid;
        let height = |row: usize, col: usize| heights[row * cols + col];
        let (left, right) = (col.saturating_sub(1), (col + 1).min(cols - 1));
        let (above, below) = (row.saturating_sub(1), (row + 1).min(rows - 1));
        let along_x = (height(row, right) - height(row, left)) / ((right - left) as f64 * cell_m);
        let along_y = (height(above, col) - height(below, col)) / ((below - above) as f64 * cell_m);
        Vec3::new(-along_x, -along_y, 1.0).normalize()
    }

    fn rest(&self, row: usize, col: usize) -> Vec3 {
        let middle = self.grid.cell_center(row, col);
        let height = self.parameters.rest_heights_m.as_ref().map_or(0.0, |heights| heights[row * self.grid.cols + col]);
        Vec3::new(middle.x, middle.y, height)
    }
}

impl Skin for Imprint {
    fn rest(&self) -> State {
        State::Imprint
    }

    fn touch(&self, state: &State, motion: &Motion<'_>, dt_s: f64) -> Result<(Touch, State), SkinError> {
        require_positive("dt", "s", dt_s)?;
        if *state != State::Imprint {
            return Err(SkinError::OtherSkin { expected: "imprint" });
        }
        motion.check()?;
        let ImprintParameters { stiffness_pa_per_m, thickness_m, .. } = self.parameters;
        let overlap = self.overlap(motion);
        let (cols, cell_area_m2) = (self.grid.cols, self.grid.cell_m * self.grid.cell_m);
        let mut facets = Vec::new();
        for (cell, &depth_m) in overlap.depth_m.iter().enumerate().filter(|(_, depth)| **depth > 0.0) {
            let (anchor, normal) = (self.rest(cell / cols, cell % cols), self.normal(cell / cols, cell % cols));
            // An inclined cell has a larger area than its projection, and a smaller depth along its normal.
            let (area_m2, along_m) =
                (overlap.covered[cell] * cell_area_m2 / normal.z, depth_m.min(thickness_m) * normal.z);
            let stiffness = stiffness_pa_per_m * area_m2;
            let at = anchor - Vec3::Z * depth_m;
            let load = Load::Point { at, anchor, area_m2, force: normal * (-stiffness * along_m) };
            let tangent = Tangent { stiffness_normal: stiffness, ..Tangent::default() };
            let saturated = depth_m > thickness_m;
            facets.push(Facet { object: overlap.owner[cell], normal, depth_m, saturated, load, tangent });
        }
        let mut touch = Touch::from_facets(facets, motion.targets.len());
        let rest_heights_m = self.parameters.rest_heights_m.as_deref();
        touch.warnings = unresolved_on_grid(&touch.facets, motion, &self.grid, rest_heights_m);
        touch.surface = Some(SurfaceField {
            rows: self.grid.rows,
            cols,
            cell_m: self.grid.cell_m,
            center: Vec3::new(self.grid.center.x, self.grid.center.y, 0.0),
            values: self.displacements(&overlap).iter().map(|down| -Vec3::Z * *down).collect(),
            rest_heights_m: self.parameters.rest_heights_m.clone(),
        });
        Ok((touch, State::Imprint))
    }

    fn fully_pressed(&self) -> Vec<Support> {
        let area_m2 = self.grid.cell_m * self.grid.cell_m;
        let cells = (0..self.grid.rows * self.grid.cols).map(|cell| (cell / self.grid.cols, cell % self.grid.cols));
        let tangent = |(row, col)| {
            let (at, normal) = (self.rest(row, col), self.normal(row, col));
            let stiffness_normal = self.parameters.stiffness_pa_per_m * area_m2 / normal.z;
            Support { at, normal, tangent: Tangent { stiffness_normal, ..Tangent::default() } }
        };
        cells.map(tangent).collect()
    }

    fn max_depth_m(&self) -> f64 {
        self.parameters.thickness_m
    }

    fn holds_shear(&self, _object: &crate::Object) -> bool {
        false
    }
}
