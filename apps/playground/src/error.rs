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
    #[error("`{control}` must be a positive number, got {got}")]
    BadControl { control: &'static str, got: f64 },
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
