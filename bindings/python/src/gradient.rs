//! Gradients of presses as arrays.

use crate::array::{Numbers, moved};
use crate::error::{Error, IntoPyErr};
use crate::gpu::foreign;
use crate::shared_sensor::SharedSensor;
use crate::threads::{Job, interruptible_job};
use dermis::geometry::{Pose, Vec3};
use dermis::gpu::array::Poses;
use dermis::gpu::layer::LayerCotangents;
use dermis::gpu::{Gpu, GpuError};
use dermis::sensor::{Cotangents, Gradients, Sensor, press_to_pose};
use dermis::skin;
use dermis::skin::threads::parallel;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use rayon::prelude::*;
use std::sync::Arc;

/// Numbers of each reading that a cotangent of this name has.
fn size_of(sensor: &Sensor, name: &str) -> Option<usize> {
    let optics = sensor.optics();
    let markers = || optics.and_then(|optics| optics.markers()).map_or(0, |markers| markers.points_m().len());
    let pixels = || optics.map_or(0, |optics| optics.camera().width * optics.camera().height);
    match name {
        "force" | "torque" => Some(3),
        "taxels" | "reported" => Some(sensor.taxels().len()),
        "forces" => Some(3 * sensor.taxels().len()),
        "markers" => Some(2 * markers()),
        "magnetic" => Some(3 * sensor.magnetics().map_or(0, |magnetics| magnetics.chips().len())),
        "image" => Some(3 * pixels()),
        _ => None,
    }
}

/// Reads the cotangents of `count` presses.
pub fn read(sensor: &Sensor, cotangents: &Bound<'_, PyDict>, count: usize) -> PyResult<Vec<Cotangents>> {
    let mut all = vec![Cotangents::default(); count];
    for (name, value) in cotangents {
        let name: String = name.extract()?;
        let Some(size) = size_of(sensor, &name) else {
            return Err(Error::new_err(format!(
                "`cotangents` has {name:?}; it may have \"force\", \"torque\", \"taxels\", \"forces\", \"reported\", \"markers\", \"image\" and \"magnetic\""
            )));
        };
        if size == 0 {
            let lacks = if name == "magnetic" {
                "magnetometers"
            } else if name == "markers" {
                "markers"
            } else {
                "camera"
            };
            return Err(Error::new_err(format!(
                "`cotangents` has {name:?}, and sensor {:?} has no {lacks}",
                sensor.name()
            )));
        }
        let numbers = Numbers::read(&value, &name)?;
        if numbers.values.len() != count * size || numbers.shape.first() != Some(&count) {
            return Err(numbers.wrong_shape(&name, &format!("({count}, …) with {size} numbers for each reading")));
        }
        let vector = |part: &[f64]| Vec3::new(part[0], part[1], part[2]);
        for (one, part) in all.iter_mut().zip(numbers.values.chunks_exact(size)) {
            match name.as_str() {
                "force" => one.on_sensor.force = vector(part),
                "torque" => one.on_sensor.torque = vector(part),
                "taxels" => one.taxels = part.to_vec(),
                "reported" => one.reported = part.to_vec(),
                "forces" => one.forces = part.chunks_exact(3).map(vector).collect(),
                // By µT, as readings are.
                "magnetic" => one.magnetic = part.chunks_exact(3).map(|by| vector(by) * 1e6).collect(),
                "markers" => one.markers = part.chunks_exact(2).map(|at| [at[0], at[1]]).collect(),
                _ => one.image = [0, 1, 2].map(|c| part.iter().skip(c).step_by(3).copied().collect()),
            }
        }
    }
    Ok(all)
}

/// Reads the cotangents of `count` presses onto a GPU. The image may be there already, in float32.
pub fn read_on_gpu(
    gpu: &Arc<Gpu>,
    sensor: &Sensor,
    cotangents: &Bound<'_, PyDict>,
    count: usize,
) -> PyResult<LayerCotangents> {
    let others = cotangents.copy()?;
    let mut levels = None;
    if let Some(image) = cotangents.get_item("image")?
        && let Some(found) = foreign::read(&image, gpu, "image")?
    {
        let size = size_of(sensor, "image").unwrap_or(0);
        levels = Some(found.numbers(gpu, "image", count, size)?);
        others.del_item("image")?;
    }
    let by = LayerCotangents::of_host(gpu, sensor, &read(sensor, &others, count)?).into_py_err()?;
    Ok(match levels {
        Some(levels) => LayerCotangents { levels, ..by },
        None => by,
    })
}

/// Gradients of presses on a layer on a GPU.
pub fn pull_back_on_gpu(
    gpu: &Arc<Gpu>,
    shared: &SharedSensor,
    object: &Arc<skin::Object>,
    poses: &Poses,
    by: &LayerCotangents,
) -> Result<Vec<Gradients>, GpuError> {
    shared.layer_on_gpu(gpu, object)?.vjp(poses, by)
}

/// Gradients of presses at poses, on all cores.
pub fn pull_back(
    py: Python<'_>,
    shared: &Arc<SharedSensor>,
    object: &Arc<skin::Object>,
    poses: Vec<Pose>,
    cotangents: Vec<Cotangents>,
) -> PyResult<Vec<Gradients>> {
    let (sensor, object) = (shared.sensor()?.clone(), object.clone());
    let work = move |job: &Job| {
        let one = |(number, (pose, by)): (usize, (&Pose, &Cotangents))| {
            if !job.goes_on() {
                return Err("interrupted".to_owned());
            }
            let told = |error: &dyn std::fmt::Display| format!("press {number}: {error}");
            let pressed = press_to_pose(&sensor, &object, pose).map_err(|error| told(&error))?;
            sensor.vjp(&object, &pressed, by).map_err(|error| told(&error))
        };
        let all: Vec<Result<Gradients, String>> =
            parallel(|| poses.par_iter().zip(&cotangents).enumerate().map(one).collect());
        all.into_iter().collect::<Result<Vec<Gradients>, String>>()
    };
    interruptible_job(py, work, |_| Ok(()))?.map_err(Error::new_err)
}

/// Gradients as arrays by name; with those by the vertices of a mesh, summed over the presses, if one is given.
pub fn arrays<'py>(
    py: Python<'py>,
    found: &[Gradients],
    mesh: Option<&Arc<skin::Object>>,
) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    let vectors = |of: fn(&Gradients) -> Vec3| found.iter().flat_map(|one| of(one).to_array()).collect::<Vec<f64>>();
    dict.set_item("position", moved(py, &[found.len(), 3], vectors(|one| one.position))?)?;
    dict.set_item("rotation", moved(py, &[found.len(), 3], vectors(|one| one.rotation))?)?;
    for (name, values) in found.first().into_iter().flat_map(Gradients::parameters) {
        let all: Vec<f64> = found.iter().flat_map(|one| one.get(name).unwrap_or_default().to_vec()).collect();
        dict.set_item(name, moved(py, &[found.len(), values.len()], all)?)?;
    }
    if let Some(object) = mesh {
        let mut sum = vec![Vec3::ZERO; object.surface.mesh().vertices().len()];
        for one in found {
            sum.iter_mut().zip(by_vertices(one, object)?).for_each(|(sum, by)| *sum += by);
        }
        dict.set_item("vertices", crate::pose::vectors(py, &sum)?)?;
    }
    Ok(dict)
}

/// The derivatives by the vertices of a mesh.
pub fn by_vertices(found: &Gradients, object: &skin::Object) -> PyResult<Vec<Vec3>> {
    found.by_vertices(object).ok_or_else(|| {
        Error::new_err("`vertices`: a mesh has gradients by them, on springs, hydroelastic skins and layers, on the CPU; a primitive has them by its sizes")
    })
}
