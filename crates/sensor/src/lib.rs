//! What a tactile device reports.
//!
//! A **sensor** is a skin over a transducer with a response: [`Sensor`] holds a [`dermis_skin::Skin`], the
//! [`Taxels`] that read its [`dermis_skin::Touch`], and the [`Response`] that turns newtons into the device's
//! raw numbers. What comes out is a [`Reading`]. Sensors are described in TOML ([`SensorSpec`]); the ones that
//! ship are [`presets`].
//!
//! **What is kept.** Before the response, the taxels' force vectors plus [`Reading::outside_newton`] equal the force
//! on the sensor. The scalar values are projections on the taxels' normals and need not.

pub mod calibration;
pub mod openrave;
pub mod presets;
mod press;
mod reading;
mod response;
mod sensor;
mod spec;
mod surface;
mod taxels;
mod toml_file;

pub use press::{Aim, Goal, PressError, Pressed, press};
pub use reading::Reading;
pub use response::Response;
pub use sensor::Sensor;
pub use spec::{FrictionSpec, ResponseSpec, SensorError, SensorSpec, SkinSpec, TableSpec};
pub use surface::SurfaceSpec;
pub use taxels::Taxels;
pub use toml_file::{TomlError, parse_toml};
