//! Stages in plain numbers, for devices that do not run this code.

use crate::Weights;

/// One stage in plain numbers: all that a GPU needs to apply it to the value x (N) of a taxel.
#[derive(Clone, Debug, PartialEq)]
pub struct Operation {
    /// What it computes.
    pub kind: OperationKind,
    /// Numbers that all taxels share.
    pub numbers: Vec<f64>,
    /// Numbers of the taxels, list by list.
    pub per_taxel: Vec<Vec<f64>>,
    /// Matrix over the taxels.
    pub weights: Option<Weights>,
    /// Numbers of memory per taxel, zero at rest.
    pub memory: usize,
    /// Why a GPU cannot apply it, if it cannot.
    pub cpu_only: Option<&'static str>,
}

/// Kinds of operations with their numbers; numbered as in the CUDA kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OperationKind {
    /// x ← Σ w x, and the scale of the spread blends x with that.
    Spread = 0,
    /// x ← Σ w x.
    Crosstalk = 1,
    /// [`super::Hysteresis`]: 1 + η, w. Memory: the load held.
    Hysteresis = 2,
    /// [`super::Creep`]: amplitude and time constant (s) of each term. Memory: the slow part of each term.
    Creep = 3,
    /// [`super::Ageing`]: L_n, N, threshold of a press (N), L_t, T (s). Memory: presses, 1 during a press.
    Ageing = 4,
    /// x ← g x + o. Per taxel: g, o.
    Gain = 5,
    /// [`super::Threshold`]: 1 to subtract it. Per taxel: the threshold (N).
    Threshold = 6,
    /// [`super::Curve::Linear`]: slope.
    Linear = 7,
    /// [`super::Curve::Polynomial`]: end (N), c_1, c_2, ….
    Polynomial = 8,
    /// [`super::Curve::Power`]: exponent, scale (N).
    Power = 9,
    /// [`super::Curve::Sigmoid`]: exponent, limit (N).
    Sigmoid = 10,
    /// [`super::Curve::Table`]: loads, then readings (N).
    Table = 11,
    /// x ← min(x, limit). Per taxel: the limit (N).
    Saturation = 12,
    /// [`super::Noise`]: sd (N), relative sd, low and high half of the seed.
    Noise = 13,
    /// Per taxel: the constant reading (N), NaN for a sound taxel.
    Faults = 14,
    /// [`super::Sampling`]: rate (Hz). Per taxel: phase.
    Sampling = 15,
    /// [`super::Delay`]: time (s).
    Delay = 16,
    /// Rounds to counts: counts per newton, largest count.
    Counts = 17,
}

impl Operation {
    /// An operation with numbers that all taxels share, without memory.
    pub fn new(kind: OperationKind, numbers: &[f64]) -> Self {
        Self { kind, numbers: numbers.to_vec(), per_taxel: Vec::new(), weights: None, memory: 0, cpu_only: None }
    }

    /// The operation with lists of numbers of the taxels.
    pub fn per_taxel(self, per_taxel: Vec<Vec<f64>>) -> Self {
        Self { per_taxel, ..self }
    }

    /// The operation with memory.
    pub fn with_memory(self, memory: usize) -> Self {
        Self { memory, ..self }
    }

    /// A sum over taxels.
    pub fn sum(kind: OperationKind, weights: &Weights) -> Self {
        Self { weights: Some(weights.clone()), ..Self::new(kind, &[]) }
    }
}
