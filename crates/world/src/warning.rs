//! Warnings of a world: loads that no sensor reads, and bodies that are lost.

use serde::{Deserialize, Serialize};

/// A reason why the readings of a run do not tell the whole story. Its message is one sentence.
#[derive(Clone, Debug, PartialEq, thiserror::Error, Serialize, Deserialize)]
#[allow(missing_docs, reason = "the message of each variant names its fields")]
pub enum WorldWarning {
    /// A skin is pressed to its base, which carries a load that the sensor does not read.
    #[error(
        "{body:?} presses the skin of {sensor:?} to its base ({depth_mm:.3} mm) at t = {time_s:.4} s: the base carries up to {peak_newton:.3} N in a time step, which the sensor does not read"
    )]
    BottomedOut { sensor: String, body: String, depth_mm: f64, time_s: f64, peak_newton: f64 },
    /// An object rests on the sensor and on its carrier.
    #[error(
        "{body:?} rests on {carrier:?} beside the skin of {sensor:?} from t = {time_s:.4} s: the carrier takes up to {peak_newton:.3} N in a time step, which the sensor does not read; a sensor that stands out of its carrier carries the whole load"
    )]
    Beside { sensor: String, body: String, carrier: String, time_s: f64, peak_newton: f64 },
    /// An object went through a skin and its base.
    #[error(
        "{body:?} passed through {sensor:?} at t = {time_s:.4} s: a body that is `solid` would stop at its base, or take a shorter `time_step`"
    )]
    PassedThrough { body: String, sensor: String, time_s: f64 },
    /// A bounce within a few steps, with the forces of the end of the step.
    #[error(
        "{body:?} bounced off {sensor:?} within {steps} time steps at t = {time_s:.4} s: implicit coupling takes up to {lost_percent:.0} % of its speed; take a `time_step` of at most {step_s:.1e} s"
    )]
    FewSteps { body: String, sensor: String, steps: u64, lost_percent: f64, time_s: f64, step_s: f64 },
    /// Energy that nothing in a run explains.
    #[error(
        "the energy balance has a residual of {residual_mj:+.3e} mJ, {percent:+.1} % of the largest energy ({largest_mj:.3e} mJ), at t = {time_s:.4} s: the error of the time steps; take a shorter `time_step`, and a smaller pitch of contact points if that does not help"
    )]
    EnergyResidual { residual_mj: f64, percent: f64, largest_mj: f64, time_s: f64 },
    /// A solid body has sunk into another one.
    #[error(
        "{body:?} has sunk by {depth_mm:.3} mm into {other} at t = {time_s:.4} s: the load on a light body, or the `time_step`, is large for the contact of solids; take a shorter `time_step` or a higher `solid_frequency`"
    )]
    Sunk { body: String, other: String, depth_mm: f64, time_s: f64 },
    /// A body is far from all others.
    #[error("{body:?} left the scene at t = {time_s:.4} s: nothing holds it")]
    Left { body: String, time_s: f64 },
}

impl WorldWarning {
    /// True if a body is lost: the rest of the run does not show what the scene describes.
    pub fn is_loss(&self) -> bool {
        matches!(self, Self::PassedThrough { .. } | Self::Left { .. })
    }

    /// The time (s) of its first occurrence.
    pub fn time_s(&self) -> f64 {
        match self {
            Self::BottomedOut { time_s, .. }
            | Self::Beside { time_s, .. }
            | Self::PassedThrough { time_s, .. }
            | Self::Sunk { time_s, .. }
            | Self::FewSteps { time_s, .. }
            | Self::EnergyResidual { time_s, .. }
            | Self::Left { time_s, .. } => *time_s,
        }
    }
}
