//! Displacements and stresses caused by tractions on a region.

use super::fourier::Scratch;
use super::kernel::Pair;
use super::product::{Influences, Region};
use super::relaxation::Tractions;

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
                        sum.fill(dermis_fft::num_complex::Complex64::ZERO);
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
