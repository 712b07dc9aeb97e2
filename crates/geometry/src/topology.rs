//! Checks that a mesh bounds a solid.

use crate::TriMesh;
use std::collections::HashMap;

/// Error of a mesh that does not bound a solid. Each error names a triangle.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[allow(missing_docs, reason = "the message of each variant names its fields")]
pub enum TopologyError {
    /// An edge has only one triangle.
    #[error(
        "{mesh}: the mesh is open: edge {a}-{b} of triangle {triangle} has no neighbour; a closed surface is needed here, so fill the hole or weld the seam"
    )]
    Open { mesh: String, triangle: usize, a: u32, b: u32 },
    /// An edge has more than two triangles.
    #[error(
        "{mesh}: the mesh is not a manifold: edge {a}-{b} of triangle {triangle} is shared by {count} triangles; remove inner walls and doubled faces"
    )]
    NonManifold { mesh: String, triangle: usize, a: u32, b: u32, count: usize },
    /// Two neighbouring triangles have opposite windings.
    #[error(
        "{mesh}: triangle {triangle} is flipped: it runs along edge {a}-{b} in the same direction as its neighbour; make all faces wind the same way"
    )]
    Flipped { mesh: String, triangle: usize, a: u32, b: u32 },
    /// The mesh is closed, but its faces point inwards.
    #[error(
        "{mesh}: the faces point inwards (the enclosed volume is {volume_m3} m^3); reverse the order of their vertices"
    )]
    InsideOut { mesh: String, volume_m3: f64 },
    /// The mesh is closed, but its faces coincide.
    #[error("{mesh}: the mesh is closed but flat: it encloses no volume; a solid is needed here, so give it thickness")]
    Flat { mesh: String },
}

/// A closed mesh is flat if its volume is below this fraction of its area to the power 3/2: rounding of a sum of zeros. A
/// sheet of 100 mm × 100 mm × 1 nm has 4e-9.
const FLAT: f64 = 1e-12;

/// Refuses a mesh that does not bound a solid with outward faces.
pub(crate) fn check_closed(mesh: &TriMesh) -> Result<(), TopologyError> {
    // Per undirected edge: number of triangles, sum of their directions, the first triangle.
    let mut edges: HashMap<(u32, u32), (usize, i32, usize)> = HashMap::with_capacity(mesh.triangles().len() * 3 / 2);
    for (triangle, &[a, b, c]) in mesh.triangles().iter().enumerate() {
        for (from, to) in [(a, b), (b, c), (c, a)] {
            let entry = edges.entry((from.min(to), from.max(to))).or_insert((0, 0, triangle));
            entry.0 += 1;
            entry.1 += if from < to { 1 } else { -1 };
        }
    }
    // Iterates in the order of the mesh, so that the message does not depend on hashing.
    for (triangle, &[a, b, c]) in mesh.triangles().iter().enumerate() {
        for (from, to) in [(a, b), (b, c), (c, a)] {
            let (count, balance, _) = edges[&(from.min(to), from.max(to))];
            let mesh = mesh.name().to_owned();
            match (count, balance) {
                (2, 0) => {}
                (1, _) => return Err(TopologyError::Open { mesh, triangle, a: from, b: to }),
                (2, _) => return Err(TopologyError::Flipped { mesh, triangle, a: from, b: to }),
                _ => return Err(TopologyError::NonManifold { mesh, triangle, a: from, b: to, count }),
            }
        }
    }
    let volume_m3 = mesh.volume_m3();
    if volume_m3.abs() <= FLAT * mesh.area_m2().powf(1.5) {
        return Err(TopologyError::Flat { mesh: mesh.name().to_owned() });
    }
    if volume_m3 < 0.0 {
        return Err(TopologyError::InsideOut { mesh: mesh.name().to_owned(), volume_m3 });
    }
    Ok(())
}
