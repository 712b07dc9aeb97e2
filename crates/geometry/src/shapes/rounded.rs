//! A box with rounded edges.

use super::{ShapeError, check_count, check_length};
use crate::{TriMesh, Vec3};
use std::collections::HashMap;

/// A box with edges of `size_m` along the axes, centred at the origin, its edges and corners rounded with `radius_m`
/// (at most half of the shortest edge). The remaining flat faces are exactly flat.
pub fn rounded_box(size_m: Vec3, radius_m: f64, edge_m: f64) -> Result<TriMesh, ShapeError> {
    for (what, got) in [
        ("size_m.x", size_m.x),
        ("size_m.y", size_m.y),
        ("size_m.z", size_m.z),
        ("radius_m", radius_m),
        ("edge_m", edge_m),
        ("least edge of size_m - 2 radius_m", size_m.min_element() - 2.0 * radius_m + f64::EPSILON),
    ] {
        check_length("rounded box", what, got)?;
    }
    // Divisions along each axis: fine in the rounded parts, a single one in the flat part.
    let inner = (size_m * 0.5 - radius_m).max(Vec3::ZERO);
    let round = (radius_m / edge_m).ceil().max(2.0);
    let flat = (2.0 * inner / edge_m).ceil().max(Vec3::ONE);
    let [x, y, z] = (flat + 2.0 * round).to_array();
    check_count("rounded box", edge_m, 4.0 * (x * y + y * z + z * x))?;
    let round = round as usize;
    let cuts = [0, 1, 2].map(|axis| {
        // Equal steps of angle on the face of the box, from the flat part (0) to the edge (45°).
        let outward = |k: usize| {
            let angle = std::f64::consts::FRAC_PI_4 * k as f64 / round as f64;
            inner[axis] + radius_m * angle.tan()
        };
        let mut cuts: Vec<f64> = (0..=round).rev().map(|k| -outward(k)).collect();
        let flat = flat[axis] as usize;
        cuts.extend((1..flat).map(|k| inner[axis] * (2.0 * k as f64 / flat as f64 - 1.0)));
        cuts.extend((if inner[axis] > 0.0 { 0 } else { 1 }..=round).map(outward));
        cuts
    });
    let mut vertices = Vec::new();
    let mut known: HashMap<[usize; 3], u32> = HashMap::new();
    let mut vertex = |index: [usize; 3]| {
        *known.entry(index).or_insert_with(|| {
            let on_box = Vec3::new(cuts[0][index[0]], cuts[1][index[1]], cuts[2][index[2]]);
            let core = on_box.clamp(-inner, inner);
            vertices.push(core + (on_box - core).normalize_or_zero() * radius_m);
            (vertices.len() - 1) as u32
        })
    };
    let mut triangles = Vec::new();
    for axis in 0..3 {
        let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
        for (side, outward) in [(0, false), (cuts[axis].len() - 1, true)] {
            for (i, j) in (0..cuts[u].len() - 1).flat_map(|i| (0..cuts[v].len() - 1).map(move |j| (i, j))) {
                let corner = |di: usize, dj: usize| {
                    let mut index = [0; 3];
                    (index[axis], index[u], index[v]) = (side, i + di, j + dj);
                    index
                };
                let [a, b, c, d] = [corner(0, 0), corner(1, 0), corner(1, 1), corner(0, 1)].map(&mut vertex);
                triangles.extend(if outward { [[a, b, c], [a, c, d]] } else { [[a, c, b], [a, d, c]] });
            }
        }
    }
    Ok(TriMesh::new("rounded box", vertices, triangles)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f64::consts::PI;

    /// A box a × b × c swept by a ball of radius r has V = abc + 2(ab + bc + ca) r + π(a + b + c) r² + 4π r³/3
    /// (Steiner).
    #[test]
    fn volume_is_that_of_a_box_swept_by_a_ball() {
        let (size, r) = (Vec3::new(0.03, 0.02, 0.012), 3e-3);
        let [a, b, c] = (size - 2.0 * r).to_array();
        let truth =
            a * b * c + 2.0 * (a * b + b * c + c * a) * r + PI * r * r * (a + b + c) + 4.0 / 3.0 * PI * r.powi(3);
        let mesh = rounded_box(size, r, 2e-4).unwrap();
        let volume = mesh.mass_properties(1.0).map(|_| mesh.volume_m3()).unwrap();
        assert!((volume / truth - 1.0).abs() < 2e-3, "{}", volume / truth - 1.0);
        assert!((mesh.bounds().size() - size).length() < 1e-12);
        assert!(rounded_box(size, 7e-3, 1e-3).is_err());
    }
}
