//! Gaussian smoothing.

/// Weights of a Gaussian from its centre to three standard deviations; both sides sum to one.
///
/// ```
/// let smooth = dermis_skin::Blur::new(1.0).apply(&[0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0], 7);
/// assert!(smooth[3] < 1.0 && smooth[3] > smooth[2] && (smooth[2] - smooth[4]).abs() < 1e-15);
/// ```
#[derive(Clone, Debug)]
pub struct Blur {
    half: Vec<f64>,
}

impl Blur {
    /// A Gaussian with a standard deviation in cells.
    pub fn new(width: f64) -> Self {
        let count = (3.0 * width).ceil().clamp(1.0, 1000.0) as usize;
        let half: Vec<f64> = (0..=count).map(|i| (-0.5 * (i as f64 / width).powi(2)).exp()).collect();
        let sum = half[0] + 2.0 * half[1..].iter().sum::<f64>();
        Self { half: half.into_iter().map(|weight| weight / sum).collect() }
    }

    /// The weights from the centre outwards, of one side.
    pub fn weights(&self) -> &[f64] {
        &self.half
    }

    /// A smoothed copy of a grid of `cols` columns; values outside the grid are zero.
    pub fn apply(&self, grid: &[f64], cols: usize) -> Vec<f64> {
        let rows = grid.len() / cols;
        let mut across = vec![0.0; grid.len()];
        for (line, out) in grid.chunks_exact(cols).zip(across.chunks_exact_mut(cols)) {
            if line.iter().all(|value| *value == 0.0) {
                continue;
            }
            for (i, &weight) in self.half.iter().enumerate().filter(|(i, _)| *i < cols) {
                out[i..].iter_mut().zip(line).for_each(|(out, value)| *out += weight * value);
                if i > 0 {
                    out[..cols - i].iter_mut().zip(&line[i..]).for_each(|(out, value)| *out += weight * value);
                }
            }
        }
        let mut smooth = vec![0.0; grid.len()];
        for (row, out) in smooth.chunks_exact_mut(cols).enumerate() {
            for (i, &weight) in self.half.iter().enumerate() {
                for source in [row.checked_sub(i), (i > 0 && row + i < rows).then_some(row + i)].into_iter().flatten() {
                    let line = &across[source * cols..(source + 1) * cols];
                    out.iter_mut().zip(line).for_each(|(out, value)| *out += weight * value);
                }
            }
        }
        smooth
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A point becomes a Gaussian: its sum is conserved and its variance is the square of the width.
    #[test]
    fn a_point_becomes_a_gaussian() {
        let (rows, cols, width) = (61, 51, 4.0);
        let mut grid = vec![0.0; rows * cols];
        grid[30 * cols + 25] = 2.0;
        let smooth = Blur::new(width).apply(&grid, cols);
        assert!((smooth.iter().sum::<f64>() - 2.0).abs() < 1e-12);
        let spread =
            |of: &dyn Fn(usize) -> f64| smooth.iter().enumerate().map(|(i, v)| v * of(i).powi(2)).sum::<f64>() / 2.0;
        let variances = [spread(&|i| (i % cols) as f64 - 25.0), spread(&|i| (i / cols) as f64 - 30.0)];
        assert!(variances.iter().all(|variance| (variance / (width * width) - 1.0).abs() < 0.03), "{variances:?}");
    }
}
