//! Similarity of two images: SSIM, PSNR, MAE and RMSE, over the whole frame or inside a mask.
//!
//! The values equal those of scikit-image (`structural_similarity`, `peak_signal_noise_ratio`) up to rounding;
//! `validation/metrics` holds the script and the reference values of the tests. Most of a tactile image is gel without
//! contact, so a full-frame score depends little on the contact: [`ImageScore`] therefore reports with each score its
//! **null**, the score of the background alone.

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

/// Similarity of two images, over all their channels.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Metrics {
    /// Mean structural similarity, 1 for equal images.
    pub ssim: f64,
    /// Peak signal-to-noise ratio (dB); infinite for equal images, which JSON writes as `null`.
    pub psnr_db: f64,
    /// Mean absolute difference, in levels of 255.
    pub mae_255: f64,
    /// Root mean square difference, in levels of 255.
    pub rmse_255: f64,
    /// Number of compared pixels.
    pub pixels: usize,
}

impl Metrics {
    /// Compares an image with the true one. A mask restricts the comparison to its pixels; their SSIM is the mean of
    /// the full map over the mask, whose windows extend past the mask (and past the border, by reflection).
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
    /// Score of the image.
    pub score: Metrics,
    /// Score of the background.
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
