//! Sensors attached to a MuJoCo simulation: `dermis.mujoco.Attachment`.
#![allow(unsafe_code, reason = "mjModel and mjData are read at their addresses")]

mod coupling;
mod elements;
mod in_use;
mod layouts;
mod progress;

pub use layouts::{mujoco_layout, mujoco_layouts, set_mujoco_layout};

use crate::error::{Error, IntoPyErr};
use crate::mujoco::coupling::{Coupling, open_model};
use crate::mujoco::elements::{address, belongs_to, data_of, frame, geoms, is_made_with};
use crate::mujoco::in_use::Holder;
use crate::mujoco::progress::{Histories, Progress, SavedProgress, lock};
use crate::pose::{matrix, pose_or_identity};
use crate::reading::Reading;
use crate::sensor::{Sensor, at_rest};
use crate::shared_sensor::SharedSensor;
use crate::touch::{warn, warn_text};
use dermis::geometry::Pose;
use dermis_mujoco_coupling::contact_filter::{self, Bits, DisabledContacts};
use dermis_mujoco_coupling::passive::Registration;
use dermis_mujoco_coupling::{Coupling as Instant, FrameId, Mode, Mount};
use numpy::PyArrayDyn;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyType};
use serde::{Deserialize, Serialize};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

/// A sensor attached to a MuJoCo simulation, made by ``dermis.mujoco.attach``.
#[pyclass(frozen, module = "dermis.mujoco")]
pub struct Attachment {
    /// Dropped before `model` and `data`, which it refers to.
    active: Mutex<Option<Active>>,
    coupling: Arc<Coupling>,
    holder: Holder,
    /// True after `detach`.
    detached: AtomicBool,
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

/// True if a mujoco.MjModel, or the one of which it is a copy, has a sensor in mode "couple": its contact is then disabled where the
/// skin computes it.
#[pyfunction]
pub fn has_coupled_skins(model: &Bound<'_, PyAny>) -> PyResult<bool> {
    // SAFETY: the caller keeps the model alive; the GIL is held.
    let view = unsafe { open_model(address(model, "MjModel")?) }.into_py_err()?;
    Ok(contact_filter::all_original_bits(&view).is_some() || contact_filter::original_of_copy(&view).is_some())
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
        if let Some(warning) = mount.without_engine_contact(&view).filter(|_| mode == Mode::Contacts) {
            warn_text(model.py(), warning)?;
        }
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
            told_chatter: AtomicBool::new(false),
            told_disagreement: AtomicBool::new(false),
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
        Ok(Self {
            active: Mutex::new(active),
            coupling,
            holder: Holder::new(model, data),
            detached: AtomicBool::new(false),
        })
    }

    /// Refuses the use of an attachment that has ended.
    fn check_attached(&self) -> PyResult<()> {
        if self.detached.load(Ordering::Relaxed) {
            return Err(Error::new_err(
                "the attachment has ended, because `detach` was called; attach the sensor again",
            ));
        }
        Ok(())
    }

    /// The address of another mjData that is read, or the reason why this attachment has nothing to do with it.
    fn other_data(&self, py: Python<'_>, data: &Bound<'_, PyAny>) -> PyResult<usize> {
        let address = data_of(self.holder.model(py).bind(py), data)?;
        let coupling = &self.coupling;
        // Only steps of the attached model advance a coupled skin.
        let is_ours = match coupling.mode {
            Mode::Couple => coupling.histories.has(address) || is_made_with(data, coupling.model)?,
            Mode::Sense | Mode::Contacts => belongs_to(data, coupling.model)?,
        };
        if address != coupling.data && !is_ours {
            return Err(Error::new_err(
                "`data` was made with another MjModel, such as a copy of the one that the sensor is attached to, and was never stepped \
                 with that; attach a sensor to that model",
            ));
        }
        Ok(address)
    }
}

#[pymethods]
impl Attachment {
    #[new]
    #[pyo3(signature = (model, data, sensor, *, site=None, body=None, geom=None, pose=None, objects=None, mode="contacts", coupling="implicit"))]
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
        data_of(model, data)?;
        if !belongs_to(data, address(model, "MjModel")?)? {
            return Err(Error::new_err(
                "`data` was made with another MjModel than `model`: make it with mujoco.MjData(model), or attach to data.model",
            ));
        }
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
        self.check_attached()?;
        // SAFETY: the GIL is held, and this object keeps model and data alive.
        let (_, data) = unsafe { self.coupling.open(self.coupling.data) }.into_py_err()?;
        matrix(py, &self.coupling.mount.world_from_sensor(&data))
    }

    /// Reads the sensor in the state after mj_step or mj_forward.
    ///
    /// "sense": the time since the last reading is one step of the sensor. Reading again at the same time changes
    /// nothing. Warns once if an object rests on the skin and its force differs from MuJoCo's contact force by more than a
    /// factor of two.
    /// "contacts": the same, with the contact forces of MuJoCo.
    /// "couple": the sensor steps with MuJoCo; returns its reading in the last step.
    /// Issues the warnings of the skin since the start, each kind once.
    /// When time has gone back, as after a reset, the sensor starts untouched, unless "couple" has seen the same state in
    /// one of the last 64 steps. Raises dermis.Error if a pose is not finite now or was not finite in a step since the
    /// last reading (the simulation can continue), if a copy of the model was stepped in "couple", and if nothing but
    /// attachments refers to the data any more: it was replaced, as by MjSpec.recompile or a hard reset of robosuite.
    ///
    /// data: another mujoco.MjData of the model to read instead of the attached one. In "couple", reading a copy (``copy.copy``) when
    /// it is made keeps the history for it, however far the attached one goes meanwhile.
    /// Raises dermis.Error if it was made with another model, and after ``detach``.
    #[pyo3(signature = (data=None))]
    fn read(&self, py: Python<'_>, data: Option<&Bound<'_, PyAny>>) -> PyResult<Reading> {
        self.check_attached()?;
        let coupling = &self.coupling;
        let address = match data {
            Some(data) => self.other_data(py, data)?,
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
    fn reset(&self) -> PyResult<()> {
        self.check_attached()?;
        self.coupling.reset();
        Ok(())
    }

    /// Ends the attachment: `read`, `reset` and `pose` raise. In mode "couple", MuJoCo computes the contacts again.
    fn detach(&self) {
        self.detached.store(true, Ordering::Relaxed);
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
        let is_attached = !attachment.detached.load(Ordering::Relaxed);
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
