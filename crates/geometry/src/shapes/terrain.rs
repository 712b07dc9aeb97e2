//! Solids below height fields.

use super::{ShapeError, check_length, check_memory, check_min};
use crate::limits::MAX_HEIGHTS;
use crate::{TriMesh, Vec3};

const NAME: &str = "height field";

/// A solid between a grid of heights (m) and the plane z = −`base_m`: its top, its bottom and four sides.
///
/// `heights_m` are row by row, row 0 at +y and column 0 at −x; the outermost heights lie on the rim. `size_m` is the
/// extent along x and y.
pub fn terrain(
    rows: usize,
    cols: usize,
    size_m: [f64; 2],
    base_m: f64,
    heights_m: &[f64],
) -> Result<TriMesh, ShapeError> {
    check_heights(rows, cols)?;
    for (what, got) in [("size_m.x", size_m[0]), ("size_m.y", size_m[1]), ("base_m", base_m)] {
        check_length(NAME, what, got)?;
    }
    let fraction = |index: usize, count: usize| index as f64 / (count.max(2) - 1) as f64 - 0.5;
    let vertex =
        |i: usize, z: f64| Vec3::new(size_m[0] * fraction(i % cols, cols), -size_m[1] * fraction(i / cols, rows), z);
    let count = rows * cols;
    let mut vertices: Vec<Vec3> = (0..count).map(|i| vertex(i, heights_m[i])).collect();
    vertices.extend((0..count).map(|i| vertex(i, -base_m)));
    let under = count as u32;
    let index = |row: usize, col: usize| (row * cols + col) as u32;
    let mut triangles = Vec::new();
    for row in 1..rows {
        for col in 1..cols {
            let [a, b, c, d] = [index(row - 1, col - 1), index(row - 1, col), index(row, col - 1), index(row, col)];
            triangles.extend([[a, d, b], [a, c, d]]);
            triangles.extend([[a, b, d], [a, d, c]].map(|t: [u32; 3]| t.map(|i| i + under)));
        }
    }
    let mut side = |a: u32, b: u32| triangles.extend([[a, b, b + under], [a, b + under, a + under]]);
    for col in 1..cols {
        side(index(0, col - 1), index(0, col));
        side(index(rows - 1, col), index(rows - 1, col - 1));
    }
    for row in 1..rows {
        side(index(row - 1, cols - 1), index(row, cols - 1));
        side(index(row, 0), index(row - 1, 0));
    }
    Ok(TriMesh::new(NAME, vertices, triangles)?)
}

/// Refuses height fields of less than 2 rows or columns, of more than [`MAX_HEIGHTS`], and without memory for their mesh.
pub fn check_heights(rows: usize, cols: usize) -> Result<(), ShapeError> {
    check_min(NAME, "rows", 2, rows)?;
    check_min(NAME, "cols", 2, cols)?;
    match rows.checked_mul(cols) {
        // Two triangles above and two below for each height.
        Some(heights) if heights <= MAX_HEIGHTS => check_memory(NAME, 4.0 * heights as f64),
        _ => Err(ShapeError::TooManyHeights { rows, cols }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A ramp over 2 × 4 m, from 0 to 1 m, above a base of 0.5 m: volume 8 m² · (0.5 + 0.5) m.
    #[test]
    fn a_terrain_is_a_closed_solid() {
        let heights: Vec<f64> = (0..5).flat_map(|_| [0.0, 0.25, 0.5, 0.75, 1.0]).collect();
        let mesh = terrain(5, 5, [2.0, 4.0], 0.5, &heights).unwrap();
        assert_eq!(mesh.check_closed(), Ok(()));
        assert!((mesh.volume_m3() - 8.0).abs() < 1e-12, "{}", mesh.volume_m3());
    }
}
