//! Many readings as one.

pub mod presses;

use crate::array::array;
use crate::device::Device;
use crate::error::IntoPyErr;
use crate::pose::six;
use crate::reading::{Kept, Reading};
use crate::threads::detached;
use numpy::{Element, PyArrayDyn};
use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use rayon::prelude::*;
use std::sync::Arc;

/// The readings of many presses of one sensor: a sequence, and all of them as one array.
#[pyclass(frozen, module = "dermis")]
pub struct Batch {
    all: Vec<Arc<Kept>>,
    device: Arc<Device>,
}

impl Batch {
    /// One array of all readings, each of the same shape.
    fn stacked<'py, T: Element + Copy>(
        &self,
        py: Python<'py>,
        behind: &[usize],
        values: impl Fn(&Kept) -> Vec<T>,
    ) -> PyResult<Bound<'py, PyArrayDyn<T>>> {
        let taxels = self.device.sensor()?.taxels();
        let each = taxels.size().map_or_else(|| vec![taxels.len()], |(rows, cols)| vec![rows, cols]);
        let all: Vec<T> = self.all.iter().flat_map(|kept| values(kept)).collect();
        array(py, &[&[self.all.len()][..], &each, behind].concat(), &all)
    }

    /// Images of all readings, made on all cores and not kept.
    fn images<'py, T: Element + Copy>(
        &self,
        py: Python<'py>,
        behind: &[usize],
        values: impl Fn(&Kept) -> PyResult<Vec<T>> + Send + Sync,
    ) -> PyResult<Bound<'py, PyArrayDyn<T>>> {
        let sensor = self.device.sensor()?;
        let blind = || dermis::sensor::optics::OpticsError::WithoutCamera { sensor: sensor.name().to_owned() };
        let camera = sensor.optics().ok_or_else(blind).into_py_err()?.camera();
        let images = detached(py, || self.all.par_iter().map(|kept| values(kept)).collect::<Vec<PyResult<Vec<T>>>>())?;
        let all: Vec<T> = images.into_iter().collect::<PyResult<Vec<_>>>()?.concat();
        array(py, &[&[self.all.len(), camera.height, camera.width][..], behind].concat(), &all)
    }
}

#[pymethods]
impl Batch {
    fn __len__(&self) -> usize {
        self.all.len()
    }

    fn __getitem__(&self, index: isize) -> PyResult<Reading> {
        let count = self.all.len() as isize;
        let place = if index < 0 { index + count } else { index };
        let kept = usize::try_from(place).ok().and_then(|place| self.all.get(place));
        let outside = || PyIndexError::new_err(format!("there is no reading {index}: the batch has {count}"));
        Ok(Reading { kept: kept.ok_or_else(outside)?.clone() })
    }

    /// ``Reading.taxels`` of all (N), shape (n, rows, cols) or (n, taxels).
    #[getter]
    fn taxels<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        self.stacked(py, &[], |kept| kept.numbers.reading.values_newton.clone())
    }

    /// ``Reading.reported`` of all (N), shaped like ``taxels``.
    #[getter]
    fn reported<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        self.stacked(py, &[], |kept| kept.numbers.reading.reported_newton.clone())
    }

    /// ``Reading.raw`` of all (counts), shaped like ``taxels``.
    #[getter]
    fn raw<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDyn<u32>>> {
        self.stacked(py, &[], |kept| kept.numbers.reading.raw.clone())
    }

    /// ``Reading.forces`` of all (N), shape (n, rows, cols, 3) or (n, taxels, 3).
    #[getter]
    fn forces<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        let values = |kept: &Kept| kept.numbers.reading.forces_newton.iter().flat_map(|f| f.to_array()).collect();
        self.stacked(py, &[3], values)
    }

    /// ``Reading.force`` of all (N), shape (n, 3).
    #[getter]
    fn force<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        let force = |kept: &Arc<Kept>| kept.numbers.reading.net_force_newton().to_array();
        array(py, &[self.all.len(), 3], &self.all.iter().flat_map(force).collect::<Vec<_>>())
    }

    /// ``Reading.wrench`` of all (N, N m), shape (n, 6).
    #[getter]
    fn wrench<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        let wrench = |kept: &Arc<Kept>| six(&kept.touch.on_sensor);
        array(py, &[self.all.len(), 6], &self.all.iter().flat_map(wrench).collect::<Vec<_>>())
    }

    /// ``Reading.outside`` of all (N), shape (n, 3).
    #[getter]
    fn outside<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        let outside = |kept: &Arc<Kept>| kept.numbers.reading.outside_newton.to_array();
        array(py, &[self.all.len(), 3], &self.all.iter().flat_map(outside).collect::<Vec<_>>())
    }

    /// ``Reading.saturated`` of all, shape (n,).
    #[getter]
    fn saturated<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDyn<u32>>> {
        let saturated: Vec<u32> = self.all.iter().map(|kept| kept.numbers.reading.saturated as u32).collect();
        array(py, &[saturated.len()], &saturated)
    }

    /// ``Reading.travel`` of all (m), shape (n,); NaN where the object was held at a pose.
    #[getter]
    fn travel<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        let travel: Vec<f64> = self.all.iter().map(|kept| kept.numbers.travel_m.unwrap_or(f64::NAN)).collect();
        array(py, &[travel.len()], &travel)
    }

    /// ``Reading.image`` of all, uint8, shape (n, height, width, 3), made on all cores.
    #[getter]
    fn image<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDyn<u8>>> {
        let image = |kept: &Kept| {
            let sight = kept.device.sensor()?.render(&kept.touch, kept.numbers.frame).into_py_err()?;
            Ok(sight.image.to_rgb8().into_pixels().into_flattened())
        };
        self.images(py, &[3], image)
    }

    /// ``Reading.depth`` of all (m), float32, shape (n, height, width), made on all cores.
    #[getter]
    fn depth<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDyn<f32>>> {
        self.images(py, &[], Kept::pressed_m)
    }

    fn __repr__(&self) -> String {
        format!("<dermis.Batch of {:?}: {} readings>", self.device.spec().name, self.all.len())
    }
}
