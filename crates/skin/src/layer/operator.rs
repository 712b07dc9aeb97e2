//! Normal compliance of a region, and an approximate inverse as a preconditioner.

use super::fourier::{Fourier, Scratch, Spectrum};
use super::kernel::Pair;
use super::product::{Influences, Product};
use dermis_fft::Precision;
use dermis_fft::num_complex::Complex;

/// Transforms of one size with the spectra of the normal compliance and of its approximate inverse.
#[derive(Debug)]
pub struct Operator<T: Precision> {
    whole: Fourier<T>,
    compliance: Spectrum<T>,
    half: Fourier<T>,
    inverse: Spectrum<T>,
}

/// Buffers of an operator.
#[derive(Debug)]
struct Memory<T> {
    scratch: Scratch<T>,
    spectrum: Vec<Complex<T>>,
}

/// Normal compliance operator of a region.
pub trait NormalCompliance {
    /// Downward displacement (m) under a pressure (Pa).
    fn displacement(&mut self, pressure: &[f64], out: &mut [f64]);
    /// Approximate pressure for a displacement.
    fn precondition(&mut self, residual: &[f64], out: &mut [f64]);
}

struct OnRegion<'a, T: Precision> {
    operator: &'a Operator<T>,
    cols: usize,
    memory: Memory<T>,
}

impl<T: Precision> Operator<T> {
    pub(super) fn new(product: &Product, influences: &Influences) -> Self {
        let (rows, cols) = (product.fourier.rows(), product.fourier.cols());
        let (_, inverse) = product.precondition(influences);
        Self {
            whole: Fourier::new(rows, cols),
            compliance: product.spectrum(influences, Pair::ZPressure).converted(),
            half: Fourier::new(rows / 2, cols / 2),
            inverse: inverse.converted(),
        }
    }

    /// The operator on a region of `cols` columns.
    pub fn on_region(&self, cols: usize) -> Box<dyn NormalCompliance + '_> {
        let memory = Memory { scratch: Scratch::default(), spectrum: self.whole.spectrum() };
        Box::new(OnRegion { operator: self, cols, memory })
    }
}

impl<T: Precision> OnRegion<'_, T> {
    fn multiply(&mut self, fourier: &Fourier<T>, kernel: &Spectrum<T>, field: &[f64], out: &mut [f64]) {
        let Memory { scratch, spectrum } = &mut self.memory;
        let spectrum = &mut spectrum[..fourier.rows() * fourier.waves()];
        fourier.forward(field, self.cols, spectrum, scratch);
        kernel.scale(spectrum);
        fourier.backward(spectrum, (0, 0), self.cols, out, scratch);
    }
}

impl<T: Precision> NormalCompliance for OnRegion<'_, T> {
    fn displacement(&mut self, pressure: &[f64], out: &mut [f64]) {
        self.multiply(&self.operator.whole, &self.operator.compliance, pressure, out);
    }

    fn precondition(&mut self, residual: &[f64], out: &mut [f64]) {
        self.multiply(&self.operator.half, &self.operator.inverse, residual, out);
    }
}
