//! Refines a mesh without changing its surface.

use crate::limits::MAX_TRIANGLES;
use crate::{TriMesh, Vec3};
use std::collections::HashMap;

/// Error when refining a mesh.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[allow(missing_docs, reason = "the message of each variant names its fields")]
pub enum RefineError {
    /// The edge length is not positive.
    #[error("{mesh}: the longest edge wanted must be a positive length in metres, got {edge_m}")]
    BadEdge { mesh: String, edge_m: f64 },
    /// The mesh would need more triangles than [`MAX_TRIANGLES`].
    #[error(
        "{mesh}: edges of at most {edge_m} m would take more than {MAX_TRIANGLES} triangles on its {area_m2:.3e} m²; allow longer ones"
    )]
    TooFine { mesh: String, edge_m: f64, area_m2: f64 },
}

/// The same surface with every edge at most `edge_m` long. Edges are halved until they are short enough, in both
/// adjacent triangles at once, so that a closed mesh stays closed. The original vertices come first.
pub fn refined(mesh: &TriMesh, edge_m: f64) -> Result<TriMesh, RefineError> {
    let name = || mesh.name().to_owned();
    if !(edge_m > 0.0 && edge_m.is_finite()) {
        return Err(RefineError::BadEdge { mesh: name(), edge_m });
    }
    let area_m2 = mesh.area_m2();
    let too_fine = || RefineError::TooFine { mesh: name(), edge_m, area_m2 };
    // For a given longest edge the equilateral triangle has the largest area.
    if area_m2 / (0.25 * 3f64.sqrt() * edge_m * edge_m) > MAX_TRIANGLES as f64 {
        return Err(too_fine());
    }
    let (mut vertices, mut triangles) = (mesh.vertices().to_vec(), mesh.triangles().to_vec());
    loop {
        let before = triangles.len();
        triangles = halve(&mut vertices, &triangles, edge_m);
        if triangles.len() > MAX_TRIANGLES {
            return Err(too_fine());
        }
        if triangles.len() == before {
            return Ok(mesh.with_elements(vertices, triangles));
        }
    }
}

/// Halves every edge that is too long, once.
fn halve(vertices: &mut Vec<Vec3>, triangles: &[[u32; 3]], edge_m: f64) -> Vec<[u32; 3]> {
    let mut middles: HashMap<(u32, u32), u32> = HashMap::new();
    let mut middle = |vertices: &mut Vec<Vec3>, a: u32, b: u32| {
        let (a, b) = (a.min(b), a.max(b));
        let (p, q) = (vertices[a as usize], vertices[b as usize]);
        (p.distance(q) > edge_m).then(|| {
            *middles.entry((a, b)).or_insert_with(|| {
                vertices.push(0.5 * (p + q));
                vertices.len() as u32 - 1
            })
        })
    };
    let mut halves = Vec::with_capacity(2 * triangles.len());
    for &[a, b, c] in triangles {
        let cuts = [middle(vertices, a, b), middle(vertices, b, c), middle(vertices, c, a)];
        // Rotates the corners so that only four patterns remain.
        let (corners, cuts) = match cuts {
            [None, Some(_), _] => ([b, c, a], [cuts[1], cuts[2], cuts[0]]),
            [_, None, Some(_)] => ([c, a, b], [cuts[2], cuts[0], cuts[1]]),
            _ => ([a, b, c], cuts),
        };
        let [a, b, c] = corners;
        match cuts {
            [Some(ab), Some(bc), Some(ca)] => halves.extend([[a, ab, ca], [ab, b, bc], [ca, bc, c], [ab, bc, ca]]),
            [Some(ab), Some(bc), None] => {
                halves.push([ab, b, bc]);
                let apart = |i: u32, j: u32| vertices[i as usize].distance_squared(vertices[j as usize]);
                halves.extend(if apart(a, bc) < apart(ab, c) {
                    [[a, ab, bc], [a, bc, c]]
                } else {
                    [[a, ab, c], [ab, bc, c]]
                });
            }
            [Some(ab), None, None] => halves.extend([[a, ab, c], [ab, b, c]]),
            _ => halves.push([a, b, c]),
        }
    }
    halves
}
