//! Reads the poses and twists of objects.

use crate::error::Error;
use crate::object::Object;
use crate::pose::{pose, pose_or_identity, twist};
use dermis::geometry::{Pose, Twist};
use dermis::skin::{self, Motion, Target};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use std::sync::Arc;

/// Objects with their poses and velocities relative to the sensor.
pub struct ObjectMotions {
    targets: Vec<(Arc<skin::Object>, Pose, Twist)>,
    /// Pose of the sensor in the world; the identity if it is not given.
    pub world_from_sensor: Pose,
}

/// Pose and velocity of the sensor in the frame of the arguments.
struct Frame {
    world_from_sensor: Pose,
    sensor_velocity: Twist,
}

impl Frame {
    /// Converts a pose and a velocity from the world frame to the sensor frame, with the velocity at the sensor's
    /// origin.
    fn relative(
        &self,
        object: Arc<skin::Object>,
        world_from_object: Pose,
        velocity: Twist,
    ) -> (Arc<skin::Object>, Pose, Twist) {
        let target =
            Target::from_world(&object, &world_from_object, &velocity, &self.world_from_sensor, &self.sensor_velocity);
        let (sensor_from_object, velocity) = (target.sensor_from_object, target.velocity);
        (object, sensor_from_object, velocity)
    }
}

impl ObjectMotions {
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
            let pose_value = one_pose.ok_or_else(|| PyTypeError::new_err("`pose` of the object is missing"))?;
            let (pose, velocity) = (pose(pose_value, "pose")?, twist(one_twist, "twist")?);
            let targets = vec![frame.relative(object.get().object.clone(), pose, velocity)];
            return Ok(Self { targets, world_from_sensor: frame.world_from_sensor });
        }
        if one_pose.is_some() || one_twist.is_some() {
            return Err(Error::new_err(
                "`pose` and `twist` go with one object; several are given as (object, pose, twist) each",
            ));
        }
        let wanted = "`objects` must be an Object, or a sequence of (Object, pose) or (Object, pose, twist)";
        let refuse = |what: String| PyTypeError::new_err(format!("{wanted}, {what}"));
        let mut targets = Vec::new();
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
            targets.push(frame.relative(object.get().object.clone(), place, velocity));
        }
        Ok(Self { targets, world_from_sensor: frame.world_from_sensor })
    }

    /// Makes one object at rest at a pose.
    pub fn held(object: &Arc<skin::Object>, sensor_from_object: Pose) -> Self {
        Self { targets: vec![(object.clone(), sensor_from_object, Twist::ZERO)], world_from_sensor: Pose::IDENTITY }
    }

    /// Calls a function with the [`Motion`] that skins take.
    pub fn with<T>(&self, use_motion: impl FnOnce(&Motion<'_>) -> T) -> T {
        let motions: Vec<Target<'_>> = self
            .targets
            .iter()
            .map(|(object, place, velocity)| Target { object, sensor_from_object: *place, velocity: *velocity })
            .collect();
        use_motion(&Motion { targets: &motions })
    }
}

/// The name of a value's type, for error messages.
fn kind(value: &Bound<'_, PyAny>) -> String {
    value.get_type().name().map_or_else(|_| "a value of unknown type".into(), |name| format!("of type {name}"))
}
