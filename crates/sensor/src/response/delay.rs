//! Delays the reading by a fixed time.

use super::error::require;
use super::{Operation, OperationKind, ResponseError, ResponseState, Stage, Step};
use dermis_geometry::quantity::Time;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// A transport delay: the output is the input `time` ago, and zero before that.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Delay {
    /// The delay.
    pub time: Time,
}

/// Values in transit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DelayedFrame {
    /// Time at which the values were sent (s).
    pub sent_s: f64,
    /// The values (N).
    pub newton: Vec<f64>,
}

/// Tolerance of times (s): allows for rounding, as times are sums of steps.
const SAME_TIME: f64 = 1e-9;

impl Delay {
    /// Queues the values at `now_s` and replaces them by those that have arrived. The first entry of `queue` arrived
    /// last; values that do not change are queued once.
    pub fn apply(&self, queue: &mut VecDeque<DelayedFrame>, values: &mut [f64], now_s: f64) {
        if queue.back().is_none_or(|last| last.newton != values) {
            queue.push_back(DelayedFrame { sent_s: now_s, newton: values.to_vec() });
        }
        let arrived = |frame: &DelayedFrame| frame.sent_s + self.time.si() <= now_s + SAME_TIME;
        while queue.get(1).is_some_and(arrived) {
            queue.pop_front();
        }
        match queue.front().filter(|frame| arrived(frame)) {
            Some(frame) => values.copy_from_slice(&frame.newton),
            None => values.fill(0.0),
        }
    }
}

impl Stage for Delay {
    fn validate(&self, _: usize) -> Result<(), ResponseError> {
        require(self.time.si() >= 0.0, "delay.time", "zero or a positive time", self.time.si())
    }

    fn step(&self, values: &mut Vec<f64>, memory: &mut ResponseState, step: &Step) {
        self.apply(&mut memory.on_their_way, values, step.end_s());
    }

    fn has_memory(&self) -> bool {
        true
    }

    fn operation(&self, _: usize) -> Option<Operation> {
        Some(Operation::new(OperationKind::Delay, &[self.time.si()]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 50 ms at steps of 10 ms is five steps; at 12 ms the output is the latest frame at least 50 ms old.
    #[test]
    fn values_arrive_when_they_should() {
        for (dt, late) in [(0.010, 5), (0.0125, 4), (0.012, 5)] {
            let mut queue = VecDeque::new();
            let mut now = 0.0;
            for step in 1..100 {
                now += dt;
                let mut values = [f64::from(step)];
                Delay { time: Time::new(0.050) }.apply(&mut queue, &mut values, now);
                assert_eq!(values[0], f64::from((step - late).max(0)), "{dt}: {step}");
            }
            assert!(queue.len() <= 7);
        }
    }

    #[test]
    fn no_delay_is_none() {
        let mut queue = VecDeque::new();
        for value in [1.0, 3.0, 3.0, 2.0] {
            let mut values = [value];
            Delay { time: Time::new(0.0) }.apply(&mut queue, &mut values, value);
            assert_eq!(values[0], value);
        }
    }
}
