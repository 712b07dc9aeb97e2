//! Drift of the reading under a steady load.

use super::error::require;
use super::stage::Slot;
use super::{Operation, OperationKind, ResponseError, ResponseState, Stage, Step};
use dermis_geometry::quantity::Time;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// One relaxation of a viscoelastic cover: y = x + Σ a s with ṡ = (x − s)/τ for every term.
///
/// A load x applied at t = 0 reads x (1 + Σ a (1 − e^(−t/τ))); the reading rises for a > 0 and relaxes for a < 0. The
/// load is constant over a step and s is integrated exactly, so the result does not depend on the step.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Creep {
    /// Amplitude a: final change of the reading, as a fraction of the load.
    pub amplitude: f64,
    /// Time constant τ.
    pub time: Time,
}

impl Creep {
    /// Reading of a unit load after `time_s`.
    pub fn step_response(terms: &[Self], time_s: f64) -> f64 {
        1.0 + terms.iter().map(|term| -term.amplitude * (-time_s / term.time.si()).exp_m1()).sum::<f64>()
    }

    /// Advances all terms by one step. `slow` holds s of every taxel (N), term by term.
    pub fn apply(terms: &[Self], slow: &mut [f64], values: &mut [f64], dt_s: f64) {
        let loads = values.to_vec();
        for (term, slow) in terms.iter().zip(slow.chunks_exact_mut(loads.len().max(1))) {
            let taken = -(-dt_s / term.time.si()).exp_m1();
            for ((s, load), value) in slow.iter_mut().zip(&loads).zip(values.iter_mut()) {
                *s += (load - *s) * taken;
                *value += term.amplitude * *s;
            }
        }
    }
}

impl Slot for Vec<Creep> {
    fn stage(&self) -> Option<Arc<dyn Stage>> {
        (!self.is_empty()).then(|| Arc::new(self.clone()) as Arc<dyn Stage>)
    }
}

impl Stage for Vec<Creep> {
    fn validate(&self, _: usize) -> Result<(), ResponseError> {
        self.iter().try_for_each(|term| {
            require(term.amplitude > -1.0, "creep.amplitude", "more than -1", term.amplitude)?;
            require(term.time.si() > 0.0, "creep.time", "a positive time", term.time.si())
        })
    }

    fn step(&self, values: &mut Vec<f64>, memory: &mut ResponseState, step: &Step) {
        Creep::apply(self, &mut memory.slow_newton, values, step.dt_s);
    }

    fn has_memory(&self) -> bool {
        true
    }

    fn rest(&self, memory: &mut ResponseState, taxels: usize) {
        memory.slow_newton = vec![0.0; taxels * self.len()];
    }

    fn operation(&self, _: usize) -> Option<Operation> {
        let numbers: Vec<f64> = self.iter().flat_map(|term| [term.amplitude, term.time.si()]).collect();
        Some(Operation::new(OperationKind::Creep, &numbers).with_memory(self.len()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The response to a load step matches the closed form for any step length, and so does the recovery.
    #[test]
    fn relaxation_has_the_closed_form() {
        let terms = [(0.12, 0.8), (-0.05, 6.0)].map(|(amplitude, tau)| Creep { amplitude, time: Time::new(tau) });
        for n in [1, 7, 1000] {
            let mut slow = [0.0; 4];
            let mut values = [0.0; 2];
            for _ in 0..n {
                values = [1.5, 0.0];
                Creep::apply(&terms, &mut slow, &mut values, 2.0 / f64::from(n));
            }
            let truth = 1.5 * (1.0 + 0.12 * (1.0 - (-2.5f64).exp()) - 0.05 * (1.0 - (-1.0f64 / 3.0).exp()));
            assert!((values[0] - truth).abs() < 1e-12, "{n}: {} {truth}", values[0]);
            assert_eq!(values[1], 0.0);
            assert!((1.5 * Creep::step_response(&terms, 2.0) - truth).abs() < 1e-14);
            let mut off = [0.0; 2];
            Creep::apply(&terms, &mut slow, &mut off, 0.8);
            let left = 1.5 * (0.12 * (1.0 - (-2.5f64).exp()) * (-1f64).exp())
                - 1.5 * 0.05 * (1.0 - (-1.0f64 / 3.0).exp()) * (-0.8f64 / 6.0).exp();
            assert!((off[0] - left).abs() < 1e-12);
        }
    }
}
