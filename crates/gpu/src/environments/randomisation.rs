//! Parameters that differ from environment to environment: domain randomisation.

use super::view::View;
use crate::GpuError;
use crate::cuda_struct::cuda_struct;
use crate::program::{COMMON, Program, UNFUSED};
use dermis_geometry::{Pose, Quat, Vec3, mixed};
use dermis_sensor::Weights;
use dermis_sensor::response::{Chain, OperationKind, Scales};

/// Number of parameters.
pub const PARAMETERS: usize = 12;

/// Names of the parameters in the order of their values, as in randomisation.cuh; a position and a rotation have three values each.
pub const PARAMETER_NAMES: [&str; 8] =
    ["stiffness", "friction", "gain", "threshold", "noise", "spread", "position", "rotation"];

cuda_struct! {
    /// Ranges of parameters, from which each environment draws its own when it is made and at each reset.
    ///
    /// The first six are factors on the parameters of the sensor: `stiffness` scales all forces of the skin, as a skin that
    /// is so many times as stiff, damped and viscous; `friction` its friction coefficients (springs only); `gain`, `threshold`
    /// and `noise` those stages of the response; `spread` the load that its cover passes to neighbours. `position` (m) and
    /// `rotation` (rotation vector, rad) move the sensor in its frame. Seed, environment and number of resets determine
    /// each draw.
    #[derive(PartialEq)]
    pub struct Randomisation {
        /// Lower and upper end of every parameter.
        ranges: [[f64; 2]; 12],
        /// Seed of the draws.
        seed: u64,
    }
}

impl Randomisation {
    /// Every environment equals the sensor.
    pub fn new(seed: u64) -> Self {
        let mut ranges = [[0.0; 2]; PARAMETERS];
        ranges[..6].fill([1.0; 2]);
        Self { ranges, seed }
    }

    /// Sets the range of the parameter with that name.
    pub fn set(&mut self, name: &str, [low, high]: [f64; 2]) -> Result<(), GpuError> {
        let refuse = |reason: String| Err(GpuError::BadInput { reason });
        let Some(index) = PARAMETER_NAMES.iter().position(|known| *known == name) else {
            return refuse(format!("there is no parameter {name:?} to randomise; it is one of {PARAMETER_NAMES:?}"));
        };
        if !(low.is_finite() && high.is_finite() && low <= high) {
            return refuse(format!(
                "the range of {name:?} must be two finite numbers, the lower first, got [{low}, {high}]"
            ));
        }
        if index < 6 && low < 0.0 {
            return refuse(format!("{name:?} is a factor: its range must not be below 0, got [{low}, {high}]"));
        }
        match index {
            6 | 7 => self.ranges[3 * index - 12..][..3].fill([low, high]),
            _ => self.ranges[index] = [low, high],
        }
        Ok(())
    }

    /// Refuses parameters that the sensor does not have.
    pub(super) fn check(&self, chain: &Chain, has_friction: bool) -> Result<(), GpuError> {
        let operations = chain.operations().unwrap_or_default();
        let has = |kind: OperationKind| operations.iter().any(|operation| operation.kind == kind);
        let stages = [OperationKind::Gain, OperationKind::Threshold, OperationKind::Noise, OperationKind::Spread];
        let absent = |name: &str, what: &str| {
            Err(GpuError::BadInput { reason: format!("{name:?} cannot be randomised: the sensor has no {what}") })
        };
        if self.is_set(1) && !has_friction {
            return absent("friction", "springs with friction");
        }
        for (index, kind) in (2..).zip(stages) {
            let name = PARAMETER_NAMES[index];
            if self.is_set(index) && !has(kind) {
                return absent(name, &format!("[response.{name}]"));
            }
        }
        // A taxel keeps a part w of its load, and 1 − f (1 − w) with a factor f.
        let spread = operations.iter().find(|operation| operation.kind == OperationKind::Spread);
        let kept = |weights: &Weights| (0..weights.taxels()).map(|taxel| weights.get(taxel, taxel)).fold(1.0, f64::min);
        let most =
            spread.and_then(|spread| spread.weights.as_ref()).map_or(f64::INFINITY, |all| 1.0 / (1.0 - kept(all)));
        let [low, high] = self.ranges[5];
        if self.is_set(5) && high > most {
            let reason = format!(
                "\"spread\" multiplies the part of its load that a taxel passes on; with more than {most:.4} a taxel of this sensor passes on more than its load, got the range [{low}, {high}]"
            );
            return Err(GpuError::BadInput { reason });
        }
        Ok(())
    }

    /// True if the parameter is not that of the sensor.
    fn is_set(&self, index: usize) -> bool {
        self.ranges[index] != if index < 6 { [1.0; 2] } else { [0.0; 2] }
    }

    /// True if friction differs.
    pub(super) fn changes_friction(&self) -> bool {
        self.is_set(1)
    }

    /// The parameters of an environment after so many resets.
    pub(super) fn draw(&self, environment: usize, resets: u64) -> [f64; PARAMETERS] {
        let base = mixed(mixed(self.seed ^ mixed(environment as u64)) ^ mixed(resets));
        let mut number = 0;
        self.ranges.map(|[low, high]| {
            let bits = mixed(base ^ number) >> 11;
            number += 1;
            low + (high - low) * (bits as f64 / (1u64 << 53) as f64)
        })
    }
}

const SOURCE: &[&str] = &[
    COMMON,
    View::CUDA,
    Randomisation::CUDA,
    include_str!("../cuda/view.cuh"),
    super::RANDOMISATION,
    include_str!("randomisation.cu"),
];

/// The kernel that draws parameters anew.
pub(super) fn program() -> Program {
    Program::new("environments-randomisation", SOURCE, &[UNFUSED])
}

/// Scales of the response, from the parameters of an environment.
pub(super) fn scales(p: &[f64; PARAMETERS]) -> Scales {
    Scales { gain: p[2], threshold: p[3], noise: p[4], spread: p[5] }
}

/// Displacement of the sensor in its frame, from the parameters of an environment.
pub(super) fn displacement(p: &[f64; PARAMETERS]) -> Pose {
    Pose::new(Quat::from_scaled_axis(Vec3::new(p[9], p[10], p[11])), Vec3::new(p[6], p[7], p[8]))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Uniform in the range (mean to 4 standard errors), different for environments, resets and seeds, and reproducible.
    #[test]
    fn draws_are_uniform_and_independent() {
        let mut ranges = Randomisation::new(3);
        ranges.set("stiffness", [0.5, 1.5]).unwrap();
        ranges.set("position", [-1e-3, 1e-3]).unwrap();
        let n = 20_000;
        let draws: Vec<_> = (0..n).map(|i| ranges.draw(i, 0)).collect();
        let mean = draws.iter().map(|p| p[0]).sum::<f64>() / n as f64;
        let together = draws.iter().map(|p| (p[0] - 1.0) * p[6] * 1e3).sum::<f64>() / n as f64;
        let error = (1.0f64 / 12.0 / n as f64).sqrt();
        assert!((mean - 1.0).abs() < 4.0 * error && together.abs() < 4.0 * error, "{mean} {together}");
        assert!(draws.iter().all(|p| (0.5..1.5).contains(&p[0]) && p[1] == 1.0 && p[9] == 0.0));
        assert_ne!(draws[0], draws[1]);
        assert_ne!(draws[0], ranges.draw(0, 1));
        assert_ne!(draws[0], Randomisation { seed: 4, ..ranges }.draw(0, 0));
    }

    #[test]
    fn wrong_ranges_are_refused_by_name() {
        let mut ranges = Randomisation::new(0);
        for (name, range, text) in [
            ("stifness", [1.0, 2.0], "no parameter \"stifness\""),
            ("gain", [2.0, 1.0], "the lower first"),
            ("noise", [-1.0, 1.0], "is a factor"),
            ("position", [f64::NAN, 0.0], "finite"),
        ] {
            let refusal = ranges.set(name, range).unwrap_err().to_string();
            assert!(refusal.contains(text), "{refusal}");
        }
        assert_eq!(ranges, Randomisation::new(0));
    }
}
