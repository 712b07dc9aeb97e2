//! Sums over vector lanes, in a fixed order.

use crate::friction_lanes::Lanes;

/// Lanes of a partial sum: two vector registers.
pub(crate) const WIDTH: usize = 8;

/// Adds the products of two numbers of each lane to a partial sum.
#[inline(always)]
pub(crate) fn add_products(sum: &mut [f64; WIDTH], a: &Lanes, b: &Lanes) {
    let mut part = *sum;
    for (a, b) in a.chunks_exact(WIDTH).zip(b.chunks_exact(WIDTH)) {
        for lane in 0..WIDTH {
            part[lane] += a[lane] * b[lane];
        }
    }
    *sum = part;
}

/// Adds the numbers of all lanes to a partial sum.
#[inline(always)]
pub(crate) fn add_all(sum: &mut [f64; WIDTH], values: &Lanes) {
    let mut part = *sum;
    for values in values.chunks_exact(WIDTH) {
        for lane in 0..WIDTH {
            part[lane] += values[lane];
        }
    }
    *sum = part;
}

/// The sum of a partial sum.
#[inline(always)]
pub(crate) fn total(sum: &[f64; WIDTH]) -> f64 {
    ((sum[0] + sum[4]) + (sum[2] + sum[6])) + ((sum[1] + sum[5]) + (sum[3] + sum[7]))
}
