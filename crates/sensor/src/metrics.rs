//! How alike two images are: SSIM, PSNR, MAE and RMSE, over the whole frame or inside a mask.
//!
//! The numbers are those of scikit-image (`structural_similarity`, `peak_signal_noise_ratio`) to rounding;
//! `validation/metrics` holds the script and the values that the tests compare with. Most of a tactile image is
//! untouched gel, so that a full-frame score barely moves whatever is drawn: [`ImageScore`] therefore puts beside each
//! score its **null**, that of the background alone.

mod channel_image;
mod error;
mod mask;
mod ssim;

pub use channel_image::ChannelImage;
pub use error::MetricsError;
pub use mask::Mask;
pub use ssim::{Ssim, SsimWindow};

use serde::Serialize;

/// The largest level of an 8-bit image.
const MAX_LEVEL: f64 = 255.0;

/// Likeness of two images, over all their channels.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Metrics {
    /// Mean structural similarity, 1 for equal images.
    pub ssim: f64,
    /// Peak signal-to-noise ratio (dB); infinite for equal images, which JSON writes as `null`.
    pub psnr_db: f64,
    /// Mean absolute difference, in levels of 255.
    pub mae_255: f64,
    /// Root of the mean squared difference, in levels of 255.
    pub rmse_255: f64,
    /// How many pixels were compared.
    pub pixels: usize,
}

impl Metrics {
    /// Compares an image with the true one. With a mask only its pixels count; their SSIM is the mean of the full map
    /// there, whose windows reach past the mask (and past the border, by reflection).
    pub fn compare(
        truth: &ChannelImage,
        image: &ChannelImage,
        mask: Option<&Mask>,
        ssim: &Ssim,
    ) -> Result<Self, MetricsError> {
        truth.check_alike(image)?;
        if let Some(mask) = mask {
            mask.check_size(truth)?;
        }
        let map = ssim.mean(truth, image, mask)?;
        let counts = |i: usize| mask.is_none_or(|mask| mask.holds(i));
        let (mut absolute, mut squared, mut values) = (0.0, 0.0, 0usize);
        for (a, b) in truth.channels().iter().zip(image.channels()) {
            for (_, (a, b)) in a.iter().zip(b).enumerate().filter(|&(i, _)| counts(i)) {
                absolute += (a - b).abs();
                squared += (a - b) * (a - b);
                values += 1;
            }
        }
        let mean_squared = squared / values as f64;
        Ok(Self {
            ssim: map,
            psnr_db: 10.0 * (MAX_LEVEL * MAX_LEVEL / mean_squared).log10(),
            mae_255: absolute / values as f64,
            rmse_255: mean_squared.sqrt(),
            pixels: values / truth.channels().len(),
        })
    }
}

/// The score of an image against the true one, and that of the background alone.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ImageScore {
    /// Of the image.
    pub score: Metrics,
    /// Of the background.
    pub null: Metrics,
}

impl ImageScore {
    /// Scores an image, and the image without contact, against the true one.
    pub fn new(
        truth: &ChannelImage,
        image: &ChannelImage,
        background: &ChannelImage,
        mask: Option<&Mask>,
        ssim: &Ssim,
    ) -> Result<Self, MetricsError> {
        Ok(Self {
            score: Metrics::compare(truth, image, mask, ssim)?,
            null: Metrics::compare(truth, background, mask, ssim)?,
        })
    }
}
