//! The results of a batch of presses in GPU memory.

use crate::DeviceBuffer;
use dermis_geometry::Pose;
use dermis_skin::layer::{ContactExtent, ContactRange, Effort};
use dermis_skin::threads::parallel;
use dermis_skin::{Layer, Object, Target, Warning};
use rayon::prelude::*;

/// Numbers per press of the kernel `measure_contact`.
pub(super) const EXTENT: usize = 5;

/// Reads the numbers of one press.
pub(super) fn extent_of(numbers: &[f64]) -> ContactExtent {
    let range = ContactRange { deepest_m: numbers[1], step_m: numbers[2], rim_m: numbers[3] };
    ContactExtent { cells: numbers[0] as usize, has_inner: numbers[4] != 0.0, range }
}

/// Selects the results of a batch. Wrenches and the force outside the taxels are always computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outputs {
    /// Camera images, if the sensor has a camera.
    pub images: bool,
    /// Levels of the camera images before rounding.
    pub levels: bool,
    /// Mean pressure (Pa) on every cell.
    pub pressure: bool,
    /// Displacement (m) of the surface at every cell.
    pub surface: bool,
    /// Force vectors (N) on the taxels, if they form a grid.
    pub taxels: bool,
}

impl Outputs {
    /// All results but the levels.
    pub const ALL: Self = Self { images: true, levels: false, pressure: true, surface: true, taxels: true };
    /// Images only.
    pub const IMAGES: Self = Self { images: true, ..Self::NONE };
    /// Wrenches only.
    pub const NONE: Self = Self { images: false, levels: false, pressure: false, surface: false, taxels: false };
}

/// The results of presses, one press after the other, in GPU memory. Results that were not selected are empty.
#[derive(Debug)]
pub struct LayerTouches {
    /// Number of presses.
    pub count: usize,
    /// Red, green and blue (0 to 255) of each pixel, rows from the top: (press, height, width, 3).
    pub images: DeviceBuffer<u8>,
    /// The same before rounding, which may be beyond 0 to 255.
    pub levels: DeviceBuffer<f32>,
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
    /// Extent of the contact of each press, on the host.
    pub extents: Vec<ContactExtent>,
    /// Iterations and errors of the solution of each press, on the host; a press takes one increment.
    pub efforts: Vec<Effort>,
    /// Fraction of the pressed pixels of each image that are steeper than the presses that the light was fitted to.
    pub steep: Vec<f64>,
    /// Lower bound of the floating-point operations of their transforms.
    pub operations: f64,
}

impl LayerTouches {
    /// Total number of iterations of all presses.
    pub fn iterations(&self) -> usize {
        self.efforts.iter().map(|effort| effort.iterations).sum()
    }

    /// The warnings of each press of `object` at `sensor_from_object`, by the rules of the CPU.
    pub fn warnings(&self, layer: &Layer, object: &Object, sensor_from_object: &[Pose]) -> Vec<Vec<Warning>> {
        let presses = self.extents.par_iter().zip(&self.efforts).zip(sensor_from_object);
        let of = |((extent, effort), &pose)| layer.contact_warnings(extent, effort, Target::at_rest(object, pose));
        parallel(|| presses.map(of).collect())
    }
}
