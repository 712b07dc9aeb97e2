//! Kinetic and strain energy.

use super::elasticity::rotation;
use super::{Constitution, GelParameters};
use serde::{Deserialize, Serialize};

/// Energies of a gel; their ratio measures the deviation from quasi-static motion.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Energy {
    /// Kinetic energy (J), including mass scaling.
    pub kinetic_j: f64,
    /// Strain energy (J).
    pub strain_j: f64,
}

impl Energy {
    /// Kinetic divided by strain energy; 0 at rest.
    pub fn ratio(&self) -> f64 {
        if self.kinetic_j > 0.0 { self.kinetic_j / self.strain_j.max(f64::MIN_POSITIVE) } else { 0.0 }
    }
}

/// Strain energy density (J/m³) of a deformation gradient (row by row).
pub(crate) fn density_j_per_m3(parameters: &GelParameters, f: &[f32; 9]) -> f64 {
    let (lambda, mu) = parameters.lame_pa();
    let f: [[f64; 3]; 3] = std::array::from_fn(|i| std::array::from_fn(|j| f64::from(f[3 * i + j])));
    let minor = |a: usize, b: usize| f[1][a] * f[2][b] - f[1][b] * f[2][a];
    let j = f[0][0] * minor(1, 2) - f[0][1] * minor(0, 2) + f[0][2] * minor(0, 1);
    let bulk = 0.5 * lambda * (j - 1.0) * (j - 1.0);
    let squared: f64 = f.iter().flatten().map(|x| x * x).sum();
    match parameters.constitution {
        Constitution::NeoHookean => 0.5 * mu * (squared - 3.0) - mu * j.ln() + bulk,
        Constitution::FixedCorotated => {
            let r = rotation(&f);
            let deviation: f64 = f.iter().flatten().zip(r.iter().flatten()).map(|(f, r)| (f - r) * (f - r)).sum();
            mu * deviation + bulk
        }
        Constitution::Linear => {
            let mut sum = 0.0;
            let mut trace = 0.0;
            for a in 0..3 {
                trace += f[a][a] - 1.0;
                for b in 0..3 {
                    let strain = 0.5 * (f[a][b] + f[b][a]) - if a == b { 1.0 } else { 0.0 };
                    sum += mu * strain * strain;
                }
            }
            sum + 0.5 * lambda * trace * trace
        }
    }
}
