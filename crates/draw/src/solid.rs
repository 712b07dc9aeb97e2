//! The shape of an arrow.

use dermis_geometry::Vec3;

/// Vertices and outward triangles of an arrow: a round shaft with a cone at its end. `None` if its length is zero.
pub(crate) fn arrow(from: Vec3, to: Vec3, radius: f64) -> Option<(Vec<Vec3>, Vec<[u32; 3]>)> {
    const SIDES: u32 = 28;
    let length = (to - from).length();
    if !(length.is_finite() && length > 0.0 && radius > 0.0) {
        return None;
    }
    let along = (to - from) / length;
    let (u, v) = along.any_orthonormal_pair();
    // An arrow shorter than its head is scaled down.
    let radius = radius.min(length / 5.0);
    let neck = to - along * (5.0 * radius).min(0.7 * length);
    let rings = [(from, radius), (neck, radius), (neck, 2.4 * radius)];
    let mut vertices = vec![from];
    for (centre, radius) in rings {
        vertices.extend((0..SIDES).map(|i| {
            let angle = f64::from(i) / f64::from(SIDES) * std::f64::consts::TAU;
            centre + (u * angle.cos() + v * angle.sin()) * radius
        }));
    }
    vertices.push(to);
    let last = vertices.len() as u32 - 1;
    let at = |ring: u32, i: u32| 1 + ring * SIDES + i % SIDES;
    let mut triangles = Vec::new();
    for i in 0..SIDES {
        triangles.push([0, at(0, i + 1), at(0, i)]);
        for ring in 0..2 {
            triangles.push([at(ring, i), at(ring, i + 1), at(ring + 1, i + 1)]);
            triangles.push([at(ring, i), at(ring + 1, i + 1), at(ring + 1, i)]);
        }
        triangles.push([at(2, i), at(2, i + 1), last]);
    }
    Some((vertices, triangles))
}

#[cfg(test)]
mod tests {
    use super::*;
    use dermis_geometry::TriMesh;

    #[test]
    fn arrow_is_closed_and_faces_outwards() {
        let (vertices, triangles) = arrow(Vec3::ZERO, Vec3::new(0.1, 0.2, 1.0), 0.02).unwrap();
        let mesh = TriMesh::new("arrow", vertices, triangles).unwrap();
        mesh.check_closed().unwrap();
        assert!(mesh.volume_m3() > 0.0);
        assert!(arrow(Vec3::ONE, Vec3::ONE, 0.1).is_none());
        assert!(arrow(Vec3::ONE, Vec3::NAN, 0.1).is_none());
    }
}
