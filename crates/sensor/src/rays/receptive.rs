//! Receptive fields: the samples of the skin that belong to a taxel, and their weights.

use super::{RaySettings, SubTaxel, Window};
use crate::{Geodesic, SensorError, Taxels};
use dermis_geometry::sampling::SurfacePoint;
use dermis_geometry::{Surface, TriMesh, Vec3};
use std::collections::HashMap;

/// All receptive fields of a sensor.
pub(super) struct Fields<'a> {
    pub taxels: &'a Taxels,
    pub skin: &'a TriMesh,
    pub samples: &'a [SurfacePoint],
    pub settings: &'a RaySettings,
}

/// Maximum number of triangles after refinement of a mesh for geodesic distances.
const MAX_TRIANGLES: usize = 200_000;

impl Fields<'_> {
    /// Entries (taxel, sample, weight); the weights of a taxel sum to 1. Returns an error for a taxel without samples.
    pub fn entries(&self, sensor: &str) -> Result<Vec<(usize, usize, f64)>, SensorError> {
        let walk = self.settings.geodesic.then(|| Walk::new(self.skin, self.settings.spacing_m, self.samples));
        let mut entries = Vec::new();
        for taxel in 0..self.taxels.len() {
            let parts = self.parts(taxel);
            // For each sample, the distance to its nearest part.
            let mut samples_near: HashMap<usize, (f64, f64)> = HashMap::new();
            for part in &parts {
                for (sample, distance) in self.near(part, walk.as_ref()) {
                    let known = samples_near.entry(sample).or_insert((distance, part.radius_m));
                    if distance < known.0 {
                        *known = (distance, part.radius_m);
                    }
                }
            }
            let mut samples_near: Vec<(usize, f64, f64)> =
                samples_near.into_iter().map(|(i, (d, r))| (i, d, r)).collect();
            samples_near.sort_by(|a, b| a.1.total_cmp(&b.1).then(a.0.cmp(&b.0)));
            if self.settings.window == Window::Nearest {
                samples_near.truncate(1);
            }
            let weigh = |&(sample, d, r): &(usize, f64, f64)| (sample, self.settings.window.weight(r, d));
            let weights: Vec<(usize, f64)> = samples_near.iter().map(weigh).collect();
            let sum: f64 = weights.iter().map(|entry| entry.1).sum();
            if sum <= 0.0 {
                let Vec3 { x, y, z } = self.taxels.centers()[taxel] * 1e3;
                let rule = format!(
                    "gives taxel {taxel} at ({x:.3}, {y:.3}, {z:.3}) mm no sample point on the skin: give it a larger `radius` or `cone`, or a smaller `spacing`"
                );
                return Err(SensorError::bad_key(sensor, "reading", rule));
            }
            entries.extend(weights.into_iter().map(|(sample, weight)| (taxel, sample, weight / sum)));
        }
        Ok(entries)
    }

    fn parts(&self, taxel: usize) -> Vec<SubTaxel> {
        let parts: Vec<SubTaxel> = self.settings.sub_taxels.iter().filter(|p| p.taxel == taxel).copied().collect();
        if parts.is_empty() {
            let (center, normal) = (self.taxels.centers()[taxel], self.taxels.normals()[taxel]);
            return vec![SubTaxel { taxel, center, normal, radius_m: self.settings.radius_m }];
        }
        parts
    }

    /// Samples in the receptive field of a part, with their distances (m).
    fn near(&self, part: &SubTaxel, walk: Option<&Walk<'_>>) -> Vec<(usize, f64)> {
        let min_cosine = self.settings.cone_rad.cos();
        let straight = |i: usize| self.samples[i].point.distance(part.center);
        let mut near: Vec<(usize, f64)> = (0..self.samples.len())
            .filter(|&i| self.samples[i].normal.dot(part.normal) >= min_cosine)
            .map(|i| (i, straight(i)))
            .filter(|entry| entry.1 < part.radius_m)
            .collect();
        if let Some(walk) = walk {
            // A path along the skin is never shorter than the straight line, so the straight distance bounds the
            // candidates.
            walk.lengthen(part.center, part.radius_m, &mut near);
            near.retain(|entry| entry.1 < part.radius_m);
        }
        near
    }
}

/// Distances along the skin, on a mesh refined until its edges are no longer than twice the spacing of the samples.
struct Walk<'a> {
    surface: Surface,
    graph: Geodesic,
    samples: &'a [SurfacePoint],
    /// Triangle of the fine mesh under each sample.
    under: Vec<u32>,
}

impl<'a> Walk<'a> {
    fn new(skin: &TriMesh, spacing_m: f64, samples: &'a [SurfacePoint]) -> Self {
        let mut mesh = skin.clone();
        while mesh.triangles().len() * 4 <= MAX_TRIANGLES && longest_edge(&mesh) > 2.0 * spacing_m {
            match mesh.subdivided() {
                Ok(finer) => mesh = finer,
                Err(_) => break,
            }
        }
        let graph = Geodesic::new(&mesh);
        let surface = Surface::new(mesh);
        let under = samples.iter().map(|sample| surface.closest(sample.point).triangle).collect();
        Self { surface, graph, samples, under }
    }

    /// Replaces straight distances from a centre by those along the skin; infinite beyond `reach_m`.
    fn lengthen(&self, center: Vec3, reach_m: f64, near: &mut [(usize, f64)]) {
        let start = self.surface.closest(center);
        let mesh = self.surface.mesh();
        let mut best: HashMap<u32, f64> = HashMap::new();
        for corner in mesh.triangles()[start.triangle as usize] {
            let stem = mesh.vertices()[corner as usize].distance(start.point);
            for (vertex, path) in self.graph.near(corner as usize, reach_m) {
                let known = best.entry(vertex as u32).or_insert(f64::INFINITY);
                *known = known.min(stem + path);
            }
        }
        for (sample, distance) in near {
            let triangle = self.under[*sample];
            if triangle == start.triangle {
                continue;
            }
            let point = self.samples[*sample].point;
            let over = |&corner: &u32| {
                best.get(&corner).map_or(f64::INFINITY, |d| d + mesh.vertices()[corner as usize].distance(point))
            };
            let path = mesh.triangles()[triangle as usize].iter().map(over).fold(f64::INFINITY, f64::min);
            *distance = distance.max(path);
        }
    }
}

fn longest_edge(mesh: &TriMesh) -> f64 {
    let longest = |t: usize| {
        let [a, b, c] = mesh.corners(t);
        a.distance(b).max(b.distance(c)).max(c.distance(a))
    };
    (0..mesh.triangles().len()).map(longest).fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;
    use dermis_geometry::sampling::poisson_disk;
    use dermis_geometry::shapes;

    /// On a ball of radius R two points at an angle φ are Rφ apart. Paths over the graph zigzag: on average 2.5 % too
    /// long (measured).
    #[test]
    fn distances_on_a_ball_are_great_circles() {
        let radius = 8e-3;
        let cap = shapes::spherical_patch(radius, 1.4, 1e-3).unwrap();
        let samples = poisson_disk(&cap, 5e-4, 1);
        let walk = Walk::new(&cap, 2.5e-4, &samples);
        let mut near: Vec<(usize, f64)> = (0..samples.len()).map(|i| (i, samples[i].point.length())).collect();
        walk.lengthen(Vec3::ZERO, 6e-3, &mut near);
        let center = Vec3::NEG_Z * radius;
        let (mut sum, mut count, mut worst) = (0.0, 0, 0f64);
        for (i, distance) in near {
            let arc = radius * (samples[i].point - center).angle_between(-center);
            if (1e-3..5.5e-3).contains(&arc) {
                let excess = distance / arc - 1.0;
                assert!(excess > -2e-3, "{excess}");
                (sum, count, worst) = (sum + excess, count + 1, worst.max(excess));
            }
        }
        println!("{count} samples: mean excess {:.4}, worst {worst:.4}", sum / f64::from(count));
        assert!(count > 100 && sum / f64::from(count) < 0.04 && worst < 0.12, "{}, {worst}", sum / f64::from(count));
    }

    /// The other side of a thin sheet is near in a straight line and far along the skin.
    #[test]
    fn the_other_side_of_a_sheet_is_far() {
        let sheet = shapes::cuboid(Vec3::new(20e-3, 20e-3, 1e-3)).unwrap();
        let samples = poisson_disk(&sheet, 1e-3, 1);
        let taxels = Taxels::points(vec![Vec3::Z * 5e-4], vec![Vec3::Z], vec![1e-6], 5e-3);
        let samples_below = |geodesic: bool| {
            let settings = RaySettings {
                radius_m: 4e-3,
                spacing_m: 1e-3,
                cone_rad: std::f64::consts::PI,
                window: Window::Squared,
                geodesic,
                seed: 1,
                sub_taxels: Vec::new(),
            };
            let entries = Fields { taxels: &taxels, skin: &sheet, samples: &samples, settings: &settings }.entries("s");
            entries.unwrap().iter().filter(|entry| samples[entry.1].point.z < 0.0).count()
        };
        assert!(samples_below(false) > 10);
        assert_eq!(samples_below(true), 0);
    }
}
