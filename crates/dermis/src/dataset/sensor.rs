//! The sensors of a data set: a description, and the randomised sensors built from it.

use super::error::{DatasetError, EpisodeError};
use super::randomise::RandomiseSpec;
use super::spec::SensorEntry;
use dermis_geometry::Random;
use dermis_sensor::optics::{Optics, OpticsError};
use dermis_sensor::{Sensor, SensorError, SensorSpec};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// A sensor's description, without randomised values.
#[derive(Clone, Debug)]
pub struct DatasetSensor {
    /// The description.
    pub spec: SensorSpec,
    /// Folder of its files.
    folder: Option<PathBuf>,
}

impl DatasetSensor {
    /// Resolves an entry to a description. `file` is the name of the data set's description in error messages.
    pub fn resolve(entry: &SensorEntry, file: &str, folder: Option<&Path>) -> Result<Self, DatasetError> {
        let source = &entry.source;
        let stem = || source.file.as_ref()?.file_stem().map(|stem| stem.to_string_lossy().into_owned());
        let name = entry.name.clone().or_else(|| source.preset.clone()).or_else(stem);
        let name = name.unwrap_or_else(|| "sensor".to_owned());
        let refused = |error| DatasetError::Sensor { file: file.to_owned(), error: Box::new(error) };
        let (spec, folder) = source.resolve(&name, folder).map_err(refused)?;
        Ok(Self { spec, folder })
    }

    /// Its description as JSON, into which drawn values are inserted.
    pub fn description(&self) -> Value {
        serde_json::to_value(&self.spec).unwrap_or_default()
    }

    /// Builds a description that differs from this one.
    pub(crate) fn build_changed(&self, spec: &SensorSpec) -> Result<Sensor, SensorError> {
        spec.build(self.folder.as_deref())
    }

    /// A description that differs from this one, with absolute file names.
    pub(crate) fn located(&self, spec: &SensorSpec) -> SensorSpec {
        self.folder.as_ref().map_or_else(|| spec.clone(), |folder| spec.with_files_in(folder))
    }

    /// Builds the sensor of one material: draws the keys that change the skin, in the order of the list.
    pub fn build(&self, drawn: &[RandomiseSpec], random: &mut Random) -> Result<Material, EpisodeError> {
        let mut description = self.description();
        let mut numbers = Vec::new();
        for randomise in drawn.iter().filter(|randomise| randomise.is_material()) {
            let rejected = |reason| EpisodeError::Drawn { key: randomise.key.clone(), reason };
            numbers.push(randomise.apply(&mut description, random).map_err(rejected)?);
        }
        let spec = if numbers.is_empty() { self.spec.clone() } else { read(description.clone(), drawn)? };
        let sensor = spec.build(self.folder.as_deref())?;
        Ok(Material { sensor, description, drawn: numbers })
    }

    /// The sensor of one episode: a material with drawn response, camera, light and markers. Also returns the drawn
    /// values.
    pub fn with_draws(
        &self,
        material: &Material,
        drawn: &[RandomiseSpec],
        random: &mut Random,
    ) -> Result<(Sensor, Vec<f64>), EpisodeError> {
        let mut description = None;
        let mut numbers = Vec::new();
        for randomise in drawn.iter().filter(|randomise| !randomise.is_material()) {
            let description = description.get_or_insert_with(|| material.description.clone());
            let rejected = |reason| EpisodeError::Drawn { key: randomise.key.clone(), reason };
            numbers.push(randomise.apply(description, random).map_err(rejected)?);
        }
        let Some(description) = description else { return Ok((material.sensor.clone(), numbers)) };
        let spec = read(description, drawn)?;
        let mut sensor = material.sensor.clone();
        let first = |key: &str| drawn.iter().any(|randomise| randomise.key.split('.').next() == Some(key));
        if first("response") {
            let refused = |error| SensorError::BadResponse { sensor: spec.name.clone(), error };
            sensor =
                sensor.with_response(spec.response.build(sensor.taxels(), Some(sensor.surface())).map_err(refused)?);
        }
        if first("camera") || first("light") || first("markers") {
            let refused = |error: OpticsError| SensorError::Optics { sensor: spec.name.clone(), error };
            if let Some(optics) = spec.optics().map_err(refused)? {
                sensor = sensor.with_optics(Optics::new(&optics, self.folder.as_deref()).map_err(refused)?);
            }
        }
        Ok((sensor, numbers))
    }
}

/// A sensor with its skin built.
#[derive(Debug)]
pub struct Material {
    /// The sensor.
    pub sensor: Sensor,
    /// Its description, with the values drawn for the skin.
    description: Value,
    /// The drawn values.
    pub drawn: Vec<f64>,
}

fn read(description: Value, drawn: &[RandomiseSpec]) -> Result<SensorSpec, EpisodeError> {
    serde_json::from_value(description).map_err(|error| {
        let keys: Vec<&str> = drawn.iter().map(|randomise| randomise.key.as_str()).collect();
        EpisodeError::Drawn { key: keys.join("`, `"), reason: error.to_string() }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use dermis_sensor::presets;

    /// `stiffness_per_area` replaces the preset's `stiffness`, and a conversion is applied before the overrides.
    #[test]
    fn an_override_follows_the_rule_of_the_sensor() {
        let resolved = |text: &str| {
            let entry: SensorEntry = dermis_sensor::parse_toml("set.toml", text).unwrap();
            DatasetSensor::resolve(&entry, "set.toml", None).map(|template| template.spec)
        };
        let preset = presets::find("uji-foam-14x6").unwrap();
        let spec = resolved("preset = \"uji-foam-14x6\"\nskin.stiffness_per_area = \"10 MPa/m\"").unwrap();
        let changes = serde_json::json!({ "skin": { "stiffness_per_area": "10 MPa/m" } });
        assert_eq!(spec, preset.with_overrides(changes.as_object().unwrap()).unwrap());
        let spec = resolved("preset = \"uji-foam-14x6\"\nskin_kind = \"layer\"\nskin.mu = 0.1").unwrap();
        let changes = serde_json::json!({ "skin": { "mu": 0.1 } });
        let layer = preset.with_skin(dermis_sensor::SkinKind::Layer).unwrap();
        assert_eq!(spec, layer.with_overrides(changes.as_object().unwrap()).unwrap());
        let message = resolved("preset = \"uji-foam-14x6\"\nresolution = 0.5").unwrap_err().to_string();
        assert!(message.contains("`resolution` needs a sensor with a camera"), "{message}");
    }
}
