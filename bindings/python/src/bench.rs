//! A bench, real or virtual, and the device that is fitted to what it measured.

use crate::array::{Numbers, array};
use crate::device::Device;
use crate::error::{Error, IntoPyErr};
use crate::sensor::Sensor;
use crate::threads::detached;
use dermis::sensor::SensorSpec;
use dermis::sensor::calibration::fit_sensor as fit;
use dermis::sensor::characterise::{self, CreepRow, PressRow, Protocol};
use numpy::PyArrayDyn;
use pyo3::prelude::*;
use std::sync::Arc;

/// What a bench measured of a taxel array: presses on every taxel, and the creep of one under a steady load.
///
/// Made by ``dermis.calibration.characterise`` or from arrays of your own, one entry per reading:
/// taxel: which is under the indenter, (n,). press: which of its presses, from 0, (n,). held: for how long the load has been so (s),
/// (n,). depth: m, zero between presses, (n,). force: of the indenter (N), (n,). raw: counts of all taxels, (n, taxels).
/// creep_time: since the load came (s), (m,). creep_force: N, (m,). creep_raw: counts of the taxel creep_taxel, (m,).
#[pyclass(frozen, module = "dermis")]
pub struct Bench {
    bench: characterise::Bench,
}

fn column(value: &Bound<'_, PyAny>, what: &str, count: Option<usize>) -> PyResult<Vec<f64>> {
    let numbers = Numbers::read(value, what)?.finite(what)?;
    match count {
        _ if numbers.shape.len() != 1 => Err(numbers.wrong_shape(what, "(n,)")),
        Some(count) if numbers.values.len() != count => Err(numbers.wrong_shape(what, &format!("({count},)"))),
        _ => Ok(numbers.values),
    }
}

fn whole(value: f64, what: &str) -> PyResult<u32> {
    let fits = (0.0..=f64::from(u32::MAX)).contains(&value) && value.fract() == 0.0;
    fits.then_some(value as u32).ok_or_else(|| Error::new_err(format!("`{what}` must be whole numbers, got {value}")))
}

#[pymethods]
impl Bench {
    #[new]
    #[pyo3(signature = (*, taxel, press, held, depth, force, raw, creep_time=None, creep_force=None, creep_raw=None, creep_taxel=0))]
    #[allow(clippy::too_many_arguments)] // they have names in Python
    fn new(
        taxel: &Bound<'_, PyAny>,
        press: &Bound<'_, PyAny>,
        held: &Bound<'_, PyAny>,
        depth: &Bound<'_, PyAny>,
        force: &Bound<'_, PyAny>,
        raw: &Bound<'_, PyAny>,
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
        let presses = (0..count)
            .map(|i| {
                let raw = &counts.values[i * taxels..(i + 1) * taxels];
                Ok(PressRow {
                    taxel: whole(taxel[i], "taxel")? as usize,
                    press: whole(press[i], "press")? as usize,
                    held_s: held[i],
                    depth_m: depth[i],
                    force_newton: force[i],
                    raw: raw.iter().map(|&raw| whole(raw, "raw")).collect::<PyResult<_>>()?,
                })
            })
            .collect::<PyResult<_>>()?;
        let creep = match (creep_time, creep_force, creep_raw) {
            (Some(time), Some(force), Some(raw)) => {
                let time = column(time, "creep_time", None)?;
                let force = column(force, "creep_force", Some(time.len()))?;
                let raw = column(raw, "creep_raw", Some(time.len()))?;
                let row = |i: usize| {
                    let raw = whole(raw[i], "creep_raw")?;
                    Ok(CreepRow { taxel: creep_taxel, time_s: time[i], force_newton: force[i], raw })
                };
                (0..time.len()).map(row).collect::<PyResult<_>>()?
            }
            (None, None, None) => Vec::new(),
            _ => {
                return Err(Error::new_err("give all of `creep_time`, `creep_force` and `creep_raw`, or none of them"));
            }
        };
        Ok(Self { bench: characterise::Bench { presses, creep } })
    }

    /// Which taxel is under the indenter, shape (n,).
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

    /// Counts of all taxels, shape (n, taxels).
    #[getter]
    fn raw<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDyn<u32>>> {
        let taxels = self.bench.presses.first().map_or(0, |row| row.raw.len());
        let values: Vec<u32> = self.bench.presses.iter().flat_map(|row| row.raw.iter().copied()).collect();
        array(py, &[self.bench.presses.len(), taxels], &values)
    }

    /// Time (s), force (N) and counts under a steady load, shape (m, 3).
    #[getter]
    fn creep<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        let row = |row: &CreepRow| [row.time_s, row.force_newton, f64::from(row.raw)];
        let values: Vec<f64> = self.bench.creep.iter().flat_map(row).collect();
        array(py, &[self.bench.creep.len(), 3], &values)
    }

    /// The presses as a table, as ``dermis characterise`` writes it.
    fn presses_csv(&self) -> String {
        self.bench.presses_csv()
    }

    /// The creep as a table.
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

/// Measures a simulated sensor as an experimenter would. protocol: JSON of what differs from the usual one.
#[pyfunction]
pub fn characterise_sensor(py: Python<'_>, sensor: PyRef<'_, Sensor>, protocol: &str) -> PyResult<Bench> {
    let bad = |error: serde_json::Error| Error::new_err(format!("the protocol: {error}"));
    let mut whole = serde_json::to_value(Protocol::default()).map_err(bad)?;
    let changes: serde_json::Map<String, serde_json::Value> = serde_json::from_str(protocol).map_err(bad)?;
    for (key, value) in changes {
        whole[&key] = value;
    }
    let protocol: Protocol = serde_json::from_value(whole).map_err(bad)?;
    let device = sensor.device.clone();
    let inner = device.sensor()?;
    let mut interrupted = None;
    let bench = detached(py, || {
        characterise::characterise(inner, &protocol, |_| {
            interrupted = Python::attach(|py| py.check_signals().err());
            interrupted.is_none()
        })
    })?
    .into_py_err()?;
    interrupted.map_or(Ok(Bench { bench }), Err)
}

/// Fits the response of a sensor to what a bench measured: the fitted sensor, and the numbers as JSON.
#[pyfunction]
pub fn fit_sensor(
    py: Python<'_>,
    sensor: PyRef<'_, Sensor>,
    bench: PyRef<'_, Bench>,
    kernel: usize,
) -> PyResult<(Sensor, String)> {
    let (device, bench) = (sensor.device.clone(), &bench.bench);
    let inner = device.sensor()?;
    let found = detached(py, || fit(bench, inner.taxels(), *inner.response(), kernel))?.into_py_err()?;
    let spec = device.spec();
    let spec = SensorSpec {
        name: format!("{}-fitted", spec.name),
        description: format!("{}, with its response fitted to bench data", spec.name),
        response: found.response(true),
        ..spec.clone()
    };
    let folder = device.folder().map(ToOwned::to_owned);
    let fitted = detached(py, || Device::build(spec, folder))?.into_py_err()?;
    let numbers = serde_json::to_string(&found).map_err(|error| Error::new_err(error.to_string()))?;
    Ok((Sensor::of_device(Arc::new(fitted))?, numbers))
}
