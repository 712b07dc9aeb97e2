//! Sensors that step together, on a GPU or on the CPU.

use super::batch::{DeviceBatch, Places};
use super::binding::{Binder, Given, entries};
use super::bound::{Bound, Kind, Place};
use super::foreign;
use crate::array::{array, rows, vector};
use crate::error::{Error, IntoPyErr};
use crate::sensor::is_quick;
use crate::shared_sensor::SharedSensor;
use crate::threads::{detached, interruptible_here};
use crate::touch::warn_text;
use dermis::geometry::{Pose, Twist, Vec3};
use dermis::gpu::array::Twists;
use dermis::gpu::environments::{
    self as batches, Bindings, GpuOptions, ObjectArrays, PARAMETER_NAMES, PARAMETERS, Randomisation, View,
};
use dermis::gpu::{Gpu, GpuError, Precision};
use dermis::skin::{Friction, Hydroelastic, Layer, Object, Springs};
use numpy::PyArrayDyn;
use pyo3::Bound as PyBound;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use std::sync::{Arc, Mutex, PoisonError};

/// Number of environments of springs that step on the CPU in less time than a tenth of a second.
const QUICK_ENVIRONMENTS: usize = 1000;

/// Many copies of a sensor, each with its own objects, stepped together on a GPU or on the CPU. Made by
/// ``Sensor.environments``.
///
/// ``bind`` names the arrays of other libraries once, ``launch`` then reads poses from them and writes loads to them in
/// place. On a GPU, ``launch`` only enqueues work on a stream: it allocates nothing, copies nothing, does not wait, and
/// can be captured in a CUDA graph; keep the environments alive as long as the graph.
///
/// Several sensors, such as the fingers of a hand, are several of them, launched one after the other on the same stream, also
/// in one graph.
///
/// An invalid pose, velocity or index of an object sets the status of its environment, which has no contact in that step; other environments
/// are not affected. ``check`` reads the status.
#[pyclass(frozen, module = "dermis")]
pub struct Environments {
    shared: Arc<SharedSensor>,
    gpu: Option<Arc<Gpu>>,
    shapes: Vec<Arc<Object>>,
    inner: Mutex<Inner>,
    count: usize,
}

struct Inner {
    batch: batches::Environments,
    /// The bound arrays.
    kept: Vec<Bound>,
}

impl Environments {
    /// Makes `count` untouched environments, on the CPU without a GPU. The precision is that of springs on a GPU.
    pub fn new(
        gpu: Option<Arc<Gpu>>,
        shared: &Arc<SharedSensor>,
        shapes: Vec<Arc<Object>>,
        count: usize,
        random: Option<Randomisation>,
        max_polygons: Option<usize>,
        precision: Option<Precision>,
    ) -> Result<Self, GpuError> {
        let sensor = shared.sensor().map_err(|error| GpuError::BadInput { reason: error.to_string() })?;
        if precision.is_some() && sensor.skin_as::<Springs>().is_none() {
            let skin = if sensor.skin_as::<Layer>().is_some() {
                "a layer, whose contacts are solved in single precision to a tolerance of 1e-5 of the depth"
            } else {
                "not of springs, and is computed in double precision"
            };
            let reason = format!(
                "`precision` is for springs, and the skin of sensor {:?} is {skin}: leave it out",
                sensor.name()
            );
            return Err(GpuError::BadInput { reason });
        }
        let friction = sensor.skin_as::<Hydroelastic>().map(|skin| &skin.parameters().friction);
        if max_polygons.is_some() && !matches!(friction, Some(Friction::Lugre(_))) {
            let reason = format!(
                "`max_polygons` is for hydroelastic skins with LuGre friction, which remember bristles, and the skin of sensor {:?} is not one of them: leave it out",
                sensor.name()
            );
            return Err(GpuError::BadInput { reason });
        }
        let mut batch = match &gpu {
            Some(gpu) if sensor.skin_as::<Layer>().is_some() => {
                batches::Environments::with_layer(gpu, sensor, &shapes, count)?
            }
            Some(gpu) => {
                let uploaded =
                    shapes.iter().map(|shape| super::object_on(gpu, shape)).collect::<Result<Vec<_>, _>>()?;
                let options = GpuOptions { precision: precision.unwrap_or_default(), max_polygons };
                batches::Environments::on_gpu_with(&shared.on_gpu(gpu)?, &uploaded, count, options)?
            }
            None => batches::Environments::on_cpu(sensor, &shapes, count)?,
        };
        if let Some(ranges) = random {
            batch.randomise(ranges)?;
        }
        let inner = Mutex::new(Inner { batch, kept: Vec::new() });
        Ok(Self { shared: Arc::clone(shared), gpu, shapes, inner, count })
    }

    fn place(&self) -> Place {
        self.gpu.as_ref().map_or(Place::Host, |gpu| Place::Gpu(gpu.ordinal()))
    }

    /// The arrays of all objects, from the arguments of `bind`.
    fn objects(
        &self,
        arrays: &mut Binder,
        index: Given<'_, '_>,
        values: [Given<'_, '_>; 6],
        add: Given<'_, '_>,
        angular_first: bool,
    ) -> PyResult<Vec<ObjectArrays>> {
        let several = values[0].and_then(|pose| pose.cast::<PyList>().ok()).map(|poses| poses.len());
        let (count, known) = (several.unwrap_or(1), self.shapes.len());
        if index.is_none() && known > 1 && known != count {
            return Err(Error::new_err(format!(
                "`object` must say which of the {known} objects each environment has, because `pose` is that of {count}"
            )));
        }
        let indices = entries(index, several, "object")?;
        if known > 1 && index.is_some() && indices.iter().any(Option::is_none) {
            return Err(Error::new_err("`object` must have indices for every object"));
        }
        // One value holds for all objects.
        let one = add.and_then(|add| add.extract::<bool>().ok());
        let adds = entries(add.filter(|_| one.is_none()), several, "add_to_object")?;
        let mut all = Vec::with_capacity(6);
        for (value, name) in values.into_iter().zip(OBJECT) {
            all.push(entries(value, several, name)?);
        }
        let mut made = Vec::with_capacity(count);
        for k in 0..count {
            let name = |name: &str| several.map_or(name.to_owned(), |_| format!("{name}[{k}]"));
            let names = OBJECT.map(name);
            if all[0][k].is_none() {
                return Err(Error::new_err(format!("`{}` must be a pose", names[0])));
            }
            let own = std::array::from_fn(|argument: usize| all[argument][k].as_ref());
            let add = adds[k].as_ref().map(|add| add.extract::<bool>()).transpose()?;
            made.push(ObjectArrays {
                body: arrays.body(names.each_ref().map(|name| &**name), own, angular_first)?,
                shape: arrays.rows(indices[k].as_ref(), &[], &name("object"), Kind::Index)?,
                fixed_shape: if known > 1 { k as i32 } else { 0 },
                add: i32::from(one.or(add).unwrap_or(false)),
            });
        }
        Ok(made)
    }

    fn inner(&self) -> std::sync::MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Ranges of randomised parameters: a dict of names and (low, high).
pub fn ranges(randomise: Option<&PyBound<'_, PyDict>>, seed: u64) -> PyResult<Option<Randomisation>> {
    let Some(randomise) = randomise else { return Ok(None) };
    let mut ranges = Randomisation::new(seed);
    for (name, range) in randomise {
        let name: String = name.extract()?;
        ranges.set(&name, vector::<2>(&range, &format!("randomise[{name:?}]"))?).into_py_err()?;
    }
    Ok(Some(ranges))
}

/// The precision of a name.
pub fn precision(name: &str) -> PyResult<Precision> {
    let is_single = one_of(name, ["double", "single"], "precision")?;
    Ok(if is_single { Precision::Single } else { Precision::Double })
}

/// CUDA's handle of a stream: an int, or a stream of PyTorch, Warp (`cuda_stream`) or CuPy (`ptr`); 0 without one.
fn stream_handle(stream: Option<&PyBound<'_, PyAny>>) -> PyResult<usize> {
    let Some(stream) = stream else { return Ok(0) };
    for name in ["cuda_stream", "ptr"] {
        if let Some(handle) = stream.getattr_opt(name)? {
            // Warp's handle of the default stream is None.
            return Ok(handle.extract::<Option<usize>>()?.unwrap_or(0));
        }
    }
    let refuse = |_| Error::new_err("`stream` must be a CUDA stream of torch, Warp or CuPy, or its handle as an int");
    stream.extract().map_err(refuse)
}

/// Converts velocities (m/s, rad/s) at the objects' origins to velocities at the sensor's origin, on the host.
fn moved(poses: &[Pose], twists: &[[f64; 6]]) -> Vec<Twist> {
    let one = |(pose, v): (&Pose, &[f64; 6])| {
        Twist::new(Vec3::new(v[0], v[1], v[2]), Vec3::new(v[3], v[4], v[5])).moved(-pose.translation)
    };
    poses.iter().zip(twists).map(one).collect()
}

#[pymethods]
impl Environments {
    fn __len__(&self) -> usize {
        self.count
    }

    /// Name of the device: "cpu", or the name of the GPU.
    #[getter]
    fn device(&self) -> &str {
        self.gpu.as_ref().map_or("cpu", |gpu| gpu.name())
    }

    /// Names the arrays that ``launch`` reads and writes in place, and its time step dt (s).
    ///
    /// All are arrays of float32 or float64 with one row per environment, with any strides (such as ``d.xpos[:, b]``): on
    /// a GPU tensors of PyTorch, Warp, CuPy or JAX, on the CPU numpy arrays and CPU tensors. They are kept alive.
    ///
    /// Inputs: pose and sensor_pose, the poses of the object's body and of the sensor's body in the world: (n, 3),
    /// (n, 7), (n, 4, 4), or a tuple of positions (n, 3) and rotations (n, 4) or (n, 3, 3); quaternion: their order,
    /// "wxyz" (MuJoCo) or "xyzw" (Newton). Without sensor_pose, the sensor is at the origin. object_offset and
    /// sensor_offset: the fixed pose of the object and of the sensor in its body. twist and sensor_twist: linear (m/s) and
    /// angular (rad/s) velocity of each body in the world, (n, 6), at rest without; twist_order="angular" if the angular
    /// part is first. twist_at and sensor_twist_at: the points (m) whose velocity they give, in the world (n, 3), or one
    /// point (3,) in the body's frame; default: the body's origin.
    ///
    /// Several objects in each environment: pose is a list with an entry for each, and so are twist, twist_at, object_offset,
    /// on_object, on_object_at and add_to_object. An entry may be None, except in pose. Taxels under two objects read the one that is deeper
    /// there, as in ``Sensor.step``. object: index of each object in the list that ``Sensor.environments`` was made with, int32 or
    /// int64, (n,), or a list of these; it may change at any time, such as at a reset. Without it the objects are those of the list, in order, or
    /// all of them the only one. On a GPU, graphs that were captured with several objects must be captured again after another bind.
    ///
    /// Outputs: taxels, the loads (N), (n, taxels) or (n, rows, cols); reported, the readings after the response (N), of the
    /// same shape: bind it from the first launch on, because the response has memory; forces (N), (n, taxels, 3); wrench (N, N m) on the sensor about
    /// its origin, in its frame, (n, 6); outside (N), (n, 3). Of a sensor with a camera: markers, column and row of each
    /// marker in the image (pixels), (n, markers, 2), and image, uint8, (n, height, width, 3), images without gaps. on_object and on_sensor: force (N) and torque (N m) on each
    /// body in the world, (n, 6), about on_object_at and on_sensor_at, points as in twist_at; with
    /// add_to_object and add_to_sensor they are added to the arrays, else they replace their contents.
    #[pyo3(signature = (*, dt, pose, object=None, sensor_pose=None, quaternion="wxyz", object_offset=None, sensor_offset=None, twist=None, sensor_twist=None, twist_order="linear", twist_at=None, sensor_twist_at=None, taxels=None, reported=None, forces=None, wrench=None, outside=None, markers=None, image=None, on_object=None, on_object_at=None, on_sensor=None, on_sensor_at=None, add_to_object=None, add_to_sensor=false))]
    #[allow(clippy::too_many_arguments)] // they have names in Python
    fn bind(
        &self,
        #[pyo3(from_py_with = crate::array::dt)] dt: f64,
        pose: &PyBound<'_, PyAny>,
        object: Option<&PyBound<'_, PyAny>>,
        sensor_pose: Option<&PyBound<'_, PyAny>>,
        quaternion: &str,
        object_offset: Option<&PyBound<'_, PyAny>>,
        sensor_offset: Option<&PyBound<'_, PyAny>>,
        twist: Option<&PyBound<'_, PyAny>>,
        sensor_twist: Option<&PyBound<'_, PyAny>>,
        twist_order: &str,
        twist_at: Option<&PyBound<'_, PyAny>>,
        sensor_twist_at: Option<&PyBound<'_, PyAny>>,
        taxels: Option<&PyBound<'_, PyAny>>,
        reported: Option<&PyBound<'_, PyAny>>,
        forces: Option<&PyBound<'_, PyAny>>,
        wrench: Option<&PyBound<'_, PyAny>>,
        outside: Option<&PyBound<'_, PyAny>>,
        markers: Option<&PyBound<'_, PyAny>>,
        image: Option<&PyBound<'_, PyAny>>,
        on_object: Option<&PyBound<'_, PyAny>>,
        on_object_at: Option<&PyBound<'_, PyAny>>,
        on_sensor: Option<&PyBound<'_, PyAny>>,
        on_sensor_at: Option<&PyBound<'_, PyAny>>,
        add_to_object: Option<&PyBound<'_, PyAny>>,
        add_to_sensor: bool,
    ) -> PyResult<()> {
        let w_first = one_of(quaternion, ["xyzw", "wxyz"], "quaternion")?;
        let angular_first = one_of(twist_order, ["linear", "angular"], "twist_order")?;
        let mut arrays = Binder { place: self.place(), count: self.count, w_first, kept: Vec::new() };
        let mut bindings = Bindings::new(dt);
        let sensor_values = [sensor_pose, sensor_offset, sensor_twist, sensor_twist_at, on_sensor, on_sensor_at];
        bindings.sensor = arrays.body(SENSOR, sensor_values, angular_first)?;
        let object_values = [Some(pose), object_offset, twist, twist_at, on_object, on_object_at];
        let objects = self.objects(&mut arrays, object, object_values, add_to_object, angular_first)?;
        let sensor = self.shared.sensor()?;
        let count = sensor.taxels().len();
        bindings.taxels = arrays.taxels(taxels, count, sensor.taxels().size(), "taxels")?;
        bindings.reported = arrays.taxels(reported, count, sensor.taxels().size(), "reported")?;
        bindings.forces = arrays.rows(forces, &[count, 3], "forces", Kind::Output)?;
        bindings.wrench = arrays.rows(wrench, &[6], "wrench", Kind::Output)?;
        bindings.outside = arrays.rows(outside, &[3], "outside", Kind::Output)?;
        if let Some(optics) = sensor.optics() {
            let seen = optics.markers().map_or(0, |markers| markers.points_m().len());
            bindings.markers = arrays.rows(markers, &[seen, 2], "markers", Kind::Output)?;
            bindings.image = arrays.images(image, [optics.camera().height, optics.camera().width], "image")?;
        } else if markers.is_some() || image.is_some() {
            let name = sensor.name();
            return Err(Error::new_err(format!("`markers` and `image`: sensor {name:?} has no camera")));
        }
        bindings.add_to_sensor = i32::from(add_to_sensor);
        let mut inner = self.inner();
        // SAFETY: the arrays have a row per environment, as checked above, on the device of the batch, and are kept alive.
        #[allow(unsafe_code)]
        unsafe { inner.batch.bind_objects(bindings, &objects) }.into_py_err()?;
        inner.kept = arrays.kept;
        Ok(())
    }

    /// Advances every environment by one time step: reads the bound inputs and writes the bound outputs.
    ///
    /// On a GPU, enqueues the work on a stream of PyTorch, Warp or CuPy, or on that with a handle (int); default: CUDA's
    /// default stream, which is also that of PyTorch. On the CPU, the outputs are written when the call returns; after Ctrl-C
    /// some environments have advanced and others have not.
    ///
    /// steps: the number of steps since its reset that the caller knows of each environment, int32 or int64, (n,), for callers without
    /// side effects, such as JAX: an environment where it is 0 is reset first; where it is not the number of its launches
    /// since then, its status says so. Give it from the first launch on. On a GPU, it is read when the stream arrives there.
    ///
    /// beside: in a CUDA graph that the stream captures, what follows on it does not wait for `reported`, which is computed beside it with a part of
    /// each multiprocessor, until the graph ends or `wait`: until then `reported` is not there, and `taxels` must not be written. Wait before the body of a condition, or
    /// a graph within the graph, that launches these environments. Without a graph it changes nothing.
    #[pyo3(signature = (stream=None, *, steps=None, beside=false))]
    fn launch(
        &self,
        py: Python<'_>,
        stream: Option<&PyBound<'_, PyAny>>,
        steps: Option<&PyBound<'_, PyAny>>,
        beside: bool,
    ) -> PyResult<()> {
        let handle = stream_handle(stream)?;
        if steps.is_some() {
            let mut arrays = Binder { place: self.place(), count: self.count, w_first: true, kept: Vec::new() };
            let view = arrays.rows(steps, &[], "steps", Kind::Index)?;
            let mut inner = self.inner();
            // SAFETY: there is a number per environment, in memory of the caller that lives until the work is done.
            #[allow(unsafe_code)]
            unsafe { inner.batch.follow(&view, handle) }.into_py_err()?;
        }
        if self.gpu.is_some() {
            let batch = &mut self.inner().batch;
            return if beside { batch.launch_beside(handle) } else { batch.launch(handle) }.into_py_err();
        }
        if self.count <= QUICK_ENVIRONMENTS && is_quick(self.shared.sensor()?) {
            return detached(py, || self.inner().batch.launch(handle))?.into_py_err();
        }
        interruptible_here(py, |job| self.inner().batch.launch_while(handle, &|| job.goes_on()))?.into_py_err()
    }

    /// Lets what the stream captures from now on, in the graph of launches with `beside=True`, wait for their `reported`.
    #[pyo3(signature = (stream=None))]
    fn wait(&self, stream: Option<&PyBound<'_, PyAny>>) -> PyResult<()> {
        self.inner().batch.wait(stream_handle(stream)?).into_py_err()
    }

    /// Ends contact, clears status and memory of the response, and draws randomised parameters anew where the mask is not
    /// zero, bool, uint8, int32 or int64, shape (n,); default: everywhere. The noise of the response goes on. On a GPU, a mask in
    /// its memory is read when the stream arrives there, and a sequence of bools is copied.
    #[pyo3(signature = (mask=None, stream=None))]
    fn reset(&self, mask: Option<&PyBound<'_, PyAny>>, stream: Option<&PyBound<'_, PyAny>>) -> PyResult<()> {
        let handle = stream_handle(stream)?;
        let mut arrays = Binder { place: self.place(), count: self.count, w_first: true, kept: Vec::new() };
        let on_host = |mask: &PyBound<'_, PyAny>| -> PyResult<Vec<u8>> {
            let refuse = |_| {
                let count = self.count;
                Error::new_err(format!("`mask` must be a bool for each of the {count} environments, got {mask:?}"))
            };
            let flags: Vec<PyBound<'_, PyAny>> =
                mask.call_method0("tolist").unwrap_or_else(|_| mask.clone()).extract().map_err(refuse)?;
            if flags.len() != self.count {
                let (got, count) = (flags.len(), self.count);
                return Err(Error::new_err(format!("`mask` is for {got} environments, and there are {count}")));
            }
            flags.iter().map(|flag| flag.is_truthy().map(u8::from)).collect()
        };
        let (mut bytes, mut uploaded) = (Vec::new(), None);
        let view = match (mask, &self.gpu) {
            (None, _) => View::default(),
            (Some(mask), Some(_)) if is_on_gpu(mask)? => arrays.rows(Some(mask), &[], "mask", Kind::Mask)?,
            (Some(mask), None) if mask.hasattr("__array_interface__")? || mask.hasattr("__dlpack__")? => {
                arrays.rows(Some(mask), &[], "mask", Kind::Mask)?
            }
            (Some(mask), Some(gpu)) => {
                let buffer = uploaded.insert(gpu.upload(&on_host(mask)?).into_py_err()?);
                gpu.finish().into_py_err()?;
                View::new(buffer.address(), &[1], batches::Element::U8)
            }
            (Some(mask), None) => {
                bytes = on_host(mask)?;
                View::new(bytes.as_ptr() as u64, &[1], batches::Element::U8)
            }
        };
        let mut inner = self.inner();
        // SAFETY: the mask has an element per environment; it lives until the end of this function or belongs to the caller,
        // and a copy is released after the work is done.
        #[allow(unsafe_code)]
        unsafe { inner.batch.reset(&view, handle) }.into_py_err()?;
        if let (Some(_), Some(gpu)) = (&uploaded, &self.gpu) {
            gpu.finish_all_streams().into_py_err()?;
        }
        drop((bytes, uploaded));
        inner.kept.append(&mut arrays.kept);
        Ok(())
    }

    /// Raises an Error that names the first environment with an invalid pose, velocity or index since its last reset, or whose skin
    /// could not be solved, and how many there are; else warns about contacts deeper than the skin allows, or, with a layer, about what
    /// its press warns about, in the last step. Waits for the GPU.
    fn check(&self, py: Python<'_>) -> PyResult<()> {
        let warning = detached(py, || self.inner().batch.check())?.into_py_err()?;
        warning.map_or(Ok(()), |text| warn_text(py, &text))
    }

    /// The randomised parameters of every environment, copied: a dict of arrays of shape (n,), and (n, 3) for "position" (m)
    /// and "rotation" (rad); empty without ``randomise``. Waits for the GPU.
    #[getter]
    fn parameters<'py>(&self, py: Python<'py>) -> PyResult<PyBound<'py, PyDict>> {
        let numbers = detached(py, || self.inner().batch.parameters())?.into_py_err()?;
        let all = PyDict::new(py);
        for (index, name) in PARAMETER_NAMES.iter().enumerate().filter(|_| !numbers.is_empty()) {
            let (first, width) = if index < 6 { (index, 1) } else { (3 * index - 12, 3) };
            let own: Vec<f64> =
                numbers.chunks(PARAMETERS).flat_map(|row| &row[first..first + width]).copied().collect();
            let shape: &[usize] = if width == 1 { &[self.count] } else { &[self.count, width] };
            all.set_item(name, array(py, shape, &own)?)?;
        }
        Ok(all)
    }

    /// Status of every environment since its last reset, uint32, shape (n,), copied: 0, or the sum of 1 (a pose or a
    /// velocity is not finite), 2 (a rotation is none), 4 (too far or too fast), 8 (deeper than the skin allows), 16 (the skin
    /// could not be solved), 32 (the index of an object is not in the list) and 64 (its history is not that of the ``steps`` of a launch). Waits for the GPU.
    #[getter]
    fn status<'py>(&self, py: Python<'py>) -> PyResult<PyBound<'py, PyArrayDyn<u32>>> {
        let status = detached(py, || self.inner().batch.status())?.into_py_err()?;
        array(py, &[self.count], &status)
    }

    /// Advances every environment, of one object each, on a GPU by dt (s), and returns all loads in new memory.
    ///
    /// poses: pose of each object for which the loads are computed, (n, 4, 4), (n, 7) or (n, 3). twists: velocity of the
    /// object's origin (m/s) and angular velocity (rad/s), (n, 6); default: at rest. Both are numpy arrays, or both GPU
    /// tensors.
    ///
    /// Returns a DeviceBatch of the n environments. Its ``warnings`` are computed on access; none are issued.
    #[pyo3(signature = (poses, twists=None, *, dt))]
    fn step(
        &self,
        py: Python<'_>,
        poses: &PyBound<'_, PyAny>,
        twists: Option<&PyBound<'_, PyAny>>,
        #[pyo3(from_py_with = crate::array::dt)] dt: f64,
    ) -> PyResult<DeviceBatch> {
        let on_cpu = || Error::new_err("step() runs on a GPU only: use bind() and launch(), which run on the CPU too");
        let gpu = self.gpu.as_ref().ok_or_else(on_cpu)?;
        let (places, speeds) = match (Places::read(poses, gpu)?, twists) {
            (Places::Gpu(places), Some(twists)) => {
                let both = || Error::new_err("`twists` must be on the GPU where `poses` are");
                let twists = foreign::read(twists, gpu, "twists")?.ok_or_else(both)?;
                let speeds = twists.twists(gpu, &places, "twists")?;
                (places, speeds)
            }
            (Places::Gpu(places), None) => {
                let still = vec![Twist::ZERO; places.count];
                (places, Twists::of_host(gpu, &still).into_py_err()?)
            }
            (Places::Host(places, _), twists) => {
                let twists = twists.map_or(Ok(vec![[0.0; 6]; places.len()]), |twists| rows::<6>(twists, "twists"))?;
                if twists.len() != places.len() {
                    let (n, m) = (places.len(), twists.len());
                    return Err(Error::new_err(format!("`poses` is for {n} environments and `twists` for {m}")));
                }
                let speeds = Twists::of_host(gpu, &moved(&places, &twists)).into_py_err()?;
                (self.shared.on_gpu(gpu).into_py_err()?.poses(&places).into_py_err()?, speeds)
            }
        };
        let felt = detached(py, || {
            let felt = self.inner().batch.step(&places, &speeds, dt)?;
            gpu.finish()?;
            Ok::<_, GpuError>(felt)
        })?;
        Ok(DeviceBatch::of_presses(&self.shared, felt.into_py_err()?, &self.shapes[0], places))
    }

    fn __repr__(&self) -> String {
        format!("<dermis.Environments of {:?}: {} on {}>", self.shared.spec().name, self.count, self.device())
    }
}

/// Names of the arguments of one body.
const OBJECT: [&str; 6] = ["pose", "object_offset", "twist", "twist_at", "on_object", "on_object_at"];
const SENSOR: [&str; 6] =
    ["sensor_pose", "sensor_offset", "sensor_twist", "sensor_twist_at", "on_sensor", "on_sensor_at"];

/// True for the second word; an error for others.
fn one_of(word: &str, words: [&str; 2], what: &str) -> PyResult<bool> {
    let [first, second] = words;
    let refuse = || Error::new_err(format!("`{what}` must be {first:?} or {second:?}, got {word:?}"));
    words.iter().position(|known| *known == word).map(|index| index == 1).ok_or_else(refuse)
}

/// True for an array in the memory of a GPU.
fn is_on_gpu(value: &PyBound<'_, PyAny>) -> PyResult<bool> {
    if value.hasattr("__dlpack_device__")? {
        return Ok(value.call_method0("__dlpack_device__")?.extract::<(i32, i32)>()?.0 == super::dlpack::CUDA);
    }
    value.hasattr("__cuda_array_interface__")
}
