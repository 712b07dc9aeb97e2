//! What a controller needs of a hand, real or simulated.

/// How the fingers are driven.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FingerCommand {
    /// Closing speed of each finger (m/s); negative opens.
    Velocity(f64),
    /// Closing force of each finger (N): a limit on the motor's current.
    Force(f64),
}

/// A gripper on a vertical axis, with a tactile sensor on each finger. A driver of a real gripper can implement
/// this: it takes commands and says what was felt last, and nothing here waits.
pub trait Gripper {
    /// Sum of the tactile values of each finger (N).
    fn tactile_sums_newton(&self) -> Vec<f64>;

    /// How far the fingers are closed (m), from fully open.
    fn closed_m(&self) -> f64;

    /// Height of the hand over where it started (m).
    fn height_m(&self) -> f64;

    /// Drives the fingers from now on.
    fn drive_fingers(&mut self, command: FingerCommand);

    /// Moves the hand towards a height (m) over where it started, at a speed (m/s).
    fn move_to(&mut self, height_m: f64, speed_m_per_s: f64);
}
