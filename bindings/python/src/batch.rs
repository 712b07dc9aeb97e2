//! The readings of many presses.

pub mod presses;

use crate::array::array;
use crate::error::IntoPyErr;
use crate::pose::six;
use crate::reading::{Reading, ReadingData};
use crate::shared_sensor::SharedSensor;
use crate::threads::detached;
use dermis::skin::Warning;
use numpy::{Element, PyArrayDyn};
use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use rayon::prelude::*;
use std::sync::Arc;

/// The readings of many presses of one sensor: a sequence of ``Reading``, and their values as stacked arrays.
#[pyclass(frozen, module = "dermis")]
pub struct Batch {
    readings: Vec<Arc<ReadingData>>,
    shared: Arc<SharedSensor>,
}

impl Batch {
    /// Warnings of all touches.
    pub fn all_warnings(&self) -> impl Iterator<Item = Warning> {
        self.readings.iter().flat_map(|data| data.touch.all_warnings())
    }

    /// Stacks a per-taxel array of all readings; `behind` are its trailing axes.
    fn stacked<'py, T: Element + Copy>(
        &self,
        py: Python<'py>,
        behind: &[usize],
        values: impl Fn(&ReadingData) -> Vec<T>,
    ) -> PyResult<Bound<'py, PyArrayDyn<T>>> {
        let taxels = self.shared.sensor()?.taxels();
        let each = taxels.size().map_or_else(|| vec![taxels.len()], |(rows, cols)| vec![rows, cols]);
        let all: Vec<T> = self.readings.iter().flat_map(|data| values(data)).collect();
        array(py, &[&[self.readings.len()][..], &each, behind].concat(), &all)
    }

    /// Renders the images of all readings on all cores, without caching them.
    fn images<'py, T: Element + Copy>(
        &self,
        py: Python<'py>,
        behind: &[usize],
        values: impl Fn(&ReadingData) -> PyResult<Vec<T>> + Send + Sync,
    ) -> PyResult<Bound<'py, PyArrayDyn<T>>> {
        let sensor = self.shared.sensor()?;
        let blind = || dermis::sensor::optics::OpticsError::WithoutCamera { sensor: sensor.name().to_owned() };
        let camera = sensor.optics().ok_or_else(blind).into_py_err()?.camera();
        let images =
            detached(py, || self.readings.par_iter().map(|data| values(data)).collect::<Vec<PyResult<Vec<T>>>>())?;
        let all: Vec<T> = images.into_iter().collect::<PyResult<Vec<_>>>()?.concat();
        array(py, &[&[self.readings.len(), camera.height, camera.width][..], behind].concat(), &all)
    }
}

#[pymethods]
impl Batch {
    fn __len__(&self) -> usize {
        self.readings.len()
    }

    fn __getitem__(&self, index: isize) -> PyResult<Reading> {
        let count = self.readings.len() as isize;
        let position = if index < 0 { index + count } else { index };
        let data = usize::try_from(position).ok().and_then(|position| self.readings.get(position));
        let outside = || PyIndexError::new_err(format!("there is no reading {index}: the batch has {count}"));
        Ok(Reading { data: data.ok_or_else(outside)?.clone() })
    }

    /// ``Reading.taxels`` of all readings (N), shape (n, rows, cols) or (n, taxels).
    #[getter]
    fn taxels<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        self.stacked(py, &[], |data| data.values.reading.values_newton.clone())
    }

    /// ``Reading.reported`` of all readings (N), shaped like ``taxels``.
    #[getter]
    fn reported<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        self.stacked(py, &[], |data| data.values.reading.reported_newton.clone())
    }

    /// ``Reading.raw`` of all readings (counts), shaped like ``taxels``.
    #[getter]
    fn raw<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDyn<u32>>> {
        self.stacked(py, &[], |data| data.values.reading.raw.clone())
    }

    /// ``Reading.forces`` of all readings (N), shape (n, rows, cols, 3) or (n, taxels, 3).
    #[getter]
    fn forces<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        let values = |data: &ReadingData| data.values.reading.forces_newton.iter().flat_map(|f| f.to_array()).collect();
        self.stacked(py, &[3], values)
    }

    /// ``Reading.force`` of all readings (N), shape (n, 3).
    #[getter]
    fn force<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        let force = |data: &Arc<ReadingData>| data.values.reading.net_force_newton().to_array();
        array(py, &[self.readings.len(), 3], &self.readings.iter().flat_map(force).collect::<Vec<_>>())
    }

    /// ``Reading.wrench`` of all readings (N, N m), shape (n, 6).
    #[getter]
    fn wrench<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        let wrench = |data: &Arc<ReadingData>| six(&data.touch.on_sensor);
        array(py, &[self.readings.len(), 6], &self.readings.iter().flat_map(wrench).collect::<Vec<_>>())
    }

    /// ``Reading.outside`` of all readings (N), shape (n, 3).
    #[getter]
    fn outside<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        let outside = |data: &Arc<ReadingData>| data.values.reading.outside_newton.to_array();
        array(py, &[self.readings.len(), 3], &self.readings.iter().flat_map(outside).collect::<Vec<_>>())
    }

    /// ``Reading.saturated`` of all readings, shape (n,).
    #[getter]
    fn saturated<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDyn<u32>>> {
        let saturated: Vec<u32> = self.readings.iter().map(|data| data.values.reading.saturated as u32).collect();
        array(py, &[saturated.len()], &saturated)
    }

    /// The first warning of each kind of all readings.
    #[getter]
    fn warnings(&self) -> Vec<String> {
        Warning::first_of_each_kind(self.all_warnings()).iter().map(ToString::to_string).collect()
    }

    /// ``Reading.travel`` of all readings (m), shape (n,); NaN for presses at given poses.
    #[getter]
    fn travel<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        let travel: Vec<f64> = self.readings.iter().map(|data| data.values.travel_m.unwrap_or(f64::NAN)).collect();
        array(py, &[travel.len()], &travel)
    }

    /// ``Reading.image`` of all readings, uint8, shape (n, height, width, 3), rendered on all cores.
    #[getter]
    fn image<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDyn<u8>>> {
        let image = |data: &ReadingData| {
            let frame = data.shared.sensor()?.render(&data.touch, data.values.frame).into_py_err()?;
            Ok(frame.image.to_rgb8().into_pixels().into_flattened())
        };
        self.images(py, &[3], image)
    }

    /// ``Reading.depth`` of all readings (m), float32, shape (n, height, width), rendered on all cores.
    #[getter]
    fn depth<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDyn<f32>>> {
        self.images(py, &[], ReadingData::pressed_m)
    }

    fn __repr__(&self) -> String {
        format!("<dermis.Batch of {:?}: {} readings>", self.shared.spec().name, self.readings.len())
    }
}
