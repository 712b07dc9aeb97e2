//! What comes of a batch of presses, on the GPU.

use crate::DeviceBuffer;

/// What is wanted of a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// Images, where there is a camera.
    pub images: bool,
    /// Pressure on every cell.
    pub pressure: bool,
    /// Motion of the surface at every cell.
    pub surface: bool,
    /// Force vectors of the taxels, where they are a grid.
    pub taxels: bool,
}

impl Wanted {
    /// Everything there is.
    pub const ALL: Self = Self { images: true, pressure: true, surface: true, taxels: true };
    /// Images alone.
    pub const IMAGES: Self = Self { images: true, pressure: false, surface: false, taxels: false };
}

/// Presses one after the other; what was not wanted is empty. It stays on the GPU until it is copied.
#[derive(Debug)]
pub struct SheetTouches {
    /// How many presses.
    pub count: usize,
    /// Red, green and blue of each pixel of each image, rows from the top: (press, height, width, 3).
    pub images: DeviceBuffer<u8>,
    /// Pressure (Pa) of each cell: (press, rows, cols).
    pub pressure: DeviceBuffer<f32>,
    /// Motion (m) of each cell of the surface along x, y and z: (press, rows, cols, 3).
    pub surface: DeviceBuffer<f32>,
    /// Force vector (N) of each taxel: (press, taxels, 3).
    pub forces: DeviceBuffer<f64>,
    /// Force vector (N) beside all taxels: (press, 3).
    pub outside: DeviceBuffer<f64>,
    /// Force (N) and torque about the origin (N m) on the sensor: (press, 6).
    pub wrench: DeviceBuffer<f64>,
    /// Iterations that it took in all.
    pub iterations: usize,
    /// Floating-point operations that their transforms need at least.
    pub operations: f64,
}
