//! Changes of single entries of a scene file.

use super::{SceneError, SceneSpec};
use dermis_sensor::{merge, parse_toml};
use serde_json::{Map, Value};
use std::path::Path;

impl SceneSpec {
    /// Reads a scene file and applies changes, one after the other, by the rule of [`dermis_sensor::merge`], such as
    /// `{"body": {"0": {"mass": "50 g"}}}` for the mass of the first body. Errors name the key of the change.
    pub fn read_with(path: &Path, changes: &[Map<String, Value>]) -> Result<Self, SceneError> {
        Self::parse_with(&path.display().to_string(), &Self::text(path)?, changes)
    }

    /// As [`SceneSpec::read_with`], of a text; `file` is its name in error messages.
    pub fn parse_with(file: &str, text: &str, changes: &[Map<String, Value>]) -> Result<Self, SceneError> {
        // An error of the file itself names its line.
        let scene = Self::parse(file, text)?;
        if changes.is_empty() {
            return Ok(scene);
        }
        let base: Map<String, Value> = parse_toml(file, text)?;
        let refused = |key: String, reason: String| SceneError::Override { file: file.to_owned(), key, reason };
        let with = |changes: &[Map<String, Value>]| {
            let mut table = base.clone();
            for change in changes {
                merge(&mut table, change).map_err(|entry| refused(entry.key, entry.reason))?;
            }
            let key = changes.iter().map(key_of).collect::<Vec<_>>().join("`, `");
            serde_json::from_value(Value::Object(table)).map_err(|error| refused(key, error.to_string()))
        };
        // A change that fails by itself is named; one of a new table may need the others.
        let fails = |change| {
            with(std::slice::from_ref(change)).err().filter(|error| !error.to_string().contains("missing field"))
        };
        with(changes).map_err(|all| changes.iter().find_map(fails).unwrap_or(all))
    }
}

/// The path of the first entry of a change, with dots.
fn key_of(change: &Map<String, Value>) -> String {
    match change.iter().next() {
        Some((key, Value::Object(inner))) if !inner.is_empty() => format!("{key}.{}", key_of(inner)),
        Some((key, _)) => key.clone(),
        None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(key: &str, value: Value) -> Map<String, Value> {
        Map::from_iter([(key.to_owned(), value)])
    }

    /// The path and value of every entry of a table.
    fn entries(path: &str, value: &Value, all: &mut Vec<(String, Value)>) {
        let join = |key: &str| if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
        match value {
            Value::Object(table) => table.iter().for_each(|(key, value)| entries(&join(key), value, all)),
            Value::Array(items) if !items.is_empty() => {
                items.iter().enumerate().for_each(|(i, value)| entries(&join(&i.to_string()), value, all));
            }
            value => all.push((path.to_owned(), value.clone())),
        }
    }

    /// A dotted key reaches every entry of a scene, items of lists by their place: a wrong value there is refused by this key, and the value that
    /// the file has changes nothing.
    #[test]
    fn every_entry_of_a_scene_can_be_set() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../apps/cli");
        for file in ["scenes/demo.toml", "tests/corpus/scene-flat-closed-free-body.toml"] {
            let text = std::fs::read_to_string(root.join(file)).unwrap();
            let scene = SceneSpec::parse(file, &text).unwrap();
            let table: Value = parse_toml(file, &text).unwrap();
            let mut all = Vec::new();
            entries("", &table, &mut all);
            assert!(all.iter().any(|(key, _)| key.starts_with("body.0.")), "{file}");
            for (key, value) in &all {
                let same = SceneSpec::parse_with(file, &text, &[change(key, value.clone())]);
                assert_eq!(same.unwrap(), scene, "{file}: {key}");
                let wrong = SceneSpec::parse_with(file, &text, &[change(key, Value::from(vec![true]))]);
                // The parts of a sensor are read when it is built.
                let error = wrong.and_then(|scene| scene.build(file, None).map(drop)).unwrap_err().to_string();
                let of_sensor = key.split("sensor.").last().unwrap();
                assert!(
                    [key.as_str(), of_sensor].iter().any(|key| error.contains(&format!("`{key}`"))),
                    "{key}: {error}"
                );
            }
        }
    }

    #[test]
    fn changes_are_applied_in_order_and_wrong_ones_are_named() {
        let text = "world = { duration = \"1 s\" }\nbody = [{ name = \"a\", motion = \"free\", mass = \"1 g\", shape.sphere.radius = \"1 mm\" }]\nsensor = [{ name = \"pad\", preset = \"wts0614\" }]";
        let with = |changes: &[(&str, &str)]| {
            let changes: Vec<_> = changes.iter().map(|(key, value)| change(key, Value::from(*value))).collect();
            SceneSpec::parse_with("s.toml", text, &changes)
        };
        let scene =
            with(&[("body.0.mass", "2 g"), ("body.0.mass", "3 g"), ("sensor.0.skin.stiffness", "1 N/mm")]).unwrap();
        assert_eq!(scene.bodies[0].mass.map(|mass| mass.si()), Some(3e-3));
        let file = "s.toml";
        let sensor = |scene: &SceneSpec| {
            let built = scene.build(file, None).unwrap();
            built.world.sensor(built.sensors[0].1).skin().fully_pressed()[0].tangent.stiffness_normal
        };
        assert!(sensor(&scene) > 2.0 * sensor(&with(&[("sensor.0.skin.stiffness", "1 N/m")]).unwrap()));
        for (key, value, reason) in [
            ("body.0.mas", "2 g", "mas"),
            ("body.1.mass", "2 g", "the list has one, 0"),
            ("bodies.0.mass", "2 g", "`body`"),
            ("body.0.mass", "2 mm", "2 mm"),
        ] {
            let message = with(&[("world.duration", "2 s"), (key, value)]).unwrap_err().to_string();
            assert!(
                message.starts_with("s.toml: change of `") && message.contains(key.split('.').next().unwrap()),
                "{message}"
            );
            assert!(message.contains(reason), "{key}: {message}");
        }
    }
}
