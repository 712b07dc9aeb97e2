//! Pose and size of an object from one reading.

use crate::array::Numbers;
use crate::error::{Error, IntoPyErr};
use crate::object::Object;
use crate::pose;
use crate::sensor::Sensor;
use crate::threads::interruptible;
use dermis::estimate::{Freedom, Measured, Placement, Unknown, estimate};
use dermis::geometry::Vec3;
use dermis::sensor::Sensor as Inner;
use dermis::sensor::magnetic::MagneticInverse;
use dermis::sensor::optics::FloatImage;
use numpy::PyArrayDyn;
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
        "shear_x" => Ok(Unknown::ShearX),
        "shear_y" => Ok(Unknown::ShearY),
        "scale" => Ok(Unknown::Scale),
        _ => Err(Error::new_err(format!(
            "`unknowns` has {name:?}; it may have \"x\", \"y\", \"depth\", \"tilt_x\", \"tilt_y\", \"yaw\", \"shear_x\", \"shear_y\" and \"scale\""
        ))),
    }
}

/// Reads flux densities (µT) as tesla, shape (chips, 3).
fn tesla_of(value: &Bound<'_, PyAny>, name: &str) -> PyResult<Vec<Vec3>> {
    let numbers = Numbers::read(value, name)?.finite(name)?;
    let &[_, 3] = numbers.shape.as_slice() else {
        return Err(numbers.wrong_shape(name, "(chips, 3)"));
    };
    Ok(numbers.values.chunks_exact(3).map(|field| Vec3::from_slice(field) * 1e-6).collect())
}

/// Changes of flux densities (T) from rest, by default that of the sensor.
fn changes_of(sensor: &Inner, magnetic: &Bound<'_, PyAny>, rest: Option<&Bound<'_, PyAny>>) -> PyResult<Vec<Vec3>> {
    let field = tesla_of(magnetic, "magnetic")?;
    let rest = match rest {
        Some(rest) => tesla_of(rest, "rest")?,
        None => sensor.magnetics().map_or_else(Vec::new, |magnetics| magnetics.rest().to_vec()),
    };
    if rest.len() != field.len() {
        let (name, got, expected) = (sensor.name(), field.len(), rest.len());
        return Err(Error::new_err(format!(
            "`magnetic` has {got} magnetometers, and sensor {name:?} at rest has {expected}: give the sensor that was read"
        )));
    }
    Ok(field.into_iter().zip(rest).map(|(field, rest)| field - rest).collect())
}

fn as_json(found: &impl serde::Serialize) -> PyResult<String> {
    serde_json::to_string(found).map_err(|error| Error::new_err(format!("the estimate: {error}")))
}

/// The contact on magnets that move by a measured table, from flux densities (µT). Returns the estimate as JSON.
#[pyfunction]
pub fn estimate_contact(
    sensor: PyRef<'_, Sensor>,
    magnetic: &Bound<'_, PyAny>,
    rest: Option<&Bound<'_, PyAny>>,
) -> PyResult<String> {
    let inner = sensor.shared.sensor()?;
    let changes = changes_of(inner, magnetic, rest)?;
    let inverse = inner.magnetics().and_then(MagneticInverse::new);
    let found = inverse.and_then(|inverse| inverse.estimate(&changes)).ok_or_else(|| {
        Error::new_err(format!(
            "sensor {:?} has no magnets with a measured `motion`: use `placement` with an object",
            inner.name()
        ))
    })?;
    as_json(&found)
}

/// A reading of a sensor: an image, forces on taxels or changes of flux densities.
enum Read {
    Image(FloatImage),
    Taxels(Vec<f64>),
    Magnetic(Vec<Vec3>),
}

impl Read {
    /// Exactly one of `image`, `taxels` and `magnetic`, the latter with `rest`.
    fn of(
        sensor: &Inner,
        image: Option<&Bound<'_, PyAny>>,
        taxels: Option<&Bound<'_, PyAny>>,
        magnetic: Option<&Bound<'_, PyAny>>,
        rest: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        if rest.is_some() && magnetic.is_none() {
            return Err(Error::new_err("`rest` needs `magnetic`"));
        }
        match (image, taxels, magnetic) {
            (Some(image), None, None) => Ok(Self::Image(image_of(image)?)),
            (None, Some(taxels), None) => Ok(Self::Taxels(Numbers::read(taxels, "taxels")?.finite("taxels")?.values)),
            (None, None, Some(magnetic)) => Ok(Self::Magnetic(changes_of(sensor, magnetic, rest)?)),
            _ => Err(Error::new_err("give either `image`, `taxels` or `magnetic`")),
        }
    }

    fn measured(&self) -> Measured<'_> {
        match self {
            Self::Image(image) => Measured::Image(image),
            Self::Taxels(forces) => Measured::Taxels(forces),
            Self::Magnetic(changes) => Measured::Magnetic(changes),
        }
    }
}

/// Estimates unknowns from an image, from the forces on the taxels or from flux densities; `known` has x, y, depth, tilt_x, tilt_y,
/// yaw, shear_x, shear_y and scale. Returns the estimate as JSON.
#[pyfunction]
#[allow(clippy::too_many_arguments, reason = "the arguments of the Python function, which names them")]
pub fn estimate_placement(
    py: Python<'_>,
    sensor: PyRef<'_, Sensor>,
    obj: PyRef<'_, Object>,
    image: Option<&Bound<'_, PyAny>>,
    taxels: Option<&Bound<'_, PyAny>>,
    magnetic: Option<&Bound<'_, PyAny>>,
    rest: Option<&Bound<'_, PyAny>>,
    known: [f64; 9],
    unknowns: Vec<String>,
) -> PyResult<String> {
    let names = unknowns;
    let unknowns = names.iter().map(|name| unknown_of(name)).collect::<PyResult<Vec<_>>>()?;
    if let Some(name) = names.iter().enumerate().find_map(|(i, name)| names[..i].contains(name).then_some(name)) {
        return Err(Error::new_err(format!("`unknowns` has {name:?} twice")));
    }
    let [x, y, depth_m, tilt_x, tilt_y, yaw_rad, shear_x, shear_y, scale] = known;
    if known.iter().any(|value| !value.is_finite()) {
        return Err(Error::new_err("the known values must be finite numbers"));
    }
    if !unknowns.contains(&Unknown::Depth) && depth_m <= 0.0 {
        let remedy = "give `depth` (m), or \"depth\" in `unknowns`";
        return Err(Error::new_err(format!("`depth` must be positive where it is known, got {depth_m} m: {remedy}")));
    }
    let known =
        Placement { at_m: [x, y], depth_m, tilt_rad: [tilt_x, tilt_y], yaw_rad, shear_m: [shear_x, shear_y], scale };
    let (inner, object) = (sensor.shared.sensor()?.clone(), obj.object.clone());
    let read = Read::of(&inner, image, taxels, magnetic, rest)?;
    let found = interruptible(py, move || estimate(&inner, &object, read.measured(), known, &unknowns, &|_| ()))?;
    as_json(&found.into_py_err()?)
}

/// Estimates the pose of an object near a given one, from a reading; the freedoms `fixed` stay. Returns the pose as a (4, 4) matrix and the
/// estimate as JSON.
#[pyfunction]
#[allow(clippy::too_many_arguments, reason = "the arguments of the Python function, which names them")]
pub fn estimate_pose<'py>(
    py: Python<'py>,
    sensor: PyRef<'_, Sensor>,
    obj: PyRef<'_, Object>,
    near: &Bound<'_, PyAny>,
    image: Option<&Bound<'_, PyAny>>,
    taxels: Option<&Bound<'_, PyAny>>,
    magnetic: Option<&Bound<'_, PyAny>>,
    rest: Option<&Bound<'_, PyAny>>,
    fixed: Vec<String>,
) -> PyResult<(Bound<'py, PyArrayDyn<f64>>, String)> {
    let freedom_of = |name: &String| {
        Freedom::named(name).ok_or_else(|| {
            let known = Freedom::ALL.map(|freedom| format!("{:?}", freedom.name()));
            Error::new_err(format!("`fixed` has {name:?}; it may have {}", known.join(", ")))
        })
    };
    let fixed = fixed.iter().map(freedom_of).collect::<PyResult<Vec<_>>>()?;
    let near = pose::pose(near, "near")?;
    let (inner, object) = (sensor.shared.sensor()?.clone(), obj.object.clone());
    let read = Read::of(&inner, image, taxels, magnetic, rest)?;
    let freedoms = Freedom::of(&object, &fixed);
    let found = interruptible(py, move || {
        dermis::estimate::estimate_pose(&inner, &object, read.measured(), &near, &freedoms, &|_| ())
    })?;
    let found = found.into_py_err()?;
    Ok((pose::matrix(py, &found.sensor_from_object)?, as_json(&found)?))
}
