//! Triangles of a surface inside a box.

use crate::bvh::Slab;
use crate::ray::RayFrame;
use crate::{Bounds, Mat3, Pose, Ray, Surface, Vec3};

impl Surface {
    /// Calls `visit` with the position in the hierarchy ([`crate::Bvh::order`]) and the corners (m), in another frame, of all
    /// triangles that overlap the box `within` of that frame, and possibly a few more.
    pub fn each_triangle_in(
        &self,
        frame_from_surface: &Pose,
        within: &Bounds,
        mut visit: impl FnMut(usize, [Vec3; 3]),
    ) {
        let rotation = Mat3::from_quat(frame_from_surface.rotation);
        let axes = rotation.transpose();
        let (low, high) = (within.min - frame_from_surface.translation, within.max - frame_from_surface.translation);
        // Along an axis of the frame, the box is a slab.
        let slabs: [Slab; 3] =
            std::array::from_fn(|axis| Slab { normal: axes.col(axis), low: low[axis], high: high[axis] });
        let center = axes * ((low + high) * 0.5);
        let half = (high - low) * 0.5;
        let reach = axes.x_axis.abs() * half.x + axes.y_axis.abs() * half.y + axes.z_axis.abs() * half.z;
        self.bvh().within(&Bounds { min: center - reach, max: center + reach }, &slabs, |position| {
            let corners = self.leaf_corners(position).map(|corner| rotation * corner + frame_from_surface.translation);
            visit(position, corners);
        });
    }

    /// Bounds, in another frame, of the parts of the triangles' bounding boxes inside the box `within` of that frame:
    /// empty if there is none. `None` if more than `max_triangles` may overlap the box.
    ///
    /// Unlike [`Surface::bounds_in`], leaves out the solid behind the triangles, and the exact shape of a primitive.
    pub fn triangle_bounds_in(
        &self,
        frame_from_surface: &Pose,
        within: &Bounds,
        max_triangles: usize,
    ) -> Option<Bounds> {
        let (mut bounds, mut visited) = (Bounds::EMPTY, 0);
        self.each_triangle_in(frame_from_surface, within, |_, [a, b, c]| {
            visited += 1;
            let part = Bounds { min: a.min(b).min(c).max(within.min), max: a.max(b).max(c).min(within.max) };
            if visited <= max_triangles && part.min.cmple(part.max).all() {
                bounds = bounds.union(&part);
            }
        });
        (visited <= max_triangles).then_some(bounds)
    }

    /// Distance (m) at which a ray of any length hits the triangle at a position of the hierarchy, edges and corners
    /// included; the same number as that of [`Surface::cast`].
    #[inline]
    pub fn cast_at_position(&self, ray: &Ray, position: usize) -> Option<f64> {
        RayFrame::new(ray).intersect(self.leaf_corners(position))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Primitive, Quat, Random};

    /// Every ray inside the box that hits a triangle there meets the bounds, which are much smaller than those of the
    /// ball: its cap.
    #[test]
    fn bounds_contain_all_hits_in_the_box() {
        let surface = Surface::new(Primitive::Sphere { radius_m: 0.012 }.mesh(1.2e-3).unwrap());
        let pose = Pose::new(Quat::from_rotation_y(0.7), Vec3::new(1e-3, -2e-3, 0.0099));
        let within = Bounds { min: Vec3::new(-0.02, -0.02, -4e-3), max: Vec3::new(0.02, 0.02, 0.0) };
        let bounds = surface.triangle_bounds_in(&pose, &within, usize::MAX).unwrap();
        assert!(bounds.size().x < 0.017 && bounds.size().y < 0.017, "{bounds:?}");
        assert_eq!(surface.triangle_bounds_in(&pose, &within, 10), None);
        let (mut random, mut hits) = (Random::new(3), 0);
        let surface_from_frame = pose.inverse();
        for _ in 0..2000 {
            let start = Vec3::new(random.between(-0.02, 0.02), random.between(-0.02, 0.02), -4e-3);
            let ray = Ray {
                origin: surface_from_frame.transform_point(start),
                direction: surface_from_frame.transform_vector(Vec3::Z),
                length: 4e-3,
            };
            if let Some(hit) = surface.cast(&ray, None) {
                hits += 1;
                assert!(bounds.padded(1e-12).contains(start + Vec3::Z * hit.distance));
            }
        }
        assert!(hits > 100);
        let beside = Bounds { min: Vec3::splat(0.1), max: Vec3::splat(0.2) };
        assert_eq!(surface.triangle_bounds_in(&pose, &beside, 10), Some(Bounds::EMPTY));
    }
}
