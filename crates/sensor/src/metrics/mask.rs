//! Which pixels count.

use super::{ChannelImage, MetricsError};

/// The pixels of an image that count, such as those in contact. Never empty.
#[derive(Clone, Debug, PartialEq)]
pub struct Mask {
    name: String,
    width: usize,
    height: usize,
    held: Vec<bool>,
}

impl Mask {
    /// One truth value a pixel, rows from the top; `name` is used in errors.
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

    /// The pixels of an image that are brighter than half, in the mean of its channels.
    pub fn from_frame(frame: &ChannelImage) -> Result<Self, MetricsError> {
        let bright = |i: usize| {
            let sum: f64 = frame.channels().iter().map(|channel| channel[i]).sum();
            sum > 127.5 * frame.channels().len() as f64
        };
        let held = (0..frame.width() * frame.height()).map(bright).collect();
        Self::new(frame.name(), frame.width(), frame.height(), held)
    }

    /// Whether the pixel with this index counts.
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
