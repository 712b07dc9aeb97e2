//! Triangles of a surface inside a box.

use crate::bvh::Slab;
use crate::ray::RayFrame;
use crate::{Bounds, Mat3, Pose, Primitive, Ray, Surface, Vec3};

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

    /// Calls `visit` with the corners (m), in another frame, of the part of each triangle inside the box `within` of that frame, which
    /// may be infinite.
    pub fn each_part_in(&self, frame_from_surface: &Pose, within: &Bounds, mut visit: impl FnMut(&[Vec3])) {
        let Some(near) = self.padded_bounds_in(frame_from_surface, within) else { return };
        self.each_triangle_in(frame_from_surface, &near, |_, corners| {
            if corners.iter().all(|corner| corner.cmpge(within.min).all() && corner.cmple(within.max).all()) {
                return visit(&corners);
            }
            let part = clipped(&corners, within);
            if !part.is_empty() {
                visit(&part);
            }
        });
    }

    /// Bounds, in another frame, of the part of the surface inside the box `within` of that frame; `None` if there is none. Those of
    /// a polyhedron and of a sphere are tight: of a tip or an edge that reaches into the box they contain no more than it. The box may
    /// be infinite.
    pub fn part_bounds_in(&self, frame_from_surface: &Pose, within: &Bounds) -> Option<Bounds> {
        let near = self.padded_bounds_in(frame_from_surface, within)?;
        if matches!(self.primitive(), Some(Primitive::Sphere { .. })) {
            return Some(near);
        }
        let mut part = Bounds::EMPTY;
        self.each_part_in(frame_from_surface, within, |corners| {
            part = part.union(&Bounds::around(corners.iter().copied()));
        });
        // The mesh of a round primitive lies inside it.
        if part == Bounds::EMPTY { (!self.is_polyhedron()).then_some(near) } else { Some(part) }
    }

    /// [`Surface::bounds_in`], wider than rounding.
    fn padded_bounds_in(&self, frame_from_surface: &Pose, within: &Bounds) -> Option<Bounds> {
        let margin_m =
            1e-12 * (self.bounds().size().max_element() + frame_from_surface.translation.abs().max_element());
        Some(self.bounds_in(frame_from_surface, &within.padded(margin_m))?.padded(margin_m))
    }

    /// True if the triangles are the surface: of a mesh and of a box, not of a round primitive.
    pub fn is_polyhedron(&self) -> bool {
        matches!(self.primitive(), None | Some(Primitive::Cuboid { .. }))
    }

    /// Distance (m) at which a ray of any length hits the triangle at a position of the hierarchy, edges and corners
    /// included; the same number as that of [`Surface::cast`].
    #[inline]
    pub fn cast_at_position(&self, ray: &Ray, position: usize) -> Option<f64> {
        RayFrame::new(ray).intersect(self.leaf_corners(position))
    }
}

/// The corners of the part of a convex polygon inside a box, which may be infinite; empty if there is none (Sutherland and Hodgman
/// 1974).
pub fn clipped(polygon: &[Vec3], within: &Bounds) -> Vec<Vec3> {
    let mut corners = polygon.to_vec();
    for axis in 0..3 {
        for (side, limit) in [(1.0, within.min[axis]), (-1.0, -within.max[axis])] {
            cut(&mut corners, |corner| side * corner[axis] - limit);
        }
    }
    corners
}

/// Keeps the part of a convex polygon where the signed distance of a plane is not negative: the first corner and those after it, in
/// their order.
pub fn cut(corners: &mut Vec<Vec3>, above: impl Fn(Vec3) -> f64) {
    if corners.iter().all(|&corner| above(corner) >= 0.0) {
        return;
    }
    let mut kept = Vec::with_capacity(corners.len() + 1);
    for (i, &from) in corners.iter().enumerate() {
        let to = corners[(i + 1) % corners.len()];
        let (here, there) = (above(from), above(to));
        if here >= 0.0 {
            kept.push(from);
        }
        if (here >= 0.0) != (there >= 0.0) {
            kept.push(from.lerp(to, here / (here - there)));
        }
    }
    *corners = kept;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Quat, Random, shapes};

    /// A tip that reaches a tenth of a millimetre below z = 0 is as wide there as its cone, and an edge of a box as the box.
    #[test]
    fn parts_of_tips_and_edges_are_tight() {
        let below = Bounds { min: Vec3::splat(f64::NEG_INFINITY), max: Vec3::new(f64::INFINITY, f64::INFINITY, 0.0) };
        let (depth, diagonal) = (1e-4, 3e-3 * 0.5_f64.sqrt());
        let on_edge = Pose::new(Quat::from_rotation_y(std::f64::consts::FRAC_PI_4), Vec3::Z * (diagonal - depth));
        let cuboid = Surface::new(shapes::cuboid(Vec3::splat(3e-3)).unwrap());
        let exact = Surface::of_primitive(Primitive::Cuboid { half_m: Vec3::splat(1.5e-3) }, 1.0).unwrap();
        for surface in [cuboid, exact] {
            let part = surface.part_bounds_in(&on_edge, &below).unwrap();
            let truth = Bounds { min: Vec3::new(-depth, -1.5e-3, -depth), max: Vec3::new(depth, 1.5e-3, 0.0) };
            assert!((part.min - truth.min).length() < 1e-12 && (part.max - truth.max).length() < 1e-12, "{part:?}");
            let above = Pose::new(on_edge.rotation, on_edge.translation + Vec3::Z * 2e-4);
            assert_eq!(surface.part_bounds_in(&above, &below), None);
        }
    }

    /// A flat sheet lies in the plane of its bounds, at any place and rotation about it.
    #[test]
    fn flat_sheets_have_parts() {
        let [a, b, c, d] =
            [[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]].map(|[x, y]| Vec3::new(x * 5e-5, y * 5e-5, 5e-3));
        let sheet = Surface::new(crate::TriMesh::new("sheet", vec![a, b, c, d], vec![[0, 1, 2], [0, 2, 3]]).unwrap());
        let below = Bounds { min: Vec3::splat(f64::NEG_INFINITY), max: Vec3::new(f64::INFINITY, f64::INFINITY, 0.0) };
        let mut random = Random::new(3);
        for _ in 0..200 {
            let turn = Quat::from_rotation_z(random.between(-3.0, 3.0));
            let at = Vec3::new(random.between(-1e-2, 1e-2), 0.0, -5e-3 - random.between(1e-9, 1e-3));
            let part = sheet.part_bounds_in(&Pose::new(turn, at), &below).unwrap();
            assert!((part.min.z - at.z - 5e-3).abs() < 1e-15 && part.size().max_element() > 1e-4, "{part:?}");
        }
    }

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
