//! Errors of image comparisons.

/// Errors of image comparisons. Each names the image.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[allow(missing_docs, reason = "the message of each variant names its fields")]
pub enum MetricsError {
    /// Bytes that cannot be decoded as an image.
    #[error("{name}: {reason}; images are compared as PNG files with 8 bits a channel")]
    BadImage { name: String, reason: String },
    /// Images of different sizes.
    #[error("{name}: the image is {width} x {height} pixels, but {other} is {other_width} x {other_height}")]
    WrongSize { name: String, width: usize, height: usize, other: String, other_width: usize, other_height: usize },
    /// A grey image and a colour image.
    #[error(
        "{name}: the image has {channels} channels, but {other} has {other_channels}; save both in grey or in colour"
    )]
    WrongChannels { name: String, channels: usize, other: String, other_channels: usize },
    /// A frame whose channels do not hold width × height values.
    #[error("{name}: an image of {width} x {height} pixels needs as many values in each of its channels, got {got}")]
    WrongLength { name: String, width: usize, height: usize, got: usize },
    /// A level that is not finite.
    #[error("{name}: the level of pixel {pixel} is {got}; every level must be a finite number")]
    NotFinite { name: String, pixel: usize, got: f64 },
    /// An empty mask.
    #[error("{name}: the mask is black everywhere, so no pixel would be compared; white is what counts")]
    EmptyMask { name: String },
    /// An image smaller than the window.
    #[error("{name}: {width} x {height} pixels are too few for SSIM, whose window is {side} x {side}")]
    TooSmall { name: String, width: usize, height: usize, side: usize },
    /// An invalid window.
    #[error("the window of SSIM must have an odd side of at least 3 pixels or a spread above 0.3 pixels, got {got}")]
    BadWindow { got: f64 },
}
