//! Sensors attached to a MuJoCo simulation: `dermis.mujoco.Attachment`.
#![allow(unsafe_code, reason = "mjModel and mjData are read at their addresses")]

use crate::error::{Error, IntoPyErr};
use crate::pose::{matrix, pose_or_identity};
use crate::reading::{Reading, ReadingData, ReadingValues};
use crate::sensor::{Sensor, at_rest};
use crate::shared_sensor::SharedSensor;
use crate::state::History;
use crate::threads::{detached, panic_text};
use crate::touch::warn;
use dermis::skin::{MissedObjects, Motion, State, Touch, Warning, WarningLog};
use dermis_mujoco_coupling::contact_filter::DisabledContacts;
use dermis_mujoco_coupling::layout::{self, Layout};
use dermis_mujoco_coupling::passive::{PassiveForce, Registration};
use dermis_mujoco_coupling::{
    CoupledSensor, Coupling as Instant, CouplingError, Data, FrameId, Kinematics, Lag, Library, Mode, Model, Mount,
    geoms_named, solve,
};
use numpy::PyArrayDyn;
use pyo3::exceptions::{PyRuntimeWarning, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyString};
use std::ffi::CString;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Tolerance of time comparisons, as a fraction of a time step.
const TIME_SLACK: f64 = 1e-6;

/// A sensor attached to a MuJoCo simulation, made by ``dermis.mujoco.attach``.
#[pyclass(frozen, module = "dermis.mujoco")]
pub struct Attachment {
    /// Dropped before `model` and `data`, which it refers to.
    active: Mutex<Option<Active>>,
    coupling: Arc<Coupling>,
    /// The mujoco.MjModel.
    #[pyo3(get)]
    model: Py<PyAny>,
    /// The mujoco.MjData.
    #[pyo3(get)]
    data: Py<PyAny>,
}

/// Effects of an attachment on MuJoCo in mode "couple". Dropping it undoes them.
struct Active {
    _force: Registration,
    _contacts: DisabledContacts,
}

/// A sensor in one mjData.
struct Coupling {
    model: usize,
    data: usize,
    sensor: Arc<SharedSensor>,
    mode: Mode,
    instant: Instant,
    mount: Mount,
    progress: Mutex<Progress>,
}

/// The history of an attachment.
struct Progress {
    /// State at the start of the current step.
    before: History,
    /// State at the end of the current step.
    after: History,
    /// Start time of the current step (s); −∞ before the first step.
    time_s: f64,
    /// Length of the current step (s).
    dt_s: f64,
    reading: Option<Arc<ReadingData>>,
    /// Generalized forces of the last step.
    lag: Lag,
    /// Generalized contact forces of the current step.
    forces: Vec<f64>,
    /// Warnings of the skin since the start.
    log: WarningLog,
    /// Objects between the contact points, in mode "couple".
    missed: MissedObjects,
    /// Message of the first error since the last reading, in mode "couple".
    error: Option<String>,
}

impl Progress {
    fn new(rest: History) -> Self {
        Self {
            before: rest.clone(),
            after: rest,
            time_s: f64::NEG_INFINITY,
            dt_s: 0.0,
            reading: None,
            lag: Lag::default(),
            forces: Vec::new(),
            log: WarningLog::default(),
            missed: MissedObjects::default(),
            error: None,
        }
    }
}

fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}

impl Coupling {
    fn progress(&self) -> MutexGuard<'_, Progress> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The model and the data at their addresses.
    ///
    /// # Safety
    /// The Python objects are alive, and no other code accesses the data during the call: the GIL is held.
    unsafe fn open(&self) -> Result<(Model<'static>, Data<'static>), CouplingError> {
        // SAFETY: the caller keeps the model alive.
        let model = unsafe { open_model(self.model)? };
        // SAFETY: `data` belongs to `model`, as `attach` has checked.
        Ok((model, unsafe { Data::new(self.data as *mut _, model) }))
    }

    /// The warnings of the skin that were not issued before.
    fn new_warnings(&self) -> Vec<Warning> {
        self.progress().log.take_new()
    }

    fn reset(&self) -> PyResult<()> {
        *self.progress() = Progress::new(at_rest(self.sensor.sensor()?));
        Ok(())
    }

    /// Advances the skin by dt (s).
    fn touch(&self, before: &History, kinematics: &Kinematics, dt_s: f64) -> Result<(Touch, History), String> {
        let targets = self.mount.targets(kinematics);
        let (sensor, motion) = (self.sensor.sensor().map_err(text)?, Motion { targets: &targets });
        let (mut touch, skin) = sensor.touch(&before.skin, &motion, dt_s).map_err(text)?;
        if self.mode == Mode::Sense {
            touch.warnings.extend(sensor.skin().missed(&touch, &motion));
        }
        Ok((touch, History { skin: Arc::new(skin), ..before.clone() }))
    }

    /// Reads the taxels, and advances the response by dt (s).
    fn read(&self, touch: Touch, after: &mut History, dt_s: f64) -> Result<Arc<ReadingData>, String> {
        let sensor = self.sensor.sensor().map_err(text)?;
        let (reading, response) = sensor.sense(&after.response, &touch, dt_s).map_err(text)?;
        (after.response, after.frame) = (Arc::new(response), after.frame + 1);
        let numbers = ReadingValues { reading, frame: after.frame, travel_m: None, sensor_from_object: None };
        Ok(Arc::new(ReadingData::new(self.sensor.clone(), numbers, touch)))
    }

    /// Reads the sensor at the current time, in modes "sense" and "contacts". The time since the last reading is one step.
    fn sense(&self, py: Python<'_>) -> PyResult<Arc<ReadingData>> {
        // SAFETY: the GIL is held, and the calling method of the attachment keeps model and data alive.
        let (model, data) = unsafe { self.open() }.into_py_err()?;
        let time_s = data.time_s();
        if time_s < self.progress().time_s {
            self.reset()?;
        }
        let (before, dt_s) = {
            let mut progress = self.progress();
            if time_s > progress.time_s {
                let first = progress.time_s == f64::NEG_INFINITY;
                progress.dt_s = if first { model.step_s() } else { time_s - progress.time_s };
                (progress.before, progress.time_s) = (progress.after.clone(), time_s);
            }
            (progress.before.clone(), progress.dt_s)
        };
        let kinematics = self.mount.kinematics(&model, &data).into_py_err()?;
        let carried = match self.mode {
            Mode::Contacts => Some(self.mount.carry(&model, &data, self.sensor.sensor()?).into_py_err()?),
            Mode::Sense | Mode::Couple => None,
        };
        let step = || {
            let (touch, mut after) = match carried {
                Some(touch) => (touch, before.clone()),
                None => self.touch(&before, &kinematics, dt_s)?,
            };
            Ok((self.read(touch, &mut after, dt_s)?, after))
        };
        let (reading, after) = detached(py, step)?.map_err(Error::new_err::<String>)?;
        let mut progress = self.progress();
        progress.log.add(&reading.touch, time_s);
        (progress.after, progress.reading) = (after, Some(reading.clone()));
        Ok(reading)
    }

    /// The state at the start of the step that MuJoCo evaluates, in mode "couple".
    ///
    /// Only whole steps change the history: evaluations within a step, such as Runge–Kutta stages, start from the same
    /// state.
    fn begin(&self, model: &Model<'_>, data: &Data<'_>) -> Result<History, String> {
        let (time_s, step_s) = (data.time_s(), model.step_s());
        let mut progress = self.progress();
        if time_s < progress.time_s {
            *progress = Progress::new(at_rest(self.sensor.sensor().map_err(text)?));
        }
        if time_s >= progress.time_s + step_s * (1.0 - TIME_SLACK) {
            (progress.before, progress.time_s) = (progress.after.clone(), time_s);
            if progress.forces.len() == model.dofs() {
                let skin = std::mem::take(&mut progress.forces);
                progress.lag = Lag { constraint: data.constraint_forces(), skin };
            } else {
                progress.lag = Lag::none(model);
            }
        }
        Ok(progress.before.clone())
    }

    /// Keeps the result of an evaluation. Only the first of a step is read and changes the history.
    fn finish(
        &self,
        model: &Model<'_>,
        data: &Data<'_>,
        kinematics: &Kinematics,
        (mut touch, skin): (Touch, Arc<State>),
        forces: &[f64],
    ) -> Result<(), String> {
        let mut progress = self.progress();
        let time_s = progress.time_s;
        if data.time_s() != time_s {
            return Ok(());
        }
        let targets = self.mount.targets(kinematics);
        let (sensor, motion) = (self.sensor.sensor().map_err(text)?, Motion { targets: &targets });
        let frame = progress.before.frame;
        progress.missed.add_warnings(&mut touch, sensor.skin(), &motion, frame);
        let mut after = History { skin, ..progress.before.clone() };
        let reading = self.read(touch, &mut after, model.step_s())?;
        progress.log.add(&reading.touch, time_s);
        (progress.after, progress.reading, progress.forces) = (after, Some(reading), forces.to_vec());
        Ok(())
    }

    /// Adds the forces at the start of the step.
    fn push(&self, model: &Model<'_>, data: &mut Data<'_>) -> Result<(), String> {
        let before = self.begin(model, data)?;
        let kinematics = self.mount.kinematics(model, data).map_err(text)?;
        let (touch, after) = self.touch(&before, &kinematics, model.step_s())?;
        self.mount.apply(data, &kinematics, &touch);
        self.finish(model, data, &kinematics, (touch, after.skin), &[])
    }

    /// The contact with the objects at rest.
    fn still(&self, model: &Model<'_>, data: &Data<'_>) -> Result<(Kinematics, (Touch, State)), String> {
        let before = self.begin(model, data)?;
        let kinematics = self.mount.kinematics(model, data).map_err(text)?;
        let targets = self.mount.targets(&kinematics);
        let targets = Motion { targets: &targets }.targets_at_rest();
        let sensor = self.sensor.sensor().map_err(text)?;
        let still = sensor.touch(&before.skin, &Motion { targets: &targets }, model.step_s()).map_err(text)?;
        Ok((kinematics, still))
    }

    /// Adds the forces at the end of the step of several sensors.
    fn push_all(all: &[&Self], model: &Model<'_>, data: &mut Data<'_>) -> Result<(), String> {
        let mut members = Vec::with_capacity(all.len());
        let (mut touches, mut failed) = (Vec::with_capacity(all.len()), Vec::new());
        for &coupling in all {
            match coupling.still(model, data) {
                Ok((kinematics, still)) => {
                    members.push((coupling, kinematics));
                    touches.push(still);
                }
                Err(message) => failed.push((coupling, message)),
            }
        }
        failed.into_iter().for_each(|(coupling, message)| coupling.fail(&message));
        let Some((leader, _)) = members.first() else { return Ok(()) };
        let lag = leader.progress().lag.clone();
        let lag = if lag.constraint.len() == model.dofs() { lag } else { Lag::none(model) };
        let mut coupled = Vec::with_capacity(members.len());
        for ((coupling, kinematics), still) in members.iter().zip(touches) {
            let sensor = coupling.sensor.sensor().map_err(text)?;
            coupled.push(CoupledSensor { mount: &coupling.mount, sensor, kinematics, still });
        }
        let (evaluated, forces) = solve(model, data, coupled, &lag).map_err(text)?;
        for ((coupling, kinematics), (touch, state)) in members.iter().zip(evaluated) {
            coupling.finish(model, data, kinematics, (touch, Arc::new(state)), &forces)?;
        }
        Ok(())
    }

    /// Keeps the first error since the last reading, and issues it as a RuntimeWarning: MuJoCo cannot propagate an
    /// exception. The next ``read`` raises it.
    fn fail(&self, message: &str) {
        let first = self.progress().error.replace(message.to_owned()).is_none();
        if first {
            Python::try_attach(|py| {
                let text = CString::new(format!("the skin applies no force in this step: {message}"));
                let warning = py.get_type::<PyRuntimeWarning>();
                if let Err(error) = PyErr::warn(py, &warning, &text.unwrap_or_default(), 1) {
                    error.write_unraisable(py, None);
                }
            });
        }
    }
}

impl PassiveForce for Coupling {
    fn apply_all(&self, all: &[Arc<dyn PassiveForce>], model: &Model<'_>, data: &mut Data<'_>) {
        let all = all.iter().filter_map(|force| (&**force as &dyn std::any::Any).downcast_ref::<Self>());
        let (implicit, explicit): (Vec<&Self>, Vec<&Self>) = all.partition(|one| one.instant == Instant::Implicit);
        let caught = |work: &mut dyn FnMut() -> Result<(), String>| {
            catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| Err(panic_text(&*panic)))
        };
        for coupling in explicit {
            if let Err(message) = caught(&mut || coupling.push(model, data)) {
                coupling.fail(&message);
            }
        }
        if let Err(message) = caught(&mut || Self::push_all(&implicit, model, data)) {
            implicit.iter().for_each(|coupling| coupling.fail(&message));
        }
    }
}

/// The model at the address of an mjModel.
///
/// # Safety
/// There is an mjModel at the address, and it outlives the returned value.
unsafe fn open_model(address: usize) -> Result<Model<'static>, CouplingError> {
    let library = Library::here().ok_or(CouplingError::NotLoaded)?;
    // SAFETY: the caller guarantees the address; the layout is that of the loaded version.
    Ok(unsafe { Model::new(address as *const _, library.layout()?, library) })
}

/// The versions of MuJoCo whose structs dermis knows, and the fields of a layout in order.
#[pyfunction]
pub fn mujoco_layouts() -> (&'static [&'static str], &'static [&'static str]) {
    (layout::VERSIONS, layout::FIELDS)
}

/// The layout of the loaded MuJoCo: the numbers of the fields in order.
#[pyfunction]
pub fn mujoco_layout() -> PyResult<Vec<usize>> {
    let library = Library::here().ok_or(CouplingError::NotLoaded).into_py_err()?;
    Ok(library.layout().into_py_err()?.numbers())
}

/// Sets the layout of MuJoCo's structs: the numbers of the fields in order.
#[pyfunction]
pub fn set_mujoco_layout(numbers: Vec<usize>) -> PyResult<()> {
    let layout = Layout::from_numbers(&numbers).ok_or_else(|| {
        Error::new_err(format!("a layout has {} numbers, got {}", layout::FIELDS.len(), numbers.len()))
    })?;
    // SAFETY: `dermis._mujoco_layout` computes the numbers from the declarations of the loaded MuJoCo.
    unsafe { Library::set_layout(layout) };
    Ok(())
}

/// The address of a mujoco.MjModel or mujoco.MjData.
fn address(value: &Bound<'_, PyAny>, class: &str) -> PyResult<usize> {
    if !value.is_instance(&value.py().import("mujoco")?.getattr(class)?)? {
        let got = value.get_type().name()?;
        return Err(PyTypeError::new_err(format!("expected a mujoco.{class}, got a {got}")));
    }
    value.getattr("_address")?.extract()
}

/// The index of an element of a `kind` ("site", "body" or "geom"), given by name or index.
fn number(model: &Bound<'_, PyAny>, value: &Bound<'_, PyAny>, kind: &str) -> PyResult<usize> {
    let count: usize = model.getattr(format!("n{kind}"))?.extract()?;
    match value.extract::<i64>() {
        Ok(number) if !value.is_instance_of::<PyBool>() => match usize::try_from(number) {
            Ok(number) if number < count => Ok(number),
            _ => Err(Error::new_err(format!(
                "`{kind}`: the model has no {kind} number {number}; the numbers are 0 to {}",
                count as i64 - 1
            ))),
        },
        _ => {
            let got = value.get_type().name()?;
            Err(PyTypeError::new_err(format!("`{kind}` must be a name or a number, got a {got}")))
        }
    }
}

/// The frame given by exactly one of `site`, `body` and `geom`.
fn frame(
    model: &Bound<'_, PyAny>,
    view: &Model<'_>,
    given: [(&'static str, Option<&Bound<'_, PyAny>>); 3],
) -> PyResult<FrameId> {
    let given: Vec<_> = given.into_iter().filter_map(|(kind, value)| Some((kind, value?))).collect();
    let &[(kind, value)] = given.as_slice() else {
        let names: Vec<&str> = given.iter().map(|(kind, _)| *kind).collect();
        let got = if names.is_empty() { "none".into() } else { names.join(" and ") };
        return Err(Error::new_err(format!("give one of `site`, `body` and `geom`, got {got}")));
    };
    if let Ok(name) = value.extract::<String>() {
        let frame = FrameId::find(view, kind, &name);
        return frame.ok_or(CouplingError::UnknownName { key: kind, kind, name }).into_py_err();
    }
    let number = number(model, value, kind)?;
    Ok(match kind {
        "site" => FrameId::Site(number),
        "body" => FrameId::Body(number),
        _ => FrameId::Geom(number),
    })
}

/// Indices of the geoms given by names of geoms or bodies, or by indices of geoms.
fn geoms(model: &Bound<'_, PyAny>, view: &Model<'_>, objects: &Bound<'_, PyAny>) -> PyResult<Vec<usize>> {
    let one = objects.is_instance_of::<PyString>() || objects.extract::<i64>().is_ok();
    let items = if one { vec![objects.clone()] } else { objects.try_iter()?.collect::<PyResult<_>>()? };
    let mut geoms = Vec::new();
    for item in &items {
        match item.extract::<String>() {
            Ok(name) => geoms.extend(geoms_named(view, &name).into_py_err()?),
            Err(_) => geoms.push(number(model, item, "geom")?),
        }
    }
    if geoms.is_empty() { Err(Error::new_err("`objects` names nothing")) } else { Ok(geoms) }
}

#[pymethods]
impl Attachment {
    #[new]
    #[pyo3(signature = (model, data, sensor, *, site=None, body=None, geom=None, pose=None, objects=None, mode="sense", coupling="implicit"))]
    #[allow(clippy::too_many_arguments)] // they have names in Python
    fn new(
        model: &Bound<'_, PyAny>,
        data: &Bound<'_, PyAny>,
        sensor: &Bound<'_, PyAny>,
        site: Option<&Bound<'_, PyAny>>,
        body: Option<&Bound<'_, PyAny>>,
        geom: Option<&Bound<'_, PyAny>>,
        pose: Option<&Bound<'_, PyAny>>,
        objects: Option<&Bound<'_, PyAny>>,
        mode: &str,
        coupling: &str,
    ) -> PyResult<Self> {
        let (model_address, data_address) = (address(model, "MjModel")?, address(data, "MjData")?);
        for (kind, array) in [("nbody", "xpos"), ("ngeom", "geom_xpos"), ("nsite", "site_xpos")] {
            if model.getattr(kind)?.extract::<usize>()? != data.getattr(array)?.len()? {
                return Err(Error::new_err("`data` belongs to another model"));
            }
        }
        let mode = Mode::parse(mode)
            .ok_or_else(|| Error::new_err(format!("`mode` must be 'sense', 'couple' or 'contacts', got {mode:?}")))?;
        let instant = Instant::parse(coupling)
            .ok_or_else(|| Error::new_err(format!("`coupling` must be 'implicit' or 'explicit', got {coupling:?}")))?;
        let sensor = match sensor.cast::<Sensor>() {
            Ok(sensor) => sensor.get().shared.clone(),
            Err(_) => {
                let got = sensor.get_type().name()?;
                return Err(PyTypeError::new_err(format!("`sensor` must be a dermis.Sensor, got a {got}")));
            }
        };
        // SAFETY: the attachment keeps the model alive; the GIL is held.
        let view = unsafe { open_model(model_address) }.into_py_err()?;
        let frame = frame(model, &view, [("site", site), ("body", body), ("geom", geom)])?;
        let frame_from_sensor = pose_or_identity(pose, "pose")?;
        let objects = objects.map(|objects| geoms(model, &view, objects)).transpose()?;
        let built = sensor.sensor()?;
        let mount = Mount::new(&view, built, frame, frame_from_sensor, objects).into_py_err()?;
        let progress = Mutex::new(Progress::new(at_rest(built)));
        let instant = instant.supported(built);
        let coupling =
            Arc::new(Coupling { model: model_address, data: data_address, sensor, mode, instant, mount, progress });
        let active = if mode == Mode::Couple {
            let built = coupling.sensor.sensor()?;
            if instant == Instant::Explicit {
                coupling.mount.check_step_of_box(&view, built).into_py_err()?;
            }
            let own = coupling.mount.colliding_own_geoms(&view, built).into_py_err()?;
            let own: Vec<usize> = own.into_iter().map(|(geom, _)| geom).collect();
            let objects: Vec<usize> = coupling.mount.objects.iter().map(|object| object.geom).collect();
            // SAFETY: the attachment keeps the model alive; the GIL is held now and during the drop.
            let contacts = unsafe { DisabledContacts::new(&view, &own, &objects) }.into_py_err()?;
            let force = Registration::new(data_address as *mut _, &coupling).into_py_err()?;
            Some(Active { _force: force, _contacts: contacts })
        } else {
            None
        };
        Ok(Self { active: Mutex::new(active), coupling, model: model.clone().unbind(), data: data.clone().unbind() })
    }

    /// Mode of the attachment: "sense", "couple" or "contacts".
    #[getter]
    fn mode(&self) -> &'static str {
        self.coupling.mode.name()
    }

    /// A copy of the sensor with its current state.
    #[getter]
    fn sensor(&self) -> Sensor {
        Sensor::with_history(self.coupling.sensor.clone(), self.coupling.progress().after.clone())
    }

    /// Names of the geoms that the sensor may touch, in the order of ``reading.touch.on_objects``.
    #[getter]
    fn objects(&self) -> PyResult<Vec<String>> {
        // SAFETY: the GIL is held, and this object keeps model and data alive.
        let (model, _) = unsafe { self.coupling.open() }.into_py_err()?;
        Ok(self.coupling.mount.objects.iter().map(|object| model.geom_name(object.geom)).collect())
    }

    /// Pose of the sensor, world_from_sensor, shape (4, 4).
    #[getter]
    fn pose<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        // SAFETY: the GIL is held, and this object keeps model and data alive.
        let (_, data) = unsafe { self.coupling.open() }.into_py_err()?;
        matrix(py, &self.coupling.mount.world_from_sensor(&data))
    }

    /// Reads the sensor in the state after mj_step or mj_forward.
    ///
    /// "sense": the time since the last reading is one step of the sensor. Reading again at the same time changes
    /// nothing.
    /// "contacts": the same, with the contact forces of MuJoCo.
    /// "couple": the sensor steps with MuJoCo; returns its reading in the last step.
    /// Issues the warnings of the skin since the start, each kind once.
    /// When time has gone back, as after a reset, the sensor starts untouched. Raises dermis.Error if a pose is not
    /// finite now or was not finite in a step since the last reading; the simulation can continue.
    fn read(&self, py: Python<'_>) -> PyResult<Reading> {
        let coupling = &self.coupling;
        // SAFETY: the GIL is held, and this object keeps model and data alive.
        let (model, data) = unsafe { coupling.open() }.into_py_err()?;
        let (has_poses, time_s, step_s) = (data.has_poses(), data.time_s(), model.step_s());
        let forward = || py.import("mujoco")?.call_method1("mj_forward", (&self.model, &self.data)).map(drop);
        if coupling.mode != Mode::Couple {
            if !has_poses {
                forward()?;
            }
            let data = coupling.sense(py)?;
            warn(py, coupling.new_warnings())?;
            return Ok(Reading { data });
        }
        let pending = || coupling.progress().error.take().map_or(Ok(()), |message| Err(Error::new_err(message)));
        pending()?;
        let (known, last_s) = {
            let progress = coupling.progress();
            (progress.reading.is_some(), progress.time_s)
        };
        let late = time_s - last_s > 1.5 * step_s;
        if known && late {
            return Err(Error::new_err(
                "MuJoCo has not evaluated the skin since the last reading: passive forces are disabled in the model, or another \
                 mjcb_passive has been set; set it before attaching",
            ));
        }
        if !known || time_s < last_s {
            forward()?;
            pending()?;
        }
        let data = coupling.progress().reading.clone();
        let data =
            data.ok_or_else(|| Error::new_err("MuJoCo computes no passive forces: they are disabled in the model"))?;
        warn(py, coupling.new_warnings())?;
        Ok(Reading { data })
    }

    /// Resets the sensor to its untouched state.
    fn reset(&self) -> PyResult<()> {
        self.coupling.reset()
    }

    /// Ends the attachment. In mode "couple", MuJoCo computes the contacts again.
    fn detach(&self) {
        self.active.lock().unwrap_or_else(PoisonError::into_inner).take();
    }
}
