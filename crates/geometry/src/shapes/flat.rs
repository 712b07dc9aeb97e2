//! Shapes with flat faces.

use super::{ShapeError, check_count, check_length, check_min};
use crate::{TriMesh, Vec3};
use std::f64::consts::TAU;

/// A box with edges of `size_m` along the axes, centred at the origin: 12 triangles.
pub fn cuboid(size_m: Vec3) -> Result<TriMesh, ShapeError> {
    for (what, got) in [("size_m.x", size_m.x), ("size_m.y", size_m.y), ("size_m.z", size_m.z)] {
        check_length("cuboid", what, got)?;
    }
    // Vertex 4a + 2b + c lies on side a of x, b of y and c of z.
    let side = |bit: usize| if bit == 0 { -0.5 } else { 0.5 };
    let vertices = (0..8).map(|i| Vec3::new(side(i & 4), side(i & 2), side(i & 1)) * size_m).collect();
    let faces = [[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]];
    let triangles = faces.iter().flat_map(|&[a, b, c, d]| [[a, b, c], [a, c, d]]).collect();
    Ok(TriMesh::new("cuboid", vertices, triangles)?)
}

/// A regular prism along z, centred at the origin, with its corners at `radius_m` from the axis, the first at +x.
pub fn prism(sides: usize, radius_m: f64, length_m: f64) -> Result<TriMesh, ShapeError> {
    check_min("prism", "sides", 3, sides)?;
    check_length("prism", "radius_m", radius_m)?;
    check_length("prism", "length_m", length_m)?;
    check_count("prism", TAU * radius_m / sides as f64, 4.0 * sides as f64)?;
    let mut vertices = vec![Vec3::new(0.0, 0.0, -0.5 * length_m), Vec3::new(0.0, 0.0, 0.5 * length_m)];
    for corner in 0..sides {
        let (sin, cos) = (TAU * corner as f64 / sides as f64).sin_cos();
        vertices.extend([-0.5, 0.5].map(|z| Vec3::new(radius_m * cos, radius_m * sin, z * length_m)));
    }
    let mut triangles = Vec::with_capacity(4 * sides);
    for corner in 0..sides {
        let [here, next] = [corner, (corner + 1) % sides].map(|c| 2 + 2 * c as u32);
        triangles.extend([
            [0, next, here],
            [here, next, next + 1],
            [here, next + 1, here + 1],
            [1, here + 1, next + 1],
        ]);
    }
    Ok(TriMesh::new("prism", vertices, triangles)?)
}

/// An open, flat mesh in z = 0 with normals along +z, centred at the origin: `rows` × `cols` vertices `pitch_m`
/// apart. Vertex `row * cols + col` lies at x = (col − (cols − 1)/2) pitch, y = ((rows − 1)/2 − row) pitch: the
/// first row is the top one, as in an image.
pub fn grid(rows: usize, cols: usize, pitch_m: f64) -> Result<TriMesh, ShapeError> {
    check_min("grid", "rows", 2, rows)?;
    check_min("grid", "cols", 2, cols)?;
    check_length("grid", "pitch_m", pitch_m)?;
    check_count("grid", pitch_m, 2.0 * (rows - 1) as f64 * (cols - 1) as f64)?;
    let middle = |count: usize| 0.5 * (count - 1) as f64;
    let vertex = |row: usize, col: usize| {
        Vec3::new((col as f64 - middle(cols)) * pitch_m, (middle(rows) - row as f64) * pitch_m, 0.0)
    };
    let vertices = (0..rows).flat_map(|row| (0..cols).map(move |col| vertex(row, col))).collect();
    let mut triangles = Vec::with_capacity(2 * (rows - 1) * (cols - 1));
    for (row, col) in (0..rows - 1).flat_map(|row| (0..cols - 1).map(move |col| (row, col))) {
        let above = (row * cols + col) as u32;
        let below = above + cols as u32;
        // Diagonals alternate, so that the mesh has no preferred direction.
        triangles.extend(if (row + col) % 2 == 0 {
            [[above, below, below + 1], [above, below + 1, above + 1]]
        } else {
            [[above, below, above + 1], [above + 1, below, below + 1]]
        });
    }
    Ok(TriMesh::new("grid", vertices, triangles)?)
}
