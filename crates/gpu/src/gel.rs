//! A gel on a GPU.

mod body;
mod layout;
mod pack;
mod press;
mod shape;
mod steps;

pub use body::{Body, Constitution, Hold, Level, Near, Outcome, Point, Spot, Spring, Way};
pub use press::Press;
pub use steps::{Ran, Rules, Steps, Swarm};
