//! The interface of a tactile servo to a robot, real or simulated.

use crate::TactileImage;
use dermis_geometry::Pose;

/// A position-controlled tool with tactile arrays. The tool frame has its origin at the centre of the sensing surface
/// and +z out of the skin. A driver of a real robot can implement this trait: it accepts commands and returns the last
/// measurements without blocking.
pub trait EndEffector {
    /// The last tactile image, in the tool frame.
    fn image(&self) -> &TactileImage;

    /// Measured pose of the tool.
    fn world_from_tool(&self) -> Pose;

    /// Sets the target pose. Returns the nearest pose that the tool can reach, which becomes its target: a tool with
    /// fewer than six joints cannot reach every pose.
    fn move_to(&mut self, world_from_tool: Pose) -> Pose;
}
