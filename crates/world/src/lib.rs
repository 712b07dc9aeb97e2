//! Rigid-body worlds with tactile sensors.
//!
//! A [`World`] holds rigid bodies (integrated by Rapier), sensors mounted on some of them, and joints with drives. In
//! each step every sensor's skin computes its [`dermis_skin::Touch`], the contact forces act on both bodies, and Rapier
//! integrates the bodies. Where a skin covers its carrier, only the skin acts on a touchable object, so that the reported
//! load equals the load on the bodies; beside the skin, and at the largest indentation of the skin, the carrier is solid.
//! [`World::warnings`] lists loads that no sensor reads, and bodies that passed a sensor or left the scene.
//!
//! The integrator is symplectic Euler with one solver pass, which conserves the energy of springs. [`World::stability`]
//! computes the largest stable step with the contact forces at the start of the step. Beyond it, springs and
//! hydroelastic skins take their forces at the end of the step ([`Coupling`], [`implicit`]); other skins are refused.
//!
//! [`World::track_energy`] balances what is stored, dissipated and put in; the residual is the error of the time steps.
//!
//! [`Gripper`] is the interface between controllers and grippers. [`ParallelGripper`] and [`ThreeFingerHand`] are
//! simulated grippers; a driver of a real gripper can implement the trait too. [`PickAndPlace`] is the work cycle of
//! Moisio et al. 2013.
//!
//! [`EndEffector`] is the interface between a [`TactileServo`] and a robot. The servo controls the features of a
//! tactile image with a [`Pid`] per degree of freedom, in any subset of six (Kappassov et al. 2020). [`PanTilt`] and
//! [`CartesianHand`] are simulated end effectors.

mod body;
mod coupling;
mod gripper;
pub mod implicit;
mod inertia;
mod joint;
mod lift_axis;
mod parallel_gripper;
mod pick_and_place;
mod servo;
mod stability;
mod three_finger_hand;
mod warning;
mod world;

pub use body::{Body, BodyId, BodyKind};
pub use coupling::Coupling;
pub use gripper::{FingerCommand, Gripper};
pub use joint::{Drive, Joint, JointId, JointKind};
pub use parallel_gripper::{ParallelGripper, ParallelGripperParameters};
pub use pick_and_place::{Phase, PickAndPlace, PickParameters};
pub use servo::{
    AntiWindup, CartesianHand, CartesianParameters, Dof, Dofs, EndEffector, Motor, MotorParameters, PanTilt,
    PanTiltParameters, Pid, PidParameters, ServoError, ServoParameters, ServoStep, TactileFeatures, TactileImage,
    TactileJacobian, TactileServo,
};
pub use stability::{BodyStiffness, Stability, largest_stable_step_s, limit_when_pressed_s};
pub use three_finger_hand::{ThreeFingerHand, ThreeFingerParameters};
pub use warning::WorldWarning;
pub use world::{EnergyBalance, SensorId, World, WorldParameters, WorldState};

use dermis_sensor::ResponseError;
use dermis_skin::SkinError;

/// Error when building or stepping a world.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[allow(missing_docs, reason = "the message of each variant names its fields")]
pub enum WorldError {
    /// A number is not positive.
    #[error("{owner}: `{key}` must be a positive number of {unit}, got {got}")]
    NotPositive { owner: String, key: &'static str, unit: &'static str, got: f64 },
    /// A number is NaN or infinite.
    #[error("{owner}: `{key}` is not finite")]
    NotFinite { owner: String, key: &'static str },
    /// Two bodies or two sensors have the same name.
    #[error("there are two objects called {name:?}; names must differ")]
    Duplicate { name: String },
    /// The time step exceeds the stability limit of the contact springs.
    #[error(
        "the time step of {step_s:e} s is too long: {body:?} on sensor {sensor:?} is stable up to {limit_s:.3e} s; take a shorter `time_step`, or implicit `coupling`, which springs and hydroelastic skins support, or a heavier body, a softer skin, less damping"
    )]
    Unstable { body: String, sensor: String, step_s: f64, limit_s: f64 },
    /// Implicit coupling of a skin whose force cannot be taken at the end of the step.
    #[error(
        "`coupling` = \"implicit\": the skin of sensor {sensor:?} takes its force at the start of the step; only springs and hydroelastic skins support the end: leave `coupling` out, or write \"explicit\""
    )]
    NotImplicit { sensor: String },
    /// The simulation diverged.
    #[error("{body:?} left the finite numbers at t = {time_s} s")]
    Diverged { body: String, time_s: f64 },
    /// A state of a world with other bodies, sensors or joints.
    #[error("the state has {saved} and the world {world}: it is that of another world")]
    OtherWorld { saved: String, world: String },
    /// A sensor's skin returned an error.
    #[error("sensor {sensor:?} at t = {time_s} s: {error}")]
    Skin { sensor: String, time_s: f64, error: SkinError },
    /// A sensor's response returned an error.
    #[error("sensor {sensor:?} at t = {time_s} s: {error}")]
    Response { sensor: String, time_s: f64, error: ResponseError },
}

pub(crate) fn require_positive(owner: &str, key: &'static str, unit: &'static str, got: f64) -> Result<(), WorldError> {
    if got > 0.0 && got.is_finite() {
        Ok(())
    } else {
        Err(WorldError::NotPositive { owner: owner.to_owned(), key, unit, got })
    }
}
