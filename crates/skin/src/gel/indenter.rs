//! Objects at given poses, and their distance to points of the gel.

use crate::{Motion, Object};
use dermis_geometry::{Bounds, Mat3, Nearest, Pose, Quat, Vec3};

/// An object at a pose.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Indenter<'a> {
    object: &'a Object,
    sensor_from_object: Pose,
    object_from_sensor: Pose,
    /// Bounding box in the sensor's frame.
    bounds: Bounds,
}

/// Signed distance of a point to an object.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gap {
    /// Distance (m), negative inside.
    pub distance_m: f64,
    /// Outward normal of the object.
    pub normal: Vec3,
}

impl<'a> Indenter<'a> {
    pub fn new(object: &'a Object, sensor_from_object: Pose) -> Self {
        let Bounds { min, max } = *object.surface.bounds();
        let corners = (0..8).map(|i| {
            let pick = |axis: usize| if (i >> axis) & 1 == 1 { max[axis] } else { min[axis] };
            sensor_from_object.transform_point(Vec3::new(pick(0), pick(1), pick(2)))
        });
        let bounds = Bounds::around(corners);
        Self { object, sensor_from_object, object_from_sensor: sensor_from_object.inverse(), bounds }
    }

    /// The same object at another pose.
    pub fn placed(&self, sensor_from_object: Pose) -> Self {
        Self::new(self.object, sensor_from_object)
    }

    pub fn all(motion: &Motion<'a>, poses: &[Pose]) -> Vec<Self> {
        motion.targets.iter().zip(poses).map(|(target, pose)| Self::new(target.object, *pose)).collect()
    }

    /// True if a point is within `reach_m` of the bounding box.
    pub fn is_near(&self, point: Vec3, reach_m: f64) -> bool {
        (self.bounds.min - point).max(point - self.bounds.max).max_element() <= reach_m
    }

    /// The gap at a point; `None` if the point is more than `reach_m` outside the bounding box.
    pub fn gap(&self, point: Vec3, reach_m: f64) -> Option<Gap> {
        if !self.is_near(point, reach_m) {
            return None;
        }
        let local = self.object_from_sensor.transform_point(point);
        let Nearest { distance_m, normal } = self.object.surface.nearest(local);
        Some(Gap { distance_m, normal: self.sensor_from_object.transform_vector(normal) })
    }

    /// Derivative (1/m) by the point of the outward normal at a point with the given gap g: C (I + g C)⁻¹ with C =
    /// ∂**n**/∂**x** along the surface; zero for a mesh, whose faces are flat.
    pub fn curvature(&self, point: Vec3, gap: Gap) -> Mat3 {
        let Some(primitive) = self.object.surface.primitive() else { return Mat3::ZERO };
        let foot = self.in_object(point - gap.normal * gap.distance_m);
        let normal = self.object_from_sensor.transform_vector(gap.normal);
        let column = |axis: Vec3| {
            let axis = self.object_from_sensor.transform_vector(axis);
            self.sensor_from_object.transform_vector(primitive.normal_change(foot, normal, axis))
        };
        let on_surface = Mat3::from_cols(column(Vec3::X), column(Vec3::Y), column(Vec3::Z));
        on_surface * (Mat3::IDENTITY + on_surface * gap.distance_m).inverse()
    }

    pub fn in_object(&self, point: Vec3) -> Vec3 {
        self.object_from_sensor.transform_point(point)
    }

    pub fn in_sensor(&self, point: Vec3) -> Vec3 {
        self.sensor_from_object.transform_point(point)
    }
}

/// Interpolates between two poses.
pub(crate) fn interpolate(from: &Pose, to: &Pose, fraction: f64) -> Pose {
    let rotation: Quat = from.rotation.slerp(to.rotation, fraction);
    Pose::new(rotation, from.translation.lerp(to.translation, fraction))
}
