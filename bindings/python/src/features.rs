//! Image moments of the taxel forces.

use crate::array::array;
use dermis::sensor::features;
use numpy::PyArrayDyn;
use pyo3::prelude::*;

/// Smallest ratio of length to width at which a contact counts as an edge.
const EDGE_RATIO: f64 = 2.0;

/// Image moments of the taxel forces, in the plane of the sensor.
#[pyclass(frozen, module = "dermis")]
pub struct Features {
    pub features: features::Features,
}

#[pymethods]
impl Features {
    /// Sum of the forces above the threshold (N).
    #[getter]
    fn total(&self) -> f64 {
        self.features.total
    }

    /// Center of pressure, x and y (m), shape (2,).
    #[getter]
    fn center<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        array(py, &[2], &self.features.centroid_m.to_array())
    }

    /// Second moments about the center (m²), shape (2, 2).
    #[getter]
    fn covariance<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        let [xx, xy, yy] = self.features.covariance_m2;
        array(py, &[2, 2], &[xx, xy, xy, yy])
    }

    /// Angle of the longer axis from +x towards +y (rad), in (-pi/2, pi/2].
    #[getter]
    fn direction(&self) -> f64 {
        self.features.direction_rad
    }

    /// Eccentricity of the contact: 0 for a round contact, 1 for a line.
    #[getter]
    fn eccentricity(&self) -> f64 {
        self.features.eccentricity
    }

    /// Half axes of the ellipse with the same second moments, the longer first (m), shape (2,).
    #[getter]
    fn spreads<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        array(py, &[2], &self.features.spreads_m())
    }

    /// Area of the taxels above the threshold (m²).
    #[getter]
    fn area(&self) -> f64 {
        self.features.contact_area_m2
    }

    /// "edge" if the contact is at least twice as long as wide, else "point".
    #[getter]
    fn kind(&self) -> &'static str {
        match self.features.kind(EDGE_RATIO) {
            features::ContactKind::Edge => "edge",
            _ => "point",
        }
    }

    fn __repr__(&self) -> String {
        let (kind, center) = (self.kind(), self.features.centroid_m * 1e3);
        format!("<dermis.Features: {kind}, {:.4} N at ({:.3}, {:.3}) mm>", self.features.total, center.x, center.y)
    }
}
