//! The grid on which the surface is reported.

use super::lattice::{Lattice, Spot};
use crate::SurfaceField;
use dermis_geometry::{Ray, Surface, Vec3};
use std::sync::Arc;

/// The grid on which the surface is reported.
#[derive(Clone, Debug)]
pub(super) struct View {
    pub rows: usize,
    pub cols: usize,
    pub cell_m: f64,
    pub center: Vec3,
    heights_m: Option<Arc<[f64]>>,
    /// None where there is no gel.
    spots: Vec<Option<Spot>>,
}

impl View {
    pub fn of_block(lattice: &Lattice, size_m: Vec3) -> Self {
        let cell_m = 0.5 * lattice.cell_m.x;
        let count = |length: f64| ((length / cell_m).round() as usize).max(1);
        let mut view = Self {
            rows: count(size_m.y),
            cols: count(size_m.x),
            cell_m,
            center: Vec3::ZERO,
            heights_m: None,
            spots: Vec::new(),
        };
        view.spots = view.places().map(|place| Some(lattice.spot(place))).collect();
        view
    }

    pub fn of_solid(lattice: &Lattice, surface: &Surface, floor_m: f64) -> Self {
        let bounds = surface.bounds();
        let cell_m = 0.5 * lattice.cell_m.x;
        let count = |length: f64| ((length / cell_m).floor() as usize).max(1);
        let middle = bounds.center();
        let mut view = Self {
            rows: count(bounds.size().y),
            cols: count(bounds.size().x),
            cell_m,
            center: Vec3::new(middle.x, middle.y, 0.0),
            heights_m: None,
            spots: Vec::new(),
        };
        let heights: Vec<Option<f64>> = view
            .places()
            .map(|place| {
                let origin = Vec3::new(place.x, place.y, bounds.max.z + 1e-3);
                let ray = Ray { origin, direction: -Vec3::Z, length: bounds.size().z + 2e-3 };
                surface.cast(&ray, None).map(|hit| origin.z - hit.distance).filter(|height| *height > floor_m)
            })
            .collect();
        let spots = view
            .places()
            .zip(&heights)
            .map(|(place, height)| height.map(|z| lattice.spot(Vec3::new(place.x, place.y, z))))
            .collect();
        view.spots = spots;
        view.heights_m = Some(heights.into_iter().map(|height| height.unwrap_or(floor_m)).collect());
        view
    }

    /// Forgets what does not move: the surface where `held` says so.
    pub fn hold(&mut self, held: impl Fn(Vec3) -> bool) {
        let heights = self.heights_m.clone();
        for (i, place) in self.places().enumerate() {
            let height_m = heights.as_ref().map_or(0.0, |heights| heights[i]);
            if held(Vec3::new(place.x, place.y, height_m)) {
                self.spots[i] = None;
            }
        }
    }

    /// Where its cells are (m), in the plane of its middle.
    pub fn places(&self) -> impl Iterator<Item = Vec3> + use<> {
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

    pub fn field(&self, lattice: &Lattice, u: &[f64]) -> SurfaceField {
        SurfaceField {
            rows: self.rows,
            cols: self.cols,
            cell_m: self.cell_m,
            center: self.center,
            values: self.spots.iter().map(|spot| spot.map_or(Vec3::ZERO, |spot| lattice.at(u, &spot))).collect(),
            rest_heights_m: self.heights_m.clone(),
        }
    }
}
