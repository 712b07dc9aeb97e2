//! Linear viscoelastic relaxation.

use crate::{SkinError, require_positive};
use serde::{Deserialize, Serialize};

/// A Maxwell branch of a relaxation spectrum: a spring in series with a dashpot, parallel to the equilibrium modulus.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Branch {
    /// Modulus of the branch, relative to the equilibrium modulus.
    pub ratio: f64,
    /// τ: relaxation time (s).
    pub time_s: f64,
}

impl Branch {
    /// Checks the ranges of the parameters.
    pub fn validate(&self) -> Result<(), SkinError> {
        require_positive("relaxation.ratio", "1", self.ratio)?;
        require_positive("relaxation.time", "s", self.time_s)
    }

    /// Decay of the stress over a step, and the stress at the end for a strain that grows linearly over the step.
    pub fn over(&self, dt_s: f64) -> (f64, f64) {
        let x = dt_s / self.time_s;
        let left = (-x).exp();
        let held = if x < 1e-5 { 1.0 - 0.5 * x } else { (1.0 - left) / x };
        (left, self.ratio * held)
    }
}

/// Tractions on the cells of a region: along x and y, and pressure (Pa).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Tractions {
    /// Traction along x, along y, and pressure, each row by row.
    pub parts: [Vec<f64>; 3],
}

impl Tractions {
    /// Zero tractions on `cells` cells.
    pub fn zero(cells: usize) -> Self {
        Self { parts: std::array::from_fn(|_| vec![0.0; cells]) }
    }

    /// self += factor · other.
    pub fn add(&mut self, factor: f64, other: &Self) {
        for (mine, theirs) in self.parts.iter_mut().zip(&other.parts) {
            for (mine, theirs) in mine.iter_mut().zip(theirs) {
                *mine += factor * theirs;
            }
        }
    }

    /// self *= factor.
    pub fn scale(&mut self, factor: f64) {
        self.parts.iter_mut().flatten().for_each(|value| *value *= factor);
    }

    /// True if there is no shear.
    pub fn is_shear_free(&self) -> bool {
        self.parts[..2].iter().flatten().all(|&value| value == 0.0)
    }
}

/// A step of a material with constant Poisson's ratio and modulus E(t) = E (1 + Σ rᵢ exp(−t/τᵢ)), quasi-static.
///
/// With s the traction of the equilibrium modulus for the displacement, u = K s, and qᵢ that of branch i,
/// ```text
/// qᵢ' = e^{−dt/τᵢ} qᵢ + rᵢ γᵢ (s' − s),   γᵢ = (1 − e^{−dt/τᵢ}) τᵢ/dt,   p' = s' + Σ qᵢ'
/// ```
/// exact for a strain that grows linearly over the step. Hence p' = ê s' + past with ê = 1 + Σ rᵢγᵢ, and u' = K (p' −
/// past)/ê: the elastic problem with a known additional displacement.
#[derive(Clone, Debug)]
pub struct RelaxationStep {
    /// ê: stiffness over the step, relative to the equilibrium stiffness.
    pub stiffness: f64,
    /// past/ê on the region of the state.
    pub past: Tractions,
    over: Vec<(f64, f64)>,
}

impl RelaxationStep {
    /// The branches over `dt_s`, or over an infinite time for `None`.
    pub fn new(branches: &[Branch], dt_s: Option<f64>, lasting: &Tractions, held: &[Tractions]) -> Self {
        let over: Vec<(f64, f64)> =
            branches.iter().map(|branch| dt_s.map_or((0.0, 0.0), |dt_s| branch.over(dt_s))).collect();
        let stiffness = 1.0 + over.iter().map(|(_, held)| held).sum::<f64>();
        let mut past = Tractions::zero(lasting.parts[0].len());
        for ((left, gain), held) in over.iter().zip(held) {
            past.add(*left, held);
            past.add(-gain, lasting);
        }
        past.scale(1.0 / stiffness);
        Self { stiffness, past, over }
    }

    /// Tractions of the branches after a step in which the equilibrium traction changes from `before` to `after`.
    pub fn finish(&self, before: &Tractions, after: &Tractions, held: &[Tractions]) -> Vec<Tractions> {
        let next = |((left, gain), held): (&(f64, f64), &Tractions)| {
            let mut next = held.clone();
            next.scale(*left);
            next.add(*gain, after);
            next.add(-gain, before);
            next
        };
        self.over.iter().zip(held).map(next).collect()
    }
}
