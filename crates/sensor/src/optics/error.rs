//! Errors of cameras, lights and markers.

/// Errors of a camera, its light and its markers.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[allow(missing_docs, reason = "the message of each variant names its fields")]
pub enum OpticsError {
    /// Derivatives of another size than the image.
    #[error("the cotangent of {what} has {got} values and the image has {expected}")]
    BadCotangent { what: &'static str, got: usize, expected: usize },
    /// An invalid camera, light or set of markers.
    #[error("{table}: `{key}` {rule}")]
    Bad { table: &'static str, key: &'static str, rule: String },
    /// A light or markers without a camera.
    #[error("`[{table}]` needs a `[camera]` that sees it")]
    NoCamera { table: &'static str },
    /// An image file that cannot be decoded.
    #[error("{path}: {reason}")]
    BadImage { path: String, reason: String },
    /// An image of the wrong size.
    #[error(
        "{path}: the image is {got_width} x {got_height} pixels, but the camera's are {width} x {height}: resize it, or give the sensor that took it"
    )]
    WrongSize { path: String, got_width: usize, got_height: usize, width: usize, height: usize },
    /// A sensor without a camera.
    #[error(
        "sensor {sensor:?} has no camera: add a [camera] table to its description, or take gelsight, gelsight-mini or digit"
    )]
    WithoutCamera { sensor: String },
    /// A touch without a deformed surface.
    #[error(
        "the skin of sensor {sensor:?} does not know its deformed surface, so its camera sees nothing: the skins that know theirs are `layer`, `gel` and `imprint`"
    )]
    NoSurface { sensor: String },
}
