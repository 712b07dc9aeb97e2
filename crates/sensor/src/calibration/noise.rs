//! Fits noise to readings under a constant load.

use super::{Estimate, FitError};

/// Standard deviation of readings about their smooth trend, without the quantisation noise of the converter (step²/12).
///
/// Computed from the second differences of neighbours, whose variance is 6 σ² for independent noise, so that slow drift
/// and creep have no effect.
pub fn fit_noise(readings: &[f64], step: f64) -> Result<Estimate, FitError> {
    if let Some(row) = readings.iter().position(|reading| !reading.is_finite()) {
        return Err(FitError::NotFinite { row: row + 1, x: row as f64, y: readings[row] });
    }
    if readings.len() < 20 {
        return Err(FitError::TooFew { what: "noise", got: readings.len(), needed: 20 });
    }
    let squares = readings.windows(3).map(|w| (w[0] - 2.0 * w[1] + w[2]).powi(2)).sum::<f64>();
    let n = (readings.len() - 2) as f64;
    let variance = squares / (6.0 * n);
    if variance <= 0.0 {
        return Err(FitError::Undetermined {
            parameter: "noise",
            value: 0.0,
            ci95: step,
            remedy: "all readings are on a line: the noise is below a step of the converter, or the sensor is saturated",
        });
    }
    let value = (variance - step * step / 12.0).max(0.0).sqrt();
    // Neighbouring differences share readings, so 36/70 of them are effectively independent (4, −3 … autocorrelation).
    let ci95 = 1.96 * variance / value.max(0.1 * variance.sqrt()) / (2.0 * n * 36.0 / 70.0).sqrt();
    Ok(Estimate { value, ci95 })
}

#[cfg(test)]
mod tests {
    use super::*;
    use dermis_geometry::Random;

    /// Noise of 3 steps on a drift, rounded to steps; the interval contains the true value about 95 times in 100.
    #[test]
    fn noise_is_told_from_drift_and_rounding() {
        let held = (0..400)
            .filter(|&seed| {
                let mut random = Random::new(seed);
                let readings: Vec<f64> =
                    (0..500).map(|i| (100.0 + 0.05 * f64::from(i) + 3.0 * random.normal()).round()).collect();
                let noise = fit_noise(&readings, 1.0).unwrap();
                (noise.value - 3.0).abs() <= noise.ci95
            })
            .count();
        assert!((365..=395).contains(&held), "{held} of 400");
        assert!(matches!(fit_noise(&[1.0; 5], 1.0), Err(FitError::TooFew { .. })));
        assert!(matches!(fit_noise(&[1.0; 50], 1.0), Err(FitError::Undetermined { .. })));
        assert!(matches!(fit_noise(&[f64::NAN; 50], 1.0), Err(FitError::NotFinite { .. })));
    }
}
