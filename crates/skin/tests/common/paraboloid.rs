//! A paraboloid z = ρ²/2R as a closed mesh with its tip at the origin.

use dermis_geometry::{TriMesh, Vec3};

pub fn paraboloid(radius_m: f64, reach_m: f64) -> TriMesh {
    let (rings, around) = (60usize, 96usize);
    let mut vertices = vec![Vec3::ZERO];
    for ring in 1..=rings {
        let rho = reach_m * ring as f64 / rings as f64;
        for k in 0..around {
            let angle = std::f64::consts::TAU * (k as f64 + 0.5 * (ring % 2) as f64) / around as f64;
            vertices.push(Vec3::new(rho * angle.cos(), rho * angle.sin(), rho * rho / (2.0 * radius_m)));
        }
    }
    let at = |ring: usize, k: usize| (1 + (ring - 1) * around + k % around) as u32;
    let top = vertices.len() as u32;
    vertices.push(Vec3::Z * (reach_m * reach_m / (2.0 * radius_m) + 1e-3));
    let mut triangles = Vec::new();
    for k in 0..around {
        triangles.push([0, at(1, k + 1), at(1, k)]);
        for ring in 1..rings {
            triangles.push([at(ring, k), at(ring, k + 1), at(ring + 1, k)]);
            triangles.push([at(ring, k + 1), at(ring + 1, k + 1), at(ring + 1, k)]);
        }
        triangles.push([at(rings, k), at(rings, k + 1), top]);
    }
    TriMesh::new("paraboloid", vertices, triangles).unwrap()
}
