//! Joints with one degree of freedom, and their drives.

use crate::BodyId;
use dermis_geometry::{Pose, Vec3};
use serde::{Deserialize, Serialize};

/// Handle of a joint in a world.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct JointId(pub(crate) usize);

/// The degree of freedom of a joint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JointKind {
    /// Translation along the axis (m, N).
    Prismatic,
    /// Rotation about the axis (rad, N m).
    Revolute,
}

/// A joint between two bodies. Their poses when they are joined define its zero position.
#[derive(Clone, Copy, Debug)]
pub struct Joint {
    /// Degree of freedom.
    pub kind: JointKind,
    /// The parent body.
    pub parent: BodyId,
    /// The child body.
    pub child: BodyId,
    /// Unit axis, in the world frame when the bodies are joined.
    pub axis: Vec3,
    /// A point on the axis (m), in the world frame when the bodies are joined.
    pub point: Vec3,
}

/// The drive of a joint. It acts on parent and child with opposite signs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Drive {
    /// No drive.
    Loose,
    /// A constant force or torque (N, N m).
    Effort(f64),
    /// Effort = gain · (target − velocity), limited to ± `limit`.
    Velocity {
        /// Target velocity (m/s, rad/s).
        target: f64,
        /// Gain (N s/m, N m s/rad).
        gain: f64,
        /// Limit on the effort (N, N m).
        limit: f64,
    },
    /// Effort = stiffness · (target − position) + damping · (target velocity − velocity) + feed-forward.
    Position {
        /// Target position (m, rad).
        target: f64,
        /// Target velocity (m/s, rad/s).
        velocity: f64,
        /// Stiffness (N/m, N m/rad).
        stiffness: f64,
        /// Damping (N s/m, N m s/rad).
        damping: f64,
        /// Constant effort (N, N m), for example against gravity.
        feed_forward: f64,
    },
}

impl Drive {
    /// Returns the effort (N, N m) at a position and velocity of the joint.
    pub fn effort(&self, position: f64, velocity: f64) -> f64 {
        match *self {
            Self::Loose => 0.0,
            Self::Effort(effort) => effort,
            Self::Velocity { target, gain, limit } => (gain * (target - velocity)).clamp(-limit, limit),
            Self::Position { target, velocity: wanted, stiffness, damping, feed_forward } => {
                stiffness * (target - position) + damping * (wanted - velocity) + feed_forward
            }
        }
    }
}

/// The state of a joint in the world.
#[derive(Clone, Debug)]
pub(crate) struct JoinedJoint {
    pub joint: Joint,
    pub axis_in_parent: Vec3,
    pub point_in_parent: Vec3,
    pub point_in_child: Vec3,
    /// Pose of the child in the parent when they were joined.
    pub parent_from_child: Pose,
    pub drive: Drive,
}

impl JoinedJoint {
    pub fn new(joint: Joint, world_from_parent: &Pose, world_from_child: &Pose) -> Self {
        let parent_from_world = world_from_parent.inverse();
        Self {
            axis_in_parent: parent_from_world.transform_vector(joint.axis),
            point_in_parent: parent_from_world.transform_point(joint.point),
            point_in_child: world_from_child.inverse().transform_point(joint.point),
            parent_from_child: parent_from_world * *world_from_child,
            joint,
            drive: Drive::Loose,
        }
    }

    /// Computes the position (m, rad) from the poses of the bodies.
    pub fn position(&self, world_from_parent: &Pose, world_from_child: &Pose) -> f64 {
        let parent_from_child = world_from_parent.inverse() * *world_from_child;
        match self.joint.kind {
            JointKind::Prismatic => {
                let moved = parent_from_child.transform_point(self.point_in_child) - self.point_in_parent;
                moved.dot(self.axis_in_parent)
            }
            JointKind::Revolute => {
                let relative = parent_from_child.rotation * self.parent_from_child.rotation.inverse();
                let half = relative.xyz().dot(self.axis_in_parent).atan2(relative.w);
                let angle = 2.0 * half;
                // Wraps the angle to −π…π.
                angle - std::f64::consts::TAU * (angle / std::f64::consts::TAU).round()
            }
        }
    }
}
