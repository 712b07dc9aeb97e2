//! What the device reports.

use crate::array::array;
use crate::device::Device;
use crate::error::{Error, IntoPyErr};
use crate::features::Features;
use crate::pose::{matrix, six};
use crate::threads::detached;
use crate::touch::Touch;
use dermis::geometry::Pose;
use dermis::sensor::optics::{CameraFrame, Relief};
use dermis::{camera_frame, sensor, skin};
use numpy::PyArrayDyn;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyType};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

/// What a sensor reports of one touch. Forces act on the sensor and are in its frame (N).
///
/// Before the response of the device, ``forces`` summed over all taxels plus ``outside`` is ``force``, always.
/// Images (``image``, ``depth``, ``normals``, ``markers``, ``flow``) are made when they are first asked for.
#[pyclass(frozen, module = "dermis")]
pub struct Reading {
    pub kept: Arc<Kept>,
}

/// What a reading holds.
pub struct Kept {
    pub device: Arc<Device>,
    pub numbers: Values,
    pub touch: Arc<skin::Touch>,
    pub camera_frame: OnceLock<CameraFrame>,
}

/// All but the touch.
#[derive(Clone, Serialize, Deserialize)]
pub struct Values {
    /// What the taxels report.
    pub reading: sensor::Reading,
    /// Number of the image.
    pub frame: u64,
    /// Travel of a press past first contact (m).
    pub travel_m: Option<f64>,
    /// Where a press left the object.
    pub sensor_from_object: Option<Pose>,
}

impl Kept {
    /// A reading that has not been looked at.
    pub fn new(device: Arc<Device>, numbers: Values, touch: skin::Touch) -> Self {
        Self { device, numbers, touch: Arc::new(touch), camera_frame: OnceLock::new() }
    }

    /// Shape of per-taxel arrays, with more axes behind.
    pub fn shape(&self, behind: &[usize]) -> Vec<usize> {
        let reading = &self.numbers.reading;
        let taxels = match reading.size {
            Some((rows, cols)) => vec![rows, cols],
            None => vec![reading.values_newton.len()],
        };
        [&taxels, behind].concat()
    }

    /// What the camera sees.
    pub fn look(&self) -> PyResult<&CameraFrame> {
        if let Some(camera_frame) = self.camera_frame.get() {
            return Ok(camera_frame);
        }
        let seen = self.device.sensor()?.render(&self.touch, self.numbers.frame).into_py_err()?;
        Ok(self.camera_frame.get_or_init(|| seen))
    }

    /// How far each pixel is pressed in (m).
    pub fn pressed_m(&self) -> PyResult<Vec<f32>> {
        let relief = &self.look()?.relief;
        let optics = self.device.sensor()?.optics();
        let rest = match (optics, &self.touch.surface) {
            (Some(optics), Some(surface)) if surface.rest_heights_m.is_some() => {
                Some(Relief::at_rest(surface, optics.camera()))
            }
            _ => None,
        };
        Ok(camera_frame::pressed_m(relief, rest.as_ref()))
    }
}

impl Reading {
    /// Wraps what was measured.
    pub fn new(kept: Kept) -> Self {
        Self { kept: Arc::new(kept) }
    }

    fn reading(&self) -> &sensor::Reading {
        &self.kept.numbers.reading
    }

    /// What the camera sees, made without holding the interpreter.
    fn seen(&self, py: Python<'_>) -> PyResult<&CameraFrame> {
        match self.kept.camera_frame.get() {
            Some(camera_frame) => Ok(camera_frame),
            None => detached(py, || self.kept.look())?,
        }
    }
}

#[pymethods]
impl Reading {
    /// Force on each taxel along its normal (N), positive in compression, before the device's response: shape (rows, cols), row 0
    /// at +y, or (taxels,) where they form no grid.
    #[getter]
    fn taxels<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        array(py, &self.kept.shape(&[]), &self.reading().values_newton)
    }

    /// What the device says the force on each taxel is (N), after its response; shaped like ``taxels``.
    #[getter]
    fn reported<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        array(py, &self.kept.shape(&[]), &self.reading().reported_newton)
    }

    /// The device's own numbers, counts after its response; shaped like ``taxels``.
    #[getter]
    fn raw<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDyn<u32>>> {
        array(py, &self.kept.shape(&[]), &self.reading().raw)
    }

    /// Force vector on each taxel (N); shaped like ``taxels`` with an axis of 3 behind: x, y, z of the sensor.
    #[getter]
    fn forces<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        let values: Vec<f64> = self.reading().forces_newton.iter().flat_map(|force| force.to_array()).collect();
        array(py, &self.kept.shape(&[3]), &values)
    }

    /// Pressure of each taxel as rays see it (Pa), shaped like ``taxels``; None unless the sensor reads so.
    #[getter]
    fn pressures<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyArrayDyn<f64>>>> {
        self.reading().pressures_pa.as_ref().map(|values| array(py, &self.kept.shape(&[]), values)).transpose()
    }

    /// Force on the sensor (N), shape (3,).
    #[getter]
    fn force<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        array(py, &[3], &self.reading().net_force_newton().to_array())
    }

    /// Force (N) and torque (N m) on the sensor, about its origin, shape (6,).
    #[getter]
    fn wrench<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        array(py, &[6], &six(&self.kept.touch.on_sensor))
    }

    /// Force that entered the skin where there is no taxel (N), shape (3,).
    #[getter]
    fn outside<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        array(py, &[3], &self.reading().outside_newton.to_array())
    }

    /// Sum of ``taxels`` (N).
    #[getter]
    fn sum(&self) -> f64 {
        self.reading().sum_newton
    }

    /// How many taxels are pressed.
    #[getter]
    fn lit(&self) -> usize {
        self.reading().lit()
    }

    /// How many contacts are pressed beyond what the skin can show.
    #[getter]
    fn saturated(&self) -> usize {
        self.reading().saturated
    }

    /// What the skin feels: loads on both sides, facets, surface.
    #[getter]
    fn touch(&self) -> Touch {
        Touch { touch: self.kept.touch.clone() }
    }

    /// Name of the sensor.
    #[getter]
    fn sensor(&self) -> String {
        self.kept.device.spec().name.clone()
    }

    /// Where a press left the object: sensor_from_object, shape (4, 4); None after a step.
    #[getter]
    fn pose<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyArrayDyn<f64>>>> {
        self.kept.numbers.sensor_from_object.as_ref().map(|pose| matrix(py, pose)).transpose()
    }

    /// How far a press went past first contact (m); None after a step.
    #[getter]
    fn travel(&self) -> Option<f64> {
        self.kept.numbers.travel_m
    }

    /// Middle of each taxel in the sensor's frame (m); shaped like ``taxels`` with an axis of 3 behind.
    #[getter]
    fn centers<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        let centers = self.kept.device.sensor()?.taxels().centers();
        let values: Vec<f64> = centers.iter().flat_map(|center| center.to_array()).collect();
        array(py, &self.kept.shape(&[3]), &values)
    }

    /// What the camera sees: RGB of 0–255, uint8, shape (height, width, 3). Raises dermis.Error on a sensor without a camera.
    #[getter]
    fn image<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDyn<u8>>> {
        let image = &self.seen(py)?.image;
        array(py, &[image.height, image.width, 3], image.to_rgb8().pixels().as_flattened())
    }

    /// How far the gel is pressed in at each pixel (m), positive inwards, float32, shape (height, width).
    #[getter]
    fn depth<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDyn<f32>>> {
        let pressed = detached(py, || self.kept.pressed_m())??;
        let relief = &self.seen(py)?.relief;
        array(py, &[relief.height, relief.width], &pressed)
    }

    /// Unit normals of the seen surface: right, up, towards the camera; float32, shape (height, width, 3).
    #[getter]
    fn normals<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDyn<f32>>> {
        let relief = &self.seen(py)?.relief;
        array(py, &[relief.height, relief.width, 3], relief.normals().as_flattened())
    }

    /// For each marker where it was before the touch and is now: column, row, column, row (pixels), shape (markers, 4). No rows
    /// on a gel without markers.
    #[getter]
    fn markers<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        let markers = &self.seen(py)?.markers;
        array(py, &[markers.len(), 4], markers.as_flattened())
    }

    /// How far what each pixel saw before the touch has moved in the image: right and down (pixels), float32,
    /// shape (height, width, 2).
    #[getter]
    fn flow<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDyn<f32>>> {
        let relief = &self.seen(py)?.relief;
        let sensor = self.kept.device.sensor()?;
        let (Some(optics), Some(surface)) = (sensor.optics(), self.kept.touch.surface.as_ref()) else {
            return Err(Error::new_err("this sensor has no camera"));
        };
        let [right, down] = detached(py, || optics.flow(surface))?;
        let both: Vec<f32> = right.iter().zip(&down).flat_map(|(&right, &down)| [right, down]).collect();
        array(py, &[relief.height, relief.width, 2], &both)
    }

    /// Moments of the tactile image; None when no taxel feels more than ``least`` (N).
    #[pyo3(signature = (*, least=0.0))]
    fn features(&self, least: f64) -> PyResult<Option<Features>> {
        let taxels = self.kept.device.sensor()?.taxels();
        let places: Vec<_> = taxels.centers().iter().map(|center| center.truncate()).collect();
        let found = sensor::features::Features::of(&self.reading().values_newton, &places, taxels.areas_m2(), least);
        Ok(found.map(|features| Features { features }))
    }

    /// Draws the reading with matplotlib and returns the figure: the tactile image, and what the camera sees where there is one.
    ///
    /// path: also saves the figure there. block: waits until its window is closed, where there is a screen.
    #[pyo3(signature = (*, path=None, block=false))]
    fn show<'py>(this: &Bound<'py, Self>, path: Option<PathBuf>, block: bool) -> PyResult<Bound<'py, PyAny>> {
        this.py().import("dermis._show")?.call_method1("show", (this, path, block))
    }

    fn __repr__(&self) -> String {
        let (reading, name) = (self.reading(), &self.kept.device.spec().name);
        let (lit, all) = (reading.lit(), reading.values_newton.len());
        let force = reading.net_force_newton();
        let (x, y, z) = (force.x, force.y, force.z);
        format!("<dermis.Reading of {name:?}: ({x:.4}, {y:.4}, {z:.4}) N, {lit} of {all} taxels lit>")
    }

    fn __copy__(this: Py<Self>) -> Py<Self> {
        this
    }

    fn __deepcopy__(this: Py<Self>, _memo: &Bound<'_, PyAny>) -> Py<Self> {
        this
    }

    #[classmethod]
    fn _restore(
        _class: &Bound<'_, PyType>,
        toml: &str,
        folder: Option<PathBuf>,
        numbers: &[u8],
        touch: PyRef<'_, Touch>,
    ) -> PyResult<Self> {
        let device = Arc::new(Device::restore(toml, folder).into_py_err()?);
        let numbers = serde_json::from_slice(numbers).map_err(|error| Error::new_err(error.to_string()))?;
        let kept = Kept { device, numbers, touch: touch.touch.clone(), camera_frame: OnceLock::new() };
        Ok(Self::new(kept))
    }

    #[allow(clippy::type_complexity)] // the tuple that pickle asks for
    fn __reduce__<'py>(
        this: &Bound<'py, Self>,
    ) -> PyResult<(Bound<'py, PyAny>, (String, Option<PathBuf>, Bound<'py, PyBytes>, Touch))> {
        let kept = &this.get().kept;
        let numbers = serde_json::to_vec(&kept.numbers).map_err(|error| Error::new_err(error.to_string()))?;
        let (toml, folder) = kept.device.saved();
        let touch = Touch { touch: kept.touch.clone() };
        Ok((this.get_type().getattr("_restore")?, (toml, folder, PyBytes::new(this.py(), &numbers), touch)))
    }
}
