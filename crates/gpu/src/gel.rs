//! A gel on a GPU.

mod body;
mod layout;
mod pack;
mod press;
mod shape;
mod skin;
mod steps;
mod tacchi;

pub use body::{Body, Constitution, Hold, Level, Near, Outcome, Point, Spot, Spring, Way};
pub use press::Press;
pub use skin::{GpuGel, has_gel, with_gel_on};
pub use steps::{Ran, Rules, Steps, Swarm};
pub use tacchi::{GpuTacchiGel, boarded, flown};

/// All programs of gels.
#[cfg(test)]
pub(crate) fn programs() -> Vec<crate::program::Program> {
    vec![press::program(), steps::program()]
}
