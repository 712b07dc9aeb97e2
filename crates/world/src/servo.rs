//! Tactile servoing: image features control the motion of a tool.
//!
//! [`TactileImage`] → [`TactileFeatures`] → error → inverse [`TactileJacobian`] → one [`Pid`] per degree of freedom → a
//! target pose for a position-controlled [`EndEffector`]. This is the scheme of Kappassov et al. 2020, Fig. 7, with the
//! six degrees of freedom of Li et al. 2013 ("A control framework for tactile servoing"). [`PanTilt`] and
//! [`CartesianHand`] are simulated end effectors; a driver of a real robot can implement the trait too.

mod cartesian;
mod dof;
mod end_effector;
mod features;
mod image;
mod jacobian;
mod motor;
mod pan_tilt;
mod pid;
mod tactile_servo;

pub use cartesian::{CartesianHand, CartesianParameters};
pub use dof::{Dof, Dofs};
pub use end_effector::EndEffector;
pub use features::TactileFeatures;
pub use image::TactileImage;
pub use jacobian::{ServoError, TactileJacobian};
pub use motor::{Motor, MotorParameters};
pub use pan_tilt::{PanTilt, PanTiltParameters};
pub use pid::{AntiWindup, Pid, PidParameters};
pub use tactile_servo::{ServoParameters, ServoStep, TactileServo};
