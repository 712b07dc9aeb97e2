//! Where a surface sticks to an object and where it slips: |q| ≤ μp, and slip against q.

use super::Effort;
use super::fourier::Scratch;
use super::kernel::Pair;
use super::product::{Influences, Product, Region};
use rustfft::num_complex::Complex64;
use std::sync::Arc;

/// Shear tractions in a region that carry the surface along as far as friction allows.
///
/// Minimises ½ qᵀKq − qᵀd over |q| ≤ b cell by cell, where d (m) is how far the object has moved: stuck cells follow it,
/// slipping ones lag behind in the direction of q. Conjugate gradients on the stuck cells and along the circles of the
/// slipping ones, with the same preconditioner as for pressure.
pub struct PartialSlip<'a> {
    influences: &'a Influences,
    product: Arc<Product>,
    region: Region,
    scratch: Scratch,
    spectra: [Vec<Complex64>; 4],
}

/// More iterations than this mean that rounding is all that is left to remove.
const MOST_ITERATIONS: usize = 400;
/// Without an error that is smaller by so much in so many iterations none will come: some cell at the border of slip goes to and fro.
const BETTER: f64 = 0.9;
const PATIENCE: usize = 80;
/// A traction this close to its bound is at it.
const AT_BOUND: f64 = 1.0 - 1e-9;

/// Directions are forgotten when more than one in so many cells begins or ceases to slip at once. Fewer spoil a direction less than
/// beginning anew would cost; and what spoils it is seen, for then it is not taken along (Polak and Ribière).
const FEW: usize = 20;

type Plane = [Vec<f64>; 2];

impl<'a> PartialSlip<'a> {
    /// Friction within a region.
    pub fn new(influences: &'a Influences, region: Region) -> Self {
        let product = influences.within(&region);
        let spectra = std::array::from_fn(|_| product.fourier.spectrum());
        Self { influences, product, region, scratch: Scratch::default(), spectra }
    }

    /// How far shear carries the surface, in the region.
    pub fn slide(&mut self, shear: &Plane, out: &mut Plane) {
        let (fourier, cols) = (&self.product.fourier, self.region.cols);
        let [x, y, out_x, out_y] = &mut self.spectra;
        fourier.forward(&shear[0], cols, x, &mut self.scratch);
        fourier.forward(&shear[1], cols, y, &mut self.scratch);
        let kernel = |pair| self.product.spectrum(self.influences, pair);
        kernel(Pair::XX).multiply(x, out_x);
        kernel(Pair::XY).multiply_add(1.0, y, out_x);
        kernel(Pair::YY).multiply(y, out_y);
        kernel(Pair::XY).multiply_add(1.0, x, out_y);
        fourier.backward(out_x, (0, 0), cols, &mut out[0], &mut self.scratch);
        fourier.backward(out_y, (0, 0), cols, &mut out[1], &mut self.scratch);
    }

    fn precondition(&mut self, residual: &Plane, out: &mut Plane) {
        let (fourier, kernel) = self.product.precondition(self.influences);
        let spectrum = &mut self.spectra[0][..fourier.rows() * fourier.waves()];
        for (residual, out) in residual.iter().zip(out) {
            fourier.forward(residual, self.region.cols, spectrum, &mut self.scratch);
            for (value, &k) in spectrum.iter_mut().zip(kernel.values()) {
                *value *= k;
            }
            fourier.backward(spectrum, (0, 0), self.region.cols, out, &mut self.scratch);
        }
    }

    /// Improves `shear` (Pa) until no cell is off by more than `tolerance_m`. `wanted_m` is d, `bound` (Pa) is μp.
    pub fn solve(&mut self, wanted_m: &Plane, bound: &[f64], shear: &mut Plane, tolerance_m: f64) -> Effort {
        let cells = bound.len();
        let plane = || -> Plane { [vec![0.0; cells], vec![0.0; cells]] };
        let mut effort = Effort::default();
        for (i, &bound) in bound.iter().enumerate() {
            project(shear, bound, i);
        }
        let (mut lag, mut response) = (plane(), plane());
        let (mut residual, mut last_residual, mut steepest, mut direction) = (plane(), plane(), plane(), plane());
        let mut slips = vec![false; cells];
        let mut last_product = 0.0;
        let (mut best_m, mut best_at) = (f64::INFINITY, 0);
        let mut anew = true;
        let pressed = bound.iter().filter(|&&bound| bound > 0.0).count();
        while effort.iterations < MOST_ITERATIONS {
            self.slide(shear, &mut lag);
            effort.products += 1;
            effort.error_m = 0.0;
            let mut turned = 0;
            for i in 0..cells {
                let (q, e) = ([shear[0][i], shear[1][i]], [wanted_m[0][i] - lag[0][i], wanted_m[1][i] - lag[1][i]]);
                let size = q[0].hypot(q[1]);
                let along = if size > 0.0 { (e[0] * q[0] + e[1] * q[1]) / size } else { 0.0 };
                let slipping = bound[i] > 0.0 && size >= AT_BOUND * bound[i] && along >= 0.0;
                turned += usize::from(slipping != slips[i]);
                slips[i] = slipping;
                for axis in 0..2 {
                    lag[axis][i] = e[axis];
                    residual[axis][i] = match (bound[i] > 0.0, slipping) {
                        (false, _) => 0.0,
                        (true, true) => e[axis] - along * q[axis] / size,
                        (true, false) => e[axis],
                    };
                }
                effort.error_m = effort.error_m.max(residual[0][i].hypot(residual[1][i]));
            }
            if effort.error_m <= tolerance_m {
                break;
            }
            anew |= turned * FEW > pressed;
            if effort.error_m < BETTER * best_m {
                best_m = effort.error_m;
                best_at = effort.iterations;
            } else if effort.iterations >= best_at + PATIENCE {
                break;
            }
            effort.iterations += 1;
            self.precondition(&residual, &mut steepest);
            restrict(&mut steepest, shear, bound, &slips);
            let product = dot(&residual, &steepest);
            let change = dot(&last_residual, &steepest);
            let beta = if anew { 0.0 } else { ((product - change) / last_product).max(0.0) };
            for axis in 0..2 {
                for i in 0..cells {
                    direction[axis][i] = beta * direction[axis][i] + steepest[axis][i];
                }
            }
            restrict(&mut direction, shear, bound, &slips);
            self.slide(&direction, &mut response);
            effort.products += 1;
            let slope = dot(&residual, &direction);
            let mut curvature = dot(&direction, &response);
            for i in (0..cells).filter(|&i| slips[i]) {
                // Turning a traction on its circle costs what the slip presses outwards with.
                let outward = (lag[0][i] * shear[0][i] + lag[1][i] * shear[1][i]) / (bound[i] * bound[i]);
                curvature += outward * (direction[0][i].powi(2) + direction[1][i].powi(2));
            }
            if curvature <= 0.0 || slope <= 0.0 {
                if anew {
                    break;
                }
                anew = true;
                continue;
            }
            let step = slope / curvature;
            let mut left = 0;
            for i in 0..cells {
                for axis in 0..2 {
                    shear[axis][i] += step * direction[axis][i];
                }
                left += usize::from(project(shear, bound[i], i) && !slips[i]);
            }
            anew = left * FEW > pressed;
            std::mem::swap(&mut last_residual, &mut residual);
            last_product = product;
        }
        effort
    }
}

/// Brings the traction of a cell back into its circle; says whether it had left.
fn project(shear: &mut Plane, bound: f64, i: usize) -> bool {
    let size = shear[0][i].hypot(shear[1][i]);
    let out = size > bound;
    if out {
        let factor = if bound > 0.0 { bound / size } else { 0.0 };
        shear[0][i] *= factor;
        shear[1][i] *= factor;
    }
    out
}

/// Leaves of a direction what cells may do: nothing without pressure, along the circle where they slip.
fn restrict(direction: &mut Plane, shear: &Plane, bound: &[f64], slips: &[bool]) {
    for i in 0..bound.len() {
        if bound[i] <= 0.0 {
            (direction[0][i], direction[1][i]) = (0.0, 0.0);
        } else if slips[i] {
            let size2 = shear[0][i].powi(2) + shear[1][i].powi(2);
            let along = (direction[0][i] * shear[0][i] + direction[1][i] * shear[1][i]) / size2;
            direction[0][i] -= along * shear[0][i];
            direction[1][i] -= along * shear[1][i];
        }
    }
}

fn dot(a: &Plane, b: &Plane) -> f64 {
    a.iter().zip(b).map(|(a, b)| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>()).sum()
}
