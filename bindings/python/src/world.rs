//! Worlds: bodies that move, with sensors on some of them.

use crate::array::{array, positive, vector};
use crate::device::Device;
use crate::error::{Error, IntoPyErr};
use crate::object::Object;
use crate::pose::{matrix, pose_or_identity, six};
use crate::reading::{Kept, Reading, Values};
use crate::recording::Recording;
use crate::sensor::Sensor;
use crate::threads::detached;
use dermis::geometry::Vec3;
use dermis::record::Format;
use dermis::run::{Continue, DEFAULT_IMAGE_INTERVAL_S, RunRecorder, run_into};
use dermis::scene::{Built, SceneError, SceneSpec};
use dermis::world::{self, Body, BodyId, SensorId, WorldParameters};
use numpy::PyArrayDyn;
use pyo3::prelude::*;
use pyo3::sync::MutexExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// How long a world runs that no scene file describes, unless it is told (s).
const USUAL_DURATION_S: f64 = 1.0;
/// Signals are looked for after so many steps of a run.
const STEPS_BETWEEN_SIGNALS: u64 = 64;

/// Rigid bodies with tactile sensors: what the sensors feel moves the bodies, and they are the same numbers.
///
/// ``World.load("scene.toml")`` builds a scene file with its gripper and task; ``World()`` is empty and filled with
/// ``add_body`` and ``mount``. Poses and twists are in the world's frame, z up.
#[pyclass(frozen, module = "dermis")]
pub struct World {
    inside: Mutex<Inside>,
}

struct Inside {
    built: Built,
    devices: Vec<Arc<Device>>,
}

impl Inside {
    fn body(&self, name: &str) -> PyResult<BodyId> {
        let world = &self.built.world;
        let known = |id: &BodyId| world.body(*id).name == name;
        world.bodies().find(known).ok_or_else(|| {
            let names: Vec<String> = world.bodies().map(|id| format!("{:?}", world.body(id).name)).collect();
            Error::new_err(format!("there is no body {name:?}; there are {}", list(&names)))
        })
    }

    fn sensor(&self, name: &str) -> PyResult<(SensorId, Arc<Device>)> {
        let place = self.built.sensors.iter().position(|(known, _)| known == name).ok_or_else(|| {
            let names: Vec<String> = self.built.sensors.iter().map(|(name, _)| format!("{name:?}")).collect();
            Error::new_err(format!("there is no sensor {name:?}; there are {}", list(&names)))
        })?;
        Ok((self.built.sensors[place].1, self.devices[place].clone()))
    }
}

fn list(names: &[String]) -> String {
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}

fn format_of(name: &str) -> PyResult<Format> {
    Ok(match name {
        "mcap" => Format::Mcap,
        "ros2" => Format::Ros2,
        "parquet" => Format::Parquet,
        "npy" => Format::Npy,
        "png" => Format::Png,
        _ => {
            return Err(Error::new_err(format!(
                "`format` must be \"mcap\", \"ros2\", \"parquet\", \"npy\" or \"png\", got {name:?}"
            )));
        }
    })
}

impl World {
    /// Waited for without holding the interpreter: a run in another thread may take long, and asks for signals.
    fn inside(&self, py: Python<'_>) -> MutexGuard<'_, Inside> {
        self.inside.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner)
    }

    fn of_scene(scene: &SceneSpec, file: &str, folder: Option<&Path>) -> Result<Self, SceneError> {
        let built = scene.build(file, folder)?;
        let mut devices = Vec::new();
        for (name, id) in &built.sensors {
            let entry = scene.sensors.iter().find(|entry| entry.name == *name);
            let of_gripper = || scene.gripper.as_ref().map(|gripper| gripper.sensor.clone()).unwrap_or_default();
            let source = entry.map_or_else(of_gripper, |entry| entry.sensor.clone());
            let (spec, folder) = source.resolve(name, folder).map_err(SceneError::sensor(file))?;
            devices.push(Arc::new(Device::of_sensor(spec, folder, built.world.sensor(*id).clone())));
        }
        Ok(Self { inside: Mutex::new(Inside { built, devices }) })
    }
}

#[pymethods]
impl World {
    /// An empty world.
    ///
    /// gravity: m/s², shape (3,). time_step: s. ground: height of a level ground (m) that solid bodies stand on; none without.
    #[new]
    #[pyo3(signature = (*, gravity=None, time_step=1e-3, ground=None, ground_friction=0.5))]
    fn new(
        gravity: Option<&Bound<'_, PyAny>>,
        time_step: f64,
        ground: Option<f64>,
        ground_friction: f64,
    ) -> PyResult<Self> {
        let usual = WorldParameters::default();
        let gravity = gravity.map_or(Ok(usual.gravity.to_array()), |value| vector::<3>(value, "gravity"))?;
        if ground.is_some_and(|height| !height.is_finite()) || !(0.0..1e3).contains(&ground_friction) {
            return Err(Error::new_err(format!(
                "`ground` must be a height (m) and `ground_friction` zero or a positive number, got {ground:?} and {ground_friction}"
            )));
        }
        let parameters = WorldParameters {
            gravity: Vec3::from_array(gravity),
            step_s: positive(time_step, "time_step", "seconds")?,
            ground_z_m: ground,
            ground_friction,
        };
        let built = Built {
            name: "world".into(),
            description: String::new(),
            world: world::World::new(parameters).into_py_err()?,
            bodies: Vec::new(),
            sensors: Vec::new(),
            hand: None,
            task: None,
            duration_s: USUAL_DURATION_S,
            record_every: (0.01 / time_step).round().max(1.0) as u64,
        };
        Ok(Self { inside: Mutex::new(Inside { built, devices: Vec::new() }) })
    }

    /// A world from a scene file (TOML): bodies, sensors, a gripper and its task.
    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        detached(py, || {
            let scene = SceneSpec::read(&path)?;
            Self::of_scene(&scene, &path.display().to_string(), path.parent())
        })?
        .into_py_err()
    }

    /// A world from the text of a scene file. folder: where its files are looked for.
    #[staticmethod]
    #[pyo3(signature = (text, *, folder=None))]
    fn parse(py: Python<'_>, text: &str, folder: Option<PathBuf>) -> PyResult<Self> {
        detached(py, || Self::of_scene(&SceneSpec::parse("the scene", text)?, "the scene", folder.as_deref()))?
            .into_py_err()
    }

    /// Puts a body in.
    ///
    /// obj: its surface, if sensors can feel it. motion: "fixed", "driven" (by ``set_twist``) or "free" (needs a mass and a closed
    /// object). mass: kg, spread evenly over the object. pose, twist: where it starts and how it moves. solid: whether it
    /// meets the ground and other solid bodies.
    #[pyo3(signature = (name, obj=None, *, motion="fixed", mass=None, pose=None, twist=None, solid=false))]
    #[allow(clippy::too_many_arguments)] // they have names in Python
    fn add_body(
        &self,
        py: Python<'_>,
        name: &str,
        obj: Option<PyRef<'_, Object>>,
        motion: &str,
        mass: Option<f64>,
        pose: Option<&Bound<'_, PyAny>>,
        twist: Option<&Bound<'_, PyAny>>,
        solid: bool,
    ) -> PyResult<()> {
        let place = pose_or_identity(pose, "pose")?;
        let mut body = match (motion, mass, &obj) {
            ("free", Some(mass), Some(obj)) => {
                let mass_kg = positive(mass, "mass", "kilograms")?;
                let mass = obj.thing.surface.mesh().mass_properties(mass_kg).into_py_err()?;
                Body::free(name, place, mass)
            }
            ("free", ..) => {
                return Err(Error::new_err(format!("body {name:?}: a free body needs `obj` and `mass` (kg)")));
            }
            ("fixed", None, _) => Body::fixed(name, place),
            ("driven", None, _) => Body::driven(name, place),
            ("fixed" | "driven", ..) => {
                return Err(Error::new_err(format!("body {name:?}: only a free body has a `mass`")));
            }
            _ => {
                return Err(Error::new_err(format!(
                    "body {name:?}: `motion` must be \"fixed\", \"driven\" or \"free\", got {motion:?}"
                )));
            }
        };
        body.velocity = crate::pose::twist(twist, "twist")?;
        body.object = obj.map(|obj| obj.thing.clone());
        body.solid = solid;
        detached(py, || {
            let mut inside = self.inside.lock().unwrap_or_else(PoisonError::into_inner);
            let id = inside.built.world.add_body(body)?;
            inside.built.bodies.push((name.to_owned(), id));
            Ok::<_, world::WorldError>(())
        })?
        .into_py_err()
    }

    /// Mounts a sensor on a body, at a pose of the body's frame. Its history starts anew.
    #[pyo3(signature = (name, sensor, *, body, pose=None))]
    fn mount(
        &self,
        py: Python<'_>,
        name: &str,
        sensor: PyRef<'_, Sensor>,
        body: &str,
        pose: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let place = pose_or_identity(pose, "pose")?;
        let mut inside = self.inside(py);
        let carrier = inside.body(body)?;
        if inside.built.sensors.iter().any(|(known, _)| known == name) {
            return Err(Error::new_err(format!("there are two sensors called {name:?}; names must differ")));
        }
        let device = sensor.device.clone();
        let id = inside.built.world.mount(device.sensor()?.clone(), carrier, place);
        inside.built.sensors.push((name.to_owned(), id));
        inside.devices.push(device);
        Ok(())
    }

    /// Makes steps: sensors feel, bodies move, the task of a scene goes on.
    #[pyo3(signature = (count=1))]
    fn step(&self, py: Python<'_>, count: u64) -> PyResult<()> {
        let mut left = count;
        while left > 0 {
            let now = left.min(STEPS_BETWEEN_SIGNALS);
            left -= now;
            detached(py, || {
                let mut inside = self.inside.lock().unwrap_or_else(PoisonError::into_inner);
                (0..now).try_for_each(|_| inside.built.step())
            })?
            .into_py_err()?;
            py.check_signals()?;
        }
        Ok(())
    }

    /// Runs to the end of the scene, or for ``duration`` (s) from now, and returns what was felt on the way.
    ///
    /// record: a file that is written on the way, whole at every moment: ``.mcap`` (Foxglove), ``.parquet``, or a folder of arrays and
    /// images. format: "mcap", "ros2" (a bag, in an ``.mcap`` file), "parquet", "npy" or "png", where the name does not say it.
    /// image_every: time between two recorded images (s).
    #[pyo3(signature = (*, duration=None, record=None, format=None, image_every=DEFAULT_IMAGE_INTERVAL_S))]
    fn run(
        &self,
        py: Python<'_>,
        duration: Option<f64>,
        record: Option<PathBuf>,
        format: Option<&str>,
        image_every: f64,
    ) -> PyResult<Recording> {
        let format = format.map(format_of).transpose()?;
        let image_every_s = positive(image_every, "image_every", "seconds")?;
        let duration_s = duration.map(|duration| positive(duration, "duration", "seconds")).transpose()?;
        let mut interrupted = None;
        let recording = detached(py, || {
            let mut inside = self.inside.lock().unwrap_or_else(PoisonError::into_inner);
            let usual_s = inside.built.duration_s;
            let mut run_recorder = match &record {
                Some(path) => Some(RunRecorder::open(&inside.built, path, format, image_every_s)?),
                None => None,
            };
            inside.built.duration_s = duration_s.unwrap_or(usual_s);
            let mut steps = 0u64;
            let outcome = run_into(&mut inside.built, run_recorder.as_mut(), &mut |_| {
                steps += 1;
                if steps.is_multiple_of(STEPS_BETWEEN_SIGNALS) {
                    interrupted = Python::attach(|py| py.check_signals().err());
                }
                if interrupted.is_some() { Continue::No } else { Continue::Yes }
            });
            inside.built.duration_s = usual_s;
            run_recorder.map_or(Ok(Vec::new()), RunRecorder::finish)?;
            outcome
        })?
        .into_py_err()?;
        interrupted.map_or(Ok(Recording::new(recording)), Err)
    }

    /// Time since the start (s).
    #[getter]
    fn time(&self, py: Python<'_>) -> f64 {
        self.inside(py).built.world.time_s()
    }

    /// Time step (s).
    #[getter]
    fn time_step(&self, py: Python<'_>) -> f64 {
        self.inside(py).built.world.parameters().step_s
    }

    /// The largest time step that is stable (s); None where nothing limits it.
    #[getter]
    fn stable_step(&self, py: Python<'_>) -> PyResult<Option<f64>> {
        detached(py, || {
            let inside = self.inside.lock().unwrap_or_else(PoisonError::into_inner);
            inside.built.world.stability().map(|stability| stability.limit_s)
        })
    }

    /// What the gripper of the scene is doing, such as "Lift"; None without a task.
    #[getter]
    fn phase(&self, py: Python<'_>) -> Option<String> {
        self.inside(py).built.task.as_ref().map(|task| format!("{:?}", task.phase()))
    }

    /// Names of the bodies.
    #[getter]
    fn bodies(&self, py: Python<'_>) -> Vec<String> {
        let inside = self.inside(py);
        let world = &inside.built.world;
        world.bodies().map(|id| world.body(id).name.clone()).collect()
    }

    /// Names of the sensors.
    #[getter]
    fn sensors(&self, py: Python<'_>) -> Vec<String> {
        self.inside(py).built.sensors.iter().map(|(name, _)| name.clone()).collect()
    }

    /// Where a body is: world_from_body, shape (4, 4).
    fn pose<'py>(&self, py: Python<'py>, body: &str) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        let inside = self.inside(py);
        matrix(py, &inside.built.world.pose(inside.body(body)?))
    }

    /// How a body moves, at its origin (m/s, rad/s), shape (6,).
    fn twist<'py>(&self, py: Python<'py>, body: &str) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        let inside = self.inside(py);
        let velocity = inside.built.world.velocity(inside.body(body)?);
        let (v, w) = (velocity.linear, velocity.angular);
        array(py, &[6], &[v.x, v.y, v.z, w.x, w.y, w.z])
    }

    /// Sets how a driven body moves from now on, at its origin (m/s, rad/s), shape (6,).
    #[pyo3(signature = (body, twist))]
    fn set_twist(&self, py: Python<'_>, body: &str, twist: &Bound<'_, PyAny>) -> PyResult<()> {
        let velocity = crate::pose::twist(Some(twist), "twist")?;
        let mut inside = self.inside(py);
        let id = inside.body(body)?;
        inside.built.world.set_velocity(id, velocity);
        Ok(())
    }

    /// What a sensor reports after the last step.
    fn reading(&self, py: Python<'_>, sensor: &str) -> PyResult<Reading> {
        let inside = self.inside(py);
        let (id, device) = inside.sensor(sensor)?;
        let world = &inside.built.world;
        let numbers =
            Values { reading: world.reading(id), frame: world.steps(), travel_m: None, sensor_from_object: None };
        Ok(Reading::new(Kept::new(device, numbers, world.touch(id).clone())))
    }

    /// A sensor of the same kind as one of the world's, that nothing has touched.
    fn sensor(&self, py: Python<'_>, name: &str) -> PyResult<Sensor> {
        Sensor::of_device(self.inside(py).sensor(name)?.1)
    }

    /// Corners (m), shape (n, 3), and triangles, shape (m, 3), of what can be seen of a body, in its frame; None where that is nothing.
    #[allow(clippy::type_complexity)] // two arrays
    fn mesh<'py>(
        &self,
        py: Python<'py>,
        body: &str,
    ) -> PyResult<Option<(Bound<'py, PyArrayDyn<f64>>, Bound<'py, PyArrayDyn<u32>>)>> {
        let inside = self.inside(py);
        let Some(mesh) = inside.built.world.body(inside.body(body)?).visible() else { return Ok(None) };
        let triangles = mesh.triangles();
        let corners = crate::pose::vectors(py, mesh.vertices())?;
        Ok(Some((corners, array(py, &[triangles.len(), 3], triangles.as_flattened())?)))
    }

    /// Where a sensor is: world_from_sensor, shape (4, 4).
    fn sensor_pose<'py>(&self, py: Python<'py>, sensor: &str) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        let inside = self.inside(py);
        matrix(py, &inside.built.world.world_from_sensor(inside.sensor(sensor)?.0))
    }

    /// Load of the last step on a body from a sensor (N, N m), in the world's frame about the sensor's origin, shape (6,).
    #[pyo3(signature = (body, *, sensor))]
    fn load_on<'py>(&self, py: Python<'py>, body: &str, sensor: &str) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        let inside = self.inside(py);
        let (touched, from) = (inside.body(body)?, inside.sensor(sensor)?.0);
        array(py, &[6], &six(&inside.built.world.load_on(touched, from)))
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        let inside = self.inside(py);
        let (bodies, sensors) = (inside.built.world.bodies().count(), inside.built.sensors.len());
        format!("<dermis.World: {bodies} bodies, {sensors} sensors, t = {:.4} s>", inside.built.world.time_s())
    }
}
