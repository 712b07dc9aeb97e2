//! Displacements and stresses caused by tractions on a region.

use super::fourier::Scratch;
use super::kernel::{Pair, Parity};
use super::product::{Influences, Region};
use super::relaxation::Tractions;
use dermis_fft::num_complex::Complex64;

/// A component of displacement or stress.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Output {
    /// Displacement of the surface along x (m).
    X,
    /// Displacement of the surface along y (m).
    Y,
    /// Downward displacement of the surface (m).
    Z,
    /// Shear below along x (Pa).
    BelowX,
    /// Shear below along y (Pa).
    BelowY,
    /// Pressure below (Pa).
    BelowPressure,
}

impl Output {
    /// Influence of shear along x, shear along y and pressure, with its sign.
    fn terms(self) -> [(f64, Pair); 3] {
        match self {
            Self::X => [(1.0, Pair::XX), (1.0, Pair::XY), (1.0, Pair::XPressure)],
            Self::Y => [(1.0, Pair::XY), (1.0, Pair::YY), (1.0, Pair::YPressure)],
            Self::Z => [(-1.0, Pair::XPressure), (-1.0, Pair::YPressure), (1.0, Pair::ZPressure)],
            Self::BelowX => [(1.0, Pair::BelowXX), (1.0, Pair::BelowXY), (1.0, Pair::BelowXPressure)],
            Self::BelowY => [(1.0, Pair::BelowXY), (1.0, Pair::BelowYY), (1.0, Pair::BelowYPressure)],
            Self::BelowPressure => {
                [(1.0, Pair::BelowPressureX), (1.0, Pair::BelowPressureY), (1.0, Pair::BelowPressure)]
            }
        }
    }

    /// True if the source couples normal and tangential components.
    fn couples(self, source: usize) -> bool {
        match self {
            Self::X | Self::Y => source == 2,
            Self::Z => source < 2,
            _ => false,
        }
    }
}

/// Response of the grid to tractions on a region.
#[derive(Clone, Copy, Debug)]
pub struct SurfaceResponse<'a> {
    /// The influences of the grid.
    pub influences: &'a Influences,
    /// Couples normal and tangential components.
    pub coupled: bool,
}

impl SurfaceResponse<'_> {
    /// Computes the outputs in `to` of tractions in `from`.
    pub fn of(&self, from: &Region, tractions: &Tractions, to: &Region, outputs: &[Output]) -> Vec<Vec<f64>> {
        let mut fields = vec![vec![0.0; to.len()]; outputs.len()];
        let acts = tractions.parts.each_ref().map(|part| part.iter().any(|&value| value != 0.0));
        if from.is_empty() || to.is_empty() || acts == [false; 3] {
            return fields;
        }
        let product = self.influences.between(from, to);
        let fourier = &product.fourier;
        let mut scratch = Scratch::default();
        let mut sources = [Vec::new(), Vec::new(), Vec::new()];
        for (source, spectrum) in sources.iter_mut().enumerate().filter(|(source, _)| acts[*source]) {
            *spectrum = self.influences.borrow_spectrum(fourier);
            fourier.forward(&tractions.parts[source], from.cols, spectrum, &mut scratch);
        }
        let mut sum = self.influences.borrow_spectrum(fourier);
        let first = (to.row as i64 - from.row as i64, to.col as i64 - from.col as i64);
        for (output, field) in outputs.iter().zip(&mut fields) {
            let mut started = false;
            for (source, (factor, pair)) in output.terms().into_iter().enumerate() {
                if !acts[source] || (output.couples(source) && !self.coupled) {
                    continue;
                }
                let kernel = product.spectrum(self.influences, pair);
                if started || factor != 1.0 {
                    if !started {
                        sum.fill(Complex64::ZERO);
                    }
                    kernel.multiply_add(factor, &sources[source], &mut sum);
                } else {
                    kernel.multiply(&sources[source], &mut sum);
                }
                started = true;
            }
            if started {
                fourier.backward(&mut sum, first, to.cols, field, &mut scratch);
            }
        }
        sources.into_iter().chain([sum]).for_each(|spectrum| self.influences.return_spectrum(spectrum));
        fields
    }
}

/// Derivatives of a scalar by the outputs of a layer on a region, transformed: what their products with several influences
/// have in common.
pub struct ByOutputs<'a> {
    influences: &'a Influences,
    coupled: bool,
    from: Region,
    to: Region,
    spectra: Vec<(Output, Vec<Complex64>)>,
}

impl<'a> ByOutputs<'a> {
    /// Derivatives by outputs in `from`, for tractions in `to`.
    pub fn new(response: &SurfaceResponse<'a>, from: Region, by_outputs: &[(Output, Vec<f64>)], to: Region) -> Self {
        let (influences, coupled) = (response.influences, response.coupled);
        let mut all = Self { influences, coupled, from, to, spectra: Vec::new() };
        by_outputs.iter().for_each(|(output, by)| all.set(*output, by));
        all
    }

    /// Sets the derivatives by one output.
    pub fn set(&mut self, output: Output, by: &[f64]) {
        let fourier = &self.influences.between(&self.from, &self.to).fourier;
        let known = self.spectra.iter().position(|(known, _)| *known == output);
        let mut spectrum = match known {
            Some(place) => self.spectra.swap_remove(place).1,
            None => self.influences.borrow_spectrum(fourier),
        };
        fourier.forward(by, self.from.cols, &mut spectrum, &mut Scratch::default());
        self.spectra.push((output, spectrum));
    }

    /// Derivatives by the pressure in `to`; see [`ByOutputs::by_source`].
    pub fn by_pressure(&self, influences: &Influences) -> Vec<f64> {
        self.by_source(influences, 2)
    }

    /// Derivatives by the shear along x (`source` 0), along y (1) or the pressure (2) in `to`: the transpose of
    /// [`SurfaceResponse::of`] with these influences, which belong to the same grid. Influences that are odd in x or in y change their sign, because
    /// the direction between two cells does.
    pub fn by_source(&self, influences: &Influences, source: usize) -> Vec<f64> {
        let mut field = vec![0.0; self.to.len()];
        let acts = |output: Output| self.coupled || !output.couples(source);
        if !self.spectra.iter().any(|(output, _)| acts(*output)) {
            return field;
        }
        let product = influences.between(&self.from, &self.to);
        let mut sum = influences.borrow_spectrum(&product.fourier);
        sum.fill(Complex64::ZERO);
        for (output, spectrum) in self.spectra.iter().filter(|(output, _)| acts(*output)) {
            let (factor, pair) = output.terms()[source];
            let sign = if matches!(pair.parity(), Parity::OddX | Parity::OddY) { -factor } else { factor };
            product.spectrum(influences, pair).multiply_add(sign, spectrum, &mut sum);
        }
        let first = (self.to.row as i64 - self.from.row as i64, self.to.col as i64 - self.from.col as i64);
        product.fourier.backward(&mut sum, first, self.to.cols, &mut field, &mut Scratch::default());
        influences.return_spectrum(sum);
        field
    }
}

impl Drop for ByOutputs<'_> {
    fn drop(&mut self) {
        let spectra = std::mem::take(&mut self.spectra);
        spectra.into_iter().for_each(|(_, spectrum)| self.influences.return_spectrum(spectrum));
    }
}
