//! Height maps of surfaces over a plane.

use crate::{Bounds, PlacedShape, Pose, Primitive, Ray, RayHit, ShapeGradient, Surface, Vec2, Vec3};

/// Fraction of a cell added on every side of a triangle before its cells are searched; the exact test follows.
const SLACK: f64 = 5e-3;
/// Number of samples of a cell under a cliff along each axis.
const SAMPLES: usize = 6;
/// Largest second difference of heights a cell apart, as a fraction of a cell, over which a surface is smooth: the height of a
/// cell's centre is then its mean height to a twelfth of this.
const SMOOTH: f64 = 0.25;

/// A regular grid of square cells in the plane z = 0, row 0 at +y, column 0 at −x.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HeightGrid {
    /// Number of rows, along y.
    pub rows: usize,
    /// Number of columns, along x.
    pub cols: usize,
    /// Edge of a cell (m).
    pub cell_m: f64,
    /// Centre of the grid (m).
    pub center: Vec2,
}

/// Height of the lowest surface over the centre of every cell: the first contact along +z.
#[derive(Clone, Debug, PartialEq)]
pub struct HeightField {
    /// The grid of cells.
    pub grid: HeightGrid,
    /// Heights (m) above z = 0, row by row; infinite without a surface.
    pub heights_m: Vec<f64>,
    /// Fraction of each cell that the object covers: below 1 only where it reaches below z = 0 under a cliff.
    pub covered: Vec<f64>,
    /// The cells under a cliff, in order.
    cliffs: Vec<usize>,
}

impl HeightGrid {
    /// Centre of a cell (m).
    pub fn cell_center(&self, row: usize, col: usize) -> Vec2 {
        Vec2::new(self.x_m(col), self.y_m(row))
    }

    /// Index of the cell around a place (m), row by row; `None` beside the grid.
    pub fn cell_at(&self, at: Vec2) -> Option<usize> {
        let (row, col) = (self.row_of(at.y).round(), self.col_of(at.x).round());
        let is_inside = |at: f64, count: usize| at >= 0.0 && at < count as f64;
        (is_inside(row, self.rows) && is_inside(col, self.cols)).then(|| row as usize * self.cols + col as usize)
    }

    fn x_m(&self, col: usize) -> f64 {
        self.center.x + (col as f64 - 0.5 * (self.cols as f64 - 1.0)) * self.cell_m
    }

    fn y_m(&self, row: usize) -> f64 {
        self.center.y + (0.5 * (self.rows as f64 - 1.0) - row as f64) * self.cell_m
    }

    /// First and last index of the `count` cells whose centres lie in `low ..= high`, in units of cells.
    fn span(low: f64, high: f64, count: usize) -> Option<(usize, usize)> {
        let first = low.ceil().max(0.0);
        let last = high.floor().min(count as f64 - 1.0);
        (first <= last).then_some((first as usize, last as usize))
    }

    /// Column coordinate: 0 at the centre of the first column.
    fn col_of(&self, x: f64) -> f64 {
        (x - self.center.x) / self.cell_m + 0.5 * (self.cols as f64 - 1.0)
    }

    /// Row coordinate: 0 at the centre of the first row, growing towards −y.
    fn row_of(&self, y: f64) -> f64 {
        0.5 * (self.rows as f64 - 1.0) - (y - self.center.y) / self.cell_m
    }
}

impl HeightField {
    /// A height field without a surface.
    pub fn empty(grid: HeightGrid) -> Self {
        let cells = grid.rows * grid.cols;
        Self { grid, heights_m: vec![f64::INFINITY; cells], covered: vec![1.0; cells], cliffs: Vec::new() }
    }

    /// Samples a function of x and y (m) at the cell centres.
    pub fn from_fn(grid: HeightGrid, height_m: impl Fn(f64, f64) -> f64) -> Self {
        let cells = (0..grid.rows).flat_map(|row| (0..grid.cols).map(move |col| (row, col)));
        let heights_m = cells.map(|(row, col)| height_m(grid.x_m(col), grid.y_m(row))).collect();
        Self { grid, heights_m, covered: vec![1.0; grid.rows * grid.cols], cliffs: Vec::new() }
    }

    /// Rasterises a surface as seen along +z from below. The height of a cell is that of the surface over its centre, to
    /// rounding; a primitive is evaluated in closed form. A centre under an edge or a corner of a mesh belongs to all
    /// triangles there, so a closed mesh leaves no gap.
    ///
    /// A cell under a cliff, such as the rim of a punch or the edge of a prism, holds the fraction of its area where the object
    /// reaches below z = 0, and the average height there. Without this the rim would be a staircase of whole cells.
    pub fn of_surface(grid: HeightGrid, surface: &Surface, grid_from_surface: &Pose) -> Self {
        let mut field = Self::empty(grid);
        field.lower(surface, grid_from_surface, f64::INFINITY);
        field
    }

    /// Rasterises a surface as [`HeightField::of_surface`] does and keeps the lower height of each cell. Returns
    /// whether any cell became lower. Skips parts that lie entirely above `max_m`; let this be several cells, because whether a cell
    /// is under a cliff depends on its neighbours.
    pub fn lower(&mut self, surface: &Surface, grid_from_surface: &Pose, max_m: f64) -> bool {
        let mut own = Self::empty(self.grid);
        match surface.primitive() {
            Some(primitive) => own.enter(primitive, grid_from_surface, max_m),
            None => own.draw_mesh(surface, grid_from_surface, max_m),
        }
        own.average_cliffs(surface, grid_from_surface);
        let mut fell = false;
        // Those of an object that another one hides do no harm: their heights are not used.
        self.cliffs.extend(own.cliffs);
        for (i, (height, covered)) in own.heights_m.into_iter().zip(own.covered).enumerate() {
            if height < self.heights_m[i] {
                (self.heights_m[i], self.covered[i]) = (height, covered);
                fell = true;
            }
        }
        fell
    }

    /// The heights at which vertical lines through the cell centres enter a primitive.
    fn enter(&mut self, primitive: &Primitive, grid_from_primitive: &Pose, max_m: f64) {
        let (grid, infinite) = (self.grid, Vec3::splat(f64::INFINITY));
        let below = Bounds { min: -infinite, max: Vec3 { z: max_m, ..infinite } };
        let Some(Bounds { min, max }) = primitive.bounds_in(grid_from_primitive, &below) else { return };
        let rows = HeightGrid::span(grid.row_of(max.y) - SLACK, grid.row_of(min.y) + SLACK, grid.rows);
        let cols = HeightGrid::span(grid.col_of(min.x) - SLACK, grid.col_of(max.x) + SLACK, grid.cols);
        let (Some((first_row, last_row)), Some((first_col, last_col))) = (rows, cols) else { return };
        let primitive_from_grid = grid_from_primitive.inverse();
        let up = primitive_from_grid.transform_vector(Vec3::Z);
        for row in first_row..=last_row {
            for col in first_col..=last_col {
                let foot = primitive_from_grid.transform_point(grid.cell_center(row, col).extend(0.0));
                if let Some(height) = primitive.enter(foot, up) {
                    self.heights_m[row * grid.cols + col] = height;
                }
            }
        }
    }

    fn draw_mesh(&mut self, surface: &Surface, grid_from_surface: &Pose, max_m: f64) {
        let mesh = surface.mesh();
        let corners: Vec<Vec3> = mesh.vertices().iter().map(|&v| grid_from_surface.transform_point(v)).collect();
        // On a closed mesh an upward face is never the lowest.
        let only_downward = surface.is_closed();
        for triangle in mesh.triangles() {
            let [a, b, c] = triangle.map(|i| corners[i as usize]);
            if a.z <= max_m || b.z <= max_m || c.z <= max_m {
                self.draw(a, b, c, only_downward);
            }
        }
    }

    /// Sets height and covered fraction of every cell under a cliff ([`HeightField::of_surface`]) from [`SAMPLES`]² points
    /// whose rows and columns all differ.
    fn average_cliffs(&mut self, surface: &Surface, grid_from_surface: &Pose) {
        let (grid, surface_from_grid) = (self.grid, grid_from_surface.inverse());
        let direction = surface_from_grid.transform_vector(Vec3::Z);
        let bounds = surface.bounds();
        let reach = 0.5 * bounds.size().length() + grid.cell_m;
        let below_m = grid_from_surface.transform_point(bounds.center()).z - reach;
        let at_cliffs: Vec<(usize, f64, f64)> = (0..self.heights_m.len())
            .filter(|&cell| self.is_at_cliff(cell))
            .filter_map(|cell| {
                let middle = grid.cell_center(cell / grid.cols, cell % grid.cols);
                let (mut sum, mut count) = (0.0, 0.0);
                for i in 0..SAMPLES * SAMPLES {
                    let at = middle + sample(i) * grid.cell_m;
                    let origin = surface_from_grid.transform_point(at.extend(below_m));
                    let ray = Ray { origin, direction, length: 2.0 * reach };
                    let height = surface.cast(&ray, None).map_or(f64::INFINITY, |hit| below_m + hit.distance);
                    if height < 0.0 {
                        sum += height;
                        count += 1.0;
                    }
                }
                (count > 0.0).then(|| (cell, sum / count, count / (SAMPLES * SAMPLES) as f64))
            })
            .collect();
        for (cell, height_m, covered) in at_cliffs {
            (self.heights_m[cell], self.covered[cell]) = (height_m, covered);
            self.cliffs.push(cell);
        }
    }

    /// Adds to a gradient the derivatives of a scalar that depends on the heights of some cells, given as pairs of a cell and
    /// the derivative (1/m) by its height. The field is that of this surface alone. Covered parts are held fixed: they
    /// change in steps.
    pub fn add_gradient(
        &self,
        surface: &Surface,
        grid_from_surface: &Pose,
        by_height: impl IntoIterator<Item = (usize, f64)>,
        gradient: &mut ShapeGradient,
    ) {
        let (grid, surface_from_grid) = (self.grid, grid_from_surface.inverse());
        let shape = PlacedShape::new(surface.primitive(), grid_from_surface);
        let up = surface_from_grid.transform_vector(Vec3::Z);
        let reach = 0.5 * surface.bounds().size().length() + grid.cell_m;
        let below_m = grid_from_surface.transform_point(surface.bounds().center()).z - reach;
        let hit_over = |at: Vec2| {
            let origin = surface_from_grid.transform_point(at.extend(below_m));
            let hit = surface.cast(&Ray { origin, direction: up, length: 2.0 * reach }, None)?;
            let normal = grid_from_surface.transform_vector(hit.normal);
            Some(RayHit { point: at.extend(below_m + hit.distance), direction: Vec3::Z, normal })
        };
        for (cell, by_height) in by_height {
            let middle = grid.cell_center(cell / grid.cols, cell % grid.cols);
            if self.cliffs.binary_search(&cell).is_err() {
                let hit = hit_over(middle);
                hit.iter().for_each(|hit| gradient.add(&shape, hit, by_height, Vec3::ZERO));
                continue;
            }
            let samples = (0..SAMPLES * SAMPLES).filter_map(|i| hit_over(middle + sample(i) * grid.cell_m));
            let low: Vec<RayHit> = samples.filter(|hit| hit.point.z < 0.0).collect();
            low.iter().for_each(|hit| gradient.add(&shape, hit, by_height / low.len() as f64, Vec3::ZERO));
        }
    }

    /// True if a cell or one of its eight neighbours is below z = 0, their heights differ by more than a cell, and the surface
    /// is not smooth over the cell: the steep flank of a ball is no cliff.
    fn is_at_cliff(&self, cell: usize) -> bool {
        let HeightGrid { rows, cols, cell_m, .. } = self.grid;
        let (row, col, own) = (cell / cols, cell % cols, self.heights_m[cell]);
        let is_steep = (row.saturating_sub(1)..=(row + 1).min(rows - 1)).any(|row| {
            (col.saturating_sub(1)..=(col + 1).min(cols - 1)).any(|col| {
                let other = self.heights_m[row * cols + col];
                own.min(other) < 0.0 && own.max(other) - own.min(other) > cell_m
            })
        });
        is_steep && !self.is_smooth(row, col)
    }

    /// True if the second differences of the heights along rows, columns and diagonals are small at a cell. A surface that
    /// ends at the cell, or at the grid, is not smooth there.
    fn is_smooth(&self, row: usize, col: usize) -> bool {
        let HeightGrid { rows, cols, cell_m, .. } = self.grid;
        if row == 0 || col == 0 || row + 1 == rows || col + 1 == cols {
            return false;
        }
        let at = |row: usize, col: usize| self.heights_m[row * cols + col];
        // Along a diagonal the heights are √2 cells apart, and a curvature gives twice the difference.
        let pairs = [
            (at(row, col - 1) + at(row, col + 1), 1.0),
            (at(row - 1, col) + at(row + 1, col), 1.0),
            (at(row - 1, col - 1) + at(row + 1, col + 1), 2.0),
            (at(row - 1, col + 1) + at(row + 1, col - 1), 2.0),
        ];
        // False for infinite heights.
        pairs.iter().all(|(pair, by)| (pair - 2.0 * at(row, col)).abs() <= by * SMOOTH * cell_m)
    }

    fn draw(&mut self, a: Vec3, b: Vec3, c: Vec3, only_downward: bool) {
        let doubled_area = cross(b - a, c - a);
        if doubled_area == 0.0 || (only_downward && doubled_area > 0.0) {
            return;
        }
        let grid = self.grid;
        let (low_y, high_y) = (a.y.min(b.y).min(c.y), a.y.max(b.y).max(c.y));
        let (low_x, high_x) = (a.x.min(b.x).min(c.x), a.x.max(b.x).max(c.x));
        let rows = HeightGrid::span(grid.row_of(high_y) - SLACK, grid.row_of(low_y) + SLACK, grid.rows);
        let cols = HeightGrid::span(grid.col_of(low_x) - SLACK, grid.col_of(high_x) + SLACK, grid.cols);
        let (Some((first_row, last_row)), Some((first_col, last_col))) = (rows, cols) else { return };
        for row in first_row..=last_row {
            let y = grid.y_m(row);
            let (first, last) = match last_col - first_col {
                0..4 => (first_col, last_col),
                _ => match chord([a, b, c], y, SLACK * grid.cell_m) {
                    Some((from, to)) => {
                        match HeightGrid::span(grid.col_of(from) - SLACK, grid.col_of(to) + SLACK, grid.cols) {
                            Some(span) => span,
                            None => continue,
                        }
                    }
                    None => continue,
                },
            };
            for col in first..=last {
                let p = Vec3::new(grid.x_m(col), y, 0.0);
                let (pa, pb, pc) = (a - p, b - p, c - p);
                // Swapping the ends of an edge only flips the sign of its weight, without rounding: neighbours leave no
                // gap.
                let (u, v, w) = (cross(pb, pc), cross(pc, pa), cross(pa, pb));
                let inside = (u >= 0.0 && v >= 0.0 && w >= 0.0) || (u <= 0.0 && v <= 0.0 && w <= 0.0);
                let sum = u + v + w;
                if inside && sum != 0.0 {
                    let height = (u * a.z + v * b.z + w * c.z) / sum;
                    let lowest = &mut self.heights_m[row * grid.cols + col];
                    *lowest = lowest.min(height);
                }
            }
        }
    }
}

/// Offset of a sample from the centre of its cell, in cells: point i of a lattice in which no two points share a row or a
/// column, so that an edge along an axis is located to 1/[`SAMPLES`]² of a cell.
fn sample(i: usize) -> Vec2 {
    let (row, col) = (i / SAMPLES, i % SAMPLES);
    let count = (SAMPLES * SAMPLES) as f64;
    Vec2::new((SAMPLES * col + row) as f64 + 0.5, (SAMPLES * row + col) as f64 + 0.5) / count - 0.5
}

/// z of the cross product of two vectors in the plane.
fn cross(a: Vec3, b: Vec3) -> f64 {
    a.x * b.y - a.y * b.x
}

/// The interval (m) in which a horizontal line at `y`, thickened by `slack_m`, lies inside a triangle.
fn chord(corners: [Vec3; 3], y: f64, slack_m: f64) -> Option<(f64, f64)> {
    let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
    for (p, q) in [(0, 1), (1, 2), (2, 0)] {
        let (p, q) = (corners[p], corners[q]);
        let (bottom, top) = if p.y <= q.y { (p, q) } else { (q, p) };
        let (from, to) = (bottom.y.max(y - slack_m), top.y.min(y + slack_m));
        if from > to {
            continue;
        }
        for at in [from, to] {
            let rise = top.y - bottom.y;
            let xs = if rise > 0.0 {
                let x = bottom.x + (top.x - bottom.x) * ((at - bottom.y) / rise).clamp(0.0, 1.0);
                [x, x]
            } else {
                [bottom.x, top.x]
            };
            low = low.min(xs[0].min(xs[1]));
            high = high.max(xs[0].max(xs[1]));
        }
    }
    (low <= high).then_some((low, high))
}
