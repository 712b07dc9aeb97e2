//! The interface of grippers, real or simulated.

use crate::lift_axis::LiftAxis;
use serde::{Deserialize, Serialize};

/// The command to the fingers.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum FingerCommand {
    /// Closing speed of each finger (m/s); negative opens.
    Velocity(f64),
    /// Closing force of each finger (N): a limit on the motor's current.
    Force(f64),
}

/// A gripper on a vertical axis, with a tactile sensor on each finger. A driver of a real gripper can implement this
/// trait: it accepts commands and returns the last measurements without blocking.
///
/// ```
/// use dermis_world::{FingerCommand, Gripper};
/// /// Holds with a tactile sum of 3 N on each finger; the same for a simulated and a real gripper.
/// fn hold(gripper: &mut dyn Gripper) {
///     let weakest = gripper.tactile_sums_newton().into_iter().fold(f64::INFINITY, f64::min);
///     gripper.drive_fingers(if weakest > 0.0 { FingerCommand::Force(3.0) } else { FingerCommand::Velocity(0.02) });
/// }
/// ```
pub trait Gripper {
    /// Sum of the tactile values of each finger (N).
    fn tactile_sums_newton(&self) -> Vec<f64>;

    /// Closing distance of the fingers (m) from fully open.
    fn closed_m(&self) -> f64;

    /// Height of the hand above its start (m).
    fn height_m(&self) -> f64;

    /// Sets the command of the fingers.
    fn drive_fingers(&mut self, command: FingerCommand);

    /// Sets the target height of the hand (m) above its start, and its speed (m/s).
    fn move_to(&mut self, height_m: f64, speed_m_per_s: f64);
}

/// State shared by simulated hands: the lift axis, the finger command and the last measurements.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct HandState {
    pub lift: LiftAxis,
    pub command: FingerCommand,
    pub tactile_sums_newton: Vec<f64>,
    pub closed_m: f64,
    pub height_m: f64,
}

impl HandState {
    pub fn new(lift: LiftAxis, fingers: usize) -> Self {
        let command = FingerCommand::Velocity(0.0);
        Self { lift, command, tactile_sums_newton: vec![0.0; fingers], closed_m: 0.0, height_m: 0.0 }
    }
}

/// Implements [`Gripper`] for a simulated hand that has a field `state` of type [`HandState`].
macro_rules! gripper_by_state {
    ($hand:ty) => {
        impl crate::Gripper for $hand {
            fn tactile_sums_newton(&self) -> Vec<f64> {
                self.state.tactile_sums_newton.clone()
            }

            fn closed_m(&self) -> f64 {
                self.state.closed_m
            }

            fn height_m(&self) -> f64 {
                self.state.height_m
            }

            fn drive_fingers(&mut self, command: crate::FingerCommand) {
                self.state.command = command;
            }

            fn move_to(&mut self, height_m: f64, speed_m_per_s: f64) {
                self.state.lift.move_to(height_m, speed_m_per_s);
            }
        }
    };
}

pub(crate) use gripper_by_state;
