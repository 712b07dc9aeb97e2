//! The rule by which parts of a description replace those of another; used by scenes, data sets, Python, MuJoCo and the
//! command line.
//!
//! - A table is merged entry by entry; any other value replaces the old one.
//! - A table of another `kind` replaces the whole table, because the old keys would be invalid.
//! - Of alternative keys, such as `stiffness` and `stiffness_per_area`, a new one removes the old ones.
//! - A `skin` with only another `kind` is converted by [`SensorSpec::with_skin`].

use crate::plain_message::plain;
use crate::{SensorError, SensorSpec, SkinKind};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

/// Groups of alternative keys of a skin.
const ONE_OF: [&[&str]; 3] = [
    &["stiffness", "stiffness_per_area", "force_table", "pressure_table"],
    &["damping", "damping_per_area"],
    &["poisson", "incompressible"],
];

/// Merges `changes` into `base` by the rule of this module.
pub fn merge(base: &mut Map<String, Value>, changes: &Map<String, Value>) {
    if changes.get("kind").is_some_and(|kind| base.get("kind") != Some(kind)) {
        base.clone_from(changes);
        return;
    }
    for group in ONE_OF {
        if group.iter().any(|key| changes.contains_key(*key)) {
            base.retain(|key, _| !group.contains(&key.as_str()));
        }
    }
    for (key, change) in changes {
        match (base.get_mut(key), change) {
            (Some(Value::Object(old)), Value::Object(change)) => merge(old, change),
            _ => {
                base.insert(key.clone(), change.clone());
            }
        }
    }
}

/// Reads a description, or a part of one, from a table. Errors name `sensor`, `key` and the path of the invalid entry.
pub fn from_table<T: DeserializeOwned>(sensor: &str, key: &str, table: &Map<String, Value>) -> Result<T, SensorError> {
    merged(sensor, key, &Map::new(), table)
}

impl SensorSpec {
    /// The description with the entries of `changes` applied, such as
    /// `{"skin": {"stiffness": "1000 N/m"}, "surface": {"grid": {"rows": 40}}}`.
    pub fn with_overrides(&self, changes: &Map<String, Value>) -> Result<Self, SensorError> {
        let only_kind = |skin: &Map<String, Value>| match skin.get("kind") {
            Some(Value::String(kind)) if skin.len() == 1 => kind.parse::<SkinKind>().ok(),
            _ => None,
        };
        if let Some(kind) = changes.get("skin").and_then(Value::as_object).and_then(only_kind) {
            let rest =
                changes.iter().filter(|(key, _)| *key != "skin").map(|(key, value)| (key.clone(), value.clone()));
            return self.with_skin(kind)?.with_overrides(&rest.collect());
        }
        if changes.is_empty() {
            return Ok(self.clone());
        }
        merged(&self.name, "", &table(self), changes)
    }
}

fn table(value: &impl Serialize) -> Map<String, Value> {
    match serde_json::to_value(value) {
        Ok(Value::Object(table)) => table,
        _ => Map::new(),
    }
}

/// Reads `base` with `changes`. On failure, finds the invalid entry by making one change at a time: first every single
/// entry, then every table.
fn merged<T: DeserializeOwned>(
    sensor: &str,
    key: &str,
    base: &Map<String, Value>,
    changes: &Map<String, Value>,
) -> Result<T, SensorError> {
    let with = |changes: &Map<String, Value>| {
        let mut table = base.clone();
        merge(&mut table, changes);
        serde_json::from_value::<T>(Value::Object(table)).map_err(|error| plain(&error.to_string()))
    };
    with(changes).map_err(|all| {
        // A single entry of a table of another kind lacks the table's other entries, which is not an error of the
        // entry.
        let wrong = |change: &_| with(change).err().filter(|reason| !reason.starts_with("missing field"));
        let entry = leaves("", changes).into_iter().find_map(|(path, change)| Some((path, wrong(&change)?)));
        let table = || {
            changes.iter().find_map(|(key, value)| {
                let change = Map::from_iter([(key.clone(), value.clone())]);
                Some((key.clone(), with(&change).err()?)).filter(|_| !base.is_empty())
            })
        };
        let (path, reason) = entry.or_else(table).unwrap_or_else(|| (String::new(), all));
        let key = [key, &path].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(".");
        SensorError::Override { sensor: sensor.to_owned(), key, reason }
    })
}

/// Every single entry of nested tables, with its path; each entry is accompanied by the `kind` of its table.
fn leaves(path: &str, table: &Map<String, Value>) -> Vec<(String, Map<String, Value>)> {
    let kind = table.get("kind").map(|kind| ("kind".to_owned(), kind.clone()));
    let mut entries: Vec<(&String, &Value)> = table.iter().collect();
    // An invalid kind makes all entries beside it look invalid.
    entries.sort_by_key(|(key, _)| *key != "kind");
    let leaf = |(key, value): (&String, &Value)| {
        let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
        let wrap = |value| Map::from_iter(kind.clone().into_iter().chain([(key.clone(), value)]));
        match value {
            Value::Object(inner) => {
                leaves(&path, inner).into_iter().map(|(path, leaf)| (path, wrap(Value::Object(leaf)))).collect()
            }
            _ => vec![(path, wrap(value.clone()))],
        }
    };
    entries.into_iter().flat_map(leaf).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::presets;

    fn changed(preset: &str, changes: Value) -> Result<SensorSpec, SensorError> {
        presets::find(preset)?.with_overrides(changes.as_object().unwrap())
    }

    #[test]
    fn entries_replace_entries_and_the_rest_stays() {
        let spec = presets::find("uji-foam-14x6").unwrap();
        let other =
            changed("uji-foam-14x6", serde_json::json!({ "skin": { "friction": { "mu_static": 0.5 } } })).unwrap();
        let text = spec.to_toml().replace("mu_static = 0.435", "mu_static = 0.5");
        assert_ne!(text, spec.to_toml());
        assert_eq!(other.to_toml(), text);
    }

    #[test]
    fn an_alternative_key_removes_the_others() {
        let spec =
            changed("uji-foam-14x6", serde_json::json!({ "skin": { "stiffness_per_area": "4 MPa/m" } })).unwrap();
        assert!(spec.build(None).is_ok());
        assert!(spec.to_toml().contains("stiffness_per_area") && !spec.to_toml().contains("stiffness = "));
        let layer = serde_json::json!({ "skin": { "incompressible": true } });
        assert!(changed("gelsight", layer).unwrap().build(None).is_ok());
    }

    #[test]
    fn a_kind_alone_converts_the_skin() {
        for kind in [SkinKind::Hydroelastic, SkinKind::Layer, SkinKind::Gel, SkinKind::Imprint] {
            let spec =
                changed("wts0614", serde_json::json!({ "skin": { "kind": kind }, "contact_points": 1 })).unwrap();
            assert_eq!(spec.skin, presets::find("wts0614").unwrap().with_skin(kind).unwrap().skin);
            assert_eq!((spec.skin.kind(), spec.contact_points), (kind, Some(1)));
        }
    }

    #[test]
    fn the_entry_at_fault_is_named() {
        let message = |changes| changed("wts0614", changes).unwrap_err().to_string();
        let wrong_unit =
            message(serde_json::json!({ "skin": { "friction": { "sigma0": "2 N" } }, "contact_points": 2 }));
        assert!(wrong_unit.contains("`skin.friction.sigma0`") && wrong_unit.contains("2 N"), "{wrong_unit}");
        let unknown = message(serde_json::json!({ "skin": { "stifness": "2 N/m" } }));
        assert!(unknown.contains("`skin.stifness`"), "{unknown}");
        let lacks = message(serde_json::json!({ "skin": { "kind": "layer", "young": "1 MPa" } }));
        assert!(lacks.contains("`skin`") && lacks.contains("thickness"), "{lacks}");
        let kind = message(serde_json::json!({ "skin": { "kind": "sponge" } }));
        assert!(kind.contains("`skin.kind`") && kind.contains("sponge"), "{kind}");
        let whole = from_table::<SensorSpec>("pad", "", &Map::new()).unwrap_err().to_string();
        assert!(whole.contains("name"), "{whole}");
    }
}
