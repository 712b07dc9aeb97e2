//! A sensor with its description, shared between Python objects.

use crate::error::{Error, IntoPyErr};
use dermis::gpu::array::Arrays;
use dermis::gpu::{GelSkin, Gpu, GpuError, LayerBatch};
use dermis::sensor::{Sensor, SensorError, SensorSpec};
use dermis::skin;
use pyo3::prelude::*;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};

/// A sensor and the description that it was built from. An unpickled sensor is built on first use.
pub struct SharedSensor {
    spec: SensorSpec,
    folder: Option<PathBuf>,
    built: OnceLock<Sensor>,
    on_gpu: OnceLock<Result<Arc<Arrays>, GpuError>>,
    /// Its layer on a GPU, for each object in use.
    layers: Mutex<Vec<(Weak<skin::Object>, Arc<LayerBatch>)>>,
    /// The sensor with its gel on a GPU.
    gel: OnceLock<Result<Arc<Sensor>, GpuError>>,
}

impl SharedSensor {
    /// Builds a sensor from its description. `folder` is the folder of the files that the description refers to.
    pub fn build(spec: SensorSpec, folder: Option<PathBuf>) -> Result<Self, SensorError> {
        let sensor = spec.build(folder.as_deref())?;
        Ok(Self::of_sensor(spec, folder, sensor))
    }

    /// Wraps a sensor that was built elsewhere, such as by a world.
    pub fn of_sensor(spec: SensorSpec, folder: Option<PathBuf>, sensor: Sensor) -> Self {
        let shared = Self::unbuilt(spec, folder);
        Self { built: OnceLock::from(sensor), ..shared }
    }

    /// The inverse of [`SharedSensor::saved`].
    pub fn restore(toml: &str, folder: Option<PathBuf>) -> Result<Self, SensorError> {
        let spec = SensorSpec::parse("a pickled sensor", toml)?;
        Ok(Self::unbuilt(spec, folder))
    }

    fn unbuilt(spec: SensorSpec, folder: Option<PathBuf>) -> Self {
        let (built, on_gpu, layers, gel) = (OnceLock::new(), OnceLock::new(), Mutex::default(), OnceLock::new());
        Self { spec, folder, built, on_gpu, layers, gel }
    }

    /// Description (TOML) and folder, for pickles.
    pub fn saved(&self) -> (String, Option<PathBuf>) {
        (self.spec.to_toml(), self.folder.clone())
    }

    /// Its description.
    pub fn spec(&self) -> &SensorSpec {
        &self.spec
    }

    /// Folder of its files.
    pub fn folder(&self) -> Option<&Path> {
        self.folder.as_deref()
    }

    /// Its taxels on a GPU, uploaded on first use.
    pub fn on_gpu(&self, gpu: &Arc<Gpu>) -> Result<Arc<Arrays>, GpuError> {
        let put = || {
            let unbuilt = |error: PyErr| GpuError::BadInput { reason: error.to_string() };
            Arrays::new(gpu, self.sensor().map_err(unbuilt)?).map(Arc::new)
        };
        self.on_gpu.get_or_init(put).clone()
    }

    /// Its layer on a GPU with an object, uploaded on first use.
    pub fn layer_on_gpu(&self, gpu: &Arc<Gpu>, object: &Arc<skin::Object>) -> Result<Arc<LayerBatch>, GpuError> {
        let mut known = self.layers.lock().unwrap_or_else(PoisonError::into_inner);
        known.retain(|(object, _)| object.strong_count() > 0);
        if let Some((_, layer)) = known.iter().find(|(known, _)| known.as_ptr() == Arc::as_ptr(object)) {
            return Ok(Arc::clone(layer));
        }
        let unbuilt = |error: PyErr| GpuError::BadInput { reason: error.to_string() };
        let layer = Arc::new(LayerBatch::new(gpu, self.sensor().map_err(unbuilt)?, object)?);
        known.push((Arc::downgrade(object), Arc::clone(&layer)));
        Ok(layer)
    }

    /// The sensor with its gel on a GPU, uploaded on first use; `None` if its skin is not a gel.
    pub fn gel_on_gpu(&self, gpu: &Arc<Gpu>) -> PyResult<Option<Arc<Sensor>>> {
        let sensor = self.sensor()?;
        let Some(gel) = GelSkin::of(sensor) else { return Ok(None) };
        self.gel.get_or_init(|| gel.on(gpu, sensor).map(Arc::new)).clone().map(Some).into_py_err()
    }

    /// The sensor.
    pub fn sensor(&self) -> PyResult<&Sensor> {
        if let Some(sensor) = self.built.get() {
            return Ok(sensor);
        }
        let sensor = self.spec.build(self.folder.as_deref()).into_py_err()?;
        Ok(self.built.get_or_init(|| sensor))
    }
}

/// A description with entries replaced by those of a dict.
pub fn with_parameters(spec: &SensorSpec, parameters: &Bound<'_, PyAny>) -> PyResult<SensorSpec> {
    let text: String = parameters.py().import("dermis._json")?.call_method1("dumps", (parameters,))?.extract()?;
    let bad = |_| {
        let example = r#"{"skin.young": "0.2 MPa"}"#;
        Error::new_err(format!(
            "`parameters` must be a dict by the keys of a sensor file, such as {example}, got {text}"
        ))
    };
    spec.with_overrides(&serde_json::from_str(&text).map_err(bad)?).into_py_err()
}
