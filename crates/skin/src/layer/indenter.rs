//! What hangs over a layer.

use crate::Motion;
use dermis_geometry::{HeightField, HeightGrid, Vec2};

/// How deep each cell of a grid would be in the objects over it if nothing gave way, and in which of them.
#[derive(Clone, Debug, PartialEq)]
pub struct IndenterHeightMap {
    /// Depth (m), row by row: negative where the object is clear of the rest surface, −∞ where there is none.
    pub depth_m: Vec<f64>,
    /// The object, by its place in the motion; of no meaning where there is none.
    pub owner: Vec<u32>,
}

impl IndenterHeightMap {
    /// Draws the objects of a motion. What is higher than `most_m` over the surface does not matter.
    pub fn of_motion(grid: HeightGrid, motion: &Motion<'_>, most_m: f64) -> Self {
        let mut field = HeightField::empty(grid);
        let mut owner = vec![0; field.heights_m.len()];
        let size = Vec2::new(grid.cols as f64, grid.rows as f64) * (0.5 * grid.cell_m);
        for (index, target) in motion.targets.iter().enumerate() {
            let bounds = target.object.surface.bounds();
            let radius = 0.5 * bounds.size().length();
            let middle = target.sensor_from_object.transform_point(bounds.center());
            let beside = (middle.x - grid.center.x).abs() > size.x + radius
                || (middle.y - grid.center.y).abs() > size.y + radius;
            if beside || middle.z - radius > most_m {
                continue;
            }
            let before = if index > 0 { field.heights_m.clone() } else { Vec::new() };
            if field.lower(&target.object.surface, &target.sensor_from_object, most_m) && index > 0 {
                for (i, owner) in owner.iter_mut().enumerate() {
                    if field.heights_m[i] < before[i] {
                        *owner = index as u32;
                    }
                }
            }
        }
        let depth_m = field.heights_m.iter().map(|height| -height).collect();
        Self { depth_m, owner }
    }

    /// One object, whose underside is given as heights over the rest surface.
    pub fn of_heights(field: &HeightField) -> Self {
        let depth_m = field.heights_m.iter().map(|height| -height).collect();
        Self { depth_m, owner: vec![0; field.heights_m.len()] }
    }

    /// The greatest depth (m); −∞ where nothing is indenter.
    pub fn deepest_m(&self) -> f64 {
        self.depth_m.iter().copied().fold(f64::NEG_INFINITY, f64::max)
    }
}
