//! The contact between a skin and objects.

use crate::array::array;
use crate::error::{Error, absent};
use crate::pose::{six, vectors};
use dermis::geometry::Vec3;
use dermis::geometry::terminal_text;
use dermis::skin::{self, Facet, SurfaceField, Warning};
use numpy::PyArrayDyn;
use pyo3::exceptions::PyRuntimeWarning;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyType};
use std::ffi::CString;
use std::sync::Arc;

/// The contact between a skin and objects: loads on both, contact facets and the deformed surface.
///
/// All quantities are in the sensor frame: origin at the center of the sensing surface, +z out of the skin.
#[pyclass(frozen, module = "dermis")]
pub struct Touch {
    pub touch: Arc<skin::Touch>,
}

/// Issues one warning through Python's ``warnings``.
pub fn warn_text(py: Python<'_>, text: &str) -> PyResult<()> {
    let text = CString::new(terminal_text(text)).unwrap_or_default();
    PyErr::warn(py, &py.get_type::<PyRuntimeWarning>(), &text, 1)
}

/// Issues warnings through Python's ``warnings``, the first of each kind: their numbers differ from press to press.
pub fn warn(py: Python<'_>, warnings: impl IntoIterator<Item = Warning>) -> PyResult<()> {
    Warning::first_of_each_kind(warnings).iter().try_for_each(|warning| warn_text(py, &warning.to_string()))
}

fn field<'py>(py: Python<'py>, field: &SurfaceField) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
    let values: Vec<f64> = field.values.iter().flat_map(|value| value.to_array()).collect();
    array(py, &[field.rows, field.cols, 3], &values)
}

/// The exception for a field that the skin does not compute.
fn no_field() -> PyErr {
    absent(
        "the skin of this contact does not compute it: `surface` and `cell` come with the skins layer, gel and imprint, `base` with layer",
    )
}

impl Touch {
    fn each<'py>(&self, py: Python<'py>, value: impl Fn(&Facet) -> f64) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        let values: Vec<f64> = self.touch.facets.iter().map(value).collect();
        array(py, &[values.len()], &values)
    }

    fn each3<'py>(&self, py: Python<'py>, value: impl Fn(&Facet) -> Vec3) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        vectors(py, &self.touch.facets.iter().map(value).collect::<Vec<_>>())
    }
}

#[pymethods]
impl Touch {
    /// Force (N) and torque (N m) on the sensor, about its origin, shape (6,).
    #[getter]
    fn on_sensor<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        array(py, &[6], &six(&self.touch.on_sensor))
    }

    /// Force (N) and torque (N m) on each object, about the sensor's origin and in its frame, shape (objects, 6).
    /// Their sum is the opposite of ``on_sensor``.
    #[getter]
    fn on_objects<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        let values: Vec<f64> = self.touch.on_objects.iter().flat_map(six).collect();
        array(py, &[self.touch.on_objects.len(), 6], &values)
    }

    /// Center of each contact facet (m), shape (facets, 3).
    #[getter]
    fn points<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        self.each3(py, Facet::at)
    }

    /// Force on the sensor from each facet (N), shape (facets, 3).
    #[getter]
    fn forces<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        self.each3(py, Facet::force_on_sensor)
    }

    /// Contact normal of each facet, out of the sensor, shape (facets, 3).
    #[getter]
    fn normals<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        self.each3(py, |facet| facet.normal)
    }

    /// Area of each facet (m²), shape (facets,).
    #[getter]
    fn areas<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        self.each(py, Facet::area_m2)
    }

    /// Penetration of each facet into the skin (m), shape (facets,).
    #[getter]
    fn depths<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        self.each(py, |facet| facet.depth_m)
    }

    /// Index of the object of each facet, in the order of the objects passed to the sensor, shape (facets,).
    #[getter]
    fn objects<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDyn<u32>>> {
        let values: Vec<u32> = self.touch.facets.iter().map(|facet| facet.object).collect();
        array(py, &[values.len()], &values)
    }

    /// Contact area (m²).
    #[getter]
    fn area(&self) -> f64 {
        self.touch.area_m2()
    }

    /// Largest penetration (m).
    #[getter]
    fn max_depth(&self) -> f64 {
        self.touch.max_depth_m()
    }

    /// Number of facets beyond the range of the skin; their load is a lower bound.
    #[getter]
    fn saturated(&self) -> usize {
        self.touch.saturated
    }

    /// Warnings that the solution may be inaccurate.
    #[getter]
    fn warnings(&self) -> Vec<String> {
        self.touch.warning_texts()
    }

    /// Displacement of the skin's surface (m), shape (rows, cols, 3), row 0 at +y; of a layer, a gel or an
    /// imprint.
    #[getter]
    fn surface<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        field(py, self.touch.surface.as_ref().ok_or_else(no_field)?)
    }

    /// Stress vector on the base under the skin (Pa), shape (rows, cols, 3); of a layer.
    #[getter]
    fn base<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        field(py, self.touch.base.as_ref().ok_or_else(no_field)?)
    }

    /// Cell size of ``surface`` and ``base`` (m).
    #[getter]
    fn cell(&self) -> PyResult<f64> {
        let field = self.touch.surface.as_ref().or(self.touch.base.as_ref()).ok_or_else(no_field)?;
        Ok(field.cell_m)
    }

    fn __repr__(&self) -> String {
        let force = self.touch.on_sensor.force;
        let count = self.touch.facets.len();
        format!("<dermis.Touch: {count} facets, ({:.4}, {:.4}, {:.4}) N on the sensor>", force.x, force.y, force.z)
    }

    fn __copy__(this: Py<Self>) -> Py<Self> {
        this
    }

    fn __deepcopy__(this: Py<Self>, _memo: &Bound<'_, PyAny>) -> Py<Self> {
        this
    }

    #[classmethod]
    fn _restore(_class: &Bound<'_, PyType>, saved: &[u8]) -> PyResult<Self> {
        let touch = serde_json::from_slice(saved).map_err(|error| Error::new_err(error.to_string()))?;
        Ok(Self { touch: Arc::new(touch) })
    }

    fn __reduce__<'py>(this: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        let saved = serde_json::to_vec(&*this.get().touch).map_err(|error| Error::new_err(error.to_string()))?;
        Ok((this.get_type().getattr("_restore")?, (PyBytes::new(this.py(), &saved),)))
    }
}
