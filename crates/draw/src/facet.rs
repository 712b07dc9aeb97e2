//! Corner normals and visible edges of a mesh.

use crate::material::{Edges, Material};
use dermis_geometry::Vec3;
use std::collections::HashMap;

/// Cosine of 35°: faces that meet at a larger angle form an edge.
const CREASE_COS: f64 = 0.819_152_044_288_992;

/// Per triangle, the normal at each corner and whether the edge opposite to each corner is drawn.
pub(crate) struct Facets {
    pub normals: Vec<[Vec3; 3]>,
    pub edges: Vec<[bool; 3]>,
}

/// Computes normals and edges of all faces. Corners at the same position are merged, so that meshes without shared
/// vertices look the same.
pub(crate) fn facets(vertices: &[Vec3], triangles: &[[u32; 3]], material: &Material) -> Facets {
    let corners = |t: usize| triangles[t].map(|i| vertices[i as usize]);
    let flat: Vec<Vec3> = (0..triangles.len())
        .map(|t| {
            let [a, b, c] = corners(t);
            (b - a).cross(c - a).normalize_or_zero()
        })
        .collect();
    let welded = weld(vertices);
    let places: Vec<[usize; 3]> = triangles.iter().map(|t| t.map(|i| welded[i as usize])).collect();
    let normals = if material.smooth {
        smooth(vertices, triangles, &places, &flat)
    } else {
        flat.iter().map(|&n| [n; 3]).collect()
    };
    let edges = match material.edges {
        Edges::None => vec![[false; 3]; triangles.len()],
        Edges::All => vec![[true; 3]; triangles.len()],
        Edges::Creases => creases(&places, &flat),
    };
    Facets { normals, edges }
}

/// Per vertex, an index that vertices at the same position share.
fn weld(vertices: &[Vec3]) -> Vec<usize> {
    let mut seen: HashMap<[u64; 3], usize> = HashMap::new();
    // Adding zero makes −0 and 0 equal.
    let key = |v: &Vec3| (*v + Vec3::ZERO).to_array().map(f64::to_bits);
    vertices
        .iter()
        .map(|v| {
            let next = seen.len();
            *seen.entry(key(v)).or_insert(next)
        })
        .collect()
}

/// Smooth normal at each corner: the mean of the adjacent face normals within the crease angle, weighted by their
/// corner angles.
fn smooth(vertices: &[Vec3], triangles: &[[u32; 3]], places: &[[usize; 3]], flat: &[Vec3]) -> Vec<[Vec3; 3]> {
    let count = places.iter().flatten().max().map_or(0, |m| m + 1);
    let mut around: Vec<Vec<(usize, f64)>> = vec![Vec::new(); count];
    for (t, place) in places.iter().enumerate() {
        let corner = triangles[t].map(|i| vertices[i as usize]);
        for k in 0..3 {
            let (to_next, to_last) = (corner[(k + 1) % 3] - corner[k], corner[(k + 2) % 3] - corner[k]);
            around[place[k]].push((t, to_next.angle_between(to_last)));
        }
    }
    let normal = |t: usize, place: usize| {
        let near = around[place].iter().filter(|(other, _)| flat[t].dot(flat[*other]) >= CREASE_COS);
        near.map(|&(other, angle)| flat[other] * angle).sum::<Vec3>().try_normalize().unwrap_or(flat[t])
    };
    places.iter().enumerate().map(|(t, place)| place.map(|p| normal(t, p))).collect()
}

/// Edges with one face, or with two faces at more than the crease angle.
fn creases(places: &[[usize; 3]], flat: &[Vec3]) -> Vec<[bool; 3]> {
    let ends = |t: usize, k: usize| {
        let (a, b) = (places[t][(k + 1) % 3], places[t][(k + 2) % 3]);
        (a.min(b), a.max(b))
    };
    let mut beside: HashMap<(usize, usize), Vec<usize>> = HashMap::new();
    for t in 0..places.len() {
        (0..3).for_each(|k| beside.entry(ends(t, k)).or_default().push(t));
    }
    let sharp = |t: usize, k: usize| match beside[&ends(t, k)].as_slice() {
        &[a, b] => flat[a].dot(flat[b]) < CREASE_COS,
        _ => true,
    };
    (0..places.len()).map(|t| std::array::from_fn(|k| sharp(t, k))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two faces of a roof: an angle of 20° is smooth, one of 90° is an edge.
    #[test]
    fn shallow_bends_are_smooth_and_steep_ones_are_edges() {
        for (bend_deg, smooth) in [(20.0_f64, true), (90.0, false)] {
            let half = (bend_deg / 2.0).to_radians();
            let low = -half.sin();
            let vertices = [
                Vec3::new(0.0, 0.0, 0.0),
                Vec3::new(0.0, 1.0, 0.0),
                Vec3::new(half.cos(), 0.5, low),
                Vec3::new(-half.cos(), 0.5, low),
            ];
            let triangles = [[0, 2, 1], [0, 1, 3]];
            let material = Material::new([0; 3]).edges(Edges::Creases);
            let facets = facets(&vertices, &triangles, &material);
            let upright = facets.normals[0][0].z > 0.999;
            assert_eq!(upright, smooth, "{bend_deg}°: {}", facets.normals[0][0]);
            // The ridge is opposite to corner 1 of the first face; the other edges are open borders.
            assert_eq!(facets.edges[0], [true, !smooth, true]);
        }
    }
}
