//! The Python class of a sensor.

use crate::array::{Precision, array, positive, vector, whole};
use crate::batch::Batch;
use crate::batch::presses;
use crate::contacts;
use crate::error::{Error, IntoPyErr};
use crate::gpu::{self, DeviceBatch, Environments, batch::Places};
use crate::motion::ObjectMotions;
use crate::object::Object;
use crate::path_gradient;
use crate::pose::vectors;
use crate::progress::Bar;
use crate::reading::{Reading, ReadingData, ReadingValues};
use crate::shared_sensor::{SharedSensor, with_parameters};
use crate::state::{History, State};
use crate::threads::{Job, detached, interruptible, interruptible_job};
use crate::touch::{warn, warn_text};
use dermis::geometry::Vec3;
use dermis::geometry::limits::{MAX_DESCRIPTION_BYTES, MAX_ROWS, check_size};
use dermis::geometry::regular_file;
use dermis::gpu::goals::PressRequest;
use dermis::gpu::{Choice, GpuError};
use dermis::sensor::{self, Aim, Goal, SensorSpec};
use dermis::skin::{self, WarningLog};
use numpy::PyArrayDyn;
use pyo3::prelude::*;
use pyo3::types::PyType;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Bytes of a taxel in a reading.
const TAXEL_BYTES: f64 = 64.0;

/// A tactile sensor: a soft skin over a transducer, with its state.
///
/// Make one by ``Sensor.preset("uji-foam-14x6")`` (``dermis.presets()`` lists the names), ``Sensor.load("mine.toml")``
/// or ``Sensor.parse(text)``. Lengths in m, forces in N, angles in rad, times in s.
///
/// Sensor frame: origin at the center of the sensing surface, +z out of the skin, towards the objects. A pose is that
/// of the object in the sensor frame (sensor_from_object): a (4, 4) matrix, (7,) position and quaternion
/// (x, y, z, qw, qx, qy, qz), or (3,) position. A twist is the velocity of the object's origin (m/s) and its angular
/// velocity (rad/s), (6,).
///
/// ``press`` and ``settle`` are quasi-static; ``step`` advances time. All three update ``state``; ``reset`` clears it.
/// Copies and pickles include the state (a pickle of a sensor made from files needs the files at the same paths). Use
/// one copy per thread.
#[pyclass(frozen, module = "dermis")]
pub struct Sensor {
    pub shared: Arc<SharedSensor>,
    history: Mutex<History>,
    /// Warnings of the steps since the last reset.
    warnings: Mutex<WarningLog>,
}

/// An Object, or a sequence of them.
fn shapes_of(obj: &Bound<'_, PyAny>) -> PyResult<Vec<Arc<skin::Object>>> {
    if let Ok(only) = obj.extract::<PyRef<'_, Object>>() {
        return Ok(vec![only.object.clone()]);
    }
    let all: Vec<PyRef<'_, Object>> = obj
        .extract()
        .map_err(|_| Error::new_err(format!("`obj` must be an Object or a list of Objects, got {obj}")))?;
    Ok(all.iter().map(|one| one.object.clone()).collect())
}

/// The history of an untouched sensor.
pub fn at_rest(sensor: &sensor::Sensor) -> History {
    History { skin: Arc::new(sensor.skin().rest()), response: Arc::new(sensor.chain().rest()), frame: 0 }
}

impl Sensor {
    /// Makes an untouched sensor.
    pub fn of_shared(shared: Arc<SharedSensor>) -> PyResult<Self> {
        let history = at_rest(shared.sensor()?);
        Ok(Self::with_history(shared, history))
    }

    /// Makes a sensor with a history.
    pub fn with_history(shared: Arc<SharedSensor>, history: History) -> Self {
        Self { shared, history: Mutex::new(history), warnings: Mutex::default() }
    }

    fn build(
        py: Python<'_>,
        spec: SensorSpec,
        folder: Option<PathBuf>,
        skin: Option<&str>,
        parameters: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let spec = match skin {
            Some(kind) => {
                let located = folder.as_ref().map_or_else(|| spec.clone(), |folder| spec.with_files_in(folder));
                located.with_skin(kind.parse().into_py_err()?).into_py_err()?
            }
            None => spec,
        };
        let spec = parameters.map_or(Ok(spec.clone()), |parameters| with_parameters(&spec, parameters))?;
        Self::of_shared(Arc::new(interruptible(py, move || SharedSensor::build(spec, folder))?.into_py_err()?))
    }

    /// The state; never locked during a computation.
    fn history(&self) -> MutexGuard<'_, History> {
        self.history.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn inner(&self) -> PyResult<&sensor::Sensor> {
        self.shared.sensor()
    }

    /// Stores the new state, issues the warnings that `take` takes from the log, and makes a reading of the contact.
    fn keep(
        &self,
        py: Python<'_>,
        history: History,
        touch: skin::Touch,
        reading: sensor::Reading,
        take: fn(&mut WarningLog) -> Vec<skin::Warning>,
        precision: Precision,
    ) -> PyResult<Reading> {
        let frame = history.frame;
        let numbers = ReadingValues { reading, frame, travel_m: None, sensor_from_object: None };
        *self.history() = history;
        let new = {
            let mut log = self.warnings();
            log.add(&touch, frame as f64);
            take(&mut log)
        };
        warn(py, new)?;
        Ok(Reading::new(ReadingData::new(self.shared.clone(), numbers, touch).with_precision(precision)))
    }

    /// Computes a batch of presses on the CPU, or on `on_gpu`, a copy of the sensor whose gel is on a GPU. Issues each kind of
    /// warning once.
    fn press_on_host(
        &self,
        py: Python<'_>,
        on_gpu: Option<Arc<sensor::Sensor>>,
        object: &Arc<skin::Object>,
        wanted: Vec<PressRequest>,
        progress: bool,
        precision: Precision,
    ) -> PyResult<Py<PyAny>> {
        let taxels = self.inner()?.taxels().len() as f64;
        check_size("presses", wanted.len(), MAX_ROWS, taxels * TAXEL_BYTES).into_py_err()?;
        let bar = Bar::start(py, progress, wanted.len(), "presses")?;
        let (shared, object) = (self.shared.clone(), object.clone());
        let work = move |job: &Job| match &on_gpu {
            Some(sensor) => presses::make_on_gpu(&shared, sensor, &object, &wanted, job),
            None => presses::make(&shared, &object, &wanted, job),
        };
        let made = interruptible_job(py, work, |job| bar.show(py, job.done()));
        bar.close(py)?;
        let batch = Batch::new(self.shared.clone(), made?.map_err(Error::new_err)?, precision);
        batch.warnings().iter().try_for_each(|text| warn_text(py, text))?;
        Ok(Py::new(py, batch)?.into_any())
    }

    /// Runs work of this sensor so that Ctrl-C acts: on a thread of its own, unless it takes much less time than to
    /// start one.
    fn run<T: Send + 'static>(&self, py: Python<'_>, work: impl FnOnce() -> T + Send + 'static) -> PyResult<T> {
        if is_quick(self.inner()?) { detached(py, work) } else { interruptible(py, work) }
    }

    fn warnings(&self) -> MutexGuard<'_, WarningLog> {
        self.warnings.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Largest number of taxels of a spring skin that is stepped in much less than a tenth of a second.
const QUICK_TAXELS: usize = 20_000;

/// True if a step of the sensor takes less than a tenth of a second: springs with the usual number of taxels.
pub fn is_quick(sensor: &sensor::Sensor) -> bool {
    sensor.skin_as::<skin::Springs>().is_some() && sensor.taxels().len() <= QUICK_TAXELS
}

/// The goal of a press: exactly one of depth (m) and force (N).
fn goal(depth: Option<f64>, force: Option<f64>) -> PyResult<Goal> {
    match (depth, force) {
        (Some(depth), None) => Ok(Goal::Depth(depth)),
        (None, Some(force)) => Ok(Goal::Force(force)),
        _ => Err(Error::new_err("give `depth` (m) or `force` (N), and not both")),
    }
}

#[pymethods]
impl Sensor {
    /// A built-in sensor; ``dermis.presets()`` lists the names.
    ///
    /// skin: another skin model, "springs", "hydroelastic", "layer", "imprint" or "gel", if the sensor supports it.
    /// parameters: a dict of values of the description to change, with units, by keys with dots or in nested dicts:
    /// ``{"skin.stiffness": "1000 N/m", "surface.grid": {"rows": 40, "cols": 40}}``. A number in a key is the place of an item in
    /// a list, from 0: ``{"response.faults.stuck.0.taxel": 7}``.
    #[staticmethod]
    #[pyo3(signature = (name, *, skin=None, parameters=None))]
    fn preset(py: Python<'_>, name: &str, skin: Option<&str>, parameters: Option<&Bound<'_, PyAny>>) -> PyResult<Self> {
        Self::build(py, sensor::presets::find(name).into_py_err()?, None, skin, parameters)
    }

    /// A sensor from its description, a TOML file. skin and parameters: as for ``preset``.
    #[staticmethod]
    #[pyo3(signature = (path, *, skin=None, parameters=None))]
    fn load(
        py: Python<'_>,
        path: PathBuf,
        skin: Option<&str>,
        parameters: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let name = path.display().to_string();
        let text = regular_file::read_text(&path, MAX_DESCRIPTION_BYTES)
            .map_err(|error| sensor::SensorError::Unreadable { path: name.clone(), reason: error.to_string() })
            .into_py_err()?;
        let folder = path.parent().map(|parent| std::path::absolute(parent).unwrap_or_else(|_| parent.to_owned()));
        Self::build(py, SensorSpec::parse(&name, &text).into_py_err()?, folder, skin, parameters)
    }

    /// A sensor from the text of its description (TOML). folder: folder of the files that the description refers to.
    #[staticmethod]
    #[pyo3(signature = (text, *, folder=None, skin=None, parameters=None))]
    fn parse(
        py: Python<'_>,
        text: &str,
        folder: Option<PathBuf>,
        skin: Option<&str>,
        parameters: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        Self::build(py, SensorSpec::parse("the description", text).into_py_err()?, folder, skin, parameters)
    }

    /// Presses an object along -z into the untouched sensor, quasi-statically and without sliding, and reads it.
    ///
    /// obj: the object; its z axis is that of the sensor unless tilted.
    /// depth: travel past first contact (m), or force: force on the sensor along -z (N); give one of them.
    /// A force that is missed by more than 1 %, because it is too small to be resolved, has a warning.
    /// at: x and y of the object's origin over the sensor (m), shape (2,); default: the origin.
    /// tilt: rotation about the sensor's x axis, then y (rad), shape (2,). yaw: rotation about z before that (rad).
    /// dtype: element type of the arrays of forces, numpy.float64 (the default) or numpy.float32.
    ///
    /// Returns a Reading: ``taxels`` (rows, cols), ``force`` (3,), ``image`` (height, width, 3) …; its ``pose`` is the
    /// final pose of the object. The sensor stays pressed, so ``step`` can continue from there. Raises dermis.Error (a
    /// ValueError) if the object misses the sensor or the goal exceeds the range of the skin; the state is then
    /// unchanged.
    ///
    /// >>> import dermis
    /// >>> ball = dermis.Object.sphere(radius=10e-3)
    /// >>> reading = dermis.Sensor.preset("uji-foam-14x6").press(ball, depth=2e-3)
    /// >>> reading.taxels.shape
    /// (14, 6)
    #[pyo3(signature = (obj, *, depth=None, force=None, at=None, tilt=None, yaw=0.0, dtype=None))]
    #[allow(clippy::too_many_arguments)] // they have names in Python
    fn press(
        &self,
        py: Python<'_>,
        obj: PyRef<'_, Object>,
        depth: Option<f64>,
        force: Option<f64>,
        at: Option<&Bound<'_, PyAny>>,
        tilt: Option<&Bound<'_, PyAny>>,
        yaw: f64,
        dtype: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Reading> {
        let precision = Precision::read(dtype)?;
        let pair =
            |value: Option<&Bound<'_, PyAny>>, what| value.map_or(Ok([0.0; 2]), |value| vector::<2>(value, what));
        let aim = Aim { at_m: pair(at, "at")?, tilt_rad: pair(tilt, "tilt")?, yaw_rad: finite(yaw, "yaw")? };
        let (goal, sensor, object) = (goal(depth, force)?, self.inner()?.clone(), obj.object.clone());
        let pressed = self.run(py, move || sensor::press(&sensor, &object, &aim, goal))?.into_py_err()?;
        let skin = Arc::new(pressed.state.clone());
        let history = History { skin, ..at_rest(self.inner()?) };
        *self.history() = history;
        warn(py, pressed.touch.all_warnings())?;
        Ok(Reading::new(presses::data_of(&self.shared, pressed).with_precision(precision)))
    }

    /// Many presses in parallel, on all CPU cores or on a GPU, each of the untouched sensor. Does not change the state.
    ///
    /// Give either poses of the object, (n, 4, 4), (n, 7) or (n, 3); on a GPU they may also be a GPU tensor (of
    /// PyTorch, CuPy or JAX: any object with ``__dlpack__`` or ``__cuda_array_interface__``), which is not copied
    /// through the host. Or give depth (m) or force (N), each (n,) or a number, with at (m) and tilt (rad), each (n, 2)
    /// or (2,), and yaw (rad), (n,) or a number, as for ``press``.
    ///
    /// device: "cpu"; "cuda" or "cuda:0": an NVIDIA GPU, for springs, hydroelastic pads over grids, layers with their camera images, and
    /// gels; "auto": the GPU if it supports the presses, else the CPU, with one warning that gives the reason.
    ///
    /// progress: shows the number of finished presses on stderr, with tqdm if it is installed; on a GPU, of those to a
    /// depth or a force.
    /// dtype: element type of the arrays of forces, as for ``press``; those of a DeviceBatch are numpy.float64.
    ///
    /// Returns a Batch: a sequence of readings, with ``taxels``, ``force``, ``image`` … as stacked arrays; from a GPU, except
    /// for gels, a DeviceBatch, which has the same arrays and shares them without a copy. Issues each kind of warning once.
    /// Raises dermis.Error with the index of the first press that fails, and for "cuda" without a usable GPU.
    #[pyo3(signature = (obj, poses=None, *, depth=None, force=None, at=None, tilt=None, yaw=None, device="cpu", progress=false, dtype=None))]
    #[allow(clippy::too_many_arguments)] // they have names in Python
    fn press_batch(
        &self,
        py: Python<'_>,
        obj: PyRef<'_, Object>,
        poses: Option<&Bound<'_, PyAny>>,
        depth: Option<&Bound<'_, PyAny>>,
        force: Option<&Bound<'_, PyAny>>,
        at: Option<&Bound<'_, PyAny>>,
        tilt: Option<&Bound<'_, PyAny>>,
        yaw: Option<&Bound<'_, PyAny>>,
        device: &str,
        progress: bool,
        dtype: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Py<PyAny>> {
        self.inner()?;
        let precision = Precision::read(dtype)?;
        let object = obj.object.clone();
        let choice = gpu::choice(device)?;
        if let Some(gpu) = gpu::open(py, choice)? {
            let only_poses = [depth, force, at, tilt, yaw].iter().all(Option::is_none);
            if let Some(gel) = self.shared.gel_on_gpu(&gpu)? {
                let wanted = match poses {
                    Some(poses) if only_poses => Places::read(poses, &gpu)?.requests().into_py_err()?,
                    _ => presses::read(poses, depth, force, at, tilt, yaw)?,
                };
                return self.press_on_host(py, Some(gel), &object, wanted, progress, precision);
            }
            // The poses, or requests whose poses are to be found.
            let (places, wanted) = match poses {
                Some(poses) if only_poses => (Some(Places::read(poses, &gpu)?), Vec::new()),
                _ => (None, presses::read(poses, depth, force, at, tilt, yaw)?),
            };
            let bar = Bar::start(py, progress && places.is_none(), wanted.len(), "presses")?;
            let (shared, pressed) = (self.shared.clone(), object.clone());
            let work = move |job: &Job| {
                let find = || Places::of_requests(&gpu, &shared, &pressed, &wanted, job);
                DeviceBatch::of_places(&gpu, &shared, &pressed, places.map_or_else(find, Ok)?)
            };
            let made = interruptible_job(py, work, |job| bar.show(py, job.done()));
            bar.close(py)?;
            match made? {
                Err(error @ GpuError::Unsupported { .. }) if choice == Choice::Auto => {
                    gpu::warn_once(py, &error.to_string())?;
                }
                made => {
                    let batch = made.into_py_err()?;
                    warn(py, batch.all_warnings(py)?)?;
                    return Ok(Py::new(py, batch)?.into_any());
                }
            }
        }
        let wanted = presses::read(poses, depth, force, at, tilt, yaw)?;
        self.press_on_host(py, None, &object, wanted, progress, precision)
    }

    /// Many untouched copies of this sensor, each with its own instance of obj, that step together in the arrays of other
    /// libraries. obj may also be a list of Objects: then ``bind`` names the objects of each environment. device: "cuda" (springs, hydroelastic skins, and layers), "cpu" (any skin) or "auto": a GPU if there is one and it
    /// supports the skin.
    ///
    /// randomise: ranges (low, high) from which every environment draws parameters of its own, when it is made and at each
    /// of its resets. Factors on those of the sensor: "stiffness" (all forces of the skin), "friction" (springs), "gain",
    /// "threshold", "noise" and "spread" (stages of its response). Displacement of the sensor in its frame: "position" (m)
    /// and "rotation" (rad), the same range for each axis. seed: that of the draws; equal on CPU and GPU.
    ///
    /// max_polygons: for hydroelastic skins with LuGre friction: polygons of the contact surface whose bristles are remembered in each
    /// environment on a GPU; by default an estimate from skin and objects. ``check`` names an environment with more.
    ///
    /// precision: that of contacts, forces, friction and their sums of springs on a GPU: "double" (default), or "single", for GPUs that are slow in
    /// double precision; its errors are stated in the guide (GPU). The CPU always computes in double precision.
    ///
    /// >>> import numpy as np, dermis
    /// >>> sensor, ball = dermis.Sensor.preset("uji-foam-14x6"), dermis.Object.sphere(radius=10e-3)
    /// >>> poses, taxels = np.tile([0, 0, 9e-3, 1, 0, 0, 0], (64, 1)), np.zeros((64, 14, 6))
    /// >>> envs = sensor.environments(ball, 64, device="cpu")
    /// >>> envs.bind(dt=1e-3, pose=poses, taxels=taxels)
    /// >>> envs.launch()
    /// >>> bool((taxels.sum(axis=(1, 2)) > 0).all())
    /// True
    #[pyo3(signature = (obj, count, *, device="auto", randomise=None, seed=0, max_polygons=None, precision=None))]
    #[allow(clippy::too_many_arguments)] // they have names in Python
    fn environments(
        &self,
        py: Python<'_>,
        obj: &Bound<'_, PyAny>,
        count: &Bound<'_, PyAny>,
        device: &str,
        randomise: Option<&Bound<'_, pyo3::types::PyDict>>,
        #[pyo3(from_py_with = crate::array::seed)] seed: u64,
        max_polygons: Option<&Bound<'_, PyAny>>,
        precision: Option<&str>,
    ) -> PyResult<Environments> {
        let count = whole(count, 0, "count", ": give the number of environments")?;
        let estimated = ": leave it out, and it is estimated from skin and objects";
        let max_polygons = max_polygons.map(|number| whole(number, 1, "max_polygons", estimated)).transpose()?;
        let ranges = gpu::environments::ranges(randomise, seed)?;
        let precision = precision.map(gpu::environments::precision).transpose()?;
        let (choice, shapes) = (gpu::choice(device)?, shapes_of(obj)?);
        let mut gpu = gpu::open(py, choice)?;
        let why = dermis::gpu::environments::cpu_only(self.inner()?, &shapes);
        if let (Choice::Auto, Some(_), Some(why)) = (choice, &gpu, why) {
            gpu::warn_once(py, why)?;
            gpu = None;
        }
        detached(py, || Environments::new(gpu, &self.shared, shapes, count, ranges, max_polygons, precision))?
            .into_py_err()
    }

    /// Advances the sensor by dt (s) while objects move, and reads it, including its response.
    ///
    /// objects: an Object with its ``pose`` and ``twist``, or a sequence of (Object, pose) or (Object, pose, twist).
    /// pose: the pose for which the loads are computed, in the sensor frame. twist: velocity (m/s, rad/s), (6,); default: at rest.
    /// The memory of the skin advances by dt: bristles slide with the velocity, and a layer that relaxes is loaded evenly from
    /// the step before to this one.
    /// sensor_pose, sensor_twist: pose and twist of the sensor; if given, all poses and twists are in the world frame,
    /// each twist with the velocity of its own frame's origin. dtype: as for ``press``.
    ///
    /// Returns a Reading. ``reading.touch.on_sensor`` (6,) and ``.on_objects`` (n, 6) are the loads (N, N m) about the
    /// sensor's origin, in its frame. On an error the state is unchanged.
    #[pyo3(signature = (objects, *, dt, pose=None, twist=None, sensor_pose=None, sensor_twist=None, dtype=None))]
    #[allow(clippy::too_many_arguments)] // they have names in Python
    fn step(
        &self,
        py: Python<'_>,
        objects: &Bound<'_, PyAny>,
        #[pyo3(from_py_with = crate::array::dt)] dt: f64,
        pose: Option<&Bound<'_, PyAny>>,
        twist: Option<&Bound<'_, PyAny>>,
        sensor_pose: Option<&Bound<'_, PyAny>>,
        sensor_twist: Option<&Bound<'_, PyAny>>,
        dtype: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Reading> {
        let (dt_s, precision) = (dt, Precision::read(dtype)?);
        let moving = ObjectMotions::read(objects, pose, twist, sensor_pose, sensor_twist)?;
        let (sensor, before) = (self.inner()?.clone(), self.history().clone());
        let (touch, reading, after) = self.run(py, move || {
            let touched = moving.with(|motion| {
                let (mut touch, skin) = sensor.touch(&before.skin, motion, dt_s)?;
                touch.warnings.extend(sensor.skin().missed(&touch, motion));
                Ok::<_, skin::SkinError>((touch, skin))
            });
            let (mut touch, skin) = touched.into_py_err()?;
            let sensed = sensor.sense_at(&before.response, &touch, dt_s, &moving.world_from_sensor);
            let (reading, response) = sensed.into_py_err()?;
            touch.warnings.extend_from_slice(&reading.warnings);
            let frame = before.frame + 1;
            Ok::<_, PyErr>((touch, reading, History { skin: Arc::new(skin), response: Arc::new(response), frame }))
        })??;
        self.keep(py, after, touch, reading, WarningLog::take_new, precision)
    }

    /// Holds objects in place until the skin is at rest, and reads the sensor without its response.
    ///
    /// objects, pose, sensor_pose, dtype: as for ``step``.
    #[pyo3(signature = (objects, *, pose=None, sensor_pose=None, dtype=None))]
    fn settle(
        &self,
        py: Python<'_>,
        objects: &Bound<'_, PyAny>,
        pose: Option<&Bound<'_, PyAny>>,
        sensor_pose: Option<&Bound<'_, PyAny>>,
        dtype: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Reading> {
        let precision = Precision::read(dtype)?;
        let moving = ObjectMotions::read(objects, pose, None, sensor_pose, None)?;
        let (sensor, before) = (self.inner()?.clone(), self.history().clone());
        let settled = self.run(py, move || {
            let (mut touch, skin) = moving.with(|motion| sensor.skin().settle(&before.skin, motion))?;
            let reading = sensor.read(&touch);
            touch.warnings.extend_from_slice(&reading.warnings);
            Ok::<_, skin::SkinError>((touch, reading, History { skin: Arc::new(skin), ..before }))
        })?;
        let (touch, reading, after) = settled.into_py_err()?;
        self.keep(py, after, touch, reading, WarningLog::take_settled, precision)
    }

    /// Reads contact points of another simulator, such as PyBullet or MuJoCo. A layer spreads their forces; other skins
    /// and the state are not used.
    ///
    /// points: positions (m), shape (n, 3). forces: forces on the **sensor** (N), shape (n, 3). normals: normals out
    /// of the sensor, shape (n, 3); default: against the forces. objects: index of the object of each point, shape
    /// (n,).
    /// depths: penetration depths (m), shape (n,), for ``reading.touch``; they do not change the forces.
    /// sensor_pose: pose of the sensor; if given, points, forces and normals are in the world frame.
    /// dtype: as for ``press``.
    #[pyo3(signature = (points, forces, *, normals=None, objects=None, depths=None, sensor_pose=None, dtype=None))]
    #[allow(clippy::too_many_arguments)] // they have names in Python
    fn read_contacts(
        &self,
        py: Python<'_>,
        points: &Bound<'_, PyAny>,
        forces: &Bound<'_, PyAny>,
        normals: Option<&Bound<'_, PyAny>>,
        objects: Option<&Bound<'_, PyAny>>,
        depths: Option<&Bound<'_, PyAny>>,
        sensor_pose: Option<&Bound<'_, PyAny>>,
        dtype: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Reading> {
        let precision = Precision::read(dtype)?;
        let contacts = contacts::read(points, forces, normals, objects, depths, sensor_pose)?;
        let sensor = self.inner()?;
        let (touch, reading) = detached(py, || {
            let mut touch = sensor.skin().carry(&contacts)?;
            let reading = sensor.read(&touch);
            touch.warnings.extend_from_slice(&reading.warnings);
            Ok::<_, skin::SkinError>((touch, reading))
        })?
        .into_py_err()?;
        let numbers = ReadingValues { reading, frame: 0, travel_m: None, sensor_from_object: None };
        Ok(Reading::new(ReadingData::new(self.shared.clone(), numbers, touch).with_precision(precision)))
    }

    /// Resets the sensor to its untouched state.
    fn reset(&self) -> PyResult<()> {
        let rest = at_rest(self.inner()?);
        *self.history() = rest;
        *self.warnings() = WarningLog::default();
        Ok(())
    }

    /// The state of the sensor, to save and restore.
    #[getter]
    fn get_state(&self) -> State {
        State { history: self.history().clone() }
    }

    #[setter]
    fn set_state(&self, py: Python<'_>, state: PyRef<'_, State>) -> PyResult<()> {
        let (sensor, given) = (self.inner()?, state.history.clone());
        detached(py, || {
            let nothing = skin::Motion { targets: &[] };
            // Refuses the state of another sensor now rather than in the next step.
            sensor.touch(&given.skin, &nothing, 1e-9).into_py_err()?;
            sensor.sense(&given.response, &skin::Touch::default(), 1e-9).into_py_err()?;
            Ok::<_, PyErr>(())
        })??;
        *self.history() = given;
        Ok(())
    }

    /// The largest stable time step (s) for a free body pressed on the whole skin, in a simulator that evaluates forces
    /// at the start of a step, as MuJoCo does.
    ///
    /// mass: mass of the body (kg). size: extents of the body along x, y and z (m), shape (3,); it is treated as a
    /// uniform box.
    #[pyo3(signature = (*, mass, size))]
    fn stable_step(&self, py: Python<'_>, mass: f64, size: &Bound<'_, PyAny>) -> PyResult<f64> {
        let mass_kg = positive(mass, "mass", "kilograms")?;
        let size_m = Vec3::from_array(vector::<3>(size, "size")?);
        let skin = self.inner()?.skin();
        detached(py, || dermis_mujoco_coupling::limit_of_box_s(skin, size_m, mass_kg))
    }

    /// Name of the sensor.
    #[getter]
    fn name(&self) -> String {
        self.shared.spec().name.clone()
    }

    /// Description of the sensor and the sources of its parameters.
    #[getter]
    fn description(&self) -> String {
        self.shared.spec().description.trim().to_owned()
    }

    /// Derivatives of a scalar with respect to object and sensor, from those with respect to readings: one vector-Jacobian
    /// product for each press at a pose, on all CPU cores or on a GPU.
    ///
    /// obj, poses: as for ``press_batch``. cotangents: the derivatives by some of "force" and "torque" (n, 3), "taxels",
    /// "reported" and "forces" (in the shape of ``Batch``), "markers" (n, markers, 2: column and row under contact) and
    /// "image" (n, height, width, 3: ``Batch.levels``), and "magnetic" (n, chips, 3: ``Reading.magnetic`` in µT, before rounding, of magnets in a layer).
    ///
    /// Returns a dict of arrays (n, k) in SI units: "position" (3) and "rotation" (3: a rotation vector in the sensor
    /// frame about the object's origin), "scale" and the sizes of the object ("radius", "semi_axes", "size", "length"), and
    /// parameters of the sensor: "stiffness" of springs, "hydroelastic_modulus", "young", "poisson", "thickness" and "mu" of a
    /// layer, "remanence" or "moment" of magnets, "gain" and "offset" of the response, "mount_stiffness" of the camera, "azimuth", "elevation", "diffuse", "specular" or "levels" of the light.
    /// With vertices also "vertices" (vertices, 3), by those of a mesh in the frame of the object, summed over all presses.
    ///
    /// device: "cpu"; "cuda": an NVIDIA GPU, for layers; poses and the cotangent of the image may then be GPU tensors (of float32), and of the
    /// parameters of the sensor there are "young" and "mu"; "auto": the GPU if it supports this, else the CPU, with one warning.
    /// Raises dermis.Error for NaN, and for skins without gradients.
    ///
    /// >>> import dermis, numpy
    /// >>> sensor, ball = dermis.Sensor.preset("uji-foam-14x6"), dermis.Object.sphere(radius=10e-3)
    /// >>> by = sensor.vjp(ball, [[0, 0, 8e-3]], {"force": numpy.array([[0, 0, -1.0]])})
    /// >>> by["position"].shape
    /// (1, 3)
    #[pyo3(signature = (obj, poses, cotangents, *, device="cpu", vertices=false))]
    fn vjp<'py>(
        &self,
        py: Python<'py>,
        obj: PyRef<'_, Object>,
        poses: &Bound<'py, PyAny>,
        cotangents: &Bound<'py, pyo3::types::PyDict>,
        device: &str,
        vertices: bool,
    ) -> PyResult<Bound<'py, pyo3::types::PyDict>> {
        let choice = gpu::choice(device)?;
        let on_gpu = if vertices && choice == Choice::Auto { None } else { gpu::open(py, choice)? };
        if let Some(gpu) = on_gpu {
            let (places, _) = Places::read(poses, &gpu)?.on_gpu(&gpu).into_py_err()?;
            let by = crate::gradient::read_on_gpu(&gpu, self.inner()?, cotangents, places.count)?;
            let (shared, object) = (self.shared.clone(), obj.object.clone());
            let work = move || crate::gradient::pull_back_on_gpu(&gpu, &shared, &object, &places, &by);
            match interruptible(py, work)? {
                Err(error @ GpuError::Unsupported { .. }) if choice == Choice::Auto => {
                    gpu::warn_once(py, &error.to_string())?;
                }
                found => {
                    return crate::gradient::arrays(py, &found.into_py_err()?, vertices.then_some(&obj.object));
                }
            }
        }
        let poses = crate::pose::poses(poses, "poses")?;
        let by = crate::gradient::read(self.inner()?, cotangents, poses.len())?;
        let found = crate::gradient::pull_back(py, &self.shared, &obj.object, poses, by)?;
        crate::gradient::arrays(py, &found, vertices.then_some(&obj.object))
    }

    /// Derivatives of a scalar with respect to the motion of an object in each step of a path, to the object and to the sensor, from
    /// those with respect to the readings of all steps: one vector-Jacobian product through time, for springs with any friction.
    ///
    /// The path is that of ``step`` with each pose and twist in turn, from the present state of the sensor, which does not change.
    /// obj: the object. poses: (steps, 4, 4), (steps, 7) or (steps, 3). twists: velocity of the object's origin (m/s) and angular
    /// velocity (rad/s), (steps, 6), in the sensor frame. dt: time of a step (s).
    /// cotangents: the derivatives by some of "force" and "torque" (steps, 3), "taxels", "forces" and "reported" (steps, …); the
    /// memory and the noise of the response are left out.
    ///
    /// Returns a dict of arrays in SI units: "position" and "rotation" (steps, 3) as for ``vjp``, "twist" (steps, 6), and sums over all steps, (k,):
    /// "scale" and the sizes of the object, "stiffness" and "damping" or those per area, "sigma0", "sigma1", "viscous",
    /// "mu_static", "mu_dynamic" and "stribeck_speed" of LuGre friction, "mu" and "regularisation_speed" of Coulomb friction, "gain",
    /// "offset" and "sigma" of the response. With vertices also "vertices" (vertices, 3), by those of a mesh.
    ///
    /// Contact is held constant: where a contact point begins or ceases to touch the derivative is one-sided. Raises dermis.Error
    /// for NaN, for other skins, and for arrays of other numbers of steps.
    ///
    /// >>> import dermis, numpy
    /// >>> sensor, ball = dermis.Sensor.preset("uji-foam-14x6"), dermis.Object.sphere(radius=10e-3)
    /// >>> poses, twists = numpy.tile([0, 0, 9e-3], (5, 1)), numpy.tile([0.01, 0, 0, 0, 0, 0], (5, 1))
    /// >>> by = sensor.vjp_path(ball, poses, twists, {"force": numpy.ones((5, 3))}, dt=1e-3)
    /// >>> by["position"].shape, by["twist"].shape, by["radius"].shape
    /// ((5, 3), (5, 6), (1,))
    #[pyo3(signature = (obj, poses, twists, cotangents, *, dt, vertices=false))]
    #[allow(clippy::too_many_arguments)] // they have names in Python
    fn vjp_path<'py>(
        &self,
        py: Python<'py>,
        obj: PyRef<'_, Object>,
        poses: &Bound<'py, PyAny>,
        twists: &Bound<'py, PyAny>,
        cotangents: &Bound<'py, pyo3::types::PyDict>,
        #[pyo3(from_py_with = crate::array::dt)] dt: f64,
        vertices: bool,
    ) -> PyResult<Bound<'py, pyo3::types::PyDict>> {
        let sensor = self.inner()?.clone();
        let motion = path_gradient::read_motion(poses, twists)?;
        let by = crate::gradient::read(&sensor, cotangents, motion.len())?;
        let (dt_s, state, object) = (dt, self.history().skin.clone(), obj.object.clone());
        let work = move || path_gradient::pull_back(&sensor, &state, &object, &motion, &by, dt_s);
        let found = self.run(py, work)?.into_py_err()?;
        path_gradient::arrays(py, &found, vertices.then_some(&obj.object))
    }

    /// The same sensor, untouched, with other parameters: as for ``preset``.
    fn with_parameters(&self, py: Python<'_>, parameters: &Bound<'_, PyAny>) -> PyResult<Self> {
        let folder = self.shared.folder().map(std::path::Path::to_owned);
        Self::build(py, self.shared.spec().clone(), folder, None, Some(parameters))
    }

    /// Description of the sensor as TOML: ``Sensor.parse(sensor.toml)`` makes the same sensor.
    #[getter]
    fn toml(&self) -> String {
        self.shared.spec().to_toml()
    }

    /// Shape of ``reading.taxels``: (rows, cols), or (taxels,) without a grid.
    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, pyo3::types::PyTuple>> {
        let taxels = self.inner()?.taxels();
        match taxels.size() {
            Some((rows, cols)) => pyo3::types::PyTuple::new(py, [rows, cols]),
            None => pyo3::types::PyTuple::new(py, [taxels.len()]),
        }
    }

    /// Center of each taxel (m), shape (taxels, 3), row by row.
    #[getter]
    fn centers<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        vectors(py, self.inner()?.taxels().centers())
    }

    /// Outward unit normal of each taxel, shape (taxels, 3).
    #[getter]
    fn normals<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        vectors(py, self.inner()?.taxels().normals())
    }

    /// Area of each taxel (m²), shape (taxels,).
    #[getter]
    fn areas<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        let areas = self.inner()?.taxels().areas_m2();
        array(py, &[areas.len()], areas)
    }

    /// Largest penetration that the skin can represent (m).
    #[getter]
    fn max_depth(&self) -> PyResult<f64> {
        Ok(self.inner()?.skin().max_depth_m())
    }

    /// Sampling rate (Hz); None if the description defines none.
    #[getter]
    fn rate(&self) -> Option<f64> {
        self.shared.spec().response.sampling.map(|sampling| sampling.rate.si())
    }

    /// Shape of ``reading.image``, (height, width, 3); None without a camera.
    #[getter]
    fn image_shape(&self) -> PyResult<Option<(usize, usize, usize)>> {
        Ok(self.inner()?.optics().map(|optics| (optics.camera().height, optics.camera().width, 3)))
    }

    /// Vertices (m), shape (n, 3), and triangles, shape (m, 3), of the undeformed skin.
    #[getter]
    #[allow(clippy::type_complexity)] // two arrays
    fn mesh<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyArrayDyn<f64>>, Bound<'py, PyArrayDyn<u32>>)> {
        let mesh = self.inner()?.surface();
        let triangles = mesh.triangles();
        Ok((vectors(py, mesh.vertices())?, array(py, &[triangles.len(), 3], triangles.as_flattened())?))
    }

    fn __repr__(&self) -> String {
        let camera = if self.shared.spec().camera.is_some() { ", a camera" } else { "" };
        let taxels = self.shared.sensor().map_or(0, |sensor| sensor.taxels().len());
        format!("<dermis.Sensor {:?}: {taxels} taxels{camera}>", self.shared.spec().name)
    }

    fn __copy__(&self) -> Self {
        Self::with_history(self.shared.clone(), self.history().clone())
    }

    fn __deepcopy__(&self, _memo: &Bound<'_, PyAny>) -> Self {
        self.__copy__()
    }

    #[classmethod]
    fn _restore(
        _class: &Bound<'_, PyType>,
        py: Python<'_>,
        toml: &str,
        folder: Option<PathBuf>,
        state: PyRef<'_, State>,
    ) -> PyResult<Self> {
        let shared = Arc::new(SharedSensor::restore(toml, folder).into_py_err()?);
        let built = shared.clone();
        interruptible(py, move || built.sensor().map(drop))??;
        Ok(Self::with_history(shared, state.history.clone()))
    }

    #[allow(clippy::type_complexity)] // the tuple of pickle
    fn __reduce__<'py>(this: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, (String, Option<PathBuf>, State))> {
        let (toml, folder) = this.get().shared.saved();
        Ok((this.get_type().getattr("_restore")?, (toml, folder, this.get().get_state())))
    }
}

/// Checks that a number is finite.
fn finite(value: f64, what: &str) -> PyResult<f64> {
    if value.is_finite() { Ok(value) } else { Err(Error::new_err(format!("`{what}` must be finite, got {value}"))) }
}
