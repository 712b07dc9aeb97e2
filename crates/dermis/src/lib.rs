//! dermis simulates tactile sensors for robots.
//!
//! This is the facade: it re-exports the other crates under one name and adds scene files, the run loop, data sets,
//! images and estimates from readings.
//!
//! ```
//! use dermis::prelude::*;
//! let sensor = dermis::sensor::presets::find("uji-foam-14x6")?.build(None)?;
//! let ball = Object::new(dermis::geometry::shapes::sphere(0.010, 0.001)?);
//! let pressed = press(&sensor, &ball, &Aim::default(), Goal::Depth(2e-3))?;
//! assert!(pressed.reading.sum_newton > 0.0);
//! assert!((pressed.reading.net_force_newton() - pressed.touch.on_sensor.force).length() < 1e-12);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub use dermis_draw as draw;
pub use dermis_geometry as geometry;
pub use dermis_gpu as gpu;
pub use dermis_record as record;
pub use dermis_sensor as sensor;
pub use dermis_sensor::object;
pub use dermis_skin as skin;
pub use dermis_world as world;

pub mod camera_frame;
pub mod compare;
pub mod dataset;
pub mod design;
pub mod estimate;
#[cfg(doctest)]
mod guide;
pub mod image;
pub mod magnetic_figure;
pub mod output;
pub mod run;
pub mod scene;
pub mod schema;

/// The types that most programs need.
pub mod prelude {
    pub use dermis_geometry::{Pose, Quat, Surface, TriMesh, Twist, Vec3, Wrench};
    pub use dermis_sensor::{Aim, Goal, Reading, Sensor, SensorSpec, press};
    pub use dermis_skin::{Motion, Object, Skin, State, Target, Touch};
    pub use dermis_world::{Body, Gripper, World, WorldParameters};
}
