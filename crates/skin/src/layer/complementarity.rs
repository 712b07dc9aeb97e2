//! Normal contact of an elastic surface with a rigid one: p ≥ 0, gap ≥ 0, p · gap = 0.

use super::kernel::Pair;
use super::operator::NormalCompliance;
use super::product::{Influences, Product, Region};

/// Solver for the contact pressure in a region of the grid.
///
/// Minimises ½ pᵀKp − pᵀg over p ≥ 0, where g (m) is the penetration of the undeformed surface, by conjugate gradients
/// on the active cells (Polonsky and Keer 1999), here with the Polak–Ribière direction and preconditioned by the
/// inverse of K on the periodic region. Cells in tension leave the active set and overlapping cells join it; either
/// event restarts the directions.
pub struct Complementarity<'a> {
    influences: &'a Influences,
    region: Region,
    compliance: Box<dyn NormalCompliance + 'a>,
    /// Additional compliance (m/Pa) of cells that the object covers in part, by their index in the region.
    partial: Vec<(usize, f64)>,
    /// Maximum number of iterations.
    pub(super) max_iterations: usize,
}

/// Statistics of a solver.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Effort {
    /// Number of iterations.
    pub iterations: usize,
    /// Number of products with the influence matrix.
    pub products: usize,
    /// Maximum residual (m): overlap at any cell, or gap under pressure.
    pub error_m: f64,
    /// Largest relative error of a solver that stopped before its tolerance: residual by depth, tangential error by the
    /// largest displacement (at least 1/100 of the depth), change of pressure by its peak. Zero if the solvers converged.
    pub unsolved: f64,
    /// Estimated error due to the increments of a step with friction: the larger of that of the shear, as a fraction of
    /// the friction limit, and that of the largest tangential displacement of the surface, as a fraction of it.
    pub path_error: f64,
}

impl Effort {
    /// Adds the counts of another solution and adopts its error.
    pub(super) fn add(&mut self, other: Self) {
        self.iterations += other.iterations;
        self.products += other.products;
        self.error_m = other.error_m;
    }

    /// Adds the counts of an earlier increment.
    pub(super) fn add_counts(&mut self, other: &Self) {
        self.iterations += other.iterations;
        self.products += other.products;
        self.unsolved = self.unsolved.max(other.unsolved);
    }

    /// Sets [`Effort::unsolved`] relative to `scale_m` if the error exceeds the tolerance.
    pub(super) fn with_unsolved(self, tolerance_m: f64, scale_m: f64) -> Self {
        Self { unsolved: if self.error_m > tolerance_m { self.error_m / scale_m } else { 0.0 }, ..self }
    }
}

/// Tolerance above which products in single precision suffice: their error is about 1e-7 of the depth.
const SINGLE_PRECISION: f64 = 5e-6;

/// Maximum number of iterations; usually only rounding errors remain after them.
const MAX_ITERATIONS: usize = 400;

/// Number of clipped cells up to which direct updates are cheaper than a transform (microseconds each on 100 × 100
/// cells).
const MAX_DIRECT_UPDATES: usize = 64;

/// Scales an initial guess to the multiple of minimum energy.
fn rescale(depth_m: &[f64], pressure: &mut [f64], displacement_m: &mut [f64]) {
    let (work, energy) = (dot(depth_m, pressure), dot(displacement_m, pressure));
    if work > 0.0 && energy > 0.0 {
        let factor = work / energy;
        pressure.iter_mut().chain(displacement_m).for_each(|value| *value *= factor);
    }
}

fn is_active(pressure: f64, gap: f64) -> f64 {
    f64::from(u8::from(pressure > 0.0 || gap < 0.0))
}

/// Dot product in eight lanes, in an order that does not depend on the CPU.
pub(super) fn dot(a: &[f64], b: &[f64]) -> f64 {
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<8>(), b.as_chunks::<8>());
    let mut lanes = [0.0; 8];
    for (a, b) in a.iter().zip(b) {
        for lane in 0..8 {
            lanes[lane] += a[lane] * b[lane];
        }
    }
    let rest: f64 = a_rest.iter().zip(b_rest).map(|(a, b)| a * b).sum();
    lanes.iter().sum::<f64>() + rest
}

/// Maximum norm.
pub(super) fn largest(values: &[f64]) -> f64 {
    let (chunks, rest) = values.as_chunks::<8>();
    let mut lanes = [0.0f64; 8];
    for chunk in chunks {
        for lane in 0..8 {
            lanes[lane] = lanes[lane].max(chunk[lane].abs());
        }
    }
    lanes.iter().chain(rest).fold(0.0, |max, value| max.max(value.abs()))
}

impl<'a> Complementarity<'a> {
    /// Contact within a region; `product` is [`Influences::within`] of it. `tolerance` is relative to the largest
    /// depth.
    pub fn new(influences: &'a Influences, product: &'a Product, region: Region, tolerance: f64) -> Self {
        let compliance = if tolerance >= SINGLE_PRECISION {
            product.single(influences).on_region(region.cols)
        } else {
            product.double(influences).on_region(region.cols)
        };
        Self { influences, region, compliance, partial: Vec::new(), max_iterations: MAX_ITERATIONS }
    }

    /// The fraction of each cell that the object covers. A pressure on the part f of a cell displaces that part as the mean
    /// pressure of the cell displaces a cell that is softer by 1/f, so that a cell carries a load in proportion to f: exact
    /// where a cell deforms alone, and between the loads of whole cells elsewhere.
    pub fn covering(mut self, covered: impl Iterator<Item = f64>) -> Self {
        let own = self.influences.get(Pair::ZPressure).values[0];
        let parts = covered.enumerate().filter(|(_, part)| *part < 1.0);
        self.partial = parts.map(|(cell, part)| (cell, own * (1.0 / part - 1.0))).collect();
        self
    }

    /// Downward displacement (m) of the region under a pressure (Pa).
    pub fn displacement(&mut self, pressure: &[f64], out: &mut [f64]) {
        self.compliance.displacement(pressure, out);
        for &(cell, compliance) in &self.partial {
            out[cell] += compliance * pressure[cell];
        }
    }

    /// Approximate pressure (Pa) for a displacement (m).
    pub(super) fn precondition(&mut self, displacement_m: &[f64], out: &mut [f64]) {
        self.compliance.precondition(displacement_m, out);
    }

    /// Improves `pressure` (Pa) until the residual is at most `tolerance_m`. `depth_m` is g.
    pub fn solve(&mut self, depth_m: &[f64], pressure: &mut [f64], tolerance_m: f64) -> Effort {
        let cells = pressure.len();
        let mut effort = Effort::default();
        for p in pressure.iter_mut() {
            *p = p.max(0.0);
        }
        // w = K p − g: the gap.
        let mut gap = vec![0.0; cells];
        self.displacement(pressure, &mut gap);
        effort.products += 1;
        rescale(depth_m, pressure, &mut gap);
        for (gap, depth) in gap.iter_mut().zip(depth_m) {
            *gap -= depth;
        }
        // 1 for active cells, 0 otherwise: a factor, so that the loops below have no branches.
        let mut active: Vec<f64> = pressure.iter().zip(&gap).map(|(&p, &gap)| is_active(p, gap)).collect();
        let (mut direction, mut response) = (vec![0.0; cells], vec![0.0; cells]);
        let (mut residual, mut last_residual, mut steepest) = (vec![0.0; cells], vec![0.0; cells], vec![0.0; cells]);
        let mut last_product = 0.0;
        let mut clipped: Vec<(usize, f64)> = Vec::new();
        let mut restart = true;
        loop {
            for ((residual, on), gap) in residual.iter_mut().zip(&active).zip(&gap) {
                *residual = on * gap;
            }
            effort.error_m = largest(&residual);
            if effort.error_m <= tolerance_m || effort.iterations >= self.max_iterations {
                break;
            }
            effort.iterations += 1;
            self.compliance.precondition(&residual, &mut steepest);
            for (steepest, on) in steepest.iter_mut().zip(&active) {
                *steepest *= on;
            }
            let product = dot(&residual, &steepest);
            let change = if restart { 0.0 } else { dot(&last_residual, &steepest) };
            let beta = if restart { 0.0 } else { ((product - change) / last_product).max(0.0) };
            for ((direction, on), steepest) in direction.iter_mut().zip(&active).zip(&steepest) {
                *direction = beta * on * *direction - steepest;
            }
            self.displacement(&direction, &mut response);
            effort.products += 1;
            let (slope, curvature) = (dot(&gap, &direction), dot(&direction, &response));
            if curvature <= 0.0 || slope >= 0.0 {
                // Along the steepest descent, this means that only rounding errors remain.
                if restart {
                    break;
                }
                restart = true;
                continue;
            }
            let step = -slope / curvature;
            for (pressure, direction) in pressure.iter_mut().zip(&direction) {
                *pressure += step * direction;
            }
            clipped.clear();
            clipped.extend(pressure.iter().enumerate().filter(|(_, p)| **p < 0.0).map(|(i, p)| (i, -p)));
            for &(cell, _) in &clipped {
                pressure[cell] = 0.0;
            }
            if clipped.len() > MAX_DIRECT_UPDATES {
                self.gap(depth_m, pressure, &mut gap, &mut effort);
            } else {
                for (gap, change) in gap.iter_mut().zip(&response) {
                    *gap += step * change;
                }
                for &(cell, more) in &clipped {
                    self.press_cell(cell, more, &mut gap);
                }
            }
            let mut changed = 0.0;
            for ((on, &pressure), &gap) in active.iter_mut().zip(pressure.iter()).zip(&gap) {
                let now = is_active(pressure, gap);
                changed += (now - *on).abs();
                *on = now;
            }
            restart = !clipped.is_empty() || changed > 0.0;
            std::mem::swap(&mut last_residual, &mut residual);
            last_product = product;
        }
        effort.with_unsolved(tolerance_m, depth_m.iter().copied().fold(f64::MIN_POSITIVE, f64::max))
    }

    /// Solves K x = `right` on the cells whose factor `active` is 1, with x = 0 elsewhere, by preconditioned conjugate
    /// gradients, until the largest residual is at most `limit`.
    pub fn solve_active(&mut self, active: &[f64], right: &[f64], limit: f64) -> Vec<f64> {
        let cells = right.len();
        let mut residual: Vec<f64> = right.iter().zip(active).map(|(right, on)| right * on).collect();
        let [mut solution, mut direction, mut response, mut steepest] = [(); 4].map(|()| vec![0.0; cells]);
        let mut last_product = 0.0;
        for iteration in 0..self.max_iterations {
            if largest(&residual) <= limit {
                break;
            }
            self.compliance.precondition(&residual, &mut steepest);
            steepest.iter_mut().zip(active).for_each(|(steepest, on)| *steepest *= on);
            let product = dot(&residual, &steepest);
            let beta = if iteration == 0 { 0.0 } else { product / last_product };
            for (direction, steepest) in direction.iter_mut().zip(&steepest) {
                *direction = steepest + beta * *direction;
            }
            self.displacement(&direction, &mut response);
            let curvature = dot(&direction, &response);
            // Only rounding errors remain.
            if curvature <= 0.0 {
                break;
            }
            let step = product / curvature;
            for i in 0..cells {
                solution[i] += step * direction[i];
                residual[i] -= step * response[i] * active[i];
            }
            last_product = product;
        }
        solution
    }

    /// Adds the displacement of the region due to a pressure (Pa) on one cell.
    fn press_cell(&self, cell: usize, pressure: f64, gap: &mut [f64]) {
        let influence = self.influences.get(Pair::ZPressure);
        let cols = self.region.cols;
        let (row, col) = (cell / cols, cell % cols);
        if let Ok(place) = self.partial.binary_search_by_key(&cell, |partial| partial.0) {
            gap[cell] += pressure * self.partial[place].1;
        }
        for (other, line) in gap.chunks_exact_mut(cols).enumerate() {
            let weights = &influence.values[other.abs_diff(row) * influence.cols..];
            let (left, right) = line.split_at_mut(col);
            left.iter_mut().rev().zip(&weights[1..]).for_each(|(gap, weight)| *gap += pressure * weight);
            right.iter_mut().zip(weights).for_each(|(gap, weight)| *gap += pressure * weight);
        }
    }

    fn gap(&mut self, depth_m: &[f64], pressure: &[f64], gap: &mut [f64], effort: &mut Effort) {
        self.displacement(pressure, gap);
        effort.products += 1;
        for (gap, depth) in gap.iter_mut().zip(depth_m) {
            *gap -= depth;
        }
    }
}
