//! Bench measurements, and the fit of a sensor to them.

use crate::array::{Numbers, array};
use crate::error::{Error, IntoPyErr};
use crate::object::Object;
use crate::sensor::Sensor;
use crate::shared_sensor::SharedSensor;
use crate::threads::{Job, interruptible, interruptible_job};
use crate::touch::{warn, warn_text};
use dermis::estimate::{MaterialPoint, MaterialUnknown, fit_material as fit_skin};
use dermis::sensor::calibration::{TaxelLoads, fit_sensor as fit};
use dermis::sensor::characterise::{self, CreepRow, PressRow, Protocol};
use dermis::sensor::{Aim, SensorSpec};
use numpy::PyArrayDyn;
use pyo3::prelude::*;
use std::sync::Arc;

/// Measurements of a taxel array on a test bench: presses on every taxel, and the creep of one taxel under constant
/// load.
///
/// Made by ``dermis.calibration.characterise`` or from arrays, one entry per reading:
/// taxel: index of the taxel under the indenter, (n,). press: index of the press of this taxel, (n,). held: time since
/// the depth was reached (s), (n,). depth: depth of the indenter (m), zero between presses, (n,). force: force of the
/// indenter (N), (n,). raw: raw counts of all taxels, (n, taxels). rise: temperature above a reference (K), (n,), if it
/// was measured. rest: time without load before each reading (s), (n,), if there are no readings between presses.
/// creep_time: time since loading (s), (m,). creep_force: force of the indenter (N), (m,). creep_raw: raw counts of the
/// taxel ``creep_taxel``, (m,).
#[pyclass(frozen, module = "dermis")]
pub struct Bench {
    bench: Arc<characterise::Bench>,
}

fn column(value: &Bound<'_, PyAny>, what: &str, count: Option<usize>) -> PyResult<Vec<f64>> {
    let numbers = Numbers::read(value, what)?.finite(what)?;
    match count {
        _ if numbers.shape.len() != 1 => Err(numbers.wrong_shape(what, "(n,)")),
        Some(count) if numbers.values.len() != count => Err(numbers.wrong_shape(what, &format!("({count},)"))),
        _ => Ok(numbers.values),
    }
}

fn integer(value: f64, what: &str) -> PyResult<u32> {
    let fits = (0.0..=f64::from(u32::MAX)).contains(&value) && value.fract() == 0.0;
    fits.then_some(value as u32)
        .ok_or_else(|| Error::new_err(format!("`{what}` must be non-negative integers, got {value}")))
}

#[pymethods]
impl Bench {
    #[new]
    #[pyo3(signature = (*, taxel, press, held, depth, force, raw, rise=None, rest=None, creep_time=None, creep_force=None, creep_raw=None, creep_taxel=0))]
    #[allow(clippy::too_many_arguments)] // they have names in Python
    fn new(
        taxel: &Bound<'_, PyAny>,
        press: &Bound<'_, PyAny>,
        held: &Bound<'_, PyAny>,
        depth: &Bound<'_, PyAny>,
        force: &Bound<'_, PyAny>,
        raw: &Bound<'_, PyAny>,
        rise: Option<&Bound<'_, PyAny>>,
        rest: Option<&Bound<'_, PyAny>>,
        creep_time: Option<&Bound<'_, PyAny>>,
        creep_force: Option<&Bound<'_, PyAny>>,
        creep_raw: Option<&Bound<'_, PyAny>>,
        creep_taxel: usize,
    ) -> PyResult<Self> {
        let counts = Numbers::read(raw, "raw")?.finite("raw")?;
        let &[count, taxels] = counts.shape.as_slice() else { return Err(counts.wrong_shape("raw", "(n, taxels)")) };
        let [taxel, press, held, depth, force] =
            [(taxel, "taxel"), (press, "press"), (held, "held"), (depth, "depth"), (force, "force")]
                .map(|(value, what)| column(value, what, Some(count)));
        let (taxel, press, held, depth, force) = (taxel?, press?, held?, depth?, force?);
        let rise = rise.map(|rise| column(rise, "rise", Some(count))).transpose()?;
        let rest = rest.map(|rest| column(rest, "rest", Some(count))).transpose()?;
        if let Some(time) = rest.iter().flatten().find(|time| **time < 0.0) {
            return Err(Error::new_err(format!("`rest` must be times of 0 s or more, got {time}")));
        }
        let presses = (0..count)
            .map(|i| {
                let raw = &counts.values[i * taxels..(i + 1) * taxels];
                Ok(PressRow {
                    taxel: integer(taxel[i], "taxel")? as usize,
                    press: integer(press[i], "press")? as usize,
                    rest_s: rest.as_ref().map(|rest| rest[i]),
                    held_s: held[i],
                    depth_m: depth[i],
                    force_newton: force[i],
                    rise_kelvin: rise.as_ref().map(|rise| rise[i]),
                    raw: raw.iter().map(|&raw| integer(raw, "raw")).collect::<PyResult<_>>()?,
                })
            })
            .collect::<PyResult<_>>()?;
        let creep = match (creep_time, creep_force, creep_raw) {
            (Some(time), Some(force), Some(raw)) => {
                let time = column(time, "creep_time", None)?;
                let force = column(force, "creep_force", Some(time.len()))?;
                let raw = column(raw, "creep_raw", Some(time.len()))?;
                let row = |i: usize| {
                    let raw = integer(raw[i], "creep_raw")?;
                    Ok(CreepRow { taxel: creep_taxel, time_s: time[i], force_newton: force[i], raw })
                };
                (0..time.len()).map(row).collect::<PyResult<_>>()?
            }
            (None, None, None) => Vec::new(),
            _ => {
                return Err(Error::new_err("give all of `creep_time`, `creep_force` and `creep_raw`, or none of them"));
            }
        };
        Ok(Self { bench: Arc::new(characterise::Bench { presses, creep, ..Default::default() }) })
    }

    /// Index of the taxel under the indenter, shape (n,).
    #[getter]
    fn taxel<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDyn<u32>>> {
        let values: Vec<u32> = self.bench.presses.iter().map(|row| row.taxel as u32).collect();
        array(py, &[values.len()], &values)
    }

    /// Depth of the indenter (m), shape (n,); zero between presses.
    #[getter]
    fn depth<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        let values: Vec<f64> = self.bench.presses.iter().map(|row| row.depth_m).collect();
        array(py, &[values.len()], &values)
    }

    /// Force of the indenter (N), shape (n,).
    #[getter]
    fn force<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        let values: Vec<f64> = self.bench.presses.iter().map(|row| row.force_newton).collect();
        array(py, &[values.len()], &values)
    }

    /// Temperature above the reference (K), shape (n,); None if it was not measured.
    #[getter]
    fn rise<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyArrayDyn<f64>>>> {
        let values: Option<Vec<f64>> = self.bench.presses.iter().map(|row| row.rise_kelvin).collect();
        values.map(|values| array(py, &[values.len()], &values)).transpose()
    }

    /// Time without load before each reading (s), shape (n,); None if it was not recorded.
    #[getter]
    fn rest<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyArrayDyn<f64>>>> {
        let values: Option<Vec<f64>> = self.bench.presses.iter().map(|row| row.rest_s).collect();
        values.map(|values| array(py, &[values.len()], &values)).transpose()
    }

    /// Raw counts of all taxels, shape (n, taxels).
    #[getter]
    fn raw<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDyn<u32>>> {
        let taxels = self.bench.presses.first().map_or(0, |row| row.raw.len());
        let values: Vec<u32> = self.bench.presses.iter().flat_map(|row| row.raw.iter().copied()).collect();
        array(py, &[self.bench.presses.len(), taxels], &values)
    }

    /// Time (s), force (N) and raw counts under constant load, shape (m, 3).
    #[getter]
    fn creep<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        let row = |row: &CreepRow| [row.time_s, row.force_newton, f64::from(row.raw)];
        let values: Vec<f64> = self.bench.creep.iter().flat_map(row).collect();
        array(py, &[self.bench.creep.len(), 3], &values)
    }

    /// The presses as CSV, in the format of ``dermis characterise``.
    fn presses_csv(&self) -> String {
        self.bench.presses_csv()
    }

    /// The creep recording as CSV.
    fn creep_csv(&self) -> String {
        self.bench.creep_csv()
    }

    fn __len__(&self) -> usize {
        self.bench.presses.len()
    }

    fn __repr__(&self) -> String {
        format!("<dermis.Bench: {} presses, {} rows of creep>", self.bench.presses.len(), self.bench.creep.len())
    }
}

/// Measures a simulated sensor on a virtual bench. protocol: JSON object with the values that differ from the default.
#[pyfunction]
pub fn characterise_sensor(py: Python<'_>, sensor: PyRef<'_, Sensor>, protocol: &str) -> PyResult<Bench> {
    let bad = |error: serde_json::Error| Error::new_err(format!("the protocol: {error}"));
    let mut merged = serde_json::to_value(Protocol::default()).map_err(bad)?;
    let changes: serde_json::Map<String, serde_json::Value> = serde_json::from_str(protocol).map_err(bad)?;
    for (key, value) in changes {
        merged[&key] = value;
    }
    let protocol: Protocol = serde_json::from_value(merged).map_err(bad)?;
    let inner = sensor.shared.sensor()?.clone();
    let work = move |job: &Job| characterise::characterise(&inner, &protocol, |_| job.goes_on());
    let bench = interruptible_job(py, work, |_| Ok(()))?.into_py_err()?;
    warn(py, bench.warnings.clone())?;
    Ok(Bench { bench: Arc::new(bench) })
}

/// Fits the response of a sensor to bench measurements. Returns the fitted sensor and the estimates as JSON.
#[pyfunction]
pub fn fit_sensor(
    py: Python<'_>,
    sensor: PyRef<'_, Sensor>,
    bench: PyRef<'_, Bench>,
    kernel: usize,
    indenter: f64,
) -> PyResult<(Sensor, String)> {
    let (shared, bench) = (sensor.shared.clone(), bench.bench.clone());
    let (inner, spec) = (shared.sensor()?.clone(), shared.spec());
    let response = spec.response.clone();
    let found = interruptible(py, move || {
        TaxelLoads::new(&inner, &bench, indenter).and_then(|loads| fit(&loads, &response, kernel))
    })?
    .into_py_err()?;
    let spec = SensorSpec {
        name: format!("{}-fitted", spec.name),
        description: format!("{}, with its response fitted to bench data", spec.name),
        response: found.response(true),
        ..spec.clone()
    };
    found.warnings.iter().try_for_each(|warning| warn_text(py, warning))?;
    let folder = shared.folder().map(ToOwned::to_owned);
    let fitted = interruptible(py, move || SharedSensor::build(spec, folder))?.into_py_err()?;
    let numbers = serde_json::to_string(&found).map_err(|error| Error::new_err(error.to_string()))?;
    Ok((Sensor::of_shared(Arc::new(fitted))?, numbers))
}

/// Fits the material of a sensor's skin to presses by an object. Returns the fitted sensor and the estimates as JSON.
#[pyfunction]
#[allow(clippy::too_many_arguments, reason = "the arguments of the Python function, which names them")]
pub fn fit_material(
    py: Python<'_>,
    sensor: PyRef<'_, Sensor>,
    obj: PyRef<'_, Object>,
    depth: &Bound<'_, PyAny>,
    force: &Bound<'_, PyAny>,
    shear: Option<&Bound<'_, PyAny>>,
    shear_force: Option<&Bound<'_, PyAny>>,
    time: Option<&Bound<'_, PyAny>>,
    unknowns: Vec<String>,
    at: [f64; 2],
) -> PyResult<(Sensor, String)> {
    let depth = column(depth, "depth", None)?;
    let count = Some(depth.len());
    let optional = |value: Option<&Bound<'_, PyAny>>, what: &str| value.map(|v| column(v, what, count)).transpose();
    let force = column(force, "force", count)?;
    let (shear, shear_force, time) =
        (optional(shear, "shear")?, optional(shear_force, "shear_force")?, optional(time, "time")?);
    let points = MaterialPoint::of_columns(&depth, &force, shear.as_deref(), shear_force.as_deref(), time.as_deref());
    let unknowns = unknowns.iter().map(|name| name.parse()).collect::<Result<Vec<MaterialUnknown>, String>>();
    let unknowns = unknowns.map_err(|message| Error::new_err(format!("`unknowns`: {message}")))?;
    let (shared, object) = (sensor.shared.clone(), obj.object.clone());
    let spec = shared.folder().map_or_else(|| shared.spec().clone(), |folder| shared.spec().with_files_in(folder));
    let aim = Aim { at_m: at, ..Aim::default() };
    let found =
        interruptible(py, move || fit_skin(&spec, &object, &aim, &points, &unknowns, &|_| ()))?.into_py_err()?;
    let numbers = serde_json::to_string(&found).map_err(|error| Error::new_err(error.to_string()))?;
    let fitted = interruptible(py, move || SharedSensor::build(found.spec, None))?.into_py_err()?;
    Ok((Sensor::of_shared(Arc::new(fitted))?, numbers))
}
