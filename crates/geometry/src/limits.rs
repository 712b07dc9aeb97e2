//! The largest counts that a file or a flag may ask for.
//!
//! A number beyond these is nearly always a slip of a unit, and would exhaust memory or hours; the error names the key.
//! [`crate::quantity`] limits the sizes of numbers with a unit.

/// Taxels, and contact points, of a sensor.
pub const MAX_TAXELS: usize = 1_000_000;
/// Triangles of a generated shape.
pub const MAX_TRIANGLES: usize = 2_000_000;
/// Cells of a layer or an imprint.
pub const MAX_LAYER_CELLS: f64 = 2048.0 * 2048.0;
/// Cells of a gel; each holds eight particles.
pub const MAX_GEL_CELLS: usize = 20_000_000;
/// Pixels of a camera.
pub const MAX_PIXELS: usize = 1 << 26;
/// Markers on a gel.
pub const MAX_MARKERS: usize = 100_000;
/// Time steps of a run.
pub const MAX_STEPS: f64 = 1e9;
/// Recorded values of a run, which are kept in memory.
pub const MAX_RECORDED_VALUES: f64 = 2e8;
/// Values of an axis of a data set.
pub const MAX_AXIS_VALUES: usize = 1_000_000;
/// Episodes of a data set.
pub const MAX_EPISODES: usize = 1_000_000_000;
/// Size of a number without a unit.
pub const MAX_NUMBER: f64 = 1e12;
