//! Rigid transforms between frames.

use crate::{Quat, Vec3};
use serde::{Deserialize, Serialize};

/// A rigid transform. Name it `to_from_from`: `world_from_sensor * sensor_from_object` is `world_from_object`.
///
/// ```
/// use dermis_geometry::{Pose, Quat, Vec3};
/// let world_from_sensor = Pose::from_rotation(Quat::from_rotation_x(std::f64::consts::FRAC_PI_2));
/// let sensor_from_object = Pose::from_translation(Vec3::new(0.0, 0.0, 0.01));
/// let world_from_object = world_from_sensor * sensor_from_object;
/// assert!((world_from_object.translation - Vec3::new(0.0, -0.01, 0.0)).length() < 1e-15);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Pose {
    /// Rotation, applied first.
    pub rotation: Quat,
    /// Translation (m), applied second: the origin of the `from` frame in the `to` frame.
    pub translation: Vec3,
}

impl Default for Pose {
    fn default() -> Self {
        Self::IDENTITY
    }
}

impl Pose {
    /// The identity: both frames coincide.
    pub const IDENTITY: Self = Self { rotation: Quat::IDENTITY, translation: Vec3::ZERO };

    /// A rotation followed by a translation (m).
    pub fn new(rotation: Quat, translation: Vec3) -> Self {
        Self { rotation, translation }
    }

    /// A pure translation (m).
    pub fn from_translation(translation: Vec3) -> Self {
        Self { rotation: Quat::IDENTITY, translation }
    }

    /// A pure rotation.
    pub fn from_rotation(rotation: Quat) -> Self {
        Self { rotation, translation: Vec3::ZERO }
    }

    /// Transforms a point.
    pub fn transform_point(&self, point: Vec3) -> Vec3 {
        self.rotation * point + self.translation
    }

    /// Rotates a direction, a velocity or a force.
    pub fn transform_vector(&self, vector: Vec3) -> Vec3 {
        self.rotation * vector
    }

    /// The inverse, `from_from_to`.
    pub fn inverse(&self) -> Self {
        let rotation = self.rotation.conjugate();
        Self { rotation, translation: -(rotation * self.translation) }
    }

    /// True when every component is finite.
    pub fn is_finite(&self) -> bool {
        self.rotation.is_finite() && self.translation.is_finite()
    }
}

impl std::ops::Mul for Pose {
    type Output = Self;
    fn mul(self, inner: Self) -> Self {
        Self {
            rotation: (self.rotation * inner.rotation).normalize(),
            translation: self.transform_point(inner.translation),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inverse_cancels() {
        let a_from_b = Pose::new(Quat::from_rotation_x(0.7) * Quat::from_rotation_z(-1.1), Vec3::new(0.1, -2.0, 3.0));
        let p = Vec3::new(4.0, 5.0, -6.0);
        let back = (a_from_b.inverse() * a_from_b).transform_point(p);
        assert!((back - p).length() < 1e-14);
    }
}
