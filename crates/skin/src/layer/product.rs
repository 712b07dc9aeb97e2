//! Influence coefficients of a grid, and their products with tractions on a region.

use super::fourier::{Fourier, Scratch, Spectrum, good_size};
use super::kernel::{Functions, Influence, Pair};
use super::operator::Operator;
use dermis_fft::num_complex::Complex64;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// A rectangle of cells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Region {
    /// First row.
    pub row: usize,
    /// First column.
    pub col: usize,
    /// Number of rows.
    pub rows: usize,
    /// Number of columns.
    pub cols: usize,
}

impl Region {
    /// Number of cells.
    pub fn len(&self) -> usize {
        self.rows * self.cols
    }

    /// True if the region has no cells.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The smallest region that contains both.
    pub fn union(&self, other: &Self) -> Self {
        if self.is_empty() || other.is_empty() {
            return if self.is_empty() { *other } else { *self };
        }
        let (row, col) = (self.row.min(other.row), self.col.min(other.col));
        let last_row = (self.row + self.rows).max(other.row + other.rows);
        let last_col = (self.col + self.cols).max(other.col + other.cols);
        Self { row, col, rows: last_row - row, cols: last_col - col }
    }

    /// True if the region contains a cell of the grid.
    pub fn contains(&self, row: usize, col: usize) -> bool {
        (self.row..self.row + self.rows).contains(&row) && (self.col..self.col + self.cols).contains(&col)
    }

    /// Index in a grid of `cols` columns of a cell of the region.
    pub fn cell(&self, i: usize, cols: usize) -> usize {
        (self.row + i / self.cols) * cols + self.col + i % self.cols
    }

    /// Bounding region of the cells of a `rows` × `cols` grid for which `is_in` holds.
    pub fn around(rows: usize, cols: usize, mut is_in: impl FnMut(usize) -> bool) -> Self {
        let (mut top, mut bottom, mut left, mut right) = (usize::MAX, 0, usize::MAX, 0);
        for row in 0..rows {
            for col in 0..cols {
                if is_in(row * cols + col) {
                    (top, bottom) = (top.min(row), bottom.max(row));
                    (left, right) = (left.min(col), right.max(col));
                }
            }
        }
        if top == usize::MAX {
            return Self::default();
        }
        Self { row: top, col: left, rows: bottom - top + 1, cols: right - left + 1 }
    }

    /// The region extended by `margin` cells on every side, clipped to a grid.
    pub fn grown(&self, margin: usize, rows: usize, cols: usize) -> Self {
        let (row, rows) = grow(self.row, self.rows, margin, rows);
        let (col, cols) = grow(self.col, self.cols, margin, cols);
        Self { row, col, rows, cols }
    }

    /// Copies the region from a grid of `cols` columns.
    pub fn cut(&self, grid: &[f64], cols: usize) -> Vec<f64> {
        let lines = (self.row..self.row + self.rows).map(|row| &grid[row * cols + self.col..][..self.cols]);
        lines.flatten().copied().collect()
    }

    /// Copies the region into a grid of `cols` columns.
    pub fn paste(&self, part: &[f64], grid: &mut [f64], cols: usize) {
        for (i, line) in part.chunks_exact(self.cols.max(1)).enumerate() {
            grid[(self.row + i) * cols + self.col..][..self.cols].copy_from_slice(line);
        }
    }
}

fn grow(first: usize, count: usize, margin: usize, limit: usize) -> (usize, usize) {
    let wanted = (count + 2 * margin).min(limit);
    let start = first.saturating_sub((wanted - count.min(wanted)) / 2).min(limit - wanted);
    (start, wanted)
}

/// Influence coefficients between the cells of a grid, computed on first use.
pub struct Influences {
    /// Green's functions whose weighted sum is used.
    functions: Vec<(f64, Arc<Functions>)>,
    /// Rows of the grid.
    pub rows: usize,
    /// Columns of the grid.
    pub cols: usize,
    /// Edge of a cell (m).
    pub cell_m: f64,
    made: [OnceLock<Influence>; Pair::ALL.len()],
    products: Mutex<BTreeMap<(usize, usize), Arc<Product>>>,
    /// Buffers for spectra, reused because fresh memory costs as much as a transform.
    spare: Mutex<Vec<Vec<Complex64>>>,
}

impl std::fmt::Debug for Influences {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Influences({} x {} cells of {} m)", self.rows, self.cols, self.cell_m)
    }
}

/// Maximum number of spare buffers.
const MAX_SPARE_SPECTRA: usize = 8;
/// Maximum number of cached products.
const MAX_PRODUCTS: usize = 24;

impl Influences {
    /// Influence coefficients for a grid on a laminate.
    pub fn new(functions: Arc<Functions>, rows: usize, cols: usize, cell_m: f64) -> Self {
        Self::sum(vec![(1.0, functions)], rows, cols, cell_m)
    }

    /// Influence coefficients of a weighted sum of Green's functions.
    pub(super) fn sum(functions: Vec<(f64, Arc<Functions>)>, rows: usize, cols: usize, cell_m: f64) -> Self {
        let made = std::array::from_fn(|_| OnceLock::new());
        Self {
            functions,
            rows,
            cols,
            cell_m,
            made,
            products: Mutex::new(BTreeMap::new()),
            spare: Mutex::new(Vec::new()),
        }
    }

    /// The coefficients of one pair of components.
    pub fn get(&self, pair: Pair) -> &Influence {
        self.made[pair as usize].get_or_init(|| {
            if let Some(other) = pair.mirrored().filter(|_| self.rows == self.cols) {
                return self.get(other).transposed(pair);
            }
            let of = |functions: &Functions| functions.influence(pair, self.rows, self.cols, self.cell_m);
            if let [(weight, only)] = &self.functions[..]
                && *weight == 1.0
            {
                return of(only);
            }
            let zero = Influence { rows: self.rows, cols: self.cols, values: Vec::new(), parity: pair.parity() };
            let mut sum = Influence { values: vec![0.0; self.rows * self.cols], ..zero };
            for (weight, functions) in &self.functions {
                sum.values.iter_mut().zip(of(functions).values).for_each(|(sum, value)| *sum += weight * value);
            }
            sum
        })
    }

    /// A buffer for a spectrum, with undefined values.
    pub(super) fn borrow_spectrum(&self, fourier: &Fourier) -> Vec<Complex64> {
        let spare = self.spare.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut spectrum = spare.unwrap_or_default();
        spectrum.resize(fourier.rows() * fourier.waves(), Complex64::ZERO);
        spectrum
    }

    /// Returns a buffer for reuse.
    pub(super) fn return_spectrum(&self, spectrum: Vec<Complex64>) {
        let mut spare = self.spare.lock().unwrap_or_else(PoisonError::into_inner);
        if spare.len() < MAX_SPARE_SPECTRA {
            spare.push(spectrum);
        }
    }

    /// Products between the cells of one region.
    pub fn within(&self, region: &Region) -> Arc<Product> {
        self.product(2 * good_size(region.rows), 2 * good_size(region.cols))
    }

    /// Products from the cells of a region to those of another.
    pub fn between(&self, from: &Region, to: &Region) -> Arc<Product> {
        let period = |a: usize, m: usize, b: usize, n: usize| {
            let farthest = (a + m).max(b + n) - a.min(b);
            let reach = ((a + m).saturating_sub(b + 1)).max((b + n).saturating_sub(a + 1));
            2 * good_size(reach.min(farthest - 1) + 1)
        };
        let rows = period(from.row, from.rows, to.row, to.rows);
        let cols = period(from.col, from.cols, to.col, to.cols);
        self.product(rows, cols)
    }

    fn product(&self, rows: usize, cols: usize) -> Arc<Product> {
        let mut products = self.products.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(product) = products.get(&(rows, cols)) {
            return Arc::clone(product);
        }
        if products.len() >= MAX_PRODUCTS {
            products.clear();
        }
        let product = Arc::new(Product {
            fourier: Fourier::new(rows, cols),
            spectra: std::array::from_fn(|_| OnceLock::new()),
            precondition: OnceLock::new(),
            double: OnceLock::new(),
            single: OnceLock::new(),
        });
        products.insert((rows, cols), Arc::clone(&product));
        product
    }
}

/// Transforms of one size, with the spectra of the influence coefficients.
#[derive(Debug)]
pub struct Product {
    /// The transforms.
    pub fourier: Fourier,
    spectra: [OnceLock<Spectrum>; Pair::ALL.len()],
    precondition: OnceLock<(Fourier, Spectrum)>,
    double: OnceLock<Operator<f64>>,
    single: OnceLock<Operator<f32>>,
}

impl Product {
    /// The spectrum of the coefficients of a pair.
    pub fn spectrum(&self, influences: &Influences, pair: Pair) -> &Spectrum {
        self.spectra[pair as usize]
            .get_or_init(|| self.fourier.of_influence(influences.get(pair), &mut Scratch::default()))
    }

    /// The normal compliance in double precision.
    pub fn double(&self, influences: &Influences) -> &Operator<f64> {
        self.double.get_or_init(|| Operator::new(self, influences))
    }

    /// The normal compliance in single precision: six digits, in half the time.
    pub fn single(&self, influences: &Influences) -> &Operator<f32> {
        self.single.get_or_init(|| Operator::new(self, influences))
    }

    /// An approximate inverse of the normal compliance: that of the periodic grid of half the size, without padding.
    pub fn precondition(&self, influences: &Influences) -> &(Fourier, Spectrum) {
        self.precondition.get_or_init(|| {
            let half = Fourier::new(self.fourier.rows() / 2, self.fourier.cols() / 2);
            let whole = self.spectrum(influences, Pair::ZPressure).values();
            let largest = whole.iter().fold(0.0f64, |max, v| max.max(v.abs()));
            let mut values = Vec::with_capacity(half.rows() * half.waves());
            for wave in 0..half.waves() {
                for row in 0..half.rows() {
                    let value = whole[2 * wave * self.fourier.rows() + 2 * row];
                    values.push(1.0 / value.max(1e-3 * largest));
                }
            }
            (half, Spectrum::real(values))
        })
    }
}
