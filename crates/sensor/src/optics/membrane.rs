//! Interpolation of the deformed surface between its cells.

use dermis_geometry::Vec3;
use dermis_skin::SurfaceField;

/// Smooth interpolation of the displacement field of a surface. Coordinates count cells: (0, 0) is the centre of the
/// first cell; the first coordinate counts rows, the second columns. Outside its border the surface keeps the values at
/// the border.
#[derive(Clone, Copy, Debug)]
pub struct Membrane<'a> {
    field: &'a SurfaceField,
}

/// A point of the surface (m) and its derivatives with respect to the two coordinates.
#[derive(Clone, Copy, Debug)]
pub(super) struct Patch {
    pub at: Vec3,
    pub by_row: Vec3,
    pub by_col: Vec3,
}

impl<'a> Membrane<'a> {
    /// Interpolates a displacement field.
    pub fn new(field: &'a SurfaceField) -> Self {
        Self { field }
    }

    /// The cell coordinates of a point of the undeformed surface: row and column.
    pub fn coordinates(&self, [x_m, y_m]: [f64; 2]) -> [f64; 2] {
        let SurfaceField { rows, cols, cell_m, center, .. } = self.field;
        [0.5 * (*rows as f64 - 1.0) - (y_m - center.y) / cell_m, (x_m - center.x) / cell_m + 0.5 * (*cols as f64 - 1.0)]
    }

    /// Distance of a coordinate from the border (cells); negative outside.
    pub fn margin(&self, [row, col]: [f64; 2]) -> f64 {
        let inside = |at: f64, count: usize| (at + 0.5).min(count as f64 - 0.5 - at);
        inside(row, self.field.rows).min(inside(col, self.field.cols))
    }

    /// Displacement of a cell (m), including its height at rest.
    fn moved(&self, row: usize, col: usize) -> Vec3 {
        let index = row * self.field.cols + col;
        let height = self.field.rest_heights_m.as_ref().map_or(0.0, |heights| heights[index]);
        self.field.values[index] + Vec3::new(0.0, 0.0, self.field.center.z + height)
    }

    /// Edge of a cell (m).
    pub fn cell_m(&self) -> f64 {
        self.field.cell_m
    }

    /// The point of the plane z = 0 under a coordinate (m), in the sensor's frame.
    pub fn plane(&self, [row, col]: [f64; 2]) -> Vec3 {
        let SurfaceField { rows, cols, cell_m, center, .. } = self.field;
        let x = center.x + (col - 0.5 * (*cols as f64 - 1.0)) * cell_m;
        let y = center.y + (0.5 * (*rows as f64 - 1.0) - row) * cell_m;
        Vec3::new(x, y, 0.0)
    }

    /// Linear interpolation between the four cells around a coordinate.
    pub(super) fn patch(&self, coordinates: [f64; 2]) -> Patch {
        let [(row, down), (col, right)] =
            [split(coordinates[0], self.field.rows), split(coordinates[1], self.field.cols)];
        let (below, beside) = ((row + 1).min(self.field.rows - 1), (col + 1).min(self.field.cols - 1));
        let [a, b] = [self.moved(row, col), self.moved(row, beside)];
        let [c, d] = [self.moved(below, col), self.moved(below, beside)];
        let (top, bottom) = (a + (b - a) * right, c + (d - c) * right);
        let cell = self.field.cell_m;
        // The derivatives vanish outside the border.
        let within = |i: usize, count: usize| f64::from(u8::from((0.0..=count as f64 - 1.0).contains(&coordinates[i])));
        let (by_row, by_col) = ((bottom - top), (b - a) + ((d - c) - (b - a)) * down);
        Patch {
            at: self.plane(coordinates) + top + (bottom - top) * down,
            by_row: by_row * within(0, self.field.rows) - Vec3::Y * cell,
            by_col: by_col * within(1, self.field.cols) + Vec3::X * cell,
        }
    }

    /// The deformed point (m) at a coordinate, by cubic convolution, which interpolates every cell with continuous
    /// slope.
    pub fn point(&self, coordinates: [f64; 2]) -> Vec3 {
        let (rows, cols) = (self.field.rows, self.field.cols);
        let [(row, down), (col, right)] = [split(coordinates[0], rows), split(coordinates[1], cols)];
        let (by_row, by_col) = (cubic(down), cubic(right));
        let mut sum = Vec3::ZERO;
        for (i, weight) in by_row.into_iter().enumerate() {
            let r = tap(row, i, rows);
            let line: Vec3 = (0..4).map(|j| self.moved(r, tap(col, j, cols)) * by_col[j]).sum();
            sum += line * weight;
        }
        self.plane(coordinates) + sum
    }

    /// The height (m) of [`Membrane::point`].
    pub(super) fn height(&self, coordinates: [f64; 2]) -> f64 {
        let SurfaceField { rows, cols, values, rest_heights_m, center, .. } = self.field;
        let [(row, down), (col, right)] = [split(coordinates[0], *rows), split(coordinates[1], *cols)];
        let (by_row, by_col) = (cubic(down), cubic(right));
        let columns = [0, 1, 2, 3].map(|j| tap(col, j, *cols));
        let mut sum = 0.0;
        for (i, weight) in by_row.into_iter().enumerate() {
            let start = tap(row, i, *rows) * cols;
            let line = |j: usize| {
                let rest = rest_heights_m.as_ref().map_or(0.0, |heights| heights[start + columns[j]]);
                by_col[j] * (values[start + columns[j]].z + rest)
            };
            sum += weight * (line(0) + line(1) + line(2) + line(3));
        }
        center.z + sum
    }

    /// Adds derivatives by the displacement of each cell from that by [`Membrane::height`] at a coordinate; returns the slope
    /// of the height along both coordinates (m per cell).
    pub(super) fn add_by_height(&self, coordinates: [f64; 2], by_height: f64, by_cells: &mut [Vec3]) -> [f64; 2] {
        let (rows, cols) = (self.field.rows, self.field.cols);
        let [(row, down), (col, right)] = [split(coordinates[0], rows), split(coordinates[1], cols)];
        let [by_row, by_col] = [cubic(down), cubic(right)];
        let [slope_row, slope_col] = [cubic_slope(down), cubic_slope(right)];
        let within = |i: usize, count: usize| f64::from(u8::from((0.0..=count as f64 - 1.0).contains(&coordinates[i])));
        let mut slope = [0.0; 2];
        for i in 0..4 {
            for j in 0..4 {
                let (r, c) = (tap(row, i, rows), tap(col, j, cols));
                by_cells[r * cols + c].z += by_row[i] * by_col[j] * by_height;
                let height = self.moved(r, c).z;
                slope[0] += slope_row[i] * by_col[j] * height;
                slope[1] += by_row[i] * slope_col[j] * height;
            }
        }
        [slope[0] * within(0, rows), slope[1] * within(1, cols)]
    }

    /// Adds derivatives by the displacement of each cell from those by the point of [`Membrane::patch`].
    pub(super) fn add_by_patch(&self, coordinates: [f64; 2], by_point: Vec3, by_cells: &mut [Vec3]) {
        let (rows, cols) = (self.field.rows, self.field.cols);
        let [(row, down), (col, right)] = [split(coordinates[0], rows), split(coordinates[1], cols)];
        let (below, beside) = ((row + 1).min(rows - 1), (col + 1).min(cols - 1));
        for (r, height) in [(row, 1.0 - down), (below, down)] {
            for (c, width) in [(col, 1.0 - right), (beside, right)] {
                by_cells[r * cols + c] += by_point * (height * width);
            }
        }
    }

    /// Adds derivatives by the displacement of each cell from those by [`Membrane::point`] at a coordinate.
    pub(super) fn add_by_point(&self, coordinates: [f64; 2], by_point: Vec3, by_cells: &mut [Vec3]) {
        let (rows, cols) = (self.field.rows, self.field.cols);
        let [(row, down), (col, right)] = [split(coordinates[0], rows), split(coordinates[1], cols)];
        let (by_row, by_col) = (cubic(down), cubic(right));
        for k in 0..16 {
            let cell = tap(row, k / 4, rows) * cols + tap(col, k % 4, cols);
            by_cells[cell] += by_point * (by_row[k / 4] * by_col[k % 4]);
        }
    }

    /// The undeformed point (m) at a coordinate.
    pub fn rest(&self, coordinates: [f64; 2]) -> Vec3 {
        let (rows, cols) = (self.field.rows, self.field.cols);
        let base = self.plane(coordinates) + Vec3::new(0.0, 0.0, self.field.center.z);
        let Some(heights) = &self.field.rest_heights_m else { return base };
        let [(row, down), (col, right)] = [split(coordinates[0], rows), split(coordinates[1], cols)];
        let (by_row, by_col) = (cubic(down), cubic(right));
        let height: f64 = (0..16)
            .map(|k| by_row[k / 4] * by_col[k % 4] * heights[tap(row, k / 4, rows) * cols + tap(col, k % 4, cols)])
            .sum();
        base + Vec3::new(0.0, 0.0, height)
    }
}

/// The cell at or before a coordinate, and the fraction past it, clamped to the field.
fn split(coordinate: f64, count: usize) -> (usize, f64) {
    let held = coordinate.clamp(0.0, count as f64 - 1.0);
    let cell = (held as usize).min(count.saturating_sub(2));
    (cell, held - cell as f64)
}

/// The `i`-th of the four cells of a cubic, clamped to the field.
fn tap(cell: usize, i: usize, count: usize) -> usize {
    (cell + i).saturating_sub(1).min(count - 1)
}

/// Weights of four neighbours (Keys 1981, a = −1/2): exact for quadratics.
fn cubic(t: f64) -> [f64; 4] {
    let (t2, t3) = (t * t, t * t * t);
    [0.5 * (-t3 + 2.0 * t2 - t), 0.5 * (3.0 * t3 - 5.0 * t2 + 2.0), 0.5 * (-3.0 * t3 + 4.0 * t2 + t), 0.5 * (t3 - t2)]
}

/// Derivatives of the weights of [`cubic`].
fn cubic_slope(t: f64) -> [f64; 4] {
    let t2 = t * t;
    [
        0.5 * (-3.0 * t2 + 4.0 * t - 1.0),
        0.5 * (9.0 * t2 - 10.0 * t),
        0.5 * (-9.0 * t2 + 8.0 * t + 1.0),
        0.5 * (3.0 * t2 - 2.0 * t),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn field(height: impl Fn(f64, f64) -> f64) -> SurfaceField {
        let mut field = SurfaceField {
            rows: 21,
            cols: 31,
            cell_m: 0.1e-3,
            center: Vec3::new(1e-3, -1e-3, 0.0),
            values: vec![],
            rest_heights_m: None,
        };
        for row in 0..21 {
            for col in 0..31 {
                let rest = field.rest(row, col);
                field.values.push(Vec3::new(1e-5, -2e-5, height(rest.x, rest.y)));
            }
        }
        field
    }

    /// Quadratics are interpolated exactly away from the border; lateral displacement moves the point.
    #[test]
    fn quadratics_are_exact() {
        let height = |x: f64, y: f64| 30.0 * x * x - 12.0 * x * y + 5.0 * y * y + 0.1 * x - 1e-4;
        let field = field(height);
        let sheet = Membrane::new(&field);
        for at in [[1.3e-3, -1.21e-3], [0.2e-3, -0.4e-3]] {
            let coordinates = sheet.coordinates(at);
            let point = sheet.point(coordinates);
            let expected = Vec3::new(at[0] + 1e-5, at[1] - 2e-5, height(at[0], at[1]));
            assert!((point - expected).length() < 1e-15, "{point} {expected}");
            assert!((sheet.height(coordinates) - expected.z).abs() < 1e-16);
            let rest = sheet.rest(coordinates);
            assert!((rest - Vec3::new(at[0], at[1], 0.0)).length() < 1e-16);
        }
    }

    #[test]
    fn a_patch_has_the_slopes_of_a_plane() {
        let field = field(|x, y| 0.2 * x - 0.3 * y);
        let sheet = Membrane::new(&field);
        let patch = sheet.patch([4.2, 7.7]);
        assert!((patch.by_col - Vec3::new(1e-4, 0.0, 2e-5)).length() < 1e-15);
        assert!((patch.by_row - Vec3::new(0.0, -1e-4, 3e-5)).length() < 1e-15);
        assert!((patch.at - sheet.point([4.2, 7.7])).length() < 1e-15);
    }

    #[test]
    fn beyond_the_rim_it_goes_on_as_the_rim_is() {
        let field = field(|_, _| -3e-4);
        let sheet = Membrane::new(&field);
        let far = sheet.coordinates([9e-3, 9e-3]);
        assert!(sheet.margin(far) < 0.0);
        assert!((sheet.point(far) - Vec3::new(9e-3 + 1e-5, 9e-3 - 2e-5, -3e-4)).length() < 1e-15);
    }
}
