//! Contacts that are smaller than the resolution of a skin.

use crate::{Facets, Motion, Target, Warning};
use dermis_geometry::{Bounds, HeightGrid, Ray, Vec2, Vec3};
use serde::{Deserialize, Serialize};

/// The parameter of a sensor that sets the resolution of its contact.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Resolution {
    /// Contact points along a side of a texel.
    ContactPoints,
    /// Edge of a cell.
    Cell,
}

impl Resolution {
    /// What to change for a finer contact.
    pub fn remedy(self) -> &'static str {
        match self {
            Self::ContactPoints => "increase `contact_points`",
            Self::Cell => "reduce `cell` of the skin",
        }
    }
}

/// Number of contact points below which a contact is reported. A ball on independent springs changes its force by up to
/// 5 % with its place on 13 points, by 2 % on 20 to 35 and by 15 % on 5.
const MIN_POINTS: usize = 12;
/// The same for a flat object.
pub(crate) const MIN_FLAT_POINTS: usize = 100;
/// Mean depth by largest depth from which an object is flat; a ball has 0.5.
const MIN_FLATNESS: f64 = 0.8;
/// Rows and columns of the samples with which an object between contact points is searched.
pub(crate) const SEARCH: usize = 12;

/// The warning for an object that touches some, but too few, of a skin's `sites` contact points, `spacing_m` apart.
pub(crate) fn few_points(
    object: u32,
    points: usize,
    (key, spacing_m, sites): (Resolution, f64, usize),
) -> Option<Warning> {
    let few = points > 0 && points < MIN_POINTS.min(sites);
    few.then_some(Warning::Unresolved { object, points, spacing_mm: spacing_m * 1e3, key })
}

/// Warnings for flat objects whose edges lie on the skin. Each edge may miss or gain up to half the distance of two points,
/// so the area of n points is wrong by up to 2/√n; a ball has hardly any force at its edge.
pub(crate) fn flat_on_few_points(
    facets: &Facets,
    objects: usize,
    (key, spacing_m, sites): (Resolution, f64, usize),
) -> Vec<Warning> {
    let few = |object: u32| {
        let depths_m = facets.iter().filter(|facet| facet.object == object).map(|facet| facet.depth_m);
        let (mut points, mut sum_m, mut largest_m) = (0, 0.0, 0.0f64);
        for depth_m in depths_m {
            (points, sum_m, largest_m) = (points + 1, sum_m + depth_m, largest_m.max(depth_m));
        }
        let flat = sum_m > MIN_FLATNESS * points as f64 * largest_m;
        let few = points > 0 && points < MIN_FLAT_POINTS.min(sites) && flat;
        few.then_some(Warning::Unresolved { object, points, spacing_mm: spacing_m * 1e3, key })
    };
    (0..objects as u32).filter_map(few).collect()
}

/// Warnings for the objects of `facets` that cover few of a skin's `sites` contact points, `spacing_m` apart. `between`
/// returns whether an object without facets indents the skin.
pub(crate) fn unresolved(
    facets: &Facets,
    objects: impl Iterator<Item = u32>,
    resolution: (Resolution, f64, usize),
    between: impl Fn(u32) -> bool,
) -> Vec<Warning> {
    let (key, spacing_m, _) = resolution;
    let few = |object: u32| {
        let points = facets.objects().filter(|touched| *touched == object).take(MIN_POINTS).count();
        let missed = || Warning::Unresolved { object, points, spacing_mm: spacing_m * 1e3, key };
        few_points(object, points, resolution).or_else(|| (points == 0 && between(object)).then(missed))
    };
    objects.filter_map(few).collect()
}

/// [`unresolved`] for a skin whose contact points are the cells of a grid. `rest_heights_m` are the heights of its
/// undeformed surface at the cells; `None` for a flat one in z = 0.
pub(crate) fn unresolved_on_grid(
    facets: &Facets,
    motion: &Motion<'_>,
    grid: &HeightGrid,
    rest_heights_m: Option<&[f64]>,
) -> Vec<Warning> {
    let resolution = (Resolution::Cell, grid.cell_m, grid.rows * grid.cols);
    let between = |object: u32| indents(&motion.targets[object as usize], grid, rest_heights_m);
    unresolved(facets, 0..motion.targets.len() as u32, resolution, between)
}

/// True if an object reaches below the undeformed surface of a skin.
fn indents(target: &Target<'_>, grid: &HeightGrid, rest_heights_m: Option<&[f64]>) -> bool {
    let size = Vec2::new(grid.cols as f64, grid.rows as f64) * grid.cell_m;
    let low = grid.center - 0.5 * size;
    let highest_m = rest_heights_m.map_or(0.0, |heights| heights.iter().copied().fold(f64::NEG_INFINITY, f64::max));
    let within = Bounds { min: low.extend(f64::NEG_INFINITY), max: (low + size).extend(highest_m) };
    let surface = &target.object.surface;
    let Some(part) = surface.part_bounds_in(&target.sensor_from_object, &within) else { return false };
    if rest_heights_m.is_none() && surface.primitive().is_none() {
        return part.min.z < -1e-6 * grid.cell_m;
    }
    let skin_m = |at: Vec2| match rest_heights_m {
        None => 0.0,
        // The lowest of the surrounding cells, so that no object above an inclined surface is reported.
        Some(heights) => {
            let (col, row) = ((at.x - low.x) / grid.cell_m, (low.y + size.y - at.y) / grid.cell_m);
            let around =
                |index: f64, count: usize| (index as usize).saturating_sub(1)..=(index as usize + 1).min(count - 1);
            let cells = around(row, grid.rows).flat_map(|row| around(col, grid.cols).map(move |col| (row, col)));
            cells.map(|(row, col)| heights[row * grid.cols + col]).fold(f64::INFINITY, f64::min)
        }
    };
    let object_from_sensor = target.sensor_from_object.inverse();
    let direction = object_from_sensor.transform_vector(Vec3::Z);
    let (below_m, length) = (part.min.z - part.size().max_element(), part.size().z + 2.0 * part.size().max_element());
    (0..SEARCH * SEARCH).any(|i| {
        let fraction = Vec2::new((i % SEARCH) as f64 + 0.5, (i / SEARCH) as f64 + 0.5) / SEARCH as f64;
        let at = part.min.truncate() + part.size().truncate() * fraction;
        let ray = Ray { origin: object_from_sensor.transform_point(at.extend(below_m)), direction, length };
        let bottom_m = surface.cast(&ray, None).map_or(f64::INFINITY, |hit| below_m + hit.distance);
        bottom_m < skin_m(at) - 1e-6 * grid.cell_m
    })
}
