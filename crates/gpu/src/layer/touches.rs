//! The results of a batch of presses, on the GPU.

use crate::DeviceBuffer;

/// Which results of a batch are computed. Wrenches and the force outside of the taxels always are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outputs {
    /// Images, if the sensor has a camera.
    pub images: bool,
    /// Pressure on every cell.
    pub pressure: bool,
    /// Displacement of the surface at every cell.
    pub surface: bool,
    /// Force vectors of the taxels, if they are a grid.
    pub taxels: bool,
}

impl Outputs {
    /// All results.
    pub const ALL: Self = Self { images: true, pressure: true, surface: true, taxels: true };
    /// Images alone.
    pub const IMAGES: Self = Self { images: true, ..Self::NONE };
    /// Wrenches alone.
    pub const NONE: Self = Self { images: false, pressure: false, surface: false, taxels: false };
}

/// The results of presses, one press after the other, in the memory of the GPU. Those that were not asked for are empty.
#[derive(Debug)]
pub struct LayerTouches {
    /// How many presses.
    pub count: usize,
    /// Red, green and blue of each pixel of each image, rows from the top: (press, height, width, 3).
    pub images: DeviceBuffer<u8>,
    /// Pressure (Pa) of each cell: (press, rows, cols).
    pub pressure: DeviceBuffer<f32>,
    /// Displacement (m) of each cell of the surface along x, y and z: (press, rows, cols, 3).
    pub surface: DeviceBuffer<f32>,
    /// Force vector (N) of each taxel: (press, taxels, 3).
    pub forces: DeviceBuffer<f64>,
    /// Force vector (N) outside of all taxels: (press, 3).
    pub outside: DeviceBuffer<f64>,
    /// Force (N) and torque about the origin (N m) on the sensor: (press, 6).
    pub wrench: DeviceBuffer<f64>,
    /// Iterations of all presses together.
    pub iterations: usize,
    /// Least number of floating-point operations that their transforms take.
    pub operations: f64,
}
