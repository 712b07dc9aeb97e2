//! Errors of the model of an image: of its light and its surface.
//!
//! They are smooth, so that many pixels err alike, and the unknowns follow them: a fit leaves only a part of them in its
//! residuals. Their size is that of the smooth part of the residuals or that of the light in images that its fit did not
//! contain, whichever is larger.

use super::gauss_newton::Solution;
use dermis_sensor::optics::LightResidual;
use nalgebra::{DMatrix, DVector};
use std::collections::BTreeMap;

/// What a model of an image does not know.
pub(super) struct ModelError {
    /// True for the values in the contact.
    pub inside: Vec<bool>,
    /// Error of the light, if it is known.
    pub light: Option<LightResidual>,
}

/// Part of the values in a contact whose errors are alike: a light errs in a way that depends on the slope, which has another
/// direction in every quarter of a contact.
const ALIKE: f64 = 0.25;

impl ModelError {
    /// Covariance of the values of a fit by errors of the model: with the slopes **j** of the predictions, H = Σ **j j**ᵀ and
    /// errors of variance s² that are alike in n values, n H⁻¹ (Σ s² **j j**ᵀ) H⁻¹.
    pub fn covariance(&self, fit: &Solution, groups: &[usize]) -> DMatrix<f64> {
        let count = fit.values.len();
        if fit.slopes.is_empty() || !fit.homogeneous.iter().all(|entry| entry.is_finite()) {
            return DMatrix::from_element(count, count, f64::INFINITY);
        }
        let variance = [true, false].map(|inside| self.variance(fit, groups, inside));
        let mut sum = DMatrix::<f64>::zeros(count, count);
        for (i, inside) in self.inside.iter().enumerate() {
            let slope = DVector::from_fn(count, |k, _| fit.slopes[k][i]);
            sum.ger(variance[usize::from(!inside)], &slope, &slope, 1.0);
        }
        let channels = 3.0;
        let alike = (ALIKE * self.inside.iter().filter(|inside| **inside).count() as f64 / channels).max(1.0);
        &fit.homogeneous * sum * &fit.homogeneous * alike
    }

    /// Variance of the smooth errors of the values in or around the contact.
    fn variance(&self, fit: &Solution, groups: &[usize], inside: bool) -> f64 {
        let per_channel = groups.len() / 3;
        let mut parts: BTreeMap<(usize, usize), Vec<f64>> = BTreeMap::new();
        for (i, residual) in fit.residuals.iter().enumerate().filter(|(i, _)| self.inside[*i] == inside) {
            parts.entry((i / per_channel.max(1), groups[i])).or_default().push(*residual);
        }
        // Analysis of variance: means of groups scatter by the smooth errors and by a part of those within the groups.
        let (mut smooth, mut within, mut freedom, mut values) = (0.0, 0.0, 0.0, 0.0);
        for part in parts.values() {
            let size = part.len() as f64;
            let mean = part.iter().sum::<f64>() / size;
            smooth += size * mean * mean;
            within += part.iter().map(|residual| (residual - mean).powi(2)).sum::<f64>();
            freedom += size - 1.0;
            values += size;
        }
        let noise = if freedom > 0.0 { within / freedom } else { 0.0 };
        let smooth = if values > 0.0 { ((smooth - parts.len() as f64 * noise) / values).max(0.0) } else { 0.0 };
        let light = self.light.map_or(0.0, |light| if inside { light.inside } else { light.around });
        // The images of the calibration had the noise of this one.
        smooth.max(light * light - noise)
    }
}
