//! What a tactile servo needs of a robot, real or simulated.

use crate::TactileImage;
use dermis_geometry::Pose;

/// A position-controlled tool with tactile arrays. The tool's frame has its origin at the middle of the sensing
/// surface and +z out of the skin. A driver of a real robot can implement this: it takes commands and says what was
/// felt last, and nothing here waits.
pub trait EndEffector {
    /// What the arrays felt last, in the tool's frame.
    fn image(&self) -> &TactileImage;

    /// Where the tool is, by its own encoders.
    fn world_from_tool(&self) -> Pose;

    /// Goes to a pose from now on, as fast as it can. Answers with the nearest pose that it can reach, which is where
    /// it is going: a tool of fewer than six joints cannot take them all.
    fn move_to(&mut self, world_from_tool: Pose) -> Pose;
}
