//! Sensors attached to a MuJoCo simulation: `dermis.mujoco.Attachment`.
#![allow(unsafe_code, reason = "mjModel and mjData are read at their addresses")]

use crate::error::{Error, IntoPyErr};
use crate::mujoco::in_use::Holder;
use crate::mujoco::progress::{Histories, Progress, SavedProgress, lock};
use crate::pose::{matrix, pose_or_identity};
use crate::reading::{Reading, ReadingData, ReadingValues};
use crate::sensor::{Sensor, at_rest};
use crate::shared_sensor::SharedSensor;
use crate::state::History;
use crate::threads::{detached, panic_text};
use crate::touch::{warn, warn_text};
use dermis::geometry::Pose;
use dermis::skin::{Motion, State, Touch, Warning};
use dermis_mujoco_coupling::contact_filter::{self, Bits, DisabledContacts};
use dermis_mujoco_coupling::layout::{self, Layout};
use dermis_mujoco_coupling::passive::{PassiveForce, Registration};
use dermis_mujoco_coupling::{
    CoupledSensor, Coupling as Instant, CouplingError, Data, FrameId, Kinematics, Lag, Library, Mode, Model, Mount,
    geoms_named, solve,
};
use numpy::PyArrayDyn;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyString, PyType};
use serde::{Deserialize, Serialize};
use std::ffi::CString;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

mod in_use;
mod progress;

/// A sensor attached to a MuJoCo simulation, made by ``dermis.mujoco.attach``.
#[pyclass(frozen, module = "dermis.mujoco")]
pub struct Attachment {
    /// Dropped before `model` and `data`, which it refers to.
    active: Mutex<Option<Active>>,
    coupling: Arc<Coupling>,
    holder: Holder,
}

impl Drop for Attachment {
    fn drop(&mut self) {
        self.coupling.histories.detach();
    }
}

/// Effects of an attachment on MuJoCo in mode "couple". Dropping it undoes them.
struct Active {
    _force: Registration,
    _contacts: DisabledContacts,
}

/// A sensor on a model, with its history in each mjData.
struct Coupling {
    model: usize,
    /// The attached mjData.
    data: usize,
    sensor: Arc<SharedSensor>,
    mode: Mode,
    instant: Instant,
    mount: Mount,
    histories: Histories,
    /// Message of the first error since the last reading, in mode "couple".
    error: Mutex<Option<String>>,
    /// True once the start in an unknown state was reported.
    told_unknown: AtomicBool,
}

fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}

impl Coupling {
    /// The model, and the data at an address.
    ///
    /// # Safety
    /// The Python objects are alive, and no other code accesses the data during the call: the GIL is held.
    unsafe fn open(&self, data: usize) -> Result<(Model<'static>, Data<'static>), CouplingError> {
        // SAFETY: the caller keeps the model alive.
        let model = unsafe { open_model(self.model)? };
        // SAFETY: `data` belongs to `model`, as the caller has checked.
        Ok((model, unsafe { Data::new(data as *mut _, model) }))
    }

    /// The warnings of the skin that were not issued before.
    fn new_warnings(&self, data: usize) -> Vec<Warning> {
        lock(&self.histories.of(data)).log.take_new()
    }

    fn reset(&self) {
        self.histories.reset();
        lock(&self.error).take();
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
    fn sense(&self, py: Python<'_>, data: usize) -> PyResult<Arc<ReadingData>> {
        // SAFETY: the GIL is held, and the calling method of the attachment keeps model and data alive.
        let (model, data) = unsafe { self.open(data) }.into_py_err()?;
        let time_s = data.time_s();
        let history = self.histories.of(data.address());
        let (before, dt_s) = {
            let mut progress = lock(&history);
            if time_s < progress.time_s {
                *progress = Progress::new(at_rest(self.sensor.sensor()?));
            }
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
        let mut progress = lock(&history);
        progress.log.add(&reading.touch, time_s);
        (progress.after, progress.reading) = (after, Some(reading.clone()));
        Ok(reading)
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
        let history = self.histories.of(data.address());
        let mut progress = lock(&history);
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
        let unknown_s = progress.unknown_start_s.take().filter(|_| !reading.touch.facets.is_empty());
        (progress.after, progress.reading, progress.forces) = (after, Some(reading), forces.to_vec());
        drop(progress);
        if let Some(time_s) = unknown_s.filter(|_| !self.told_unknown.swap(true, Ordering::Relaxed)) {
            issue(&format!(
                "an mjData starts at {time_s} s in a state that the attached mjData has not been in recently: its skin starts untouched, \
                 without the bristle deflection of earlier contact"
            ));
        }
        Ok(())
    }

    /// Adds the forces at the start of the step.
    fn push(&self, model: &Model<'_>, data: &mut Data<'_>) -> Result<(), String> {
        let before = self.histories.begin(model, data);
        let kinematics = self.mount.kinematics(model, data).map_err(text)?;
        let (touch, after) = self.touch(&before, &kinematics, model.step_s())?;
        self.mount.apply(data, &kinematics, &touch);
        self.finish(model, data, &kinematics, (touch, after.skin), &[])
    }

    /// The contact with the objects at rest.
    fn still(&self, model: &Model<'_>, data: &Data<'_>) -> Result<(Kinematics, (Touch, State)), String> {
        let before = self.histories.begin(model, data);
        let kinematics = self.mount.kinematics(model, data).map_err(text)?;
        let targets = self.mount.targets_at_rest(&kinematics);
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
        let lag = lock(&leader.histories.of(data.address())).lag.clone();
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
        if lock(&self.error).replace(message.to_owned()).is_none() {
            issue(&format!("the skin applies no force in this step: {message}"));
        }
    }
}

/// Issues a RuntimeWarning, on any thread.
fn issue(text: &str) {
    Python::try_attach(|py| {
        if let Err(error) = warn_text(py, text) {
            error.write_unraisable(py, None);
        }
    });
}

/// The refusal of a copied model.
const COPIED_MODEL: &str = "a copy of the model is stepped, in which MuJoCo's contact with the skin is disabled too and no skin replaces it: \
                            attach a sensor to the copy, or copy the model before attaching";

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

    fn refuse_copy(&self, model: &Model<'_>) {
        if lock(&self.error).is_none() {
            let text = CString::new(format!("dermis: {COPIED_MODEL}")).unwrap_or_default();
            // SAFETY: the format string takes one string argument.
            unsafe { (model.library().mju_warning)(c"%s".as_ptr(), text.as_ptr()) };
            self.fail(COPIED_MODEL);
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
    Ok(FrameId::new(kind, number).unwrap_or(FrameId::Geom(number)))
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

/// The address of a mujoco.MjData of a model.
fn data_of(model: &Bound<'_, PyAny>, data: &Bound<'_, PyAny>) -> PyResult<usize> {
    let data_address = address(data, "MjData")?;
    for (kind, array) in [("nbody", "xpos"), ("ngeom", "geom_xpos"), ("nsite", "site_xpos")] {
        if model.getattr(kind)?.extract::<usize>()? != data.getattr(array)?.len()? {
            return Err(Error::new_err("`data` belongs to another model"));
        }
    }
    Ok(data_address)
}

/// Where and how a sensor is attached.
struct Placement {
    frame: FrameId,
    frame_from_sensor: Pose,
    /// Indices of the geoms that it may touch.
    objects: Option<Vec<usize>>,
    mode: Mode,
    instant: Instant,
}

/// The part of a pickle that is not a Python object.
#[derive(Serialize, Deserialize)]
struct Saved {
    frame_from_sensor: Pose,
    /// contype and conaffinity of the model without attachments, if some are disabled.
    original_bits: Option<Vec<Bits>>,
    progress: SavedProgress,
}

impl Attachment {
    /// Attaches a sensor.
    fn place(
        model: &Bound<'_, PyAny>,
        data: &Bound<'_, PyAny>,
        sensor: Arc<SharedSensor>,
        placement: Placement,
    ) -> PyResult<Self> {
        let (model_address, data_address) = (address(model, "MjModel")?, data_of(model, data)?);
        // SAFETY: the attachment keeps the model alive; the GIL is held.
        let view = unsafe { open_model(model_address) }.into_py_err()?;
        let Placement { frame, frame_from_sensor, objects, mode, instant } = placement;
        let built = sensor.sensor()?;
        let mount = Mount::new(&view, built, frame, frame_from_sensor, objects).into_py_err()?;
        let histories = Histories::new(at_rest(built), data_address);
        let coupling = Arc::new(Coupling {
            model: model_address,
            data: data_address,
            mode,
            instant: instant.supported(built),
            mount,
            histories,
            error: Mutex::default(),
            told_unknown: AtomicBool::new(false),
            sensor,
        });
        let active = if mode == Mode::Couple {
            let built = coupling.sensor.sensor()?;
            if coupling.instant == Instant::Explicit {
                coupling.mount.check_step_of_box(&view, built).into_py_err()?;
            }
            let own = coupling.mount.colliding_own_geoms(&view, built).into_py_err()?;
            let own: Vec<usize> = own.into_iter().map(|(geom, _)| geom).collect();
            let objects: Vec<usize> = coupling.mount.objects.iter().map(|object| object.geom).collect();
            // SAFETY: the attachment keeps the model alive; the GIL is held now and during the drop.
            let contacts = unsafe { DisabledContacts::new(&view, &own, &objects) }.into_py_err()?;
            let force =
                Registration::new(model_address as *const _, data_address as *mut _, &coupling).into_py_err()?;
            Some(Active { _force: force, _contacts: contacts })
        } else {
            None
        };
        Ok(Self { active: Mutex::new(active), coupling, holder: Holder::new(model, data) })
    }
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
        // SAFETY: the caller keeps the model alive; the GIL is held.
        let view = unsafe { open_model(address(model, "MjModel")?) }.into_py_err()?;
        let frame = frame(model, &view, [("site", site), ("body", body), ("geom", geom)])?;
        let frame_from_sensor = pose_or_identity(pose, "pose")?;
        let objects = objects.map(|objects| geoms(model, &view, objects)).transpose()?;
        // Contacts that were disabled in the model of which this one is a copy.
        if let Some((_, original)) = contact_filter::original_of_copy(&view) {
            // SAFETY: the GIL is held.
            unsafe { contact_filter::restore_copy(&view, &original) };
        }
        Self::place(model, data, sensor, Placement { frame, frame_from_sensor, objects, mode, instant })
    }

    /// The mujoco.MjModel.
    #[getter]
    fn model(&self, py: Python<'_>) -> Py<PyAny> {
        self.holder.model(py)
    }

    /// The mujoco.MjData.
    #[getter]
    fn data(&self, py: Python<'_>) -> Py<PyAny> {
        self.holder.ask_data(py)
    }

    /// Mode of the attachment: "sense", "couple" or "contacts".
    #[getter]
    fn mode(&self) -> &'static str {
        self.coupling.mode.name()
    }

    /// A copy of the sensor with its current state.
    #[getter]
    fn sensor(&self) -> Sensor {
        Sensor::with_history(
            self.coupling.sensor.clone(),
            lock(&self.coupling.histories.of(self.coupling.data)).after.clone(),
        )
    }

    /// Names of the geoms that the sensor may touch, in the order of ``reading.touch.on_objects``.
    #[getter]
    fn objects(&self) -> PyResult<Vec<String>> {
        // SAFETY: the GIL is held, and this object keeps model and data alive.
        let (model, _) = unsafe { self.coupling.open(self.coupling.data) }.into_py_err()?;
        Ok(self.coupling.mount.objects.iter().map(|object| model.geom_name(object.geom)).collect())
    }

    /// Pose of the sensor, world_from_sensor, shape (4, 4).
    #[getter]
    fn pose<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        // SAFETY: the GIL is held, and this object keeps model and data alive.
        let (_, data) = unsafe { self.coupling.open(self.coupling.data) }.into_py_err()?;
        matrix(py, &self.coupling.mount.world_from_sensor(&data))
    }

    /// Reads the sensor in the state after mj_step or mj_forward.
    ///
    /// "sense": the time since the last reading is one step of the sensor. Reading again at the same time changes
    /// nothing.
    /// "contacts": the same, with the contact forces of MuJoCo.
    /// "couple": the sensor steps with MuJoCo; returns its reading in the last step.
    /// Issues the warnings of the skin since the start, each kind once.
    /// When time has gone back, as after a reset, the sensor starts untouched, unless "couple" has seen the same state in
    /// one of the last 64 steps. Raises dermis.Error if a pose is not finite now or was not finite in a step since the
    /// last reading (the simulation can continue), if a copy of the model was stepped in "couple", and if nothing but
    /// attachments refers to the data any more: it was replaced, as by MjSpec.recompile or a hard reset of robosuite.
    ///
    /// data: another mujoco.MjData of the model to read instead of the attached one.
    #[pyo3(signature = (data=None))]
    fn read(&self, py: Python<'_>, data: Option<&Bound<'_, PyAny>>) -> PyResult<Reading> {
        let coupling = &self.coupling;
        let address = match data {
            Some(data) => data_of(self.holder.model(py).bind(py), data)?,
            None => {
                self.holder.check(py)?;
                coupling.data
            }
        };
        let model = self.holder.model(py);
        let data = data.map_or_else(|| self.holder.data(py), |data| data.clone().unbind());
        // SAFETY: the GIL is held, and model and data are alive.
        let (view, view_data) = unsafe { coupling.open(address) }.into_py_err()?;
        let (has_poses, time_s, step_s) = (view_data.has_poses(), view_data.time_s(), view.step_s());
        let forward = || py.import("mujoco")?.call_method1("mj_forward", (&model, &data)).map(drop);
        if coupling.mode != Mode::Couple {
            if !has_poses {
                forward()?;
            }
            let data = coupling.sense(py, address)?;
            warn(py, coupling.new_warnings(address))?;
            return Ok(Reading { data });
        }
        let pending = || lock(&coupling.error).take().map_or(Ok(()), |message| Err(Error::new_err(message)));
        pending()?;
        let history = coupling.histories.of(address);
        let (known, last_s) = {
            let progress = lock(&history);
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
        let data = lock(&history).reading.clone();
        let data =
            data.ok_or_else(|| Error::new_err("MuJoCo computes no passive forces: they are disabled in the model"))?;
        warn(py, coupling.new_warnings(address))?;
        Ok(Reading { data })
    }

    /// Resets the sensor to its untouched state, in all mjData.
    fn reset(&self) {
        self.coupling.reset();
    }

    /// Ends the attachment. In mode "couple", MuJoCo computes the contacts again.
    fn detach(&self) {
        lock(&self.active).take();
    }

    #[classmethod]
    #[allow(clippy::too_many_arguments)] // the tuple of pickle
    fn _restore(
        _class: &Bound<'_, PyType>,
        model: &Bound<'_, PyAny>,
        data: &Bound<'_, PyAny>,
        sensor: PyRef<'_, Sensor>,
        frame: (&str, usize),
        objects: Vec<usize>,
        words: (&str, &str, bool),
        saved: &[u8],
        reading: Option<PyRef<'_, Reading>>,
    ) -> PyResult<Self> {
        let saved: Saved = serde_json::from_slice(saved).map_err(|error| Error::new_err(error.to_string()))?;
        let unknown = || Error::new_err("the pickle is of another version of dermis");
        let (mode, coupling, is_attached) = words;
        let placement = Placement {
            frame: FrameId::new(frame.0, frame.1).ok_or_else(unknown)?,
            frame_from_sensor: saved.frame_from_sensor,
            objects: Some(objects),
            mode: Mode::parse(mode).ok_or_else(unknown)?,
            instant: Instant::parse(coupling).ok_or_else(unknown)?,
        };
        if let Some(original) = &saved.original_bits {
            // SAFETY: the caller keeps the model alive; the GIL is held.
            unsafe { contact_filter::restore_copy(&open_model(address(model, "MjModel")?).into_py_err()?, original) };
        }
        let made = Self::place(model, data, sensor.shared.clone(), placement)?;
        let reading = reading.map(|reading| reading.data.clone());
        made.coupling.histories.restore(made.coupling.data, Progress::restored(saved.progress, reading));
        if !is_attached {
            made.detach();
        }
        Ok(made)
    }

    /// Copies and pickles contain the model and the data, so those of an environment stay together with its attachments.
    #[allow(clippy::type_complexity)] // the tuple of pickle
    fn __reduce__<'py>(
        this: &Bound<'py, Self>,
    ) -> PyResult<(
        Bound<'py, PyAny>,
        (
            Py<PyAny>,
            Py<PyAny>,
            Sensor,
            (&'static str, usize),
            Vec<usize>,
            (&'static str, &'static str, bool),
            Bound<'py, PyBytes>,
            Option<Reading>,
        ),
    )> {
        let (py, attachment) = (this.py(), this.get());
        let coupling = &attachment.coupling;
        // SAFETY: the GIL is held, and this object keeps model and data alive.
        let (model, _) = unsafe { coupling.open(coupling.data) }.into_py_err()?;
        let history = coupling.histories.of(coupling.data);
        let progress = lock(&history);
        let saved = Saved {
            frame_from_sensor: coupling.mount.frame_from_sensor(),
            original_bits: contact_filter::all_original_bits(&model),
            progress: progress.saved(),
        };
        let saved = serde_json::to_vec(&saved).map_err(|error| Error::new_err(error.to_string()))?;
        let is_attached = coupling.mode != Mode::Couple || lock(&attachment.active).is_some();
        let arguments = (
            attachment.holder.model(py),
            attachment.holder.data(py),
            Sensor::of_shared(coupling.sensor.clone())?,
            coupling.mount.frame().kind_and_index(),
            coupling.mount.objects.iter().map(|object| object.geom).collect(),
            (coupling.mode.name(), coupling.instant.name(), is_attached),
            PyBytes::new(py, &saved),
            progress.reading.clone().map(|data| Reading { data }),
        );
        Ok((this.get_type().getattr("_restore")?, arguments))
    }
}
