//! Shapes of revolution and ellipsoids.

use super::loft::{Loft, StripMesh, mix};
use super::{ShapeError, check_count, check_length};
use crate::{TriMesh, Vec3};
use std::collections::HashMap;
use std::f64::consts::{FRAC_PI_2, PI, TAU};

/// A sphere about the origin: a subdivided icosahedron with every vertex on the sphere.
pub fn sphere(radius_m: f64, edge_m: f64) -> Result<TriMesh, ShapeError> {
    check_length("sphere", "radius_m", radius_m)?;
    let (vertices, triangles) = unit_sphere("sphere", radius_m, edge_m)?;
    Ok(TriMesh::new("sphere", vertices.iter().map(|&v| v * radius_m).collect(), triangles)?)
}

/// An ellipsoid about the origin with semi-axes along x, y and z: a scaled sphere.
pub fn ellipsoid(semi_axes_m: Vec3, edge_m: f64) -> Result<TriMesh, ShapeError> {
    for (what, got) in
        [("semi_axes_m.x", semi_axes_m.x), ("semi_axes_m.y", semi_axes_m.y), ("semi_axes_m.z", semi_axes_m.z)]
    {
        check_length("ellipsoid", what, got)?;
    }
    let (vertices, triangles) = unit_sphere("ellipsoid", semi_axes_m.max_element(), edge_m)?;
    Ok(TriMesh::new("ellipsoid", vertices.iter().map(|&v| v * semi_axes_m).collect(), triangles)?)
}

/// A cylinder along z, centred at the origin, with flat caps.
pub fn cylinder(radius_m: f64, length_m: f64, edge_m: f64) -> Result<TriMesh, ShapeError> {
    check_length("cylinder", "radius_m", radius_m)?;
    check_length("cylinder", "length_m", length_m)?;
    let outline = |s: f64| match s {
        s if s < 1.0 => (s * radius_m, -0.5 * length_m),
        s if s < 2.0 => (radius_m, (s - 1.5) * length_m),
        s => ((3.0 - s) * radius_m, 0.5 * length_m),
    };
    revolved("cylinder", outline, &[0.0, 1.0, 2.0, 3.0], edge_m)
}

/// A cylinder along z with hemispheres on its ends, centred at the origin. `length_m` is the length of the straight
/// part.
pub fn capsule(radius_m: f64, length_m: f64, edge_m: f64) -> Result<TriMesh, ShapeError> {
    check_length("capsule", "radius_m", radius_m)?;
    check_length("capsule", "length_m", length_m)?;
    let outline = |s: f64| match s {
        s if s < 1.0 => (radius_m * (s * FRAC_PI_2).sin(), -0.5 * length_m - radius_m * (s * FRAC_PI_2).cos()),
        s if s < 2.0 => (radius_m, (s - 1.5) * length_m),
        s => {
            let (sin, cos) = ((3.0 - s) * FRAC_PI_2).sin_cos();
            (radius_m * sin, 0.5 * length_m + radius_m * cos)
        }
    };
    revolved("capsule", outline, &[0.0, 1.0, 2.0, 3.0], edge_m)
}

/// A cone on a flat base. The origin is the centre of the base; the tip lies at `height_m` along +z.
pub fn cone(radius_m: f64, height_m: f64, edge_m: f64) -> Result<TriMesh, ShapeError> {
    check_length("cone", "radius_m", radius_m)?;
    check_length("cone", "height_m", height_m)?;
    let outline = |s: f64| if s < 1.0 { (s * radius_m, 0.0) } else { ((2.0 - s) * radius_m, (s - 1.0) * height_m) };
    revolved("cone", outline, &[0.0, 1.0, 2.0], edge_m)
}

/// A torus about z, centred at the origin: a tube of radius `minor_m` around a circle of radius `major_m`.
pub fn torus(major_m: f64, minor_m: f64, edge_m: f64) -> Result<TriMesh, ShapeError> {
    check_length("torus", "major_m", major_m)?;
    check_length("torus", "minor_m", minor_m)?;
    check_length("torus", "edge_m", edge_m)?;
    if minor_m >= major_m {
        return Err(ShapeError::FatTorus { major_m, minor_m });
    }
    // Every other row is rotated by half a step, so that triangles at the outer equator are nearly equilateral.
    let along = (TAU * (major_m + minor_m) / edge_m).ceil().max(6.0);
    let around = 2.0 * (TAU * minor_m / (0.866 * edge_m) / 2.0).ceil().max(3.0);
    check_count("torus", edge_m, 2.0 * along * around)?;
    let (along, around) = (along as u32, around as u32);
    let mut vertices = Vec::with_capacity((along * around) as usize);
    for (row, k) in (0..around).flat_map(|row| (0..along).map(move |k| (row, k))) {
        let (sin_v, cos_v) = (TAU * f64::from(row) / f64::from(around)).sin_cos();
        let turn = f64::from(k) + if row % 2 == 0 { 0.0 } else { 0.5 };
        let (sin_u, cos_u) = (TAU * turn / f64::from(along)).sin_cos();
        let distance = major_m + minor_m * cos_v;
        vertices.push(Vec3::new(distance * cos_u, distance * sin_u, minor_m * sin_v));
    }
    let mut triangles = Vec::with_capacity(2 * (along * around) as usize);
    for (row, k) in (0..around).flat_map(|row| (0..along).map(move |k| (row, k))) {
        let at = |row: u32, k: u32| (row % around) * along + k % along;
        let (here, right) = (at(row, k), at(row, k + 1));
        let (above, above_right) = (at(row + 1, k), at(row + 1, k + 1));
        triangles.extend(if row % 2 == 0 {
            [[here, right, above], [right, above_right, above]]
        } else {
            [[here, above_right, above], [here, right, above_right]]
        });
    }
    Ok(TriMesh::new("torus", vertices, triangles)?)
}

/// An open cap of a sphere: its apex is the origin, +z points out of the sphere, and the sphere's centre lies at z =
/// −`radius_m`. It extends to `half_angle_rad` (below π) from the apex. Vertices are evenly distributed.
pub fn spherical_patch(radius_m: f64, half_angle_rad: f64, edge_m: f64) -> Result<TriMesh, ShapeError> {
    const NAME: &str = "spherical_patch";
    check_length(NAME, "radius_m", radius_m)?;
    check_length(NAME, "edge_m", edge_m)?;
    if !(half_angle_rad > 0.0 && half_angle_rad < PI) {
        return Err(ShapeError::BadAngle { shape: NAME, what: "half_angle_rad", got: half_angle_rad, below: PI });
    }
    let area = TAU * radius_m * radius_m * (1.0 - half_angle_rad.cos());
    check_count(NAME, edge_m, area / (0.433 * edge_m * edge_m))?;
    // The ring spacing is that of the rows of an equilateral lattice; ring k has 6k vertices where the cap is flat.
    let rings = (radius_m * half_angle_rad / (0.866 * edge_m)).round().max(1.0) as usize;
    let spacing = half_angle_rad / rings as f64 / 0.866;
    let mut strips = StripMesh::default();
    // From the rim to the apex, so that the rings proceed towards +z.
    for ring in (0..=rings).rev() {
        let (sin, cos) = mix(0.0, half_angle_rad, ring as f64 / rings as f64).sin_cos();
        let count = (TAU * 0.955 * sin / spacing).round().max(6.0) as usize;
        let at = |k: usize| {
            let (y, x) = (TAU * (k as f64 + 0.5 * (ring % 2) as f64) / count as f64).sin_cos();
            Vec3::new(radius_m * sin * x, radius_m * sin * y, radius_m * (cos - 1.0))
        };
        let points: Vec<Vec3> = if ring == 0 { vec![Vec3::ZERO] } else { (0..count).map(at).collect() };
        strips.ring(&points);
    }
    Ok(TriMesh::new(NAME, strips.vertices, strips.triangles)?)
}

/// The surface of revolution of an outline (distance from the axis, z), from bottom to top.
fn revolved(
    name: &'static str,
    outline: impl Fn(f64) -> (f64, f64),
    breaks: &[f64],
    edge_m: f64,
) -> Result<TriMesh, ShapeError> {
    let surface = |s: f64, t: f64| {
        let (radius, z) = outline(s);
        let (sin, cos) = (TAU * t).sin_cos();
        Vec3::new(radius * cos, radius * sin, z)
    };
    Loft { name, surface, breaks, edge_m }.mesh()
}

type Parts = (Vec<Vec3>, Vec<[u32; 3]>);

/// The subdivided icosahedron; its edges are at most `edge_m` after scaling by `radius_m`.
fn unit_sphere(shape: &'static str, radius_m: f64, edge_m: f64) -> Result<Parts, ShapeError> {
    check_length(shape, "edge_m", edge_m)?;
    // An edge of the icosahedron measures 1.0515 radii; projection stretches the middle of a face by 1.2585.
    let parts = (1.0515 * 1.2585 * radius_m / edge_m).ceil().max(1.0);
    check_count(shape, edge_m, 20.0 * parts * parts)?;
    let parts = parts as u32;
    let (corners, faces) = icosahedron();
    let mut found: HashMap<[(u32, u32); 3], u32> = HashMap::new();
    let mut vertices = Vec::new();
    let mut triangles = Vec::with_capacity(20 * (parts * parts) as usize);
    for face in faces {
        // The vertex with weights (parts − i − j, i, j); shared vertices are identified by their weights.
        let mut vertex = |i: u32, j: u32| {
            let mut key = [(face[0], parts - i - j), (face[1], i), (face[2], j)];
            key.iter_mut().filter(|k| k.1 == 0).for_each(|k| k.0 = u32::MAX);
            key.sort_unstable();
            *found.entry(key).or_insert_with(|| {
                let used = key.iter().filter(|k| k.1 > 0);
                let sum: Vec3 = used.map(|&(corner, weight)| corners[corner as usize] * f64::from(weight)).sum();
                vertices.push(sum.normalize());
                vertices.len() as u32 - 1
            })
        };
        for (i, j) in (0..parts).flat_map(|i| (0..parts - i).map(move |j| (i, j))) {
            triangles.push([vertex(i, j), vertex(i + 1, j), vertex(i, j + 1)]);
            if i + j + 2 <= parts {
                triangles.push([vertex(i + 1, j), vertex(i + 1, j + 1), vertex(i, j + 1)]);
            }
        }
    }
    Ok((vertices, triangles))
}

/// An icosahedron with a corner at either pole and five at each of two latitudes.
fn icosahedron() -> ([Vec3; 12], Vec<[u32; 3]>) {
    let mut corners = [Vec3::Z; 12];
    corners[11] = Vec3::NEG_Z;
    let (height, radius) = (1.0 / 5f64.sqrt(), 2.0 / 5f64.sqrt());
    let mut faces = Vec::with_capacity(20);
    for k in 0..5 {
        let at = |turn: f64, z: f64| {
            let (sin, cos) = (TAU * turn / 5.0).sin_cos();
            Vec3::new(radius * cos, radius * sin, z)
        };
        corners[1 + k] = at(k as f64, height);
        corners[6 + k] = at(k as f64 + 0.5, -height);
        let (k, next) = (k as u32, (k as u32 + 1) % 5);
        faces.extend([
            [0, 1 + k, 1 + next],
            [1 + k, 6 + k, 1 + next],
            [1 + next, 6 + k, 6 + next],
            [11, 6 + next, 6 + k],
        ]);
    }
    (corners, faces)
}
