//! Normal equations that can be added, subtracted and restricted.

/// AᵀA and Aᵀb, with the squared norm of b.
#[derive(Clone, Debug)]
pub(super) struct NormalEquations {
    size: usize,
    /// Row by row.
    matrix: Vec<f64>,
    right: Vec<f64>,
    squares: f64,
    weight: f64,
}

impl NormalEquations {
    pub fn new(size: usize) -> Self {
        Self { size, matrix: vec![0.0; size * size], right: vec![0.0; size], squares: 0.0, weight: 0.0 }
    }

    /// Adds one equation, row · c = target.
    pub fn add(&mut self, row: &[f64], target: f64, weight: f64) {
        for (i, &value) in row.iter().enumerate() {
            let scaled = weight * value;
            let line = &mut self.matrix[i * self.size..(i + 1) * self.size];
            // The lower half is enough.
            line[..=i].iter_mut().zip(row).for_each(|(entry, other)| *entry += scaled * other);
            self.right[i] += scaled * target;
        }
        self.squares += weight * target * target;
        self.weight += weight;
    }

    /// Adds other equations in the same unknowns.
    pub fn join(&mut self, other: &Self) {
        self.matrix.iter_mut().zip(&other.matrix).for_each(|(a, b)| *a += b);
        self.right.iter_mut().zip(&other.right).for_each(|(a, b)| *a += b);
        self.squares += other.squares;
        self.weight += other.weight;
    }

    /// The equations restricted to some of the unknowns.
    pub fn only(&self, kept: &[usize]) -> Self {
        let entry = |i: usize, j: usize| self.matrix[i.max(j) * self.size + i.min(j)];
        Self {
            size: kept.len(),
            matrix: kept.iter().flat_map(|&i| kept.iter().map(move |&j| entry(i, j))).collect(),
            right: kept.iter().map(|&i| self.right[i]).collect(),
            ..*self
        }
    }

    /// Solves for the unknowns with ridge regularisation: `ridge` of unknown i is added to the diagonal of the scaled matrix.
    pub fn solve(&self, ridge: impl Fn(usize) -> f64) -> Vec<f64> {
        let n = self.size;
        let scale: Vec<f64> =
            (0..n).map(|i| self.matrix[i * n + i].sqrt()).map(|s| if s > 0.0 { s } else { 1.0 }).collect();
        // Cholesky factor, row by row.
        let mut factor = vec![0.0; n * n];
        for i in 0..n {
            for j in 0..=i {
                let mut sum = self.matrix[i * n + j] / (scale[i] * scale[j]);
                if i == j {
                    sum += ridge(i);
                }
                sum -= (0..j).map(|k| factor[i * n + k] * factor[j * n + k]).sum::<f64>();
                factor[i * n + j] = if i == j { sum.max(1e-14).sqrt() } else { sum / factor[j * n + j] };
            }
        }
        let mut x: Vec<f64> = self.right.iter().zip(&scale).map(|(right, scale)| right / scale).collect();
        for i in 0..n {
            let sum: f64 = (0..i).map(|k| factor[i * n + k] * x[k]).sum();
            x[i] = (x[i] - sum) / factor[i * n + i];
        }
        for i in (0..n).rev() {
            let sum: f64 = (i + 1..n).map(|k| factor[k * n + i] * x[k]).sum();
            x[i] = (x[i] - sum) / factor[i * n + i];
        }
        x.iter().zip(&scale).map(|(x, scale)| x / scale).collect()
    }

    /// Mean square residual of a solution.
    pub fn left_over(&self, solution: &[f64]) -> f64 {
        let n = self.size;
        let mut squares = self.squares;
        for i in 0..n {
            let line: f64 = (0..n).map(|j| self.matrix[i.max(j) * n + i.min(j)] * solution[j]).sum();
            squares += solution[i] * (line - 2.0 * self.right[i]);
        }
        squares.max(0.0) / self.weight.max(f64::MIN_POSITIVE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plane_comes_back_and_nothing_is_left() {
        let truth = [4.0, -2.0, 0.5];
        let mut all = NormalEquations::new(3);
        for i in 0..40 {
            let row = [1.0, f64::from(i), f64::from(i * i % 17)];
            all.add(&row, truth.iter().zip(row).map(|(c, x)| c * x).sum(), 0.5);
        }
        let solution = all.solve(|_| 0.0);
        assert!(solution.iter().zip(truth).all(|(a, b)| (a - b).abs() < 1e-8), "{solution:?}");
        assert!(all.left_over(&solution) < 1e-8);
        // Without the last unknown the fit has a residual.
        let fewer = all.only(&[0, 1]);
        assert!(fewer.left_over(&fewer.solve(|_| 0.0)) > 0.01);
    }
}
