//! A straight groove.

use super::{Roughness, RoughnessError};
use crate::{Random, TriMesh, Vec3};
use std::f64::consts::TAU;

/// Ratio of length to width.
const SLENDERNESS: f64 = 20.0;
/// Separates the random stream of the scratches from that of the waves.
const STREAM: u64 = 0x5c4a_7c41;

/// A groove with a raised-cosine profile that fades out at both ends.
pub(super) struct Scratch {
    middle: Vec3,
    normal: Vec3,
    along: Vec3,
    width_m: f64,
    deepest_m: f64,
}

impl Scratch {
    /// Distributes scratches uniformly by area over the allowed region, in all directions.
    pub fn scatter(mesh: &TriMesh, roughness: &Roughness) -> Result<Vec<Self>, RoughnessError> {
        if roughness.scratches == 0 {
            return Ok(Vec::new());
        }
        let inside = |&t: &usize| {
            let [a, b, c] = mesh.corners(t);
            let middle = (a + b + c) / 3.0;
            roughness.scratched.is_none_or(|b| middle.cmpge(b.min).all() && middle.cmple(b.max).all())
        };
        let open: Vec<usize> = (0..mesh.triangles().len()).filter(inside).collect();
        let mut upto = 0.0;
        let sums: Vec<f64> = open.iter().map(|&t| add(&mut upto, mesh.area_vector(t).length())).collect();
        if open.is_empty() {
            return Err(RoughnessError::NothingToScratch { mesh: mesh.name().to_owned() });
        }
        let mut random = Random::new(roughness.seed ^ STREAM);
        let mut scratch = || {
            let wanted = random.between(0.0, upto);
            let triangle = open[sums.partition_point(|&sum| sum < wanted).min(open.len() - 1)];
            let [a, b, c] = mesh.corners(triangle);
            let (root, part) = (random.uniform().sqrt(), random.uniform());
            let normal = mesh.face_normal(triangle);
            let (u, v) = normal.any_orthonormal_pair();
            let angle = random.between(0.0, TAU);
            Self {
                middle: a * (1.0 - root) + b * (root * (1.0 - part)) + c * (root * part),
                normal,
                along: u * angle.cos() + v * angle.sin(),
                width_m: roughness.scratch_width_m,
                deepest_m: roughness.scratch_depth_m,
            }
        };
        Ok((0..roughness.scratches).map(|_| scratch()).collect())
    }

    /// Depth (m) of this scratch at a point. Zero for surfaces that face another way, and for points farther above or
    /// below than a quarter of its length, which belong to another face.
    pub fn depth_m(&self, point: Vec3, normal: Vec3) -> f64 {
        let half_length = 0.5 * SLENDERNESS * self.width_m;
        let from_middle = point - self.middle;
        let along = from_middle.dot(self.along) / half_length;
        let across = from_middle.dot(self.normal.cross(self.along)) / (0.5 * self.width_m);
        let above = from_middle.dot(self.normal) / (0.5 * half_length);
        if along.abs().max(across.abs()).max(above.abs()) >= 1.0 || normal.dot(self.normal) < 0.5 {
            return 0.0;
        }
        let profile = 0.5 * (1.0 + (std::f64::consts::PI * across).cos());
        self.deepest_m * profile * (1.0 - along.powi(4))
    }
}

fn add(sum: &mut f64, value: f64) -> f64 {
    *sum += value;
    *sum
}
