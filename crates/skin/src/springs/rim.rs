//! The error of a force whose contact ends between contact points.

use super::Springs;
use crate::{Touch, Warning};
use dermis_geometry::Bounds;

/// Error of a force, as a fraction, above which it is reported.
const MAX_ERROR: f64 = 0.01;
/// Distance of neighbours over that of the nearest points.
const NEIGHBOUR: f64 = 1.5;
/// Error of the number of points on a lattice within an edge, over the square root of the number at the edge.
const EDGE: f64 = 0.6;
/// The same for an edge at which the force rises from zero.
const RISE: f64 = 0.045;
/// Distance from the outermost points at which a force that falls towards the edge is taken as zero, over the mean distance
/// of their neighbours inside.
const FALL: f64 = 3.0;
/// Points that touch an object above which its force is taken as sure where only their number is known.
pub(super) const MAX_UNSURE_POINTS: usize = 1000;

impl Springs {
    /// Warnings for the objects whose force may be wrong by more than [`MAX_ERROR`], because their contact ends between
    /// contact points.
    ///
    /// Each point i at the rim of a contact, which has neighbours without contact, stands for a cell that the contact covers
    /// in part. With its force f and the mean f̄ of its neighbours in contact, the force ends at the rim with a jump of about
    /// ```text
    /// j = max(0, f − 3 (f̄ − f)),     error = √Σ (0.6 j + 0.045 f)² / Σ f
    /// ```
    /// where the first sum is over the rim and the second over all points. The numbers are those of balls, cones, wedges,
    /// prisms and cylinders at random places and orientations. Of contacts without a warning one in a hundred is 1 to 2 % off.
    pub(super) fn unsure(&self, touch: &Touch, objects: usize) -> Vec<Warning> {
        let Some(points) = touch.facets.points() else { return Vec::new() };
        // By site: the object and the force (N) of the spring.
        let mut held = vec![(u32::MAX, 0.0); self.sites.len()];
        for block in &points.blocks {
            for lane in 0..block.count {
                let site = block.site[lane] as usize;
                let (share, area_m2) = (self.sites[site].share, self.sites[site].area_m2);
                let (newton, _) = self.parameters.elasticity.of_part(block.depth_m[lane], share, area_m2);
                held[site] = (block.object[lane], newton);
            }
        }
        let mut sums = vec![(0usize, 0.0, 0.0); objects];
        for (site, &(object, newton)) in held.iter().enumerate() {
            let Some((count, all, rim)) = sums.get_mut(object as usize) else { continue };
            *count += 1;
            *all += newton;
            let (mut inside, mut sum, mut outside) = (0u32, 0.0, false);
            self.each_neighbour(site, |other| {
                let (touched, newton) = held[other];
                if touched == object {
                    (inside, sum) = (inside + 1, sum + newton);
                } else {
                    outside = true;
                }
            });
            if outside {
                let mean = if inside > 0 { sum / f64::from(inside) } else { newton };
                let jump = (newton - FALL * (mean - newton)).clamp(0.0, newton);
                *rim += (EDGE * jump + RISE * newton).powi(2);
            }
        }
        let found = sums.into_iter().enumerate().filter_map(|(object, (points, all, rim))| {
            let error = rim.sqrt() / all;
            (error > MAX_ERROR).then(|| Warning::Unresolved {
                object: object as u32,
                points,
                // Half the distance of points reduces the error to about a third.
                wanted: (points as f64 * (error / MAX_ERROR).powf(4.0 / 3.0)).ceil() as usize,
                spacing_mm: self.spacing_m * 1e3,
                key: self.resolution().0,
            })
        });
        found.collect()
    }

    /// Calls `visit` with the sites around one.
    fn each_neighbour(&self, site: usize, mut visit: impl FnMut(usize)) {
        let (point, reach_m) = (self.sites[site].point, NEIGHBOUR * self.spacing_m);
        let mut near = |other: u32| {
            let other = other as usize;
            if other != site && self.sites[other].point.distance_squared(point) <= reach_m * reach_m {
                visit(other);
            }
        };
        if let Some(cells) = &self.cells {
            let place = cells.place(point);
            return cells.each_in_box(place.map(|x| x - reach_m), place.map(|x| x + reach_m), |other, _| near(other));
        }
        let around = Bounds::around([point]).padded(reach_m);
        self.rays.overlapping(&around, |position| near(self.rays.order()[position]));
    }
}
