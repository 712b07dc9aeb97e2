//! Gaussian spread of loads by a soft cover.

/// Gaussian spread of point loads before they are distributed over the taxels.
///
/// Kappassov et al. 2020, eq. (1), bins loads into tactels first and spreads the forces of the tactels
/// ([`crate::Spread`]), which loses the position of a load inside its tactel. Here each load is spread from its own
/// position, and a cell receives the part of the Gaussian above it,
/// ```text
/// ∫ g dx over [a, b] = ½ (erf((b − x)/σ√2) − erf((a − x)/σ√2)),   along each axis.
/// ```
/// Load beside the array counts as outside, as under a real cover.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Gaussian {
    pub sigma_m: f64,
}

/// Number of σ beyond which the Gaussian is below rounding.
const TAIL: f64 = 9.0;

impl Gaussian {
    /// Shares of a load at `x_m` on adjacent cells of width `pitch_m`, the first of which begins at 0: the index of the
    /// first cell with a share, and the shares from there on.
    pub fn shares(&self, x_m: f64, pitch_m: f64, cells: usize) -> (usize, Vec<f64>) {
        let first = ((x_m - TAIL * self.sigma_m) / pitch_m).floor().clamp(0.0, cells as f64) as usize;
        let last = ((x_m + TAIL * self.sigma_m) / pitch_m).ceil().clamp(0.0, cells as f64) as usize;
        let below = |border: usize| {
            0.5 * libm::erf((border as f64 * pitch_m - x_m) / (self.sigma_m * std::f64::consts::SQRT_2))
        };
        let mut lower = below(first);
        let shares = (first..last)
            .map(|cell| {
                let upper = below(cell + 1);
                let share = upper - lower;
                lower = upper;
                share
            })
            .collect();
        (first, shares)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Shares of a wide row sum to one; a load on a border is shared equally; a distant load has no share.
    #[test]
    fn shares_are_parts_of_the_load() {
        let bell = Gaussian { sigma_m: 0.5e-3 };
        for x in [10e-3, 10.3e-3, 11.99e-3] {
            let (first, shares) = bell.shares(x, 1e-3, 24);
            assert!((shares.iter().sum::<f64>() - 1.0).abs() < 1e-14);
            let mean: f64 = shares.iter().enumerate().map(|(i, s)| s * ((first + i) as f64 + 0.5) * 1e-3).sum();
            assert!((mean - x).abs() < 0.1e-3, "the middle stays where it is, to a tenth of a cell: {mean}");
        }
        let (first, shares) = bell.shares(10e-3, 1e-3, 24);
        assert!((shares[9 - first] - shares[10 - first]).abs() < 1e-15);
        // erf(1/√2) / 2: one σ on each side.
        let half = Gaussian { sigma_m: 1e-3 }.shares(0.0, 1e-3, 4).1[0];
        assert!((half - 0.341_344_746_068_542_9).abs() < 1e-15, "{half}");
        assert!(bell.shares(-1.0, 1e-3, 24).1.is_empty() && bell.shares(1.0, 1e-3, 24).1.is_empty());
    }
}
