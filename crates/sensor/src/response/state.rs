//! What a response remembers between steps.

use super::{Frame, Use};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// The history of a device: clone it to branch, serialise it to resume. Made by [`super::Chain::rest`]; what a chain does
/// not need stays empty.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ResponseState {
    /// Time since rest (s).
    pub time_s: f64,
    /// Steps since rest.
    pub step: u64,
    /// The load each taxel's hysteresis holds (N).
    pub held_newton: Vec<f64>,
    /// The slow part of each taxel's creep (N), term by term.
    pub slow_newton: Vec<f64>,
    /// How each taxel has been used.
    pub uses: Vec<Use>,
    /// Each taxel's last sample (N).
    pub sampled_newton: Vec<f64>,
    /// Frames on their way.
    pub on_their_way: VecDeque<Frame>,
}
