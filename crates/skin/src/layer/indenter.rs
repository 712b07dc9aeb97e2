//! Height maps of the objects over a layer.

use crate::Motion;
use dermis_geometry::{HeightField, HeightGrid, Vec2};

/// Penetration of the objects into the undeformed surface at each cell of a grid, and the object at each cell.
#[derive(Clone, Debug, PartialEq)]
pub struct IndenterHeightMap {
    /// Penetration (m), row by row: negative above the rest surface, −∞ without an object.
    pub depth_m: Vec<f64>,
    /// Index of the object in the motion; undefined without an object.
    pub owner: Vec<u32>,
    /// Fraction of each cell that the object covers: below 1 under its rim.
    pub covered: Vec<f64>,
}

impl IndenterHeightMap {
    /// Height map of the objects of a motion, up to `max_m` above the surface.
    pub fn of_motion(grid: HeightGrid, motion: &Motion<'_>, max_m: f64) -> Self {
        let mut field = HeightField::empty(grid);
        let mut owner = vec![0; field.heights_m.len()];
        let size = Vec2::new(grid.cols as f64, grid.rows as f64) * (0.5 * grid.cell_m);
        for (index, target) in motion.targets.iter().enumerate() {
            let bounds = target.object.surface.bounds();
            let radius = 0.5 * bounds.size().length();
            let middle = target.sensor_from_object.transform_point(bounds.center());
            let beside = (middle.x - grid.center.x).abs() > size.x + radius
                || (middle.y - grid.center.y).abs() > size.y + radius;
            if beside || middle.z - radius > max_m {
                continue;
            }
            let before = if index > 0 { field.heights_m.clone() } else { Vec::new() };
            if field.lower(&target.object.surface, &target.sensor_from_object, max_m) && index > 0 {
                for (i, owner) in owner.iter_mut().enumerate() {
                    if field.heights_m[i] < before[i] {
                        *owner = index as u32;
                    }
                }
            }
        }
        let depth_m = field.heights_m.iter().map(|height| -height).collect();
        Self { depth_m, owner, covered: field.covered }
    }

    /// Height map of one object, from the heights of its underside over the rest surface.
    pub fn of_heights(field: &HeightField) -> Self {
        let depth_m = field.heights_m.iter().map(|height| -height).collect();
        Self { depth_m, owner: vec![0; field.heights_m.len()], covered: field.covered.clone() }
    }

    /// Maximum penetration (m); −∞ without an object.
    pub fn deepest_m(&self) -> f64 {
        self.depth_m.iter().copied().fold(f64::NEG_INFINITY, f64::max)
    }
}
