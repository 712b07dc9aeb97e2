//! A profile extruded along a straight line, as a closed solid.

use super::{PLATE_M, PLATE_THICKNESS_M, RELIEF_M};
use crate::shapes::ShapeError;
use crate::shapes::polygon::triangulate;
use crate::{TriMesh, Vec2, Vec3};

/// Number of rows along the bar, which avoids needle-like triangles.
const ROWS: u32 = 12;

/// A bar along y, as long and wide as the plate. `lower` holds x and z (m) of its lower face, from left to right; the
/// plate closes it above.
pub(super) fn bar(name: &str, lower: impl IntoIterator<Item = Vec2>) -> Result<TriMesh, ShapeError> {
    let (half, top) = (0.5 * PLATE_M, RELIEF_M + PLATE_THICKNESS_M);
    let profile: Vec<Vec2> = lower.into_iter().chain([Vec2::new(half, top), Vec2::new(-half, top)]).collect();
    let count = profile.len() as u32;
    let row =
        |k: u32| profile.iter().map(move |p| Vec3::new(p.x, (f64::from(k) / f64::from(ROWS) - 0.5) * PLATE_M, p.y));
    let vertices = (0..=ROWS).flat_map(row).collect();
    let front: Vec<u32> = (0..count).collect();
    let ends = triangulate(&profile, &front, &[]);
    let mut triangles: Vec<[u32; 3]> =
        ends.iter().flat_map(|&[a, b, c]| [[a, b, c], [a, c, b].map(|i| i + ROWS * count)]).collect();
    for (k, i) in (0..ROWS).flat_map(|k| (0..count).map(move |i| (k, i))) {
        let [here, next] = [i, (i + 1) % count].map(|i| k * count + i);
        triangles.extend([[here, here + count, next + count], [here, next + count, next]]);
    }
    Ok(TriMesh::new(name, vertices, triangles)?)
}
