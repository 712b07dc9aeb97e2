//! Why there is no image.

/// Why a camera, its light or its markers cannot be built, or cannot show a touch.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum OpticsError {
    /// A camera that cannot be.
    #[error("camera: `{key}` {rule}")]
    BadCamera {
        /// The key.
        key: &'static str,
        /// What is asked of it.
        rule: String,
    },
    /// A light that cannot be.
    #[error("light: `{key}` {rule}")]
    BadLight {
        /// The key.
        key: &'static str,
        /// What is asked of it.
        rule: String,
    },
    /// Markers that cannot be.
    #[error("markers: `{key}` {rule}")]
    BadMarkers {
        /// The key.
        key: &'static str,
        /// What is asked of it.
        rule: String,
    },
    /// Light or markers without a camera to see them.
    #[error("`[{table}]` needs a `[camera]` that sees it")]
    NoCamera {
        /// The table.
        table: &'static str,
    },
    /// An image file that is none, or of another kind.
    #[error("{path}: {reason}")]
    BadImage {
        /// The file.
        path: String,
        /// What is wrong.
        reason: String,
    },
    /// An image of the wrong size.
    #[error("{path}: the image is {got_width} x {got_height} pixels, but the camera's are {width} x {height}")]
    WrongSize {
        /// The file.
        path: String,
        /// Its columns.
        got_width: usize,
        /// Its rows.
        got_height: usize,
        /// Columns of the camera.
        width: usize,
        /// Rows of the camera.
        height: usize,
    },
    /// A sensor without camera.
    #[error(
        "sensor {sensor:?} has no camera: add a [camera] table to its description, or take gelsight, gelsight-mini or digit"
    )]
    Blind {
        /// Name of the sensor.
        sensor: String,
    },
    /// A touch whose surface is not known.
    #[error(
        "the skin of sensor {sensor:?} does not know its deformed surface, so its camera sees nothing: the skins that know theirs are `layer`, `gel` and `imprint`"
    )]
    NoSurface {
        /// Name of the sensor.
        sensor: String,
    },
}
