//! The sensors of a data set: a description, and the randomised sensors built from it.

use super::error::{DatasetError, EpisodeError};
use super::randomise::RandomiseSpec;
use super::spec::{SensorSource, SkinKind};
use crate::scene::{SceneSensorSpec, changed};
use dermis_geometry::Random;
use dermis_geometry::quantity::Length;
use dermis_sensor::optics::{BackgroundSpec, LightSpec, Optics, OpticsError};
use dermis_sensor::{Sensor, SensorError, SensorSpec, SkinSpec};
use serde_json::{Map, Value};
use std::path::{Path, PathBuf};

/// A sensor's description, without randomised values.
#[derive(Clone, Debug)]
pub struct DatasetSensor {
    /// The description.
    pub spec: SensorSpec,
    /// Where its files are looked for.
    folder: Option<PathBuf>,
}

impl DatasetSensor {
    /// Resolves a source to a description. `file` names the data set's description in messages.
    pub fn resolve(source: &SensorSource, file: &str, folder: Option<&Path>) -> Result<Self, DatasetError> {
        let refused = |error: SensorError| DatasetError::Sensor { file: file.to_owned(), error: Box::new(error) };
        let stem =
            source.file.as_ref().and_then(|path| path.file_stem()).map(|stem| stem.to_string_lossy().into_owned());
        let name =
            source.name.clone().or_else(|| source.preset.clone()).or(stem).unwrap_or_else(|| "sensor".to_owned());
        let base = SceneSensorSpec {
            preset: source.preset.clone(),
            file: source.file.clone(),
            surface: source.surface.clone(),
            contact_points: source.contact_points,
            skin: if source.skin_kind.is_some() { None } else { source.skin.clone() },
            reading: None,
            response: source.response.clone(),
        };
        let (mut spec, folder) = base.resolve(&name, file, folder)?;
        let wrong = |key: &str, reason: String| DatasetError::Rule {
            file: file.to_owned(),
            key: "sensor",
            rule: format!("{name:?}: `{key}`: {reason}"),
        };
        if let Some(kind) = source.skin_kind {
            spec = match kind {
                SkinKind::Hydroelastic => spec.with_hydroelastic_skin(),
                SkinKind::Layer => spec.with_layer_skin(),
                SkinKind::Gel => spec.with_gel_skin(),
                SkinKind::Imprint => spec.with_imprint_skin(),
            }
            .map_err(refused)?;
            if let Some(changes) = &source.skin {
                spec.skin = changed::<SkinSpec>(&spec.skin, changes).map_err(|reason| wrong("skin", reason))?;
            }
        }
        let tables = [("camera", &source.camera), ("light", &source.light), ("markers", &source.markers)];
        for (key, changes) in tables {
            let Some(changes) = changes else { continue };
            let change = Map::from_iter([(key.to_owned(), Value::Object(changes.clone()))]);
            spec = changed::<SensorSpec>(&spec, &change).map_err(|reason| wrong(key, reason))?;
        }
        if let Some(factor) = source.resolution {
            scale_pixels(&mut spec, factor).map_err(|reason| wrong("resolution", reason))?;
        }
        Ok(Self { spec, folder })
    }

    /// Its description as JSON, into which drawn values are inserted.
    pub fn description(&self) -> Value {
        serde_json::to_value(&self.spec).unwrap_or_default()
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

    /// The sensor of one episode: a material with drawn response, camera, light and markers. Also returns the drawn values.
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

/// Scales the number of pixels; the camera sees the same area.
fn scale_pixels(spec: &mut SensorSpec, factor: f64) -> Result<(), String> {
    let Some(camera) = &mut spec.camera else { return Err("the sensor has no camera".to_owned()) };
    if !(factor > 0.0 && factor.is_finite()) {
        return Err(format!("must be a positive factor, got {factor}"));
    }
    if camera.crop.is_some() {
        return Err("a camera with a crop cannot be scaled: give `camera` its sizes".to_owned());
    }
    let scaled = |pixels: usize| {
        let exact = pixels as f64 * factor;
        (exact >= 2.0 && (exact - exact.round()).abs() < 1e-6).then_some(exact.round() as usize)
    };
    let uneven = || format!("{factor} of {} x {} pixels are no whole pixels", camera.width, camera.height);
    let (width, height) = scaled(camera.width).zip(scaled(camera.height)).ok_or_else(uneven)?;
    (camera.width, camera.height, camera.pixel) = (width, height, Length::new(camera.pixel.si() / factor));
    let background = match &mut spec.light {
        Some(LightSpec::Calibrated(light)) => {
            if let Some(area) = &mut light.area {
                for side in [&mut area.left, &mut area.top, &mut area.right, &mut area.bottom] {
                    // Whole numbers are the middles of pixels.
                    *side = (*side + 0.5) * factor - 0.5;
                }
            }
            Some(&light.background)
        }
        Some(LightSpec::Phong(light)) => Some(&light.background),
        None => None,
    };
    match background {
        Some(BackgroundSpec::File(_)) => Err("a light with an image for its background cannot be scaled".to_owned()),
        _ => Ok(()),
    }
}
