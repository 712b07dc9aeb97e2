//! Structural similarity.

use super::{ChannelImage, MAX_LEVEL, Mask, MetricsError};

/// Window of a local mean.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SsimWindow {
    /// A square with uniform weights and an odd side.
    Uniform {
        /// Side (pixels).
        side: usize,
    },
    /// A Gaussian, truncated at 3.5 standard deviations.
    Gaussian {
        /// Standard deviation (pixels).
        sigma_px: f64,
    },
}

impl SsimWindow {
    /// Weights along one axis; the window is their outer product.
    fn weights(self) -> Result<Vec<f64>, MetricsError> {
        match self {
            Self::Uniform { side } if side >= 3 && side % 2 == 1 => Ok(vec![1.0 / side as f64; side]),
            Self::Gaussian { sigma_px } if sigma_px > 0.3 && sigma_px.is_finite() => {
                let radius = (3.5 * sigma_px + 0.5).floor();
                let offsets = (0..=2 * radius as usize).map(|i| i as f64 - radius);
                let weights: Vec<f64> = offsets.map(|x| (-0.5 * (x / sigma_px).powi(2)).exp()).collect();
                let sum: f64 = weights.iter().sum();
                Ok(weights.iter().map(|weight| weight / sum).collect())
            }
            Self::Uniform { side } => Err(MetricsError::BadWindow { got: side as f64 }),
            Self::Gaussian { sigma_px } => Err(MetricsError::BadWindow { got: sigma_px }),
        }
    }
}

/// Structural similarity (Wang et al. 2004, eq. (13), with K₁ = 0.01 and K₂ = 0.03), as in scikit-image.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ssim {
    /// The window of local means and variances.
    pub window: SsimWindow,
    /// Uses sample variances (divided by n − 1, with n the pixels of the window) instead of population variances.
    pub sample_covariance: bool,
    /// Difference between the highest and the lowest possible level.
    pub data_range: f64,
}

impl Default for Ssim {
    /// The default of scikit-image.
    fn default() -> Self {
        Self { window: SsimWindow::Uniform { side: 7 }, sample_covariance: true, data_range: MAX_LEVEL }
    }
}

impl Ssim {
    /// The window of Wang et al.: a Gaussian of 1.5 pixels.
    pub fn gaussian() -> Self {
        Self { window: SsimWindow::Gaussian { sigma_px: 1.5 }, sample_covariance: false, ..Self::default() }
    }

    /// Mean over channels and pixels: all pixels whose window lies inside the frame or, with a mask, all pixels of the
    /// mask.
    pub(super) fn mean(
        &self,
        truth: &ChannelImage,
        image: &ChannelImage,
        mask: Option<&Mask>,
    ) -> Result<f64, MetricsError> {
        let weights = self.window.weights()?;
        let (side, reach) = (weights.len(), weights.len() / 2);
        let (width, height) = (truth.width(), truth.height());
        if width.min(height) < side {
            return Err(MetricsError::TooSmall { name: truth.name().to_owned(), width, height, side });
        }
        let inside = |i: usize| {
            let (x, y) = (i % width, i / width);
            (reach..width - reach).contains(&x) && (reach..height - reach).contains(&y)
        };
        let counts = |i: usize| mask.map_or_else(|| inside(i), |mask| mask.holds(i));
        let mut means = Vec::new();
        for (a, b) in truth.channels().iter().zip(image.channels()) {
            let map = self.map(&Blur { weights: &weights, width, height }, a, b);
            let held: Vec<f64> = map.iter().enumerate().filter(|&(i, _)| counts(i)).map(|(_, &s)| s).collect();
            means.push(held.iter().sum::<f64>() / held.len() as f64);
        }
        Ok(means.iter().sum::<f64>() / means.len() as f64)
    }

    fn map(&self, blur: &Blur, a: &[f64], b: &[f64]) -> Vec<f64> {
        let product = |x: &[f64], y: &[f64]| blur.apply(&x.iter().zip(y).map(|(x, y)| x * y).collect::<Vec<_>>());
        let (mean_a, mean_b) = (blur.apply(a), blur.apply(b));
        let (square_a, square_b, cross) = (product(a, a), product(b, b), product(a, b));
        let count = (blur.weights.len() * blur.weights.len()) as f64;
        let norm = if self.sample_covariance { count / (count - 1.0) } else { 1.0 };
        let (c1, c2) = ((0.01 * self.data_range).powi(2), (0.03 * self.data_range).powi(2));
        (0..a.len())
            .map(|i| {
                let (ma, mb) = (mean_a[i], mean_b[i]);
                let variances = norm * (square_a[i] - ma * ma + square_b[i] - mb * mb);
                let covariance = norm * (cross[i] - ma * mb);
                (2.0 * ma * mb + c1) * (2.0 * covariance + c2) / ((ma * ma + mb * mb + c1) * (variances + c2))
            })
            .collect()
    }
}

/// A separable filter; the image is mirrored at the border, including the border pixel.
struct Blur<'a> {
    weights: &'a [f64],
    width: usize,
    height: usize,
}

impl Blur<'_> {
    fn apply(&self, values: &[f64]) -> Vec<f64> {
        let down = self.along(values, self.height, self.width, |line, i| i * self.width + line);
        self.along(&down, self.width, self.height, |line, i| line * self.width + i)
    }

    fn along(&self, values: &[f64], length: usize, lines: usize, at: impl Fn(usize, usize) -> usize) -> Vec<f64> {
        let reach = (self.weights.len() / 2) as i64;
        let mirrored = |i: i64| {
            if i < 0 {
                -i - 1
            } else if i >= length as i64 {
                2 * length as i64 - 1 - i
            } else {
                i
            }
        };
        let mut out = vec![0.0; values.len()];
        for (line, i) in (0..lines).flat_map(|line| (0..length).map(move |i| (line, i))) {
            let near = self.weights.iter().enumerate();
            out[at(line, i)] =
                near.map(|(k, weight)| weight * values[at(line, mirrored(i as i64 + k as i64 - reach) as usize)]).sum();
        }
        out
    }
}
