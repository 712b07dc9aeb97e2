//! Approach, grasp, lift, move down, release: the work cycle of Moisio et al. 2013, section 5.2.2.

use crate::{FingerCommand, Gripper};
use serde::{Deserialize, Serialize};

/// The five primitives of the cycle, and its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Phase {
    /// The hand descends to the object.
    Approach,
    /// The fingers close at constant speed until first contact, then with a force that follows the tactile sums.
    Grasp,
    /// The hand rises.
    Lift,
    /// The hand descends again.
    MoveDown,
    /// The fingers open.
    Release,
    /// The cycle is complete.
    Done,
}

/// Parameters of the cycle.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PickParameters {
    /// Height of the hand (m) at which it grasps the object, above its start.
    pub grasp_height_m: f64,
    /// Height of the hand (m) to which it lifts the object, above its start.
    pub lift_height_m: f64,
    /// Speed of the hand (m/s).
    pub travel_speed: f64,
    /// Closing speed of each finger (m/s).
    pub closing_speed: f64,
    /// Tactile sum (N) above which a finger is in contact.
    pub touch_newton: f64,
    /// Target of the tactile sum (N) while holding.
    pub hold_newton: f64,
    /// Gain of the integral part of the force control (1/s).
    pub integral_gain: f64,
    /// Time (s) for which the mean sum must stay within 1 % of `hold_newton` before lifting.
    pub steady_s: f64,
    /// Time (s) for which the object is held at the top.
    pub hold_s: f64,
}

impl Default for PickParameters {
    fn default() -> Self {
        Self {
            grasp_height_m: -0.05,
            lift_height_m: 0.0,
            travel_speed: 0.05,
            closing_speed: 0.02,
            touch_newton: 0.02,
            hold_newton: 3.0,
            integral_gain: 2.0,
            steady_s: 0.3,
            hold_s: 0.5,
        }
    }
}

/// The controller of the cycle. It uses only the trait [`Gripper`], so that it can drive a real gripper too.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PickAndPlace {
    parameters: PickParameters,
    phase: Phase,
    touched: bool,
    touched_open: bool,
    integral_newton: f64,
    waited_s: f64,
}

impl PickAndPlace {
    /// Creates a controller at the beginning of the cycle.
    pub fn new(parameters: PickParameters) -> Self {
        Self {
            parameters,
            phase: Phase::Approach,
            touched: false,
            touched_open: false,
            integral_newton: 0.0,
            waited_s: 0.0,
        }
    }

    /// The current phase.
    pub fn phase(&self) -> Phase {
        self.phase
    }

    /// True from first contact to release.
    pub fn has_touched(&self) -> bool {
        self.touched
    }

    /// True if a finger touched something before the fingers closed: the object may be wider than the open hand.
    pub fn touched_while_open(&self) -> bool {
        self.touched_open
    }

    /// Runs one control step of `dt_s`: reads the gripper and commands it.
    pub fn update(&mut self, gripper: &mut dyn Gripper, dt_s: f64) {
        let p = self.parameters;
        match self.phase {
            Phase::Approach => {
                gripper.drive_fingers(FingerCommand::Velocity(0.0));
                gripper.move_to(p.grasp_height_m, p.travel_speed);
                self.touched_open |= gripper.tactile_sums_newton().iter().any(|sum| *sum >= p.touch_newton);
                if self.waits(at(gripper, p.grasp_height_m), 0.1, dt_s) {
                    self.enter(Phase::Grasp);
                }
            }
            Phase::Grasp => {
                let steady = self.squeeze(gripper, dt_s);
                if self.waits(steady, p.steady_s, dt_s) {
                    self.enter(Phase::Lift);
                }
            }
            Phase::Lift => {
                self.squeeze(gripper, dt_s);
                gripper.move_to(p.lift_height_m, p.travel_speed);
                if self.waits(at(gripper, p.lift_height_m), p.hold_s, dt_s) {
                    self.enter(Phase::MoveDown);
                }
            }
            Phase::MoveDown => {
                self.squeeze(gripper, dt_s);
                gripper.move_to(p.grasp_height_m, p.travel_speed);
                if self.waits(at(gripper, p.grasp_height_m), 0.2, dt_s) {
                    self.enter(Phase::Release);
                }
            }
            Phase::Release => {
                gripper.drive_fingers(FingerCommand::Velocity(-p.closing_speed));
                let open = gripper.closed_m() <= 0.0;
                if self.waits(open, 0.0, dt_s) {
                    gripper.drive_fingers(FingerCommand::Velocity(0.0));
                    self.enter(Phase::Done);
                }
            }
            Phase::Done => gripper.drive_fingers(FingerCommand::Velocity(0.0)),
        }
    }

    fn enter(&mut self, phase: Phase) {
        self.phase = phase;
        self.waited_s = 0.0;
        if phase == Phase::Release {
            self.touched = false;
        }
    }

    /// Returns true once `condition` has held for `time_s` without interruption.
    fn waits(&mut self, condition: bool, time_s: f64, dt_s: f64) -> bool {
        self.waited_s = if condition { self.waited_s + dt_s } else { 0.0 };
        condition && self.waited_s >= time_s
    }

    /// Controls velocity until first contact, then force: the target sum plus the integral of the error. Returns true
    /// while the mean sum is within 1 % of the target. (On a table the sums of single fingers may differ by the table's
    /// friction force.)
    fn squeeze(&mut self, gripper: &mut dyn Gripper, dt_s: f64) -> bool {
        let p = self.parameters;
        let sums = gripper.tactile_sums_newton();
        let least = sums.iter().copied().fold(f64::INFINITY, f64::min);
        if !self.touched && least < p.touch_newton {
            gripper.drive_fingers(FingerCommand::Velocity(p.closing_speed));
            return false;
        }
        self.touched = true;
        let mean = sums.iter().sum::<f64>() / sums.len().max(1) as f64;
        let missing = p.hold_newton - mean;
        // Anti-windup: limits the integral to a correction.
        let bound = 0.5 * p.hold_newton;
        self.integral_newton = (self.integral_newton + p.integral_gain * missing * dt_s).clamp(-bound, bound);
        gripper.drive_fingers(FingerCommand::Force(p.hold_newton + self.integral_newton));
        missing.abs() < 0.01 * p.hold_newton
    }
}

fn at(gripper: &dyn Gripper, height_m: f64) -> bool {
    (gripper.height_m() - height_m).abs() < 5e-4
}
