//! Errors in coupling a sensor to a model.

use std::fmt::Display;

/// Reasons for which a sensor cannot be coupled to a model or evaluated.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the message of each variant names its fields")]
pub enum CouplingError {
    /// No MuJoCo library is loaded in this process.
    #[error("MuJoCo is not loaded in this process")]
    NotLoaded,
    /// There is no table of offsets for the loaded version.
    #[error(
        "MuJoCo {version:?} is not one of the versions {first} to {last} whose data this build of dermis knows, and its layout was not found; in Python `import dermis.mujoco` finds it, else install one of those versions or a newer dermis"
    )]
    UnknownVersion { version: String, first: &'static str, last: &'static str },
    /// The model has no element of that name.
    #[error("`{key}`: the model has no {kind} '{name}'")]
    UnknownName { key: &'static str, kind: &'static str, name: String },
    /// The body has no geoms.
    #[error("`objects`: body '{name}' has no geoms")]
    NoGeoms { name: String },
    /// There is no geom that the sensor could touch.
    #[error("there is nothing to touch: no geom of another body takes part in contacts; name some in `objects`")]
    NoObjects,
    /// The object moves with the sensor.
    #[error("`objects`: {geom} moves with the sensor's own body and can never press on it")]
    OwnGeom { geom: String },
    /// The geom has no usable surface.
    #[error("{geom} cannot be touched: {reason}")]
    BadGeom { geom: String, reason: String },
    /// contype and conaffinity cannot disable a `<pair>`.
    #[error("the model has a <pair> of {own} and {object}, which would press in addition to the skin; remove it")]
    ContactPair { own: String, object: String },
    /// All bits of contype are in use.
    #[error(
        "the model has no free bit of contype to disable the contact of {geom}; use <contact><exclude body1=\"…\" body2=\"…\"/></contact> instead"
    )]
    NoFreeBit { geom: String },
    /// The skin is too stiff for the time step.
    #[error(
        "a time step of {step_s} s is too long for {object} on this skin: it is stable up to {limit_s:.2e} s; write <option timestep=\"{advised_s}\"/>, or set coupling to \"implicit\", or use a softer skin, or set mode to \"contacts\""
    )]
    StepTooLong { step_s: f64, object: String, limit_s: f64, advised_s: f64 },
    /// The contact forces at the end of the step are not finite.
    #[error("the contact forces have no finite solution: the simulation has diverged, or a mass is zero")]
    NotSolved,
    /// The pose of the sensor is NaN or infinite.
    #[error(
        "the sensor's pose is not finite: the simulation has diverged, or a position was set to a value that is not finite"
    )]
    SensorNotFinite,
    /// The pose of an object is NaN or infinite.
    #[error("the position of {geom} is not finite")]
    ObjectNotFinite { geom: String },
}

impl CouplingError {
    /// The error for a geom whose surface cannot be built.
    pub(crate) fn bad_geom(geom: &str, reason: impl Display) -> Self {
        Self::BadGeom { geom: geom.to_owned(), reason: reason.to_string() }
    }
}
