//! Coulomb friction with partial slip: |q| ≤ μp, and slip opposite to q.

use super::Effort;
use super::fourier::Scratch;
use super::kernel::Pair;
use super::product::{Influences, Product, Region};
use dermis_fft::num_complex::Complex64;
use std::sync::Arc;

/// Solver for the shear tractions in a region.
///
/// Minimises f = ½ qᵀKq − qᵀd over |q| ≤ b in each cell, where d (m) is the displacement of the object: sticking cells
/// follow it, slipping cells lag behind in the direction of q. Uses spectral projected gradients (Birgin, Martínez and
/// Raydan 2000) with the step lengths of Barzilai and Borwein (1988), because cells change between stick and slip in
/// every iteration, which would restart conjugate gradients. A non-monotone line search lets f rise for some
/// iterations; a step beyond that is shortened to the minimum along it.
pub struct PartialSlip<'a> {
    influences: &'a Influences,
    product: Arc<Product>,
    region: Region,
    scratch: Scratch,
    spectra: [Vec<Complex64>; 4],
}

/// Maximum number of iterations; usually only rounding errors remain after them.
const MAX_ITERATIONS: usize = 600;
/// Fraction of the bound above which a cell slips.
const AT_BOUND: f64 = 1.0 - 1e-9;

/// Length of the history of the non-monotone line search.
const HISTORY: usize = 10;

type Plane = [Vec<f64>; 2];

impl<'a> PartialSlip<'a> {
    /// Friction within a region.
    pub fn new(influences: &'a Influences, region: Region) -> Self {
        let product = influences.within(&region);
        let spectra = std::array::from_fn(|_| product.fourier.spectrum());
        Self { influences, product, region, scratch: Scratch::default(), spectra }
    }

    /// Tangential displacement (m) of the region under shear tractions (Pa).
    pub fn displacement(&mut self, shear: &Plane, out: &mut Plane) {
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

    /// Improves `shear` (Pa) until the error of every cell is at most `tolerance_m`. `wanted_m` is d, `bound` (Pa) is
    /// μp.
    pub fn solve(&mut self, wanted_m: &Plane, bound: &[f64], shear: &mut Plane, tolerance_m: f64) -> Effort {
        let cells = bound.len();
        let plane = || -> Plane { [vec![0.0; cells], vec![0.0; cells]] };
        let mut effort = Effort::default();
        for (i, &bound) in bound.iter().enumerate() {
            project(shear, bound, i);
        }
        let (mut lag, mut step, mut response) = (plane(), plane(), plane());
        self.displacement(shear, &mut lag);
        effort.products += 1;
        let mut stride = 0.0;
        let mut history = [f64::NEG_INFINITY; HISTORY];
        loop {
            effort.error_m = error_m(wanted_m, bound, shear, &lag);
            if effort.error_m <= tolerance_m || effort.iterations >= MAX_ITERATIONS {
                break;
            }
            if effort.iterations == 0 {
                stride = self.first_stride(wanted_m, bound, &lag, &mut response);
                effort.products += 1;
            }
            let energy = energy(wanted_m, shear, &lag);
            history[effort.iterations % HISTORY] = energy;
            effort.iterations += 1;
            let mut slope = 0.0;
            for i in 0..cells {
                let from = [shear[0][i], shear[1][i]];
                let pull = [wanted_m[0][i] - lag[0][i], wanted_m[1][i] - lag[1][i]];
                let to = within([from[0] + stride * pull[0], from[1] + stride * pull[1]], bound[i]);
                for axis in 0..2 {
                    step[axis][i] = to[axis] - from[axis];
                    slope += step[axis][i] * pull[axis];
                }
            }
            self.displacement(&step, &mut response);
            effort.products += 1;
            let (length, curvature, bend) = (dot(&step, &step), dot(&step, &response), dot(&response, &response));
            if !(curvature > 0.0 && slope > 0.0) {
                break;
            }
            let highest = history.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let whole = energy - slope + 0.5 * curvature <= highest - 1e-4 * slope;
            let part = if whole { 1.0 } else { (slope / curvature).min(1.0) };
            for axis in 0..2 {
                for i in 0..cells {
                    shear[axis][i] += part * step[axis][i];
                    lag[axis][i] += part * response[axis][i];
                }
            }
            // Alternates the two step lengths of Barzilai and Borwein: the long one is fast, the short one stabilises.
            stride = if effort.iterations % 2 == 0 { length / curvature } else { curvature / bend };
        }
        effort
    }

    /// Step length of steepest descent.
    fn first_stride(&mut self, wanted_m: &Plane, bound: &[f64], lag: &Plane, response: &mut Plane) -> f64 {
        let pull: Plane = std::array::from_fn(|axis| {
            let pressed = |i: usize| if bound[i] > 0.0 { wanted_m[axis][i] - lag[axis][i] } else { 0.0 };
            (0..bound.len()).map(pressed).collect()
        });
        self.displacement(&pull, response);
        dot(&pull, &pull) / dot(&pull, response).max(f64::MIN_POSITIVE)
    }
}

/// f, without the constant term.
fn energy(wanted_m: &Plane, shear: &Plane, lag: &Plane) -> f64 {
    0.5 * dot(shear, lag) - dot(shear, wanted_m)
}

/// Maximum error (m): displacement of a sticking cell, or the component across the direction of slip.
fn error_m(wanted_m: &Plane, bound: &[f64], shear: &Plane, lag: &Plane) -> f64 {
    let mut largest = 0.0f64;
    for i in (0..bound.len()).filter(|&i| bound[i] > 0.0) {
        let (q, e) = ([shear[0][i], shear[1][i]], [wanted_m[0][i] - lag[0][i], wanted_m[1][i] - lag[1][i]]);
        let size = q[0].hypot(q[1]);
        let along = if size > 0.0 { (e[0] * q[0] + e[1] * q[1]) / size } else { 0.0 };
        let slips = size >= AT_BOUND * bound[i] && along >= 0.0;
        let off = if slips { (e[0] * q[1] - e[1] * q[0]) / size } else { e[0].hypot(e[1]) };
        largest = largest.max(off.abs());
    }
    largest
}

/// Projection of a traction onto the disc of radius `bound`.
fn within([x, y]: [f64; 2], bound: f64) -> [f64; 2] {
    let size = x.hypot(y);
    if size > bound { [x * bound / size, y * bound / size] } else { [x, y] }
}

/// Projects the traction of a cell.
fn project(shear: &mut Plane, bound: f64, i: usize) {
    [shear[0][i], shear[1][i]] = within([shear[0][i], shear[1][i]], bound);
}

fn dot(a: &Plane, b: &Plane) -> f64 {
    a.iter().zip(b).map(|(a, b)| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>()).sum()
}
