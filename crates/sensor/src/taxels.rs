//! The taxels of a sensor.

mod adjoint;
mod grid_cells;
mod part;

use crate::cells::{Piece, Triangle, triangles};
use crate::gaussian::Gaussian;
use dermis_geometry::{Bounds, TriMesh, Vec3};
use dermis_skin::{Corner, Facet, Load, SurfaceField, Tangent, Touch};
use grid_cells::{GridCells, in_slab};
use std::collections::HashMap;
use std::sync::OnceLock;

/// The taxels of a sensor. Each measures the load that enters the undeformed skin inside its cell.
#[derive(Clone, Debug)]
pub struct Taxels {
    layout: Layout,
    centers: Vec<Vec3>,
    normals: Vec<Vec3>,
    areas_m2: Vec<f64>,
    /// Maximum distance (m) of a load above or below the surface, if bounded.
    height_m: Option<f64>,
    /// Spread of loads by the cover of a grid.
    gaussian: Option<Gaussian>,
}

/// For each cell along a line, the taxels that it overlaps, and the overlap as a fraction of the pitch.
pub type Overlaps = Vec<Vec<(usize, f64)>>;

#[derive(Clone, Debug)]
enum Layout {
    /// Squares side by side in z = 0.
    Grid { rows: usize, cols: usize, pitch_m: f64 },
    /// Nearest centre within `reach_m`; `cells` holds the centres, hashed by cubes of that edge.
    Points { reach_m: f64, cells: HashMap<[i64; 3], Vec<u32>>, neighbours: OnceLock<Vec<Vec<u32>>> },
}

/// Relative difference below which two squared distances are equal, so that rounding does not choose the taxel.
const TIE: f64 = 1e-9;

impl Taxels {
    /// A flat array, row 0 at +y, column 0 at −x.
    pub fn grid(rows: usize, cols: usize, pitch_m: f64) -> Self {
        let centers = (0..rows * cols)
            .map(|i| {
                let (row, col) = (i / cols, i % cols);
                let x = (col as f64 + 0.5 - cols as f64 / 2.0) * pitch_m;
                let y = (rows as f64 / 2.0 - row as f64 - 0.5) * pitch_m;
                Vec3::new(x, y, 0.0)
            })
            .collect();
        Self {
            layout: Layout::Grid { rows, cols, pitch_m },
            centers,
            normals: vec![Vec3::Z; rows * cols],
            areas_m2: vec![pitch_m * pitch_m; rows * cols],
            height_m: None,
            gaussian: None,
        }
    }

    /// Taxels at arbitrary positions: a point of the skin belongs to the nearest centre, if that is within `reach_m`.
    pub fn points(centers: Vec<Vec3>, normals: Vec<Vec3>, areas_m2: Vec<f64>, reach_m: f64) -> Self {
        let mut cells: HashMap<[i64; 3], Vec<u32>> = HashMap::new();
        for (i, &center) in centers.iter().enumerate() {
            cells.entry(cell(center, reach_m)).or_default().push(i as u32);
        }
        Self {
            layout: Layout::Points { reach_m, cells, neighbours: OnceLock::new() },
            centers,
            normals,
            areas_m2,
            height_m: None,
            gaussian: None,
        }
    }

    /// The same taxels with a height tolerance (Kappassov et al. 2020, eq. 2: |z − z(i, j)| ∈ h): a load farther than
    /// `height_m` from the tangent plane of its taxel belongs to no taxel and is reported as outside. For contacts from
    /// other engines, whose points may lie anywhere on the sensor's body.
    pub fn with_height(self, height_m: f64) -> Self {
        Self { height_m: Some(height_m), ..self }
    }

    /// The same taxels under a cover that spreads point loads by a Gaussian of width `sigma_m` before they are
    /// distributed over the taxels. For grids only; other layouts do not spread loads.
    pub fn with_gaussian(self, sigma_m: f64) -> Self {
        Self { gaussian: Some(Gaussian { sigma_m }), ..self }
    }

    /// True if a point load is distributed over several taxels.
    pub fn spread_loads(&self) -> bool {
        self.gaussian.is_some() && matches!(self.layout, Layout::Grid { .. })
    }

    /// Number of taxels.
    pub fn len(&self) -> usize {
        self.centers.len()
    }

    /// True if there are no taxels.
    pub fn is_empty(&self) -> bool {
        self.centers.is_empty()
    }

    /// Rows and columns of a grid.
    pub fn size(&self) -> Option<(usize, usize)> {
        match self.layout {
            Layout::Grid { rows, cols, .. } => Some((rows, cols)),
            Layout::Points { .. } => None,
        }
    }

    /// Distance (m) between neighbours on a grid.
    pub fn pitch_m(&self) -> Option<f64> {
        match self.layout {
            Layout::Grid { pitch_m, .. } => Some(pitch_m),
            Layout::Points { .. } => None,
        }
    }

    /// Centres (m).
    pub fn centers(&self) -> &[Vec3] {
        &self.centers
    }

    /// Outward unit normals.
    pub fn normals(&self) -> &[Vec3] {
        &self.normals
    }

    /// Areas (m²).
    pub fn areas_m2(&self) -> &[f64] {
        &self.areas_m2
    }

    /// The taxel that a point of the undeformed skin belongs to.
    #[inline]
    pub fn locate(&self, point: Vec3) -> Option<usize> {
        let over = |taxel: &usize| (point - self.centers[*taxel]).dot(self.normals[*taxel]).abs();
        self.locate_at_any_height(point).filter(|taxel| self.height_m.is_none_or(|height_m| over(taxel) <= height_m))
    }

    #[inline]
    fn locate_at_any_height(&self, point: Vec3) -> Option<usize> {
        match &self.layout {
            Layout::Grid { rows, cols, pitch_m } => {
                // Row 0 is at +y, column 0 at −x.
                let (all_rows, all_cols) = (*rows as f64, *cols as f64);
                let (row, col) = (all_rows / 2.0 - point.y / pitch_m, point.x / pitch_m + all_cols / 2.0);
                let inside = row >= 0.0 && col >= 0.0 && row < all_rows && col < all_cols;
                inside.then(|| row as u32 as usize * cols + col as u32 as usize)
            }
            Layout::Points { reach_m, cells, .. } => self.nearest(point, *reach_m, cells),
        }
    }

    /// The nearest centre of a points layout, if it is within reach; the first of several that are equally near.
    fn nearest(&self, point: Vec3, reach_m: f64, cells: &HashMap<[i64; 3], Vec<u32>>) -> Option<usize> {
        let home = cell(point, reach_m);
        let mut nearest: Option<(f64, u32)> = None;
        for offset in 0..27 {
            let key = [home[0] + offset % 3 - 1, home[1] + offset / 3 % 3 - 1, home[2] + offset / 9 - 1];
            for &i in cells.get(&key).into_iter().flatten() {
                let distance = (self.centers[i as usize] - point).length_squared();
                let is_nearer = |(best, index): (f64, u32)| {
                    distance < best * (1.0 - TIE) || (distance <= best * (1.0 + TIE) && i < index)
                };
                if nearest.is_none_or(is_nearer) {
                    nearest = Some((distance, i));
                }
            }
        }
        nearest.filter(|(squared, _)| *squared <= reach_m * reach_m).map(|(_, i)| i as usize)
    }

    /// Maximum distance (m) of a load above or below the surface, if bounded.
    pub fn height_m(&self) -> Option<f64> {
        self.height_m
    }

    /// Fractions of a load at a point of the undeformed skin on each taxel, and the fraction outside all taxels.
    pub fn shares(&self, point: Vec3) -> (Vec<(usize, f64)>, f64) {
        match (self.gaussian, &self.layout) {
            (Some(gaussian), Layout::Grid { rows, cols, pitch_m }) => {
                let mut bins = Bins { forces: vec![Vec3::ZERO; self.len()], outside: Vec3::ZERO };
                bins.spread(gaussian, (*rows, *cols, *pitch_m), point, Vec3::Z);
                let loaded = bins.forces.iter().enumerate().filter(|(_, part)| part.z != 0.0);
                (loaded.map(|(taxel, part)| (taxel, part.z)).collect(), bins.outside.z)
            }
            _ => match self.locate(point) {
                Some(taxel) => (vec![(taxel, 1.0)], 0.0),
                None => (Vec::new(), 1.0),
            },
        }
    }

    /// Force vector on every taxel (N), and the force outside all of them. Their sum is the force on the sensor.
    /// Polygons are clipped at the borders of the cells and each part is integrated exactly. If the skin provides the
    /// stress on its base, the taxels integrate that stress over their cells; stress beside them counts as outside.
    pub fn bin(&self, touch: &Touch) -> (Vec<Vec3>, Vec3) {
        if let Some(base) = &touch.base {
            let forces = self.bin_base(base);
            let outside = touch.on_sensor.force - forces.iter().sum::<Vec3>();
            return (forces, outside);
        }
        let mut bins = Bins { forces: vec![Vec3::ZERO; self.len()], outside: Vec3::ZERO };
        if let Some(points) = touch.facets.points() {
            points.loads().for_each(|(anchor, force)| self.bin_point(anchor, force, &mut bins));
            return (bins.forces, bins.outside);
        }
        for facet in &touch.facets {
            match &facet.load {
                Load::Point { anchor, force, .. } => self.bin_point(*anchor, *force, &mut bins),
                Load::Polygon(corners) => self.bin_polygon(facet, corners, &mut bins),
            }
        }
        (bins.forces, bins.outside)
    }

    fn bin_point(&self, anchor: Vec3, force: Vec3, bins: &mut Bins) {
        match (self.gaussian, &self.layout) {
            (Some(gaussian), Layout::Grid { rows, cols, pitch_m }) => {
                bins.spread(gaussian, (*rows, *cols, *pitch_m), anchor, force);
            }
            _ => bins.add(self.locate(anchor), force),
        }
    }

    /// For each row of cells of a field, the rows of a grid of taxels that it overlaps, and the overlap as a fraction
    /// of the pitch; then the same for columns. `None` unless the taxels form a grid.
    pub fn overlaps(&self, base: &SurfaceField) -> Option<[Overlaps; 2]> {
        let Layout::Grid { rows, cols, pitch_m } = &self.layout else { return None };
        let (from_x, from_y) = (base.center.x / pitch_m, -base.center.y / pitch_m);
        let cell = base.cell_m / pitch_m;
        Some([
            overlaps(base.rows, cell, from_y + 0.5 * *rows as f64, *rows),
            overlaps(base.cols, cell, from_x + 0.5 * *cols as f64, *cols),
        ])
    }

    /// Integrates the base stress over the taxels; the stress is uniform in each cell of the field.
    fn bin_base(&self, base: &SurfaceField) -> Vec<Vec3> {
        match &self.layout {
            Layout::Grid { cols, pitch_m, .. } => {
                let [over_rows, over_cols] = self.overlaps(base).unwrap_or_default();
                let mut forces = vec![Vec3::ZERO; self.len()];
                for (row, down) in over_rows.iter().enumerate() {
                    for (col, across) in over_cols.iter().enumerate() {
                        let stress = base.values[row * base.cols + col] * (pitch_m * pitch_m);
                        for &(taxel_row, height) in down {
                            for &(taxel_col, width) in across {
                                forces[taxel_row * cols + taxel_col] += stress * (height * width);
                            }
                        }
                    }
                }
                forces
            }
            Layout::Points { .. } => {
                let mut bins = Bins { forces: vec![Vec3::ZERO; self.len()], outside: Vec3::ZERO };
                for (i, &stress) in base.values.iter().enumerate() {
                    let facet = base_facet(base, i / base.cols, i % base.cols, stress);
                    if let Load::Polygon(corners) = &facet.load {
                        self.bin_polygon(&facet, corners, &mut bins);
                    }
                }
                bins.forces
            }
        }
    }

    fn bin_polygon(&self, facet: &Facet, corners: &[Corner], bins: &mut Bins) {
        match &self.layout {
            Layout::Grid { rows, cols, pitch_m } => {
                let grid = GridCells { rows: *rows, cols: *cols, pitch_m: *pitch_m, height_m: self.height_m };
                if let Some(taxel) = self.same_cell(corners) {
                    return bins.add(Some(taxel), facet.force_on_sensor());
                }
                triangles(facet, corners).for_each(|triangle| grid.bin(&triangle, bins));
            }
            Layout::Points { reach_m, .. } => {
                triangles(facet, corners).for_each(|triangle| self.bin_by_distance(&triangle, *reach_m, bins));
            }
        }
    }

    /// The cell that contains all corners. Cells of a grid are convex, so it contains the polygon.
    fn same_cell(&self, corners: &[Corner]) -> Option<usize> {
        let first = self.locate(corners.first()?.at)?;
        corners[1..].iter().all(|corner| self.locate(corner.at) == Some(first)).then_some(first)
    }

    /// Assigns to each centre the part of a triangle that is nearer to it than to any other centre and within reach;
    /// the rest is outside.
    fn bin_by_distance(&self, triangle: &Triangle, reach_m: f64, bins: &mut Bins) {
        let whole = triangle.piece();
        let mut outside = whole.force();
        for taxel in self.near(&whole.bounds(), reach_m) {
            let piece = self.nearest_part(whole.clone(), taxel);
            if !piece.is_empty() {
                let force = triangle.force_within(&piece, self.centers[taxel], reach_m);
                bins.forces[taxel] += force;
                outside -= force;
            }
        }
        bins.outside += outside;
    }

    /// True if a surface with this normal faces the way of a taxel.
    pub(crate) fn faces(&self, taxel: usize, normal: Vec3) -> bool {
        normal.dot(self.normals[taxel]) > 1e-9
    }

    /// Area (m²) of a mesh in the cell of each taxel of a points layout, cut exactly. Parts that face away from their
    /// taxel, such as the back of a thin body, are left out.
    pub(crate) fn areas_on(&self, mesh: &TriMesh) -> Vec<f64> {
        let Layout::Points { reach_m, .. } = &self.layout else { return self.areas_m2.clone() };
        let mut areas_m2 = vec![0.0; self.len()];
        for t in 0..mesh.triangles().len() {
            let normal = mesh.face_normal(t);
            let triangle = Triangle::under_unit_load(mesh.corners(t));
            let whole = triangle.piece();
            for taxel in self.near(&whole.bounds(), *reach_m).into_iter().filter(|&taxel| self.faces(taxel, normal)) {
                let piece = self.nearest_part(whole.clone(), taxel);
                areas_m2[taxel] += triangle.force_within(&piece, self.centers[taxel], *reach_m).x;
            }
        }
        areas_m2
    }

    /// Taxels that may reach into a box, in ascending order.
    fn near(&self, bounds: &Bounds, reach_m: f64) -> Vec<usize> {
        let close = |&i: &usize| {
            let gap = (bounds.min - self.centers[i]).max(self.centers[i] - bounds.max).max(Vec3::ZERO);
            gap.length_squared() <= reach_m * reach_m
        };
        let Layout::Points { cells, .. } = &self.layout else { return Vec::new() };
        let (low, high) = (cell(bounds.min, reach_m), cell(bounds.max, reach_m));
        let size = |k: usize| (high[k] - low[k]) as f64 + 3.0;
        if size(0) * size(1) * size(2) > self.len() as f64 {
            return (0..self.len()).filter(close).collect();
        }
        let mut found = Vec::new();
        for x in low[0] - 1..=high[0] + 1 {
            for y in low[1] - 1..=high[1] + 1 {
                for z in low[2] - 1..=high[2] + 1 {
                    found.extend(cells.get(&[x, y, z]).into_iter().flatten().map(|&i| i as usize).filter(close));
                }
            }
        }
        found.sort_unstable();
        found
    }

    /// The part of a piece that is nearer to a centre than to any other and within its height tolerance. Ties go to the
    /// first centre, as in [`Self::locate`].
    fn nearest_part(&self, mut piece: Piece, taxel: usize) -> Piece {
        let center = self.centers[taxel];
        for &other in &self.neighbours()[taxel] {
            let (first, second) = (taxel.min(other as usize), taxel.max(other as usize));
            let (a, b) = (self.centers[first], self.centers[second]);
            let farthest = piece.points().map(|p| p.distance_squared(center)).fold(0.0, f64::max);
            if piece.is_empty() || (a - b).length_squared() > 4.0 * farthest {
                break;
            }
            // Both sides use the same numbers, so that their parts fit exactly.
            let (to_second, to_first) = piece.split(|p| (p - (a + b) * 0.5).dot(a - b));
            piece = if first == taxel { to_first } else { to_second };
        }
        match self.height_m {
            Some(height_m) => in_slab(piece, |p| (p - center).dot(self.normals[taxel]), height_m).0,
            None => piece,
        }
    }

    /// The cells of taxels at points: the reach (m) of a taxel, and for each taxel those whose cells may touch its own, nearest first. `None` for a
    /// grid.
    pub fn point_cells(&self) -> Option<(f64, &[Vec<u32>])> {
        match &self.layout {
            Layout::Points { reach_m, .. } => Some((*reach_m, self.neighbours())),
            Layout::Grid { .. } => None,
        }
    }

    /// For each taxel of a points layout, the taxels whose cells may touch its own, nearest first.
    fn neighbours(&self) -> &[Vec<u32>] {
        let Layout::Points { reach_m, cells, neighbours } = &self.layout else { return &[] };
        neighbours.get_or_init(|| {
            let around = |i: usize| -> Vec<u32> {
                let (home, max) = (cell(self.centers[i], *reach_m), 4.0 * reach_m * reach_m);
                let distance = |j: &u32| (self.centers[*j as usize] - self.centers[i]).length_squared();
                let keys = (0..125).map(|k| [home[0] + k % 5 - 2, home[1] + k / 5 % 5 - 2, home[2] + k / 25 - 2]);
                let mut near: Vec<u32> = keys
                    .flat_map(|key| cells.get(&key).into_iter().flatten().copied())
                    .filter(|j| *j as usize != i && distance(j) < max)
                    .collect();
                near.sort_by(|a, b| distance(a).total_cmp(&distance(b)).then(a.cmp(b)));
                near
            };
            (0..self.len()).map(around).collect()
        })
    }
}

/// For each of `cells` cells of width `cell`, in a row centred at `middle`, the taxels 0 … `taxels` − 1 of width 1 that
/// it overlaps, and the length of the overlap.
fn overlaps(cells: usize, cell: f64, middle: f64, taxels: usize) -> Overlaps {
    let border = |i: usize| middle + (i as f64 - 0.5 * cells as f64) * cell;
    let of_cell = |i: usize| {
        let (low, high) = (border(i), border(i + 1));
        let first = low.floor().max(0.0) as usize;
        let last = high.ceil().clamp(0.0, taxels as f64) as usize;
        let width = |taxel: usize| high.min(taxel as f64 + 1.0) - low.max(taxel as f64);
        (first..last).map(|taxel| (taxel, width(taxel))).filter(|(_, width)| *width > 0.0).collect()
    };
    (0..cells).map(of_cell).collect()
}

/// A cell of the base as a facet in the plane of the undeformed surface, where the taxels are.
fn base_facet(base: &SurfaceField, row: usize, col: usize, stress: Vec3) -> Facet {
    let middle = base.rest(row, col) - Vec3::Z * base.center.z;
    let half = 0.5 * base.cell_m;
    let corner = |x: f64, y: f64| Corner {
        at: middle + Vec3::new(x, y, 0.0) * half,
        pressure_pa: -stress.z,
        shear_pa: Vec3::new(stress.x, stress.y, 0.0),
    };
    let corners = vec![corner(-1.0, -1.0), corner(1.0, -1.0), corner(1.0, 1.0), corner(-1.0, 1.0)];
    let load = Load::Polygon(corners);
    Facet { object: 0, normal: Vec3::Z, depth_m: 0.0, saturated: false, load, tangent: Tangent::default() }
}

/// Accumulated forces.
struct Bins {
    forces: Vec<Vec3>,
    outside: Vec3,
}

impl Bins {
    fn add(&mut self, taxel: Option<usize>, force: Vec3) {
        match taxel {
            Some(taxel) => self.forces[taxel] += force,
            None => self.outside += force,
        }
    }
}

impl Bins {
    /// Distributes a force by a Gaussian; the part beside the grid is outside.
    fn spread(&mut self, gaussian: Gaussian, (rows, cols, pitch_m): (usize, usize, f64), at: Vec3, force: Vec3) {
        let (first_col, across) = gaussian.shares(at.x + 0.5 * cols as f64 * pitch_m, pitch_m, cols);
        let (first_row, down) = gaussian.shares(0.5 * rows as f64 * pitch_m - at.y, pitch_m, rows);
        let mut rest = force;
        for (i, height) in down.iter().enumerate() {
            for (j, width) in across.iter().enumerate() {
                let part = force * (height * width);
                self.forces[(first_row + i) * cols + first_col + j] += part;
                rest -= part;
            }
        }
        self.outside += rest;
    }
}

fn cell(point: Vec3, edge_m: f64) -> [i64; 3] {
    (point / edge_m).to_array().map(|x| x.floor() as i64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use dermis_geometry::Random;

    /// The shares of a load are those by which it is binned.
    #[test]
    fn shares_are_those_of_a_load_there() {
        let points = vec![Vec3::ZERO, Vec3::X * 2.0];
        let apart = Taxels::points(points, vec![Vec3::Z; 2], vec![1.0; 2], 1.1);
        let layouts = [Taxels::grid(4, 5, 1.0), Taxels::grid(4, 5, 1.0).with_gaussian(0.4), apart];
        let mut random = Random::new(6);
        for taxels in layouts {
            for _ in 0..50 {
                let mut side = || random.uniform() * 2.0 - 1.0;
                let anchor = Vec3::new(3.0 * side(), 3.0 * side(), 0.0);
                let force = Vec3::new(0.5, -0.25, -2.0);
                let load = Load::Point { at: anchor, anchor, area_m2: 1.0, force };
                let tangent = Tangent::default();
                let facet = Facet { object: 0, normal: Vec3::Z, depth_m: 0.0, saturated: false, load, tangent };
                let (forces, outside) = taxels.bin(&Touch::from_facets(vec![facet], 1));
                let (parts, rest) = taxels.shares(anchor);
                let mut located = vec![Vec3::ZERO; taxels.len()];
                parts.iter().for_each(|&(taxel, part)| located[taxel] += force * part);
                assert!(forces.iter().zip(&located).all(|(a, b)| (*a - *b).length() < 1e-14));
                assert!((outside - force * rest).length() < 1e-14);
            }
        }
    }

    /// Needles of 10 m and nanometres over the cells of a grid: taxels and outside sum to the load.
    #[test]
    fn the_parts_of_a_needle_sum_to_its_load() {
        let (taxels, mut random) = (Taxels::grid(6, 6, 2e-3), Random::new(4));
        let mut far = 0.0f64;
        for _ in 0..200 {
            let middle = Vec3::new(random.between(-5e-3, 5e-3), random.between(-5e-3, 5e-3), 0.0);
            let (length, width) = (10f64.powf(random.between(-3.0, 1.0)), 10f64.powf(random.between(-12.0, -6.0)));
            let flat = |v: Vec3| Vec3::new(v.x, v.y, 0.0);
            let (along, side) = (flat(random.direction()) * length, flat(random.direction()) * width);
            let corner = |at: Vec3| Corner { at, pressure_pa: 1e5, shear_pa: Vec3::new(3e4, 0.0, 0.0) };
            let corners = vec![corner(middle - along), corner(middle + along), corner(middle + side)];
            let facet = Facet {
                object: 0,
                normal: Vec3::Z,
                depth_m: 0.0,
                saturated: false,
                load: Load::Polygon(corners),
                tangent: Tangent::default(),
            };
            let force = facet.force_on_sensor();
            let (forces, outside) = taxels.bin(&Touch::from_facets(vec![facet], 1));
            far = far.max((forces.iter().sum::<Vec3>() + outside - force).length() / force.length());
        }
        assert!(far < 1e-13, "{far}");
    }

    #[test]
    fn every_centre_is_in_its_own_cell() {
        let taxels = Taxels::grid(14, 6, 3.4e-3);
        for (i, &center) in taxels.centers().iter().enumerate() {
            assert_eq!(taxels.locate(center), Some(i));
        }
        assert_eq!(taxels.locate(Vec3::new(0.0, 7.0 * 3.4e-3 + 1e-9, 0.0)), None);
    }

    #[test]
    fn the_nearest_centre_is_found_as_by_trying_all() {
        let mut random = Random::new(3);
        let mut point = || Vec3::new(random.uniform(), random.uniform(), random.uniform()) * 0.05;
        let centers: Vec<Vec3> = (0..200).map(|_| point()).collect();
        let taxels = Taxels::points(centers.clone(), vec![Vec3::Z; 200], vec![1e-6; 200], 4e-3);
        for _ in 0..2000 {
            let p = point();
            let truth = (0..200).min_by(|&a, &b| (centers[a] - p).length().total_cmp(&(centers[b] - p).length()));
            let truth = truth.filter(|&i| (centers[i] - p).length() <= 4e-3);
            assert_eq!(taxels.locate(p), truth);
        }
    }
}
