//! What presses: how far it is from a point, and which way.

use crate::{Motion, Object};
use dermis_geometry::{Bounds, Nearest, Pose, Quat, Vec3};

/// An object at a place.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Indenter<'a> {
    object: &'a Object,
    sensor_from_object: Pose,
    object_from_sensor: Pose,
    /// Box around it in the sensor's frame.
    bounds: Bounds,
}

/// Distance (m) to an object, negative inside, and the direction out of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Gap {
    pub distance_m: f64,
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

    /// The same object elsewhere.
    pub fn placed(&self, sensor_from_object: Pose) -> Self {
        Self::new(self.object, sensor_from_object)
    }

    pub fn all(motion: &Motion<'a>, poses: &[Pose]) -> Vec<Self> {
        motion.targets.iter().zip(poses).map(|(target, pose)| Self::new(target.object, *pose)).collect()
    }

    /// Whether a point is in the box around the object, made larger by `reach_m`.
    pub fn is_near(&self, point: Vec3, reach_m: f64) -> bool {
        (self.bounds.min - point).max(point - self.bounds.max).max_element() <= reach_m
    }

    /// The gap at a point; none where it is more than `reach_m` outside the box around the object.
    pub fn gap(&self, point: Vec3, reach_m: f64) -> Option<Gap> {
        if !self.is_near(point, reach_m) {
            return None;
        }
        let local = self.object_from_sensor.transform_point(point);
        let Nearest { distance_m, normal } = self.object.surface.nearest(local);
        Some(Gap { distance_m, normal: self.sensor_from_object.transform_vector(normal) })
    }

    pub fn in_object(&self, point: Vec3) -> Vec3 {
        self.object_from_sensor.transform_point(point)
    }

    pub fn in_sensor(&self, point: Vec3) -> Vec3 {
        self.sensor_from_object.transform_point(point)
    }
}

/// The pose a part of the way between two.
pub(crate) fn between(from: &Pose, to: &Pose, part: f64) -> Pose {
    let rotation: Quat = from.rotation.slerp(to.rotation, part);
    Pose::new(rotation, from.translation.lerp(to.translation, part))
}
