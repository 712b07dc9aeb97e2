//! Gradients of paths as arrays.

use crate::array::{moved, rows};
use crate::error::Error;
use crate::gradient::by_vertices;
use crate::pose::poses;
use dermis::geometry::{Pose, Twist, Vec3};
use dermis::sensor::{Cotangents, GradientError, PathGradients, Sensor};
use dermis::skin::{self, State};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::sync::Arc;

/// Reads the pose of each step with the velocity of the object's origin.
pub fn read_motion(places: &Bound<'_, PyAny>, twists: &Bound<'_, PyAny>) -> PyResult<Vec<(Pose, Twist)>> {
    let (places, twists) = (poses(places, "poses")?, rows::<6>(twists, "twists")?);
    if places.len() != twists.len() {
        let (steps, got) = (places.len(), twists.len());
        return Err(Error::new_err(format!("`twists` must have one row for each of the {steps} poses, got {got}")));
    }
    let vector = |[x, y, z]: [f64; 3]| Vec3::new(x, y, z);
    let twist = |[a, b, c, d, e, f]: [f64; 6]| Twist::new(vector([a, b, c]), vector([d, e, f]));
    Ok(places.into_iter().zip(twists.into_iter().map(twist)).collect())
}

/// Gradients through the steps of an object whose twists are those of its origin.
pub fn pull_back(
    sensor: &Sensor,
    state: &State,
    object: &skin::Object,
    motion: &[(Pose, Twist)],
    by: &[Cotangents],
    dt_s: f64,
) -> Result<PathGradients, GradientError> {
    let touch_path = |motion: &[(Pose, Twist)]| {
        let failed = |source| GradientError::Skin { sensor: sensor.name().to_owned(), source };
        sensor.touch_path(state, object, motion, dt_s).map_err(failed)
    };
    // Refuses other skins before their steps, which may take long.
    sensor.vjp_path(object, &touch_path(&[])?, &[])?;
    let at_sensor: Vec<_> = motion.iter().map(|(pose, twist)| (*pose, twist.moved(-pose.translation))).collect();
    let mut found = sensor.vjp_path(object, &touch_path(&at_sensor)?, by)?;
    for (step, (pose, twist)) in found.steps.iter_mut().zip(motion) {
        // V = v + p × Ω at the sensor's origin.
        step.angular += step.linear.cross(pose.translation);
        step.position += twist.angular.cross(step.linear);
    }
    Ok(found)
}

/// Gradients as arrays by name; with those by the vertices of a mesh, if one is given.
pub fn arrays<'py>(
    py: Python<'py>,
    found: &PathGradients,
    mesh: Option<&Arc<skin::Object>>,
) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    let steps = &found.steps;
    let vectors = |of: fn(&skin::StepGradient) -> Vec<Vec3>| {
        steps.iter().flat_map(of).flat_map(|vector| vector.to_array()).collect::<Vec<f64>>()
    };
    dict.set_item("position", moved(py, &[steps.len(), 3], vectors(|step| vec![step.position]))?)?;
    dict.set_item("rotation", moved(py, &[steps.len(), 3], vectors(|step| vec![step.rotation]))?)?;
    dict.set_item("twist", moved(py, &[steps.len(), 6], vectors(|step| vec![step.linear, step.angular]))?)?;
    for (name, values) in found.whole.parameters() {
        dict.set_item(name, moved(py, &[values.len()], values.to_vec())?)?;
    }
    if let Some(object) = mesh {
        dict.set_item("vertices", crate::pose::vectors(py, &by_vertices(&found.whole, object)?)?)?;
    }
    Ok(dict)
}
