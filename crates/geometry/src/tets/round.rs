//! Round and convex solids, divided from a medial point, segment or disc.

use super::{DepthTets, TetsError, prism};
use crate::shapes::{self, ShapeError, check_count, check_length};
use crate::{TetMesh, TriMesh, Vec3};
use std::f64::consts::{FRAC_PI_2, TAU};

/// A ball about the origin; every triangle of its surface is joined to the centre: e = 1 − r/R.
pub fn sphere(radius_m: f64, edge_m: f64) -> Result<DepthTets, TetsError> {
    Ok(DepthTets { depth_m: radius_m, ..coned("sphere", &shapes::sphere(radius_m, edge_m)?, Vec3::ZERO)? })
}

/// An ellipsoid about the origin with semi-axes along x, y and z: e = 1 − ‖diag(1/a, 1/b, 1/c) x‖.
pub fn ellipsoid(semi_axes_m: Vec3, edge_m: f64) -> Result<DepthTets, TetsError> {
    let surface = shapes::ellipsoid(semi_axes_m, edge_m)?;
    Ok(DepthTets { depth_m: semi_axes_m.min_element(), ..coned("ellipsoid", &surface, Vec3::ZERO)? })
}

/// A convex mesh; every triangle is joined to the centroid of its volume, where e = 1.
pub fn convex(surface: &TriMesh) -> Result<DepthTets, TetsError> {
    let center = surface.mass_properties(1.0)?.center_m;
    let mut depth_m = f64::INFINITY;
    for triangle in 0..surface.triangles().len() {
        let distance = (surface.corners(triangle)[0] - center).dot(surface.face_normal(triangle));
        if distance <= 0.0 {
            return Err(TetsError::NotConvex { mesh: surface.name().to_owned(), triangle });
        }
        depth_m = depth_m.min(distance);
    }
    Ok(DepthTets { depth_m, ..coned(surface.name(), surface, center)? })
}

fn coned(name: &str, surface: &TriMesh, center: Vec3) -> Result<DepthTets, TetsError> {
    let mut vertices = surface.vertices().to_vec();
    let apex = vertices.len() as u32;
    vertices.push(center);
    let tets = surface.triangles().iter().map(|&[a, b, c]| [a, c, b, apex]).collect();
    let mut extent = vec![0.0; vertices.len()];
    extent[apex as usize] = 1.0;
    Ok(DepthTets { mesh: TetMesh::new(name, vertices, tets)?, extent, depth_m: 0.0 })
}

/// A capsule along z, centred at the origin; `length_m` is the length of the straight part. e = 1 on the axis.
pub fn capsule(radius_m: f64, length_m: f64, edge_m: f64) -> Result<DepthTets, TetsError> {
    check("capsule", radius_m, length_m, edge_m)?;
    let mut tets = Builder::new(count("capsule", radius_m, length_m, edge_m)?);
    let ends = [-0.5, 0.5].map(|side| tets.vertex(Vec3::Z * (side * length_m), 1.0));
    let rows = (FRAC_PI_2 * radius_m / edge_m).ceil().max(2.0) as usize;
    let mut equators = [0, 0];
    for (end, up) in [-1.0, 1.0].into_iter().enumerate() {
        let mut ring = tets.ring(radius_m, up * 0.5 * length_m, 0.0);
        equators[end] = ring;
        for row in 1..rows {
            let (sin, cos) = (FRAC_PI_2 * row as f64 / rows as f64).sin_cos();
            let next = tets.ring(radius_m * cos, up * (0.5 * length_m + radius_m * sin), 0.0);
            tets.strip(ring, next, ends[end]);
            ring = next;
        }
        let pole = tets.vertex(Vec3::Z * (up * (0.5 * length_m + radius_m)), 0.0);
        tets.fan(ring, pole, ends[end]);
    }
    tets.side(ends, equators);
    tets.finish("capsule", radius_m)
}

/// A cylinder along z, centred at the origin: e = distance to the surface / min(radius, length/2).
pub fn cylinder(radius_m: f64, length_m: f64, edge_m: f64) -> Result<DepthTets, TetsError> {
    check("cylinder", radius_m, length_m, edge_m)?;
    let mut tets = Builder::new(count("cylinder", radius_m, length_m, edge_m)?);
    let half = 0.5 * length_m;
    let depth_m = radius_m.min(half);
    let rims = [-half, half].map(|z| tets.ring(radius_m, z, 0.0));
    let caps = [-half, half].map(|z| tets.vertex(Vec3::Z * z, 0.0));
    let flat = (half - radius_m).abs() <= 1e-12 * half;
    if flat {
        let middle = tets.vertex(Vec3::ZERO, 1.0);
        (0..2).for_each(|end| tets.fan(rims[end], caps[end], middle));
        tets.strip(rims[0], rims[1], middle);
    } else if half > radius_m {
        let ends = [radius_m - half, half - radius_m].map(|z| tets.vertex(Vec3::Z * z, 1.0));
        (0..2).for_each(|end| tets.fan(rims[end], caps[end], ends[end]));
        tets.side(ends, rims);
    } else {
        let middle = tets.vertex(Vec3::ZERO, 1.0);
        let disc = tets.ring(radius_m - half, 0.0, 1.0);
        for k in 0..tets.around {
            let next = (k + 1) % tets.around;
            for end in 0..2 {
                let outer = [caps[end], rims[end] + k, rims[end] + next];
                tets.tets.extend(prism([middle, disc + k, disc + next], outer));
            }
            let rim = |at: u32| [disc + at, rims[0] + at, rims[1] + at];
            tets.tets.extend(prism(rim(k), rim(next)));
        }
    }
    tets.finish("cylinder", depth_m)
}

fn check(shape: &'static str, radius_m: f64, length_m: f64, edge_m: f64) -> Result<(), ShapeError> {
    for (what, got) in [("radius_m", radius_m), ("length_m", length_m), ("edge_m", edge_m)] {
        check_length(shape, what, got)?;
    }
    Ok(())
}

fn count(shape: &'static str, radius_m: f64, length_m: f64, edge_m: f64) -> Result<u32, ShapeError> {
    let around = (TAU * radius_m / edge_m).ceil().max(6.0);
    check_count(shape, edge_m, around * (2.0 * FRAC_PI_2 * radius_m + length_m) / edge_m)?;
    Ok(around as u32)
}

/// Builds tetrahedra from rings about z with equal numbers of vertices.
struct Builder {
    around: u32,
    vertices: Vec<Vec3>,
    extent: Vec<f64>,
    tets: Vec<[u32; 4]>,
}

impl Builder {
    fn new(around: u32) -> Self {
        Self { around, vertices: Vec::new(), extent: Vec::new(), tets: Vec::new() }
    }

    fn vertex(&mut self, at: Vec3, extent: f64) -> u32 {
        self.vertices.push(at);
        self.extent.push(extent);
        self.vertices.len() as u32 - 1
    }

    /// Adds a ring; returns its first vertex.
    fn ring(&mut self, radius: f64, z: f64, extent: f64) -> u32 {
        let first = self.vertices.len() as u32;
        for k in 0..self.around {
            let (sin, cos) = (TAU * f64::from(k) / f64::from(self.around)).sin_cos();
            self.vertex(Vec3::new(radius * cos, radius * sin, z), extent);
        }
        first
    }

    /// Adds the strip between two rings, joined to an apex.
    fn strip(&mut self, low: u32, high: u32, apex: u32) {
        for k in 0..self.around {
            let next = (k + 1) % self.around;
            self.tets.extend([[low + k, low + next, high + next, apex], [low + k, high + next, high + k, apex]]);
        }
    }

    /// Adds the fan from a ring to a pole, joined to an apex.
    fn fan(&mut self, ring: u32, pole: u32, apex: u32) {
        self.tets.extend((0..self.around).map(|k| [ring + k, ring + (k + 1) % self.around, pole, apex]));
    }

    /// Adds the volume between a segment of the axis and two rings.
    fn side(&mut self, ends: [u32; 2], rings: [u32; 2]) {
        for k in 0..self.around {
            let next = (k + 1) % self.around;
            let sector = |end: usize| [ends[end], rings[end] + k, rings[end] + next];
            self.tets.extend(prism(sector(0), sector(1)));
        }
    }

    fn finish(self, name: &str, depth_m: f64) -> Result<DepthTets, TetsError> {
        Ok(DepthTets { mesh: TetMesh::new(name, self.vertices, self.tets)?, extent: self.extent, depth_m })
    }
}
