//! Errors shown on the page.

use dermis_geometry::files::FileError;
use dermis_sensor::object::ObjectError;
use dermis_sensor::optics::OpticsError;
use dermis_sensor::{PressError, SensorError};

/// An error shown to the user of the page.
#[derive(Clone, Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the message of each variant names its fields")]
pub enum PlayError {
    /// An unknown request.
    #[error("the page sent an unknown request ({reason}): reload it")]
    Request { reason: String },
    /// No object or sensor was set yet.
    #[error("there is no {what} yet")]
    Missing { what: &'static str },
    /// Not a mesh file.
    #[error("{file}: not a mesh file; drop one of {}", dermis_geometry::files::Format::extension_list())]
    NoMesh { file: String },
    /// A mesh with too many triangles.
    #[error(
        "{file}: {triangles} triangles exceed the limit of the page ({max}); simplify the mesh, or use `dermis press`"
    )]
    TooFine { file: String, triangles: usize, max: usize },
    /// An invalid value of a control.
    #[error("`{control}` must be between {} and {} {unit}, got {}", short(*min), short(*max), short(*got))]
    BadControl { control: &'static str, got: f64, min: f64, max: f64, unit: &'static str },
    /// An invalid file.
    #[error(transparent)]
    File(#[from] FileError),
    /// An invalid object.
    #[error(transparent)]
    Object(#[from] ObjectError),
    /// An invalid sensor.
    #[error(transparent)]
    Sensor(#[from] SensorError),
    /// An error of a press.
    #[error(transparent)]
    Press(#[from] PressError),
    /// An error of a camera.
    #[error(transparent)]
    Optics(#[from] OpticsError),
}

/// A number to four significant digits, with an exponent if it is very large or small.
fn short(value: f64) -> String {
    let rounded: f64 = format!("{value:.3e}").parse().unwrap_or(value);
    if (1e-3..1e6).contains(&rounded.abs()) || rounded == 0.0 { rounded.to_string() } else { format!("{rounded:e}") }
}
