//! The sensors and bodies of a recording.

use dermis_geometry::TriMesh;

/// The world frame.
pub const WORLD: &str = "world";

/// The sensors and bodies of a run.
#[derive(Clone, Debug, Default)]
pub struct Layout {
    /// Name of the scene.
    pub scene: String,
    /// The sensors, in the order of [`crate::Sample::sensors`].
    pub sensors: Vec<SensorLayout>,
    /// The bodies, in the order of [`crate::Sample::bodies`].
    pub bodies: Vec<BodyLayout>,
}

/// One sensor.
#[derive(Clone, Debug)]
pub struct SensorLayout {
    /// Name of the sensor.
    pub name: String,
    /// Number of taxels.
    pub taxels: usize,
    /// Rows and columns, if the taxels form a grid.
    pub size: Option<(usize, usize)>,
    /// Number of magnetometers.
    pub chips: usize,
    /// The undeformed skin, in the sensor's frame, if it is displayed.
    pub mesh: Option<TriMesh>,
}

/// One body.
#[derive(Clone, Debug)]
pub struct BodyLayout {
    /// Name of the body.
    pub name: String,
    /// The surface, in the body's frame, if it is displayed.
    pub mesh: Option<TriMesh>,
}

impl Layout {
    /// Names of the sensors as frames, topics and files: letters, digits and `_`, starting with a letter.
    pub fn sensor_frames(&self) -> Vec<String> {
        frames(self.sensors.iter().map(|sensor| sensor.name.as_str()), &[])
    }

    /// Names of the bodies as frames; the suffix `_body` distinguishes a body from a sensor of the same name.
    pub fn body_frames(&self) -> Vec<String> {
        frames(self.bodies.iter().map(|body| body.name.as_str()), &self.sensor_frames())
    }
}

fn frames<'a>(names: impl Iterator<Item = &'a str>, taken: &[String]) -> Vec<String> {
    let mut made: Vec<String> = Vec::new();
    for name in names {
        let mut frame = plain_name(name);
        while frame == WORLD || taken.contains(&frame) || made.contains(&frame) {
            frame.push_str(if taken.contains(&frame) { "_body" } else { "_" });
        }
        made.push(frame);
    }
    made
}

/// A valid ROS name: lower case, with `_` for other characters.
pub fn plain_name(name: &str) -> String {
    let mut plain: String =
        name.to_lowercase().chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    if !plain.starts_with(|c: char| c.is_ascii_alphabetic()) {
        plain.insert_str(0, "s_");
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_plain_and_differ() {
        let sensor = |name: &str| SensorLayout { name: name.into(), taxels: 1, size: None, chips: 0, mesh: None };
        let body = |name: &str| BodyLayout { name: name.into(), mesh: None };
        let layout = Layout {
            scene: String::new(),
            sensors: vec![sensor("Left pad"), sensor("left-pad"), sensor("2"), sensor("world")],
            bodies: vec![body("left pad"), body("Ball")],
        };
        assert_eq!(layout.sensor_frames(), ["left_pad", "left_pad_", "s_2", "world_"]);
        assert_eq!(layout.body_frames(), ["left_pad_body", "ball"]);
    }
}
