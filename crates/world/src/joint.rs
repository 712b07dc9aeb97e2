//! Joints with one degree of freedom, and what drives them.

use crate::BodyId;
use dermis_geometry::{Pose, Vec3};

/// A joint of a world.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct JointId(pub(crate) usize);

/// What a joint leaves free.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JointKind {
    /// Sliding along the axis (m, N).
    Prismatic,
    /// Turning about the axis (rad, N m).
    Revolute,
}

/// A joint between two bodies that are where it should hold them: their poses at the moment of joining are zero.
#[derive(Clone, Copy, Debug)]
pub struct Joint {
    /// What is free.
    pub kind: JointKind,
    /// The body that carries.
    pub parent: BodyId,
    /// The body that is carried.
    pub child: BodyId,
    /// Unit axis, in the world's frame at the moment of joining.
    pub axis: Vec3,
    /// A point of the axis, in the world's frame at the moment of joining (m).
    pub point: Vec3,
}

/// What drives a joint. The drive pushes parent and child oppositely.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Drive {
    /// Nothing.
    Loose,
    /// A force or torque (N, N m).
    Effort(f64),
    /// gain · (target − velocity), at most `limit`.
    Velocity {
        /// Wanted velocity (m/s, rad/s).
        target: f64,
        /// Gain (N s/m, N m s/rad).
        gain: f64,
        /// Greatest effort (N, N m).
        limit: f64,
    },
    /// stiffness · (target − position) + damping · (velocity target − velocity) + feed-forward.
    Position {
        /// Wanted position (m, rad).
        target: f64,
        /// Wanted velocity (m/s, rad/s).
        velocity: f64,
        /// Stiffness (N/m, N m/rad).
        stiffness: f64,
        /// Damping (N s/m, N m s/rad).
        damping: f64,
        /// Effort that is always there (N, N m), against gravity for example.
        feed_forward: f64,
    },
}

impl Drive {
    /// Effort at a position and velocity of the joint.
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

/// A joint as the world keeps it.
#[derive(Clone, Debug)]
pub(crate) struct JoinedJoint {
    pub joint: Joint,
    pub axis_in_parent: Vec3,
    pub point_in_parent: Vec3,
    pub point_in_child: Vec3,
    /// Child in parent at the moment of joining.
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

    /// Position (m, rad) from where the bodies are.
    pub fn position(&self, world_from_parent: &Pose, world_from_child: &Pose) -> f64 {
        let parent_from_child = world_from_parent.inverse() * *world_from_child;
        match self.joint.kind {
            JointKind::Prismatic => {
                let moved = parent_from_child.transform_point(self.point_in_child) - self.point_in_parent;
                moved.dot(self.axis_in_parent)
            }
            JointKind::Revolute => {
                let turned = parent_from_child.rotation * self.parent_from_child.rotation.inverse();
                let half = turned.xyz().dot(self.axis_in_parent).atan2(turned.w);
                let angle = 2.0 * half;
                // Between −π and π.
                angle - std::f64::consts::TAU * (angle / std::f64::consts::TAU).round()
            }
        }
    }
}
