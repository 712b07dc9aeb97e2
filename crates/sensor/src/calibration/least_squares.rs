//! Linear least squares with a few unknowns.

/// Coefficients and their covariance.
pub struct Solution {
    pub coefficients: Vec<f64>,
    /// Inverse of the normal matrix, not multiplied by the variance of a residual.
    pub inverse: Vec<Vec<f64>>,
    /// Sum of squared residuals.
    pub squares: f64,
}

/// Minimises Σ (rows·c − targets)². `None` if the columns are dependent.
pub fn solve(rows: &[Vec<f64>], targets: &[f64]) -> Option<Solution> {
    let n = rows.first()?.len();
    // Columns are scaled to unit norm, so that the test for dependence does not depend on units.
    let scale: Vec<f64> = (0..n).map(|j| rows.iter().map(|row| row[j] * row[j]).sum::<f64>().sqrt()).collect();
    if scale.iter().any(|s| s.is_nan() || *s <= 0.0) {
        return None;
    }
    let mut matrix = vec![vec![0.0; 2 * n]; n];
    let mut right = vec![0.0; n];
    for (row, target) in rows.iter().zip(targets) {
        for i in 0..n {
            for j in 0..n {
                matrix[i][j] += row[i] * row[j] / (scale[i] * scale[j]);
            }
            right[i] += row[i] * target / scale[i];
        }
    }
    for (i, row) in matrix.iter_mut().enumerate() {
        row[n + i] = 1.0;
    }
    invert(&mut matrix)?;
    let inverse: Vec<Vec<f64>> =
        (0..n).map(|i| (0..n).map(|j| matrix[i][n + j] / (scale[i] * scale[j])).collect()).collect();
    let coefficients: Vec<f64> =
        (0..n).map(|i| (0..n).map(|j| matrix[i][n + j] * right[j]).sum::<f64>() / scale[i]).collect();
    let residual = |row: &[f64]| row.iter().zip(&coefficients).map(|(a, c)| a * c).sum::<f64>();
    let squares = rows.iter().zip(targets).map(|(row, target)| (residual(row) - target).powi(2)).sum();
    Some(Solution { coefficients, inverse, squares })
}

/// Gauss–Jordan elimination with pivoting on [A | 1]; leaves the inverse on the right.
fn invert(matrix: &mut [Vec<f64>]) -> Option<()> {
    let n = matrix.len();
    for column in 0..n {
        let pivot = (column..n).max_by(|&a, &b| matrix[a][column].abs().total_cmp(&matrix[b][column].abs()))?;
        if matrix[pivot][column].abs() < 1e-13 {
            return None;
        }
        matrix.swap(column, pivot);
        let lead = matrix[column][column];
        matrix[column].iter_mut().for_each(|x| *x /= lead);
        let leader = matrix[column].clone();
        for (i, row) in matrix.iter_mut().enumerate() {
            let factor = row[column];
            if i != column && factor != 0.0 {
                row.iter_mut().zip(&leader).for_each(|(x, l)| *x -= factor * l);
            }
        }
    }
    Some(())
}

/// The 97.5 % quantile of Student's t with `freedom` degrees of freedom: Hill's expansion about the normal, accurate to
/// 0.2 % from 3 degrees of freedom.
pub fn student_975(freedom: usize) -> f64 {
    match freedom {
        0 => f64::INFINITY,
        1 => 12.706,
        2 => 4.303,
        _ => {
            let (z, n) = (1.959_964f64, freedom as f64);
            let g1 = (z.powi(3) + z) / 4.0;
            let g2 = (5.0 * z.powi(5) + 16.0 * z.powi(3) + 3.0 * z) / 96.0;
            let g3 = (3.0 * z.powi(7) + 19.0 * z.powi(5) + 17.0 * z.powi(3) - 15.0 * z) / 384.0;
            let g4 =
                (79.0 * z.powi(9) + 776.0 * z.powi(7) + 1482.0 * z.powi(5) - 1920.0 * z.powi(3) - 945.0 * z) / 92160.0;
            z + g1 / n + g2 / n.powi(2) + g3 / n.powi(3) + g4 / n.powi(4)
        }
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_found_exactly() {
        let rows: Vec<Vec<f64>> = (0..5).map(|i| vec![1.0, f64::from(i)]).collect();
        let targets: Vec<f64> = (0..5).map(|i| 3.0 - 2.0 * f64::from(i)).collect();
        let solution = solve(&rows, &targets).unwrap();
        assert!((solution.coefficients[0] - 3.0).abs() < 1e-12 && (solution.coefficients[1] + 2.0).abs() < 1e-12);
        assert!(solution.squares < 1e-24);
        assert!(solve(&vec![vec![1.0, 2.0]; 4], &[1.0; 4]).is_none(), "dependent columns");
    }

    /// Values from tables of the t distribution: 3.182 (3), 2.228 (10), 2.042 (30), 1.960 (∞).
    #[test]
    fn student_matches_the_tables() {
        for (freedom, truth) in [(3, 3.182), (5, 2.571), (10, 2.228), (30, 2.042), (1_000_000, 1.960)] {
            assert!((student_975(freedom) / truth - 1.0).abs() < 2e-3, "{freedom}: {}", student_975(freedom));
        }
    }
}
