//! Masks of the compared pixels.

use super::{ChannelImage, MetricsError};

/// The compared pixels of an image, such as those in contact. Never empty.
#[derive(Clone, Debug, PartialEq)]
pub struct Mask {
    name: String,
    width: usize,
    height: usize,
    held: Vec<bool>,
}

impl Mask {
    /// Makes a mask from one truth value per pixel, rows from the top. Errors name `name`.
    pub fn new(name: impl Into<String>, width: usize, height: usize, held: Vec<bool>) -> Result<Self, MetricsError> {
        let name = name.into();
        if held.len() != width * height {
            return Err(MetricsError::WrongLength { name, width, height, got: held.len() });
        }
        if !held.contains(&true) {
            return Err(MetricsError::EmptyMask { name });
        }
        Ok(Self { name, width, height, held })
    }

    /// Makes a mask of the pixels whose mean over the channels is brighter than half.
    pub fn from_frame(frame: &ChannelImage) -> Result<Self, MetricsError> {
        let bright = |i: usize| {
            let sum: f64 = frame.channels().iter().map(|channel| channel[i]).sum();
            sum > 127.5 * frame.channels().len() as f64
        };
        let held = (0..frame.width() * frame.height()).map(bright).collect();
        Self::new(frame.name(), frame.width(), frame.height(), held)
    }

    /// True if the pixel with this index is in the mask.
    pub(super) fn holds(&self, pixel: usize) -> bool {
        self.held[pixel]
    }

    pub(super) fn check_size(&self, image: &ChannelImage) -> Result<(), MetricsError> {
        if (self.width, self.height) == (image.width(), image.height()) {
            return Ok(());
        }
        Err(MetricsError::WrongSize {
            name: self.name.clone(),
            width: self.width,
            height: self.height,
            other: image.name().to_owned(),
            other_width: image.width(),
            other_height: image.height(),
        })
    }
}
