//! A point cloud as a solid: the union of equal balls about its points.

use crate::shapes::{ShapeError, check_count, check_length};
use crate::{Bounds, TriMesh, Vec3};

/// Equal balls about the points of a cloud; the solid is their union. Points closer to each other than the radius form
/// a smooth surface; points farther apart appear as separate balls.
#[derive(Clone, Debug, PartialEq)]
pub struct Balls {
    /// Centres in the order of a balanced k-d tree: the middle of every range splits it along the axis of its depth.
    centers: Vec<Vec3>,
    radius_m: f64,
    bounds: Bounds,
}

impl Balls {
    /// Creates balls of a radius (m) about points (m). Refuses an empty cloud and a radius that is not positive.
    pub fn new(mut centers: Vec<Vec3>, radius_m: f64) -> Result<Self, ShapeError> {
        check_length("points", "radius", radius_m)?;
        if centers.is_empty() {
            return Err(ShapeError::TooFew { shape: "points", what: "points", min: 1, got: 0 });
        }
        if let Some(bad) = centers.iter().flat_map(|center| center.to_array()).find(|x| !x.is_finite()) {
            return Err(ShapeError::BadLength { shape: "points", what: "coordinate", got: bad });
        }
        check_count("points", radius_m, (centers.len() * FACES.len()) as f64)?;
        let Bounds { min, max } = Bounds::around(centers.iter().copied());
        let bounds = Bounds { min: min - radius_m, max: max + radius_m };
        sort(&mut centers, 0);
        Ok(Self { centers, radius_m, bounds })
    }

    /// Centres (m) of the balls, in the order of the search tree.
    pub fn centers(&self) -> &[Vec3] {
        &self.centers
    }

    /// Radius of the balls (m).
    pub fn radius_m(&self) -> f64 {
        self.radius_m
    }

    /// Bounding box of the balls.
    pub fn bounds(&self) -> &Bounds {
        &self.bounds
    }

    /// Signed distance (m) of a point from the nearest ball, and its gradient. Outside and on the surface it equals the
    /// distance from the solid; inside overlapping balls the surface is farther away.
    pub fn nearest(&self, point: Vec3) -> (f64, Vec3) {
        let mut best = (f64::INFINITY, Vec3::ZERO);
        look(&self.centers, point, 0, &mut best);
        let arm = point - best.1;
        (arm.length() - self.radius_m, arm.normalize_or(Vec3::Z))
    }

    /// A mesh with one inscribed octahedron per ball, for rendering and for skins that need triangles.
    pub fn mesh(&self) -> Result<TriMesh, ShapeError> {
        let corners = [Vec3::X, Vec3::Y, Vec3::Z, Vec3::NEG_X, Vec3::NEG_Y, Vec3::NEG_Z];
        let vertices = self.centers.iter().flat_map(|&c| corners.map(|corner| c + corner * self.radius_m)).collect();
        let count = self.centers.len() as u32;
        let triangles = (0..count).flat_map(|ball| FACES.map(|face| face.map(|corner| 6 * ball + corner))).collect();
        Ok(TriMesh::new("points", vertices, triangles)?)
    }
}

/// Outward faces of an octahedron with corners +x, +y, +z, −x, −y, −z.
const FACES: [[u32; 3]; 8] = [[0, 1, 2], [1, 3, 2], [3, 4, 2], [4, 0, 2], [1, 0, 5], [3, 1, 5], [4, 3, 5], [0, 4, 5]];

fn sort(points: &mut [Vec3], depth: usize) {
    if points.len() > 1 {
        let (middle, axis) = (points.len() / 2, depth % 3);
        points.select_nth_unstable_by(middle, |a, b| a[axis].total_cmp(&b[axis]));
        let (low, high) = points.split_at_mut(middle);
        sort(low, depth + 1);
        sort(&mut high[1..], depth + 1);
    }
}

fn look(points: &[Vec3], query: Vec3, depth: usize, best: &mut (f64, Vec3)) {
    let middle = points.len() / 2;
    let Some(&here) = points.get(middle) else { return };
    let squared = (query - here).length_squared();
    if squared < best.0 {
        *best = (squared, here);
    }
    let over = query[depth % 3] - here[depth % 3];
    let (low, high) = (&points[..middle], &points[middle + 1..]);
    let (first, second) = if over < 0.0 { (low, high) } else { (high, low) };
    look(first, query, depth + 1, best);
    if over * over < best.0 {
        look(second, query, depth + 1, best);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Random;

    /// The tree finds the same ball as a linear search, and the octahedra are closed, outward and inside the balls.
    #[test]
    fn the_nearest_ball_is_the_nearest() {
        let mut random = Random::new(3);
        let mut point = |size: f64| Vec3::new(random.uniform(), random.uniform(), random.uniform()) * size;
        let centers: Vec<Vec3> = (0..500).map(|_| point(1.0)).collect();
        let balls = Balls::new(centers.clone(), 0.05).unwrap();
        for _ in 0..2000 {
            let query = point(1.4) - Vec3::splat(0.2);
            let truth = centers.iter().map(|c| (query - *c).length() - 0.05).fold(f64::INFINITY, f64::min);
            let (distance, normal) = balls.nearest(query);
            assert_eq!(distance, truth);
            // Along the normal the distance grows by the displacement.
            let farther = balls.nearest(query - normal * 1e-9).0;
            assert!((distance - farther - 1e-9).abs() < 1e-13, "{distance} {farther}");
        }
        let mesh = balls.mesh().unwrap();
        assert_eq!(mesh.triangles().len(), 4000);
        assert_eq!(mesh.check_closed(), Ok(()));
        assert!((mesh.volume_m3() / (500.0 * 4.0 / 3.0 * 0.05f64.powi(3)) - 1.0).abs() < 1e-12);
        assert!(mesh.vertices().iter().all(|&v| balls.nearest(v).0 <= 1e-15));
    }

    #[test]
    fn what_is_no_cloud_is_refused() {
        assert!(Balls::new(Vec::new(), 1.0).unwrap_err().to_string().contains("at least 1"));
        assert!(Balls::new(vec![Vec3::ZERO], 0.0).unwrap_err().to_string().contains("radius"));
        assert!(Balls::new(vec![Vec3::splat(f64::NAN)], 1.0).unwrap_err().to_string().contains("coordinate"));
    }
}
