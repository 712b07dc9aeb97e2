//! A sensor with its description, shared between Python objects.

use crate::error::{Error, IntoPyErr};
use dermis::gpu::array::Arrays;
use dermis::gpu::{Gpu, GpuError, LayerBatch};
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
}

impl SharedSensor {
    /// Builds a sensor from its description. `folder` is the folder of the files that the description refers to.
    pub fn build(spec: SensorSpec, folder: Option<PathBuf>) -> Result<Self, SensorError> {
        let built = OnceLock::from(spec.build(folder.as_deref())?);
        Ok(Self { spec, folder, built, on_gpu: OnceLock::new(), layers: Mutex::default() })
    }

    /// Wraps a sensor that was built elsewhere, such as by a world.
    pub fn of_sensor(spec: SensorSpec, folder: Option<PathBuf>, sensor: Sensor) -> Self {
        Self { spec, folder, built: OnceLock::from(sensor), on_gpu: OnceLock::new(), layers: Mutex::default() }
    }

    /// The inverse of [`SharedSensor::saved`].
    pub fn restore(toml: &str, folder: Option<PathBuf>) -> Result<Self, SensorError> {
        let spec = SensorSpec::parse("a pickled sensor", toml)?;
        Ok(Self { spec, folder, built: OnceLock::new(), on_gpu: OnceLock::new(), layers: Mutex::default() })
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

    /// The sensor.
    pub fn sensor(&self) -> PyResult<&Sensor> {
        if let Some(sensor) = self.built.get() {
            return Ok(sensor);
        }
        let sensor = self.spec.build(self.folder.as_deref()).into_py_err()?;
        Ok(self.built.get_or_init(|| sensor))
    }
}

/// A description with entries replaced by those of a nested dict.
pub fn with_parameters(spec: &SensorSpec, parameters: &Bound<'_, PyAny>) -> PyResult<SensorSpec> {
    let text: String = parameters.py().import("dermis._json")?.call_method1("dumps", (parameters,))?.extract()?;
    let bad = |_| {
        let example = r#"{"skin": {"young": "0.2 MPa"}}"#;
        Error::new_err(format!(
            "`parameters` must be a dict by the keys of a sensor file, such as {example}, got {text}"
        ))
    };
    spec.with_overrides(&serde_json::from_str(&text).map_err(bad)?).into_py_err()
}
