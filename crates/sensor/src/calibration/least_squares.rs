//! Linear least squares with a few unknowns.

use nalgebra::{DMatrix, DVector};
use statrs::distribution::{ContinuousCDF, StudentsT};

/// Coefficients and their covariance.
pub struct Solution {
    pub coefficients: Vec<f64>,
    /// Inverse of the normal matrix, not multiplied by the variance of a residual.
    pub inverse: DMatrix<f64>,
    /// Sum of squared residuals.
    pub squares: f64,
}

/// Smallest pivot of the scaled normal matrix of independent columns.
const MIN_PIVOT: f64 = 1e-13;

/// Minimises Σ (rows·c − targets)². `None` if the columns are dependent.
pub fn solve(rows: &[Vec<f64>], targets: &[f64]) -> Option<Solution> {
    let n = rows.first()?.len();
    let mut matrix = DMatrix::from_row_iterator(rows.len(), n, rows.iter().flatten().copied());
    let targets = DVector::from_column_slice(targets);
    // Columns are scaled to unit norm, so that the test for dependence does not depend on units.
    let scale: Vec<f64> = matrix.column_iter().map(|column| column.norm()).collect();
    if scale.iter().any(|s| s.is_nan() || *s <= 0.0) {
        return None;
    }
    matrix.column_iter_mut().zip(&scale).for_each(|(mut column, scale)| column /= *scale);
    let factor = matrix.tr_mul(&matrix).cholesky()?;
    if factor.l_dirty().diagonal().iter().any(|pivot| pivot * pivot < MIN_PIVOT) {
        return None;
    }
    let scaled = factor.solve(&matrix.tr_mul(&targets));
    let squares = (&matrix * &scaled - targets).norm_squared();
    let mut inverse = factor.inverse();
    for i in 0..n {
        for j in 0..n {
            inverse[(i, j)] /= scale[i] * scale[j];
        }
    }
    Some(Solution { coefficients: scaled.iter().zip(&scale).map(|(c, scale)| c / scale).collect(), inverse, squares })
}

/// The 97.5 % quantile of Student's t with `freedom` degrees of freedom.
pub fn student_975(freedom: usize) -> f64 {
    StudentsT::new(0.0, 1.0, freedom as f64).map_or(f64::INFINITY, |t| t.inverse_cdf(0.975))
}

/// Minimum of a function on an interval: a scan, then golden-section search around the best point.
pub fn minimum(f: impl Fn(f64) -> f64, low: f64, high: f64) -> f64 {
    search(f, low, high, 200, 80)
}

/// Like [`minimum`], with a given number of scan points and search steps, for expensive functions.
pub fn search(f: impl Fn(f64) -> f64, low: f64, high: f64, scan: usize, steps: usize) -> f64 {
    let at = |i: usize| low + (high - low) * i as f64 / scan as f64;
    let values: Vec<f64> = (0..=scan).map(|i| f(at(i))).collect();
    let best = (0..=scan).min_by(|&a, &b| values[a].total_cmp(&values[b])).unwrap_or(0);
    let (mut a, mut b) = (at(best.saturating_sub(1)), at((best + 1).min(scan)));
    let ratio = (5f64.sqrt() - 1.0) / 2.0;
    for _ in 0..steps {
        let (c, d) = (b - ratio * (b - a), a + ratio * (b - a));
        if f(c) < f(d) {
            b = d;
        } else {
            a = c;
        }
    }
    0.5 * (a + b)
}

/// Minimum of a function of several variables by the simplex of Nelder and Mead, with at most `evaluations`.
pub fn simplex(f: impl Fn(&[f64]) -> f64, start: &[f64], steps: &[f64], evaluations: usize) -> Vec<f64> {
    let n = start.len();
    let mut points: Vec<(f64, Vec<f64>)> = (0..=n)
        .map(|i| {
            let mut point = start.to_vec();
            if i < n {
                point[i] += steps[i];
            }
            (f(&point), point)
        })
        .collect();
    let mut count = n + 1;
    while count < evaluations {
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        if points[n].0 - points[0].0 <= 1e-10 * points[0].0.abs() {
            break;
        }
        let middle: Vec<f64> = (0..n).map(|k| points[..n].iter().map(|p| p.1[k]).sum::<f64>() / n as f64).collect();
        let along = |part: f64| {
            let point: Vec<f64> = (0..n).map(|k| middle[k] + part * (points[n].1[k] - middle[k])).collect();
            (f(&point), point)
        };
        let mirrored = along(-1.0);
        count += 2;
        points[n] = if mirrored.0 < points[0].0 {
            let further = along(-2.0);
            if further.0 < mirrored.0 { further } else { mirrored }
        } else if mirrored.0 < points[n - 1].0 {
            mirrored
        } else {
            let nearer = along(if mirrored.0 < points[n].0 { -0.5 } else { 0.5 });
            if nearer.0 < points[n].0.min(mirrored.0) {
                nearer
            } else {
                let best = points[0].1.clone();
                for point in &mut points[1..] {
                    point.1.iter_mut().zip(&best).for_each(|(x, best)| *x = 0.5 * (*x + best));
                    point.0 = f(&point.1);
                }
                count += n;
                continue;
            }
        };
    }
    points.into_iter().min_by(|a, b| a.0.total_cmp(&b.0)).map_or_else(|| start.to_vec(), |best| best.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_valley_is_followed_to_its_lowest_point() {
        let valley = |v: &[f64]| (1.0 - v[0]).powi(2) + 100.0 * (v[1] - v[0] * v[0]).powi(2);
        let found = simplex(valley, &[-1.2, 1.0], &[0.5, 0.5], 2000);
        assert!((found[0] - 1.0).abs() < 1e-3 && (found[1] - 1.0).abs() < 1e-3, "{found:?}");
    }

    #[test]
    fn a_line_is_found_exactly() {
        let rows: Vec<Vec<f64>> = (0..5).map(|i| vec![1.0, f64::from(i)]).collect();
        let targets: Vec<f64> = (0..5).map(|i| 3.0 - 2.0 * f64::from(i)).collect();
        let solution = solve(&rows, &targets).unwrap();
        assert!((solution.coefficients[0] - 3.0).abs() < 1e-12 && (solution.coefficients[1] + 2.0).abs() < 1e-12);
        assert!(solution.squares < 1e-24);
        assert!(solve(&vec![vec![1.0, 2.0]; 4], &[1.0; 4]).is_none(), "dependent columns");
    }

    /// Values from tables of the t distribution. The quantile of `statrs` is off by 6e-5 at a million degrees of freedom.
    #[test]
    fn student_matches_the_tables() {
        for (freedom, truth) in [(1, 12.7062), (3, 3.1824), (10, 2.2281), (30, 2.0423), (1_000_000, 1.95997)] {
            assert!((student_975(freedom) / truth - 1.0).abs() < 1e-4, "{freedom}: {}", student_975(freedom));
        }
        assert_eq!(student_975(0), f64::INFINITY);
    }
}
