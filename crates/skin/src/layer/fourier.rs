//! Convolutions by fast Fourier transforms, zero-padded to avoid periodic images.

use super::kernel::{Influence, Parity};
use dermis_fft::num_complex::{Complex, Complex64};
use dermis_fft::{Plan, Precision};

/// Transforms of a real grid of `rows` × `cols`, whose fields are always `f64`. Spectra are stored by columns, so that both passes access contiguous
/// memory.
pub struct Fourier<T: Precision = f64> {
    rows: usize,
    cols: usize,
    plan: Plan<T>,
}

impl<T: Precision> std::fmt::Debug for Fourier<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Fourier({} x {})", self.rows, self.cols)
    }
}

/// Spectrum of influence coefficients: real if they are even or odd in both axes, imaginary if odd in one.
#[derive(Clone, Debug)]
pub struct Spectrum<T = f64> {
    values: Vec<T>,
    imaginary: bool,
}

/// Buffers of the transforms.
#[derive(Clone, Debug)]
pub struct Scratch<T = f64> {
    row: Vec<T>,
    by_row: Vec<Complex<T>>,
    fft: Vec<Complex<T>>,
}

impl<T> Default for Scratch<T> {
    fn default() -> Self {
        Self { row: Vec::new(), by_row: Vec::new(), fft: Vec::new() }
    }
}

/// The size of at least `min` with the fastest transform. Prime factors above 5 are slow; with a factor of 5, a cell of
/// a 270² transform takes a quarter longer than one of 288² (measured).
pub fn good_size(min: usize) -> usize {
    let min = min.max(1);
    let cost = |size: usize| {
        let mut rest = size;
        for factor in [2, 3] {
            while rest.is_multiple_of(factor) {
                rest /= factor;
            }
        }
        let penalty = if rest == 1 { 1.0 } else { 1.25 };
        while rest.is_multiple_of(5) {
            rest /= 5;
        }
        (rest == 1).then_some(penalty * (size * size) as f64)
    };
    // There is a power of two below twice the number.
    let costs = (min..=2 * min).filter_map(|size| cost(size).map(|cost| (size, cost)));
    costs.min_by(|a, b| a.1.total_cmp(&b.1)).map_or(min, |(size, _)| size)
}

impl<T: Precision> Fourier<T> {
    /// Plans transforms.
    pub fn new(rows: usize, cols: usize) -> Self {
        Self { rows, cols, plan: T::plan(rows, cols) }
    }

    /// Rows of the periodic grid.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Columns of the periodic grid.
    pub fn cols(&self) -> usize {
        self.cols
    }

    /// Columns of a spectrum.
    pub fn waves(&self) -> usize {
        self.cols / 2 + 1
    }

    /// An empty spectrum.
    pub fn spectrum(&self) -> Vec<Complex<T>> {
        vec![zero(); self.rows * self.waves()]
    }

    /// Computes the spectrum of a field of `cols` columns in the first corner of the grid, padded with zeros.
    pub fn forward(&self, field: &[f64], cols: usize, spectrum: &mut [Complex<T>], scratch: &mut Scratch<T>) {
        let (rows, waves) = (field.len() / cols, self.waves());
        scratch.row.resize(self.cols, T::zero());
        scratch.by_row.resize(rows * waves, zero());
        scratch.fft.resize(self.plan.along.get_scratch_len().max(self.plan.across.get_inplace_scratch_len()), zero());
        for (line, out) in field.chunks_exact(cols).zip(scratch.by_row.chunks_exact_mut(waves)) {
            scratch.row.iter_mut().zip(line).for_each(|(value, &x)| *value = T::of(x));
            scratch.row[cols..].fill(T::zero());
            // The lengths match the plan, so this cannot fail.
            let done = self.plan.along.process_with_scratch(&mut scratch.row, out, &mut scratch.fft);
            debug_assert!(done.is_ok());
        }
        transpose(&scratch.by_row, rows, waves, spectrum, self.rows);
        for column in spectrum.chunks_exact_mut(self.rows) {
            column[rows..].fill(zero());
        }
        self.plan.across.process_with_scratch(spectrum, &mut scratch.fft);
    }

    /// Computes the field of a spectrum: `cols` columns of as many rows as `field` holds, starting at row and column
    /// `first` (which may be negative: the grid is periodic). Overwrites the spectrum.
    pub fn backward(
        &self,
        spectrum: &mut [Complex<T>],
        first: (i64, i64),
        cols: usize,
        field: &mut [f64],
        scratch: &mut Scratch<T>,
    ) {
        let waves = self.waves();
        let scale = 1.0 / (self.rows * self.cols) as f64;
        let rows = field.len() / cols;
        let wrap = |index: i64, period: usize| index.rem_euclid(period as i64) as usize;
        let need = self.plan.along_back.get_scratch_len().max(self.plan.across_back.get_inplace_scratch_len());
        scratch.fft.resize(need.max(scratch.fft.len()), zero());
        self.plan
            .across_back
            .process_with_scratch(spectrum, &mut scratch.fft[..self.plan.across_back.get_inplace_scratch_len()]);
        scratch.row.resize(self.cols, T::zero());
        scratch.by_row.resize(rows * waves, zero());
        gather(spectrum, self.rows, waves, rows, wrap(first.0, self.rows), &mut scratch.by_row);
        let from = wrap(first.1, self.cols);
        for (line, out) in scratch.by_row.chunks_exact_mut(waves).zip(field.chunks_exact_mut(cols)) {
            // Real up to rounding, since the rows are real.
            line[0].im = T::zero();
            if self.cols.is_multiple_of(2) {
                line[waves - 1].im = T::zero();
            }
            let scratch_len = self.plan.along_back.get_scratch_len();
            let done =
                self.plan.along_back.process_with_scratch(line, &mut scratch.row, &mut scratch.fft[..scratch_len]);
            debug_assert!(done.is_ok());
            let straight = cols.min(self.cols - from);
            for (value, &x) in out[..straight].iter_mut().zip(&scratch.row[from..]) {
                *value = x.into() * scale;
            }
            for (value, &x) in out[straight..].iter_mut().zip(&scratch.row) {
                *value = x.into() * scale;
            }
        }
    }
}

impl Fourier {
    /// The spectrum of influence coefficients, truncated at half a period.
    pub fn of_influence(&self, influence: &Influence, scratch: &mut Scratch) -> Spectrum {
        let mut periodic = vec![0.0; self.rows * self.cols];
        let (odd_x, odd_y) = match influence.parity {
            Parity::Even => (false, false),
            Parity::OddX => (true, false),
            Parity::OddY => (false, true),
            Parity::OddXy => (true, true),
        };
        for row in 0..self.rows {
            let (dy, flip_y) = fold(row, self.rows);
            for col in 0..self.cols {
                let (dx, flip_x) = fold(col, self.cols);
                let at_half = (odd_x && 2 * dx == self.cols) || (odd_y && 2 * dy == self.rows);
                if dy < influence.rows && dx < influence.cols && !at_half {
                    // Rows are ordered towards −y.
                    let sign = if (odd_x && flip_x) != (odd_y && !flip_y) { -1.0 } else { 1.0 };
                    periodic[row * self.cols + col] = sign * influence.values[dy * influence.cols + dx];
                }
            }
        }
        let mut spectrum = self.spectrum();
        self.forward(&periodic, self.cols, &mut spectrum, scratch);
        let imaginary = odd_x != odd_y;
        let values = spectrum.iter().map(|c| if imaginary { c.im } else { c.re }).collect();
        Spectrum { values, imaginary }
    }
}

/// Distance on a periodic line, and true for the negative direction.
fn fold(index: usize, period: usize) -> (usize, bool) {
    if 2 * index <= period { (index, false) } else { (period - index, true) }
}

impl Spectrum {
    /// out = this · source.
    pub fn multiply(&self, source: &[Complex64], out: &mut [Complex64]) {
        for ((out, s), &v) in out.iter_mut().zip(source).zip(&self.values) {
            *out = if self.imaginary { Complex64::new(-s.im * v, s.re * v) } else { s * v };
        }
    }

    /// out += factor · this · source.
    pub fn multiply_add(&self, factor: f64, source: &[Complex64], out: &mut [Complex64]) {
        for ((out, s), &v) in out.iter_mut().zip(source).zip(&self.values) {
            let v = factor * v;
            *out += if self.imaginary { Complex64::new(-s.im * v, s.re * v) } else { s * v };
        }
    }

    /// The values, column by column.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// A real spectrum from its values.
    pub fn real(values: Vec<f64>) -> Self {
        Self { values, imaginary: false }
    }

    /// The same spectrum in another precision.
    pub fn converted<T: Precision>(&self) -> Spectrum<T> {
        Spectrum { values: self.values.iter().map(|&value| T::of(value)).collect(), imaginary: self.imaginary }
    }
}

impl<T: Precision> Spectrum<T> {
    /// Multiplies a spectrum by this one, which is real.
    pub fn scale(&self, spectrum: &mut [Complex<T>]) {
        for (value, &k) in spectrum.iter_mut().zip(&self.values) {
            *value = *value * k;
        }
    }
}

fn zero<T: Precision>() -> Complex<T> {
    Complex::new(T::zero(), T::zero())
}

/// Transposes rows of `waves` into columns of `height`.
fn transpose<T: Copy>(rows_of: &[T], rows: usize, waves: usize, columns: &mut [T], height: usize) {
    const BLOCK: usize = 16;
    for row_block in (0..rows).step_by(BLOCK) {
        for wave_block in (0..waves).step_by(BLOCK) {
            for wave in wave_block..(wave_block + BLOCK).min(waves) {
                for row in row_block..(row_block + BLOCK).min(rows) {
                    columns[wave * height + row] = rows_of[row * waves + wave];
                }
            }
        }
    }
}

/// The inverse of [`transpose`], for `rows` rows starting at `first`, modulo the period.
fn gather<T: Copy>(columns: &[T], height: usize, waves: usize, rows: usize, first: usize, out: &mut [T]) {
    const BLOCK: usize = 16;
    for row_block in (0..rows).step_by(BLOCK) {
        for wave_block in (0..waves).step_by(BLOCK) {
            for row in row_block..(row_block + BLOCK).min(rows) {
                let place = if first + row >= height { first + row - height } else { first + row };
                for wave in wave_block..(wave_block + BLOCK).min(waves) {
                    out[row * waves + wave] = columns[wave * height + place];
                }
            }
        }
    }
}
