//! Couples tactile sensors to a running MuJoCo simulation.
//!
//! The engine plugin (`bindings/mujoco`) and `dermis.mujoco.attach` in Python (`bindings/python`) both use this crate.
//! A [`Mount`] is a sensor on a model: its frame, the geoms that it may touch, and the mobility of their bodies.
//! [`Mount::kinematics`] reads the poses and velocities of one evaluation from mjData; the sensor computes the contact
//! loads from them; [`Mount::apply`] adds the loads to MuJoCo's passive forces. [`solve`] does both with the loads at the
//! end of the step, for all sensors of an mjData together.
//!
//! The crate is not linked to a version of MuJoCo: [`library`] finds the library that the process has loaded, and
//! [`layout`] holds the field offsets of every supported version.
#![allow(unsafe_code, reason = "MuJoCo's interface is C")]

mod chatter;
pub mod contact_filter;
mod data;
mod disagreement;
mod dynamics;
mod edits;
pub mod engine_contacts;
mod error;
mod implicit;
pub mod layout;
pub mod library;
mod limit;
mod loaded;
mod model;
mod mount;
mod pair_friction;
pub mod passive;
mod shape;

pub use chatter::{CHATTERS, Chatter};
pub use data::Data;
pub use dermis_world::Coupling;
pub use disagreement::Disagreement;
pub use engine_contacts::HeldContacts;
pub use error::CouplingError;
pub use implicit::{CoupledSensor, Lag, solve};
pub use library::Library;
pub use limit::StepLimit;
pub use model::{FrameId, Model};
pub use mount::{Kinematics, Mode, Mount, ObjectGeom, Surfaces, geoms_named, limit_of_box_s};
