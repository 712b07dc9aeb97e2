//! Why images cannot be compared.

/// Why images cannot be compared. Each names the image.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum MetricsError {
    /// Bytes that are no image we read.
    #[error("{name}: {reason}; images are compared as PNG files with 8 bits a channel")]
    BadImage {
        /// The image.
        name: String,
        /// What is wrong.
        reason: String,
    },
    /// Two sizes.
    #[error("{name}: the image is {width} x {height} pixels, but {other} is {other_width} x {other_height}")]
    WrongSize {
        /// The image.
        name: String,
        /// Its columns.
        width: usize,
        /// Its rows.
        height: usize,
        /// The image or mask it is compared with.
        other: String,
        /// Its columns.
        other_width: usize,
        /// Its rows.
        other_height: usize,
    },
    /// Grey beside colour.
    #[error(
        "{name}: the image has {channels} channels, but {other} has {other_channels}; save both in grey or in colour"
    )]
    WrongChannels {
        /// The image.
        name: String,
        /// How many it has.
        channels: usize,
        /// The image it is compared with.
        other: String,
        /// How many that has.
        other_channels: usize,
    },
    /// A frame whose channels do not have width × height values.
    #[error("{name}: an image of {width} x {height} pixels needs as many values in each of its channels, got {got}")]
    WrongLength {
        /// The image.
        name: String,
        /// Columns.
        width: usize,
        /// Rows.
        height: usize,
        /// Length of the first channel that differs, 0 where there is no channel.
        got: usize,
    },
    /// A level that is no number.
    #[error("{name}: the level of pixel {pixel} is {got}; every level must be a finite number")]
    NotFinite {
        /// The image.
        name: String,
        /// Its index, rows from the top.
        pixel: usize,
        /// The level.
        got: f64,
    },
    /// An empty mask.
    #[error("{name}: the mask is black everywhere, so no pixel would be compared; white is what counts")]
    EmptyMask {
        /// The mask.
        name: String,
    },
    /// An image smaller than the window.
    #[error("{name}: {width} x {height} pixels are too few for SSIM, whose window is {side} x {side}")]
    TooSmall {
        /// The image.
        name: String,
        /// Columns.
        width: usize,
        /// Rows.
        height: usize,
        /// Side of the window.
        side: usize,
    },
    /// A window that is none.
    #[error("the window of SSIM must have an odd side of at least 3 pixels or a spread above 0.3 pixels, got {got}")]
    BadWindow {
        /// Side or spread (pixels).
        got: f64,
    },
}
