//! Where things are and how they move, as Python says it.

use crate::error::Error;
use crate::object::Object;
use crate::pose::{pose, pose_or_identity, twist};
use dermis::geometry::{Pose, Twist};
use dermis::skin::{self, Motion, Target};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use std::sync::Arc;

/// Objects with their places and velocities relative to the sensor.
pub struct Moving {
    things: Vec<(Arc<skin::Object>, Pose, Twist)>,
}

/// The sensor's own place and velocity, where those of the objects are given in the world.
struct Frame {
    world_from_sensor: Pose,
    sensor_velocity: Twist,
}

impl Frame {
    /// Velocities are given at the origins of their frames; skins take them relative to the sensor, at its origin.
    fn relative(&self, object: Arc<skin::Object>, place: Pose, velocity: Twist) -> (Arc<skin::Object>, Pose, Twist) {
        let target = Target::from_world(&object, &place, &velocity, &self.world_from_sensor, &self.sensor_velocity);
        let (place, velocity) = (target.sensor_from_object, target.velocity);
        (object, place, velocity)
    }
}

impl Moving {
    /// Reads the arguments of a step: one object with its pose and twist, or a sequence of (object, pose) and
    /// (object, pose, twist).
    pub fn read(
        objects: &Bound<'_, PyAny>,
        one_pose: Option<&Bound<'_, PyAny>>,
        one_twist: Option<&Bound<'_, PyAny>>,
        sensor_pose: Option<&Bound<'_, PyAny>>,
        sensor_twist: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let frame = Frame {
            world_from_sensor: pose_or_identity(sensor_pose, "sensor_pose")?,
            sensor_velocity: twist(sensor_twist, "sensor_twist")?,
        };
        if let Ok(object) = objects.cast::<Object>() {
            let place = one_pose.ok_or_else(|| PyTypeError::new_err("`pose` is missing: where is the object?"))?;
            let (place, velocity) = (pose(place, "pose")?, twist(one_twist, "twist")?);
            return Ok(Self { things: vec![frame.relative(object.get().thing.clone(), place, velocity)] });
        }
        if one_pose.is_some() || one_twist.is_some() {
            return Err(Error::new_err(
                "`pose` and `twist` go with one object; several are given as (object, pose, twist) each",
            ));
        }
        let wanted = "`objects` must be an Object, or a sequence of (Object, pose) or (Object, pose, twist)";
        let refuse = |what: String| PyTypeError::new_err(format!("{wanted}, {what}"));
        let mut things = Vec::new();
        for (i, item) in objects.try_iter().map_err(|_| refuse(format!("got {}", kind(objects))))?.enumerate() {
            let item = item?;
            let parts = item.cast::<PyTuple>().map_err(|_| refuse(format!("item {i} is {}", kind(&item))))?;
            if !(2..=3).contains(&parts.len()) {
                return Err(refuse(format!("item {i} has {} parts", parts.len())));
            }
            let object = parts.get_item(0)?;
            let object =
                object.cast::<Object>().map_err(|_| refuse(format!("item {i} begins with {}", kind(&object))))?;
            let place = pose(&parts.get_item(1)?, &format!("pose of object {i}"))?;
            let velocity = (parts.len() == 3).then(|| parts.get_item(2)).transpose()?.filter(|value| !value.is_none());
            let velocity = twist(velocity.as_ref(), &format!("twist of object {i}"))?;
            things.push(frame.relative(object.get().thing.clone(), place, velocity));
        }
        Ok(Self { things })
    }

    /// One object held somewhere.
    pub fn held(object: &Arc<skin::Object>, sensor_from_object: Pose) -> Self {
        Self { things: vec![(object.clone(), sensor_from_object, Twist::ZERO)] }
    }

    /// Hands the motion to a skin.
    pub fn with<T>(&self, ask: impl FnOnce(&Motion<'_>) -> T) -> T {
        let targets: Vec<Target<'_>> = self
            .things
            .iter()
            .map(|(object, place, velocity)| Target { object, sensor_from_object: *place, velocity: *velocity })
            .collect();
        ask(&Motion { targets: &targets })
    }
}

/// The name of a value's type, for messages.
fn kind(value: &Bound<'_, PyAny>) -> String {
    value.get_type().name().map_or_else(|_| "something else".into(), |name| format!("a {name}"))
}
