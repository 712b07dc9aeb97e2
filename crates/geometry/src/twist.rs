//! Spatial velocity and force of a rigid body.

use crate::{Pose, Vec3};
use serde::{Deserialize, Serialize};
use std::ops::{Add, AddAssign, Neg, Sub};

/// Velocity of a rigid body at a reference point.
///
/// ```
/// use dermis_geometry::{Twist, Vec3};
/// let spin = Twist::new(Vec3::ZERO, Vec3::Z); // 1 rad/s about z
/// assert_eq!(spin.at(Vec3::X), Vec3::Y);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Twist {
    /// Velocity of the body's material at the reference point (m/s).
    pub linear: Vec3,
    /// Angular velocity (rad/s).
    pub angular: Vec3,
}

impl Twist {
    /// Zero velocity.
    pub const ZERO: Self = Self { linear: Vec3::ZERO, angular: Vec3::ZERO };

    /// Creates a twist from a velocity (m/s) and an angular velocity (rad/s).
    pub fn new(linear: Vec3, angular: Vec3) -> Self {
        Self { linear, angular }
    }

    /// Velocity (m/s) of the body's material at `arm` (m) from the reference point.
    #[inline]
    pub fn at(&self, arm: Vec3) -> Vec3 {
        self.linear + self.angular.cross(arm)
    }

    /// The same motion at a reference point `arm` (m) away.
    pub fn moved(&self, arm: Vec3) -> Self {
        Self { linear: self.at(arm), angular: self.angular }
    }

    /// The same motion with its components in another frame; the reference point does not change.
    pub fn rotated(&self, to_from_from: &Pose) -> Self {
        Self {
            linear: to_from_from.transform_vector(self.linear),
            angular: to_from_from.transform_vector(self.angular),
        }
    }

    /// True when every component is finite.
    pub fn is_finite(&self) -> bool {
        self.linear.is_finite() && self.angular.is_finite()
    }
}

impl Sub for Twist {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self { linear: self.linear - other.linear, angular: self.angular - other.angular }
    }
}

/// A force and a torque about a reference point.
///
/// ```
/// use dermis_geometry::{Vec3, Wrench};
/// let load = Wrench::from_force_at(-Vec3::Z, Vec3::X); // 1 N downwards, 1 m along x
/// assert_eq!(load.torque, Vec3::Y);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Wrench {
    /// Force (N).
    pub force: Vec3,
    /// Torque (N m) about the reference point.
    pub torque: Vec3,
}

impl Wrench {
    /// No force and no torque.
    pub const ZERO: Self = Self { force: Vec3::ZERO, torque: Vec3::ZERO };

    /// The wrench of a force (N) acting at `arm` (m) from the reference point.
    #[inline]
    pub fn from_force_at(force: Vec3, arm: Vec3) -> Self {
        Self { force, torque: arm.cross(force) }
    }

    /// The same load about a reference point `arm` (m) away.
    pub fn moved(&self, arm: Vec3) -> Self {
        Self { force: self.force, torque: self.torque - arm.cross(self.force) }
    }

    /// The same load with its components in another frame; the reference point does not change.
    pub fn rotated(&self, to_from_from: &Pose) -> Self {
        Self { force: to_from_from.transform_vector(self.force), torque: to_from_from.transform_vector(self.torque) }
    }

    /// Power (W) of this load on a body with the given velocity; both at the same reference point.
    pub fn power(&self, twist: &Twist) -> f64 {
        self.force.dot(twist.linear) + self.torque.dot(twist.angular)
    }
}

impl Add for Wrench {
    type Output = Self;
    #[inline]
    fn add(self, other: Self) -> Self {
        Self { force: self.force + other.force, torque: self.torque + other.torque }
    }
}

impl AddAssign for Wrench {
    #[inline]
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Neg for Wrench {
    type Output = Self;
    #[inline]
    fn neg(self) -> Self {
        Self { force: -self.force, torque: -self.torque }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Power does not depend on the reference point.
    #[test]
    fn power_is_the_same_about_any_point() {
        let wrench = Wrench { force: Vec3::new(1.0, -2.0, 0.5), torque: Vec3::new(0.3, 0.2, -0.7) };
        let twist = Twist::new(Vec3::new(0.4, 0.1, 0.9), Vec3::new(-1.0, 2.0, 0.3));
        let arm = Vec3::new(0.2, -0.3, 0.8);
        let here = wrench.power(&twist);
        let there = wrench.moved(arm).power(&twist.moved(arm));
        assert!((here - there).abs() < 1e-14);
    }
}
