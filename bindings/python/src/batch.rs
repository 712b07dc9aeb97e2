//! The readings of many presses.

pub mod presses;

use crate::array::{Precision, array, moved};
use crate::error::{Error, IntoPyErr, image_error};
use crate::pose::six;
use crate::reading::{Reading, ReadingData, ReadingValues, without_markers};
use crate::shared_sensor::SharedSensor;
use crate::threads::{Job, interruptible_job};
use crate::touch::{Touch, warn_text};
use dermis::sensor;
use dermis::skin::threads::parallel;
use dermis::skin::{self, Warning};
use numpy::{Element, PyArrayDyn};
use pyo3::exceptions::{PyIndexError, PyOverflowError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PySlice, PyType};
use rayon::prelude::*;
use std::path::PathBuf;
use std::sync::Arc;

/// The readings of many presses of one sensor: a sequence of ``Reading``, and their values as stacked arrays.
///
/// ``batch[3]`` is a reading and ``batch[10:20]`` a batch. Images are rendered on all cores at each access and not
/// kept. What the sensor does not have raises AttributeError with the reason. Batches can be pickled.
#[pyclass(frozen, sequence, module = "dermis")]
pub struct Batch {
    presses: Arc<Vec<Press>>,
    shared: Arc<SharedSensor>,
    precision: Precision,
}

/// One press: its values and the contact. Cheap to clone.
#[derive(Clone)]
pub struct Press {
    values: Arc<ReadingValues>,
    touch: Arc<skin::Touch>,
}

impl Press {
    /// The press of a reading, without its image.
    pub fn of(data: &ReadingData) -> Self {
        Self { values: data.values.clone(), touch: data.touch.clone() }
    }

    fn reading(&self) -> &sensor::Reading {
        &self.values.reading
    }
}

impl Batch {
    /// Makes a batch of presses.
    pub fn new(shared: Arc<SharedSensor>, presses: Vec<Press>, precision: Precision) -> Self {
        Self { presses: Arc::new(presses), shared, precision }
    }

    /// The warning about the press that misses its force by the largest part, with its index and the number of such presses.
    fn missed_force(&self) -> Option<String> {
        let each = |(i, press): (usize, &Press)| {
            let missed = press.touch.all_warnings().filter_map(|warning| match warning {
                Warning::ForceNotReached { wanted_n, got_n } => Some(((got_n / wanted_n - 1.0).abs(), warning)),
                _ => None,
            });
            missed.map(|(part, warning)| (i, part, warning)).next()
        };
        let missed: Vec<(usize, f64, Warning)> = self.presses.iter().enumerate().filter_map(each).collect();
        let (i, _, warning) = missed.iter().max_by(|a, b| a.1.total_cmp(&b.1))?;
        let of = self.presses.len();
        Some(match missed.len() {
            1 => format!("press [{i}] of {of}: {warning}"),
            several => format!("{several} of {of} presses miss their force, most of all press [{i}]: {warning}"),
        })
    }

    /// Shape of a per-taxel array of all readings; `behind` are its trailing axes.
    fn shape(&self, behind: &[usize]) -> PyResult<Vec<usize>> {
        let taxels = self.shared.sensor()?.taxels();
        let each = taxels.size().map_or_else(|| vec![taxels.len()], |(rows, cols)| vec![rows, cols]);
        Ok([&[self.presses.len()][..], &each, behind].concat())
    }

    /// All numbers of a list that every press has.
    fn flat(&self, list: fn(&Press) -> &Vec<f64>) -> impl Iterator<Item = f64> {
        self.presses.iter().flat_map(move |press| list(press).iter().copied())
    }

    /// N numbers of each reading, shape (n, N).
    fn rows<'py, const N: usize>(
        &self,
        py: Python<'py>,
        numbers: fn(&Press) -> [f64; N],
    ) -> PyResult<Bound<'py, PyAny>> {
        self.precision.array(py, &[self.presses.len(), N], self.presses.iter().flat_map(numbers))
    }

    /// The reading of a press; its image is not rendered yet.
    fn data(shared: &Arc<SharedSensor>, press: &Press, precision: Precision) -> ReadingData {
        ReadingData::new(shared.clone(), press.values.clone(), press.touch.clone()).with_precision(precision)
    }

    /// Computes images of all readings on all cores, without keeping them: their memory becomes the array. `each` has
    /// the axes of one. Issues the first `warning` about one.
    fn images<'py, T: Element + Copy + Default + Send + Sync + 'static>(
        &self,
        py: Python<'py>,
        each: Vec<usize>,
        values: fn(&ReadingData) -> PyResult<Vec<T>>,
        warning: fn(&ReadingData) -> Option<String>,
    ) -> PyResult<Bound<'py, PyArrayDyn<T>>> {
        let (presses, shared, precision) = (self.presses.clone(), self.shared.clone(), self.precision);
        let (count, size) = (presses.len(), each.iter().product::<usize>());
        let work = move |job: &Job| {
            let mut all = vec![T::default(); count * size];
            let one = |(image, press): (&mut [T], &Press)| {
                if !job.goes_on() {
                    return Ok(None);
                }
                let data = Self::data(&shared, press, precision);
                image.copy_from_slice(&values(&data)?);
                Ok::<_, PyErr>(warning(&data))
            };
            // A sensor without markers has empty images.
            let images = all.par_chunks_mut(size.max(1)).zip(presses.par_iter());
            let warnings: Vec<_> = parallel(|| images.map(one).collect::<PyResult<_>>())?;
            Ok::<_, PyErr>((all, warnings.into_iter().flatten().next()))
        };
        let (all, warning) = interruptible_job(py, work, |_| Ok(()))??;
        warning.map_or(Ok(()), |warning| warn_text(py, &warning))?;
        moved(py, &[&[count][..], &each].concat(), all)
    }

    /// Axes of an image, with trailing axes `behind`.
    fn image_axes(&self, behind: &[usize]) -> PyResult<Vec<usize>> {
        let sensor = self.shared.sensor()?;
        let blind = || dermis::sensor::optics::OpticsError::WithoutCamera { sensor: sensor.name().to_owned() };
        let camera = sensor.optics().ok_or_else(|| image_error(&blind()))?.camera();
        Ok([&[camera.height, camera.width][..], behind].concat())
    }
}

#[pymethods]
impl Batch {
    fn __len__(&self) -> usize {
        self.presses.len()
    }

    fn __getitem__<'py>(&self, py: Python<'py>, index: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let count = self.presses.len();
        if let Ok(slice) = index.cast::<PySlice>() {
            let chosen = slice.indices(count as isize)?;
            let places = (0..chosen.slicelength as isize).map(|i| (chosen.start + i * chosen.step) as usize);
            let presses = places.map(|place| self.presses[place].clone()).collect();
            let part = Self::new(self.shared.clone(), presses, self.precision);
            return Ok(Bound::new(py, part)?.into_any());
        }
        let outside = || PyIndexError::new_err(format!("there is no reading {index}: the batch has {count}"));
        let number: isize = index
            .extract()
            .map_err(|error: PyErr| if error.is_instance_of::<PyOverflowError>(py) { outside() } else { error })?;
        let place = if number < 0 { number + count as isize } else { number };
        let press = usize::try_from(place).ok().and_then(|place| self.presses.get(place));
        let data = Self::data(&self.shared, press.ok_or_else(outside)?, self.precision);
        Ok(Bound::new(py, Reading::new(data))?.into_any())
    }

    /// ``Reading.taxels`` of all readings (N), shape (n, rows, cols) or (n, taxels).
    #[getter]
    fn taxels<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.precision.array(py, &self.shape(&[])?, self.flat(|press| &press.reading().values_newton))
    }

    /// ``Reading.reported`` of all readings (N), shaped like ``taxels``.
    #[getter]
    fn reported<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.precision.array(py, &self.shape(&[])?, self.flat(|press| &press.reading().reported_newton))
    }

    /// ``Reading.raw`` of all readings (counts), shaped like ``taxels``.
    #[getter]
    fn raw<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDyn<u32>>> {
        let all = self.presses.iter().flat_map(|press| press.reading().raw.iter().copied()).collect();
        moved(py, &self.shape(&[])?, all)
    }

    /// ``Reading.forces`` of all readings (N), shape (n, rows, cols, 3) or (n, taxels, 3).
    #[getter]
    fn forces<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let forces = self.presses.iter().flat_map(|press| &press.reading().forces_newton);
        self.precision.array(py, &self.shape(&[3])?, forces.flat_map(|force| force.to_array()))
    }

    /// ``Reading.force`` of all readings (N), shape (n, 3).
    #[getter]
    fn force<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.rows(py, |press| press.reading().net_force_newton().to_array())
    }

    /// ``Reading.wrench`` of all readings (N, N m), shape (n, 6).
    #[getter]
    fn wrench<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.rows(py, |press| six(&press.touch.on_sensor))
    }

    /// ``Reading.outside`` of all readings (N), shape (n, 3).
    #[getter]
    fn outside<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.rows(py, |press| press.reading().outside_newton.to_array())
    }

    /// ``Reading.saturated`` of all readings, shape (n,).
    #[getter]
    fn saturated<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDyn<u32>>> {
        let saturated: Vec<u32> = self.presses.iter().map(|press| press.reading().saturated as u32).collect();
        array(py, &[saturated.len()], &saturated)
    }

    /// The first warning of each kind of all readings; of presses that miss their force, the one with the largest miss and its index.
    #[getter]
    pub fn warnings(&self) -> Vec<String> {
        let all = self.presses.iter().flat_map(|press| press.touch.all_warnings());
        let others = all.filter(|warning| !matches!(warning, Warning::ForceNotReached { .. }));
        let others = Warning::first_of_each_kind(others);
        others.iter().map(ToString::to_string).chain(self.missed_force()).collect()
    }

    /// ``Reading.travel`` of all readings (m), shape (n,); NaN for presses at given poses.
    #[getter]
    fn travel<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let travel = self.presses.iter().map(|press| press.values.travel_m.unwrap_or(f64::NAN));
        self.precision.array(py, &[self.presses.len()], travel)
    }

    /// ``Reading.image`` of all readings, uint8, shape (n, height, width, 3). Issues the first warning about the light
    /// of an image.
    #[getter]
    fn image<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDyn<u8>>> {
        self.images(py, self.image_axes(&[3])?, ReadingData::rgb, ReadingData::light_warning)
    }

    /// Levels of the images before they are rounded to ``image``, float32, shape (n, height, width, 3).
    #[getter]
    fn levels<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDyn<f32>>> {
        self.images(py, self.image_axes(&[3])?, ReadingData::levels, |_| None)
    }

    /// ``Reading.depth`` of all readings (m), float32, shape (n, height, width).
    #[getter]
    fn depth<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDyn<f32>>> {
        self.images(py, self.image_axes(&[])?, ReadingData::pressed_m, |_| None)
    }

    /// ``Reading.normals`` of all readings, float32, shape (n, height, width, 3).
    #[getter]
    fn normals<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDyn<f32>>> {
        self.images(py, self.image_axes(&[3])?, ReadingData::normals, |_| None)
    }

    /// ``Reading.markers`` of all readings (pixels), shape (n, markers, 4); of a gel with markers.
    #[getter]
    fn markers<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        self.image_axes(&[])?;
        let sensor = self.shared.sensor()?;
        let markers = sensor.optics().and_then(|optics| optics.markers());
        let count = markers.ok_or_else(|| without_markers(sensor.name()))?.points_m().len();
        self.images(py, vec![count, 4], ReadingData::markers, |_| None)
    }

    /// ``Reading.flow`` of all readings (pixels), float32, shape (n, height, width, 2).
    #[getter]
    fn flow<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDyn<f32>>> {
        self.images(py, self.image_axes(&[2])?, ReadingData::flow, |_| None)
    }

    fn __repr__(&self) -> String {
        format!("<dermis.Batch of {:?}: {} readings>", self.shared.spec().name, self.presses.len())
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
        touches: Vec<PyRef<'_, Touch>>,
        dtype: &Bound<'_, PyAny>,
    ) -> PyResult<Self> {
        let shared = Arc::new(SharedSensor::restore(toml, folder).into_py_err()?);
        let values: Vec<ReadingValues> =
            serde_json::from_slice(values).map_err(|error| Error::new_err(error.to_string()))?;
        let press =
            |(values, touch): (_, &PyRef<'_, Touch>)| Press { values: Arc::new(values), touch: touch.touch.clone() };
        let presses = values.into_iter().zip(&touches).map(press).collect();
        Ok(Self::new(shared, presses, Precision::read(Some(dtype))?))
    }

    #[allow(clippy::type_complexity)] // the tuple of pickle
    fn __reduce__<'py>(
        this: &Bound<'py, Self>,
    ) -> PyResult<(Bound<'py, PyAny>, (String, Option<PathBuf>, Bound<'py, PyBytes>, Vec<Touch>, &'static str))> {
        let batch = this.get();
        let values: Vec<&ReadingValues> = batch.presses.iter().map(|press| &*press.values).collect();
        let values = serde_json::to_vec(&values).map_err(|error| Error::new_err(error.to_string()))?;
        let (toml, folder) = batch.shared.saved();
        let touches = batch.presses.iter().map(|press| Touch { touch: press.touch.clone() }).collect();
        let saved = (toml, folder, PyBytes::new(this.py(), &values), touches, batch.precision.name());
        Ok((this.get_type().getattr("_restore")?, saved))
    }
}
