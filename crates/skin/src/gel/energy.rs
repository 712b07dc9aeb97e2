//! Kinetic and strain energy.

use super::elasticity::rotation;
use super::{Constitution, GelParameters};
use crate::Warning;
use dermis_geometry::Vec3;
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

/// Kinetic divided by strain energy above which a press is not quasi-static.
const QUASI_STATIC: f64 = 0.01;

impl Energy {
    /// A warning if the gel is not at rest.
    pub(crate) fn warning(&self) -> Option<Warning> {
        (self.ratio() > QUASI_STATIC).then(|| Warning::NotQuasiStatic { ratio: self.ratio() })
    }
}

/// Cauchy stress vector (Pa) on a plane z = const for a deformation gradient (row by row); zero if it is inverted.
pub(crate) fn stress_on_z_pa(parameters: &GelParameters, f: &[f32; 9]) -> Vec3 {
    let (lambda, mu) = parameters.lame_pa();
    let f: [[f64; 3]; 3] = std::array::from_fn(|i| std::array::from_fn(|j| f64::from(f[3 * i + j])));
    let rows = f.map(Vec3::from_array);
    let j = rows[0].dot(rows[1].cross(rows[2]));
    let shear = match parameters.constitution {
        Constitution::NeoHookean => Vec3::from_array(rows.map(|row| row.dot(rows[2]))) - Vec3::Z,
        Constitution::FixedCorotated => {
            let r = rotation(&f).map(Vec3::from_array);
            Vec3::from_array(std::array::from_fn(|a| 2.0 * (rows[a] - r[a]).dot(rows[2])))
        }
        Constitution::Linear => Vec3::from_array(std::array::from_fn(|a| f[a][2])) + rows[2] - 2.0 * Vec3::Z,
    };
    let bulk = match parameters.constitution {
        Constitution::Linear => lambda * (f[0][0] + f[1][1] + f[2][2] - 3.0),
        _ => lambda * j * (j - 1.0),
    };
    let volume = if parameters.constitution == Constitution::Linear { 1.0 } else { j };
    if j > 0.0 { (shear * mu + Vec3::Z * bulk) / volume } else { Vec3::ZERO }
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
