//! The output grid of the gel's surface.

use super::reference_grid::{ReferenceGrid, Stencil};
use crate::SurfaceField;
use dermis_geometry::{Ray, Surface, Vec3};
use std::sync::Arc;

/// The regular grid of points of the undeformed surface whose displacements are reported.
#[derive(Clone, Debug)]
pub(super) struct SurfaceGrid {
    pub rows: usize,
    pub cols: usize,
    pub cell_m: f64,
    pub center: Vec3,
    heights_m: Option<Arc<[f64]>>,
    /// None where there is no moving gel.
    stencils: Vec<Option<Stencil>>,
}

impl SurfaceGrid {
    pub fn of_block(grid: &ReferenceGrid, size_m: Vec3) -> Self {
        let cell_m = 0.5 * grid.cell_m.x;
        let count = |length: f64| ((length / cell_m).round() as usize).max(1);
        let mut out = Self {
            rows: count(size_m.y),
            cols: count(size_m.x),
            cell_m,
            center: Vec3::ZERO,
            heights_m: None,
            stencils: Vec::new(),
        };
        out.stencils = out.points().map(|point| Some(grid.stencil(point))).collect();
        out
    }

    pub fn of_solid(grid: &ReferenceGrid, surface: &Surface, floor_m: f64) -> Self {
        let bounds = surface.bounds();
        let cell_m = 0.5 * grid.cell_m.x;
        let count = |length: f64| ((length / cell_m).floor() as usize).max(1);
        let middle = bounds.center();
        let mut out = Self {
            rows: count(bounds.size().y),
            cols: count(bounds.size().x),
            cell_m,
            center: Vec3::new(middle.x, middle.y, 0.0),
            heights_m: None,
            stencils: Vec::new(),
        };
        let heights: Vec<Option<f64>> = out
            .points()
            .map(|point| {
                let origin = Vec3::new(point.x, point.y, bounds.max.z + 1e-3);
                let ray = Ray { origin, direction: -Vec3::Z, length: bounds.size().z + 2e-3 };
                surface.cast(&ray, None).map(|hit| origin.z - hit.distance).filter(|height| *height > floor_m)
            })
            .collect();
        let stencils = out
            .points()
            .zip(&heights)
            .map(|(point, height)| height.map(|z| grid.stencil(Vec3::new(point.x, point.y, z))))
            .collect();
        out.stencils = stencils;
        out.heights_m = Some(heights.into_iter().map(|height| height.unwrap_or(floor_m)).collect());
        out
    }

    /// Marks points as not moving where `held` is true.
    pub fn exclude(&mut self, held: impl Fn(Vec3) -> bool) {
        let heights = self.heights_m.clone();
        for (i, point) in self.points().enumerate() {
            let height_m = heights.as_ref().map_or(0.0, |heights| heights[i]);
            if held(Vec3::new(point.x, point.y, height_m)) {
                self.stencils[i] = None;
            }
        }
    }

    /// Centres of its cells (m), in the plane of its centre.
    pub fn points(&self) -> impl Iterator<Item = Vec3> + use<> {
        let field = SurfaceField {
            rows: self.rows,
            cols: self.cols,
            cell_m: self.cell_m,
            center: self.center,
            values: Vec::new(),
            rest_heights_m: None,
        };
        (0..self.rows * self.cols).map(move |i| field.rest(i / field.cols, i % field.cols))
    }

    pub fn field(&self, grid: &ReferenceGrid, u: &[f64]) -> SurfaceField {
        SurfaceField {
            rows: self.rows,
            cols: self.cols,
            cell_m: self.cell_m,
            center: self.center,
            values: self
                .stencils
                .iter()
                .map(|stencil| stencil.map_or(Vec3::ZERO, |stencil| grid.at(u, &stencil)))
                .collect(),
            rest_heights_m: self.heights_m.clone(),
        }
    }
}
