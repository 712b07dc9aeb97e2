//! Loss of sensitivity with use and time.

use super::error::require;
use super::{Operation, OperationKind, ResponseError, ResponseState, Stage, Step};
use dermis_geometry::quantity::{Force, Time};
use serde::{Deserialize, Serialize};

/// Drift of the gain: 1 − L_n (1 − e^(−n/N)) − L_t (1 − e^(−t/T)) after n presses of the taxel and time t.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Ageing {
    /// L_n: asymptotic loss by use.
    #[serde(default)]
    pub loss_by_use: f64,
    /// N: number of presses after which 63 % of L_n is reached.
    #[serde(default = "many")]
    pub presses: f64,
    /// A press is counted when the load of a taxel exceeds this force; the next one only after the load has fallen
    /// below half of it.
    #[serde(default = "light")]
    pub pressed_above: Force,
    /// L_t: asymptotic loss by time.
    #[serde(default)]
    pub loss_by_time: f64,
    /// T: time after which 63 % of L_t is reached.
    #[serde(default = "year")]
    pub time: Time,
}

fn many() -> f64 {
    1e6
}

fn light() -> Force {
    Force::new(0.1)
}

fn year() -> Time {
    Time::new(365.25 * 86400.0)
}

/// Use of one taxel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Use {
    /// Number of presses so far.
    pub presses: u64,
    /// True during a press.
    pub pressed: bool,
}

impl Ageing {
    /// Remaining gain.
    pub fn gain(&self, presses: u64, time_s: f64) -> f64 {
        let by_use = -self.loss_by_use * (-(presses as f64) / self.presses).exp_m1();
        let by_time = -self.loss_by_time * (-time_s / self.time.si()).exp_m1();
        (1.0 - by_use - by_time).max(0.0)
    }

    /// Counts presses and applies the gain to the values (N).
    pub fn apply(&self, uses: &mut [Use], values: &mut [f64], time_s: f64) {
        let above = self.pressed_above.si();
        // Reuses the gain of the previous taxel if the number of presses is the same.
        let (mut presses, mut gain) = (0, self.gain(0, time_s));
        for (taxel, value) in uses.iter_mut().zip(values) {
            if !taxel.pressed && *value > above {
                taxel.presses = taxel.presses.saturating_add(1);
                taxel.pressed = true;
            } else if taxel.pressed && *value < 0.5 * above {
                taxel.pressed = false;
            }
            if taxel.presses != presses {
                (presses, gain) = (taxel.presses, self.gain(taxel.presses, time_s));
            }
            *value *= gain;
        }
    }
}

impl Stage for Ageing {
    fn validate(&self, _: usize) -> Result<(), ResponseError> {
        require(self.loss_by_use <= 1.0, "ageing.loss_by_use", "at most 1", self.loss_by_use)?;
        require(self.loss_by_time <= 1.0, "ageing.loss_by_time", "at most 1", self.loss_by_time)?;
        require(self.presses > 0.0, "ageing.presses", "a positive number", self.presses)?;
        require(self.pressed_above.si() > 0.0, "ageing.pressed_above", "a positive force", self.pressed_above.si())?;
        require(self.time.si() > 0.0, "ageing.time", "a positive time", self.time.si())
    }

    fn step(&self, values: &mut Vec<f64>, memory: &mut ResponseState, step: &Step) {
        self.apply(&mut memory.uses, values, step.end_s());
    }

    fn has_memory(&self) -> bool {
        true
    }

    fn rest(&self, memory: &mut ResponseState, taxels: usize) {
        memory.uses = vec![Use::default(); taxels];
    }

    fn operation(&self, _: usize) -> Option<Operation> {
        let above = self.pressed_above.si();
        let numbers = [self.loss_by_use, self.presses, above, self.loss_by_time, self.time.si()];
        Some(Operation::new(OperationKind::Ageing, &numbers).with_memory(2))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ageing() -> Ageing {
        Ageing {
            loss_by_use: 0.3,
            presses: 100.0,
            pressed_above: Force::new(0.2),
            loss_by_time: 0.2,
            time: Time::new(50.0),
        }
    }

    /// After 100 presses and 50 s: 1 − 0.3 (1 − 1/e) − 0.2 (1 − 1/e). A load that oscillates around the mark is one
    /// press.
    #[test]
    fn presses_and_seconds_wear() {
        let mut uses = [Use::default(); 2];
        let mut last = [0.0; 2];
        for _ in 0..100 {
            for load in [1.0, 0.19, 0.25, 0.0] {
                last = [load, 0.0];
                ageing().apply(&mut uses, &mut last, 50.0);
            }
        }
        assert_eq!((uses[0].presses, uses[1].presses), (100, 0));
        let mut values = [1.0, 0.05];
        ageing().apply(&mut uses, &mut values, 50.0);
        let gone = 1.0 - (-1f64).exp();
        let one_more = 1.0 - (-1.01f64).exp();
        assert!((values[0] - (1.0 - 0.3 * one_more - 0.2 * gone)).abs() < 1e-12);
        assert!((values[1] - 0.05 * (1.0 - 0.2 * gone)).abs() < 1e-12);
        assert_eq!(last, [0.0; 2]);
    }
}
