//! The vertical axis of a hand.

use crate::{Drive, JointId, World};
use serde::{Deserialize, Serialize};

/// Acceleration limit (m/s²), so that starting and stopping do not shake the held object.
const ACCELERATION: f64 = 0.5;

/// A position-controlled prismatic joint with a limit on acceleration.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct LiftAxis {
    pub joint: JointId,
    /// Stiffness of the axis (N/m).
    pub stiffness: f64,
    /// Damping of the axis (N s/m).
    pub damping: f64,
    /// Constant load (N), compensated by feed-forward.
    pub weight_newton: f64,
    goal_m: f64,
    goal_speed: f64,
    set_point_m: f64,
    set_speed: f64,
}

impl LiftAxis {
    pub fn new(joint: JointId, stiffness: f64, damping: f64, weight_newton: f64) -> Self {
        let (goal_m, goal_speed, set_point_m, set_speed) = (0.0, 0.0, 0.0, 0.0);
        Self { joint, stiffness, damping, weight_newton, goal_m, goal_speed, set_point_m, set_speed }
    }

    /// Sets the target height (m) and speed (m/s).
    pub fn move_to(&mut self, height_m: f64, speed_m_per_s: f64) {
        self.goal_m = height_m;
        self.goal_speed = speed_m_per_s;
    }

    /// Advances the set point by one step, drives the joint and returns its height (m).
    pub fn exchange(&mut self, world: &mut World) -> f64 {
        let dt_s = world.parameters().step_s;
        let to_go = self.goal_m - self.set_point_m;
        // The highest speed from which the axis can still stop at the goal.
        let wanted = self.goal_speed.min((2.0 * ACCELERATION * to_go.abs()).sqrt()).copysign(to_go);
        let change = ACCELERATION * dt_s;
        self.set_speed += (wanted - self.set_speed).clamp(-change, change);
        if to_go.abs() <= self.set_speed.abs() * dt_s || to_go.abs() < ACCELERATION * dt_s * dt_s {
            (self.set_point_m, self.set_speed) = (self.goal_m, 0.0);
        } else {
            self.set_point_m += self.set_speed * dt_s;
        }
        world.drive(
            self.joint,
            Drive::Position {
                target: self.set_point_m,
                velocity: self.set_speed,
                stiffness: self.stiffness,
                damping: self.damping,
                feed_forward: self.weight_newton,
            },
        );
        world.joint(self.joint).0
    }
}
