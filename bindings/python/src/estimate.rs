//! Pose and size of an object from one reading.

use crate::array::Numbers;
use crate::error::{Error, IntoPyErr};
use crate::object::Object;
use crate::sensor::Sensor;
use crate::threads::interruptible;
use dermis::estimate::{Measured, Placement, Unknown, estimate};
use dermis::sensor::optics::FloatImage;
use pyo3::prelude::*;

/// Reads an image with levels 0 to 255, shape (height, width, 3).
fn image_of(value: &Bound<'_, PyAny>) -> PyResult<FloatImage> {
    let numbers = Numbers::read(value, "image")?.finite("image")?;
    let &[height, width, 3] = numbers.shape.as_slice() else {
        return Err(numbers.wrong_shape("image", "(height, width, 3)"));
    };
    let channel = |c: usize| numbers.values.iter().skip(c).step_by(3).map(|level| *level as f32).collect();
    Ok(FloatImage { width, height, channels: [0, 1, 2].map(channel) })
}

fn unknown_of(name: &str) -> PyResult<Unknown> {
    match name {
        "x" => Ok(Unknown::X),
        "y" => Ok(Unknown::Y),
        "depth" => Ok(Unknown::Depth),
        "tilt_x" => Ok(Unknown::TiltX),
        "tilt_y" => Ok(Unknown::TiltY),
        "yaw" => Ok(Unknown::Yaw),
        "scale" => Ok(Unknown::Scale),
        _ => Err(Error::new_err(format!(
            "`unknowns` has {name:?}; it may have \"x\", \"y\", \"depth\", \"tilt_x\", \"tilt_y\", \"yaw\" and \"scale\""
        ))),
    }
}

/// Estimates unknowns from an image or from the forces on the taxels; `known` has x, y, depth, tilt_x, tilt_y, yaw and scale.
/// Returns the estimate as JSON.
#[pyfunction]
pub fn estimate_placement(
    py: Python<'_>,
    sensor: PyRef<'_, Sensor>,
    obj: PyRef<'_, Object>,
    image: Option<&Bound<'_, PyAny>>,
    taxels: Option<&Bound<'_, PyAny>>,
    known: [f64; 7],
    unknowns: Vec<String>,
) -> PyResult<String> {
    let unknowns = unknowns.iter().map(|name| unknown_of(name)).collect::<PyResult<Vec<_>>>()?;
    let [x, y, depth_m, tilt_x, tilt_y, yaw_rad, scale] = known;
    if known.iter().any(|value| !value.is_finite()) {
        return Err(Error::new_err("the known values must be finite numbers"));
    }
    let known = Placement { at_m: [x, y], depth_m, tilt_rad: [tilt_x, tilt_y], yaw_rad, scale };
    let (inner, object) = (sensor.shared.sensor()?.clone(), obj.object.clone());
    let found = match (image, taxels) {
        (Some(image), None) => {
            let image = image_of(image)?;
            interruptible(py, move || estimate(&inner, &object, Measured::Image(&image), known, &unknowns, &|_| ()))?
        }
        (None, Some(taxels)) => {
            let forces = Numbers::read(taxels, "taxels")?.finite("taxels")?.values;
            interruptible(py, move || estimate(&inner, &object, Measured::Taxels(&forces), known, &unknowns, &|_| ()))?
        }
        _ => return Err(Error::new_err("give either `image` or `taxels`")),
    };
    let found = found.into_py_err()?;
    serde_json::to_string(&found).map_err(|error| Error::new_err(format!("the estimate: {error}")))
}
