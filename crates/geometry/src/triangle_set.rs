//! A set of triangles for ray casting only.

use crate::ray::{Ray, RayFrame};
use crate::{Bounds, Bvh, Vec3};

/// Triangles with a bounding-volume hierarchy: fast to build, for surfaces that change at every step. The triangles
/// need not be connected or closed; rays never hit triangles without area.
#[derive(Clone, Debug)]
pub struct TriangleSet {
    bvh: Bvh,
    /// Corners in the order of the hierarchy's leaves.
    corners: Vec<[Vec3; 3]>,
}

impl TriangleSet {
    /// Builds the hierarchy of triangles (m).
    pub fn new(triangles: &[[Vec3; 3]]) -> Self {
        let boxes: Vec<Bounds> = triangles.iter().map(|corners| Bounds::around(*corners)).collect();
        let bvh = Bvh::over(&boxes);
        let corners = bvh.order().iter().map(|&t| triangles[t as usize]).collect();
        Self { bvh, corners }
    }

    /// Distance (m) and index of the first triangle that a ray hits; the lowest index of several at the same distance.
    /// Watertight where triangles share edges and corners exactly.
    pub fn cast(&self, ray: &Ray) -> Option<(f64, u32)> {
        closest_hit(&self.bvh, &self.corners, ray, None)
    }
}

/// Distance (m) and index of the closest hit among the triangles `corners`, given in the order of the hierarchy's
/// leaves. `hint` is the position of a triangle that the ray is likely to hit; it affects the speed, not the result.
pub(crate) fn closest_hit(bvh: &Bvh, corners: &[[Vec3; 3]], ray: &Ray, hint: Option<usize>) -> Option<(f64, u32)> {
    let order = bvh.order();
    let frame = RayFrame::new(ray);
    let entry = frame.enter(bvh.bounds(), bvh.pad(), ray.length)?;
    let mut best = (ray.length, u32::MAX);
    let mut consider = |place: usize| {
        if let Some(t) = frame.intersect(&corners[place])
            && (t < best.0 || (t == best.0 && order[place] < best.1))
        {
            best = (t, order[place]);
        }
        entry.limit(best.0)
    };
    let mut limit = entry.limit(ray.length);
    if let Some(place) = hint {
        limit = consider(place);
    }
    bvh.visit(
        limit,
        |lanes| entry.distances(lanes),
        |first, count| (first..first + count).fold(f32::INFINITY, |_, place| consider(place)),
    );
    (best.1 != u32::MAX).then_some(best)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Random;

    /// The result equals that of testing every triangle.
    #[test]
    fn the_first_is_found_as_by_trying_all() {
        let mut random = Random::new(7);
        let mut point = |scale: f64| Vec3::new(random.uniform(), random.uniform(), random.uniform()) * scale;
        let triangles: Vec<[Vec3; 3]> = (0..300)
            .map(|_| {
                let corner = point(1.0);
                [corner, corner + point(0.2), corner + point(0.2)]
            })
            .collect();
        let set = TriangleSet::new(&triangles);
        let mut met = 0;
        for _ in 0..500 {
            let direction = (point(2.0) - Vec3::ONE).normalize();
            let ray = Ray { origin: point(1.0), direction, length: 0.8 };
            let frame = RayFrame::new(&ray);
            let all = triangles.iter().enumerate().filter_map(|(i, t)| Some((frame.intersect(t)?, i as u32)));
            let truth = all.filter(|hit| hit.0 <= ray.length).min_by(|a, b| a.partial_cmp(b).unwrap());
            assert_eq!(set.cast(&ray), truth);
            met += usize::from(truth.is_some());
        }
        assert!((100..500).contains(&met), "{met} rays met something");
        assert_eq!(TriangleSet::new(&[]).cast(&Ray { origin: Vec3::ZERO, direction: Vec3::X, length: 1.0 }), None);
    }
}
