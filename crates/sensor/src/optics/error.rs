//! Errors of cameras, lights and markers.

/// Why a camera, its light or its markers cannot be built, or cannot show a touch.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum OpticsError {
    /// An invalid camera, light or set of markers.
    #[error("{table}: `{key}` {rule}")]
    Bad {
        /// The table: camera, light or markers.
        table: &'static str,
        /// The key.
        key: &'static str,
        /// The rule that it breaks.
        rule: String,
    },
    /// Light or markers without a camera to see them.
    #[error("`[{table}]` needs a `[camera]` that sees it")]
    NoCamera {
        /// The table.
        table: &'static str,
    },
    /// An image file that cannot be decoded.
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
    WithoutCamera {
        /// Name of the sensor.
        sensor: String,
    },
    /// A touch without a deformed surface.
    #[error(
        "the skin of sensor {sensor:?} does not know its deformed surface, so its camera sees nothing: the skins that know theirs are `layer`, `gel` and `imprint`"
    )]
    NoSurface {
        /// Name of the sensor.
        sensor: String,
    },
}
