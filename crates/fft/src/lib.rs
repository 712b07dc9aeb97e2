//! Plans of fast Fourier transforms by rustfft and realfft.
//!
//! Their generic code is compiled by the crate that names a number type: here, once for `f32` and `f64`, instead of two thirds of what
//! `dermis-skin` compiles to, in each of its builds.

use realfft::{ComplexToReal, RealFftPlanner, RealToComplex};
use rustfft::{Fft, FftNum, FftPlanner};
use std::sync::Arc;

pub use rustfft::num_complex;

/// Floating-point type of transforms.
pub trait Precision: FftNum + Into<f64> {
    /// Converts from `f64`.
    fn of(value: f64) -> Self;

    /// Plans the transforms of a grid.
    fn plan(rows: usize, cols: usize) -> Plan<Self>;
}

/// Transforms along the rows of a real grid, across the rows of its spectrum, and back.
pub struct Plan<T> {
    /// A row of the grid to its half spectrum.
    pub along: Arc<dyn RealToComplex<T>>,
    /// A half spectrum to its row.
    pub along_back: Arc<dyn ComplexToReal<T>>,
    /// A column of the spectrum.
    pub across: Arc<dyn Fft<T>>,
    /// The inverse of `across`.
    pub across_back: Arc<dyn Fft<T>>,
}

macro_rules! precision {
    ($($number:ty)*) => {
        $(impl Precision for $number {
            fn of(value: f64) -> Self {
                value as $number
            }

            fn plan(rows: usize, cols: usize) -> Plan<Self> {
                let (mut real, mut complex) = (RealFftPlanner::new(), FftPlanner::new());
                Plan {
                    along: real.plan_fft_forward(cols),
                    along_back: real.plan_fft_inverse(cols),
                    across: complex.plan_fft_forward(rows),
                    across_back: complex.plan_fft_inverse(rows),
                }
            }
        })*
    };
}
precision!(f32 f64);

#[cfg(test)]
mod tests {
    use super::*;

    /// There and back a number is multiplied by the number of cells.
    fn round_trip<T: Precision>(max_error: f64) {
        let (rows, cols) = (6, 10);
        let plan = T::plan(rows, cols);
        let mut row: Vec<T> = (0..cols).map(|i| T::of((i as f64).sin())).collect();
        let original = row.clone();
        let mut half = plan.along.make_output_vec();
        plan.along.process(&mut row, &mut half).unwrap();
        let mut columns: Vec<_> = half.iter().flat_map(|value| vec![*value; rows]).collect();
        plan.across.process(&mut columns);
        plan.across_back.process(&mut columns);
        let mut back: Vec<_> = columns.iter().step_by(rows).copied().collect();
        plan.along_back.process(&mut back, &mut row).unwrap();
        for (there, back) in original.iter().zip(&row) {
            let (there, back): (f64, f64) = ((*there).into(), (*back).into());
            assert!((back / (rows * cols) as f64 - there).abs() < max_error, "{there} {back}");
        }
    }

    #[test]
    fn transforms_there_and_back_are_the_identity() {
        round_trip::<f64>(1e-15);
        round_trip::<f32>(1e-6);
    }
}
