//! Derivatives of a scalar through a touch.

use dermis_geometry::{ShapeGradient, Vec3, Wrench};

/// Derivatives of a scalar L with respect to the parts of a [`crate::Touch`]. An empty list is zero.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TouchCotangent {
    /// By force (1/N) and torque (1/(N m)) on the sensor, about its origin.
    pub on_sensor: Wrench,
    /// By the force (1/N) of each contact point of springs.
    pub forces: Vec<Vec3>,
    /// By the displacement (1/m) of each cell of the surface.
    pub surface: Vec<Vec3>,
    /// By the stress (1/Pa) on each cell of the base.
    pub base: Vec<Vec3>,
}

/// Derivatives of a scalar L with respect to the object and the parameters of a skin.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SkinGradient {
    /// By the pose and the size of the object.
    pub shape: ShapeGradient,
    /// By the parameters of the skin in SI units, named by their keys in a description.
    pub parameters: Vec<(&'static str, f64)>,
}
