//! The output grid of the gel's surface.

use super::reference_grid::{ReferenceGrid, Stencil};
use crate::resolution::unresolved_on_grid;
use crate::{Facets, Motion, SurfaceField, Warning};
use dermis_geometry::{HeightGrid, Ray, Surface, Vec3};
use std::sync::Arc;

/// The regular grid of points of the undeformed surface whose displacements are reported.
#[derive(Clone, Debug)]
pub(super) struct SurfaceGrid {
    /// The grid in a plane, without values.
    pub plane: SurfaceField,
    heights_m: Option<Arc<[f64]>>,
    /// `None` for points without moving gel.
    stencils: Vec<Option<Stencil>>,
}

impl SurfaceGrid {
    pub fn of_block(grid: &ReferenceGrid, size_m: Vec3) -> Self {
        let mut out = Self::new(grid, Vec3::ZERO, |cell_m| (size_m / cell_m).round());
        out.stencils = out.points().map(|point| Some(grid.stencil(point))).collect();
        out
    }

    pub fn of_solid(grid: &ReferenceGrid, surface: &Surface, floor_m: f64) -> Self {
        let bounds = surface.bounds();
        let mut out = Self::new(grid, bounds.center().with_z(0.0), |cell_m| (bounds.size() / cell_m).floor());
        let height = |point: Vec3| {
            let origin = point.with_z(bounds.max.z + 1e-3);
            let ray = Ray { origin, direction: -Vec3::Z, length: bounds.size().z + 2e-3 };
            surface.cast(&ray, None).map(|hit| origin.z - hit.distance).filter(|height| *height > floor_m)
        };
        let heights: Vec<Option<f64>> = out.points().map(height).collect();
        let stencil = |(point, height): (Vec3, &Option<f64>)| height.map(|z| grid.stencil(point.with_z(z)));
        out.stencils = out.points().zip(&heights).map(stencil).collect();
        out.heights_m = Some(heights.into_iter().map(|height| height.unwrap_or(floor_m)).collect());
        out
    }

    /// True for the surface of a body that is not a block.
    pub fn is_curved(&self) -> bool {
        self.heights_m.is_some()
    }

    /// A grid of half cells; `counts` returns their numbers along x and y.
    fn new(grid: &ReferenceGrid, center: Vec3, counts: impl FnOnce(f64) -> Vec3) -> Self {
        let cell_m = 0.5 * grid.cell_m.x;
        let [cols, rows, _] = counts(cell_m).to_array().map(|count| (count as usize).max(1));
        let plane = SurfaceField { rows, cols, cell_m, center, values: Vec::new(), rest_heights_m: None };
        Self { plane, heights_m: None, stencils: Vec::new() }
    }

    /// Warnings for objects that touch few points of the surface, or none although they reach below it.
    pub fn unresolved(&self, facets: &Facets, motion: &Motion<'_>) -> Vec<Warning> {
        let SurfaceField { rows, cols, cell_m, center, .. } = self.plane;
        let grid = HeightGrid { rows, cols, cell_m, center: center.truncate() };
        unresolved_on_grid(facets, motion, &grid, self.heights_m.as_deref())
    }

    /// Marks points for which `held` is true as fixed.
    pub fn exclude(&mut self, held: impl Fn(Vec3) -> bool) {
        for (i, point) in self.points().enumerate() {
            let height_m = self.heights_m.as_ref().map_or(0.0, |heights| heights[i]);
            if held(point.with_z(height_m)) {
                self.stencils[i] = None;
            }
        }
    }

    /// Centres of the cells (m), in the plane of the grid's centre.
    pub fn points(&self) -> impl Iterator<Item = Vec3> + use<> {
        let plane = self.plane.clone();
        (0..plane.rows * plane.cols).map(move |i| plane.rest(i / plane.cols, i % plane.cols))
    }

    /// Displacements of the surface (m) for nodal displacements `u` (m).
    pub fn field(&self, grid: &ReferenceGrid, u: &[f64]) -> SurfaceField {
        let displacement = |stencil: &Option<Stencil>| stencil.map_or(Vec3::ZERO, |stencil| grid.at(u, &stencil));
        SurfaceField {
            values: self.stencils.iter().map(displacement).collect(),
            rest_heights_m: self.heights_m.clone(),
            ..self.plane.clone()
        }
    }

    /// Adds loads on the points, if any, to the nodes: the transpose of [`Self::field`].
    pub fn spread(&self, grid: &ReferenceGrid, loads: &[Vec3], nodes: &mut [f64]) {
        for (stencil, load) in self.stencils.iter().zip(loads) {
            stencil.iter().for_each(|stencil| grid.spread(nodes, stencil, *load));
        }
    }
}
