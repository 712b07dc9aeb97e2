//! An image for comparison.

use super::MetricsError;
use crate::image::decode;

/// Levels (0–255) of a grey or colour image, channel by channel, rows from the top.
#[derive(Clone, Debug, PartialEq)]
pub struct ChannelImage {
    name: String,
    width: usize,
    height: usize,
    channels: Vec<Vec<f64>>,
}

impl ChannelImage {
    /// Makes an image from levels of any number of channels. Errors name `name`.
    pub fn new(
        name: impl Into<String>,
        width: usize,
        height: usize,
        channels: Vec<Vec<f64>>,
    ) -> Result<Self, MetricsError> {
        let name = name.into();
        let odd = channels.iter().find(|channel| channel.len() != width * height);
        if channels.is_empty() || width * height == 0 || odd.is_some() {
            return Err(MetricsError::WrongLength { name, width, height, got: odd.map_or(0, Vec::len) });
        }
        for channel in &channels {
            if let Some(pixel) = channel.iter().position(|level| !level.is_finite()) {
                return Err(MetricsError::NotFinite { name, pixel, got: channel[pixel] });
            }
        }
        Ok(Self { name, width, height, channels })
    }

    /// Decodes a PNG file with 8 bits per channel or a palette: one channel for grey, three for colour. The alpha
    /// channel is dropped.
    pub fn from_png(name: impl Into<String>, bytes: &[u8]) -> Result<Self, MetricsError> {
        let name = name.into();
        let (image, grey) =
            decode(bytes).map_err(|error| MetricsError::BadImage { name: name.clone(), reason: error.to_string() })?;
        let channel = |c: usize| image.pixels().iter().map(|pixel| f64::from(pixel[c])).collect();
        Self::new(name, image.width(), image.height(), (0..if grey { 1 } else { 3 }).map(channel).collect())
    }

    /// Name of the image in errors.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Width (pixels).
    pub fn width(&self) -> usize {
        self.width
    }

    /// Height (pixels).
    pub fn height(&self) -> usize {
        self.height
    }

    /// Levels of each channel.
    pub fn channels(&self) -> &[Vec<f64>] {
        &self.channels
    }

    /// Returns an error for an image of another size or with other channels.
    pub(super) fn check_alike(&self, image: &Self) -> Result<(), MetricsError> {
        if (self.width, self.height) != (image.width, image.height) {
            return Err(MetricsError::WrongSize {
                name: image.name.clone(),
                width: image.width,
                height: image.height,
                other: self.name.clone(),
                other_width: self.width,
                other_height: self.height,
            });
        }
        if self.channels.len() != image.channels.len() {
            return Err(MetricsError::WrongChannels {
                name: image.name.clone(),
                channels: image.channels.len(),
                other: self.name.clone(),
                other_channels: self.channels.len(),
            });
        }
        Ok(())
    }
}
