//! A sensor in a scene: a preset, a file, or an inline description, with overrides.

use super::SceneError;
use dermis_sensor::{ReadingSpec, Sensor, SensorError, SensorSpec, SkinSpec, SurfaceSpec, presets};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::path::{Path, PathBuf};

/// Exactly one of `preset`, `file` and `surface` (with `skin`). With the first two, the tables `skin` and `response`
/// hold what differs; a `skin`, `friction` or `response` of another kind replaces the whole. `skin.kind = "hydroelastic"` alone
/// makes of springs on a grid the pad that carries as much.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SceneSensorSpec {
    /// A built-in preset.
    pub preset: Option<String>,
    /// A sensor's TOML file, relative to the scene.
    pub file: Option<PathBuf>,
    /// The taxel layout, for a sensor described here.
    pub surface: Option<SurfaceSpec>,
    /// Contact points along each side of a texel.
    pub contact_points: Option<usize>,
    /// Its skin, or overrides of the preset's.
    pub skin: Option<Map<String, Value>>,
    /// How its taxels read the skin; by default as in the preset.
    pub reading: Option<ReadingSpec>,
    /// Its response, or overrides of the preset's.
    pub response: Option<Map<String, Value>>,
}

/// Ways to say one thing, of which a skin takes one: giving one drops the others of the preset.
const ONE_OF: [&[&str]; 2] =
    [&["stiffness", "stiffness_per_area", "force_table", "pressure_table"], &["damping", "damping_per_area"]];

impl SceneSensorSpec {
    /// Builds the sensor. `scene` is what messages call the scene, `folder` where its files are looked for.
    pub fn build(&self, name: &str, scene: &str, folder: Option<&Path>) -> Result<Sensor, SceneError> {
        let (spec, folder) = self.resolve(name, scene, folder)?;
        spec.build(folder.as_deref()).map_err(|error| refused(scene, error))
    }

    /// The description with all changes made, and where its mesh file is looked for.
    pub fn resolve(
        &self,
        name: &str,
        scene: &str,
        folder: Option<&Path>,
    ) -> Result<(SensorSpec, Option<PathBuf>), SceneError> {
        let owner = format!("sensor {name:?}");
        let rule = |rule| SceneError::rule(scene, &owner, rule);
        let table = |key, reason| SceneError::Table { file: scene.to_owned(), owner: owner.clone(), key, reason };
        let given = [self.preset.is_some(), self.file.is_some(), self.surface.is_some()];
        if given.iter().filter(|given| **given).count() != 1 {
            return Err(rule("give exactly one of `preset`, `file` and `surface`"));
        }
        let (mut spec, folder) = if let Some(preset) = &self.preset {
            (presets::find(preset).map_err(|error| refused(scene, error))?, None)
        } else if let Some(file) = &self.file {
            let path = folder.map_or_else(|| file.clone(), |folder| folder.join(file));
            let shown = path.display().to_string();
            let text = std::fs::read_to_string(&path).map_err(|error| {
                refused(scene, SensorError::Unreadable { path: shown.clone(), reason: error.to_string() })
            })?;
            let spec = SensorSpec::parse(&shown, &text).map_err(|error| refused(scene, error))?;
            (spec, path.parent().map(Path::to_path_buf))
        } else {
            let skin = self.skin.as_ref().ok_or_else(|| rule("a sensor with a `surface` of its own needs a `skin`"))?;
            // Another sensor's skin helps to find the entry at fault, and only that.
            let blame = |reason: String| match presets::find("uji-foam-14x6") {
                Ok(other) => changed::<SkinSpec>(&other.skin, skin).err().unwrap_or(reason),
                Err(_) => reason,
            };
            let skin = read(Value::Object(skin.clone())).map_err(blame).map_err(|reason| table("skin", reason))?;
            let surface = self.surface.clone().ok_or_else(|| rule("a sensor needs a `surface`"))?;
            (SensorSpec::new(name, surface, skin), folder.map(Path::to_path_buf))
        };
        name.clone_into(&mut spec.name);
        spec.contact_points = self.contact_points.unwrap_or(spec.contact_points);
        if let (Some(changes), None) = (&self.skin, &self.surface) {
            if changes.len() == 1 && changes.get("kind").is_some_and(|kind| kind == "hydroelastic") {
                spec = spec.with_hydroelastic_skin().map_err(|error| refused(scene, error))?;
            }
            spec.skin = changed::<SkinSpec>(&spec.skin, changes).map_err(|reason| table("skin", reason))?;
        }
        if let Some(reading) = &self.reading {
            spec.reading = reading.clone();
        }
        if let Some(changes) = &self.response {
            spec.response = changed(&spec.response, changes).map_err(|reason| table("response", reason))?;
        }
        Ok((spec, folder))
    }
}

fn refused(scene: &str, error: SensorError) -> SceneError {
    SceneError::Sensor { file: scene.to_owned(), error: Box::new(error) }
}

fn read<T: DeserializeOwned>(value: Value) -> Result<T, String> {
    serde_json::from_value(value).map_err(|error| error.to_string())
}

/// A description with some of its entries replaced. When it cannot be read, the entry at fault is looked for by
/// making one change at a time.
pub(crate) fn changed<T: Serialize + DeserializeOwned>(base: &T, changes: &Map<String, Value>) -> Result<T, String> {
    let base = serde_json::to_value(base).map_err(|error| error.to_string())?;
    let with = |changes: &Map<String, Value>| {
        let mut value = base.clone();
        merge(&mut value, changes);
        read::<T>(value)
    };
    with(changes).map_err(|all| {
        // A single entry of another kind lacks its siblings, which is not its fault.
        let fault = |change| with(&change).err().filter(|reason| !reason.starts_with("missing field"));
        let one = leaves("", changes).into_iter().find_map(|(path, change)| Some((path, fault(change)?)));
        one.map_or(all, |(path, reason)| format!("`{path}`: {reason}"))
    })
}

/// Every single entry of a table of tables, with its path; a `kind` goes along with each entry beside it.
fn leaves(path: &str, table: &Map<String, Value>) -> Vec<(String, Map<String, Value>)> {
    let kind = table.get("kind").map(|kind| ("kind".to_owned(), kind.clone()));
    let mut entries: Vec<(&String, &Value)> = table.iter().collect();
    // A wrong kind makes everything beside it look wrong.
    entries.sort_by_key(|(key, _)| *key != "kind");
    entries
        .into_iter()
        .flat_map(|(key, value)| {
            let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
            let wrap = |value| Map::from_iter(kind.clone().into_iter().chain([(key.clone(), value)]));
            match value {
                Value::Object(inner) => {
                    leaves(&path, inner).into_iter().map(|(path, leaf)| (path, wrap(Value::Object(leaf)))).collect()
                }
                _ => vec![(path, wrap(value.clone()))],
            }
        })
        .collect()
}

fn merge(base: &mut Value, changes: &Map<String, Value>) {
    let Value::Object(table) = base else {
        *base = Value::Object(changes.clone());
        return;
    };
    if changes.get("kind").is_some_and(|kind| table.get("kind") != Some(kind)) {
        *table = changes.clone();
        return;
    }
    for group in ONE_OF {
        if group.iter().any(|key| changes.contains_key(*key)) {
            table.retain(|key, _| !group.contains(&key.as_str()));
        }
    }
    for (key, change) in changes {
        match (table.get_mut(key), change) {
            (Some(inner), Value::Object(change)) => merge(inner, change),
            _ => {
                table.insert(key.clone(), change.clone());
            }
        }
    }
}
