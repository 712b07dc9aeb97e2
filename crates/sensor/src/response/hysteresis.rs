//! Hysteresis: unloading reads more than loading.

use super::error::require;
use super::{Operation, OperationKind, ResponseError, ResponseState, Stage, Step};
use dermis_geometry::quantity::Force;
use serde::{Deserialize, Serialize};

/// A generalised play operator: rate-independent hysteresis with a loop of known width.
///
/// ```text
/// p ← x                       while the load x rises above p
/// p ← min(p, (1 + η) x + w)   while it falls
/// ```
/// (Visintin 1994, section III.2, with bounds x and (1 + η) x + w.) The first loading is exact. After a reversal the
/// reading stays constant until the load has fallen by the width, then follows (1 + η) x + w: the width of the loop at
/// load x is η x + w. With w = 0 it closes at zero load, as for a rubber after release; otherwise w remains as a
/// residue. From 0 to X and back with w = 0, the area of the loop is η X² / 2(1 + η).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Hysteresis {
    /// η: width of the loop as a fraction of the load.
    #[serde(default)]
    pub fraction: f64,
    /// w: constant part of the width.
    #[serde(default = "none")]
    pub width: Force,
}

fn none() -> Force {
    Force::new(0.0)
}

impl Hysteresis {
    /// Applies one step. `held` stores p of each taxel (N).
    pub fn apply(&self, held: &mut [f64], values: &mut [f64]) {
        let (factor, width) = (1.0 + self.fraction, self.width.si());
        for (p, x) in held.iter_mut().zip(values) {
            *p = p.min(factor * x.max(0.0) + width).max(*x);
            *x = *p;
        }
    }
}

impl Stage for Hysteresis {
    fn validate(&self, _: usize) -> Result<(), ResponseError> {
        require(self.fraction >= 0.0, "hysteresis.fraction", "zero or positive", self.fraction)?;
        require(self.width.si() >= 0.0, "hysteresis.width", "zero or a positive force", self.width.si())
    }

    fn step(&self, values: &mut Vec<f64>, memory: &mut ResponseState, _: &Step) {
        self.apply(&mut memory.held_newton, values);
    }

    fn has_memory(&self) -> bool {
        true
    }

    fn rest(&self, memory: &mut ResponseState, taxels: usize) {
        memory.held_newton = vec![0.0; taxels];
    }

    fn operation(&self, _: usize) -> Option<Operation> {
        let numbers = [1.0 + self.fraction, self.width.si()];
        Some(Operation::new(OperationKind::Hysteresis, &numbers).with_memory(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(model: &Hysteresis, loads: impl IntoIterator<Item = f64>) -> Vec<(f64, f64)> {
        let mut held = [0.0];
        loads
            .into_iter()
            .map(|load| {
                let mut values = [load];
                model.apply(&mut held, &mut values);
                (load, values[0])
            })
            .collect()
    }

    /// Up to X and down in n steps: width η x + w at every load below the reversal, area as derived above.
    #[test]
    fn the_loop_is_as_wide_as_said() {
        let (n, top) = (4000, 2.0);
        let at = |i: i32| top * f64::from(i) / f64::from(n);
        for (fraction, width) in [(0.15, 0.0), (0.0, 0.1), (0.1, 0.05)] {
            let model = Hysteresis { fraction, width: Force::new(width) };
            let curve = run(&model, (0..=n).chain((0..n).rev()).map(at));
            for i in 0..=n as usize {
                let (load, up) = curve[i];
                let down = curve[2 * n as usize - i].1;
                assert_eq!(up, load, "loading is exact");
                let truth = (fraction * load + width).min(top - load);
                assert!((down - up - truth).abs() < 1e-12, "{load}: {} not {truth}", down - up);
            }
            if width == 0.0 {
                let area: f64 = (0..=n as usize).map(|i| curve[2 * n as usize - i].1 - curve[i].1).sum::<f64>() * top
                    / f64::from(n);
                let truth = fraction * top * top / (2.0 * (1.0 + fraction));
                assert!((area / truth - 1.0).abs() < 2.0 / f64::from(n), "{area} {truth}");
            }
        }
    }

    /// Rate-independent: one large step and many small ones give the same result, and a small inner loop has no effect.
    #[test]
    fn only_turning_points_count() {
        let model = Hysteresis { fraction: 0.2, width: Force::new(0.0) };
        let fine = run(&model, (0..=100).chain((50..100).rev()).map(f64::from));
        let coarse = run(&model, [100.0, 50.0]);
        assert_eq!(fine.last().unwrap().1, coarse[1].1);
        let inner = run(&model, [100.0, 90.0, 95.0, 90.0]);
        assert!(inner.iter().all(|point| point.1 == 100.0));
    }
}
