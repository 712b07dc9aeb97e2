//! A box, divided along its medial axis.

use super::{DepthTets, TetsError};
use crate::{TetMesh, Vec3, shapes};

/// The faces of a box; corner 4a + 2b + c lies on side a of x, b of y and c of z.
const SIDES: [[u32; 4]; 6] = [[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]];

/// A box with edges of `size_m` along the axes, centred at the origin. e = distance to the nearest face / half the
/// shortest edge. It is exact, because the box is divided where two faces are equally near.
pub fn cuboid(size_m: Vec3) -> Result<DepthTets, TetsError> {
    // Applies the same checks as the surface.
    shapes::cuboid(size_m)?;
    let half = size_m * 0.5;
    let depth_m = half.min_element();
    let side = |bit: u32| if bit == 0 { -1.0 } else { 1.0 };
    let corner = |i: u32, half: Vec3| Vec3::new(side(i & 4), side(i & 2), side(i & 1)) * half;
    let mut vertices: Vec<Vec3> = (0..8).map(|i| corner(i, half)).collect();
    // Inner corners coincide along the shortest edges.
    let inset = half - Vec3::splat(depth_m);
    let inset = inset.map(|c| if c <= 1e-12 * half.max_element() { 0.0 } else { c });
    let inner: [u32; 8] = std::array::from_fn(|i| {
        let place = corner(i as u32, inset) + Vec3::ZERO;
        let found = (8..vertices.len()).find(|&v| vertices[v] == place).unwrap_or_else(|| {
            vertices.push(place);
            vertices.len() - 1
        });
        found as u32
    });
    let mut tets = Vec::new();
    for outer in SIDES {
        let below = outer.map(|i| inner[i as usize]);
        let mut faces = vec![distinct(&outer), distinct(&below)];
        faces.extend((0..4).map(|k| {
            let next = (k + 1) % 4;
            distinct(&[outer[k], outer[next], below[next], below[k]])
        }));
        pull(&faces, &mut tets);
    }
    // Dividing a frustum that has degenerated to a wedge or a pyramid gives flat tetrahedra, which are removed.
    tets.retain(|tet: &[u32; 4]| {
        let [a, b, c, d] = tet.map(|i| vertices[i as usize]);
        (b - a).cross(c - a).dot(d - a).abs() > 1e-12 * depth_m.powi(3)
    });
    let extent = (0..vertices.len()).map(|v| if v < 8 { 0.0 } else { 1.0 }).collect();
    Ok(DepthTets { mesh: TetMesh::new("cuboid", vertices, tets)?, extent, depth_m })
}

fn distinct(face: &[u32]) -> Vec<u32> {
    let mut kept: Vec<u32> = Vec::with_capacity(face.len());
    for &v in face {
        if !kept.contains(&v) {
            kept.push(v);
        }
    }
    kept
}

/// Divides a convex solid with these faces into tetrahedra: from its lowest vertex to all faces that do not contain it,
/// each face divided from its own lowest vertex. Two solids that share a face divide it in the same way.
fn pull(faces: &[Vec<u32>], tets: &mut Vec<[u32; 4]>) {
    let Some(&apex) = faces.iter().flatten().min() else { return };
    for face in faces.iter().filter(|face| face.len() >= 3 && !face.contains(&apex)) {
        let first = (0..face.len()).min_by_key(|&i| face[i]).unwrap_or(0);
        let at = |i: usize| face[(first + i) % face.len()];
        tets.extend((2..face.len()).map(|i| [apex, at(0), at(i - 1), at(i)]));
    }
}
