//! Fits the point spread to the readings of the neighbours of a pressed taxel.

use super::least_squares::{search, student_975};
use super::{Estimate, FitError};
use crate::{Spread, Taxels};
use dermis_geometry::TriMesh;

/// The reading of one neighbour of a pressed taxel.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SpreadPoint {
    /// The pressed taxel.
    pub pressed: usize,
    /// The neighbour.
    pub read: usize,
    /// Reading of the neighbour, divided by its reading under the same direct load, which cancels its gain.
    pub ratio: f64,
}

/// The ratio of a [`SpreadPoint`] beside that of the fit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SpreadRatio {
    /// Measured ratio.
    pub measured: f64,
    /// Fitted ratio.
    pub fitted: f64,
}

/// A Gaussian spread.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct SpreadFit {
    /// σ in taxels.
    pub sigma_taxels: Estimate,
    /// Size of the kernel.
    pub kernel: usize,
    /// Root mean square of the residual ratios.
    pub rms: f64,
    /// Number of neighbour readings.
    pub points: usize,
    /// All ratios.
    #[serde(skip)]
    pub ratios: Vec<SpreadRatio>,
}

/// Fits σ to the ratios (w s)_ij s_ii/((w s)_ii s_jj) of neighbours, where s_ij is the share of taxel i in the load of an
/// indenter on taxel j. The ratio of the pressed taxel is one by definition and is excluded. `shares` lists column j of
/// s; `None` if the pressed taxel carries all of the load.
pub fn fit_spread(
    taxels: &Taxels,
    surface: Option<&TriMesh>,
    shares: Option<&[Vec<f64>]>,
    kernel: usize,
    points: &[SpreadPoint],
) -> Result<SpreadFit, FitError> {
    if let Some(row) = points.iter().position(|point| !point.ratio.is_finite()) {
        return Err(FitError::NotFinite { row: row + 1, x: points[row].read as f64, y: points[row].ratio });
    }
    let neighbours: Vec<&SpreadPoint> = points.iter().filter(|point| point.pressed != point.read).collect();
    if neighbours.len() < 4 {
        return Err(FitError::TooFew {
            what: "a spread (neighbours that read anything)",
            got: neighbours.len(),
            needed: 4,
        });
    }
    let models = |sigma: f64| -> Option<Vec<f64>> {
        let weights = Spread::gaussian(sigma, kernel).weights(taxels, surface).ok()?;
        let spread: Option<Vec<Vec<f64>>> =
            shares.map(|shares| shares.iter().map(|column| weights.apply(column)).collect());
        let model = |p: &SpreadPoint| match (&spread, shares) {
            (Some(spread), Some(shares)) => {
                let direct = spread[p.read][p.read] * shares[p.pressed][p.pressed];
                spread[p.pressed][p.read] * shares[p.read][p.read] / direct
            }
            _ => weights.get(p.read, p.pressed) / weights.get(p.read, p.read),
        };
        Some(neighbours.iter().map(|p| model(p)).collect())
    };
    let squares = |sigma: f64| {
        let off = |models: Vec<f64>| models.iter().zip(&neighbours).map(|(model, p)| (model - p.ratio).powi(2)).sum();
        models(sigma).map_or(f64::INFINITY, off)
    };
    let (low, high) = (0.1f64, 4.0f64);
    let sigma = search(|log| squares(log.exp()), low.ln(), high.ln(), 40, 45).exp();
    let minimum = squares(sigma);
    // S(σ ± h) − S(σ) ≈ h² S''/2, and the variance of σ is 2 s²/S''.
    let h = 0.01 * sigma;
    let curvature = (squares(sigma + h) - 2.0 * minimum + squares(sigma - h)) / (h * h);
    let freedom = neighbours.len() - 1;
    let ci95 = student_975(freedom) * (2.0 * minimum / freedom as f64 / curvature).sqrt();
    if !(curvature > 0.0 && ci95 < 0.5 * sigma && sigma > 1.05 * low && sigma < 0.95 * high) {
        return Err(FitError::Undetermined {
            parameter: "sigma",
            value: sigma,
            ci95,
            remedy: "press harder, so that neighbours read something, and more taxels",
        });
    }
    let rms = (minimum / neighbours.len() as f64).sqrt();
    let fitted = models(sigma).unwrap_or_default();
    let ratios = neighbours.iter().zip(fitted).map(|(p, fitted)| SpreadRatio { measured: p.ratio, fitted }).collect();
    Ok(SpreadFit { sigma_taxels: Estimate { value: sigma, ci95 }, kernel, rms, points: neighbours.len(), ratios })
}

#[cfg(test)]
mod tests {
    use super::*;
    use dermis_geometry::Random;

    /// Ratios of the model itself with noise, also at borders: the fit recovers σ.
    #[test]
    fn sigma_is_recovered_at_borders_too() {
        let taxels = Taxels::grid(5, 4, 3e-3);
        let mut random = Random::new(3);
        for sigma in [0.4, 0.6, 1.1] {
            let weights = Spread::gaussian(sigma, 5).weights(&taxels, None).unwrap();
            let mut points = Vec::new();
            for pressed in 0..20 {
                for read in 0..20 {
                    let ratio = weights.get(read, pressed) / weights.get(read, read);
                    if ratio > 0.01 {
                        points.push(SpreadPoint { pressed, read, ratio: ratio + 0.005 * random.normal() });
                    }
                }
            }
            let fit = fit_spread(&taxels, None, None, 5, &points).unwrap().sigma_taxels;
            assert!((fit.value / sigma - 1.0).abs() < 0.03 && fit.ci95 < 0.05 * sigma, "{sigma}: {fit:?}");
        }
    }

    #[test]
    fn silent_neighbours_are_refused() {
        let taxels = Taxels::grid(5, 4, 3e-3);
        let point = |read, ratio| SpreadPoint { pressed: 9, read, ratio };
        let own: Vec<_> = (0..9).map(|_| point(9, 1.0)).collect();
        assert!(matches!(fit_spread(&taxels, None, None, 3, &own), Err(FitError::TooFew { .. })));
        let silent: Vec<_> = [5, 8, 10, 13].map(|read| point(read, 0.0)).to_vec();
        assert!(matches!(fit_spread(&taxels, None, None, 3, &silent), Err(FitError::Undetermined { .. })));
        let bad: Vec<_> = [5, 8, 10, 13].map(|read| point(read, f64::NAN)).to_vec();
        assert!(matches!(fit_spread(&taxels, None, None, 3, &bad), Err(FitError::NotFinite { .. })));
    }
}
