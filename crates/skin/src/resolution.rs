//! Contacts that are smaller than the resolution of a skin.

use crate::{Facets, Motion, Target, Warning};
use dermis_geometry::{Bounds, HeightGrid, Ray, Vec2, Vec3, clipped};
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

    /// The same for a contact that covers some of the `wanted` points or cells, `spacing_mm` apart, with a distance at which
    /// it covers as many.
    pub(crate) fn remedy_for(self, points: usize, wanted: usize, spacing_mm: f64) -> String {
        let remedy = self.remedy();
        let needed_mm = two_digits(MARGIN * spacing_mm * (points as f64 / wanted as f64).sqrt());
        match self {
            Self::ContactPoints => format!("{remedy} until they are about {needed_mm} mm apart"),
            Self::Cell => format!("{remedy} to about {needed_mm} mm"),
        }
    }
}

/// Two significant digits of a positive number, rounded down.
fn two_digits(value: f64) -> f64 {
    let scale = 10f64.powf(1.0 - value.log10().floor());
    (value * scale).floor() / scale
}

/// Part of the distance of points with which a contact covers the wanted ones, as their number varies with its place.
const MARGIN: f64 = 0.9;

/// Number of contact points below which a contact is reported. A ball on independent springs changes its force by up to
/// 5 % with its place on 13 points, by 2 % on 20 to 35 and by 15 % on 5.
pub(crate) const MIN_POINTS: usize = 12;
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
    few.then_some(Warning::Unresolved { object, points, wanted: MIN_POINTS, spacing_mm: spacing_m * 1e3, key })
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
        few.then_some(Warning::Unresolved { object, points, wanted: MIN_FLAT_POINTS, spacing_mm: spacing_m * 1e3, key })
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
        let missed = || Warning::Missed { object, spacing_mm: spacing_m * 1e3, key };
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

/// Depth below a skin, and distance from the rim of a cell, as fractions of a cell, from which an object counts.
const TOLERANCE: f64 = 1e-6;

/// True if an object reaches below the undeformed surface of a skin.
fn indents(target: &Target<'_>, grid: &HeightGrid, rest_heights_m: Option<&[f64]>) -> bool {
    let size = Vec2::new(grid.cols as f64, grid.rows as f64) * grid.cell_m;
    let (low, high) = (grid.center - 0.5 * size, grid.center + 0.5 * size);
    let highest_m = rest_heights_m.map_or(0.0, |heights| heights.iter().copied().fold(f64::NEG_INFINITY, f64::max));
    let (pose, surface) = (&target.sensor_from_object, &target.object.surface);
    let column = |low: Vec2, high: Vec2, top_m: f64| {
        let margin_m = TOLERANCE * grid.cell_m;
        Bounds { min: (low + margin_m).extend(f64::NEG_INFINITY), max: (high - margin_m).extend(top_m - margin_m) }
    };
    let within = column(low, high, highest_m);
    let index = |at_m: f64, count: usize| ((at_m / grid.cell_m).max(0.0) as usize).min(count - 1);
    let cell_of = |at: Vec2| [index(high.y - at.y, grid.rows), index(at.x - low.x, grid.cols)];
    // The lowest of the surrounding cells, so that no object above an inclined surface is reported.
    let skin_m = |[row, col]: [usize; 2]| {
        let Some(heights) = rest_heights_m else { return 0.0 };
        let around = |index: usize, count: usize| index.saturating_sub(1)..=(index + 1).min(count - 1);
        let cells = around(row, grid.rows).flat_map(|row| around(col, grid.cols).map(move |col| (row, col)));
        cells.map(|(row, col)| heights[row * grid.cols + col]).fold(f64::INFINITY, f64::min)
    };
    let lies_below = |polygon: &[Vec3]| {
        let bounds = Bounds::around(polygon.iter().copied());
        let ([last_row, first_col], [first_row, last_col]) =
            (cell_of(bounds.min.truncate()), cell_of(bounds.max.truncate()));
        let mut cells = (first_row..=last_row).flat_map(|row| (first_col..=last_col).map(move |col| [row, col]));
        cells.any(|cell| {
            let (top_m, half) = (skin_m(cell), Vec2::splat(0.5 * grid.cell_m));
            let center = grid.cell_center(cell[0], cell[1]);
            bounds.min.z < top_m && !clipped(polygon, &column(center - half, center + half, top_m)).is_empty()
        })
    };
    if surface.is_polyhedron() {
        let mut found = false;
        surface.each_part_in(pose, &within, |polygon| {
            found = found || rest_heights_m.is_none() || lies_below(polygon);
        });
        return found;
    }
    let Some(part) = surface.part_bounds_in(pose, &within) else { return false };
    let object_from_sensor = pose.inverse();
    let direction = object_from_sensor.transform_vector(Vec3::Z);
    let margin_m = part.size().max_element();
    let (below_m, length) = (part.min.z - margin_m, part.size().z + 2.0 * margin_m);
    (0..SEARCH * SEARCH).any(|i| {
        let fraction = Vec2::new((i % SEARCH) as f64 + 0.5, (i / SEARCH) as f64 + 0.5) / SEARCH as f64;
        let at = part.min.truncate() + part.size().truncate() * fraction;
        let ray = Ray { origin: object_from_sensor.transform_point(at.extend(below_m)), direction, length };
        let bottom_m = surface.cast(&ray, None).map_or(f64::INFINITY, |hit| below_m + hit.distance);
        bottom_m < skin_m(cell_of(at)) - TOLERANCE * grid.cell_m
    })
}
