//! Readings of a sensor.

use crate::array::{Precision, array, moved};
use crate::error::{Error, IntoPyErr, absent, image_error};
use crate::features::Features;
use crate::pose::{matrix, six};
use crate::shared_sensor::SharedSensor;
use crate::threads::interruptible;
use crate::touch::{Touch, warn_text};
use dermis::geometry::Pose;
use dermis::sensor::optics::{CameraFrame, Optics, Relief};
use dermis::skin::SurfaceField;
use dermis::{camera_frame, sensor, skin};
use numpy::{Element, PyArrayDyn};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyType};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

/// One reading of a sensor. Forces act on the sensor and are in its frame (N).
///
/// Before the response, the sum of ``forces`` over all taxels plus ``outside`` equals ``force``.
/// Images (``image``, ``depth``, ``normals``, ``markers``, ``flow``) are rendered on first access.
///
/// What a sensor does not have raises AttributeError with the reason, so that ``hasattr(reading, "image")`` is False without a
/// camera; so it is with ``markers``, ``magnetic``, ``pressures``, and ``surface``, ``base`` and ``cell`` of ``touch``. What
/// only this reading does not have, such as the ``travel`` of a step, is None.
#[pyclass(frozen, module = "dermis")]
pub struct Reading {
    pub data: Arc<ReadingData>,
}

/// The data of a reading.
pub struct ReadingData {
    pub shared: Arc<SharedSensor>,
    pub values: Arc<ReadingValues>,
    pub touch: Arc<skin::Touch>,
    /// Element type of the arrays of forces.
    pub precision: Precision,
    camera_frame: OnceLock<CameraFrame>,
}

/// The values of a reading.
#[derive(Clone, Serialize, Deserialize)]
pub struct ReadingValues {
    /// The taxels.
    pub reading: sensor::Reading,
    /// Number of the camera frame.
    pub frame: u64,
    /// Travel of a press past first contact (m).
    pub travel_m: Option<f64>,
    /// Pose of the object after a press.
    pub sensor_from_object: Option<Pose>,
}

impl ReadingData {
    /// A reading whose image has not been rendered yet.
    pub fn new(
        shared: Arc<SharedSensor>,
        values: impl Into<Arc<ReadingValues>>,
        touch: impl Into<Arc<skin::Touch>>,
    ) -> Self {
        let (values, touch) = (values.into(), touch.into());
        Self { shared, values, touch, precision: Precision::Double, camera_frame: OnceLock::new() }
    }

    /// The same reading with another element type of its arrays.
    pub fn with_precision(self, precision: Precision) -> Self {
        Self { precision, ..self }
    }

    /// Shape of per-taxel arrays, with trailing axes `behind`.
    pub fn shape(&self, behind: &[usize]) -> Vec<usize> {
        let reading = &self.values.reading;
        let taxels = match reading.size {
            Some((rows, cols)) => vec![rows, cols],
            None => vec![reading.values_newton.len()],
        };
        [&taxels, behind].concat()
    }

    /// The camera frame, rendered on first use.
    pub fn render(&self) -> PyResult<&CameraFrame> {
        if let Some(camera_frame) = self.camera_frame.get() {
            return Ok(camera_frame);
        }
        let frame = self.shared.sensor()?.render(&self.touch, self.values.frame);
        let frame = frame.map_err(|error| image_error(&error))?;
        Ok(self.camera_frame.get_or_init(|| frame))
    }

    /// Camera and deformed surface, or the reason why there is no image.
    fn seen(&self) -> PyResult<(&Optics, Cow<'_, SurfaceField>)> {
        self.shared.sensor()?.camera_view(&self.touch).map_err(|error| image_error(&error))
    }

    /// Height and slope at each pixel: those of the camera frame if it was rendered.
    fn relief(&self) -> PyResult<Cow<'_, Relief>> {
        if let Some(frame) = self.camera_frame.get() {
            return Ok(Cow::Borrowed(&frame.relief));
        }
        let (optics, surface) = self.seen()?;
        Ok(Cow::Owned(Relief::of(&surface, optics.camera())))
    }

    /// Image, red, green and blue.
    pub fn rgb(&self) -> PyResult<Vec<u8>> {
        Ok(self.render()?.image.to_rgb8().into_pixels().into_flattened())
    }

    /// Levels of the image before rounding, red, green and blue.
    pub fn levels(&self) -> PyResult<Vec<f32>> {
        let [red, green, blue] = &self.render()?.image.channels;
        Ok(red.iter().zip(green).zip(blue).flat_map(|((&red, &green), &blue)| [red, green, blue]).collect())
    }

    /// The warning about a surface steeper than the presses that the light was fitted to.
    pub fn light_warning(&self) -> Option<String> {
        let relief = self.relief().ok()?;
        self.seen().ok()?.0.warning(&relief)
    }

    /// Indentation at each pixel (m).
    pub fn pressed_m(&self) -> PyResult<Vec<f32>> {
        let (optics, surface) = self.seen()?;
        let rest = surface.rest_heights_m.as_ref().map(|_| Relief::at_rest(&surface, optics.camera()));
        let relief = self.relief()?;
        Ok(camera_frame::pressed_m(&relief, rest.as_ref()))
    }

    /// Normal at each pixel: right, up, towards the camera.
    pub fn normals(&self) -> PyResult<Vec<f32>> {
        Ok(self.relief()?.normals().into_flattened())
    }

    /// Column and row of each marker before and after the contact (pixels).
    pub fn markers(&self) -> PyResult<Vec<f64>> {
        let (optics, surface) = self.seen()?;
        let markers = optics.markers().ok_or_else(|| without_markers(&self.shared.spec().name))?;
        Ok(markers.track(&surface, optics.camera()).into_flattened())
    }

    /// Optical flow at each pixel: right and down (pixels).
    pub fn flow(&self) -> PyResult<Vec<f32>> {
        let (optics, surface) = self.seen()?;
        let [right, down] = optics.flow(&surface);
        Ok(right.iter().zip(&down).flat_map(|(&right, &down)| [right, down]).collect())
    }

    /// Height and width of the camera's image.
    pub fn image_size(&self) -> PyResult<[usize; 2]> {
        let camera = self.seen()?.0.camera();
        Ok([camera.height, camera.width])
    }
}

/// The exception for the markers of a gel without any.
pub fn without_markers(name: &str) -> PyErr {
    absent(format!(
        "the gel of sensor {name:?} has no markers: add a [markers] table to its description, or take gelsight-dots or finger-gel"
    ))
}

impl Reading {
    /// Wraps the data of a reading.
    pub fn new(data: ReadingData) -> Self {
        Self { data: Arc::new(data) }
    }

    fn reading(&self) -> &sensor::Reading {
        &self.data.values.reading
    }

    /// Renders the camera frame, if that was not done before.
    fn look(&self, py: Python<'_>) -> PyResult<()> {
        if self.data.camera_frame.get().is_some() {
            return Ok(());
        }
        let data = self.data.clone();
        interruptible(py, move || data.render().map(drop))?
    }

    /// Computes an image with the GIL released; its memory becomes the array.
    fn image_array<'py, T: Element + Send + 'static>(
        &self,
        py: Python<'py>,
        behind: &[usize],
        values: fn(&ReadingData) -> PyResult<Vec<T>>,
    ) -> PyResult<Bound<'py, PyArrayDyn<T>>> {
        self.look(py)?;
        let data = self.data.clone();
        let values = interruptible(py, move || values(&data))??;
        moved(py, &[&self.data.image_size()?[..], behind].concat(), values)
    }

    /// An array of real numbers in the precision of the reading.
    fn real<'py>(
        &self,
        py: Python<'py>,
        shape: &[usize],
        values: impl IntoIterator<Item = f64>,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.data.precision.array(py, shape, values.into_iter())
    }
}

#[pymethods]
impl Reading {
    /// Normal force on each taxel (N), positive in compression, before the response: shape (rows, cols), row 0 at +y,
    /// or (taxels,) for taxels without a grid.
    #[getter]
    fn taxels<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.real(py, &self.data.shape(&[]), self.reading().values_newton.iter().copied())
    }

    /// Force that the sensor reports for each taxel (N), after its response; shape of ``taxels``.
    #[getter]
    fn reported<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.real(py, &self.data.shape(&[]), self.reading().reported_newton.iter().copied())
    }

    /// Raw counts of each taxel, after its response; shape of ``taxels``.
    #[getter]
    fn raw<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDyn<u32>>> {
        array(py, &self.data.shape(&[]), &self.reading().raw)
    }

    /// Force vector on each taxel (N); shape of ``taxels`` with a last axis of 3: x, y, z of the sensor frame.
    #[getter]
    fn forces<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.real(py, &self.data.shape(&[3]), self.reading().forces_newton.iter().flat_map(|force| force.to_array()))
    }

    /// Pressure of each taxel from sampled rays (Pa), shape of ``taxels``; of a sensor with ``reading.kind = "rays"``.
    #[getter]
    fn pressures<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let name = &self.data.shared.spec().name;
        let why =
            || format!("sensor {name:?} samples no pressures: its description would need reading.kind = \"rays\"");
        let pressures = self.reading().pressures_pa.as_ref().ok_or_else(|| absent(why()))?;
        self.real(py, &self.data.shape(&[]), pressures.iter().copied())
    }

    /// Flux density at each magnetometer (µT) in the frame of the chip, shape (chips, 3); of a sensor with magnets.
    #[getter]
    fn magnetic<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let magnetics = self.data.shared.sensor()?.magnetics();
        let read = || magnetics.map(|magnetics| magnetics.read(&self.data.touch, &Pose::IDENTITY).tesla);
        let name = &self.data.shared.spec().name;
        let why = || {
            format!(
                "sensor {name:?} has no magnetometers: add [magnets] and [magnetometers] to the description of a layer, or take reskin, anyskin, uskin-4x4 or eflesh"
            )
        };
        let field = self.reading().magnetic_tesla.clone().or_else(read).ok_or_else(|| absent(why()))?;
        let values = field.iter().flat_map(|b| (*b * 1e6).to_array());
        self.real(py, &[field.len(), 3], values)
    }

    /// Force on the sensor (N), shape (3,).
    #[getter]
    fn force<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.real(py, &[3], self.reading().net_force_newton().to_array())
    }

    /// Force (N) and torque (N m) on the sensor, about its origin, shape (6,).
    #[getter]
    fn wrench<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.real(py, &[6], six(&self.data.touch.on_sensor))
    }

    /// Force on the skin outside all taxels (N), shape (3,).
    #[getter]
    fn outside<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.real(py, &[3], self.reading().outside_newton.to_array())
    }

    /// Sum of ``taxels`` (N).
    #[getter]
    fn sum(&self) -> f64 {
        self.reading().sum_newton
    }

    /// Number of taxels with at least 1 % of the largest load.
    #[getter]
    fn active(&self) -> usize {
        self.reading().active()
    }

    /// Number of contact facets beyond the range of the skin.
    #[getter]
    fn saturated(&self) -> usize {
        self.reading().saturated
    }

    /// The contact that the reading was computed from: loads, facets, surface.
    #[getter]
    fn touch(&self) -> Touch {
        Touch { touch: self.data.touch.clone() }
    }

    /// Name of the sensor.
    #[getter]
    fn sensor(&self) -> String {
        self.data.shared.spec().name.clone()
    }

    /// Pose of the object after a press, sensor_from_object, shape (4, 4); None after a step.
    #[getter]
    fn pose<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyArrayDyn<f64>>>> {
        self.data.values.sensor_from_object.as_ref().map(|pose| matrix(py, pose)).transpose()
    }

    /// Travel of a press past first contact (m); None after a step.
    #[getter]
    fn travel(&self) -> Option<f64> {
        self.data.values.travel_m
    }

    /// Center of each taxel in the sensor frame (m); shape of ``taxels`` with a last axis of 3.
    #[getter]
    fn centers<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        let centers = self.data.shared.sensor()?.taxels().centers();
        let values: Vec<f64> = centers.iter().flat_map(|center| center.to_array()).collect();
        array(py, &self.data.shape(&[3]), &values)
    }

    /// Camera image, RGB, uint8, shape (height, width, 3). Issues the warning about a surface steeper than the presses
    /// that the light was fitted to.
    #[getter]
    fn image<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDyn<u8>>> {
        let image = self.image_array(py, &[3], ReadingData::rgb)?;
        self.data.light_warning().map_or(Ok(()), |warning| warn_text(py, &warning))?;
        Ok(image)
    }

    /// Indentation of the gel at each pixel (m), positive inwards, float32, shape (height, width).
    #[getter]
    fn depth<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDyn<f32>>> {
        self.image_array(py, &[], ReadingData::pressed_m)
    }

    /// Unit normals of the visible surface: right, up, towards the camera; float32, shape (height, width, 3).
    #[getter]
    fn normals<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDyn<f32>>> {
        self.image_array(py, &[3], ReadingData::normals)
    }

    /// Column and row of each marker before and after the contact (pixels), shape (markers, 4); of a gel with markers.
    #[getter]
    fn markers<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        self.look(py)?;
        let markers = self.data.markers()?;
        moved(py, &[markers.len() / 4, 4], markers)
    }

    /// Optical flow from the untouched to the current image: right and down (pixels), float32, shape
    /// (height, width, 2).
    #[getter]
    fn flow<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDyn<f32>>> {
        self.image_array(py, &[2], ReadingData::flow)
    }

    /// Image moments of the taxel forces; None if no taxel is above ``threshold`` (N).
    #[pyo3(signature = (*, threshold=0.0))]
    fn features(&self, threshold: f64) -> PyResult<Option<Features>> {
        let taxels = self.data.shared.sensor()?.taxels();
        let centers: Vec<_> = taxels.centers().iter().map(|center| center.truncate()).collect();
        let found =
            sensor::features::Features::of(&self.reading().values_newton, &centers, taxels.areas_m2(), threshold);
        Ok(found.map(|features| Features { features }))
    }

    /// Plots the taxels, and the camera image if there is one, with matplotlib and returns the figure.
    ///
    /// path: file to save the figure to. block: waits until the window is closed.
    #[pyo3(signature = (*, path=None, block=false))]
    fn show<'py>(this: &Bound<'py, Self>, path: Option<PathBuf>, block: bool) -> PyResult<Bound<'py, PyAny>> {
        this.py().import("dermis._show")?.call_method1("show", (this, path, block))
    }

    fn __repr__(&self) -> String {
        let (reading, name) = (self.reading(), &self.data.shared.spec().name);
        let (active, all) = (reading.active(), reading.values_newton.len());
        let force = reading.net_force_newton();
        let (x, y, z) = (force.x, force.y, force.z);
        format!("<dermis.Reading of {name:?}: ({x:.4}, {y:.4}, {z:.4}) N, {active} of {all} taxels active>")
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
        values: &[u8],
        touch: PyRef<'_, Touch>,
        dtype: &Bound<'_, PyAny>,
    ) -> PyResult<Self> {
        let shared = Arc::new(SharedSensor::restore(toml, folder).into_py_err()?);
        let values: ReadingValues =
            serde_json::from_slice(values).map_err(|error| Error::new_err(error.to_string()))?;
        let data = ReadingData::new(shared, values, touch.touch.clone());
        Ok(Self::new(data.with_precision(Precision::read(Some(dtype))?)))
    }

    #[allow(clippy::type_complexity)] // the tuple of pickle
    fn __reduce__<'py>(
        this: &Bound<'py, Self>,
    ) -> PyResult<(Bound<'py, PyAny>, (String, Option<PathBuf>, Bound<'py, PyBytes>, Touch, &'static str))> {
        let data = &this.get().data;
        let values = serde_json::to_vec(&*data.values).map_err(|error| Error::new_err(error.to_string()))?;
        let (toml, folder) = data.shared.saved();
        let touch = Touch { touch: data.touch.clone() };
        let saved = (toml, folder, PyBytes::new(this.py(), &values), touch, data.precision.name());
        Ok((this.get_type().getattr("_restore")?, saved))
    }
}
