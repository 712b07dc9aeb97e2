//! Fits parameters to bench data, with confidence intervals.

mod creep;
mod curve_shape;
mod drift;
mod friction;
mod hysteresis;
mod least_squares;
mod loaded_array;
mod magnetic;
mod magnetic_geometry;
mod noise;
pub mod optics;
mod sensor;
mod spread;
mod stiffness;
mod taxel_loads;
mod taxels;

pub use creep::{CreepFit, CreepTermFit, fit_creep, fit_creep_record};
pub use curve_shape::CurveShape;
pub use drift::fit_drifting_taxels;
pub use friction::{FrictionFit, fit_friction};
pub use hysteresis::{HysteresisFit, fit_hysteresis};
pub use least_squares::student_975;
pub use loaded_array::{LoadRecord, LoadedArrayFit, fit_loaded_array};
pub use magnetic::{MagneticFit, MagneticFitSettings, MagneticSample, MagneticScore, fit_magnetic, score_magnetic};
pub use magnetic_geometry::{GeometryPrior, MagneticGeometry, MagneticGeometryFit, fit_magnetic_geometry};
pub use noise::fit_noise;
pub use sensor::{LoopPoint, SensorFit, fit_lines, fit_neighbours, fit_sensor};
pub use spread::{SpreadFit, SpreadPoint, SpreadRatio, fit_spread};
pub use stiffness::{StiffnessFit, fit_stiffness, simulated_stiffness, texel_stiffness_newton_per_m};
pub use taxel_loads::TaxelLoads;
pub use taxels::{TaxelFit, TaxelsFit, fit_taxels};

use crate::ResponseError;
use crate::characterise::BenchError;

/// A fitted number and the half-width of its 95 % confidence interval.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct Estimate {
    /// Value (SI).
    pub value: f64,
    /// Half-width of the 95 % confidence interval (SI).
    pub ci95: f64,
}

/// Difference between bench data and the sensor that is written, pressed in the same way.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct Residual {
    /// Root mean square at the pressed taxels (counts).
    pub pressed_counts: f64,
    /// Root mean square at all other taxels (counts).
    pub neighbours_counts: f64,
    /// Fraction of the variance at the pressed taxels that the sensor explains (R²).
    pub explained: f64,
}

/// Errors of a fit.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[allow(missing_docs, reason = "the message of each variant names its fields")]
pub enum FitError {
    /// Too few rows.
    #[error("{got} points cannot determine {what}; at least {needed} are needed")]
    TooFew { what: &'static str, got: usize, needed: usize },
    /// NaN or infinity.
    #[error("row {row} of the data is ({x}, {y}); every value must be a finite number")]
    NotFinite { row: usize, x: f64, y: f64 },
    /// All points at one abscissa.
    #[error("all points have the same {what}, so nothing can be fitted through them")]
    NoSpread { what: &'static str },
    /// The data do not determine a parameter.
    #[error("the data do not determine `{parameter}`: {value:.3e} ± {ci95:.1e}; {remedy}")]
    Undetermined { parameter: &'static str, value: f64, ci95: f64, remedy: &'static str },
    /// The curves do not fit the data.
    #[error(
        "no rising curve of force explains the readings: the best leaves {:.0} % of the variance of readings outside the fit (at most 10 % are accepted); check that every row has the force and the counts of the same press",
        (1.0 - explained) * 100.0
    )]
    Unexplained { explained: f64 },
    /// A camera whose rows do not run along x.
    #[error(
        "the camera is rotated by {rotation_deg:.1}° about its axis relative to x_mm and y_mm; rotate the images or the positions by this angle"
    )]
    Rotated { rotation_deg: f64 },
    /// An error of the virtual bench.
    #[error(transparent)]
    Bench(#[from] BenchError),
    /// An error of a response.
    #[error(transparent)]
    Response(#[from] ResponseError),
    /// Unusable data.
    #[error("no data to fit: {reason}")]
    Unusable { reason: String },
    /// Data of a sensor with other taxels.
    #[error(
        "row {row} of the data is of {found} taxels and the sensor has {taxels}; give the sensor that was measured"
    )]
    OtherSensor { row: usize, found: usize, taxels: usize },
    /// A parameter that must be positive.
    #[error("{what} must be a positive number, got {got}")]
    NotPositive { what: &'static str, got: f64 },
}

/// Returns an error for too few rows or rows that are not finite.
fn check_points(what: &'static str, points: &[(f64, f64)], needed: usize) -> Result<(), FitError> {
    if let Some(index) = points.iter().position(|(x, y)| !x.is_finite() || !y.is_finite()) {
        let (x, y) = points[index];
        return Err(FitError::NotFinite { row: index + 1, x, y });
    }
    if points.len() < needed {
        return Err(FitError::TooFew { what, got: points.len(), needed });
    }
    Ok(())
}

fn require_positive(what: &'static str, got: f64) -> Result<(), FitError> {
    if got > 0.0 && got.is_finite() { Ok(()) } else { Err(FitError::NotPositive { what, got }) }
}
