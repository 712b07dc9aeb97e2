//! A sensor coupled to the copies of an mjData.

use crate::error::{Error, IntoPyErr};
use crate::mujoco::progress::{Histories, Progress, lock};
use crate::reading::{ReadingData, ReadingValues};
use crate::sensor::{at_rest, is_quick};
use crate::shared_sensor::SharedSensor;
use crate::state::History;
use crate::threads::{detached, interruptible, panic_text};
use crate::touch::warn_text;
use dermis::geometry::Wrench;
use dermis::skin::{Motion, State, Touch, Warning};
use dermis_mujoco_coupling::passive::PassiveForce;
use dermis_mujoco_coupling::{
    CHATTERS, CoupledSensor, Coupling as Instant, CouplingError, Data, Kinematics, Lag, Library, Mode, Model, Mount,
    solve,
};
use pyo3::prelude::*;
use std::ffi::CString;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

/// A sensor on a model, with its history in each mjData.
pub(super) struct Coupling {
    pub model: usize,
    /// The attached mjData.
    pub data: usize,
    pub sensor: Arc<SharedSensor>,
    pub mode: Mode,
    pub instant: Instant,
    pub mount: Mount,
    pub histories: Histories,
    /// Message of the first error since the last reading, in mode "couple".
    pub error: Mutex<Option<String>>,
    /// True once the start in an unknown state was reported.
    pub told_unknown: AtomicBool,
    /// True once contact that chatters was reported, in mode "couple".
    pub told_chatter: AtomicBool,
    /// True once a disagreement with MuJoCo's contact was reported, in mode "sense".
    pub told_disagreement: AtomicBool,
}

fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}

impl Coupling {
    /// The model, and the data at an address.
    ///
    /// # Safety
    /// The Python objects are alive, and no other code accesses the data during the call: the GIL is held.
    pub unsafe fn open(&self, data: usize) -> Result<(Model<'static>, Data<'static>), CouplingError> {
        // SAFETY: the caller keeps the model alive.
        let model = unsafe { open_model(self.model)? };
        // SAFETY: `data` belongs to `model`, as the caller has checked.
        Ok((model, unsafe { Data::new(data as *mut _, model) }))
    }

    /// The warnings of the skin that were not issued before.
    pub fn new_warnings(&self, data: usize) -> Vec<Warning> {
        lock(&self.histories.of(data)).log.take_new()
    }

    pub fn reset(&self) {
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
    fn read(
        &self,
        mut touch: Touch,
        after: &mut History,
        kinematics: &Kinematics,
        dt_s: f64,
    ) -> Result<Arc<ReadingData>, String> {
        let sensor = self.sensor.sensor().map_err(text)?;
        let world_from_sensor = &kinematics.world_from_sensor;
        let (reading, response) = sensor.sense_at(&after.response, &touch, dt_s, world_from_sensor).map_err(text)?;
        touch.warnings.extend_from_slice(&reading.warnings);
        (after.response, after.frame) = (Arc::new(response), after.frame + 1);
        let numbers = ReadingValues { reading, frame: after.frame, travel_m: None, sensor_from_object: None };
        Ok(Arc::new(ReadingData::new(self.sensor.clone(), numbers, touch)))
    }

    /// Reads the sensor at the current time, in modes "sense" and "contacts". The time since the last reading is one step.
    pub fn sense(self: &Arc<Self>, py: Python<'_>, data: usize) -> PyResult<Arc<ReadingData>> {
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
        if self.mount.sleeps(&data)
            && let Some(reading) = lock(&history).reading.clone()
        {
            return Ok(reading);
        }
        let kinematics = self.mount.kinematics(&model, &data).into_py_err()?;
        if self.mode == Mode::Sense {
            self.mount.ignored_edits(&model).iter().try_for_each(|text| warn_text(py, text))?;
        }
        let carried = match self.mode {
            Mode::Contacts => {
                let held = &mut lock(&history).held;
                Some(self.mount.carry(&model, &data, self.sensor.sensor()?, held).into_py_err()?)
            }
            Mode::Sense | Mode::Couple => None,
        };
        let coupling = Arc::clone(self);
        let step = move || {
            let (touch, mut after) = match carried {
                Some(touch) => (touch, before),
                None => coupling.touch(&before, &kinematics, dt_s)?,
            };
            Ok((coupling.read(touch, &mut after, &kinematics, dt_s)?, after, kinematics))
        };
        let done = if is_quick(self.sensor.sensor()?) { detached(py, step)? } else { interruptible(py, step)? };
        let (reading, after, kinematics) = done.map_err(Error::new_err::<String>)?;
        let mut progress = lock(&history);
        progress.log.add(&reading.touch, time_s);
        (progress.after, progress.reading) = (after, Some(reading.clone()));
        drop(progress);
        if self.mode == Mode::Sense
            && !self.told_disagreement.load(Ordering::Relaxed)
            && let Some(found) =
                self.mount.disagreement(&model, &data, &kinematics, self.sensor.sensor()?, &reading.touch)
        {
            self.told_disagreement.store(true, Ordering::Relaxed);
            warn_text(py, &found.to_string())?;
        }
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
            // The forces of constraints after a step are those of its last stage.
            progress.forces = forces.to_vec();
            return Ok(());
        }
        if self.mount.sleeps(data) && progress.reading.is_some() {
            progress.after = progress.before.clone();
            return Ok(());
        }
        let chatters = progress.chatter.add(touch.on_objects.iter().any(|load| *load != Wrench::ZERO));
        let targets = self.mount.targets(kinematics);
        let (sensor, motion) = (self.sensor.sensor().map_err(text)?, Motion { targets: &targets });
        let frame = progress.before.frame;
        progress.missed.add_warnings(&mut touch, sensor.skin(), &motion, frame);
        let mut after = History { skin, ..progress.before.clone() };
        let reading = self.read(touch, &mut after, kinematics, model.step_s())?;
        progress.log.add(&reading.touch, time_s);
        let unknown_s = progress.unknown_start_s.take().filter(|_| !reading.touch.facets.is_empty());
        (progress.after, progress.reading, progress.forces) = (after, Some(reading), forces.to_vec());
        drop(progress);
        if chatters && !self.told_chatter.swap(true, Ordering::Relaxed) {
            issue(CHATTERS);
        }
        if let Some(time_s) = unknown_s.filter(|_| !self.told_unknown.swap(true, Ordering::Relaxed)) {
            issue(&format!(
                "an mjData starts at {time_s} s in a state that the attached mjData has not been in recently: its skin starts untouched, \
                 without the bristle deflection of earlier contact; `read` of the copy when it is made keeps the history for it"
            ));
        }
        Ok(())
    }

    /// The poses and velocities, in mode "couple". Tells changes of the model that have no effect.
    fn kinematics(&self, model: &Model<'_>, data: &Data<'_>) -> Result<Kinematics, String> {
        self.mount.ignored_edits(model).iter().for_each(|text| issue(text));
        self.mount.kinematics(model, data).map_err(text)
    }

    /// Adds the forces at the start of the step.
    fn push(&self, model: &Model<'_>, data: &mut Data<'_>) -> Result<(), String> {
        let before = self.histories.begin(model, data);
        let kinematics = self.kinematics(model, data)?;
        let (touch, after) = self.touch(&before, &kinematics, model.step_s())?;
        self.mount.apply(data, &kinematics, &touch);
        self.finish(model, data, &kinematics, (touch, after.skin), &[])
    }

    /// The contact with the objects at rest.
    fn still(&self, model: &Model<'_>, data: &Data<'_>) -> Result<(Kinematics, (Touch, State)), String> {
        let before = self.histories.begin(model, data);
        let kinematics = self.kinematics(model, data)?;
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
pub(super) unsafe fn open_model(address: usize) -> Result<Model<'static>, CouplingError> {
    let library = Library::here().ok_or(CouplingError::NotLoaded)?;
    // SAFETY: the caller guarantees the address; the layout is that of the loaded version.
    Ok(unsafe { Model::new(address as *const _, library.layout()?, library) })
}
