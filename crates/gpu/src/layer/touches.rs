//! The results of a batch of presses in GPU memory.

use crate::DeviceBuffer;

/// Selects the results of a batch. Wrenches and the force outside the taxels are always computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outputs {
    /// Camera images, if the sensor has a camera.
    pub images: bool,
    /// Mean pressure (Pa) on every cell.
    pub pressure: bool,
    /// Displacement (m) of the surface at every cell.
    pub surface: bool,
    /// Force vectors (N) on the taxels, if they form a grid.
    pub taxels: bool,
}

impl Outputs {
    /// All results.
    pub const ALL: Self = Self { images: true, pressure: true, surface: true, taxels: true };
    /// Images only.
    pub const IMAGES: Self = Self { images: true, ..Self::NONE };
    /// Wrenches only.
    pub const NONE: Self = Self { images: false, pressure: false, surface: false, taxels: false };
}

/// The results of presses, one press after the other, in GPU memory. Results that were not selected are empty.
#[derive(Debug)]
pub struct LayerTouches {
    /// Number of presses.
    pub count: usize,
    /// Red, green and blue (0 to 255) of each pixel, rows from the top: (press, height, width, 3).
    pub images: DeviceBuffer<u8>,
    /// Mean pressure (Pa) of each cell, its normal force by its whole area, also where the object covers it in part:
    /// (press, rows, cols).
    pub pressure: DeviceBuffer<f32>,
    /// Displacement (m) of each cell of the surface along x, y and z: (press, rows, cols, 3).
    pub surface: DeviceBuffer<f32>,
    /// Force vector (N) of each taxel: (press, taxels, 3).
    pub forces: DeviceBuffer<f64>,
    /// Force vector (N) outside all taxels: (press, 3).
    pub outside: DeviceBuffer<f64>,
    /// Force (N) and torque about the origin (N m) on the sensor: (press, 6).
    pub wrench: DeviceBuffer<f64>,
    /// Estimated error of each press due to its one increment, as [`dermis_skin::layer::Effort::path_error`].
    pub path_errors: Vec<f64>,
    /// Total number of iterations of all presses.
    pub iterations: usize,
    /// Lower bound of the floating-point operations of their transforms.
    pub operations: f64,
}
