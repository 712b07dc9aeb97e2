//! The sensor.

use crate::array::{array, positive, vector};
use crate::batch::presses;
use crate::contacts;
use crate::device::{Device, with_parameters};
use crate::error::{Error, IntoPyErr, Told};
use crate::gpu::{self, DeviceBatch, Environments, batch::Places};
use crate::motion::Moving;
use crate::object::Object;
use crate::pose::vectors;
use crate::reading::{Kept, Reading, Values};
use crate::state::{History, State};
use crate::threads::detached;
use dermis::geometry::{MassProperties, Mat3, Vec3};
use dermis::gpu::{Choice, GpuError};
use dermis::sensor::{self, Aim, Goal, SensorSpec};
use dermis::skin;
use numpy::PyArrayDyn;
use pyo3::prelude::*;
use pyo3::types::PyType;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A tactile sensor: a soft skin over a transducer, with the history of what has touched it.
///
/// Make one by ``Sensor.preset("uji-foam-14x6")`` (``dermis.presets()`` lists them), ``Sensor.load("mine.toml")`` or
/// ``Sensor.parse(text)``. Lengths in m, forces in N, angles in rad, times in s.
///
/// The sensor's frame: origin in the middle of the sensing surface, +z out of the skin, towards what it touches. A pose is where
/// the object is in that frame (sensor_from_object): a (4, 4) matrix, (7,) position and quaternion (x, y, z, qw, qx, qy, qz), or
/// (3,) position alone. A twist is how that pose changes: velocity of the object's origin (m/s) and angular velocity (rad/s), (6,).
///
/// ``press`` and ``settle`` are infinitely slow; ``step`` goes on in time. All three leave the sensor touched so (``state``),
/// ``reset`` lets go. Copies and pickles take the history along (a pickle of a sensor that is made from files needs them where they
/// were). Use a copy in every thread.
#[pyclass(frozen, module = "dermis")]
pub struct Sensor {
    pub device: Arc<Device>,
    history: Mutex<History>,
}

fn at_rest(sensor: &sensor::Sensor) -> History {
    History { skin: Arc::new(sensor.skin().rest()), response: Arc::new(sensor.chain().rest()), frame: 0 }
}

impl Sensor {
    /// A sensor that nothing has touched.
    pub fn of_device(device: Arc<Device>) -> PyResult<Self> {
        let history = Mutex::new(at_rest(device.sensor()?));
        Ok(Self { device, history })
    }

    fn build(
        py: Python<'_>,
        spec: SensorSpec,
        folder: Option<PathBuf>,
        skin: Option<&str>,
        parameters: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let spec = match skin {
            Some(kind) => spec.with_skin(kind.parse().into_py_err()?).into_py_err()?,
            None => spec,
        };
        let spec = parameters.map_or(Ok(spec.clone()), |parameters| with_parameters(&spec, parameters))?;
        Self::of_device(Arc::new(detached(py, || Device::build(spec, folder))?.into_py_err()?))
    }

    /// Locked for a moment only, never while a skin works.
    fn history(&self) -> MutexGuard<'_, History> {
        self.history.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn inner(&self) -> PyResult<&sensor::Sensor> {
        self.device.sensor()
    }

    /// Keeps the new history and makes a reading of what was felt.
    fn keep(&self, history: History, touch: skin::Touch, reading: sensor::Reading) -> Reading {
        let numbers = Values { reading, frame: history.frame, travel_m: None, sensor_from_object: None };
        *self.history() = history;
        Reading::new(Kept::new(self.device.clone(), numbers, touch))
    }
}

/// Depth or force, one of them.
fn goal(depth: Option<f64>, force: Option<f64>) -> PyResult<Goal> {
    match (depth, force) {
        (Some(depth), None) => Ok(Goal::Depth(depth)),
        (None, Some(force)) => Ok(Goal::Force(force)),
        _ => Err(Error::new_err("give `depth` (m) or `force` (N), and not both")),
    }
}

#[pymethods]
impl Sensor {
    /// One of the sensors that ship with dermis; ``dermis.presets()`` lists their names.
    ///
    /// skin: solves its skin in another way, "springs", "hydroelastic", "layer", "imprint" or "gel", where it can be.
    /// parameters: a nested dict of values to change, each with its unit as in a description:
    /// ``{"skin": {"stiffness": "1000 N/m"}, "surface": {"grid": {"rows": 40, "cols": 40}}}``.
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
        let text = std::fs::read_to_string(&path)
            .map_err(|error| sensor::SensorError::Unreadable { path: name.clone(), reason: error.to_string() })
            .into_py_err()?;
        let folder = path.parent().map(|parent| std::path::absolute(parent).unwrap_or_else(|_| parent.to_owned()));
        Self::build(py, SensorSpec::parse(&name, &text).into_py_err()?, folder, skin, parameters)
    }

    /// A sensor from the text of its description (TOML). folder: where its files are looked for.
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

    /// Presses an object along -z into the sensor, from rest, without sliding and infinitely slowly, and reads it.
    ///
    /// obj: the object; it comes from above, with its own z axis along the sensor's unless tilted.
    /// depth: travel past first contact (m), or force: what the sensor should feel along -z (N); give one of them.
    /// at: where the object's origin is over the sensor, x and y (m), shape (2,); its middle without.
    /// tilt: turns about the sensor's x axis, then y (rad), shape (2,). yaw: turn about z before that (rad).
    ///
    /// Returns a Reading: ``taxels`` (rows, cols), ``force`` (3,), ``image`` (height, width, 3) …; its ``pose`` is where the
    /// object ended. The sensor is left pressed, so that ``step`` can go on from there. Raises dermis.Error (a ValueError) when the
    /// object misses the sensor, or more is asked for than the skin can take; the sensor is then as it was.
    ///
    /// >>> import dermis
    /// >>> ball = dermis.Object.sphere(radius=10e-3)
    /// >>> reading = dermis.Sensor.preset("uji-foam-14x6").press(ball, depth=2e-3)
    /// >>> reading.taxels.shape
    /// (14, 6)
    #[pyo3(signature = (obj, *, depth=None, force=None, at=None, tilt=None, yaw=0.0))]
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
    ) -> PyResult<Reading> {
        let pair =
            |value: Option<&Bound<'_, PyAny>>, what| value.map_or(Ok([0.0; 2]), |value| vector::<2>(value, what));
        let aim = Aim { at_m: pair(at, "at")?, tilt_rad: pair(tilt, "tilt")?, yaw_rad: finite(yaw, "yaw")? };
        let (goal, sensor, object) = (goal(depth, force)?, self.inner()?, obj.thing.clone());
        let pressed = detached(py, || sensor::press(sensor, &object, &aim, goal))?.into_py_err()?;
        let skin = Arc::new(pressed.state.clone());
        let history = History { skin, ..at_rest(sensor) };
        *self.history() = history;
        Ok(Reading::new(presses::kept(&self.device, pressed)))
    }

    /// Many presses at once, on all cores or on a GPU, each from rest; the sensor's own history stays as it is.
    ///
    /// Either poses: where the object is held, (n, 4, 4), (n, 7) or (n, 3); on a GPU also a tensor that is there already (PyTorch's,
    /// CuPy's or JAX's: whatever has ``__dlpack__`` or ``__cuda_array_interface__``), and then nothing touches the host. Or depth or force
    /// with at, tilt (each (n, 2) or (2,)) and yaw ((n,) or a number), as for ``press``; depth and force may be (n,) too.
    ///
    /// device: "cpu"; "cuda", an NVIDIA GPU, which takes springs, hydroelastic pads over grids and layers with what a camera sees of them,
    /// at poses or to a depth; or "auto", the GPU where there is one that can, and else the CPU, with a warning that says why once.
    ///
    /// Returns a Batch: a sequence of readings, with ``taxels``, ``force``, ``image`` … of all of them as one array; from a GPU a DeviceBatch,
    /// which has the same arrays and hands them to others without a copy. Raises dermis.Error with the number of the first press that
    /// cannot be made, and with what is missing where there is no GPU for "cuda".
    #[pyo3(signature = (obj, poses=None, *, depth=None, force=None, at=None, tilt=None, yaw=None, device="cpu"))]
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
    ) -> PyResult<Py<PyAny>> {
        self.inner()?;
        let object = obj.thing.clone();
        let choice = gpu::choice(device)?;
        if let Some(gpu) = gpu::open(py, choice)? {
            let alone = [depth, force, at, tilt, yaw].iter().all(Option::is_none);
            let places = match poses {
                Some(poses) if alone => Places::read(poses, &gpu)?,
                _ => {
                    let wanted = presses::read(poses, depth, force, at, tilt, yaw)?;
                    if choice == Choice::Auto && !presses::are_places(&wanted) {
                        gpu::warn_once(py, "presses to a force are made there")?;
                        return Ok(
                            Py::new(py, detached(py, || presses::make(&self.device, &object, &wanted))??)?.into_any()
                        );
                    }
                    detached(py, || Places::of_depths(&self.device, &object, &wanted))??
                }
            };
            match detached(py, || DeviceBatch::of_places(&gpu, &self.device, &object, places))? {
                Err(error @ GpuError::Unsupported { .. }) if choice == Choice::Auto => {
                    gpu::warn_once(py, &error.to_string())?;
                }
                made => return Ok(Py::new(py, made.into_py_err()?)?.into_any()),
            }
        }
        let wanted = presses::read(poses, depth, force, at, tilt, yaw)?;
        Ok(Py::new(py, detached(py, || presses::make(&self.device, &object, &wanted))??)?.into_any())
    }

    /// Many environments that go on in time on a GPU, each with a sensor like this one that nothing has touched, and an object
    /// like obj. For springs.
    ///
    /// >>> envs = sensor.environments(ball, 4096)                      # doctest: +SKIP
    /// >>> felt = envs.step(poses, twists, dt=1e-3)                    # doctest: +SKIP
    /// >>> torch.from_dlpack(felt.taxels_on_device)                    # doctest: +SKIP
    fn environments(&self, py: Python<'_>, obj: PyRef<'_, Object>, count: usize) -> PyResult<Environments> {
        self.inner()?;
        let object = obj.thing.clone();
        let gpu = gpu::open(py, Choice::Cuda)?.ok_or_else(|| GpuError::NoDriver.told())?;
        let made = detached(py, || Environments::new(&gpu, &self.device, gpu::object_on(&gpu, &object)?, count))?;
        made.into_py_err()
    }

    /// Lets things move for a time dt (s) and reads the sensor with all of its response.
    ///
    /// objects: an Object with its ``pose`` and ``twist``, or a sequence of (Object, pose) or (Object, pose, twist).
    /// pose: where it is at the start of the step, in the sensor's frame. twist: how it moves there, (6,); at rest without.
    /// sensor_pose, sensor_twist: the sensor's own, where all poses and twists are in the world's frame instead, each twist with the
    /// velocity of its own frame's origin.
    ///
    /// Returns a Reading. ``reading.touch.on_sensor`` (6,) and ``.on_objects`` (n, 6) are the loads, about the sensor's origin and in
    /// its frame. On an error the sensor is as it was.
    #[pyo3(signature = (objects, *, dt, pose=None, twist=None, sensor_pose=None, sensor_twist=None))]
    #[allow(clippy::too_many_arguments)] // they have names in Python
    fn step(
        &self,
        py: Python<'_>,
        objects: &Bound<'_, PyAny>,
        dt: f64,
        pose: Option<&Bound<'_, PyAny>>,
        twist: Option<&Bound<'_, PyAny>>,
        sensor_pose: Option<&Bound<'_, PyAny>>,
        sensor_twist: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Reading> {
        let dt_s = positive(dt, "dt", "seconds")?;
        let moving = Moving::read(objects, pose, twist, sensor_pose, sensor_twist)?;
        let (sensor, before) = (self.inner()?, self.history().clone());
        let (touch, reading, after) = detached(py, || {
            let (touch, skin) = moving.with(|motion| sensor.touch(&before.skin, motion, dt_s)).into_py_err()?;
            let (reading, response) = sensor.sense(&before.response, &touch, dt_s).into_py_err()?;
            let frame = before.frame + 1;
            Ok::<_, PyErr>((touch, reading, History { skin: Arc::new(skin), response: Arc::new(response), frame }))
        })??;
        Ok(self.keep(after, touch, reading))
    }

    /// Holds things where they are until nothing changes any more, and reads the sensor as if it had no memory and no noise.
    ///
    /// objects, pose, sensor_pose: as for ``step``.
    #[pyo3(signature = (objects, *, pose=None, sensor_pose=None))]
    fn settle(
        &self,
        py: Python<'_>,
        objects: &Bound<'_, PyAny>,
        pose: Option<&Bound<'_, PyAny>>,
        sensor_pose: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Reading> {
        let moving = Moving::read(objects, pose, None, sensor_pose, None)?;
        let (sensor, before) = (self.inner()?, self.history().clone());
        let (touch, skin) =
            detached(py, || moving.with(|motion| sensor.skin().settle(&before.skin, motion)))?.into_py_err()?;
        let reading = detached(py, || sensor.read(&touch))?;
        Ok(self.keep(History { skin: Arc::new(skin), ..before }, touch, reading))
    }

    /// Reads contact points of another engine, such as PyBullet or MuJoCo: no skin, no history.
    ///
    /// points: where they are (m), shape (n, 3). forces: on the **sensor** (N), shape (n, 3). normals: out of the sensor, shape (n, 3);
    /// without them the forces say where out is. objects: to which object each belongs, whole numbers of shape (n,).
    /// depths: how far the engine lets things overlap there (m), shape (n,); they show in ``reading.touch`` and change no force.
    /// sensor_pose: the sensor's, where all of these are in the world's frame instead.
    #[pyo3(signature = (points, forces, *, normals=None, objects=None, depths=None, sensor_pose=None))]
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
    ) -> PyResult<Reading> {
        let contacts = contacts::read(points, forces, normals, objects, depths, sensor_pose)?;
        let sensor = self.inner()?;
        let touch = contacts.touch().into_py_err()?;
        let reading = detached(py, || sensor.read(&touch))?;
        let numbers = Values { reading, frame: 0, travel_m: None, sensor_from_object: None };
        Ok(Reading::new(Kept::new(self.device.clone(), numbers, touch)))
    }

    /// Lets go: nothing has touched the sensor.
    fn reset(&self) -> PyResult<()> {
        let rest = at_rest(self.inner()?);
        *self.history() = rest;
        Ok(())
    }

    /// The sensor's history, to keep and to go back to.
    #[getter]
    fn get_state(&self) -> State {
        State { history: self.history().clone() }
    }

    #[setter]
    fn set_state(&self, py: Python<'_>, state: PyRef<'_, State>) -> PyResult<()> {
        let (sensor, given) = (self.inner()?, state.history.clone());
        detached(py, || {
            let nothing = skin::Motion { targets: &[] };
            // Refused now rather than in the next step: a state of another sensor does not fit.
            sensor.touch(&given.skin, &nothing, 1e-9).into_py_err()?;
            sensor.sense(&given.response, &skin::Touch::default(), 1e-9).into_py_err()?;
            Ok::<_, PyErr>(())
        })??;
        *self.history() = given;
        Ok(())
    }

    /// The largest time step (s) that is stable for a free body that is pressed on all of this skin by an engine which takes forces
    /// at the start of a step, as MuJoCo does.
    ///
    /// mass: of the body (kg). size: its extent along x, y and z (m), shape (3,), taken for a box of that mass.
    #[pyo3(signature = (*, mass, size))]
    fn stable_step(&self, py: Python<'_>, mass: f64, size: &Bound<'_, PyAny>) -> PyResult<f64> {
        let mass_kg = positive(mass, "mass", "kilograms")?;
        let size_m = Vec3::from_array(vector::<3>(size, "size")?);
        let square = size_m * size_m;
        let inertia = (Vec3::splat(square.x + square.y + square.z) - square) * (mass_kg / 12.0);
        let object = MassProperties { mass_kg, center_m: Vec3::ZERO, inertia_kg_m2: Mat3::from_diagonal(inertia) };
        let skin = self.inner()?.skin();
        detached(py, || dermis::world::limit_when_pressed_s(&skin.fully_pressed(), size_m, Some(&object), None))
    }

    /// What it is called.
    #[getter]
    fn name(&self) -> String {
        self.device.spec().name.clone()
    }

    /// What it is, and where its numbers come from.
    #[getter]
    fn description(&self) -> String {
        self.device.spec().description.trim().to_owned()
    }

    /// Its description as TOML: ``Sensor.parse(sensor.toml)`` is the same sensor.
    #[getter]
    fn toml(&self) -> String {
        self.device.spec().to_toml()
    }

    /// Shape of ``reading.taxels``: (rows, cols), or (taxels,) where they form no grid.
    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, pyo3::types::PyTuple>> {
        let taxels = self.inner()?.taxels();
        match taxels.size() {
            Some((rows, cols)) => pyo3::types::PyTuple::new(py, [rows, cols]),
            None => pyo3::types::PyTuple::new(py, [taxels.len()]),
        }
    }

    /// Middle of each taxel (m), shape (taxels, 3), row by row.
    #[getter]
    fn centers<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        vectors(py, self.inner()?.taxels().centers())
    }

    /// Normal of each taxel, shape (taxels, 3).
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

    /// How deep the skin can be pressed (m).
    #[getter]
    fn max_depth(&self) -> PyResult<f64> {
        Ok(self.inner()?.skin().max_depth_m())
    }

    /// How often the device looks at its taxels (Hz); None where its description does not say.
    #[getter]
    fn rate(&self) -> Option<f64> {
        self.device.spec().response.sampling.map(|sampling| sampling.rate.si())
    }

    /// Shape of ``reading.image``, (height, width, 3); None on a sensor without a camera.
    #[getter]
    fn image_shape(&self) -> PyResult<Option<(usize, usize, usize)>> {
        Ok(self.inner()?.optics().map(|optics| (optics.camera().height, optics.camera().width, 3)))
    }

    /// Corners (m), shape (n, 3), and triangles, shape (m, 3), of the undeformed skin.
    #[getter]
    #[allow(clippy::type_complexity)] // two arrays
    fn mesh<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyArrayDyn<f64>>, Bound<'py, PyArrayDyn<u32>>)> {
        let mesh = self.inner()?.surface();
        let triangles = mesh.triangles();
        Ok((vectors(py, mesh.vertices())?, array(py, &[triangles.len(), 3], triangles.as_flattened())?))
    }

    fn __repr__(&self) -> String {
        let camera = if self.device.spec().camera.is_some() { ", a camera" } else { "" };
        let taxels = self.device.sensor().map_or(0, |sensor| sensor.taxels().len());
        format!("<dermis.Sensor {:?}: {taxels} taxels{camera}>", self.device.spec().name)
    }

    fn __copy__(&self) -> Self {
        Self { device: self.device.clone(), history: Mutex::new(self.history().clone()) }
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
        let device = Device::restore(toml, folder).into_py_err()?;
        detached(py, || device.sensor().map(|_| ()))??;
        Ok(Self { device: Arc::new(device), history: Mutex::new(state.history.clone()) })
    }

    #[allow(clippy::type_complexity)] // the tuple that pickle asks for
    fn __reduce__<'py>(this: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, (String, Option<PathBuf>, State))> {
        let (toml, folder) = this.get().device.saved();
        Ok((this.get_type().getattr("_restore")?, (toml, folder, this.get().get_state())))
    }
}

/// A finite number.
fn finite(value: f64, what: &str) -> PyResult<f64> {
    if value.is_finite() { Ok(value) } else { Err(Error::new_err(format!("`{what}` must be finite, got {value}"))) }
}
