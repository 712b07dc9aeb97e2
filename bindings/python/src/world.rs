//! Rigid-body worlds with sensors.

use crate::array::{array, positive, vector};
use crate::error::{Error, IntoPyErr};
use crate::object::Object;
use crate::pose::{matrix, pose_or_identity, six};
use crate::progress::Bar;
use crate::reading::{Reading, ReadingData, ReadingValues};
use crate::recording::Recording;
use crate::sensor::Sensor;
use crate::threads::{Job, detached, interruptible, interruptible_job};
use crate::touch::warn_text;
use crate::world_state::WorldState;
use dermis::geometry::Vec3;
use dermis::record::Format;
use dermis::run::{Continue, DEFAULT_IMAGE_INTERVAL_S, RunRecorder, run_into};
use dermis::scene::SceneSpec;
use dermis::world::{self, Body, BodyKind, Coupling, WorldParameters};
use numpy::PyArrayDyn;
use pyo3::prelude::*;
use pyo3::sync::MutexExt;
use pyo3::types::{PyBytes, PyType};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Rigid bodies with tactile sensors. The contact loads that the sensors read also act on the bodies.
///
/// ``World.load("scene.toml")`` builds a scene file with its gripper and task; ``World()`` is empty and filled with
/// ``add_body`` and ``mount``. Poses and twists are in the world frame, z up.
///
/// gravity: acceleration (m/s²), shape (3,). time_step: s. ground: height of a ground plane (m) that solid bodies
/// collide with; default: none. ground_friction: its coefficient of friction. solid_friction: that between solid bodies.
/// solid_frequency: stiffness of the contacts of solid bodies (Hz): a body at rest sinks by g/(2πf)², times the number of
/// times that its load is heavier than itself. coupling: the instant of the contact forces, "explicit" (start of the
/// step; refuses time steps that are unstable with the skin's stiffness) or "implicit" (end of the step; any time step is
/// stable, springs and hydroelastic skins only); default: explicit if the time step is stable so.
///
/// Copies (``copy.deepcopy``) and pickles continue with the same bytes as the world (a pickle of a world whose scene or
/// sensors refer to files needs the files at the same paths).
#[pyclass(frozen, module = "dermis")]
pub struct World {
    state: Arc<Mutex<WorldState>>,
}

/// Advances a world; returns the new warnings.
fn steps(state: &Mutex<WorldState>, count: u64, job: &Job) -> Result<Vec<String>, world::WorldError> {
    let mut warnings = Vec::new();
    for _ in 0..count {
        if !job.goes_on() {
            break;
        }
        // Locked for one step, so that other threads can read the world in between.
        let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
        state.built.step()?;
        warnings.extend(state.new_warnings());
    }
    Ok(warnings)
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
    /// Locks the world. Releases the GIL while waiting, because a run in another thread checks for signals.
    fn state(&self, py: Python<'_>) -> MutexGuard<'_, WorldState> {
        self.state.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner)
    }

    fn of_state(state: WorldState) -> Self {
        Self { state: Arc::new(Mutex::new(state)) }
    }
}

#[pymethods]
impl World {
    #[new]
    #[pyo3(signature = (*, gravity=None, time_step=1e-3, ground=None, ground_friction=0.5, solid_friction=0.5, solid_frequency=1e3, coupling=None))]
    fn new(
        gravity: Option<&Bound<'_, PyAny>>,
        time_step: f64,
        ground: Option<f64>,
        ground_friction: f64,
        solid_friction: f64,
        solid_frequency: f64,
        coupling: Option<&str>,
    ) -> PyResult<Self> {
        let default = WorldParameters::default();
        let parse = |name: &str| {
            let refusal = || Error::new_err(format!("`coupling` must be 'implicit' or 'explicit', got {name:?}"));
            Coupling::parse(name).ok_or_else(refusal)
        };
        let coupling = coupling.map(parse).transpose()?;
        let gravity = gravity.map_or(Ok(default.gravity.to_array()), |value| vector::<3>(value, "gravity"))?;
        if let Some(height) = ground.filter(|height| !height.is_finite()) {
            return Err(Error::new_err(format!("`ground` must be a height (m), got {height}")));
        }
        if !(0.0..1e3).contains(&ground_friction) {
            return Err(Error::new_err(format!(
                "`ground_friction` must be zero or a positive number, got {ground_friction}"
            )));
        }
        if !(0.0..1e3).contains(&solid_friction) {
            return Err(Error::new_err(format!(
                "`solid_friction` must be zero or a positive number, got {solid_friction}"
            )));
        }
        let parameters = WorldParameters {
            gravity: Vec3::from_array(gravity),
            step_s: positive(time_step, "time_step", "seconds")?,
            ground_z_m: ground,
            ground_friction,
            solid_friction,
            solid_frequency_hz: positive(solid_frequency, "solid_frequency", "hertz")?,
            coupling,
        };
        Ok(Self::of_state(WorldState::empty(parameters).into_py_err()?))
    }

    /// A world from a scene file (TOML): bodies, sensors, a gripper and its task.
    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        let build = move || {
            let (text, file) = (SceneSpec::text(&path)?, path.display().to_string());
            WorldState::of_scene(text, file, path.parent().map(Path::to_owned))
        };
        interruptible(py, build)?.into_py_err().map(Self::of_state)
    }

    /// A world from the text of a scene file. folder: folder of the files that the scene refers to.
    #[staticmethod]
    #[pyo3(signature = (text, *, folder=None))]
    fn parse(py: Python<'_>, text: &str, folder: Option<PathBuf>) -> PyResult<Self> {
        let text = text.to_owned();
        let build = move || WorldState::of_scene(text, "the scene".to_owned(), folder);
        interruptible(py, build)?.into_py_err().map(Self::of_state)
    }

    /// Adds a body.
    ///
    /// obj: its surface, if it can touch sensors. motion: "fixed", "driven" (by ``set_twist``) or "free" (needs a mass
    /// and a closed object). mass: mass (kg), uniform over the object. pose, twist: initial pose and velocity (m/s,
    /// rad/s). solid: True if the body collides with the ground and with other solid bodies.
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
        let pose = pose_or_identity(pose, "pose")?;
        let mut body = match (motion, mass, &obj) {
            ("free", Some(mass), Some(obj)) => {
                let mass_kg = positive(mass, "mass", "kilograms")?;
                let mass = obj.object.surface.mass_properties(mass_kg).into_py_err()?;
                Body::free(name, pose, mass)
            }
            ("free", ..) => {
                return Err(Error::new_err(format!("body {name:?}: a free body needs `obj` and `mass` (kg)")));
            }
            ("fixed", None, _) => Body::fixed(name, pose),
            ("driven", None, _) => Body::driven(name, pose),
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
        body.object = obj.as_ref().map(|obj| obj.object.clone());
        body.solid = solid;
        let definition = obj.map(|obj| obj.definition.clone());
        let add = || self.state.lock().unwrap_or_else(PoisonError::into_inner).add_body(body, definition);
        detached(py, add)?.into_py_err()
    }

    /// Mounts an untouched sensor on a body, at a pose in the body frame.
    #[pyo3(signature = (name, sensor, *, body, pose=None))]
    fn mount(
        &self,
        py: Python<'_>,
        name: &str,
        sensor: PyRef<'_, Sensor>,
        body: &str,
        pose: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let pose = pose_or_identity(pose, "pose")?;
        self.state(py).mount(name, sensor.shared.clone(), body, pose)
    }

    /// Advances the world by ``count`` time steps: sensors, bodies and the task of a scene. Issues the warnings of the
    /// skins and of the world, each kind once per sensor; that of few contact points when the force no longer rises,
    /// if it came with a tenth of the largest force.
    #[pyo3(signature = (count=1))]
    fn step(&self, py: Python<'_>, #[pyo3(from_py_with = crate::array::steps)] count: u64) -> PyResult<()> {
        let shared = self.state.clone();
        // Stepping a world of springs once takes less time than starting a thread.
        if count == 1 && self.state(py).is_quick() {
            let warnings = detached(py, move || steps(&shared, 1, &Job::default()))?.into_py_err()?;
            return warnings.iter().try_for_each(|warning| warn_text(py, warning));
        }
        let work = move |job: &Job| steps(&shared, count, job);
        let warnings = interruptible_job(py, work, |_| Ok(()))?.into_py_err()?;
        warnings.iter().try_for_each(|warning| warn_text(py, warning))
    }

    /// Runs to the end of the scene, or for ``duration`` (s) from now, and returns a recording. Issues its warnings.
    ///
    /// record: a file to write during the run, readable at any time: ``.mcap`` (Foxglove), ``.parquet``, or a folder of
    /// arrays and images. format: "mcap", "ros2" (a bag, in a folder), "parquet", "npy" or "png"; default:
    /// from the file name.
    /// image_every: time between two recorded images (s).
    /// overwrite: replace an existing recording. progress: shows the progress on stderr, with tqdm if it is installed.
    #[pyo3(signature = (*, duration=None, record=None, format=None, image_every=DEFAULT_IMAGE_INTERVAL_S, overwrite=false, progress=false))]
    #[allow(clippy::too_many_arguments, reason = "keyword arguments of Python")]
    fn run(
        &self,
        py: Python<'_>,
        duration: Option<f64>,
        record: Option<PathBuf>,
        format: Option<&str>,
        image_every: f64,
        overwrite: bool,
        progress: bool,
    ) -> PyResult<Recording> {
        let format = format.map(format_of).transpose()?;
        let image_every_s = positive(image_every, "image_every", "seconds")?;
        let duration_s = duration.map(|duration| positive(duration, "duration", "seconds")).transpose()?;
        let (shared, bar) = (self.state.clone(), Bar::start(py, progress, 100, "% of the run")?);
        let work = move |job: &Job| {
            let mut state = shared.lock().unwrap_or_else(PoisonError::into_inner);
            let default_s = state.built.duration_s;
            let mut run_recorder = match &record {
                Some(path) => Some(RunRecorder::open(&state.built, path, format, image_every_s, overwrite)?),
                None => None,
            };
            let duration_s = duration_s.unwrap_or(default_s);
            let start_s = state.built.world.time_s();
            state.built.duration_s = duration_s;
            let outcome = run_into(&mut state.built, run_recorder.as_mut(), &mut |now| {
                job.set_done((100.0 * (now.time_s - start_s) / duration_s) as usize);
                if job.goes_on() { Continue::Yes } else { Continue::No }
            });
            state.built.duration_s = default_s;
            run_recorder.map_or(Ok(Vec::new()), RunRecorder::finish)?;
            outcome
        };
        let recording = interruptible_job(py, work, |job| bar.show(py, job.done()));
        bar.close(py)?;
        let recording = recording?.into_py_err()?;
        recording.warnings.texts().iter().try_for_each(|warning| warn_text(py, warning))?;
        Ok(Recording::new(recording))
    }

    /// Simulated time (s).
    #[getter]
    fn time(&self, py: Python<'_>) -> f64 {
        self.state(py).built.world.time_s()
    }

    /// Time step (s).
    #[getter]
    fn time_step(&self, py: Python<'_>) -> f64 {
        self.state(py).built.world.parameters().step_s
    }

    /// The largest stable time step (s) with explicit coupling; None if there is no limit.
    #[getter]
    fn stable_step(&self, py: Python<'_>) -> PyResult<Option<f64>> {
        detached(py, || {
            let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
            state.built.world.stability().map(|stability| stability.limit_s)
        })
    }

    /// Current phase of the scene's task, such as "Lift"; None without a task.
    #[getter]
    fn phase(&self, py: Python<'_>) -> Option<String> {
        self.state(py).built.task.as_ref().map(|task| format!("{:?}", task.phase()))
    }

    /// Warnings since the start: loads that no sensor reads, and bodies that passed a sensor or left the scene.
    #[getter]
    fn warnings(&self, py: Python<'_>) -> Vec<String> {
        self.state(py).built.world.warnings().iter().map(ToString::to_string).collect()
    }

    /// Energy balance (J) since the start, the last ``run`` or the copy: changes of "kinetic", "potential" and "elastic" energy; what was
    /// dissipated by "friction" and "damping" of the skins and by contacts of "solids"; the work of "drives" and of "prescribed"
    /// motions; "on_skins", stored or damped by skins that do not compute their energy; and "residual", what none of these
    /// explains. It belongs to the poses before the last step.
    #[getter]
    fn energy(&self, py: Python<'_>) -> BTreeMap<&'static str, f64> {
        let balance = self.state(py).built.world.energy().cloned().unwrap_or_default();
        BTreeMap::from([
            ("kinetic", balance.kinetic_joule),
            ("potential", balance.potential_joule),
            ("elastic", balance.elastic_joule),
            ("on_skins", balance.on_skins_joule),
            ("friction", balance.friction_joule),
            ("damping", balance.damping_joule),
            ("solids", balance.solids_joule),
            ("drives", balance.drives_joule),
            ("prescribed", balance.prescribed_joule),
            ("residual", balance.residual_joule()),
        ])
    }

    /// Names of the bodies.
    #[getter]
    fn bodies(&self, py: Python<'_>) -> Vec<String> {
        let state = self.state(py);
        let world = &state.built.world;
        world.bodies().map(|id| world.body(id).name.clone()).collect()
    }

    /// Names of the sensors.
    #[getter]
    fn sensors(&self, py: Python<'_>) -> Vec<String> {
        self.state(py).built.sensors.iter().map(|(name, _)| name.clone()).collect()
    }

    /// Pose of a body, world_from_body, shape (4, 4).
    fn pose<'py>(&self, py: Python<'py>, body: &str) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        let state = self.state(py);
        matrix(py, &state.built.world.pose(state.body(body)?))
    }

    /// Velocity (m/s) of a body's origin and angular velocity (rad/s), shape (6,).
    fn twist<'py>(&self, py: Python<'py>, body: &str) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        let state = self.state(py);
        let velocity = state.built.world.velocity(state.body(body)?);
        let (v, w) = (velocity.linear, velocity.angular);
        array(py, &[6], &[v.x, v.y, v.z, w.x, w.y, w.z])
    }

    /// Sets the velocity (m/s) of the origin of a driven or free body and its angular velocity (rad/s), shape (6,).
    #[pyo3(signature = (body, twist))]
    fn set_twist(&self, py: Python<'_>, body: &str, twist: &Bound<'_, PyAny>) -> PyResult<()> {
        let velocity = crate::pose::twist(Some(twist), "twist")?;
        let mut state = self.state(py);
        let id = state.body(body)?;
        if state.built.world.body(id).kind == BodyKind::Fixed {
            return Err(Error::new_err(format!(
                "body {body:?} is fixed: add it with motion=\"driven\" to move it, or \"free\" with a mass"
            )));
        }
        state.built.world.set_velocity(id, velocity);
        Ok(())
    }

    /// The reading of a sensor after the last step.
    fn reading(&self, py: Python<'_>, sensor: &str) -> PyResult<Reading> {
        let state = self.state(py);
        let (id, shared) = state.sensor(sensor)?;
        let world = &state.built.world;
        let values = ReadingValues {
            reading: world.reading(id),
            frame: world.steps(),
            travel_m: None,
            sensor_from_object: None,
        };
        Ok(Reading::new(ReadingData::new(shared, values, world.touch(id).clone())))
    }

    /// An untouched copy of a sensor.
    fn sensor(&self, py: Python<'_>, name: &str) -> PyResult<Sensor> {
        Sensor::of_shared(self.state(py).sensor(name)?.1)
    }

    /// Vertices (m), shape (n, 3), and triangles, shape (m, 3), of the visible part of a body, in its frame; None if
    /// there is none.
    #[allow(clippy::type_complexity)] // two arrays
    fn mesh<'py>(
        &self,
        py: Python<'py>,
        body: &str,
    ) -> PyResult<Option<(Bound<'py, PyArrayDyn<f64>>, Bound<'py, PyArrayDyn<u32>>)>> {
        let state = self.state(py);
        let Some(mesh) = state.built.world.body(state.body(body)?).visible() else { return Ok(None) };
        let triangles = mesh.triangles();
        let corners = crate::pose::vectors(py, mesh.vertices())?;
        Ok(Some((corners, array(py, &[triangles.len(), 3], triangles.as_flattened())?)))
    }

    /// Pose of a sensor, world_from_sensor, shape (4, 4).
    fn sensor_pose<'py>(&self, py: Python<'py>, sensor: &str) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        let state = self.state(py);
        matrix(py, &state.built.world.world_from_sensor(state.sensor(sensor)?.0))
    }

    /// Force (N) and torque (N m) of a sensor on a body in the last step, in the world frame about the sensor's origin,
    /// shape (6,).
    #[pyo3(signature = (body, *, sensor))]
    fn load_on<'py>(&self, py: Python<'py>, body: &str, sensor: &str) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        let state = self.state(py);
        let (touched, from) = (state.body(body)?, state.sensor(sensor)?.0);
        array(py, &[6], &six(&state.built.world.load_on(touched, from)))
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        let state = self.state(py);
        let (bodies, sensors) = (state.built.world.bodies().count(), state.built.sensors.len());
        format!("<dermis.World: {bodies} bodies, {sensors} sensors, t = {:.4} s>", state.built.world.time_s())
    }

    #[classmethod]
    fn _restore(_class: &Bound<'_, PyType>, py: Python<'_>, saved: &[u8]) -> PyResult<Self> {
        let saved = saved.to_vec();
        interruptible(py, move || WorldState::restore(&saved))?.map(Self::of_state)
    }

    fn __reduce__<'py>(this: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        let saved = this.get().state(this.py()).save().map_err(|error| Error::new_err(error.to_string()))?;
        Ok((this.get_type().getattr("_restore")?, (PyBytes::new(this.py(), &saved),)))
    }
}
