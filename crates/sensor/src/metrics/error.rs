//! Why pictures cannot be compared.

/// Why pictures cannot be compared. Each names the picture.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum MetricsError {
    /// Bytes that are no picture we read.
    #[error("{name}: {reason}; pictures are compared as PNG files with 8 bits a channel")]
    BadPicture {
        /// The picture.
        name: String,
        /// What is wrong.
        reason: String,
    },
    /// Two sizes.
    #[error("{name}: the picture is {width} x {height} pixels, but {other} is {other_width} x {other_height}")]
    WrongSize {
        /// The picture.
        name: String,
        /// Its columns.
        width: usize,
        /// Its rows.
        height: usize,
        /// The picture or mask it is compared with.
        other: String,
        /// Its columns.
        other_width: usize,
        /// Its rows.
        other_height: usize,
    },
    /// Grey beside colour.
    #[error(
        "{name}: the picture has {channels} channels, but {other} has {other_channels}; save both in grey or in colour"
    )]
    WrongChannels {
        /// The picture.
        name: String,
        /// How many it has.
        channels: usize,
        /// The picture it is compared with.
        other: String,
        /// How many that has.
        other_channels: usize,
    },
    /// A frame whose channels do not have width × height values.
    #[error("{name}: a picture of {width} x {height} pixels needs as many values in each of its channels, got {got}")]
    WrongLength {
        /// The picture.
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
        /// The picture.
        name: String,
        /// Its index, rows from the top.
        pixel: usize,
        /// The level.
        got: f64,
    },
    /// A mask of nothing.
    #[error("{name}: the mask is black everywhere, so no pixel would be compared; white is what counts")]
    EmptyMask {
        /// The mask.
        name: String,
    },
    /// A picture smaller than the window.
    #[error("{name}: {width} x {height} pixels are too few for SSIM, whose window is {side} x {side}")]
    TooSmall {
        /// The picture.
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
