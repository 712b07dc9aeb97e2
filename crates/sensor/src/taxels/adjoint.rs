//! The transpose of the distribution of loads over the taxels.

use super::part::Part;
use super::{Layout, Taxels};
use dermis_geometry::Vec3;
use dermis_skin::{Facet, FacetPart, Load, SurfaceField, Touch};

impl Taxels {
    /// Derivatives of a scalar by the force (1/N) of each contact point of a touch, from those by the force on each taxel.
    /// The position of a contact point on the undeformed skin does not change.
    pub(crate) fn by_point_forces(&self, touch: &Touch, by_forces: &[Vec3]) -> Vec<Vec3> {
        let by_force = |anchor: Vec3| -> Vec3 {
            if self.spread_loads() {
                return self.shares(anchor).0.into_iter().map(|(taxel, share)| by_forces[taxel] * share).sum();
            }
            self.locate(anchor).map_or(Vec3::ZERO, |taxel| by_forces[taxel])
        };
        if let Some(points) = touch.facets.points() {
            return points.loads().map(|(anchor, _)| by_force(anchor)).collect();
        }
        let of_facet = |facet: &Facet| match &facet.load {
            Load::Point { anchor, .. } => by_force(*anchor),
            Load::Polygon(_) => Vec3::ZERO,
        };
        touch.facets.iter().map(of_facet).collect()
    }

    /// Derivatives of a scalar by the stress (1/Pa) on each cell of the base, from those by the force on each taxel; `None`
    /// unless the taxels form a grid.
    pub(crate) fn by_base_stress(&self, base: &SurfaceField, by_forces: &[Vec3]) -> Option<Vec<Vec3>> {
        let Layout::Grid { cols, pitch_m, .. } = &self.layout else { return None };
        let [over_rows, over_cols] = self.overlaps(base)?;
        let mut by_stress = Vec::with_capacity(base.values.len());
        for down in &over_rows {
            for across in &over_cols {
                let mut sum = Vec3::ZERO;
                for &(taxel_row, height) in down {
                    for &(taxel_col, width) in across {
                        sum += by_forces[taxel_row * cols + taxel_col] * (height * width);
                    }
                }
                by_stress.push(sum * (pitch_m * pitch_m));
            }
        }
        Some(by_stress)
    }

    /// The parts of the polygon facets of a touch over each taxel, with the derivatives of a scalar by the force on them, from
    /// those by the force on each taxel; `None` if a load lies beyond the reach of the nearest taxel, whose border is round.
    pub(crate) fn by_facet_parts(&self, touch: &Touch, by_forces: &[Vec3]) -> Option<Vec<FacetPart>> {
        let mut parts = Vec::new();
        for (facet, load) in touch.facets.iter().enumerate() {
            let Load::Polygon(corners) = &load.load else { continue };
            let whole = Part::whole(corners);
            let over: Vec<(usize, Part)> = match &self.layout {
                Layout::Grid { .. } => match self.same_cell(corners) {
                    Some(taxel) => vec![(taxel, whole)],
                    None => self.parts_on_grid(&whole),
                },
                Layout::Points { reach_m, .. } => self.parts_nearest(&whole, *reach_m)?,
            };
            for (taxel, part) in
                over.into_iter().filter(|(taxel, part)| !part.is_empty() && by_forces[*taxel] != Vec3::ZERO)
            {
                parts.push(FacetPart { facet, by_force: by_forces[taxel], corners: part.0 });
            }
        }
        Some(parts)
    }

    /// The parts of a polygon over the squares of a grid.
    fn parts_on_grid(&self, whole: &Part) -> Vec<(usize, Part)> {
        let Layout::Grid { rows, cols, pitch_m } = self.layout else { return Vec::new() };
        let (bounds, half) = (whole.bounds(), 0.5 * pitch_m);
        let span = |low: f64, high: f64, count: usize| {
            let from_edge = |at: f64| (at / pitch_m + 0.5 * count as f64).clamp(0.0, count as f64);
            from_edge(low).floor() as usize..from_edge(high).ceil() as usize
        };
        let mut parts = Vec::new();
        // Row 0 is at +y.
        for row in span(-bounds.max.y, -bounds.min.y, rows) {
            for col in span(bounds.min.x, bounds.max.x, cols) {
                let taxel = row * cols + col;
                let sides = [Vec3::X, Vec3::NEG_X, Vec3::Y, Vec3::NEG_Y];
                let within = |part: Part, side: Vec3| part.behind(self.centers[taxel] + side * half, side);
                parts.push((taxel, self.within_height(sides.into_iter().fold(whole.clone(), within), taxel)));
            }
        }
        parts
    }

    /// The parts of a polygon that are nearest to each taxel of a points layout; `None` if one lies beyond its reach.
    fn parts_nearest(&self, whole: &Part, reach_m: f64) -> Option<Vec<(usize, Part)>> {
        let part_of = |taxel: usize| {
            let center = self.centers[taxel];
            let mut part = whole.clone();
            for &other in &self.neighbours()[taxel] {
                let away = self.centers[other as usize] - center;
                let farthest = part.points().map(|at| at.distance_squared(center)).fold(0.0, f64::max);
                if part.is_empty() || away.length_squared() > 4.0 * farthest {
                    break;
                }
                part = part.behind(center + away * 0.5, away.normalize_or_zero());
            }
            (taxel, self.within_height(part, taxel))
        };
        let parts: Vec<(usize, Part)> = self.near(&whole.bounds(), reach_m).into_iter().map(part_of).collect();
        let is_within = |(taxel, part): &(usize, Part)| {
            part.is_empty() || part.points().all(|at| at.distance_squared(self.centers[*taxel]) <= reach_m * reach_m)
        };
        parts.iter().all(is_within).then_some(parts)
    }

    /// The part of a polygon within the height tolerance of a taxel.
    fn within_height(&self, part: Part, taxel: usize) -> Part {
        let Some(height_m) = self.height_m else { return part };
        let sides = [self.normals[taxel], -self.normals[taxel]];
        sides.into_iter().fold(part, |part, side| part.behind(self.centers[taxel] + side * height_m, side))
    }
}
