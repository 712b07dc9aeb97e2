//! Numerical integration.

use std::f64::consts::PI;

/// Nodes and weights of the Gauss–Legendre rule of `count` points on −1 … 1, from the largest node to the smallest, by
/// Newton's method. Exact for polynomials of degree 2 `count` − 1.
pub fn gauss_legendre(count: usize) -> Vec<(f64, f64)> {
    let n = count as f64;
    let point = |i: usize| {
        let mut x = (PI * (i as f64 + 0.75) / (n + 0.5)).cos();
        let mut slope = 1.0;
        for _ in 0..20 {
            let (mut value, mut before) = (1.0, 0.0);
            for k in 0..count {
                let k = k as f64;
                (value, before) = (((2.0 * k + 1.0) * x * value - k * before) / (k + 1.0), value);
            }
            slope = n * (x * value - before) / (x * x - 1.0);
            x -= value / slope;
        }
        (x, 2.0 / ((1.0 - x * x) * slope * slope))
    };
    (0..count).map(point).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// n points integrate polynomials of degree 2n − 1 exactly, and not the next even one.
    #[test]
    fn points_of_gauss_and_legendre_are_exact() {
        for n in 1..=16usize {
            let points = gauss_legendre(n);
            assert!(points.is_sorted_by(|a, b| a.0 > b.0));
            let sum = |power: i32| points.iter().map(|(x, weight)| weight * x.powi(power)).sum::<f64>();
            for power in 0..2 * n as i32 {
                let truth = if power % 2 == 0 { 2.0 / f64::from(power + 1) } else { 0.0 };
                assert!((sum(power) - truth).abs() < 1e-14, "{n} points, x^{power}: {}", sum(power));
            }
            assert!((sum(2 * n as i32) - 2.0 / (2.0 * n as f64 + 1.0)).abs() > 1e-11, "{n}");
        }
    }
}
