//! Relaxation of a layer over a step, in the layout of the kernels.
//!
//! The CPU keeps the traction qᵢ of each branch of the relaxation spectrum. The GPU keeps the displacement vᵢ = K qᵢ of the
//! surface by it: as the products with K are linear, with u = K s (see [`dermis_skin::layer::Branch`])
//! ```text
//! vᵢ' = e^{−dt/τᵢ} vᵢ + rᵢγᵢ (u' − u),   u' = K p'/ê − past,   past = Σ (e^{−dt/τᵢ} vᵢ − rᵢγᵢ u)/ê
//! ```
//! so that a step needs no further products. Kernels solve for p'/ê, and the loads are multiplied by ê.

use crate::cuda_struct::{PtrMut, cuda_struct};
use dermis_skin::layer::Branch;

/// Maximum number of branches: the length of the arrays of [`RelaxationStep`].
pub(crate) const MAX_BRANCHES: usize = 16;

/// Source of the kernels' relaxation.
pub(super) const SOURCE: &str = include_str!("relaxation.cuh");

cuda_struct! {
    /// The branches during a step: e^{−dt/τᵢ} vᵢ − rᵢγᵢ u (m) along x, y and down, (n, branches, 3, cells), and 1/ê.
    pub(super) struct Branches {
        held: PtrMut<f64>,
        softness: f64,
        count: i32,
        unused: i32,
    }
}

cuda_struct! {
    /// The branches over a step: e^{−dt/τᵢ} and rᵢγᵢ of each.
    pub(super) struct RelaxationStep {
        pub branches: Branches,
        left: [f64; 16],
        gain: [f64; 16],
    }
}

impl Branches {
    /// Those of an elastic layer.
    pub const NONE: Self = Self { held: PtrMut::new(0), softness: 1.0, count: 0, unused: 0 };
}

impl RelaxationStep {
    /// At most [`MAX_BRANCHES`] branches over `dt_s`, with their displacements at `held`.
    pub fn new(branches: &[Branch], dt_s: f64, held: PtrMut<f64>) -> Self {
        let (mut left, mut gain) = ([0.0; MAX_BRANCHES], [0.0; MAX_BRANCHES]);
        for (i, branch) in branches.iter().enumerate() {
            (left[i], gain[i]) = branch.over(dt_s);
        }
        let softness = 1.0 / (1.0 + gain.iter().sum::<f64>());
        Self { branches: Branches { held, softness, count: branches.len() as i32, unused: 0 }, left, gain }
    }

    /// ê: stiffness over the step, relative to the equilibrium stiffness.
    pub fn stiffness(&self) -> f64 {
        1.0 / self.branches.softness
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dermis_geometry::{HeightField, Twist, Vec3};
    use dermis_skin::layer::{IndenterHeightMap, LayerContact, Ply, Poisson};
    use dermis_skin::{Layer, LayerParameters, Skin};

    /// The displacements of the branches alone give the surface that the CPU computes from their tractions after an object that
    /// pressed and sheared it has left.
    #[test]
    fn an_imprint_recovers_as_on_the_cpu() {
        let ply = Ply { thickness_m: 2e-3, young_pa: 2e5, poisson: Poisson::Ratio(0.45) };
        let branches = vec![Branch { ratio: 0.8, time_s: 5e-3 }, Branch { ratio: 0.3, time_s: 50e-3 }];
        let mut parameters = LayerParameters::new(ply, [12e-3; 2], 0.25e-3);
        parameters.contact = LayerContact { mu: 0.5, tolerance: 1e-7 };
        (parameters.relaxation, parameters.max_increments) = (branches.clone(), 1);
        let layer = Layer::new(parameters).unwrap();
        let dt_s = 4e-3;
        let RelaxationStep { branches: Branches { softness, .. }, left, gain } =
            RelaxationStep::new(&branches, dt_s, PtrMut::new(0));
        let mut state = layer.rest();
        let mut surface = vec![0.0; 3 * layer.grid().rows * layer.grid().cols];
        let mut held = vec![surface.clone(); branches.len()];
        for step in 0..12 {
            let (depth, x0) = (if step < 6 { 1.5e-4 } else { -1.0 }, 5e-5 * f64::from(step));
            let ball = |x: f64, y: f64| ((x - x0).powi(2) + y * y) / 10e-3 - depth;
            let indenter = IndenterHeightMap::of_heights(&HeightField::from_fn(layer.grid(), ball));
            let velocity = Twist { linear: Vec3::new(5e-5 / dt_s, 0.0, 0.0), angular: Vec3::ZERO };
            let solution = layer.solve_under(&state, &indenter, &velocity, Some(dt_s)).unwrap();
            state = dermis_skin::State::Layer(solution.state);
            let next = solution.surface_m.concat();
            let largest = next.iter().fold(0.0f64, |largest, u| largest.max(u.abs()));
            for k in 0..next.len() {
                let mut past = 0.0;
                for (b, held) in held.iter_mut().enumerate() {
                    held[k] = left[b] * held[k] - gain[b] * surface[k];
                    past += softness * held[k];
                    held[k] += gain[b] * next[k];
                }
                let error = (next[k] + past).abs() / largest;
                assert!(step < 6 || error < 1e-7, "step {step}, number {k}: {:e} and {:e} m", next[k], -past);
            }
            assert!(largest > 1e-5);
            surface = next;
        }
    }
}
