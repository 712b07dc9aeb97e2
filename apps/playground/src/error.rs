//! Why the page gets no answer.

use dermis_geometry::files::FileError;
use dermis_sensor::object::ObjectError;
use dermis_sensor::optics::OpticsError;
use dermis_sensor::{PressError, SensorError};

/// What is shown to the reader of the page.
#[derive(Clone, Debug, thiserror::Error)]
pub enum PlayError {
    /// The page asks for something that there is not.
    #[error("the page asked for something that this version does not know ({reason}): load it again")]
    Request {
        /// What the reader of JSON says.
        reason: String,
    },
    /// No object or sensor was made yet.
    #[error("there is no {what} yet")]
    Missing {
        /// Object or sensor.
        what: &'static str,
    },
    /// A file that is none of the kinds that are read.
    #[error("{file}: not a mesh file; drop one of {}", dermis_geometry::files::Format::extension_list())]
    NoMesh {
        /// The file.
        file: String,
    },
    /// A mesh that would make the page slow.
    #[error(
        "{file}: {triangles} triangles are more than the page takes ({most}); simplify the mesh, or use `dermis press`"
    )]
    TooFine {
        /// The file.
        file: String,
        /// What it has.
        triangles: usize,
        /// What it may have.
        most: usize,
    },
    /// A slider whose value means nothing.
    #[error("`{knob}` must be a positive number, got {got}")]
    BadKnob {
        /// Which one.
        knob: &'static str,
        /// Its value.
        got: f64,
    },
    /// The file was refused.
    #[error(transparent)]
    File(#[from] FileError),
    /// The object was refused.
    #[error(transparent)]
    Object(#[from] ObjectError),
    /// The sensor was refused.
    #[error(transparent)]
    Sensor(#[from] SensorError),
    /// The press was refused.
    #[error(transparent)]
    Press(#[from] PressError),
    /// The camera was refused.
    #[error(transparent)]
    Optics(#[from] OpticsError),
}
