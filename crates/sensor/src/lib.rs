//! Tactile sensors: the conversion of contact loads into readings.
//!
//! A **sensor** is a skin over a transducer with a response: [`Sensor`] holds a [`dermis_skin::Skin`], the
//! [`Taxels`] that read its [`dermis_skin::Touch`], and the response ([`Chain`]), which models the electronics.
//! Its output is a [`Reading`]. Sensors are described in TOML ([`SensorSpec`]); the built-in ones
//! are [`presets`].
//!
//! **Conservation.** Before the response, the taxels' force vectors plus [`Reading::outside_newton`] equal the force on
//! the sensor. The scalar values are projections on the taxels' normals; their sum need not equal the normal force.

pub mod calibration;
mod cells;
pub mod characterise;
mod error;
pub mod features;
mod friction;
mod gaussian;
mod gel_spec;
mod gradient;
mod hydroelastic_spec;
pub mod image;
mod imprint_spec;
mod layer_spec;
pub mod magnetic;
pub mod metrics;
pub mod object;
pub mod openrave;
pub mod optics;
mod overrides;
mod plain_message;
pub mod presets;
mod press;
mod rays;
mod reading;
pub mod response;
mod schema;
mod sensor;
mod shear;
mod skin_spec;
mod source;
mod spec;
mod spread;
mod springs_spec;
mod suggest;
mod surface;
mod taxel_mesh;
mod taxels;
mod through_value;
mod toml_file;
mod touch_path;
pub mod urdf;
mod weights;

pub use error::SensorError;
pub use friction::{AreaFrictionSpec, FrictionSpec};
pub use gel_spec::{GelSpec, HeldSpec, TacchiSpec};
pub use gradient::{Cotangents, GradientError, Gradients};
pub use hydroelastic_spec::HydroelasticSpec;
pub use image::Image;
pub use imprint_spec::ImprintSpec;
pub use layer_spec::{BranchSpec, CoatingSpec, LayerSpec};
pub use overrides::{BadEntry, from_table, merge};
pub use press::{Aim, Goal, PressError, PressSearch, Pressed, Trial, depth_pose, first_contact, press, press_to_pose};
pub use rays::{DistanceSpec, RayReading, RaySettings, ReadingSpec, SubTaxel, SubTaxelSpec, Window};
pub use reading::Reading;
pub use response::{Chain, Report, Response, ResponseError, ResponseSpec, ResponseState};
pub use sensor::Sensor;
pub use skin_spec::{SkinKind, SkinSpec, UnknownSkin};
pub use source::SensorSource;
pub use spec::SensorSpec;
pub use spread::{Geodesic, Spread};
pub use springs_spec::{SpringsSpec, TableSpec};
pub use suggest::did_you_mean;
pub use surface::{BodySpec, SurfaceSpec};
pub use taxel_mesh::TaxelMesh;
pub use taxels::Taxels;
pub use toml_file::{TomlError, parse_toml};
pub use touch_path::{PathGradients, TouchPath};
pub use weights::Weights;
