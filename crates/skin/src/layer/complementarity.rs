//! Where an elastic surface meets a rigid one: p ≥ 0, gap ≥ 0, p · gap = 0.

use super::fourier::Scratch;
use super::kernel::Pair;
use super::product::{Influences, Product, Region};
use rustfft::num_complex::Complex64;
use std::sync::Arc;

/// Pressure in a region of the grid that keeps a surface out of an object.
///
/// Minimises ½ pᵀKp − pᵀg over p ≥ 0, where g (m) is how deep each cell would be in the object if nothing gave way:
/// conjugate gradients on the cells that press, which are found on the way (Polonsky and Keer 1999), here with
/// Polak and Ribière's direction, and preconditioned by the inverse of K on the periodic region. A cell that would pull is
/// let go; one that would overlap is taken in; either starts the directions anew.
pub struct Complementarity<'a> {
    influences: &'a Influences,
    product: Arc<Product>,
    region: Region,
    scratch: Scratch,
    spectrum: Vec<Complex64>,
}

impl Drop for Complementarity<'_> {
    fn drop(&mut self) {
        self.influences.give_back(std::mem::take(&mut self.spectrum));
    }
}

/// How a solution was found.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Effort {
    /// Iterations.
    pub iterations: usize,
    /// Products with the influences.
    pub products: usize,
    /// Largest violation (m) that is left: overlap anywhere, or gap where there is pressure.
    pub error_m: f64,
}

impl Effort {
    /// Counts another solution with this one; the error is the last one's.
    pub(super) fn add(&mut self, other: Self) {
        self.iterations += other.iterations;
        self.products += other.products;
        self.error_m = other.error_m;
    }
}

/// More iterations than this mean that rounding is all that is left to remove.
const MOST_ITERATIONS: usize = 400;

/// Up to so many cells are cheaper one by one than by a transform.
const FEW: usize = 8;

/// Makes a first guess as strong as it should be: of all its multiples the one with the least energy.
fn rescale(depth_m: &[f64], pressure: &mut [f64], sunk: &mut [f64]) {
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let (work, energy) = (dot(depth_m, pressure), dot(sunk, pressure));
    if work > 0.0 && energy > 0.0 {
        let factor = work / energy;
        pressure.iter_mut().chain(sunk).for_each(|value| *value *= factor);
    }
}

impl<'a> Complementarity<'a> {
    /// Contact within a region.
    pub fn new(influences: &'a Influences, region: Region) -> Self {
        let product = influences.within(&region);
        let spectrum = influences.borrow_spectrum(&product.fourier);
        Self { influences, product, region, scratch: Scratch::default(), spectrum }
    }

    /// K x, in the region.
    pub fn sink(&mut self, pressure: &[f64], out: &mut [f64]) {
        let fourier = &self.product.fourier;
        fourier.forward(pressure, self.region.cols, &mut self.spectrum, &mut self.scratch);
        let kernel = self.product.spectrum(self.influences, Pair::SinkPressure);
        for (value, &k) in self.spectrum.iter_mut().zip(kernel.values()) {
            *value *= k;
        }
        fourier.backward(&mut self.spectrum, (0, 0), self.region.cols, out, &mut self.scratch);
    }

    fn precondition(&mut self, residual: &[f64], out: &mut [f64]) {
        let (fourier, kernel) = self.product.precondition(self.influences);
        let count = fourier.rows() * fourier.waves();
        let spectrum = &mut self.spectrum[..count];
        fourier.forward(residual, self.region.cols, spectrum, &mut self.scratch);
        for (value, &k) in spectrum.iter_mut().zip(kernel.values()) {
            *value *= k;
        }
        fourier.backward(spectrum, (0, 0), self.region.cols, out, &mut self.scratch);
    }

    /// Improves `pressure` (Pa) until no cell violates the rules by more than `tolerance_m`. `depth_m` is g.
    pub fn solve(&mut self, depth_m: &[f64], pressure: &mut [f64], tolerance_m: f64) -> Effort {
        let cells = pressure.len();
        let mut effort = Effort::default();
        for p in pressure.iter_mut() {
            *p = p.max(0.0);
        }
        // w = K p − g: the gap.
        let mut gap = vec![0.0; cells];
        self.sink(pressure, &mut gap);
        effort.products += 1;
        rescale(depth_m, pressure, &mut gap);
        for (gap, depth) in gap.iter_mut().zip(depth_m) {
            *gap -= depth;
        }
        let mut active: Vec<bool> = (0..cells).map(|i| pressure[i] > 0.0 || gap[i] < 0.0).collect();
        let (mut direction, mut response) = (vec![0.0; cells], vec![0.0; cells]);
        let (mut residual, mut last_residual, mut steepest) = (vec![0.0; cells], vec![0.0; cells], vec![0.0; cells]);
        let mut last_product = 0.0;
        let mut clipped: Vec<(usize, f64)> = Vec::new();
        let mut anew = true;
        while effort.iterations < MOST_ITERATIONS {
            effort.error_m = 0.0;
            for i in 0..cells {
                residual[i] = if active[i] { gap[i] } else { 0.0 };
                effort.error_m = effort.error_m.max(residual[i].abs());
            }
            if effort.error_m <= tolerance_m {
                break;
            }
            effort.iterations += 1;
            self.precondition(&residual, &mut steepest);
            let (mut product, mut change) = (0.0, 0.0);
            for i in 0..cells {
                steepest[i] = if active[i] { steepest[i] } else { 0.0 };
                product += residual[i] * steepest[i];
                change += last_residual[i] * steepest[i];
            }
            let beta = if anew { 0.0 } else { ((product - change) / last_product).max(0.0) };
            for i in 0..cells {
                direction[i] = if active[i] { beta * direction[i] - steepest[i] } else { 0.0 };
            }
            self.sink(&direction, &mut response);
            effort.products += 1;
            let (mut slope, mut curvature) = (0.0, 0.0);
            for i in 0..cells {
                slope += gap[i] * direction[i];
                curvature += direction[i] * response[i];
            }
            if curvature <= 0.0 || slope >= 0.0 {
                // Rounding has taken over; from the steepest direction there is nothing left to gain.
                if anew {
                    break;
                }
                anew = true;
                continue;
            }
            let step = -slope / curvature;
            clipped.clear();
            for i in 0..cells {
                let next = pressure[i] + step * direction[i];
                if next < 0.0 {
                    clipped.push((i, -next));
                }
                pressure[i] = next.max(0.0);
            }
            if clipped.len() > FEW {
                self.gap(depth_m, pressure, &mut gap, &mut effort);
            } else {
                for (gap, change) in gap.iter_mut().zip(&response) {
                    *gap += step * change;
                }
                for &(cell, more) in &clipped {
                    self.press_cell(cell, more, &mut gap);
                }
            }
            anew = !clipped.is_empty();
            for i in 0..cells {
                let presses = pressure[i] > 0.0 || gap[i] < 0.0;
                anew |= presses != active[i];
                active[i] = presses;
            }
            last_residual.copy_from_slice(&residual);
            last_product = product;
        }
        effort
    }

    /// Adds what pressure (Pa) on one cell does to the region.
    fn press_cell(&self, cell: usize, pressure: f64, gap: &mut [f64]) {
        let influence = self.influences.get(Pair::SinkPressure);
        let cols = self.region.cols;
        let (row, col) = (cell / cols, cell % cols);
        for (other, line) in gap.chunks_exact_mut(cols).enumerate() {
            let weights = &influence.values[other.abs_diff(row) * influence.cols..];
            let (left, right) = line.split_at_mut(col);
            left.iter_mut().rev().zip(&weights[1..]).for_each(|(gap, weight)| *gap += pressure * weight);
            right.iter_mut().zip(weights).for_each(|(gap, weight)| *gap += pressure * weight);
        }
    }

    fn gap(&mut self, depth_m: &[f64], pressure: &[f64], gap: &mut [f64], effort: &mut Effort) {
        self.sink(pressure, gap);
        effort.products += 1;
        for (gap, depth) in gap.iter_mut().zip(depth_m) {
            *gap -= depth;
        }
    }
}
